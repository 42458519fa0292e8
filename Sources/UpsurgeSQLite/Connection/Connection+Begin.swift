import CSQLite
import UpsurgeRecords

extension Connection {
  /// Opens a transaction that writes; waits for its turn.
  ///
  /// Who looks for the lock every 10 ms takes each gap from those who look every 100 ms. So after a long wait the first
  /// lock that is got is let go again for a moment, which is shorter than the gaps that a load leaves (see `Turns`).
  ///
  /// The file must still be where it was: what is written to one that was deleted or replaced meanwhile, by another
  /// run that took back its new file for example, would be lost without a word.
  /// - Throws: `databaseBusy`, `interrupted`, `database`.
  package func beginWriting() throws(UpsurgeError) {
    if shared != nil { return try beginPart() }
    try beginAlone()
  }

  func beginAlone() throws(UpsurgeError) {
    lockWait.waitedSeconds = 0
    try execute("BEGIN IMMEDIATE")
    if lockWait.waitedSeconds > Self.longWaitSeconds {
      try execute("ROLLBACK")
      lockWait.pause(seconds: Self.courtesySeconds)
      try execute("BEGIN IMMEDIATE")
    }
    if isTrial || !hasMoved { return }
    try? execute("ROLLBACK")
    throw UpsurgeError(.database, Self.movedWords(path), hint: Self.movedHint)
  }

  /// Does what is to be committed as a whole or not at all.
  package func writing(_ body: () throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    try beginWriting()
    do throws(UpsurgeError) {
      try body()
      try commitWriting()
    } catch {
      try? rollBackWriting()
      throw error
    }
  }

  /// Ends what `beginWriting` began; where loads share a transaction, what was done becomes part of that.
  package func commitWriting() throws(UpsurgeError) {
    if shared != nil { return try endPart(isKept: true) }
    try execute("COMMIT")
  }

  /// Takes back what was done since `beginWriting`.
  package func rollBackWriting() throws(UpsurgeError) {
    if shared != nil { return try endPart(isKept: false) }
    try execute("ROLLBACK")
  }

  /// Reads what takes several statements as it is at one moment: what others commit meanwhile is not seen. Part of the
  /// transaction that is open, where one is; otherwise of one that `body` must not write in.
  package func reading<Result>(
    _ body: () throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    // Also that of loads which share one, between two of its parts.
    if sqlite3_get_autocommit(handle) == 0 { return try body() }
    try execute("BEGIN")
    // SQLite may have ended it, after an error.
    defer { if sqlite3_get_autocommit(handle) == 0 { try? execute("COMMIT") } }
    return try body()
  }

  private static let longWaitSeconds = 0.05
  private static let courtesySeconds = 0.08

  /// Runs a statement that may take long and whose rollback loses no record; a cancellation ends it with the code
  /// `interrupted`.
  package func interruptible<Result>(_ body: () throws(UpsurgeError) -> Result) throws(UpsurgeError) -> Result
  {
    if isBorrowed { return try body() }
    sqlite3_progress_handler(
      handle, 10_000,
      { wait in
        guard let wait else { return 0 }
        return Unmanaged<LockWait>.fromOpaque(wait).takeUnretainedValue().isEnded ? 1 : 0
      }, Unmanaged.passUnretained(lockWait).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    return try body()
  }

  /// Runs what a cancellation may end, though that loses records: where it is nearly done it is finished (see `GracePeriod`).
  package func interruptibleInTime<Result>(
    _ body: () throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    if isBorrowed { return try body() }
    sqlite3_progress_handler(
      handle, 10_000,
      { wait in
        guard let wait else { return 0 }
        return Unmanaged<LockWait>.fromOpaque(wait).takeUnretainedValue().grace.isOver ? 1 : 0
      }, Unmanaged.passUnretained(lockWait).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    return try body()
  }

  /// Leaves the log to who opens the database next: without this SQLite brings it into the database when it is closed.
  package func leaveLog() { _ = upsurge_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  /// Whether the name leads to another file than the one that is open, or to none (`SQLITE_FCNTL_HAS_MOVED`).
  package var hasMoved: Bool {
    var answer: Int32 = 0
    return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer) == SQLITE_OK && answer != 0
  }
}
