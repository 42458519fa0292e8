import UpsurgeRecords

/// Stores batches by the delta path, each within a transaction that the caller has begun and commits: a staging table, a join that
/// finds what differs, UPDATE and INSERT.
///
/// It is faster than the ordered path where much is written, and as fast where little is. It does not keep the order of arrival,
/// so it is for tables in which records of different keys have nothing to do with one another: `PathChoice` says which.
package struct DeltaWriter: ~Copyable {
  private let store: DeltaStore
  private var rows: BatchRows

  /// - Parameters:
  ///   - shape: with a key whose parts are columns, and rules without SQL of their own.
  ///   - slots: the slot of each of the shape's columns in the records.
  package init(_ connection: PostgresConnection, _ shape: RecordShape, slots: [Int]) {
    store = DeltaStore(connection, shape)
    rows = BatchRows(shape, slots: slots)
  }

  /// - Throws: what is not the fault of a record; the transaction has failed then.
  package mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> BatchOutcomes {
    let store = store
    return try rows.store(batch, in: .rounds) { rows, order, outcomes throws(PostgresFailure) in
      try store.store(rows, order, &outcomes)
    }
  }
}

/// Stores rows by the delta path. Each round of the order is a statement of each kind; what fails because of a record is found
/// by `Halving`, first in the join and then in what writes.
struct DeltaStore {
  private let connection: PostgresConnection
  private let shape: RecordShape

  init(_ connection: PostgresConnection, _ shape: RecordShape) {
    precondition(shape.rules.changes.isEmpty && shape.rules.condition == nil && shape.rules.conflict != .fail, "the delta path knows no SQL")
    self.connection = connection
    self.shape = shape
  }

  /// - Throws: after a failure of the class `record` nothing is stored.
  func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if rows.count == 0 || order.rows.isEmpty { return }
    var order = order
    var bounds = KeyBounds(rows, order)
    if order.isSorted, rows.shape.hasCountingDefaults { order = order.byArrival }
    let staging = StagingTable(connection, rows.shape)
    try staging.fill(rows, order, &outcomes)
    if !rows.shape.hasComparableKey {
      order = RowOrder(count: rows.count, cuts: try staging.cuts(rowCount: rows.count, &outcomes))
    }
    if order.parts.count > StagingTable.indexedPartCount { try staging.index() }
    if bounds == nil { bounds = try staging.bounds() }
    let plan = DeltaPlan(rows.shape)
    var run = DeltaRun(
      connection: connection, plan: plan, staging: staging, bounds: bounds, rowCount: order.rows.count,
      halving: Halving(
        connection, records: order.rows.map { rows.records[Int($0)] }, filter: ConstraintFilter(connection, rows.shape)))
    let before = outcomes
    for round in order.parts { try run.apply(round, &outcomes) }
    try run.end()
    let rejectedCount = outcomes.rejected.count - before.rejected.count
    let writtenCount = outcomes.inserted + outcomes.updated - before.inserted - before.updated
    outcomes.unchanged += order.rows.count - rejectedCount - writtenCount
  }
}

/// The statements of one batch.
private struct DeltaRun {
  let connection: PostgresConnection
  let plan: DeltaPlan
  let staging: StagingTable
  let bounds: KeyBounds?
  let rowCount: Int
  var halving: Halving
  private var hasTable = false
  private var hasIndex = false

  init(connection: PostgresConnection, plan: DeltaPlan, staging: StagingTable, bounds: KeyBounds?, rowCount: Int, halving: Halving) {
    (self.connection, self.plan, self.staging, self.bounds) = (connection, plan, staging, bounds)
    (self.rowCount, self.halving) = (rowCount, halving)
  }

