import UpsurgeRecords
import UpsurgeSQLite

/// The table of kept records; users may read it, and delete from it what they no longer want stored.
///
/// - `table`, `record`: what is to be stored where; the record as JSON, see `RecordText`.
/// - `columns`: the columns with a value for which the table had no place when the record came.
/// - `rules`: how it is to be stored, as JSON, see `RulesText`.
/// - `key`: the values that say which row it is about; NULL when nothing says so, and then no later record replaces it.
/// - `key_columns`: the columns of `key` and how they are compared.
/// - `version`: its value of the column that `newer:COL` names.
/// - `file`, `number`, `line`, `byte`: where it stood in the input.
/// - `reason`: the foreign key whose parent it waits for; NULL where it waits for columns.
package enum QuarantineTable {
  package static let name = OwnTable.quarantine.rawValue

  /// Table names are compared as SQLite does; ids rise in the order of arrival.
  package static let layout = OwnLayout(
    .quarantine, purpose: "records are kept in one of this name",
    columns: [
      "id", "table", "key", "key_columns", "version", "rules", "columns", "record", "file", "number", "line",
      "byte", "added_at",
    ],
    body: """
      id INTEGER PRIMARY KEY,
      "table" TEXT NOT NULL COLLATE NOCASE,
      key TEXT,
      key_columns TEXT,
      version,
      rules TEXT NOT NULL,
      columns TEXT NOT NULL,
      record TEXT NOT NULL,
      file TEXT,
      number INTEGER,
      line INTEGER,
      byte INTEGER,
      reason TEXT,
      added_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
      """,
    indexes: "CREATE INDEX main.upsurge_quarantine_key ON upsurge_quarantine (\"table\", key)",
    steps: [.columns([("reason", "TEXT")])])

  /// Whether the table can say that a record waits for its parent.
  static func hasReason(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.find(on: connection)?.has("reason") ?? false
  }

  /// The largest id that is there; 0 where nothing is kept.
  package static func lastID(_ connection: Connection) throws(UpsurgeError) -> Int64 {
    // What is not ours is told when a record must be kept.
    guard (try? exists(connection)) == true else { return 0 }
    return try QuarantinedRecord.lastID(connection)
  }

  /// How many records are kept; read from the index of their keys.
  package static func count(_ connection: Connection) throws(UpsurgeError) -> UInt64 {
    UInt64(max(try connection.integer("SELECT count(*) FROM main.upsurge_quarantine") ?? 0, 0))
  }

  /// Whether any record is kept for a table.
  package static func holds(_ table: String, _ connection: Connection) throws(UpsurgeError) -> Bool {
    guard try exists(connection) else { return false }
    let statement = try connection.prepare(
      "SELECT 1 FROM main.upsurge_quarantine WHERE \"table\" = ?1 LIMIT 1")
    try statement.bind(table, at: 1)
    return try statement.step()
  }

  /// Whether any record waits for its parent.
  package static func holdsOrphans(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try holdsOrphans(layout.find(on: connection), connection)
  }

  private static func holdsOrphans(
    _ found: FoundLayout?, _ connection: Connection
  ) throws(UpsurgeError) -> Bool {
    guard let found, found.has("reason") else { return false }
    return try connection.integer(
      "SELECT 1 FROM main.upsurge_quarantine WHERE reason IS NOT NULL LIMIT 1") != nil
  }

  /// How many records of a table wait for their parents.
  package static func orphanCount(of table: String, on connection: Connection) throws(UpsurgeError) -> UInt64
  {
    // What is not ours holds none.
    guard try holdsOrphans(layout.findIfOurs(on: connection), connection) else { return 0 }
    let statement = try connection.prepare(
      "SELECT count(*) FROM main.upsurge_quarantine WHERE \"table\" = ?1 AND reason IS NOT NULL")
    try statement.bind(table, at: 1)
    return try statement.step() ? UInt64(clamping: statement.integer(at: 0)) : 0
  }

  /// Removes the records of a table that wait for their parents, and leaves those that wait for columns; part of the
  /// transaction that is open.
  package static func removeOrphans(of table: String, on connection: Connection) throws(UpsurgeError) {
    guard try holdsOrphans(layout.findIfOurs(on: connection), connection) else { return }
    let statement = try connection.prepare(
      "DELETE FROM main.upsurge_quarantine WHERE \"table\" = ?1 AND reason IS NOT NULL")
    try statement.bind(table, at: 1)
    _ = try statement.step()
    statement.reset()
  }

  /// Whether the database holds the table.
  /// - Throws: `guardRefused` when a table of that name is not ours, or of a newer layout.
  package static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.exists(on: connection)
  }
}
