import CSQLite
import UpsurgeRecords

/// State of each row that the feed delivers (see `RowClaims`).
extension TableWriter {
  /// Makes ready for notes in a transaction that begins.
  func openClaims() throws(UpsurgeError) {
    guard let claims else { return }
    try claims.makeTable()
    let number = try keeper.map { (keeper) throws(UpsurgeError) in
      try keeper.reserve(
        above: { () throws(UpsurgeError) in try claims.lastRun() }, progress(isWhole: false), position)
    }
    claims.begin(run: number)
    if claims.isSettled { return try claims.markLateEdits() }
    // Of a table that an earlier part of the run has made, that part's notes stand.
    try claims.settle(isTableNew: settings.sorting.isTableNew && earlier.ledger.read == 0)
    try claims.markEdits()
    if let scope = settings.snapshot?.scope, let edited = claims.editedTerm {
      rowsOutside = try count(rowsIn: "(\(scope)) IS NOT TRUE AND NOT (\(edited))")
    }
    hasMarkedEdits = true
    guard claims.rules.isOwned, !claims.hasCounted, let rules = settings.snapshot, rules.sweep != .none else {
      return
    }
    rowsBefore = try count(
      rowsIn: "(\(try rules.liveScope(of: plan.schema))) AND \(claims.sweptTerm)\(acceptance.term)")
    claims.hasCounted = true
  }

  /// Whether a statement of many rows could leave one as it is for another reason than that it says the same.
  var tellsOutcomes: Bool {
    guard let claims else { return false }
    return plan.hasCondition || plan.mayIgnore || plan.mode != .upsert || claims.repairs
  }

  /// Whether what is noted of rows depends on each record before it is stored: some may be passed over, or delete rows.
  var looksBefore: Bool {
    guard let claims else { return false }
    return claims.passesOver || claims.rules.localEdits == .keep && plan.tombstoneCell != nil
  }

  /// Notes whether a record has become its row, or leaves it as it is.
  func noteStored(_ outcome: Outcome, _ record: Int) {
    switch outcome {
    case .inserted, .updated: unstored.remove(record)
    case .unchanged:
      unstored.remove(record)
      unwritten.insert(record)
    case .stale, .ignored:
      unstored.remove(record)
      passedOver.insert(record)
    case .deleted, .rejected, .quarantined: break
    }
  }

  /// What is noted of a row that a record has become.
  /// - Parameter bind: binds what tells the row.
  func standing(
    _ bind: (Statement) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) -> RowClaims.Standing {
    try acceptance.rows?.standing(bind) ?? .own
  }

  /// Brings the notes in step with the rows, where nothing is swept: what a whole snapshot does not have is gone.
  func endClaims() throws(UpsurgeError) {
    if claims == nil { return }
    try settle()
    do throws(UpsurgeError) {
      try begin()
      let isWhole =
        settings.snapshot != nil && guardRefusal == nil && unreadableCount == 0 && earlier.ledger.read == 0
      try finishClaims(unseen: isWhole ? unseenTerm() : nil)
    } catch {
      throw fail(error)
    }
  }

  func finishClaims(unseen: String?) throws(UpsurgeError) {
    guard let claims else { return }
    try claims.finish(unseen: unseen, hasPlainRows: hasPlainRows && plan.rules.merge.columns.isEmpty)
    let unswept = localEdits.unswept
    localEdits = try claims.finishEdits()
    localEdits.unswept = unswept
  }

  /// Stores records but those about rows that were edited here, which are passed over.
  func storeUnedited(
    _ batch: borrowing Batch, in order: RecordOrder, from start: Int, to end: Int, _ claims: RowClaims
  ) throws(UpsurgeError) {
    var place = start
    for next in start..<end {
      let record = order[next]
      let isTombstone = plan.tombstoneCell != nil && verdict(batch, record, bound.guards) == .tombstone
      guard try isEdited(batch, record, isTombstone: isTombstone, claims) else { continue }
      if place < next { try storeRun(batch, in: order, from: place, to: next) }
      place = next + 1
      count(.ignored)
      passedOver.insert(record)
      try stages.quarantine?.settle(.ignored, batch, record, isDelete: false)
    }
    if place < end { try storeRun(batch, in: order, from: place, to: end) }
  }

  /// Whether the row of a record was changed here, or deleted.
  private func isEdited(
    _ batch: borrowing Batch, _ record: Int, isTombstone: Bool, _ claims: RowClaims
  ) throws(UpsurgeError) -> Bool {
    let row = batch.cells + record * batch.columnCount
    let shape = shape(of: row, cellCount: batch.columnCount, last: bound.fullShape)
    let handle = try statements.handle(shape, ShapeStatements.Role.find(plan.identityColumns))
    let code = step(handle, batch, record, shape)
    defer { sqlite3_reset(handle) }
    switch code {
    case SQLITE_ROW:
      if try claims.isMarked(rowOf: handle) { return true }
      if isTombstone { try claims.forget(rowOf: handle) }
      return false
    case SQLITE_DONE: break
    default: throw connection.failure(code, sql: String(cString: sqlite3_sql(handle)))
    }
    guard claims.edits.holdsDeleted, let key = try keyText(batch, record, claims) else { return false }
    if isTombstone {
      try claims.forgetDeleted(key)
      return false
    }
    return try claims.noteDeleted(key, source: sourceName(batch.sourceIndex))
  }

  /// The key of a record as its row would be noted; nil where it has none.
  private func keyText(
    _ batch: borrowing Batch, _ record: Int, _ claims: RowClaims
  ) throws(UpsurgeError) -> String? {
    if claims.edits.recordKey == nil { claims.edits.recordKey = try RecordKey(claims.keyNames, plan) }
    guard let key = claims.edits.recordKey,
      key.isWhole(batch.cells + record * batch.columnCount, cellCount: batch.columnCount)
    else { return nil }
    var parameter: Int32 = 1
    let code = bind(batch, record, key.cellIndexes, to: key.handle, &parameter)
    let text = try key.text()
    try connection.check(code)
    return text
  }
}
