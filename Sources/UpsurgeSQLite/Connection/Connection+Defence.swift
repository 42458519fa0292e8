import CSQLite
import UpsurgeRecords

/// What keeps a database from elsewhere, and data in it, from doing more than being read and written
/// (https://www.sqlite.org/security.html).
///
/// Double-quoted strings stay allowed (`SQLITE_DBCONFIG_DQS_DML`, `DQS_DDL`): triggers and views of a schema that
/// exists may hold them, and so may an index that is made again. They are off while SQL of the user's options is
/// tried, where they would make a misspelt column a text.
extension Connection {
  /// Sets all that no schema can need otherwise, and `trusted_schema` off until a schema shows that it needs it.
  static func defend(_ handle: OpaquePointer) {
    for (option, value) in [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0), (SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0),
      (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    ] as [(Int32, Int32)] {
      _ = upsurge_db_config_flag(handle, option, value)
    }
  }

  /// Runs statements that a defensive connection refuses: `journal_mode=OFF`.
  package func undefended(_ sql: String) throws(UpsurgeError) {
    _ = upsurge_db_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
    defer { _ = upsurge_db_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1) }
    try execute(sql)
  }

  /// Compiles or runs SQL of the user's options, in which `"x"` is a name and nothing else.
  package func withoutQuotedStrings<Result>(
    _ body: () throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    let options = [SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL]
    // A library that is built without them says so, and its answer stands.
    let before = options.map { upsurge_db_config_state(handle, $0) }
    for option in options { _ = upsurge_db_config_flag(handle, option, 0) }
    defer {
      for (option, state) in zip(options, before) { _ = upsurge_db_config_flag(handle, option, state) }
    }
    return try body()
  }
}
