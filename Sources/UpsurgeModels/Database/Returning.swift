import UpsurgeBulk
import UpsurgePlan
import UpsurgeRecords

/// What became of one of the rows of a call.
public struct Returned<Value: Sendable>: Sendable {
  /// The row's number among those given, from 1.
  public var number: UInt64
  public var outcome: Outcome
  /// What was asked for, as the row is now, or as it was before it was deleted; nil where there is no row: it was rejected, or
  /// ignored and none exists.
  public var value: Value?
  /// Why the row was rejected, where it was.
  public var reject: Reject?
}

/// Rows that are stored while one looks at what becomes of each, in their order.
///
/// Nothing is stored before the first is asked for, and all is committed when the loop has run to its end. One that is left before,
/// at whatever row, by `first` or `prefix` too, takes back all of it, but what `BulkOptions.commitEvery` has committed: ``all()``
/// gathers everything. A row whose deferred foreign key
/// finds no parent in the end comes once more, as rejected.
///
/// The database waits for the loop: what its body asks of the same database throws `usage`, but for reads of a file, which see the rows as they were; other tasks wait. Gather what is
/// needed, and use the database after the loop. A child task that the body waits for, and a GRDB writer's own methods, are not
/// known to be of the loop: they wait forever.
public struct ReturningRows<Rows: AsyncSequence, Value: Sendable>: AsyncSequence
where Rows.Element: TableRow {
  public typealias Element = Returned<Value>

  let rows: Rows
  let write: BulkWrite<Rows.Element>
  let columns: ReturnedColumns<Value>

  /// A column of each row.
  package init(
    _ rows: Rows, _ call: BulkCall<Rows.Element>, in target: any BulkTarget,
    _ column: KeyPath<Rows.Element.TableModel.TableColumns, SQLExpression<Value>>
  ) throws(UpsurgeError) {
    self.init(rows, call, in: target, try ReturnedColumns(column, of: Rows.Element.TableModel.self))
  }

  /// Each row as a model.
  package init(_ rows: Rows, _ call: BulkCall<Rows.Element>, in target: any BulkTarget)
  where Value == Rows.Element.TableModel {
    self.init(rows, call, in: target, ReturnedColumns(of: Value.self))
  }

  private init(
    _ rows: Rows, _ call: BulkCall<Rows.Element>, in target: any BulkTarget, _ columns: ReturnedColumns<Value>
  ) {
    self.rows = rows
    write = BulkWrite(call, in: target)
    self.columns = columns
  }

  /// Stores all rows, commits, and gives what became of each, in their order: `try await database.insert(rows, returning: \.id).all()`.
  /// - Throws: what storing throws; `CancellationError`.
  public func all() async throws -> [Returned<Value>] {
    var all: [Returned<Value>] = []
    for try await row in self {
      // One that was stored, and rejected in the end, comes twice.
      let index = Int(row.number) - 1
      if index < all.count { all[index] = row } else { all.append(row) }
    }
    return all
  }

  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  public final class Iterator: AsyncIteratorProtocol {
    /// Batches that are stored while others are looked at; rows that are yet to come may depend on what became of the others.
    private static var batchesAhead: Int { Rows.self is any RowsAtHand.Type ? 2 : 1 }

    private let call: ReturningRows
    private let feed = BulkFeed()
    private let giver: ReturnedPages
    private var rows: Rows.AsyncIterator
    private var filler: BatchFiller<Rows.Element>
    private var boxes: AsyncStream<BulkFeed.Box>.Iterator
    private var pages: AsyncStream<[BulkUpsert.Returned]>.Iterator
    private var result: Task<BulkStored, any Error>?
    /// Batches that nobody has looked at.
    private var sentCount = 0
    private var page: [BulkUpsert.Returned] = []
    private var index = 0
    private var isAtEnd = false

    init(_ call: ReturningRows) {
      self.call = call
      let (stream, pages) = AsyncStream.makeStream(of: [BulkUpsert.Returned].self)
      giver = ReturnedPages(names: call.columns.names, pages: pages)
      self.pages = stream.makeAsyncIterator()
      rows = call.rows.makeAsyncIterator()
      filler = call.write.filler
      boxes = feed.emptyBoxes
    }

    deinit {
      feed.end(isCancelled: true)
      WaitingDatabase.endLooking(ObjectIdentifier(self))
    }

    public func next() async throws -> Returned<Value>? {
      while index == page.count {
        guard let page = try await nextPage() else { return nil }
        (self.page, index) = (page, 0)
      }
      defer { index += 1 }
      return try call.columns.returned(page[index])
    }

    /// What became of the rows of a batch; in the end, of rows that the end of the transaction has decided on; then nil.
    private func nextPage() async throws -> [BulkUpsert.Returned]? {
      if isAtEnd { return nil }
      isAtEnd = true
      if result == nil { try begin() }
      while !filler.isAtEnd, sentCount < Iterator.batchesAhead, feed.takesRows, let box = await boxes.next() {
        try await send(box)
      }
      if sentCount > 0, let page = await pages.next() {
        isAtEnd = false
        sentCount -= 1
        WaitingDatabase.beginLooking(ObjectIdentifier(self), at: call.write.target.identity)
        return page
      }
      // All rows have been looked at, or the call has failed, or the task is cancelled.
      WaitingDatabase.endLooking(ObjectIdentifier(self))
      feed.end(isCancelled: Task.isCancelled)
      return try await result?.value.late
    }

    private func begin() throws(UpsurgeError) {
      let (write, feed, giver) = (call.write, feed, giver)
      try WaitingDatabase.check(write.target.identity)
      result = Task {
        defer { giver.pages.finish() }
        return try await write.written(feed, giver)
      }
    }

    private func send(_ box: BulkFeed.Box) async throws {
      do {
        try await WaitingDatabase.giving(to: call.write.target.identity) { try await fill(box) }
      } catch {
        WaitingDatabase.endLooking(ObjectIdentifier(self))
        feed.end(isCancelled: true)
        _ = try? await result?.value
        throw error
      }
      feed.send(box)
      sentCount += 1
    }

    private func fill(_ box: BulkFeed.Box) async throws {
      filler.begin(&box.row)
      while filler.wantsRow {
        guard feed.takesRows, let row = try await rows.next() else { break }
        filler.add(row, to: &box.row)
      }
      filler.end()
    }
  }
}

