/// The end of a load that shares its transaction with others: after its records, and after those of all.
extension Writing where Transfer == SQLiteTransfer {
  /// Ends after the last record; what was stored waits for the others. Interrupted, nothing of it stays.
  func suspend(isInterrupted: Bool, keepsStatements: Bool = false) throws(UpsurgeError) {
    if isInterrupted { return abandon() }
    do throws(UpsurgeError) {
      try transfer.settle()
      try judge()
      try writeOutRejects()
      try transfer.suspend(keepsStatements: keepsStatements)
    } catch {
      abandon()
      throw error
    }
    isSuspended = true
    hasSwept = options.delivery.rules.snapshot.map { $0.sweep == .none } ?? true
  }

  /// Ends after the commit of all.
  func finishShared(isLast: Bool) throws(UpsurgeError) {
    noteTombstone()
    try transfer.finishShared(isLast: isLast)
  }
}
