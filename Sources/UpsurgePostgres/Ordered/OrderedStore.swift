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
  private let connection: PostgresConnection
  private let plan: OrderedPlan

  init(_ connection: PostgresConnection, _ plan: OrderedPlan) {
    self.connection = connection
    self.plan = plan
  }

  package var arrangement: RowArrangement { .segments }

  package func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if order.rows.isEmpty { return }
    var (plan, order) = (plan, order.arrived(rows))
    plan.shape.textColumns = rows.shape.textColumns
    let staging = StagingTable(connection, plan.shape)
    try staging.fill(rows, order, &savepoints, &outcomes)
    if plan.key != nil, !plan.shape.hasComparableKey {
      order = RowOrder(count: rows.count, cuts: try staging.cuts(rowCount: rows.count, savepoints, &outcomes))
    }
    if order.parts.count > StagingTable.indexedPartCount { try staging.index() }
    var part = OrderedPart(
      connection: connection, plan: plan, staging: staging, parts: order.parts, rowCount: order.rows.count,
      bounds: try staging.bounds())
    let records = order.rows.map { rows.records[Int($0)] }
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

  func store(
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