/// Rows that nobody waits for.
private protocol RowsAtHand {}

/// The rows of a sequence, one after the other.
public struct GivenRows<Rows: Sequence>: AsyncSequence, RowsAtHand {
  public typealias Element = Rows.Element

  let rows: Rows

  package init(_ rows: Rows) { self.rows = rows }

  public func makeAsyncIterator() -> Iterator { Iterator(rows: rows.makeIterator()) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var rows: Rows.Iterator

    public mutating func next() async -> Rows.Element? { rows.next() }
  }
}

/// The columns that are given of each row, and what they make.
package struct ReturnedColumns<Value: Sendable>: Sendable {
  package let names: [String]
  let decode: @Sendable (inout RowDecoder) throws(UpsurgeError) -> Value

  /// One column.
  /// - Throws: `usage` for a path to something else.
  package init<Model: Table>(
    _ column: KeyPath<Model.TableColumns, SQLExpression<Value>>, of model: Model.Type
  ) throws(UpsurgeError) {
    names = [try Model.columnName(at: column)]
    decode = Model.columns(of: .row)[keyPath: column].coding.decode
  }

  /// All of them, as a model.
  package init(of model: Value.Type) where Value: Table {
    names = Value.columnNames
    decode = { (row) throws(UpsurgeError) in try Value(from: &row) }
  }

  package func returned(_ row: BulkUpsert.Returned) throws(UpsurgeError) -> Returned<Value> {
    var result = Returned<Value>(number: row.record, outcome: row.outcome, reject: row.reject?.ofCall)
    if let values = row.values {
      var decoder = RowDecoder(.values(values), names: names)
      result.value = try decode(&decoder)
    }
    return result
  }
}
