import UpsurgeRecords
import UpsurgeSQLite

/// How far a replay has come and what became of its records, kept in the transaction of the rows that it has stored until
/// its ledger was seen.
///
/// A file of rejects is known by what is done of it: by a hash of its lines up to `doneByteCount`. What stands after them
/// may be edited while no replay runs. The replay of what the database keeps has no file: its mark has the name
/// `database:OWNER` for a path, and holds the ledger alone.
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
  /// What became of the records so far, as JSON; nil in a mark of a version that did not keep it.
  package var progress: String?

  package init(
    path: String, doneByteCount: UInt64, doneHash: UInt64, keptByteCount: UInt64, keptHash: UInt64,
    isWhole: Bool = false, progress: String? = nil
  ) {
    self.path = path
    self.doneByteCount = doneByteCount
    self.doneHash = doneHash
    self.keptByteCount = keptByteCount
    self.keptHash = keptHash
    self.isWhole = isWhole
    self.progress = progress
  }

  /// The mark of a replay of what the database keeps.
  package init(owner: RunOwner, progress: String?) {
    self.init(
      path: Self.databasePrefix + owner.text, doneByteCount: 0, doneHash: 0, keptByteCount: 0, keptHash: 0,
      progress: progress)
  }

  /// Who is or was at work, where this is the mark of a replay of what the database keeps.
  private var owner: String? {
    path.hasPrefix(Self.databasePrefix) ? String(path.dropFirst(Self.databasePrefix.count)) : nil
  }

  private static let databasePrefix = "database:"

  private static let columns = ["path", "done_bytes", "done_hash", "kept_bytes", "kept_hash", "whole"]

  /// Whether it is that of a file.
  package var isOfFile: Bool { owner == nil }

  /// Whether it is of a replay of what the database keeps whose process has ended, but whose ledger nobody has seen.
  package var isUnseen: Bool { owner.map { RunOwner.livePID($0) == nil } ?? false }

  /// The marks of all replays that are on their way, or have ended with nobody to see their ledger.
  /// - Throws: `guardRefused` when a table of the name of ours is not ours.
  package static func all(_ connection: Connection) throws(UpsurgeError) -> [ReplayMark] {
    try connection.reading { () throws(UpsurgeError) in
      guard let found = try layout.find(on: connection) else { return [] }
      let progress = found.term("progress")
      let statement = try connection.prepare(
        "SELECT \(columns.joined(separator: ", ")), \(progress) FROM main.upsurge_replays ORDER BY path")
      var marks: [ReplayMark] = []
      while try statement.step() {
        func bits(_ column: Int32) -> UInt64 { UInt64(bitPattern: statement.integer(at: column)) }
        marks.append(
          ReplayMark(
            path: statement.text(at: 0) ?? "", doneByteCount: bits(1), doneHash: bits(2),
            keptByteCount: bits(3), keptHash: bits(4), isWhole: statement.integer(at: 5) != 0,
            progress: statement.isNull(at: 6) ? nil : statement.text(at: 6)))
      }
      return marks
    }
  }

  /// Writes the mark in the open transaction, in the place of its earlier state.
  package func write(_ connection: Connection) throws(UpsurgeError) {
    try ReplayMark.layout.prepare(on: connection)
    let statement = try connection.prepare(
      """
      INSERT INTO main.upsurge_replays (path, done_bytes, done_hash, kept_bytes, kept_hash, whole, progress)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      ON CONFLICT (path) DO UPDATE SET done_bytes = ?2, done_hash = ?3, kept_bytes = ?4, kept_hash = ?5,
        whole = ?6, progress = ?7, updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
      """)
    try statement.bind(path, at: 1)
    for (index, bits) in [doneByteCount, doneHash, keptByteCount, keptHash].enumerated() {
      try statement.bind(Int64(bitPattern: bits), at: Int32(index + 2))
    }
    try statement.bind(Int64(isWhole ? 1 : 0), at: 6)
    try statement.bind(progress, at: 7)
    _ = try statement.step()
  }

  /// Removes the mark in the open transaction, unless a replay has changed it since, and the table with the last one.
  package func remove(_ connection: Connection) throws(UpsurgeError) {
    guard try ReplayMark.all(connection).contains(self) else { return }
    let statement = try connection.prepare("DELETE FROM main.upsurge_replays WHERE path = ?1")
    try statement.bind(path, at: 1)
    _ = try statement.step()
    statement.reset()
    if try connection.integer("SELECT EXISTS (SELECT 1 FROM main.upsurge_replays)") == 0 {
      try connection.execute("DROP TABLE main.upsurge_replays")
    }
  }

  package static let layout = OwnLayout(
    .replays, purpose: "replay keeps in one of this name how far it has come", columns: columns,
    body: """
      path TEXT PRIMARY KEY,
      done_bytes INTEGER NOT NULL,
      done_hash INTEGER NOT NULL,
      kept_bytes INTEGER NOT NULL,
      kept_hash INTEGER NOT NULL,
      whole INTEGER NOT NULL,
      progress TEXT,
      updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
      """,
    steps: [.columns([("progress", "TEXT")])])
}
