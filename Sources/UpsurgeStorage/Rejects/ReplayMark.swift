import UpsurgeRecords

/// How far the replay of a file of rejects has come, kept in the transaction of the rows that it has stored, until
/// the file itself says so.
///
/// A file is known by what is done of it: by a hash of its lines up to `doneByteCount`. What stands behind may be
/// edited while no replay runs.
package struct ReplayMark: Sendable, Equatable {
  /// The file's absolute path.
  package var path: String
  /// Bytes from the start of the file whose records are stored or were written to the new file.
  package var doneByteCount: UInt64
  /// Chained over the lines of those bytes.
  package var doneHash: UInt64
  /// Bytes of the new file that belong to them.
  package var keptByteCount: UInt64
  /// Of those bytes.
  package var keptHash: UInt64
  /// Whether the new file is whole and takes the place of the old one.
  package var isWhole: Bool

  package init(
    path: String, doneByteCount: UInt64, doneHash: UInt64, keptByteCount: UInt64, keptHash: UInt64,
    isWhole: Bool = false
  ) {
    self.path = path
    self.doneByteCount = doneByteCount
    self.doneHash = doneHash
    self.keptByteCount = keptByteCount
    self.keptHash = keptHash
    self.isWhole = isWhole
  }

  private static let columns = ["path", "done_bytes", "done_hash", "kept_bytes", "kept_hash", "whole"]

  /// The mark of a file; nil when no replay of it is on its way.
  /// - Throws: `guardRefused` when a table of the name of ours is not ours.
  package static func read(
    _ connection: Connection, path: String
  ) throws(UpsurgeError) -> ReplayMark? {
    try all(connection).first { $0.path == path }
  }

  /// The marks of all files whose replay is on its way.
  package static func all(_ connection: Connection) throws(UpsurgeError) -> [ReplayMark] {
    try connection.reading { () throws(UpsurgeError) in
      guard try exists(connection) else { return [] }
      let statement = try connection.prepare(
        "SELECT \(columns.joined(separator: ", ")) FROM main.upsurge_replays ORDER BY path")
      var marks: [ReplayMark] = []
      while try statement.step() {
        func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: statement.integer(at: column)) }
        marks.append(
          ReplayMark(
            path: statement.text(at: 0) ?? "", doneByteCount: bits(1), doneHash: bits(2),
            keptByteCount: bits(3), keptHash: bits(4), isWhole: statement.integer(at: 5) != 0))
      }
      return marks
    }
  }

  /// Writes the mark in the open transaction, in the place of the file's earlier one.
  package func write(_ connection: Connection) throws(UpsurgeError) {
    if try !ReplayMark.exists(connection) { try connection.execute(ReplayMark.sql) }
    let statement = try connection.prepare(
      """
      INSERT INTO main.upsurge_replays (path, done_bytes, done_hash, kept_bytes, kept_hash, whole)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      ON CONFLICT (path) DO UPDATE SET done_bytes = ?2, done_hash = ?3, kept_bytes = ?4, kept_hash = ?5,
        whole = ?6, updated_at = excluded.updated_at
      """)
    try statement.bind(path, at: 1)
    for (index, bits) in [doneByteCount, doneHash, keptByteCount, keptHash].enumerated() {
      try statement.bind(Int64(bitPattern: bits), at: Int32(index + 2))
    }
    try statement.bind(Int64(isWhole ? 1 : 0), at: 6)
    _ = try statement.step()
  }

  /// Removes the mark in the open transaction, and the table with the last one.
  package static func remove(_ connection: Connection, path: String) throws(UpsurgeError) {
    guard try exists(connection) else { return }
    let statement = try connection.prepare("DELETE FROM main.upsurge_replays WHERE path = ?1")
    try statement.bind(path, at: 1)
    _ = try statement.step()
    if try connection.integer("SELECT EXISTS (SELECT 1 FROM main.upsurge_replays)") == 0 {
      try connection.execute("DROP TABLE main.upsurge_replays")
    }
  }

  private static let sql = """
    CREATE TABLE main.upsurge_replays (
      path TEXT PRIMARY KEY,
      done_bytes INTEGER NOT NULL,
      done_hash INTEGER NOT NULL,
      kept_bytes INTEGER NOT NULL,
      kept_hash INTEGER NOT NULL,
      whole INTEGER NOT NULL,
      updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    )
    """

  private static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try OwnTable.exists(
      "upsurge_replays", columns: columns, purpose: "replay keeps in one of this name how far it has come",
      on: connection)
  }
}
