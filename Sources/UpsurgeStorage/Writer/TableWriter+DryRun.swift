import CSQLite
import UpsurgeRecords

/// A run that is only tried out: one transaction, never committed.
///
/// At each place where a real run would commit, the one thing is looked at that could make the commit fail: foreign
/// keys that are checked only then.
extension TableWriter {
  /// Stands for a commit.
  func passCommit() throws(UpsurgeError) {
    do throws(UpsurgeError) {
      for stage in stages.list { try stage.settle(isLast: false) }
      try checkDeferredForeignKeys()
    } catch {
      throw fail(error)
    }
    transaction.recordCount = 0
    transaction.byteCount = 0
    transaction.startSeconds = MonotonicClock.seconds
    transaction.startPages = log.pagesWritten
  }

  /// Takes everything back, and keeps the ledger of what would have been.
  func finishDryRun() throws(UpsurgeError) {
    for stage in stages.list { try stage.settle(isLast: true) }
    precondition(ledger.isBalanced, "the ledger's law is broken: \(ledger)")
    try checkDeferredForeignKeys()
    for observer in transactionObservers { try observer.didCommit() }
    let (ledger, reasons, localEdits) = (self.ledger, rejectsByReason, self.localEdits)
    let wasOpen = !connection.isInAutocommit
    undo()
    tally.ledger = ledger
    tally.rejectsByReason = reasons
    stages.rowState?.localEdits = localEdits
    statistics.pagesWritten = log.pagesWritten
    // Pages that did not fit the cache went to the WAL; nobody needs them.
    if wasOpen && log.pagesWritten > 0 { try log.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) }
  }

  private func checkDeferredForeignKeys() throws(UpsurgeError) {
    if connection.status(SQLITE_DBSTATUS_DEFERRED_FKS) != 0 { throw openForeignKeys() }
  }
}
