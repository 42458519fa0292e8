import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// The table of chunks: what the last delivery of each mirrored table was made of. Users may read it, and delete from it
/// what is to be read anew.
///
/// - `table`, `place`: whose they are, and their order; there are gaps.
/// - `head`, `hash`: XXH64 of the first 64 bytes; 16 bytes that stand for all of them, NULL in a chunk that is always read.
/// - `bytes`, `lines`, `records`: how much it is.
/// - `keys`: the keys of its records, see `RowKeys`.
///
/// The row with place 0 stands for the whole: in `hash` what decides how the bytes become records, as a hash in hex; in
/// `records` their number; in `keys` what the parser knows between two of them.
package enum ChunkTable {
  package static let name = OwnTable.chunks.rawValue

  package static let layout = OwnLayout(
    .chunks, purpose: "chunks of deliveries are kept in one of this name",
    columns: ["table", "place", "head", "hash", "bytes", "lines", "records", "keys"],
    body: """
      "table" TEXT NOT NULL COLLATE NOCASE,
      place INTEGER NOT NULL,
      head INTEGER,
      hash,
      bytes INTEGER,
      lines INTEGER,
      records INTEGER NOT NULL,
      keys,
      PRIMARY KEY ("table", place)
      """)

  package static func exists(_ connection: Connection) throws(UpsurgeError) -> Bool {
    try layout.exists(on: connection)
  }

  /// What the last delivery of a table was made of.
  /// - Parameter limit: more chunks are not read.
  /// - Returns: nil where that is not known.
  package static func read(
    _ table: String, limit: Int, on connection: Connection
  ) throws(UpsurgeError) -> ChunkManifest? {
    try connection.reading { () throws(UpsurgeError) in
      guard try exists(connection) else { return nil }
      let statement = try connection.prepare(
        """
        SELECT place, head, hash, bytes, lines, records FROM main.upsurge_chunks WHERE "table" = ?1 AND place > 0
        ORDER BY place LIMIT \(limit + 1)
        """)
      try statement.bind(table, at: 1)
      let whole = try connection.prepare(
        "SELECT hash, keys, records FROM main.upsurge_chunks WHERE \"table\" = ?1 AND place = 0")
      try whole.bind(table, at: 1)
      guard try whole.step(), let fingerprint = whole.text(at: 0), let details = whole.text(at: 1) else {
        return nil
      }
      var manifest = ChunkManifest(
        fingerprint: fingerprint, details: details, recordCount: UInt64(clamping: whole.integer(at: 2)))
      var recordCount: UInt64 = 0
      while try statement.step() {
        let (bytes, lines, records) = (
          statement.integer(at: 3), statement.integer(at: 4), statement.integer(at: 5)
        )
        // Others are not ours, and must not make numbers overflow.
        let possible = Int64(0)..<1 << 40
        guard bytes > 0, possible.contains(bytes), possible.contains(lines), possible.contains(records),
          statement.integer(at: 0) < 1 << 62
        else { return nil }
        let chunk = SnapshotChunk(
          place: statement.integer(at: 0), byteCount: Int(bytes),
          head: UInt64(bitPattern: statement.integer(at: 1)), hash: pair(statement),
          lineCount: UInt64(lines), recordCount: UInt64(records))
        recordCount &+= chunk.recordCount
        manifest.chunks.append(chunk)
      }
      return recordCount == manifest.recordCount && manifest.chunks.count <= limit ? manifest : nil
    }
  }

  private static func pair(_ statement: Statement) -> ContentHash.Pair? {
    guard sqlite3_column_bytes(statement.handle, 2) == 16,
      let bytes = sqlite3_column_blob(statement.handle, 2)
    else { return nil }
    return ContentHash.Pair(
      first: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
      second: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  /// Forgets the chunks of a table; part of the transaction that is open.
  static func remove(_ table: String, on connection: Connection) throws(UpsurgeError) {
    guard try exists(connection) else { return }
    let statement = try connection.prepare("DELETE FROM main.upsurge_chunks WHERE \"table\" = ?1")
    try statement.bind(table, at: 1)
    _ = try statement.step()
  }
}

/// What a delivery was made of.
package struct ChunkManifest: Sendable {
  /// What decides how its bytes become records.
  package var fingerprint: String
  /// What the parser knows between two records.
  package var details: String
  package var recordCount: UInt64
  package var chunks: [SnapshotChunk] = []

  package init(
    fingerprint: String, details: String, recordCount: UInt64, chunks: [SnapshotChunk] = []
  ) {
    (self.fingerprint, self.details, self.recordCount) = (fingerprint, details, recordCount)
    self.chunks = chunks
  }
}
