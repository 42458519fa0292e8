import CSQLite
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

extension TableWriter {
  /// Opens a transaction where none is open; takes the write lock at once.
  package func begin() throws(UpsurgeError) {
    if transaction.isOpen { return }
    // The transaction in which the table was made is the first one.
    if connection.isInAutocommit {
      log.giveWay()
      try log.checkRoom()
      try connection.beginWriting()
    }
    try checkColumns()
    try keeper?.didBegin()
    for observer in transactionObservers { try observer.didBegin() }
    if settings.defersForeignKeys { try connection.execute("PRAGMA defer_foreign_keys=ON") }
    let last = transaction.last
    transaction = OpenTransaction()
    transaction.isOpen = true
    transaction.last = last
    transaction.startSeconds = MonotonicClock.seconds
    transaction.startPages = log.pagesWritten
    transaction.startFrames = log.frames
    for stage in stages.list { try stage.didBegin() }
  }

  /// Makes everything stored so far durable (as `durability` says) and visible to other connections.
  ///
  /// Without a journal (`--durability off`) only `finish` commits: nothing could be rolled back to it.
  package func commit() throws(UpsurgeError) {
    try storeGathered(isLast: false)
    try commitStored()
  }

  /// Commits what is stored; what is gathered is not.
  func commitStored() throws(UpsurgeError) {
    if connection.durability == .off { return }
    if settings.isDryRun { return try passCommit() }
    do throws(UpsurgeError) { try commitNow() } catch { throw fail(error) }
  }

  /// Lets other writers in while there is nothing to store, unless the end of a transaction decides what is in it.
  package func commitWhileIdle() throws(UpsurgeError) {
    guard transaction.isOpen, !settings.commitsOnce, !settings.isDryRun,
      stages.permits.contains(.committingWhileIdle),
      connection.status(SQLITE_DBSTATUS_DEFERRED_FKS) == 0
    else { return }
    try commitStored()
    log.turns.hasBeenIdle = true
  }

  /// Does all that is done before the transaction is committed, so that what follows in it is the last; for a caller
  /// that keeps what became of the records in the same transaction.
  package func settle() throws(UpsurgeError) {
    try storeGathered()
    do throws(UpsurgeError) {
      for stage in stages.list { try stage.settle(isLast: true) }
      for stage in stages.list { try stage.didSettle() }
    } catch {
      throw fail(error)
    }
  }

  /// Whether the transaction has all the records it may have, or the log all its bytes.
  var isCommitDue: Bool {
    if connection.durability == .off || settings.commitsOnce || !transaction.isOpen { return false }
    return transaction.recordCount >= settings.commitEvery.records || log.isNearLimit
  }

  /// Commits at a batch border when bytes or seconds say so.
  func commitIfDue() throws(UpsurgeError) {
    if connection.durability == .off || settings.commitsOnce || !transaction.isOpen { return }
    if let most = settings.commitEvery.bytes, transaction.byteCount >= most { return try commitStored() }
    if let most = settings.commitEvery.seconds, MonotonicClock.seconds - transaction.startSeconds >= most {
      try commitStored()
    }
  }

  /// Whether a transaction is open, and others cannot write.
  package var isInTransaction: Bool { transaction.isOpen || !connection.isInAutocommit }

  /// Commits, and brings the WAL into the database unless nothing was written. The writer is done then.
  /// - Parameter isInterrupted: whether input is left, for the run to go on with.
  package func finish(isInterrupted: Bool = false) throws(UpsurgeError) {
    if isDone { return }
    try storeGathered()
    do throws(UpsurgeError) {
      if settings.isDryRun {
        try finishDryRun()
        isDone = true
        return
      }
      try commitNow(isLast: !isInterrupted, isEnd: true)
      if statistics.pagesWritten > 0 && connection.durability != .off && !connection.isBorrowed {
        try log.finish(isInterrupted: isInterrupted)
      }
    } catch {
      throw fail(error)
    }
    isDone = true
  }

  /// Forgets everything since the last commit. The writer is done then.
  ///
  /// Without a journal (`--durability off`) the file is worthless afterwards; the caller removes it.
  package func rollback() {
    if isDone { return }
    undo()
    isDone = true
  }

  private func commitNow(isLast: Bool = false, isEnd: Bool = false) throws(UpsurgeError) {
    if !transaction.isOpen && connection.isInAutocommit {
      guard isLast, let keeper, keeper.isMarked else { return }
      return try markComplete(keeper)
    }
    let start = try prepareCommit(isLast: isLast)
    if connection.isBorrowed {
      // Its owner commits.
      try connection.commitWriting()
      return try noteCommit()
    }
    let code = sqlite3_exec(connection.handle, "COMMIT", nil, nil, nil)
    if code == ResultCode.constraintForeignKey { throw openForeignKeys(isLast: isLast) }
    if ResultCode.primary(code) == SQLITE_IOERR { throw failedCommit(code) }
    try connection.check(code, sql: "COMMIT")
    try noteCommit()
    statistics.commitSeconds += MonotonicClock.seconds - start
    try log.govern(isEnd: isEnd)
  }

  /// Does all that must be done, and noted, in the transaction before it is committed.
  /// - Returns: when the records were settled, and committing began.
  @discardableResult
  func prepareCommit(isLast: Bool) throws(UpsurgeError) -> Double {
    for stage in stages.list { try stage.settle(isLast: isLast) }
    for stage in stages.list { try stage.didSettle() }
    for stage in stages.list { try stage.willCommit(isLast: isLast) }
    precondition(ledger.isBalanced, "the ledger's law is broken: \(ledger)")
    let start = MonotonicClock.seconds
    for observer in transactionObservers { try observer.willCommit() }
    try keeper?.willCommit(progress(isWhole: isLast), position, isLast: isLast)
    return start
  }

