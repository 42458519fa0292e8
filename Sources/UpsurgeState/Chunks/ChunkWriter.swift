import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Keeps the table of chunks in step with the rows; lives on the writer's thread, in its transaction.
///
/// New chunks are written as they come, after all that are known. At the end those that are gone are removed, and new
/// ones between known ones move to their place.
package final class ChunkWriter {
  package let chunks: DeliveryChunks
  private let table: String
  private let connection: Connection
  /// What the table holds when the run begins.
  private var known: [SnapshotChunk] = []
  private var hasHeader = false
  /// Of the known ones, so many are the first ones of a delivery that was read, too.
  private var keptCount = 0
  private var isLockstep: Bool
  private var insertion: Statement?
  private var keysStatement: Statement?
  private var madeCount: Int64 = 0
  private var hasBegun = false

  private static let gap: Int64 = 1 << 32

  package init(_ chunks: DeliveryChunks, table: String, on connection: Connection) {
    self.chunks = chunks
    self.table = table
    self.connection = connection
    isLockstep = chunks.manifest == nil
  }

  /// Says that a transaction has begun.
  package func didBegin() throws(UpsurgeError) {
    if hasBegun { return }
    hasBegun = true
    if chunks.fingerprint == nil { return try ChunkTable.remove(table, on: connection) }
    if let manifest = chunks.manifest {
      known = manifest.chunks
    } else if let manifest = try ChunkTable.read(table, limit: chunks.chunkLimit, on: connection) {
      known = manifest.chunks
    } else {
      try ChunkTable.remove(table, on: connection)
    }
    try ChunkTable.layout.prepare(on: connection)
  }

  /// Writes the new chunks that have come so far.
  package func store() throws(UpsurgeError) {
    for made in chunks.takeMade() {
      if isLockstep, keptCount < known.count, try isSame(made, known[keptCount]) {
        keptCount += 1
        continue
      }
      isLockstep = false
      madeCount += 1
      try insert(made)
    }
  }

  /// Whether a chunk that was read stands in the table as it is: the same bytes, read in another way, have other keys.
  private func isSame(_ made: DeliveryChunks.Made, _ other: SnapshotChunk) throws(UpsurgeError) -> Bool {
    let chunk = made.chunk
    guard let hash = chunk.hash, hash == other.hash, chunk.byteCount == other.byteCount,
      chunk.recordCount == other.recordCount, chunk.lineCount == other.lineCount, chunk.head == other.head
    else { return false }
    return try storedKeys(at: other.place) == made.keys
  }

  /// The keys of a chunk as they stand in the table; nil where it is gone.
  private func storedKeys(at place: Int64) throws(UpsurgeError) -> [UInt8]? {
    let statement: Statement
    if let keysStatement {
      statement = keysStatement
    } else {
      statement = try connection.prepare(
        "SELECT keys FROM main.upsurge_chunks WHERE \"table\" = ?1 AND place = ?2", isPersistent: true)
      keysStatement = statement
    }
    defer { statement.reset() }
    try statement.bind(table, at: 1)
    try statement.bind(place, at: 2)
    guard try statement.step() else { return nil }
    let count = Int(sqlite3_column_bytes(statement.handle, 0))
    return Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement.handle, 0), count: count))
  }

  /// The new ones come after it.
  private var lastKnownPlace: Int64 { known.last?.place ?? 0 }

  private func insert(_ made: DeliveryChunks.Made) throws(UpsurgeError) {
    let statement: Statement
    if let insertion {
      statement = insertion
    } else {
      statement = try connection.prepare(
        "INSERT INTO main.upsurge_chunks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", isPersistent: true)
      insertion = statement
    }
    defer { statement.reset() }
    let (place, isBeyond) = lastKnownPlace.addingReportingOverflow(madeCount &* Self.gap)
    if isBeyond { throw UpsurgeError(.database, "the table upsurge_chunks has no place left") }
    try statement.bind(table, at: 1)
    try statement.bind(place, at: 2)
    try statement.bind(Int64(bitPattern: made.chunk.head), at: 3)
    try statement.bind(made.chunk.hash.map { .blob(Self.bytes($0)) } ?? .null, at: 4)
    try statement.bind(Int64(made.chunk.byteCount), at: 5)
    try statement.bind(Int64(clamping: made.chunk.lineCount), at: 6)
    try statement.bind(Int64(clamping: made.chunk.recordCount), at: 7)
    try statement.bind(.blob(made.keys), at: 8)
    _ = try statement.step()
  }

  private static func bytes(_ hash: ContentHash.Pair) -> [UInt8] {
    withUnsafeBytes(of: (hash.first.littleEndian, hash.second.littleEndian)) { Array($0) }
  }

  // MARK: - Keys

  /// Gives away the keys of the known chunks that the delivery does not have any more.
  /// - Returns: false where they cannot be read.
  package func visitGone(_ body: (RowKeys.Reader) throws(UpsurgeError) -> Void) throws(UpsurgeError) -> Bool {
    var isThere = Array(repeating: false, count: known.count)
    for case .known(let index) in chunks.result.entries { isThere[index] = true }
    return try visit(known.indices.filter { !isThere[$0] }.map { known[$0].place }, body)
  }

  /// How many records those chunks have had.
  package var goneRecordCount: UInt64 {
    let all = known.reduce(0) { $0 + $1.recordCount }
    return all - min(all, chunks.skippedRecordCount)
  }

  /// Gives away the keys of the new chunks.
  /// - Returns: false where they cannot be read.
  package func visitMade(_ body: (RowKeys.Reader) throws(UpsurgeError) -> Void) throws(UpsurgeError) -> Bool {
    if madeCount == 0 { return true }
    return try visit((1...madeCount).map { lastKnownPlace + $0 * Self.gap }, body)
  }

  private func visit(
    _ places: [Int64], _ body: (RowKeys.Reader) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) -> Bool {
    for place in places {
      guard let keys = try storedKeys(at: place) else { return false }
      var reader = RowKeys.Reader(keys, partCount: chunks.keyCells.count)
      while reader.next() { try body(reader) }
      if reader.isDamaged { return false }
    }
    return true
  }

  // MARK: - The end

  /// Makes the table what the delivery was made of.
  /// - Parameter recordCount: its records; nil where it is not to be remembered.
  package func finish(recordCount: UInt64?) throws(UpsurgeError) {
    if chunks.fingerprint == nil { return }
    try store()
    (insertion, keysStatement) = (nil, nil)
    let result = chunks.result
    guard let recordCount, let details = result.details, let fingerprint = chunks.fingerprint,
      try chunks.skippedRecordCount == 0 ? endRead() : endSkipped(result.entries)
    else { return try ChunkTable.remove(table, on: connection) }
    let header = try connection.prepare(
      """
      INSERT INTO main.upsurge_chunks ("table", place, hash, keys, records) VALUES (?1, 0, ?2, ?3, ?4)
      ON CONFLICT ("table", place) DO UPDATE SET hash = excluded.hash, keys = excluded.keys, records = excluded.records
      WHERE hash IS NOT excluded.hash OR keys IS NOT excluded.keys OR records IS NOT excluded.records
      """)
    try header.bind(table, at: 1)
    try header.bind(fingerprint, at: 2)
    try header.bind(details, at: 3)
    try header.bind(Int64(clamping: recordCount), at: 4)
    _ = try header.step()
  }

  /// Of a delivery that was read: what is left after the chunks that are the same has gone.
  private func endRead() throws(UpsurgeError) -> Bool {
    try remove(known[keptCount...].map(\.place))
    return true
  }

  /// Of a delivery of which a part was skipped.
  /// - Returns: false where there is no place between two known chunks.
  private func endSkipped(_ entries: [DeliveryChunks.Entry]) throws(UpsurgeError) -> Bool {
    var isThere = Array(repeating: false, count: known.count)
    for case .known(let index) in entries { isThere[index] = true }
    try remove(known.indices.filter { !isThere[$0] }.map { known[$0].place })
    var moves: [(from: Int64, to: Int64)] = []
    var (lower, made): (Int64, Int64) = (0, 0)
    for (index, entry) in entries.enumerated() {
      switch entry {
      case .known(let place): lower = known[place].place
      case .made(let count):
        // Those after the last known one stay where they are.
        if index + 1 < entries.count, case .known(let next) = entries[index + 1] {
          let step = (known[next].place - lower) / Int64(count + 1)
          if step < 1 { return false }
          for number in 1...Int64(count) {
            moves.append((lastKnownPlace + (made + number) * Self.gap, lower + number * step))
          }
        }
        made += Int64(count)
      }
    }
    let statement = try connection.prepare(
      "UPDATE main.upsurge_chunks SET place = ?3 WHERE \"table\" = ?1 AND place = ?2")
    try statement.bind(table, at: 1)
    for (from, to) in moves {
      try statement.bind(from, at: 2)
      try statement.bind(to, at: 3)
      _ = try statement.step()
      statement.reset()
    }
    return true
  }

  private func remove(_ places: [Int64]) throws(UpsurgeError) {
    if places.isEmpty { return }
    let statement = try connection.prepare(
      "DELETE FROM main.upsurge_chunks WHERE \"table\" = ?1 AND place = ?2")
    try statement.bind(table, at: 1)
    for place in places {
      try statement.bind(place, at: 2)
      _ = try statement.step()
      statement.reset()
    }
  }
}
