import CSQLite
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Connection {
  /// Turns a result code into an error; OK, ROW and DONE pass.
  @inline(__always)
  package func check(_ code: Int32, sql: @autoclosure () -> String? = nil) throws(UpsurgeError) {
    if code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE {
      throw failure(code, sql: sql())
    }
  }

  /// The error for a result code that is not a success.
  package func failure(_ code: Int32, sql: String? = nil) -> UpsurgeError {
    Connection.failure(code, handle: handle, path: path, wait: lockWait, sql: sql)
  }

  /// What SQLite says of its last failure.
  package var lastMessage: String { String(cString: sqlite3_errmsg(handle)) }

  static func failure(
    _ code: Int32, handle: OpaquePointer?, path: String, wait: LockWait?, sql: String?
  ) -> UpsurgeError {
    let database = path.escapedForTerminal
    let said = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
    var error = UpsurgeError(.database, "", underlyingCode: code)
    switch ResultCode.primary(code) {
    case SQLITE_BUSY where wait?.isEnded == true:
      error.code = .interrupted
      error.message = "waiting for the database \(database) was interrupted"
    case SQLITE_BUSY, SQLITE_LOCKED:
      error.code = .databaseBusy
      error.message =
        "the database \(database) is in use by another program, and stayed so for \(wait?.milliseconds ?? 0) ms"
      error.remedy = Wording(
        "\(.busyTimeout, "MS") waits longer: so many milliseconds, 60000 for a minute",
        call: "a longer busy timeout in the database's Configuration waits longer")
    case SQLITE_CANTOPEN:
      error.code = .cannotCreate
      error.message = "the database \(database) cannot be opened or created\(systemReason(handle))"
      error.hint = hasRoom(handle) ? "the folder must exist and be writable" : roomHint
    case SQLITE_READONLY: sayReadOnly(&error, code, path: path, said: said)
    case SQLITE_NOTADB:
      error.message = "\(database) is not an SQLite database"
    case SQLITE_CORRUPT where code == ResultCode.corruptVirtualTable:
      error.message = "an index of the database \(database), or a virtual table, is damaged: \(said)"
      error.hint =
        "INSERT INTO t(t) VALUES ('rebuild') makes the FTS5 table t anew; PRAGMA integrity_check looks at all else"
    case SQLITE_CORRUPT:
      error.message = "the database \(database) is damaged: \(said)"
      error.hint = "PRAGMA integrity_check shows where; restore a backup, or try the sqlite3 shell's .recover"
    case SQLITE_FULL:
      error.message = "there is no room left for the database \(database): \(said)"
      error.hint = roomHint
    case SQLITE_IOERR: sayIOFailed(&error, code, handle: handle, database: database, said: said)
    case SQLITE_NOMEM:
      error.message = "SQLite is out of memory"
      error.remedy = Wording(
        "\(.memory, "BYTES") bounds what is used", call: "the database's Configuration bounds what is used")
    case SQLITE_INTERRUPT:
      error.code = .interrupted
      error.message = "the statement was interrupted"
    default:
      (error.said, error.remedy) =
        RawWords.meant(by: said) ?? ("SQLite failed on \(database): \(said.escapedForTerminal)", nil)
    }
    error.said += " [SQLite code \(code)]"
    if let sql { error.snippet = shortened(sql).escapedForTerminal }
    return error
  }

  private static func sayReadOnly(_ error: inout UpsurgeError, _ code: Int32, path: String, said: String) {
    let database = path.escapedForTerminal
    switch code {
    case ResultCode.readOnlyRollback:
      error.code = .cannotCreate
      error.message =
        "a program that was killed has left the database \(database) in the middle of a transaction, and only who may "
        + "write it can roll that back"
      error.hint = "give yourself the right to write the file and its folder, or let its owner open it once"
    case ResultCode.readOnlyMoved:
      error.message = movedWords(path)
      error.hint = movedHint
    default:
      error.code = .cannotCreate
      error.message = "the database \(database) cannot be written: \(said)"
      error.hint = "give yourself the right to write the file and its folder"
    }
  }

  private static func sayIOFailed(
    _ error: inout UpsurgeError, _ code: Int32, handle: OpaquePointer?, database: String, said: String
  ) {
    let (act, hint) = actThatFailed(code)
    let isRoomLeft = hasRoom(handle)
    error.message =
      isRoomLeft
      ? "\(act) the database \(database) failed: \(said)\(systemReason(handle))"
      : "there is no room left for the database \(database): \(act) it failed\(systemReason(handle))"
    error.hint = isRoomLeft ? hint : roomHint
  }

  /// False when the system said that the disk or the quota is full.
  private static func hasRoom(_ handle: OpaquePointer?) -> Bool {
    ![ENOSPC, EDQUOT].contains(handle.map { sqlite3_system_errno($0) } ?? 0)
  }

  private static let roomHint =
    "make room where the database lies and in the temporary folder, then run again"

  /// What SQLite was doing when the system refused (https://www.sqlite.org/rescode.html), and what helps.
  private static func actThatFailed(_ code: Int32) -> (act: String, hint: String) {
    let disk = "see what the system's log says of the disk and its file system, then run again"
    let place = "the database must lie on a local file system that knows locks and shared memory"
    return switch code >> 8 {
    case 1, 2: ("reading", disk)
    case 3: ("writing", disk)
    case 4, 5: ("bringing to the disk what was written to", disk)
    case 6: ("cutting a file of", disk)
    case 8, 9, 14, 15: ("locking", place)
    case 10, 17, 23: ("deleting a file of", disk)
    case 18, 19, 20, 21: ("sharing the write-ahead log's index of", place)
    default: ("reading or writing", disk)
    }
  }

  /// The words for a file whose name leads elsewhere by now.
  static func movedWords(_ path: String) -> String {
    "the database \(path.escapedForTerminal) was deleted, moved or replaced by another program while it was open"
  }
  static let movedHint = "nothing more was written; run again"

  private static func systemReason(_ handle: OpaquePointer?) -> String {
    guard let handle else { return "" }
    let number = sqlite3_system_errno(handle)
    return number == 0 ? "" : " (\(String(cString: strerror(number))), system error \(number))"
  }

  private static func shortened(_ sql: String) -> String {
    sql.utf8.count <= 300 ? sql : String(sql.prefix(300)) + " ..."
  }
}

extension UpsurgeError {
  /// Whether a value or row was larger than the connection takes.
  package var isTooLarge: Bool { underlyingCode.map { ResultCode.primary($0) } == SQLITE_TOOBIG }

  /// Whether the file that was opened as a database is not one.
  package var isNoDatabase: Bool {
    code == .database && underlyingCode.map { ResultCode.primary($0) } == SQLITE_NOTADB
  }

  /// Whether SQLite said that a constraint or a trigger refuses a change.
  package var isConstraintViolation: Bool {
    code == .database && underlyingCode.map { ResultCode.primary($0) } == SQLITE_CONSTRAINT
  }

  /// Whether SQLite said that two rows share a key.
  package var isUniqueViolation: Bool { underlyingCode == ResultCode.constraintUnique }
}
