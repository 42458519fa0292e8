import UpsurgeBulk
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeStorage

/// What one call that stores many rows says of them.
package struct BulkCall<Row: TableRow>: Sendable {
  package var rules: UpsertRules
  package var options = BulkOptions()
  /// What the rows mean for those that are not among them; nil where that is nothing.
  package var snapshot: SnapshotRules?
  /// What a row must say, where the rows are a snapshot.
  var check: SnapshotCheck?

  /// - Throws: `usage` where the call names a key, and the options another one.
  package init(
    _ rules: UpsertRules, options: BulkOptions = BulkOptions(), snapshot: SnapshotRules? = nil
  ) throws(UpsurgeError) {
    self.rules = rules
    if rules.target == .primaryKey {
      self.rules.target = options.key
    } else if options.key != .primaryKey {
      throw UpsurgeError(
        .usage, "a call that names its key has options with a key too",
        hint: "say one of them: on: in the call, or BulkOptions.key")
    }
    if let count = options.commitEvery, count < 1 {
      throw UpsurgeError(
        .usage, "a commit after \(count) rows cannot be",
        hint: "BulkOptions.commitEvery is 1 or more; nil commits once, in the end")
    }
    self.rules.nullKeys = options.nullKeys
    self.options = options
    self.snapshot = snapshot
  }

  /// Stores what a sequence has, on the calling thread.
  /// - Parameters:
  ///   - rowSize: of a row at most, where the options do not say.
  ///   - returned: is told what becomes of each row.
  package func store(
    _ rows: some Sequence<Row>, on connection: Connection, rowSize: ByteSize, returned: ReturnedRows? = nil
  ) throws(UpsurgeError) -> MirrorResult {
    try prepared(connection) { () throws(UpsurgeError) in
      try written(rows, on: connection, rowSize: rowSize, returned: returned)
    }
  }

  private func written(
    _ rows: some Sequence<Row>, on connection: Connection, rowSize: ByteSize, returned: ReturnedRows?
  ) throws(UpsurgeError) -> MirrorResult {
    let writer = try writer(on: connection, isCancelled: { false }, returning: returned)
    var isDone = false
    // An error has rolled back already.
    defer { if !isDone { writer.rollback() } }
    var (iterator, filler) = (rows.makeIterator(), BatchFiller<Row>(options.maximumRowSize ?? rowSize, check))
    var encoder = RowEncoder()
    while !filler.isAtEnd {
      filler.begin(&encoder)
      while filler.wantsRow, let row = iterator.next() { filler.add(row, to: &encoder) }
      filler.end()
      try writer.write(&encoder.batch)
      encoder.batch.reset()
    }
    try writer.sweep()
    try writer.finish()
    isDone = true
    return MirrorResult(writer)
  }

  /// Stores what comes through a feed.
  /// - Returns: nil where the call was cancelled.
  fileprivate func store(
    _ feed: BulkFeed, on connection: Connection, _ returned: ReturnedPages?
  ) throws(UpsurgeError) -> BulkStored? {
    try prepared(connection) { () throws(UpsurgeError) in try written(feed, on: connection, returned) }
  }

  private func written(
    _ feed: BulkFeed, on connection: Connection, _ returned: ReturnedPages?
  ) throws(UpsurgeError) -> BulkStored? {
    let rows = returned.map { ReturnedRows($0.names, rules: rules) }
    let writer = try writer(on: connection, isCancelled: { feed.isCancelled }, returning: rows)
    var isDone = false
    // An error has rolled back already.
    defer { if !isDone { writer.rollback() } }
    while let box = feed.receive() {
      try writer.write(&box.row.batch)
      feed.giveBack(box)
      if let rows { returned?.pages.yield(rows.take()) }
    }
    if feed.isCancelled { return nil }
    try writer.sweep()
    try writer.finish()
    isDone = true
    return BulkStored(result: MirrorResult(writer), late: rows?.take() ?? [])
  }

  /// Has triggers know whether a sync runs, and says what is thrown in the words of the call.
  private func prepared<Result>(
    _ connection: Connection, _ store: () throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    let before = connection.isSynchronizing
    connection.isSynchronizing = options.isSynchronizing
    defer { connection.isSynchronizing = before }
    do throws(UpsurgeError) { return try store() } catch { throw error.ofCall }
  }

  private func writer(
    on connection: Connection, isCancelled: @escaping @Sendable () -> Bool, returning rows: ReturnedRows?
  ) throws(UpsurgeError) -> TableWriter {
    var settings = WriterSettings()
    settings.onError = options.onError
    // A transaction of somebody else is committed by them, and its references are theirs.
    settings.commitsOnce = options.commitEvery == nil || connection.isBorrowed
    settings.leavesReferencesOpen = connection.isBorrowed
    settings.commitEvery.records = max(options.commitEvery ?? .max, 1)
    settings.delivery.snapshot = snapshot
    if !connection.isBorrowed { settings.statements.memory.byteCount = 4 * connection.pageCacheByteCount }
    settings.isCancelled = isCancelled
    let writer = try TableWriter(
      on: connection, table: Row.TableModel.tableName, columns: Row.TableModel.columnNames, rules: rules,
      settings: settings, observer: rows,
      rejectSink: { (reject) throws(UpsurgeError) in
        rows?.note(reject)
        options.onReject?(reject.ofCall)
      })
    do throws(UpsurgeError) {
      try writer.plan.schema.checkKeepsRows(of: Row.TableModel.self, rules, on: connection)
    } catch {
      writer.rollback()
      throw error
    }
    return writer
  }
}

