import Upsurge

/// What became of one of the rows of a call.
public struct Returned<Value: Sendable>: Sendable {
  /// The row's number among those given, from 1.
  public var number: UInt64
  public var outcome: Outcome
  /// What was asked for, as the row is now; nil where there is no row: it was rejected, or ignored and none exists.
  public var value: Value?
  /// Why the row was rejected, where it was.
  public var reject: Reject?
}

/// Rows that are stored while one looks at what becomes of each, in their order.
///
/// Nothing is stored before the first is asked for, and everything is committed when the last has been: a loop that is left
/// early takes all of them back. A row whose deferred foreign key finds no parent in the end comes once more, as rejected.
public struct ReturningRows<Rows: Sequence, Value: Sendable>: AsyncSequence where Rows.Element: TableRow {
  public typealias Element = Returned<Value>

  let rows: Rows
  let write: BulkWrite<Rows.Element>
  let names: [String]
  let decode: @Sendable (inout RowDecoder) throws(UpsurgeError) -> Value

  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  public final class Iterator: AsyncIteratorProtocol {
    /// Batches that are stored while others are looked at.
    private static var batchesAhead: Int { 2 }

    private let call: ReturningRows
    private let feed = BulkFeed()
    private let giver: ReturnedPages
    private var rows: Rows.Iterator
    private var filler: BatchFiller<Rows.Element>
    private var boxes: AsyncStream<BulkFeed.Box>.Iterator
    private var pages: AsyncStream<[BulkUpsert.Returned]>.Iterator
    private var result: Task<MirrorResult, any Error>?
    private var sentCount = 0
    private var page: [BulkUpsert.Returned] = []
    private var index = 0
    private var isAtEnd = false

    init(_ call: ReturningRows) {
      self.call = call
      let (stream, pages) = AsyncStream.makeStream(of: [BulkUpsert.Returned].self)
      giver = ReturnedPages(names: call.names, pages: pages)
      self.pages = stream.makeAsyncIterator()
      rows = call.rows.makeIterator()
      filler = call.write.filler
      boxes = feed.emptyBoxes
    }

    deinit { feed.end(isCancelled: true) }

    public func next() async throws -> Returned<Value>? {
      while index == page.count {
        if isAtEnd { return nil }
        if !filler.isAtEnd && sentCount < Iterator.batchesAhead {
          await sendBatch()
        } else if let page = await pages.next() {
          (self.page, index) = (page, 0)
          sentCount -= 1
        } else {
          isAtEnd = true
          if Task.isCancelled { feed.end(isCancelled: true) }
          _ = try await result?.value
        }
      }
      defer { index += 1 }
      return try returned(page[index])
    }

    private func sendBatch() async {
      if result == nil {
        let (write, feed, giver) = (call.write, feed, giver)
        result = Task {
          defer { giver.pages.finish() }
          return try await write.written(feed, giver)
        }
      }
      guard let box = await boxes.next() else {
        // The call has failed, or the task is cancelled.
        sentCount = .max
        return
      }
      filler.begin(&box.row)
      while filler.wantsRow, let row = rows.next() { filler.add(row, to: &box.row) }
      filler.end()
      feed.send(box)
      sentCount += 1
      if filler.isAtEnd { feed.end(isCancelled: false) }
    }

    private func returned(_ row: BulkUpsert.Returned) throws(UpsurgeError) -> Returned<Value> {
      var result = Returned<Value>(number: row.record, outcome: row.outcome, reject: row.reject)
      if let values = row.values {
        var decoder = RowDecoder(.values(values), names: call.names)
        result.value = try call.decode(&decoder)
      }
      return result
    }
  }
}

extension Database {
  /// Upserts rows and gives a column of each, such as the key that a draft got.
  ///
  ///     for try await row in try database.upsert(drafts, on: \.name, returning: \.id) {
  ///       print(row.number, row.outcome, row.value ?? 0)
  ///     }
  ///
  /// Rows are stored one by one for that, which is slower than without.
  /// - Parameters: as of `upsert`.
  /// - Throws: `usage`; when it is read, as `upsert`.
  public func upsert<Rows: Sequence, Value: Sendable>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>...,
    where predicate: (@Sendable (Rows.Element.Model.TableColumns) -> SQLExpression<Bool>)? = nil,
    newer: ColumnPath<Rows.Element>? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.Model>, Rows.Element.Model.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions(),
    returning column: KeyPath<Rows.Element.Model.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) -> ReturningRows<Rows, Value> where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .upsert, key: key, where: predicate, newer: newer, merge: merge, model: Rows.Element.Model.self)
    let column = Rows.Element.Model.columns(of: .row)[keyPath: column]
    return ReturningRows(
      rows: rows, write: BulkWrite(BulkCall(rules, options: options), in: self),
      names: column.columnName.map { [$0] } ?? [], decode: column.coding.decode)
  }

  /// Upserts rows and gives each as it is then.
  /// - Parameters: as of `upsert`.
  /// - Throws: `usage`; when it is read, as `upsert`.
  public func upsert<Rows: Sequence>(
    _ rows: Rows, on key: ColumnPath<Rows.Element>...,
    where predicate: (@Sendable (Rows.Element.Model.TableColumns) -> SQLExpression<Bool>)? = nil,
    newer: ColumnPath<Rows.Element>? = nil,
    merge: (
      @Sendable (inout RowUpdates<Rows.Element.Model>, Rows.Element.Model.TableColumns) -> Void
    )? = nil,
    options: BulkOptions = BulkOptions(), returning model: Rows.Element.Model.Type
  ) throws(UpsurgeError) -> ReturningRows<Rows, Rows.Element.Model> where Rows.Element: TableRow {
    let rules = try UpsertRules(
      .upsert, key: key, where: predicate, newer: newer, merge: merge, model: Rows.Element.Model.self)
    return ReturningRows(
      rows: rows, write: BulkWrite(BulkCall(rules, options: options), in: self),
      names: Rows.Element.Model.columnNames,
      decode: { (row) throws(UpsurgeError) in try Rows.Element.Model(from: &row) })
  }
}
