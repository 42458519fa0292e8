import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Notes the state of each row that the feed delivers (see `RowStateKeeper`).
final class RowStateStage: WriterStage {
  unowned let writer: TableWriter
  let rowState: RowStateKeeper
  /// Whether rows that were edited here are marked, where that is looked for.
  private(set) var hasMarkedEdits = false
  /// What was done with rows that were edited here; known after the sweep.
  var localEdits = LocalEditCounts()
  /// Records between two looks that have not become their row.
  private var unstored: Set<Int> = []
  /// Records between two looks that have become no row because they were stale or ignored.
  private var passedOver: Set<Int> = []
  /// Records of them that their row said already, where that is told of each.
  private var unwritten: Set<Int> = []

  init(_ writer: TableWriter, _ rules: RowStateRules) throws(UpsurgeError) {
    self.writer = writer
    rowState = try RowStateKeeper(rules, writer.bound.plan, on: writer.connection)
  }

  // MARK: - What is left open

  /// A statement of many rows could leave one as it is for another reason than that it says the same.
  var permits: StorePermits {
    let tellsOutcomes = plan.hasCondition || plan.mayIgnore || plan.mode != .upsert
    let taken: StorePermits = [.flagged, .leavingOutEqual]
    return .all.subtracting(tellsOutcomes ? taken.union(.manyRows) : taken)
  }

  var permitsNow: StorePermits { rowState.repairs ? permits.subtracting(.manyRows) : permits }

  var watchesRecords: Bool { true }

  // MARK: - The writer's way

  func adopt(_ plan: UpsertPlan) throws(UpsurgeError) { try rowState.adopt(plan) }

  /// Makes ready for notes in a transaction that begins.
  func didBegin() throws(UpsurgeError) {
    try open()
    writer.permitsDidChange()
  }

  private func open() throws(UpsurgeError) {
    try rowState.makeTable()
    let number = try writer.keeper.map { (keeper) throws(UpsurgeError) in
      try keeper.reserve(
        above: { () throws(UpsurgeError) in try rowState.lastRun() }, writer.progress(isWhole: false),
        writer.position)
    }
    rowState.begin(run: number)
    if rowState.isSettled { return try rowState.markLateEdits() }
    // Of a table that an earlier part of the run has made, that part's notes stand.
    try rowState.settle(isTableNew: settings.sorting.isTableNew && writer.earlier.ledger.read == 0)
    try rowState.markEdits()
    if let scope = settings.delivery.snapshot?.scope, let edited = rowState.editedTerm {
      writer.stages.sweep?.rowsOutside = try writer.count(
        rowsIn: "(\(scope)) IS NOT TRUE AND NOT (\(edited))")
    }
    hasMarkedEdits = true
    guard rowState.rules.isOwned, !rowState.hasCounted, let rules = settings.delivery.snapshot,
      rules.sweep != .none
    else {
      return
    }
    writer.stages.sweep?.rowsBefore = try writer.count(
      rowsIn: "(\(try rules.liveScope(of: plan.schema))) AND \(rowState.sweptTerm)\(writer.acceptance.term)")
    rowState.hasCounted = true
  }

  func willCommit(isLast: Bool) throws(UpsurgeError) {
    if !isLast { try rowState.settleTriggers() }
  }

  func didCommit() { rowState.isSettled = true }

  func didRollBack() { localEdits = LocalEditCounts() }

  func moveToCurrentThread() { rowState.edits.recordKey?.moveToCurrentThread() }

  // MARK: - Records

  func willStoreRun() {
    unstored.removeAll(keepingCapacity: true)
    passedOver.removeAll(keepingCapacity: true)
    unwritten.removeAll(keepingCapacity: true)
  }

  func didStore(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, isDelete: Bool
  ) {
    switch outcome {
    case .inserted, .updated: break
    case .unchanged: unwritten.insert(record)
    case .stale, .ignored: passedOver.insert(record)
    case .deleted, .rejected, .quarantined: unstored.insert(record)
    }
  }

  func didFail(_ record: Int, _ refusal: Refusal?) { unstored.insert(record) }

  /// Notes the row of a record.
  /// - Parameters:
  ///   - handle: stands on what identifies the row.
  ///   - isWhole: whether the record speaks of all columns.
  func note(
    rowOf handle: OpaquePointer, _ batch: borrowing Batch, _ record: Int, isWhole: Bool
  ) throws(UpsurgeError) {
    if unstored.contains(record) { return }
    var standing = RowStateKeeper.Standing.another
    if !passedOver.contains(record) {
      let count = plan.identityColumns.count
      standing = try self.standing { $0.bind(rowOf: handle, count: count) }
    }
    try rowState.note(
      rowOf: handle, source: writer.sourceName(batch.origin.sourceIndex), standing,
      bringsBack: isWhole && !unwritten.contains(record))
  }

