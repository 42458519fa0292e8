/// The end of a load that shares its transaction with others: behind its records, and behind those of all.
extension Writing {
  /// Ends behind the last record; what was stored waits for the others. Interrupted, nothing of it stays.
  func suspend(isInterrupted: Bool, keepsStatements: Bool = false) throws(UpsurgeError) {
    if isInterrupted { return abandon() }
    do throws(UpsurgeError) {
      try writer.settle()
      try judgeFeed()
      countSkipped()
      try checkRejectShare()
      try rejects?.didBegin()
      try rejects?.flush()
      try upkeep.finish(writer, isInterrupted: false) { note(RunNote(.info, $0)) }
      try writer.suspend(keepsStatements: keepsStatements)
    } catch {
      abandon()
      throw error
    }
    isSuspended = true
    hasSwept = options.snapshot.map { $0.sweep == .none } ?? true
  }

  /// Does what is left to do in the transaction before it is committed.
  func prepareSharedCommit() throws(UpsurgeError) {
    if options.dryRun == nil { try writer.prepareSharedCommit() }
  }

  /// Ends behind the commit of all.
  func finishShared(isLast: Bool) throws(UpsurgeError) {
    supersededCount = writer.supersededCount
    noteTombstone()
    if options.dryRun != nil { return try writer.noteSharedTrial() }
    try writer.noteSharedCommit(isLast: isLast)
  }
}
