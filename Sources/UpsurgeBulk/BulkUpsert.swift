import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeStorage

/// Upserts records that a program holds, many at once, and says what became of each: RETURNING in bulk.
///
///     let upsert = try BulkUpsert(
///       database: "app.db", table: "players", columns: ["name", "score"],
///       rules: UpsertRules(target: .columns(["name"])), returning: ["id"])
///     try upsert.append([.text("Arthur"), .integer(1000)])
///     try upsert.append([.text("Barbara"), .null])
///     for row in try upsert.takeReturned() {
///       print(row.record, row.outcome, row.values ?? [])
///     }
///     let ledger = try upsert.finish()
///     print(ledger.inserted, ledger.updated, ledger.unchanged)
///
/// Records are gathered into batches, which are stored on the thread that calls. Any thread may call, one at a time.
/// Commits fall as ``Settings/commitEvery`` says and at ``commit()`` and ``finish()``; what is not committed when the
/// object goes away is rolled back. After an error that is thrown everything since the last commit is rolled back, and
/// the object takes no more records.
public final class BulkUpsert {
  /// Policies and bounds.
  public struct Settings: Sendable {
    /// `reject`: a record that cannot be stored is returned as `rejected`, and the others go on. `stop`: it is thrown.
    public var onError = ErrorPolicy.reject
    /// Records in a transaction.
    public var commitEvery = 100_000
    public var durability = Durability.normal
    /// How long to wait for a lock, in milliseconds.
    public var busyTimeout: Int32 = 5_000
    /// Bounds the page cache (a quarter of it), and each record (as much again).
    public var memory = ByteSize.mebibytes(64)

    public init() {}
  }

  /// What became of one record.
  public struct Returned: Sendable, Equatable {
    /// The record's number, in the order of `append`, from 1.
    public var record: UInt64
    public var outcome: Outcome
    /// The columns asked for, as the row is now (as it was, where it was deleted); nil where there is no row: the record
    /// was rejected, or ignored and none exists.
    public var values: [SQLValue]?
    /// Why the record was rejected, where it was.
    public var reject: Reject?
  }

  /// What became of the records so far, those that wait in the batch or for a commit included once they are stored.
  public var ledger: Ledger { writer.ledger }

  /// What the rules came to for the table.
  public var plan: UpsertPlan { writer.plan }

  private let connection: Connection
  private let writer: TableWriter
  private let rows: ReturnedRows?
  private let columnCount: Int
  /// Whether each column holds numbers, where a decimal in a text becomes the nearest double.
  private let isNumeric: [Bool]
  private let recordByteLimit: Int
  private var batch = Batch()
  private var recordCount: UInt64 = 0
  private var isDone = false

  /// Opens a database for one table that exists.
  /// - Parameters:
  ///   - database: path of the SQLite database.
  ///   - table: the table's name.
  ///   - columns: the columns of the table that the records speak of, in the order of their values.
  ///   - rules: which row a record is about, and how that row changes.
  ///   - returning: columns of the table, or `rowid`, to be returned for each record; empty for the outcome alone. With
  ///     `nil` nothing is returned, and records go many a statement, which is faster.
  ///   - settings: how much memory, and how the database is written.
  /// - Throws: `unreadableInput` when there is no such database; `usage` when there is no such table or column, or the
  ///   rules do not fit it; `databaseBusy`; `database`.
  public init(
    database: String, table: String, columns: [String], rules: UpsertRules = UpsertRules(),
    returning: [String]? = nil, settings: Settings = Settings()
  ) throws(UpsurgeError) {
    connection = try Connection(
      path: database, createIfMissing: false, busyTimeoutMilliseconds: settings.busyTimeout)
    try connection.configure(
      durability: settings.durability, pageCacheByteCount: settings.memory.byteCount / 4)
    var writing = WriterSettings()
    writing.statements.memory.byteCount = settings.memory.byteCount
    writing.onError = settings.onError
    writing.commitEvery.records = max(settings.commitEvery, 1)
    let rows = returning.map { ReturnedRows($0, rules: rules) }
    self.rows = rows
    writer = try TableWriter(
      on: connection, table: table, columns: columns, rules: rules, settings: writing, observer: rows,
      rejectSink: { (reject) throws(UpsurgeError) in rows?.note(reject) })
    columnCount = columns.count
    let schema = writer.plan.schema
    isNumeric = columns.map { name in
      schema.columnIndex(name).map { schema.columns[$0].affinity.isNumeric } ?? false
    }
    recordByteLimit = min(settings.memory.byteCount / 4, 1_000_000_000)
    batch.begin(columnCount: columnCount)
  }

