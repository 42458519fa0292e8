import CSQLite
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A connection that has committed nothing leaves the file, and the log that it found, byte for byte as they were.
///
///     opened       how long is the log that lies there?       closed: it stays, without what was rolled back
///     configured   header noted, WAL switched on              closed: switched off, header written back
///
/// The switches change the header alone: two versions, and counters that go up. To write the counters back is safe as
/// long as nobody else has seen the file in between, so it is done under the exclusive lock under which the log goes.
/// Where another connection has the file open by then, or has committed, it stays in WAL mode.
extension Connection {
  /// Whether the connection has committed a change of the database.
  package var hasCommitted: Bool {
    if isConfigured && durability != .off { return notes.pointee.hasCommitted }
    return sqlite3_total_changes(handle) != 0
  }

  /// Whether the database is in WAL mode because of what this connection has committed; true only once.
  package func takeSwitchToWAL() -> Bool {
    guard didSwitchToWAL, hasCommitted else { return false }
    didSwitchToWAL = false
    return true
  }

  /// Bytes of the log beside the file of a connection that has read nothing yet.
  static func logByteCount(_ handle: OpaquePointer) -> Int64 {
    guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0 else { return 0 }
    var status = stat()
    return stat(String(cString: name) + "-wal", &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Keeps what the file held before it was switched to WAL. That nobody has changed it in between shows at the end, by
  /// its counter; that nobody has committed since, by the log, which is empty yet.
  func remember(_ before: HeaderBytes) throws(UpsurgeError) {
    let version = try integer("PRAGMA main.data_version") ?? 0
    guard Connection.logByteCount(handle) == 0 else { return }
    headerBeforeWAL = before
    logBefore = (version, 0)
  }

  /// Notes what the log holds that is there. The version is that of the moment in which the reading begins, so whatever is
  /// committed while the bytes are counted changes it.
  func rememberLog() throws(UpsurgeError) {
    logBefore = try reading { () throws(UpsurgeError) in
      _ = try integer("SELECT count(*) FROM main.sqlite_schema")
      let version = try integer("PRAGMA main.data_version") ?? 0
      return (version, Connection.logByteCount(handle))
    }
  }

  /// Takes back what opening and preparing the database did to its files. The connection is of no use afterwards; it may
  /// be called on any thread.
  func leaveUntouched() {
    guard headerBeforeWAL != nil || foundLog else { return }
    sqlite3_busy_handler(handle, nil, nil)
    if sqlite3_get_autocommit(handle) == 0 { run("ROLLBACK") }
    if hasMoved { return }
    if let headerBeforeWAL { leaveWAL(headerBeforeWAL) }
    if foundLog { leaveFoundLog() }
  }

  private func leaveWAL(_ before: HeaderBytes) {
    guard let logBefore, version == logBefore.version else { return }
    // Not until the end: a lock that is let go in between would let others see the counters.
    guard run("PRAGMA main.locking_mode=EXCLUSIVE"), run("PRAGMA main.journal_mode=DELETE"),
      run("BEGIN EXCLUSIVE"), let file = OpenFile(handle, SQLITE_FCNTL_FILE_POINTER), let now = file.header()
    else { return }
    if before.bytes.isEmpty {
      let hasNothing = first("SELECT count(*) FROM main.sqlite_schema") == 0
      run("ROLLBACK")
      if hasNothing { file.restore(before) }
      return
    }
    run("ROLLBACK")
    if now.isSame(butForSwitchesTo: before), now.changeCounter == before.changeCounter &+ 2 {
      file.restore(before)
    }
  }

  /// Leaves the log to who opens the database next, without the later frames that were rolled back.
  private func leaveFoundLog() {
    leaveLog()
    // Only what stands after the last commit, in a log that nobody else has added to.
    guard let logBefore, run("BEGIN IMMEDIATE") else { return }
    if version == logBefore.version, let log = OpenFile(handle, SQLITE_FCNTL_JOURNAL_POINTER),
      let byteCount = log.byteCount, byteCount > logBefore.byteCount
    {
      log.truncate(to: logBefore.byteCount)
    }
    run("ROLLBACK")
  }

  private var version: Int64? { first("PRAGMA main.data_version") }

  @discardableResult
  private func run(_ sql: String) -> Bool { sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK }

  private func first(_ sql: String) -> Int64? {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { return nil }
    return sqlite3_column_int64(statement, 0)
  }
}