  /// Stores a round, or finds the records of it that cannot be.
  mutating func apply(_ round: Range<Int>, _ outcomes: inout BatchOutcomes) throws(PostgresFailure) {
    if halving.count(of: round) == 0 { return }
    let part = round.unbounded(of: rowCount)
    let update = plan.update(part, bounds)
    let statements = [
      Halving.head, hasTable ? plan.addition(part, bounds) : plan.creation(part, bounds), update, plan.insertion(part), "RELEASE upsurge_part",
    ].compactMap { $0 }
    outcomes.statementCount += update == nil ? 2 : 3
    do throws(PostgresFailure) {
      let counts = try connection.run(statements.joined(separator: "; ")).map(\.affectedCount)
      // Of the savepoint, of SET, and then of what it is about.
      let (found, updated, inserted) = (counts[2], update == nil ? 0 : counts[3], counts[update == nil ? 3 : 4])
      if found != updated + inserted { throw Self.disturbed }
      hasTable = true
      outcomes.updated += updated
      outcomes.inserted += inserted
    } catch {
      if plan.isKeyTaken(error) { throw Self.disturbed }
      guard error.kind == .record else { throw error }
      try connection.run("ROLLBACK TO upsurge_part; RELEASE upsurge_part")
      try split(round, &outcomes)
    }
  }

  /// Somebody else has written rows of the batch between two statements. All of it is to be done again.
  fileprivate static let disturbed = PostgresFailure(
    .retryTransaction, "another session has stored rows under the same keys", sqlState: "40001")

  /// Finds what differs, and then writes it, each by halves.
  private mutating func split(_ round: Range<Int>, _ outcomes: inout BatchOutcomes) throws(PostgresFailure) {
    if !hasIndex {
      try staging.index()
      hasIndex = true
    }
    if !hasTable {
      try connection.run(plan.emptyCreation)
      hasTable = true
    }
    var join = DeltaPart(connection: connection, plan: plan, staging: staging, bounds: bounds, rowCount: rowCount, writes: false)
    try halving.apply(round, with: &join, &outcomes)
    outcomes.statementCount += 1
    let places = try connection.run(plan.places(round), []).rows.compactMap { row in row.integer(0).map { Int($0) } }
    halving.keep(only: places, in: round)
    try connection.run("CREATE INDEX IF NOT EXISTS upsurge_delta_ord ON \(DeltaPlan.table) (upsurge_ord)")
    var writing = DeltaPart(connection: connection, plan: plan, staging: staging, bounds: bounds, rowCount: rowCount, writes: true)
    try halving.apply(round, with: &writing, &outcomes)
  }

  func end() throws(PostgresFailure) {
    try staging.drop()
    if hasTable { try connection.run("DROP TABLE \(DeltaPlan.table)") }
  }
}

/// Joins a part, or writes it.
private struct DeltaPart: PartStore {
  let connection: PostgresConnection
  let plan: DeltaPlan
  let staging: StagingTable
  let bounds: KeyBounds?
  let rowCount: Int
  let writes: Bool

  func store(_ part: Range<Int>, count: Int, _ outcomes: inout BatchOutcomes) throws(PostgresFailure) {
    outcomes.statementCount += 1
    do throws(PostgresFailure) {
      let part = part.unbounded(of: rowCount)
      let work = writes ? plan.writing(part, bounds) : plan.addition(part, bounds)
      let results = try connection.run("\(Halving.head); \(work); RELEASE upsurge_part")
      // Of the savepoint, of SET, and then of what it is about.
      guard writes, let row = results[2].first else { return }
      let (updated, inserted) = (Int(row.integer(0) ?? 0), Int(row.integer(1) ?? 0))
      if updated + inserted != count { throw DeltaRun.disturbed }
      outcomes.updated += updated
      outcomes.inserted += inserted
    } catch {
      throw plan.isKeyTaken(error) ? DeltaRun.disturbed : error
    }
  }

  func leaveOut(_ ords: [Int]) throws(PostgresFailure) {
    try staging.remove(ords)
    if writes { try staging.remove(ords, from: DeltaPlan.table) }
  }

  func places(
    in part: Range<Int>, _ query: (String, Range<Int>) -> String, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    try staging.places(in: part, query, &outcomes)
  }
}
