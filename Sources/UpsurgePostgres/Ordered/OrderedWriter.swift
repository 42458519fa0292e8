import UpsurgeRecords

/// Stores batches by the ordered path, each within a transaction that the caller has begun and commits: a staging table, and one
/// statement of `OrderedPlan` a segment. What fails because of a record is found by `Halving`.
package struct OrderedWriter: ~Copyable {
  package typealias Outcomes = BatchOutcomes
  package typealias Rejected = BatchOutcomes.Rejected

  private let connection: PostgresConnection
  private var plan: OrderedPlan
  private var rows: EncodedRows
  private var segments = KeySegments()

  /// - Parameter slots: the slot of each of the plan's columns in the records.
  package init(_ connection: PostgresConnection, _ plan: OrderedPlan, slots: [Int]) {
    self.connection = connection
    self.plan = plan
    rows = EncodedRows(plan.shape, slots: slots)
  }

  /// - Throws: what is not the fault of a record; the transaction has failed then.
  package mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> Outcomes {
    var outcomes = Outcomes()
    var order = try stage(batch, &outcomes)
    plan.shape = rows.shape
    let staging = StagingTable(connection, plan.shape)
    if plan.key != nil, !plan.shape.hasComparableKey {
      order = RowOrder(count: rows.count, cuts: try staging.cuts(rowCount: rows.count, &outcomes))
    }
    if order.parts.count > OrderedPart.indexedPartCount { try staging.index() }
    let filter = ConstraintFilter(connection, plan.shape)
    var part = OrderedPart(
      connection: connection, plan: plan, staging: staging, parts: order.parts, bounds: try staging.bounds())
    var halving = Halving(connection, records: rows.records, filter: filter)
    try halving.apply(0..<rows.count, with: &part, &outcomes)
    try staging.drop()
    outcomes.rejected.sort { $0.record < $1.record }
    return outcomes
  }

  /// Sends the records, without those that cannot be.
  private mutating func stage(_ batch: borrowing Batch, _ outcomes: inout Outcomes) throws(PostgresFailure) -> RowOrder {
    while true {
      outcomes.rejected = rows.fill(batch)
      var order = RowOrder(count: rows.count)
      if rows.shape.hasComparableKey, let fields = rows.shape.keyFields { order = .segments(rows, fields, &segments) }
      do {
        try StagingTable(connection, rows.shape).fill(rows, order, &outcomes)
        return order
      } catch {
        guard error.kind == .record, rows.castJSON() else { throw error }
      }
    }
  }
}

/// Stores a part of the staging table.
private struct OrderedPart: PartStore {
  static let indexedPartCount = 8

  let connection: PostgresConnection
  let plan: OrderedPlan
  let staging: StagingTable
  /// Where no key comes twice.
  let parts: [Range<Int>]
  let bounds: KeyBounds?

  /// What is only checked at the end of the transaction would fail in its COMMIT, where no record can be found any more; and a
  /// later record might mend what an earlier one has broken.
  private static let head = "SAVEPOINT upsurge_part; SET CONSTRAINTS ALL IMMEDIATE; "

  func store(_ range: Range<Int>, count: Int, _ outcomes: inout BatchOutcomes) throws(PostgresFailure) {
    var counts = (inserted: 0, updated: 0, kept: 0)
    var head = Self.head
    for part in parts where part.overlaps(range) {
      outcomes.statementCount += 1
      let result = try connection.run(head + plan.statement(part.clamped(to: range), bounds: bounds)).last
      head = ""
      if let row = result?.first {
        counts.inserted += Int(row.integer(0) ?? 0)
        counts.updated += Int(row.integer(1) ?? 0)
        counts.kept += Int(row.integer(2) ?? 0)
      }
    }
    try connection.run("RELEASE upsurge_part")
    outcomes.inserted += counts.inserted
    outcomes.updated += counts.updated
    outcomes.kept += counts.kept
    outcomes.unchanged += count - counts.inserted - counts.updated - counts.kept
  }

  func leaveOut(_ ords: [Int]) throws(PostgresFailure) { try staging.remove(ords) }

  func places(
    from first: Int, _ query: (String, Range<Int>) -> String, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    outcomes.statementCount += 1
    let result = try connection.run(query(RecordShape.staging, first..<Int(Int32.max)), [])
    return result.rows.compactMap { $0.integer(0).map { Int($0) } }
  }
}
