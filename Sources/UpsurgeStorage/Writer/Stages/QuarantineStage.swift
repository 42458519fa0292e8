import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Keeps records for which the table has no place yet, and lets go of what later records make superfluous (see
/// `Quarantine`). Always there: any table may have kept records of earlier runs.
final class QuarantineStage: WriterStage {
  unowned let writer: TableWriter
  private var keeping: Quarantine
  /// Of a replay: the ids of records that have no place yet.
  private(set) var stillQuarantined: [Int64] = []
  /// What leaves the quarantine when the transaction ends, by the records that bring it about.
  private var settlements: [Position: Quarantine.Settlement] = [:]
  /// Looks for the parents of records that were refused, by foreign key.
  var parentProbes: [Int: Statement] = [:]
  /// Whether each record is looked at when it is stored, because kept records may be about its row.
  private(set) var settles: Bool
  /// What was counted where the records begin that may come once more.
  private var atHold = (supersededCount: UInt64(0), stillQuarantinedCount: 0)

  init(_ writer: TableWriter) {
    self.writer = writer
    keeping = Quarantine(writer.bound.plan, on: writer.connection)
    settles = writer.settings.replaysQuarantine
  }

  /// Kept records whose place a later one took.
  var supersededCount: UInt64 { keeping.supersededCount }

  /// Whether any record is kept for the table now.
  func keepsRecords() throws(UpsurgeError) -> Bool { try keeping.keepsAny() }

  // MARK: - What is left open

  private static let lookingAtEach: StorePermits = [.committingWhileIdle, .storingForGood]

  var permits: StorePermits {
    if settings.replaysQuarantine { return Self.lookingAtEach }
    let mayKeep =
      settings.quarantinesUnknown || settings.delivery.quarantinesOrphans || !plan.unknownCells.isEmpty
    return mayKeep ? .all.subtracting(.sorted) : .all
  }

  var permitsNow: StorePermits { settles ? permits.intersection(Self.lookingAtEach) : permits }

  var watchesRecords: Bool { settles }

  private func look(_ change: () throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    try change()
    let settles = keeping.holdsRecords || settings.replaysQuarantine
    if settles == self.settles { return }
    self.settles = settles
    writer.permitsDidChange()
  }

  // MARK: - The writer's way

  func adopt(_ plan: UpsertPlan) throws(UpsurgeError) {
    parentProbes = [:]
    let next = Quarantine(plan, on: connection)
    next.takeOver(from: keeping)
    keeping = next
    let isOpen = writer.transaction.isOpen
    try look { () throws(UpsurgeError) in if isOpen { try next.look() } }
  }

  /// Looks for kept records.
  func didBegin() throws(UpsurgeError) { try look { () throws(UpsurgeError) in try keeping.look() } }

  /// Does what waited for the end of the transaction.
  func didSettle() throws(UpsurgeError) {
    if settlements.isEmpty { return }
    for settlement in settlements.values { try keeping.apply(settlement) }
    settlements.removeAll(keepingCapacity: true)
  }

  func didHold() { atHold = (keeping.supersededCount, stillQuarantined.count) }

  func didTakeBack() throws(UpsurgeError) {
    stillQuarantined.removeSubrange(atHold.stillQuarantinedCount...)
    try look { () throws(UpsurgeError) in try keeping.begin(supersededCount: atHold.supersededCount) }
  }

  /// Leaves what is kept as it is for records that are taken back.
  func willRepeat(_ batch: borrowing Batch) {
    if settlements.isEmpty { return }
    let file = writer.sourceName(batch.origin.sourceIndex)
    for record in 0..<batch.recordCount { settlements[batch.position(of: record, file: file)] = nil }
  }

  // MARK: - Records

  /// Keeps a record for which the table has no place yet.
  /// - Parameter parent: what it refers to that is not there; nil where the table lacks columns of it.
  func keep(
    _ batch: borrowing Batch, _ record: Int, file: String, waitingFor parent: String?
  ) throws(UpsurgeError) {
    if settings.replaysQuarantine {
      stillQuarantined.append(Int64(clamping: batch.records[record].number))
      return
    }
    let row = batch.cells + record * batch.columnCount
    let unknown = plan.unknownCells.filter {
      $0 < batch.columnCount && row[$0].kind != .absent && row[$0].kind != .null
    }
    try keeping.keep(batch, record, unknown: unknown, file: file, waitingFor: parent)
    try look { () throws(UpsurgeError) in }
  }

  func didStore(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isDelete: Bool
  ) throws(UpsurgeError) {
    try settle(outcome, batch, record, isDelete: isDelete)
  }

  /// Takes away, in the transaction of a record that was stored, what was kept of its row; of a record that was kept
  /// itself, that and what arrived before it.
  ///
  /// Where the record may still be taken back, this waits.
  /// - Parameter isDelete: whether the record takes its row away; then it need not have been there.
  func settle(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, isDelete: Bool
  ) throws(UpsurgeError) {
    if !settles { return }
    let isStored =
      [.inserted, .updated, .unchanged, .deleted].contains(outcome) || (isDelete && outcome == .ignored)
    let id = settings.replaysQuarantine ? Int64(clamping: batch.records[record].number) : nil
    let settlement = try keeping.settlement(batch, record, isStored: isStored, isDelete: isDelete, id: id)
    guard let settlement else { return }
    if writer.stages.permits.contains(.storingForGood) {
      try keeping.apply(settlement)
    } else {
      settlements[batch.position(of: record, file: writer.sourceName(batch.origin.sourceIndex))] = settlement
    }
  }

  /// Forgets records that waited for their parents, up to one.
  /// - Parameter files: only those that came from one of these; nil for all.
  func forgetOrphans(through id: Int64, of files: [String]?) throws(UpsurgeError) {
    try keeping.forgetOrphans(through: id, of: files)
  }
}

extension TableWriter {
  /// Kept records whose place a later record of the run took, those not yet committed included.
  package var supersededCount: UInt64 { earlier.supersededCount + (stages.quarantine?.supersededCount ?? 0) }

  /// Whether any record is kept for the table now, of this run or an earlier one.
  package func keepsRecords() throws(UpsurgeError) -> Bool { try stages.quarantine?.keepsRecords() ?? false }

  /// Of a replay: the ids of records that have no place yet.
  package var stillQuarantined: [Int64] { stages.quarantine?.stillQuarantined ?? [] }

  /// Keeps a record for which the table has no place yet.
  /// - Parameter parent: what it refers to that is not there; nil where the table lacks columns of it.
  func quarantine(
    _ batch: borrowing Batch, _ record: Int, waitingFor parent: String? = nil
  ) throws(UpsurgeError) {
    count(.quarantined)
    let file = sourceName(batch.origin.sourceIndex)
    try stages.quarantine?.keep(batch, record, file: file, waitingFor: parent)
    let position = batch.position(of: record, file: file)
    for stage in stages.list { try stage.didRefuse(.quarantined, at: position) }
  }
}
