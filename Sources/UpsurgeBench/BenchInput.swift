import Upsurge
import UpsurgeInput
import UpsurgeParsing
import UpsurgeRecords
import UpsurgeSQLite

/// The rows of a benchmark: as a file, in memory, and as the table that all must equal.
struct BenchInput {
  static let table = "bench_rows"
  /// The database of each run.
  static let runName = "run.db"
  private static let referenceName = "reference.db"

  /// The file that is loaded.
  let path: String
  let byteCount: UInt64
  let rows: RowSet
  /// The database that runs begin with a copy of; nil where they begin with none.
  let baseName: String?
  /// How the table is made.
  let createSQL: String
  let columns: [(name: String, type: String)]
  let pageByteCount: Int
  let cacheByteCount: Int
  /// Why other programs cannot read the file; nil where they can.
  let peerObstacle: Wording?

  private let job: BenchJob
  private let options: LoadOptions
  private let folder: ScratchFolder
  private let checkpointByteCount: Int
  private let rowsPerTransaction: Int
  private let digest: TableDigest

  init(job: BenchJob, folder: ScratchFolder, control: RunControl) throws(UpsurgeError) {
    self.job = job
    self.folder = folder
    var options = job.options
    options.rules.key = job.key
    if job.file != nil { options.input.recordLimit = job.rowCount }
    self.options = options
    let count = job.rowCount ?? BenchJob.defaultRowCount
    let isCancelled = { control.cancellationSignal != nil }
    var first: String?
    if let file = job.file {
      path = file
      if job.suite == .unchanged { first = file }
    } else {
      path = try NarrowRows(count: count, isChanged: job.suite == .changed).write(
        to: folder, "rows.csv", isCancelled: isCancelled)
      if job.suite == .changed {
        first = try NarrowRows(count: count).write(
          to: folder, "before.csv", isCancelled: isCancelled)
      }
      if job.suite == .unchanged { first = path }
    }
    if let first {
      _ = try BenchInput.load(first, into: folder.file("base.db"), options: options, control: control)
      try folder.copy("base.db", to: Self.referenceName)
    }
    baseName = first == nil ? nil : "base.db"
    let summary = try BenchInput.load(
      path, into: folder.file(Self.referenceName), options: options, control: control)
    func setting(_ name: String, _ standard: Int) -> Int {
      summary.metrics.settings.first { $0.name == name }.map { Int($0.value) } ?? standard
    }
    pageByteCount = setting("page_size", 16384)
    cacheByteCount = setting("cache_bytes", 16 << 20)
    checkpointByteCount = setting("checkpoint_bytes", 40 << 20)
    rowsPerTransaction = setting("commit_every", 100_000)
    byteCount = summary.metrics.bytesRead
    let reference = try Connection(path: folder.file(Self.referenceName), createIfMissing: false)
    digest = try TableDigest(of: Self.table, on: reference)
    createSQL = try reference.text("SELECT sql FROM main.sqlite_schema WHERE name = '\(Self.table)'") ?? ""
    let schema = try TableSchema.read(reference, table: Self.table)
    columns = (schema?.columns ?? []).map { ($0.name, $0.declaredType) }
    (rows, peerObstacle) = try BenchInput.read(path, options: options, on: reference, control: control)
  }

  /// The settings that all contenders have, as far as they can be set.
  var settingWords: [(name: String, value: String)] {
    [
      ("durability", "WAL, synchronous=NORMAL"), ("page size", "\(pageByteCount) bytes"),
      ("page cache", Words.bytes(Double(cacheByteCount))),
      ("transactions", "\(Words.count(UInt64(rowsPerTransaction))) rows"),
      ("checkpoints", "when the log holds \(Words.bytes(Double(checkpointByteCount))), and at the end"),
    ]
  }

  // MARK: - Runs

  /// Loads the file with the engine.
  /// - Returns: seconds.
  func load(into name: String, control: RunControl) throws(UpsurgeError) -> Double {
    let watch = Stopwatch()
    _ = try BenchInput.load(path, into: folder.file(name), options: options, control: control)
    return watch.seconds
  }