/// A database that rows are stored in, by a thread of its own.
package protocol BulkTarget: Sendable {
  /// What a row may have of text and blobs, where the call does not say.
  var maximumRowSize: ByteSize { get }
  /// What distinguishes it from others: it waits for the rows of a call, and can do nothing else meanwhile.
  var identity: ObjectIdentifier { get }

  /// Stores with the database's connection, alone; what is thrown takes back what was stored, and nil says that it is already.
  func withConnection(
    _ work: @escaping @Sendable (Connection) throws(UpsurgeError) -> BulkStored?
  ) async throws -> BulkStored?
}

/// One call that stores many rows: they are taken from the caller's task, and stored by the database's thread.
///
/// The thread is at work for this call alone until its last row; what others ask for waits.
package struct BulkWrite<Row: TableRow>: Sendable {
  let target: any BulkTarget
  let call: BulkCall<Row>

  package init(_ call: BulkCall<Row>, in target: any BulkTarget) {
    self.call = call
    self.target = target
  }

  /// Stores what a sequence has.
  /// - Throws: `CancellationError`; what storing throws.
  package func store(_ rows: sending some Sequence<Row>) async throws -> MirrorResult {
    try WaitingDatabase.check(target.identity)
    let feed = BulkFeed()
    async let result = written(feed)
    var (iterator, filler, boxes) = (rows.makeIterator(), filler, feed.emptyBoxes)
    while !filler.isAtEnd, feed.takesRows, let box = await boxes.next() {
      filler.begin(&box.row)
      while filler.wantsRow, let row = iterator.next() { filler.add(row, to: &box.row) }
      filler.end()
      feed.send(box)
    }
    feed.end(isCancelled: Task.isCancelled)
    return try await result.result
  }

  /// Stores what an asynchronous sequence has; what it throws takes everything since the last commit back.
  package func store<Rows: AsyncSequence>(_ rows: sending Rows) async throws -> MirrorResult
  where Rows.Element == Row {
    try WaitingDatabase.check(target.identity)
    let feed = BulkFeed()
    async let result = written(feed)
    do {
      try await WaitingDatabase.giving(to: target.identity) { try await send(rows, to: feed) }
    } catch {
      feed.end(isCancelled: true)
      _ = try? await result
      throw error
    }
    feed.end(isCancelled: Task.isCancelled)
    return try await result.result
  }

  private func send<Rows: AsyncSequence>(_ rows: Rows, to feed: BulkFeed) async throws
  where Rows.Element == Row {
    var (iterator, filler, boxes) = (rows.makeAsyncIterator(), filler, feed.emptyBoxes)
    while !filler.isAtEnd, feed.takesRows, let box = await boxes.next() {
      filler.begin(&box.row)
      while filler.wantsRow {
        // Rows may come slowly, and what is full was stored, or not, meanwhile.
        guard feed.takesRows, let row = try await iterator.next() else { break }
        filler.add(row, to: &box.row)
      }
      filler.end()
      feed.send(box)
    }
  }

  var filler: BatchFiller<Row> {
    BatchFiller(call.options.maximumRowSize ?? target.maximumRowSize, call.check)
  }

  /// Stores what comes through the feed, and commits.
  func written(_ feed: BulkFeed, _ returned: ReturnedPages? = nil) async throws -> BulkStored {
    defer { feed.stop() }
    return try await withTaskCancellationHandler {
      do {
        let result = try await target.withConnection { (connection) throws(UpsurgeError) in
          // Who has the rows need not wait for room any more.
          defer { feed.stop() }
          return try call.store(feed, on: connection, returned)
        }
        if let result { return result }
      } catch {
        if !feed.isCancelled { throw error }
      }
      throw CancellationError()
    } onCancel: {
      feed.end(isCancelled: true)
    }
  }
}

