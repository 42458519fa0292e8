import UpsurgeRecords

extension TableWriter {
  /// Runs work that is no record in a separate transaction, after the records that are committed.
  /// - Throws: what `work` throws, and as `commit`; the writer is done then.
  package func transact(_ work: () throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    precondition(!transaction.isOpen, "the records before must be committed")
    do throws(UpsurgeError) {
      try begin()
      try work()
    } catch {
      throw fail(error)
    }
    try commitStored()
  }

  /// Puts all further records into one transaction, which the caller has opened, and plans anew for what the table
  /// is now.
  func goOnInOneTransaction() throws(UpsurgeError) {
    precondition(!transaction.isOpen, "the records before must be committed")
    settings.commitsOnce = true
    settings = settings.settled
    do throws(UpsurgeError) { try adopt(plan.columns, at: nil) } catch { throw fail(error) }
  }
}
