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
    if claims.isSettled { return }
    try claims.settle(isTableNew: settings.sorting.isTableNew)
    guard claims.rules.isOwned, !claims.hasCounted, let rules = settings.snapshot, rules.sweep != .none else {
      return
    }
    rowsBefore = try count(rowsIn: "(\(try rules.liveScope(of: plan.schema))) AND \(claims.sweptTerm)")
    claims.hasCounted = true
  }

  /// Whether a statement of many rows could leave one as it is for another reason than that it says the same.
  var tellsOutcomes: Bool { claims != nil && (plan.hasCondition || plan.mayIgnore || plan.mode != .upsert) }

  /// Notes whether a record has become its row, or leaves it as it is.
  func noteStored(_ outcome: Outcome, _ record: Int) {
    switch outcome {
    case .inserted, .updated, .unchanged: unstored.remove(record)
    case .stale, .ignored:
      unstored.remove(record)
      passedOver.insert(record)
    case .deleted, .rejected, .quarantined: break
    }
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
    try claims?.finish(unseen: unseen, hasPlainRows: hasPlainRows && plan.rules.merge.columns.isEmpty)
  }
}
