import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// A writer whose records are a part of a transaction that it shares with others (`SharedTransaction`).
///
///     suspend             after the last record: the part ends, and others follow
///     sweep               when all of them are stored
///     prepareSharedCommit before the COMMIT of all
///     noteSharedCommit    after it
extension TableWriter {
  /// Ends the part after the last record. What is taken back from now on takes back all parts.
  /// - Parameter keepsStatements: for a writer of the same plan that follows.
  package func suspend(keepsStatements: Bool = false) throws(UpsurgeError) {
    try settle()
    // Where nothing is swept, the guards speak at once.
    if (settings.delivery.snapshot?.sweep ?? .none) == RowSweep.none { try sweep() }
    try stages.sweep?.willSuspend()
    try stages.chunks?.willSuspend()
    statistics.pagesWritten = log.pagesWritten
    statistics.walBytesWritten = log.pagesWritten * log.frameByteCount
    do throws(UpsurgeError) {
      try connection.commitWriting()
      for stage in stages.list { try stage.didEndPart() }
    } catch {
      throw fail(error)
    }
    // Others are at work until all is committed.
    if keepsStatements { statements.clearBindings() } else { statements.removeStatements() }
    isSuspended = true
  }

  /// Hands the writer over to the calling thread; its connection is handed over by its owner.
  package func moveToCurrentThread() {
    for stage in stages.list { stage.moveToCurrentThread() }
  }

  /// Counts a record of this load, which has waited in the quarantine, as what has become of it now.
  /// - Parameter row: what names its row; nil where it has none.
  package func noteStored(_ outcome: Outcome, row: [SQLValue]?) throws(UpsurgeError) {
    guard ledger.quarantined > 0, outcome != .quarantined, outcome != .rejected else { return }
    tally.ledger.quarantined -= 1
    tally.ledger.read -= 1
    count(outcome)
    guard let row else { return }
    try stages.sweep?.seen?.insert(row)
    if outcome == .inserted || outcome == .updated || outcome == .unchanged {
      try stages.rowState?.note(row)
    }
  }

  /// Does all that must be done, and noted, in the shared transaction before it is committed.
  package func prepareSharedCommit() throws(UpsurgeError) {
    if transaction.isOpen { try prepareCommit(isLast: true) }
  }

  /// Notes that the shared transaction is committed. The writer is done then.
  /// - Parameter isLast: whether no other writer of the transaction comes after this one.
  package func noteSharedCommit(isLast: Bool) throws(UpsurgeError) {
    isDone = true
    guard transaction.isOpen else { return }
    try noteCommit()
    if isLast {
      try log.govern(isEnd: true)
      if statistics.pagesWritten > 0 { try log.finish(isInterrupted: false) }
    }
  }

  /// Keeps the ledger of what would have been, when a trial has been taken back. The writer is done then.
  package func noteSharedTrial() throws(UpsurgeError) {
    let (ledger, reasons, localEdits) = (self.ledger, rejectsByReason, self.localEdits)
    for observer in transactionObservers { try observer.didCommit() }
    undo()
    tally.ledger = ledger
    tally.rejectsByReason = reasons
    stages.rowState?.localEdits = localEdits
    isDone = true
  }

  /// Forgets kept records of earlier deliveries that this one, which is the whole truth, no longer has.
  /// - Parameter id: the last one that was kept before this delivery.
  package func forgetOrphans(through id: Int64) throws(UpsurgeError) {
    guard let rules = settings.delivery.snapshot, rules.sweep != .none, guardRefusal == nil else { return }
    try stages.quarantine?.forgetOrphans(through: id, of: sweepsAllRows(rules) ? nil : sourceNames)
  }

  /// Whether a kept record of an earlier delivery is one that this delivery would have, were it still true.
  package func hasReplaced(_ record: QuarantinedRecord) -> Bool {
    guard let rules = settings.delivery.snapshot, rules.sweep != .none else { return false }
    return sweepsAllRows(rules) || sourceNames.contains(record.position.file)
  }

  /// Whether no other feed brings rows into the table.
  private func sweepsAllRows(_ rules: SnapshotRules) -> Bool {
    rules.scope == nil && settings.delivery.rowState?.isOwned != true
  }
}