/// What a call that feeds the database's thread has stored.
package struct BulkStored: Sendable {
  package var result: MirrorResult
  /// What became of rows that the end of the transaction has decided on.
  var late: [BulkUpsert.Returned]
}

extension MirrorResult {
  fileprivate init(_ writer: TableWriter) {
    self.init(
      ledger: writer.ledger, refusal: writer.guardRefusal?.error.ofCall, revivedCount: writer.revivedCount)
  }
}

/// Where what became of rows goes, a page for each batch.
struct ReturnedPages: Sendable {
  /// The columns that are returned.
  var names: [String]
  var pages: AsyncStream<[BulkUpsert.Returned]>.Continuation
}

/// Fills batches with rows.
struct BatchFiller<Row: TableRow> {
  /// Bytes of text and blobs that a row may have.
  let byteLimit: Int
  /// What a row must say; nil for nothing.
  let check: SnapshotCheck?
  /// Whether there are no more rows.
  private(set) var isAtEnd = false
  /// Whether the batch has room.
  private(set) var wantsRow = false
  /// The row that did not fit the batch before.
  private var waiting: Row?
  private var count: UInt64 = 0

  init(_ maximum: ByteSize, _ check: SnapshotCheck?) {
    byteLimit = min(maximum.byteCount, 1_000_000_000)
    self.check = check
  }

  /// Begins an empty batch.
  mutating func begin(_ rows: inout RowEncoder) {
    rows.batch.begin(columnCount: Row.TableModel.columnDefinitions.count)
    wantsRow = true
    if let row = waiting {
      waiting = nil
      append(row, to: &rows)
    }
  }

  /// Adds a row to a batch that wants one.
  mutating func add(_ row: Row, to rows: inout RowEncoder) {
    count += 1
    append(row, to: &rows)
  }

  /// Ends a batch; one that still wants a row is the last.
  mutating func end() { isAtEnd = wantsRow }

  private mutating func append(_ row: Row, to rows: inout RowEncoder) {
    // `row.encode` itself would be a closure in memory of its own, for each row.
    if let byteCount = rows.appendRow(number: count, byteLimit: byteLimit, { row.encode(into: &$0) }) {
      if byteCount > byteLimit {
        rows.batch.take(.tooLarge(row: count, byteCount: byteCount, limit: byteLimit))
        wantsRow = rows.hasRoom
        return
      } else if rows.batch.isEmpty {
        rows.batch.growArena(to: byteCount)
        _ = rows.appendRow(number: count) { row.encode(into: &$0) }
      } else {
        waiting = row
        wantsRow = false
        return
      }
    }
    if let reason = rows.takeRefusal() {
      rows.batch.take(.unstorable(row: count, reason: reason))
    } else if let refusal = check?.refusal(of: rows) {
      rows.removeLast()
      rows.batch.take(.unstorable(row: count, reason: refusal.reason, hint: Wording(refusal.hint)))
    }
    wantsRow = rows.hasRoom
  }
}

extension Reject {
  /// A row with a value that cannot be stored.
  fileprivate static func unstorable(row: UInt64, reason: String, hint: Wording? = nil) -> Reject {
    Reject(
      .badValue, at: Position(file: "rows", record: row), reason: reason, hint: hint,
      raw: UnsafeBufferPointer(start: nil, count: 0))
  }

  /// A row that is larger than the call's memory allows.
  fileprivate static func tooLarge(row: UInt64, byteCount: Int, limit: Int) -> Reject {
    Reject(
      .tooLarge, at: Position(file: "rows", record: row),
      reason: "the row has \(byteCount) bytes, more than the \(limit) it may",
      hint: "a larger BulkOptions.maximumRowSize",
      raw: UnsafeBufferPointer(start: nil, count: 0))
  }
}
