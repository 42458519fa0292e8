import CSQLite
import UpsurgeRecords

extension Connection {
  /// Runs SQL that prepares the connection: TEMP tables, views and triggers, ATTACH, settings.
  ///
  /// What would change the database itself is refused, since neither the ledger nor a dry run would know of it, and
  /// so are the settings that the engine rests on.
  /// - Parameter name: the file that the SQL comes from, for messages.
  /// - Throws: `usage` for SQL that SQLite or these rules refuse, and for a transaction that it leaves open.
  package func runScript(_ sql: String, name: String) throws(UpsurgeError) {
    checkThread()
    if sql.utf8.contains(0) {
      throw UpsurgeError(
        .usage, "\(name.escapedForTerminal) holds a NUL byte, at which SQLite would stop reading")
    }
    let rules = ScriptRules()
    sqlite3_set_authorizer(
      handle,
      { rules, action, first, second, database, _ in
        guard let rules else { return SQLITE_OK }
        return Unmanaged<ScriptRules>.fromOpaque(rules).takeUnretainedValue().decide(
          action, first.map { String(cString: $0) }, second.map { String(cString: $0) },
          database: database.map { String(cString: $0) })
      }, Unmanaged.passUnretained(rules).toOpaque())
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    let said = lastMessage
    sqlite3_set_authorizer(handle, nil, nil)
    // The script may have put SQLite's own way of waiting in the place of ours.
    lockWait.reinstall(on: handle, milliseconds: (try? integer("PRAGMA busy_timeout")) ?? nil)
    withExtendedLifetime(rules) {}
    let leavesTransaction = !isInAutocommit
    if leavesTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    if code != SQLITE_OK {
      if [SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM, SQLITE_INTERRUPT].contains(
        ResultCode.primary(code))
      {
        throw failure(code)
      }
      throw UpsurgeError(
        .usage,
        "\(name.escapedForTerminal): \(rules.refusal ?? said.escapedForTerminal) [SQLite code \(code)]",
        hint: rules.refusal.map { _ in
          "\(.initScript) is for TEMP triggers, TEMP views and settings of the connection"
        },
        underlyingCode: code)
    }
    if leavesTransaction {
      throw UpsurgeError(
        .usage, "\(name.escapedForTerminal) leaves a transaction open",
        hint: "end it with COMMIT, or leave out BEGIN: the engine begins and commits transactions itself")
    }
  }
}

/// What a script may do, asked by SQLite while it compiles each statement
/// (https://www.sqlite.org/c3ref/set_authorizer.html).
private final class ScriptRules {
  /// Why the last refused statement was.
  var refusal: String?
  /// A TEMP trigger is asked for as a row of its table's schema as well, though it is not stored there.
  private var isMakingTemporaryTrigger = false

  /// Settings that the file keeps, or that commits and checkpoints rest on.
  private static let keptSettings: Set<String> = [
    "application_id", "auto_vacuum", "encoding", "journal_mode", "locking_mode", "page_size",
    "schema_version",
    "user_version", "wal_autocheckpoint", "writable_schema",
  ]

  func decide(_ action: Int32, _ first: String?, _ second: String?, database: String?) -> Int32 {
    let isTemporaryTrigger = isMakingTemporaryTrigger
    isMakingTemporaryTrigger = action == SQLITE_CREATE_TEMP_TRIGGER
    switch action {
    case SQLITE_INSERT where isTemporaryTrigger: break
    case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
      if database == "main" { return refuse("it would change the database itself (\(first ?? "a table"))") }
    case SQLITE_PRAGMA:
      let name = SQLName.folded(first ?? "")
      if second != nil && Self.keptSettings.contains(name) {
        return refuse("PRAGMA \(name) is not to be set: the engine rests on it")
      }
    default: break
    }
    return SQLITE_OK
  }

  private func refuse(_ reason: String) -> Int32 {
    refusal = reason.escapedForTerminal
    return SQLITE_DENY
  }
}