  /// Notes the row of a record that has waited in the quarantine.
  func note(_ row: [SQLValue]) throws(UpsurgeError) {
    let standing = try standing { (statement) throws(UpsurgeError) in
      for (index, value) in row.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    }
    try rowState.note(row, source: writer.sourceName(max(writer.sourceNames.count - 1, 0)), standing)
  }

  /// What is noted of a row that a record has become.
  /// - Parameter bind: binds what identifies the row.
  private func standing(
    _ bind: (Statement) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) -> RowStateKeeper.Standing {
    try writer.stages.sweep?.acceptance.rows?.standing(bind) ?? .own
  }

  // MARK: - The end

  /// Brings the notes in step with the rows, where nothing is swept: what a whole snapshot does not have is gone.
  func end() throws(UpsurgeError) {
    try writer.settle()
    do throws(UpsurgeError) {
      try writer.begin()
      let isWhole =
        settings.delivery.snapshot != nil && writer.guardRefusal == nil
        && writer.stages.sweep?.unreadableCount == 0
        && writer.earlier.ledger.read == 0
      try finish(unseen: isWhole ? writer.stages.sweep?.unseenTerm() : nil)
    } catch {
      throw writer.fail(error)
    }
  }

  /// - Parameter unseen: SQL that is true of rows that are gone from the feed; nil where none is known to be.
  func finish(unseen: String?) throws(UpsurgeError) {
    try rowState.finish(unseen: unseen, hasPlainRows: plan.hasPlainRows && plan.rules.merge.columns.isEmpty)
    let unswept = localEdits.unswept
    localEdits = try rowState.finishEdits()
    localEdits.unswept = unswept
  }

  // MARK: - Rows that were edited here

  /// Whether what is noted of rows depends on each record before it is stored: some may be passed over, or delete rows.
  var looksBefore: Bool {
    rowState.passesOver || rowState.rules.localEdits == .keep && plan.tombstoneCell != nil
  }

  /// Stores records but those about rows that were edited here, which are passed over.
  func storeUnedited(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int
  ) throws(UpsurgeError) {
    var place = start
    for next in start..<end {
      let record = order[next]
      let isTombstone =
        plan.tombstoneCell != nil && writer.verdict(batch, record, writer.bound.guards) == .tombstone
      guard try isEdited(batch, record, isTombstone: isTombstone) else { continue }
      if place < next { try writer.storeRun(batch, in: order, from: place, to: next) }
      place = next + 1
      writer.count(.ignored)
      passedOver.insert(record)
      try writer.stages.quarantine?.settle(.ignored, batch, record, isDelete: false)
    }
    if place < end { try writer.storeRun(batch, in: order, from: place, to: end) }
  }

  /// Whether the row of a record was changed here, or deleted.
  private func isEdited(
    _ batch: borrowing Batch, _ record: Int, isTombstone: Bool
  ) throws(UpsurgeError) -> Bool {
    let row = batch.cells + record * batch.columnCount
    let shape = writer.shape(of: row, cellCount: batch.columnCount, last: writer.bound.fullShape)
    let handle = try writer.statements.handle(shape, ShapeStatements.Role.find(plan.identityColumns))
    let code = writer.step(handle, batch, record, shape)
    defer { sqlite3_reset(handle) }
    switch code {
    case SQLITE_ROW:
      if try rowState.isMarked(rowOf: handle) { return true }
      if isTombstone { try rowState.forget(rowOf: handle) }
      return false
    case SQLITE_DONE: break
    default: throw connection.failure(code, sql: String(cString: sqlite3_sql(handle)))
    }
    guard rowState.edits.holdsDeleted, let key = try keyText(batch, record) else { return false }
    if isTombstone {
      try rowState.forgetDeleted(key)
      return false
    }
    return try rowState.noteDeleted(key, source: writer.sourceName(batch.origin.sourceIndex))
  }

  /// The key of a record as its row would be noted; nil where it has none.
  private func keyText(
    _ batch: borrowing Batch, _ record: Int
  ) throws(UpsurgeError) -> String? {
    if rowState.edits.recordKey == nil { rowState.edits.recordKey = try RecordKey(rowState.keyNames, plan) }
    guard let key = rowState.edits.recordKey,
      key.isWhole(batch.cells + record * batch.columnCount, cellCount: batch.columnCount)
    else { return nil }
    var parameter: Int32 = 1
    let code = writer.bind(batch, record, key.cellIndexes, to: key.handle, &parameter)
    let text = try key.text()
    try connection.check(code)
    return text
  }
}

extension TableWriter {
  /// Whether rows that were edited here are marked, where that is looked for.
  package var hasMarkedEdits: Bool { stages.rowState?.hasMarkedEdits ?? false }

  /// What was done with rows that were edited here; known after the sweep.
  package var localEdits: LocalEditCounts { stages.rowState?.localEdits ?? LocalEditCounts() }
}
