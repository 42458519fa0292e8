import UpsurgePlan
import UpsurgeRecords

extension TableWriter {
  /// What is known of deliveries that were not accepted, and what has become of this one.
  package struct Acceptance {
    /// Rows that no accepted delivery has left; nil where nothing is swept.
    var rows: UnacceptedRows?
    /// Whether the delivery was let through by its digest.
    package var isByDigest = false
    /// The digest of the delivery, where it was refused.
    package var refusedDigest: String?

    /// Whether earlier deliveries have left rows that count for no guard.
    var holdsRows: Bool { rows?.holdsAny == true }

    /// SQL that is true of the rows that count, to be put after a condition.
    var term: String { holdsRows ? rows.map { " AND \($0.acceptedTerm)" } ?? "" : "" }
  }
}

/// Whether a delivery is accepted or refused, and what is remembered of that (see `UnacceptedRows`, `RefusalTable`).
///
///     judged      no guard refuses it, or its digest was given -> swept, accepted: nothing is remembered any more
///                 a guard refuses it -> it and its rows are remembered, in the transaction of the rows
///     comes again refused, as long as the guards are those that have refused it
///     not judged  the run has failed, or was killed -> its rows are not accepted
extension SweepStage {
  /// Begins to tell rows that are not accepted from the others.
  func beginAcceptance(_ rules: SnapshotRules) throws(UpsurgeError) {
    let rows = try UnacceptedRows(plan, rules, rowState: rowState, on: connection)
    if !settings.commitsOnce && !settings.isDryRun && !connection.isBorrowed {
      rows.noteEach(sweep: rules.sweep)
    }
    acceptance.rows = rows
  }

  /// Judges the delivery, unless its digest was given or it was refused before; a refusal is remembered.
  /// - Parameter judge: what the guards say; is told whether a refused delivery has brought rows that nobody knows.
  /// - Returns: why it is refused; nil where nothing speaks against it.
  func verdict(
    _ rules: SnapshotRules, _ judge: (_ hasUnknownRows: Bool) throws(UpsurgeError) -> SnapshotRefusal?
  ) throws(UpsurgeError) -> UpsurgeError? {
    let name = plan.schema.name
    let judgement = DeliveryJudgement(
      rules, refused: try RefusalTable.all(of: name, ownedBy: rules.owner, on: connection),
      contentHash: settings.deliveryHash(), isTrial: settings.isDryRun)
    let verdict = try judgement.verdict(judge) { () throws(UpsurgeError) in
      try writer.begin()
      return try keepUnaccepted(rules)
    }
    if verdict.isByDigest { acceptance.isByDigest = true }
    if let digest = verdict.refusedDigest { acceptance.refusedDigest = digest }
    if let note = verdict.note { try RefusalTable.write(note, of: name, ownedBy: rules.owner, on: connection) }
    return verdict.refusal
  }

  /// Keeps the rows of a delivery that is not accepted from counting in the next one.
  /// - Returns: false where nobody can tell which they are.
  @discardableResult
  func keepUnaccepted(_ rules: SnapshotRules) throws(UpsurgeError) -> Bool {
    guard let rows = acceptance.rows else { return false }
    if rows.notesEach { return rows.areToldApart }
    let mayHaveBrought =
      writer.ledger.inserted > 0 || rowState?.rules.isOwned == true
      || (rules.sweep != .hard || rules.scope != nil) && writer.ledger.updated > 0
    if !mayHaveBrought { return true }
    // What the delivery before it has brought is accepted, and not committed yet.
    if followsDelivery && seenBefore == nil { return false }
    var conditions: [String] = []
    if let seen { conditions.append("NOT (\(try seen.unseenTerm()))") }
    // Those of the delivery before this one were accepted with it.
    if let seenBefore { conditions.append(try seenBefore.unseenTerm()) }
    return try rows.noteAll(where: conditions.isEmpty ? "1" : conditions.joined(separator: " AND "))
  }

  /// Keeps the rows of a delivery from counting that the guards let through, and whose rows could not be swept.
  func keepUnswept(_ rules: SnapshotRules) throws(UpsurgeError) {
    if settings.isDryRun { return }
    if try keepUnaccepted(rules) { return }
    let delivery = DeliveryJudgement(rules, refused: [], contentHash: nil, isTrial: false).unsweptNote
    try RefusalTable.write(delivery, of: plan.schema.name, ownedBy: rules.owner, on: connection)
  }

  /// Forgets what earlier deliveries have left, as this one is accepted.
  func accept(_ rules: SnapshotRules) throws(UpsurgeError) {
    acceptance.rows?.stop()
    if settings.isDryRun { return }
    if let rowState, rowState.rules.isOwned { try rowState.accept() }
    guard try UnacceptedState.isAny(plan.schema.name, ownedBy: rules.owner, on: connection) else { return }
    try writer.begin()
    try UnacceptedState.forget(plan.schema.name, ownedBy: rules.owner, on: connection)
  }
}
