import CSQLite
import UpsurgeRecords

/// The rows of a table that records of a snapshot were about, so that the others can be swept.
///
/// Rows are told by their rowid, a bit each. Where rowids lie so far apart that the bits would take too much memory, and
/// in WITHOUT ROWID tables, they go to a TEMP table. SQLite itself finds the row of a record, so collations, affinities
/// and expressions of the key mean here what they mean there.
final class SeenRows {
  private let connection: Connection
  private let schema: TableSchema
  /// The columns that tell a row, by index.
  private let identity: [Int]
  private var bits: RowidSet?
  /// 8 MiB have room for 60 million neighbours.
  private let byteLimit: Int
  private var insertion: Statement?
  /// Tells those of one connection apart.
  private let number: Int

  /// - Throws: `usage` for what has no rows of its own.
  init(
    _ plan: UpsertPlan, on connection: Connection, byteLimit: Int
  ) throws(UpsurgeError) {
    let schema = plan.schema
    guard schema.kind == .table, schema.isWithoutRowid || schema.rowidName != nil else {
      throw UpsurgeError(
        .usage, "\(schema.name.escapedForTerminal) cannot be swept: its rows cannot be told apart",
        hint: "sweep: none leaves rows alone")
    }
    guard !plan.lookUpKeys.isEmpty else {
      throw UpsurgeError(
        .usage, "a sweep needs a key, and table \(schema.name.escapedForTerminal) has none in the input",
        hint: "key: [COLS] names the columns that say which row a record is about")
    }
    self.connection = connection
    self.schema = schema
    self.byteLimit = byteLimit
    identity = plan.identityColumns
    connection.seenCount += 1
    number = connection.seenCount
    if schema.isWithoutRowid {
      try makeTable()
    } else {
      let set = RowidSet()
      try connection.define(function, asking: set)
      bits = set
    }
  }

  /// The columns to read of a row that was found.
  var columns: [Int] { identity }

  /// Whether a row is known by its rowid alone.
  var knowsRowids: Bool { !schema.isWithoutRowid }

  func insert(_ rowid: Int64) throws(UpsurgeError) {
    guard let bits else {
      guard let insertion else { return }
      defer { insertion.reset() }
      try insertion.bind(rowid, at: 1)
      return try count { () throws(UpsurgeError) in _ = try insertion.step() }
    }
    bits.insert(rowid)
    if bits.byteCount > byteLimit { try spill(bits) }
  }

  /// Inserts the row whose `columns` a statement stands on.
  func insert(rowOf handle: OpaquePointer) throws(UpsurgeError) {
    if knowsRowids { return try insert(sqlite3_column_int64(handle, 0)) }
    guard let insertion else { return }
    defer { insertion.reset() }
    for index in 0..<Int32(identity.count) {
      sqlite3_bind_value(insertion.handle, index + 1, sqlite3_column_value(handle, index))
    }
    try count { () throws(UpsurgeError) in _ = try insertion.step() }
  }

  /// SQL that is true of a row of the table that no record was about.
  func unseenTerm() throws(UpsurgeError) -> String {
    if bits != nil { return "NOT \(function)(\(schema.rowidName ?? "rowid"))" }
    var conditions: [String] = []
    let name = try SQLName.quote(schema.name)
    for (place, index) in identity.enumerated() {
      conditions.append("s.k\(place) IS \(name).\(try schema.terms([index]))")
    }
    return "NOT EXISTS (SELECT 1 FROM temp.\(table) AS s WHERE \(conditions.joined(separator: " AND ")))"
  }

  /// Takes back what it has left on the connection.
  func remove() throws(UpsurgeError) {
    insertion = nil
    if let bits { return bits.removeAll() }
    try connection.execute("DROP TABLE IF EXISTS temp.\(table)")
  }

  // MARK: - The table

  private var table: String { "upsurge_seen_\(number)" }
  private var function: String { "upsurge_has_seen_\(number)" }

  private func makeTable() throws(UpsurgeError) {
    if knowsRowids {
      try connection.execute("CREATE TEMP TABLE \(table) (k0 INTEGER PRIMARY KEY)")
    } else {
      let parts = identity.enumerated().map { place, index in
        "k\(place) COLLATE \(schema.columns[index].collation)"
      }
      let names = identity.indices.map { "k\($0)" }.joined(separator: ", ")
      try connection.execute(
        "CREATE TEMP TABLE \(table) (\(parts.joined(separator: ", ")), PRIMARY KEY (\(names))) WITHOUT ROWID")
    }
    let places = identity.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    insertion = try connection.prepare(
      "INSERT OR IGNORE INTO temp.\(table) VALUES (\(places))", isPersistent: true)
  }

  private func spill(_ full: RowidSet) throws(UpsurgeError) {
    bits = nil
    try makeTable()
    try full.visit { rowid throws(UpsurgeError) in try insert(rowid) }
    full.removeAll()
  }

  /// What is written here is no change of the database.
  private func count(_ body: () throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    let before = sqlite3_total_changes64(connection.handle)
    try body()
    connection.changesElsewhere += sqlite3_total_changes64(connection.handle) - before
  }
}

extension Connection {
  /// Registers a function that says whether a rowid is in a set.
  fileprivate func define(_ name: String, asking set: RowidSet) throws(UpsurgeError) {
    let code = sqlite3_create_function_v2(
      handle, name, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, Unmanaged.passRetained(set).toOpaque(),
      { context, _, values in
        guard let user = sqlite3_user_data(context), let value = values?[0] else { return }
        let set = Unmanaged<RowidSet>.fromOpaque(user).takeUnretainedValue()
        sqlite3_result_int(context, set.contains(sqlite3_value_int64(value)) ? 1 : 0)
      }, nil, nil, { user in user.map { Unmanaged<RowidSet>.fromOpaque($0).release() } })
    try check(code, sql: name)
  }
}
