import Upsurge

/// Stores batches by the ordered path.
package typealias OrderedWriter = BatchWriter<OrderedStore>

extension BatchWriter<OrderedStore> {
  package typealias Outcomes = BatchOutcomes

  /// - Parameter slots: the slot of each of the plan's columns in the records.
  package init(_ connection: PostgresConnection, _ plan: OrderedPlan, slots: [Int]) {
    self.init(OrderedStore(connection, plan), plan.shape, slots: slots)
  }
}

/// Stores rows in the order of their arrival: a staging table, and one statement of `OrderedPlan` a segment. What fails because
/// of a record is found by `RejectSearch`.
package struct OrderedStore: RowStore {
  /// Shows each row that is written, by statements that return them.
  struct Telling {
    let rows: ToldRows
    /// The statement for records from one place up to another.
    let statement: (Range<Int>, KeyBounds?, _ textColumns: Set<String>) -> String
    /// Whether a failure means that somebody else has stored a row under the same key.
    let isKeyTaken: (PostgresFailure) -> Bool
  }

  private let connection: PostgresConnection
  private let plan: OrderedPlan
  private let telling: Telling?

  init(_ connection: PostgresConnection, _ plan: OrderedPlan, telling: Telling? = nil) {
    self.connection = connection
    self.plan = plan
    self.telling = telling
  }

  package var arrangement: RowArrangement { .segments }

  package func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if order.rows.isEmpty { return }
    let mark = telling?.rows.end
    do throws(PostgresFailure) {
      try storeArrived(rows, order, &savepoints, &outcomes)
    } catch {
      if let mark { try telling?.rows.takeBack(to: mark) }
      throw error
    }
  }

  private func storeArrived(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    var (plan, order) = (plan, order.arrived(rows))
    plan.shape.textColumns = rows.shape.textColumns
    let staging = StagingTable(connection, plan.shape)
    try staging.fill(rows, order, &savepoints, &outcomes)
    if plan.key != nil, !plan.shape.hasComparableKey {
      order = RowOrder(count: rows.count, cuts: try staging.cuts(rowCount: rows.count, savepoints, &outcomes))
    }
    if order.parts.count > StagingTable.indexedPartCount { try staging.index() }
    let records = order.rows.map { rows.records[Int($0)] }
    var part = OrderedPart(
      connection: connection, plan: plan, staging: staging, parts: order.parts, rowCount: order.rows.count,
      bounds: try staging.bounds(), telling: telling, records: telling == nil ? [] : records)
    var search = RejectSearch(connection, plan.shape, records: records, savepoints)
    try search.apply(with: &part, &outcomes)
    savepoints = search.savepoints
    try staging.drop(&savepoints)
  }
}

/// Stores a part of the staging table.
private struct OrderedPart: PartStore {
  let connection: PostgresConnection
  let plan: OrderedPlan
  let staging: StagingTable
  /// Where no key comes twice.
  let parts: [Range<Int>]
  let rowCount: Int
  let bounds: KeyBounds?
  let telling: OrderedStore.Telling?
  /// The record in the batch of each place, for those that are told.
  let records: [Int32]
  /// Where what the last part has told begins.
  private var mark: ChangeFile.Mark?

  init(
    connection: PostgresConnection, plan: OrderedPlan, staging: StagingTable, parts: [Range<Int>],
    rowCount: Int, bounds: KeyBounds?,
    telling: OrderedStore.Telling?, records: [Int32]
  ) {
    (self.connection, self.plan, self.staging, self.parts) = (connection, plan, staging, parts)
    (self.rowCount, self.bounds, self.telling, self.records) = (rowCount, bounds, telling, records)
  }

  mutating func store(
    _ range: Range<Int>, count: Int, after head: [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    guard let telling else { return try storeUntold(range, count: count, after: head, &outcomes) }
    mark = telling.rows.end
    do throws(PostgresFailure) {
      try store(range, count: count, after: head, by: telling, &outcomes)
    } catch {
      try takeBackLast()
      throw telling.isKeyTaken(error) ? .disturbed : error
    }
  }

  func takeBackLast() throws(PostgresFailure) {
    if let mark { try telling?.rows.takeBack(to: mark) }
  }

  private func store(
    _ range: Range<Int>, count: Int, after head: [String], by telling: OrderedStore.Telling,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    var counts = StatementCounts()
    var head = head
    for part in parts where part.overlaps(range) {
      outcomes.statementCount += 1
      let sql = telling.statement(
        part.clamped(to: range).unbounded(of: rowCount), bounds, plan.shape.textColumns)
      let told = try telling.rows.tell(sql, after: head, records: records, connection)
      head = []
      if let found = told.foundCount, found != told.counts.inserted + told.counts.updated {
        throw PostgresFailure.disturbed
      }
      counts.add(told.counts)
    }
    outcomes.add(counts, of: count)
  }

  private func storeUntold(
    _ range: Range<Int>, count: Int, after head: [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    var counts = StatementCounts()
    var head = head
    for part in parts where part.overlaps(range) {
      outcomes.statementCount += 1
      let statement = plan.statement(part.clamped(to: range).unbounded(of: rowCount), bounds: bounds)
      let result = try connection.run((head + [statement]).joined(separator: "; ")).last
      head = []
      if let row = result?.first {
        counts.add(row)
      }
    }
    outcomes.add(counts, of: count)
  }

  func beginSearch() throws(PostgresFailure) { try staging.index() }

  func leaveOut(_ ords: [Int]) throws(PostgresFailure) { try staging.remove(ords) }

  func places(
    in part: Range<Int>, _ query: (String, Range<Int>) -> String, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    try staging.places(in: part, query, &outcomes)
  }
}