  deinit {
    connection.moveToCurrentThread()
    writer.rollback()
  }

  /// Adds a record: one value for each column, `nil` where the record does not speak of the column (`.null` says NULL).
  /// - Throws: `usage` for another number of values; what storing a full batch throws.
  public func append(_ values: [SQLValue?]) throws(UpsurgeError) {
    try checkOpen()
    if values.count != columnCount {
      throw UpsurgeError(.usage, "a record of \(values.count) values, and there are \(columnCount) columns")
    }
    let byteCount = values.reduce(0) { $0 + ($1?.byteCount ?? 0) }
    if !batch.hasRoomForRecord || byteCount > batch.freeArena.count { try store() }
    recordCount += 1
    if byteCount > recordByteLimit { return rejectTooLarge(byteCount) }
    if byteCount > batch.freeArena.count { batch.growArena(to: byteCount) }
    let start = batch.arenaByteCount
    let cells = batch.cells + batch.recordCount * columnCount
    for (index, value) in values.enumerated() {
      if case .text(let text)? = value, isNumeric[index], let number = DecimalText.real(text) {
        (cells + index).initialize(to: .real(number))
      } else {
        (cells + index).initialize(to: batch.place(value))
      }
    }
    (batch.records + batch.recordCount).initialize(
      to: RecordPosition(arenaOffset: start, byteCount: byteCount, line: recordCount, number: recordCount))
    batch.recordCount += 1
    batch.parsedByteCount = batch.arenaByteCount
  }

  /// What became of the records appended since the last call, in their order, one each; stores those that still wait.
  ///
  /// Rows wait in memory until they are taken: take them now and then. They are committed only by the next commit, and a
  /// record whose deferred foreign key finds no parent then comes once more, as `rejected`.
  /// - Throws: what storing throws.
  public func takeReturned() throws(UpsurgeError) -> [Returned] {
    try checkOpen()
    try store()
    return rows?.take() ?? []
  }

  /// Stores and commits what was appended so far.
  public func commit() throws(UpsurgeError) {
    try checkOpen()
    try store()
    try ending { () throws(UpsurgeError) in try writer.commit() }
  }

  /// Stores and commits the rest. Rows that were not taken can be taken no more.
  /// - Returns: what became of all records.
  public func finish() throws(UpsurgeError) -> Ledger {
    try checkOpen()
    try store()
    try ending { () throws(UpsurgeError) in try writer.finish() }
    isDone = true
    return writer.ledger
  }

  // MARK: - Batches

  private func store() throws(UpsurgeError) {
    if batch.isEmpty { return }
    defer {
      batch.reset()
      batch.begin(columnCount: columnCount)
    }
    try ending { () throws(UpsurgeError) in try writer.write(&batch) }
  }

  /// Hands the connection to the calling thread; an error is the end.
  private func ending(_ work: () throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    connection.moveToCurrentThread()
    do throws(UpsurgeError) { try work() } catch {
      isDone = true
      throw error
    }
  }

  private func checkOpen() throws(UpsurgeError) {
    if isDone { throw UpsurgeError(.usage, "the bulk upsert has ended and takes no more records") }
  }

  private func rejectTooLarge(_ byteCount: Int) {
    batch.rejects.append(
      Reject(
        .tooLarge, at: Position(file: ReturnedRows.source, record: recordCount),
        reason: "the record has \(byteCount) bytes, more than the \(recordByteLimit) it may",
        hint: "a larger Settings.memory; a record may have a quarter of it",
        raw: UnsafeBufferPointer(start: nil, count: 0)))
  }
}

extension SQLValue {
  /// Bytes that the value takes in a batch's arena.
  fileprivate var byteCount: Int {
    switch self {
    case .null, .integer, .real: 0
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    }
  }
}

extension Batch {
  /// Makes the cell for a value, and puts its bytes into the arena, which has room.
  fileprivate mutating func place(_ value: SQLValue?) -> Cell {
    switch value {
    case nil:
      hasAbsentCells = true
      return .absent
    case .null: return .null
    case .integer(let number): return .integer(number)
    // SQLite stores NaN as NULL.
    case .real(let number): return number.isNaN ? .null : .real(number)
    case .text(var text): return text.withUTF8 { copy($0) }
    case .blob(let bytes):
      var cell = bytes.withUnsafeBufferPointer { copy($0) }
      cell.kind = .blob
      return cell
    }
  }

  private mutating func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> Cell {
    let offset = arenaByteCount
    if let start = bytes.baseAddress { (arena + offset).update(from: start, count: bytes.count) }
    arenaByteCount += bytes.count
    return .text(offset: offset, byteCount: bytes.count)
  }
}