  /// Notes that all records so far are committed.
  func noteCommit() throws(UpsurgeError) {
    transaction.isOpen = false
    noteOwnCommit()
    for stage in stages.list { try stage.didEndPart() }
    keeper?.didCommit()
    for stage in stages.list { stage.didCommit() }
    log.turns.endSeconds = MonotonicClock.seconds
    tally.didCommit()
    noteCommittedRecord()
    for observer in transactionObservers { try observer.didCommit() }
    statistics.commitCount += 1
  }

  /// A COMMIT that the disk has failed: it may stand in the log all the same, whole and unsynced, for who opens the
  /// database next. An empty log leaves no doubt; where it cannot be emptied, what the run has put out for the
  /// transaction stays, for the run that goes on to look through.
  private func failedCommit(_ code: Int32) -> UpsurgeError {
    var error = connection.failure(code, sql: "COMMIT")
    if !connection.isInAutocommit { _ = sqlite3_exec(connection.handle, "ROLLBACK", nil, nil, nil) }
    transaction.isInDoubt = (try? log.checkpoint(SQLITE_CHECKPOINT_TRUNCATE)) != true
    if transaction.isInDoubt {
      error.said +=
        "; whether the last transaction is committed will be seen when the disk can be read again"
    }
    return error
  }

  /// Stores what was gathered to be stored in the order of its key.
  /// - Parameter isLast: whether the memory is given back, as no more is expected soon.
  /// - Throws: as `write`; the writer is done then.
  package func storeGathered(isLast: Bool = true) throws(UpsurgeError) {
    try stages.gathering?.storeAll(isLast: isLast)
  }

  /// Whether records wait to be stored, or memory is held for them.
  package var isGathering: Bool { stages.gathering?.gathering.run != nil }

  /// Whether records are stored as they come for the time being.
  package var isGatheringPaused: Bool {
    get { stages.gathering?.isPaused ?? false }
    set { stages.gathering?.isPaused = newValue }
  }

  /// The columns by whose values records are sorted where they come in no order; nil where they never are.
  package var sortKeyWords: String? { stages.gathering?.gathering.key?.words }

  /// Whether a transaction has ended with the last record so far.
  package var hasCommittedAll: Bool {
    !transaction.isOpen && connection.isInAutocommit && ledger.read > 0 && !isGathering
  }

  /// The last record has ended a transaction: that the run is complete is said in one of its own.
  private func markComplete(_ keeper: RunKeeper) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      try connection.beginWriting()
      try keeper.didBegin()
      try keeper.willCommit(progress(isWhole: true), position, isLast: true)
      try connection.execute("COMMIT")
      keeper.didCommit()
    } catch {
      var error = error
      error.sayAllCommitted()
      throw error
    }
  }

  private func noteCommittedRecord() {
    guard let last = transaction.last else { return }
    tally.lastCommittedRecord = CommittedPosition(
      sourceIndex: last.sourceIndex,
      position: Position(
        file: sourceName(last.sourceIndex), record: last.number, line: last.line, byte: last.byte),
      nextByte: last.nextByte)
  }

  /// Rolls back to the last commit.
  func undo() {
    if !connection.isInAutocommit { try? connection.rollBackWriting() }
    transaction.isOpen = false
    if !transaction.isInDoubt { keeper?.didRollBack() }
    for stage in stages.list { stage.didRollBack() }
    tally.didRollBack()
    if transaction.isInDoubt { return }
    for observer in transactionObservers { observer.didRollBack() }
  }

  /// Ends the writer after an error: the last commit stands. The record that ended the run is counted, and kept only
  /// by a dry run: it is not committed, so a run that goes on reads it again.
  func fail(_ error: UpsurgeError) -> UpsurgeError {
    if isDone { return error }
    undo()
    isDone = true
    if statistics.logPin != nil { log.noteRest() }
    guard let reject = fatalReject else { return error }
    tally.count(reject)
    guard settings.isDryRun else { return error }
    do throws(UpsurgeError) { try rejectSink(reject) } catch let second {
      var both = error
      both.message += "; and the record could not be kept: \(second.message)"
      return both
    }
    return error
  }

  /// A COMMIT refused because of DEFERRABLE foreign keys whose parents never came.
  func openForeignKeys(isLast: Bool = false) -> UpsurgeError {
    let isWhole = settings.commitsOnce || isLast && statistics.commitCount == 0
    var error = UpsurgeError(
      .badInput,
      "the transaction cannot be committed: rows of table \(plan.schema.name.escapedForTerminal)"
        + " or of its children refer to rows that do not exist",
      hint: isWhole
        ? "load the referenced rows first; records that change or delete a row to which others refer are to blame, too"
        : "load the referenced table first, or let one transaction hold both (\(.commitEvery))",
      underlyingCode: ResultCode.constraintForeignKey)
    let check = try? connection.prepare(
      "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT 1")
    if let check, (try? check.step()) == true {
      let table = check.text(at: 0) ?? ""
      let parent = check.text(at: 2) ?? ""
      let row = check.text(at: 1).map { "row \($0) of " } ?? "a row of "
      error.said += ": \((row + table).escapedForTerminal) has no parent in \(parent.escapedForTerminal)"
    }
    return error
  }
}
