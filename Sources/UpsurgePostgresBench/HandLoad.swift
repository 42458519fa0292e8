import UpsurgePostgres
import UpsurgeRecords

/// Stores rows as a person would write it by hand, over a connection of its own.
struct HandLoad {
  let schema: BenchSchema
  let target: PostgresTarget
  let cancellation: ReadCancellation
  /// Whether a staging table may be temporary; else it is unlogged, in the schema.
  let hasTemporaryTables: Bool

  static let rowsPerStatement = 1_000
  static let statementsPerMessage = 10

  /// Stores rows in one transaction.
  /// - Parameters:
  ///   - text: CSV with a header, without quotes.
  ///   - rowLimit: how many of them are stored row by row.
  func store(_ text: [UInt8], by way: ServerContender.Way, rowLimit: Int) throws(PostgresFailure) {
    let connection = try PostgresConnection(
      to: target, cancellation: cancellation, applicationName: schema.name)
    let table = schema.table
    switch way {
    case .floor:
      try copy(text, into: table, after: "BEGIN; CREATE UNLOGGED TABLE \(table) (\(BenchSchema.definition))", connection)
    case .keyedCopy:
      try copy(text, into: table, after: "BEGIN; \(keyedTable)", connection)
    case .copyThenKey:
      try copy(text, into: table, after: "BEGIN; CREATE TABLE \(table) (\(BenchSchema.definition))", connection)
      try connection.run("ALTER TABLE \(table) ADD PRIMARY KEY (id)")
    case .insert:
      try connection.run("BEGIN; \(keyedTable)")
      try insert(text, connection)
    case .prepared:
      try connection.run("BEGIN; \(keyedTable)")
      try upsert(text, rowLimit: rowLimit, connection)
    case .staging(let isComparing):
      try stage(text, isComparing: isComparing, connection)
    case .upsurge: preconditionFailure("the engine stores by itself")
    }
    if try !connection.commit() { throw PostgresFailure(.other, "the server has rolled the transaction back") }
  }

  /// Puts a file into a table of the schema, and nothing else.
  func copy(
    _ text: [UInt8], into table: String, after statements: String, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    _ = try connection.beginCopy("\(statements); COPY \(table) FROM STDIN (FORMAT csv, HEADER)")
    do throws(PostgresFailure) {
      try text.withUnsafeBufferPointer { text throws(PostgresFailure) in
        try connection.put(UnsafeRawBufferPointer(text))
      }
    } catch {
      connection.failCopy("the benchmark cannot send its rows")
      throw error
    }
    _ = try connection.endCopy()
  }

  private var keyedTable: String {
    "CREATE TABLE IF NOT EXISTS \(schema.table) (\(BenchSchema.definition), PRIMARY KEY (id))"
  }

  // MARK: - Statements

  private func stage(
    _ text: [UInt8], isComparing: Bool, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    let staging = hasTemporaryTables ? "upsurge_bench_staging" : schema.staging
    let making =
      hasTemporaryTables
      ? "CREATE TEMPORARY TABLE \(staging) (\(BenchSchema.definition)) ON COMMIT DROP"
      : "CREATE UNLOGGED TABLE \(staging) (\(BenchSchema.definition))"
    try copy(text, into: staging, after: "BEGIN; \(making)", connection)
    try connection.run(
      "INSERT INTO \(schema.table) AS t SELECT * FROM \(staging) \(onConflict(isComparing: isComparing))")
    if !hasTemporaryTables { try connection.run("DROP TABLE \(staging)") }
  }

  /// What is done with a row whose key is there.
  private func onConflict(isComparing: Bool) -> String {
    let names = BenchSchema.columnNames.dropFirst()
    let changes = names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    let update = "ON CONFLICT (id) DO UPDATE SET \(changes)"
    if !isComparing { return update }
    func row(_ table: String) -> String { "(" + names.map { "\(table).\($0)" }.joined(separator: ", ") + ")" }
    return "\(update) WHERE \(row("t")) IS DISTINCT FROM \(row("excluded"))"
  }

  private func insert(_ text: [UInt8], _ connection: PostgresConnection) throws(PostgresFailure) {
    var lines = CSVLines(text)
    var sql: [UInt8] = []
    var rowCount = 0
    while let fields = lines.next() {
      let isFirst = rowCount % Self.rowsPerStatement == 0
      sql += (isFirst ? "\(rowCount == 0 ? "" : ";")INSERT INTO \(schema.table) VALUES (" : ",(").utf8
      for (index, field) in fields.enumerated() {
        if index > 0 { sql.append(UInt8(ascii: ",")) }
        sql.append(Self.quote)
        for byte in field {
          if byte == Self.quote { sql.append(byte) }
          sql.append(byte)
        }
        sql.append(Self.quote)
      }
      sql.append(UInt8(ascii: ")"))
      rowCount += 1
      if rowCount == Self.rowsPerStatement * Self.statementsPerMessage {
        try connection.run(String(decoding: sql, as: UTF8.self))
        sql.removeAll(keepingCapacity: true)
        rowCount = 0
      }
    }
    if rowCount > 0 { try connection.run(String(decoding: sql, as: UTF8.self)) }
  }

  private static let quote = UInt8(ascii: "'")

  private func upsert(
    _ text: [UInt8], rowLimit: Int, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    let places = (1...BenchSchema.columnNames.count).map { "$\($0)" }.joined(separator: ", ")
    try connection.prepare(
      "INSERT INTO \(schema.table) AS t VALUES (\(places)) \(onConflict(isComparing: false))")
    var lines = CSVLines(text)
    var rowCount = 0
    while rowCount < rowLimit, let fields = lines.next() {
      try connection.runPrepared(fields.map { .text(String(decoding: $0, as: UTF8.self)) })
      rowCount += 1
    }
  }
}

/// The fields of CSV that has a header and no quotes, line by line.
struct CSVLines {
  private let text: [UInt8]
  private var place: Int

  init(_ text: [UInt8]) {
    self.text = text
    place = text.firstIndex(of: 0x0A).map { $0 + 1 } ?? text.count
  }

  /// The fields of the next line; nil after the last one.
  mutating func next() -> [ArraySlice<UInt8>]? {
    if place >= text.count { return nil }
    let end = text[place...].firstIndex(of: 0x0A) ?? text.count
    let line = text[place..<end]
    place = end + 1
    return line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
  }
}
