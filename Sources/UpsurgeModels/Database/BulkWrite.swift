import Upsurge

/// One call that stores many rows: they are taken from the caller's task, and stored by the database's thread.
///
/// The thread is at work for this call alone until its last row; what others ask for waits.
struct BulkWrite<Row: TableRow>: Sendable {
  let database: Database
  let rules: UpsertRules
  let options: BulkOptions
  /// What the rows mean for those that are not among them; nil where that is nothing.
  var snapshot: SnapshotRules?

  /// Stores what a sequence has.
  /// - Throws: `CancellationError`; what storing throws.
  func store(_ rows: sending some Sequence<Row>) async throws -> Ledger {
    try await mirror(rows).ledger
  }

  /// Stores what a sequence has, and sweeps.
  func mirror(_ rows: sending some Sequence<Row>) async throws -> MirrorResult {
    let feed = BulkFeed()
    async let result = written(feed)
    var (iterator, filler, boxes) = (rows.makeIterator(), filler, feed.emptyBoxes)
    while !filler.isAtEnd, let box = await boxes.next() {
      filler.begin(&box.row)
      while filler.wantsRow, let row = iterator.next() { filler.add(row, to: &box.row) }
      filler.end()
      feed.send(box)
    }
    feed.end(isCancelled: Task.isCancelled)
    return try await result
  }

  /// Stores what an asynchronous sequence has; what it throws takes everything since the last commit back.
  func store<Rows: AsyncSequence>(_ rows: sending Rows) async throws -> Ledger where Rows.Element == Row {
    let feed = BulkFeed()
    async let result = written(feed)
    do {
      try await DatabaseThread.$waiting.withValue(ObjectIdentifier(database.writer)) {
        try await send(rows, to: feed)
      }
    } catch {
      feed.end(isCancelled: true)
      _ = try? await result
      throw error
    }
    feed.end(isCancelled: Task.isCancelled)
    return try await result.ledger
  }

  private func send<Rows: AsyncSequence>(_ rows: Rows, to feed: BulkFeed) async throws
  where Rows.Element == Row {
    var (iterator, filler, boxes) = (rows.makeAsyncIterator(), filler, feed.emptyBoxes)
    while !filler.isAtEnd, let box = await boxes.next() {
      filler.begin(&box.row)
      while filler.wantsRow {
        guard let row = try await iterator.next() else { break }
        filler.add(row, to: &box.row)
      }
      filler.end()
      feed.send(box)
    }
  }

  var filler: BatchFiller<Row> {
    BatchFiller(byteLimit: min(database.configuration.memory.byteCount / 4, 1_000_000_000))
  }

  // MARK: - The database's thread

  /// Stores what comes through the feed, and commits.
  func written(_ feed: BulkFeed, _ returned: ReturnedPages? = nil) async throws -> MirrorResult {
    defer { feed.stop() }
    return try await withTaskCancellationHandler {
      do throws(UpsurgeError) {
        let result = try await database.writer.perform { (connection) throws(UpsurgeError) in
          // Who has the rows need not wait for room any more.
          defer { feed.stop() }
          return try write(feed, returned, on: connection)
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

  /// - Returns: nil where the call was cancelled.
  private func write(_ feed: BulkFeed, _ returned: ReturnedPages?, on connection: Connection)
    throws(UpsurgeError) -> MirrorResult?
  {
    var settings = WriterSettings()
    settings.onError = options.onError
    settings.commitsOnce = options.commitEvery == nil
    settings.commitEveryRecords = max(options.commitEvery ?? .max, 1)
    settings.snapshot = snapshot
    settings.isCancelled = { feed.isCancelled }
    let rows = returned.map { ReturnedRows($0.names, rules: rules) }
    let writer = try TableWriter(
      on: connection, table: Row.Model.tableName, columns: Row.Model.columnNames, rules: rules,
      settings: settings, observer: rows,
      rejectSink: { (reject) throws(UpsurgeError) in
        rows?.note(reject)
        options.onReject?(reject)
      })
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
    // Records that the end of the transaction has decided on.
    if let rows { returned?.pages.yield(rows.take()) }
    return MirrorResult(ledger: writer.ledger, refusal: writer.guardRefusal?.error)
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
  /// Whether there are no more rows.
  private(set) var isAtEnd = false
  /// Whether the batch has room.
  private(set) var wantsRow = false
  /// The row that did not fit the batch before.
  private var waiting: Row?
  private var count: UInt64 = 0

  init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// Begins an empty batch.
  mutating func begin(_ rows: inout RowEncoder) {
    rows.batch.begin(columnCount: Row.Model.columnDefinitions.count)
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
    if let byteCount = rows.appendRow(number: count, row.encode) {
      if byteCount > byteLimit {
        rows.batch.take(.tooLarge(row: count, byteCount: byteCount, limit: byteLimit))
      } else if rows.batch.isEmpty {
        rows.batch.growArena(to: byteCount)
        _ = rows.appendRow(number: count, row.encode)
      } else {
        waiting = row
        wantsRow = false
        return
      }
    }
    wantsRow = rows.hasRoom
  }
}

extension Reject {
  /// A row that is larger than the database's memory allows.
  fileprivate static func tooLarge(row: UInt64, byteCount: Int, limit: Int) -> Reject {
    Reject(
      .tooLarge, at: Position(file: "rows", record: row),
      reason: "the row has \(byteCount) bytes, more than the \(limit) it may",
      hint: "a larger Configuration.memory; a row may have a quarter of it",
      raw: UnsafeBufferPointer(start: nil, count: 0))
  }
}