  /// Stores the rows by hand; the connection is closed when it returns.
  func write(_ pattern: PlainWriter.Pattern, isUpsert: Bool, control: RunControl) throws(UpsurgeError) {
    let connection = try open()
    if baseName == nil { try connection.execute(createSQL) }
    let writer = try PlainWriter(
      connection, table: Self.table, columns: rows.columnNames, key: isUpsert ? job.key : [],
      pattern: pattern,
      rowsPerTransaction: rowsPerTransaction, checkpointByteCount: checkpointByteCount,
      isCancelled: { control.cancellationSignal != nil })
    try writer.write(rows)
  }

  /// Makes the empty table for a program that does not make it as the engine does.
  func makeTable() throws(UpsurgeError) { try open().execute(createSQL) }

  /// What a program has left in the log goes into the database.
  func emptyLog() throws(UpsurgeError) {
    try Connection(path: folder.file(Self.runName), createIfMissing: false)
      .execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// In what the table of a run differs from the engine's; nil where it does not.
  func difference(of name: String) throws(UpsurgeError) -> Wording? {
    let found: TableDigest
    let connection = try Connection(path: folder.file(name), createIfMissing: false)
    do throws(UpsurgeError) {
      found = try TableDigest(of: Self.table, on: connection)
    } catch {
      return error.said
    }
    guard let words = found.difference(from: digest) else { return nil }
    guard let row = (try? missingRow(on: connection)) ?? nil else { return Wording(words) }
    return "\(words); this row is missing: \(row)"
  }

  /// A row of the engine's table that another lacks.
  private func missingRow(on connection: Connection) throws(UpsurgeError) -> String? {
    try connection.execute("ATTACH \(try SQLName.literal(folder.file(Self.referenceName))) AS reference")
    var parts: [String] = []
    for column in columns { parts.append("quote(\(try SQLName.quote(column.name)))") }
    let row = try connection.text(
      "SELECT \(parts.joined(separator: " || ', ' || ")) FROM (SELECT * FROM reference.\(Self.table) "
        + "EXCEPT SELECT * FROM main.\(Self.table) LIMIT 1)")
    return row.map { String($0.prefix(200)) }
  }

  private func open() throws(UpsurgeError) -> Connection {
    let connection = try Connection(path: folder.file(Self.runName), createIfMissing: true)
    try connection.configure(
      durability: .normal, pageCacheByteCount: cacheByteCount, newDatabasePageSize: pageByteCount)
    return connection
  }

  // MARK: - Reading

  private static func load(
    _ path: String, into database: String, options: LoadOptions, control: RunControl
  ) throws(UpsurgeError) -> RunSummary {
    let summary = LoadJob(database: database, table: table, sources: [path], options: options)
      .run(control: control)
    if control.cancellationSignal != nil {
      throw UpsurgeError(.interrupted, "the benchmark was interrupted")
    }
    if let error = summary.error { throw error }
    return summary
  }

  /// Reads all rows into memory, as the engine would store them.
  private static func read(
    _ path: String, options: LoadOptions, on connection: Connection, control: RunControl
  ) throws(UpsurgeError) -> (RowSet, obstacle: Wording?) {
    let source = try PreparedSource.prepare(Source(path), options: options)
    let records = try TypedRecords(of: source, for: table, on: connection, options: options)
    let rows = RowSet(columnNames: records.columnNames)
    try records.read { batch in
      rows.append(batch)
      return rows.byteCount <= BenchJob.rowByteLimit && control.cancellationSignal == nil
    }
    if rows.byteCount > BenchJob.rowByteLimit {
      throw UpsurgeError(
        .usage,
        "the rows of \(SourceName.shown(path)) take more than "
          + "\(Words.bytes(Double(BenchJob.rowByteLimit))) in memory, where "
          + "the classic patterns have them",
        hint: "\(.rows, "N") measures the first N of them")
    }
    return (rows, peerObstacle(source, options: options))
  }

  /// Other programs read whole files of plain CSV.
  private static func peerObstacle(_ source: PreparedSource, options: LoadOptions) -> Wording? {
    if options.input.recordLimit != nil {
      return "it reads whole files, and \(.rows, "N") takes the first N rows of one"
    }
    guard case .csv(let sniffed) = source.shape,
      sniffed.dialect == CSVDialect(ragged: sniffed.dialect.ragged),
      source.opened.compression == .none, source.opened.encoding == .utf8, source.opened.startOffset == 0,
      options.table.columns.isEmpty, options.table.renames.isEmpty, sniffed.renamings.isEmpty
    else {
      return
        "it is given plain comma-separated UTF-8 with one header line only, and this file is read otherwise"
    }
    return nil
  }
}
