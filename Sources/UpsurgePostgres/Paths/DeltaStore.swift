/// Stores batches by the delta path: a staging table, a join that finds what differs, UPDATE and INSERT.
///
/// It is faster than the ordered path where much is written, and as fast where little is. It does not keep the order of arrival,
/// so it is for tables in which records of different keys have nothing to do with one another: `PathChoice` says which.
package typealias DeltaWriter = BatchWriter<DeltaStore>

extension BatchWriter<DeltaStore> {
  /// - Parameters:
  ///   - shape: with a key whose parts are columns, and rules without SQL of their own.
  ///   - slots: the slot of each of the shape's columns in the records.
  package init(_ connection: PostgresConnection, _ shape: RecordShape, slots: [Int]) {
    self.init(DeltaStore(connection, shape), shape, slots: slots)
  }
}

/// Stores rows by the delta path: all of them in the order of their keys, by a statement of each kind for each round. If that fails
/// because of a record, they are staged again in the order of arrival, and `RejectSearch` finds the record.
package struct DeltaStore: RowStore {
  private let connection: PostgresConnection
  private let shape: RecordShape
  private let lastBatch = LastBatch()

  /// A batch is most often like the one before.
  private final class LastBatch {
    /// Whether nine of ten records have changed their row.
    var hasChangedMost = false
  }

  init(_ connection: PostgresConnection, _ shape: RecordShape) {
    let (rules, knowsNoSQL) = (shape.rules, "the delta path knows no SQL")
    precondition(rules.changes.isEmpty && rules.condition == nil && rules.conflict != .fail, knowsNoSQL)
    self.connection = connection
    self.shape = shape
  }

  package var arrangement: RowArrangement { .rounds }

  package func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    if order.rows.isEmpty { return }
    var run = DeltaRun(
      connection: connection, plan: DeltaPlan(rows.shape), staging: StagingTable(connection, rows.shape),
      bounds: KeyBounds(rows, order), rowCount: order.rows.count, changesMost: lastBatch.hasChangedMost)
    var sent = order.isSorted && rows.shape.hasCountingDefaults ? order.byArrival : order
    try run.staging.fill(rows, sent, &savepoints, &outcomes)
    if !rows.shape.hasComparableKey {
      sent = RowOrder(
        count: rows.count, cuts: try run.staging.cuts(rowCount: rows.count, savepoints, &outcomes))
    }
    if sent.parts.count > StagingTable.indexedPartCount { try run.staging.index() }
    if run.bounds == nil { run.bounds = try run.staging.bounds() }
    let before = outcomes.counts
    do throws(PostgresFailure) {
      try run.store(sent.parts, after: savepoints.head(), &outcomes)
      savepoints.keep()
      lastBatch.hasChangedMost = (outcomes.updated - before[1]) * 10 >= order.rows.count * 9
    } catch {
      guard error.kind == .record, savepoints.areUsed else { throw error }
      savepoints.takeBack()
      outcomes.counts = before
      if order.isSorted {
        sent = order.arrived(rows)
        try run.staging.drop(&savepoints)
        try run.staging.fill(rows, sent, &savepoints, &outcomes)
      }
      var part = DeltaPart(run: run, parts: sent.parts)
      var search = RejectSearch(
        connection, rows.shape, records: sent.rows.map { rows.records[Int($0)] }, savepoints)
      try search.apply(after: error, with: &part, &outcomes)
      savepoints = search.savepoints
    }
    try run.staging.drop(&savepoints)
  }
}

/// The statements of one batch.
private struct DeltaRun {
  let connection: PostgresConnection
  let plan: DeltaPlan
  let staging: StagingTable
  var bounds: KeyBounds?
  let rowCount: Int
  /// Whether most records are expected to change their row.
  let changesMost: Bool

  /// Stores all rounds.
  func store(
    _ rounds: [Range<Int>], after head: [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    var (head, isMade) = (head, false)
    for round in rounds {
      let part = round.unbounded(of: rowCount)
      let changed = try change(part, &head, &outcomes)
      if changed == round.count { continue }
      let update = changed == nil ? plan.update(part, bounds) : nil
      let finding = isMade ? plan.addition(part, bounds) : plan.creation(part, bounds)
      isMade = true
      let work = [finding, update, plan.insertion(part)].compactMap { $0 }
      let counts = try run(work, after: &head, &outcomes)
      let (found, updated, inserted) = (counts[0], update == nil ? 0 : counts[1], counts[counts.count - 1])
      if found != updated + inserted { throw .disturbed }
      outcomes.updated += updated
      outcomes.inserted += inserted
      outcomes.unchanged += round.count - (changed ?? 0) - found
    }
    let last = head + (isMade ? ["DROP TABLE \(DeltaPlan.table)"] : [])
    if !last.isEmpty { try connection.run(last.joined(separator: "; ")) }
  }

  /// Changes the rows of a part at once, where most are expected to change.
  /// - Returns: how many there were; nil where all is still to be done.
  private func change(
    _ part: Range<Int>, _ head: inout [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> Int? {
    guard changesMost, let update = plan.direct(part, bounds) else { return nil }
    let count = try run([update], after: &head, &outcomes)[0]
    outcomes.updated += count
    return count
  }

  /// - Parameter head: statements before the first ones.
  /// - Returns: how many rows each of the statements has met.
  private func run(
    _ work: [String], after head: inout [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    outcomes.statementCount += work.count
    do throws(PostgresFailure) {
      let results = try connection.run((head + work).joined(separator: "; "))
      defer { head = [] }
      return results.dropFirst(head.count).map(\.affectedCount)
    } catch {
      throw plan.isKeyTaken(error) ? .disturbed : error
    }
  }
}

/// Stores a part of a batch by a statement for each segment.
private struct DeltaPart: PartStore {
  let run: DeltaRun
  /// Where no key comes twice.
  let parts: [Range<Int>]

  func store(
    _ range: Range<Int>, count: Int, after head: [String], _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) {
    var (updated, inserted) = (0, 0)
    var head = head
    do throws(PostgresFailure) {
      for part in parts where part.overlaps(range) {
        outcomes.statementCount += 1
        let writing = run.plan.writing(part.clamped(to: range).unbounded(of: run.rowCount), run.bounds)
        let row = try run.connection.run((head + [writing]).joined(separator: "; ")).last?.first
        head = []
        let counts = (0..<3).map { Int(row?.integer($0) ?? 0) }
        if counts[0] != counts[1] + counts[2] { throw .disturbed }
        updated += counts[1]
        inserted += counts[2]
      }
    } catch {
      throw run.plan.isKeyTaken(error) ? .disturbed : error
    }
    outcomes.updated += updated
    outcomes.inserted += inserted
    outcomes.unchanged += count - updated - inserted
  }

  func beginSearch() throws(PostgresFailure) { try run.staging.index() }

  func leaveOut(_ ords: [Int]) throws(PostgresFailure) { try run.staging.remove(ords) }

  func places(
    in part: Range<Int>, _ query: (String, Range<Int>) -> String, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int] {
    try run.staging.places(in: part, query, &outcomes)
  }
}
