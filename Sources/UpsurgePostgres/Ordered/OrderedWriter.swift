import UpsurgeRecords

/// Stores batches by the ordered path, each within a transaction that the caller has begun and commits.
package struct OrderedWriter: ~Copyable {
  package typealias Outcomes = BatchOutcomes
  package typealias Rejected = BatchOutcomes.Rejected

  private let store: OrderedStore
  private var rows: BatchRows

  /// - Parameter slots: the slot of each of the plan's columns in the records.
  package init(_ connection: PostgresConnection, _ plan: OrderedPlan, slots: [Int]) {
    store = OrderedStore(connection, plan)
    rows = BatchRows(plan.shape, slots: slots)
  }

  /// - Throws: what is not the fault of a record; the transaction has failed then.
  package mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> Outcomes {
    let store = store
    return try rows.store(batch, in: .segments) { rows, order, outcomes throws(PostgresFailure) in
      try store.store(rows, order, &outcomes)
    }
  }
}

/// Stores rows in the order of their arrival: a staging table, and one statement of `OrderedPlan` a segment. What fails because
/// of a record is found by `Halving`.
struct OrderedStore {
  private let connection: PostgresConnection
  private let plan: OrderedPlan

  init(_ connection: PostgresConnection, _ plan: OrderedPlan) {
    self.connection = connection
    self.plan = plan
  }

  /// - Throws: after a failure of the class `record` nothing is stored.
  func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if order.rows.isEmpty { return }
    var (plan, order) = (plan, order.arrived(rows))
    plan.shape.textColumns = rows.shape.textColumns
    let staging = StagingTable(connection, plan.shape)
    try staging.fill(rows, order, &outcomes)
    if plan.key != nil, !plan.shape.hasComparableKey {
      order = RowOrder(count: rows.count, cuts: try staging.cuts(rowCount: rows.count, &outcomes))
    }
    if order.parts.count > StagingTable.indexedPartCount { try staging.index() }
    var part = OrderedPart(
      connection: connection, plan: plan, staging: staging, parts: order.parts, rowCount: order.rows.count, bounds: try staging.bounds())
    var halving = Halving(
      connection, records: order.rows.map { rows.records[Int($0)] }, filter: ConstraintFilter(connection, plan.shape))
    try halving.apply(order.rows.indices, with: &part, &outcomes)
    try staging.drop()
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

  func store(_ range: Range<Int>, count: Int, _ outcomes: inout BatchOutcomes) throws(PostgresFailure) {
    var counts = StatementCounts()
    var head = Halving.head + "; "
    for part in parts where part.overlaps(range) {
      outcomes.statementCount += 1
      let result = try connection.run(head + plan.statement(part.clamped(to: range).unbounded(of: rowCount), bounds: bounds)).last
      head = ""
      if let row = result?.first {
        counts.add(row)
      }
    }
    try connection.run("RELEASE upsurge_part")
    outcomes.add(counts, of: count)
  }

  func leaveOut(_ ords: [Int]) throws(PostgresFailure) { try staging.remove(ords) }

  func places(
    in part: Range<Int>, _ query: (String, Range<Int>) -> String, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    try staging.places(in: part, query, &outcomes)
  }
}
