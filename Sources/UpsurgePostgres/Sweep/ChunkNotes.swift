import Upsurge
import UpsurgeRecords
import UpsurgeState

/// What a server remembers of the parts that the last delivery of a table was made of, as `ChunkTable` has it for a file of SQLite.
/// The row with place 0 has three texts more, in one with what decides how bytes become records:
///
///     FINGERPRINT|ROWS|RUN       what the rows were then, see `StoredRows`, and which run has written it
struct ChunkNotes: Sendable {
  let notes: StateTable
  /// As notes name the table.
  let table: String

  /// What is known of a delivery.
  struct Known: Sendable {
    var manifest: ChunkManifest
    var mark: StoredRows
    /// As the row with place 0 has it.
    var header: String
  }

  /// New chunks wait here for the end of the transaction, numbered from 1.
  private static let made = "upsurge_made"
  private static let gap: Int64 = 1 << 32

  // MARK: - What is known

  func header(_ connection: PostgresConnection) throws(PostgresFailure) -> String? {
    guard try notes.exists(connection) else { return nil }
    let sql = "SELECT encode(hash, 'hex') FROM \(notes.quotedName) WHERE \"table\" = $1 AND place = 0"
    return try connection.run(sql, [.text(table)]).first?.text(0).flatMap(Self.text)
  }

  /// What the last delivery was made of.
  /// - Parameter limit: more chunks are not read.
  /// - Returns: nil where that is not known.
  func known(limit: Int, _ connection: PostgresConnection) throws(PostgresFailure) -> Known? {
    guard let header = try header(connection) else { return nil }
    let words = header.split(separator: "|", omittingEmptySubsequences: false)
    guard words.count == 3, let mark = StoredRows(text: words[1]) else { return nil }
    let rows = try connection.run(
      """
      SELECT place, head, encode(hash, 'hex'), bytes, lines, records, CASE place WHEN 0 THEN encode(keys, 'hex') END
      FROM \(notes.quotedName) WHERE "table" = $1 ORDER BY place LIMIT \(limit + 2)
      """, [.text(table)])
    guard let first = rows.first, first.integer(0) == 0, let details = first.text(6).flatMap(Self.text), rows.rowCount <= limit + 1
    else { return nil }
    var manifest = ChunkManifest(
      fingerprint: String(words[0]), details: details, recordCount: UInt64(clamping: first.integer(5) ?? 0))
    var recordCount: UInt64 = 0
    for row in rows.rows.dropFirst() {
      guard let chunk = Self.chunk(row) else { return nil }
      recordCount &+= chunk.recordCount
      manifest.chunks.append(chunk)
    }
    return recordCount == manifest.recordCount ? Known(manifest: manifest, mark: mark, header: header) : nil
  }

  /// - Returns: nil for one that is not ours, and would make numbers overflow.
  private static func chunk(_ row: PostgresRow) -> SnapshotChunk? {
    let possible = Int64(0)..<1 << 40
    guard let place = row.integer(0), place > 0, place < 1 << 62, let head = row.integer(1), let bytes = row.integer(3), bytes > 0,
      let lines = row.integer(4), let records = row.integer(5), possible.contains(bytes), possible.contains(lines),
      possible.contains(records)
    else { return nil }
    return SnapshotChunk(
      place: place, byteCount: Int(bytes), head: UInt64(bitPattern: head), hash: row.text(2).flatMap(pair),
      lineCount: UInt64(lines), recordCount: UInt64(records))
  }

  private static func pair(_ hex: String) -> ContentHash.Pair? {
    guard hex.utf8.count == 32, let first = UInt64(hex.prefix(16), radix: 16), let second = UInt64(hex.suffix(16), radix: 16)
    else { return nil }
    return ContentHash.Pair(first: first.byteSwapped, second: second.byteSwapped)
  }

  /// Gives away the keys of chunks.
  /// - Returns: false where they cannot be read.
  func visit(
    _ chunks: [SnapshotChunk], partCount: Int, _ connection: PostgresConnection,
    _ body: (RowKeys.Reader) throws(PostgresFailure) -> Void
  ) throws(PostgresFailure) -> Bool {
    let sql = "SELECT keys FROM \(notes.quotedName) WHERE \"table\" = $1 AND place = $2"
    for chunk in chunks {
      let row = try connection.run("SELECT encode(keys, 'hex') FROM (\(sql)) AS s", [.text(table), .integer(chunk.place)]).first
      guard let keys = row?.text(0).flatMap(Self.bytes) else { return false }
      var reader = RowKeys.Reader(keys, partCount: partCount)
      while reader.next() { try body(reader) }
      if reader.isDamaged { return false }
    }
    return true
  }

  private static func text(_ hex: String) -> String? { bytes(hex).map { String(decoding: $0, as: UTF8.self) } }

  private static func bytes(_ hex: String) -> [UInt8]? {
    func value(_ digit: UInt8) -> UInt8? {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      default: nil
      }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hex.utf8.count / 2)
    var high: UInt8?
    for digit in hex.utf8 {
      guard let digit = value(digit) else { return nil }
      if let first = high { bytes.append(first << 4 | digit) }
      high = high == nil ? digit : nil
    }
    return high == nil ? bytes : nil
  }

  // MARK: - What is new

  /// Makes the table in which new chunks wait; it goes away with the transaction.
  func makeWaiting(_ connection: PostgresConnection) throws(PostgresFailure) {
    try connection.run(
      "CREATE TEMPORARY TABLE \(Self.made) (number bigint, head bigint, hash bytea, bytes bigint, lines bigint, records bigint,"
        + " keys bytea) ON COMMIT DROP")
  }

  /// Adds new chunks.
  /// - Parameter count: how many there are already.
  func add(_ made: [DeliveryChunks.Made], behind count: Int, _ connection: PostgresConnection) throws(PostgresFailure) {
    _ = try connection.beginCopy("COPY pg_temp.\(Self.made) FROM STDIN (FORMAT binary)")
    var buffer = RowBuffer()
    buffer.appendCopyHeader()
    for (index, entry) in made.enumerated() {
      let chunk = entry.chunk
      buffer.append(Int16(7))
      Self.put(Int64(count + index + 1), into: &buffer)
      Self.put(Int64(bitPattern: chunk.head), into: &buffer)
      if let hash = chunk.hash {
        buffer.append(Int32(16))
        buffer.append(hash.first.byteSwapped)
        buffer.append(hash.second.byteSwapped)
      } else {
        buffer.append(Int32(-1))
      }
      Self.put(Int64(chunk.byteCount), into: &buffer)
      Self.put(Int64(clamping: chunk.lineCount), into: &buffer)
      Self.put(Int64(clamping: chunk.recordCount), into: &buffer)
      buffer.append(Int32(entry.keys.count))
      entry.keys.withUnsafeBufferPointer { buffer.append($0) }
      if buffer.count >= 256 << 10 {
        try connection.put(buffer.bytes)
        buffer.count = 0
      }
    }
    buffer.appendCopyTrailer()
    try connection.put(buffer.bytes)
    _ = try connection.endCopy()
  }

  private static func put(_ value: Int64, into buffer: inout RowBuffer) {
    buffer.append(Int32(8))
    buffer.append(value)
  }

  // MARK: - The end

  func forget(_ connection: PostgresConnection) throws(PostgresFailure) {
    guard try notes.exists(connection) else { return }
    try notes.remove(where: "\"table\" = $1", [.text(table)], connection)
  }

  /// Of a delivery that was read: the chunks are those that wait. What stands there already is not written again.
  func replaceAll(_ connection: PostgresConnection) throws(PostgresFailure) {
    let values = ["head", "hash", "bytes", "lines", "records", "keys"]
    func list(_ name: String) -> String { values.map { "\(name).\($0)" }.joined(separator: ", ") }
    try connection.run("ANALYZE pg_temp.\(Self.made)")
    try connection.run(
      """
      DELETE FROM \(notes.quotedName) AS c WHERE "table" = $1 AND place > 0 AND NOT EXISTS (
        SELECT FROM pg_temp.\(Self.made) AS m WHERE m.number * \(Self.gap) = c.place
          AND (\(list("m"))) IS NOT DISTINCT FROM (\(list("c"))))
      """, [.text(table)])
    try connection.run(
      """
      INSERT INTO \(notes.quotedName) ("table", place, \(values.joined(separator: ", ")))
      SELECT $1, m.number * \(Self.gap), \(list("m")) FROM pg_temp.\(Self.made) AS m ON CONFLICT ("table", place) DO NOTHING
      """, [.text(table)])
  }

  /// Of a delivery of which a part was skipped: known chunks stay, the others go, and new ones come between them.
  /// - Returns: false where there is no place between two of them.
  func merge(
    _ entries: [DeliveryChunks.Entry], known: [SnapshotChunk], gone: [SnapshotChunk], _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool {
    guard let places = Self.places(entries, known: known) else { return false }
    if !gone.isEmpty {
      try connection.run(
        "DELETE FROM \(notes.quotedName) WHERE \"table\" = $1 AND place = ANY ($2::bigint[])",
        [.text(table), Self.array(gone.map(\.place))])
    }
    if places.isEmpty { return true }
    try connection.run(
      """
      INSERT INTO \(notes.quotedName) ("table", place, head, hash, bytes, lines, records, keys)
      SELECT $1, p.place, m.head, m.hash, m.bytes, m.lines, m.records, m.keys
      FROM pg_temp.\(Self.made) AS m JOIN unnest($2::bigint[]) WITH ORDINALITY AS p(place, number) USING (number)
      """, [.text(table), Self.array(places)])
    return true
  }

  private static func bytea(_ text: String) -> PostgresParameter { .binary(type: PostgresType.bytea, Array(text.utf8)) }

  private static func array(_ numbers: [Int64]) -> PostgresParameter {
    .text("{\(numbers.map(String.init).joined(separator: ","))}")
  }

  /// The places of the new chunks, in their order.
  private static func places(_ entries: [DeliveryChunks.Entry], known: [SnapshotChunk]) -> [Int64]? {
    var places: [Int64] = []
    var lower: Int64 = 0
    for (index, entry) in entries.enumerated() {
      switch entry {
      case .known(let place): lower = known[place].place
      case .made(let count):
        var step = gap
        if index + 1 < entries.count, case .known(let next) = entries[index + 1] {
          step = (known[next].place - lower) / Int64(count + 1)
        } else if lower > 1 << 61 {
          return nil
        }
        if step < 1 { return nil }
        places += (1...Int64(count)).map { lower + $0 * step }
        lower += Int64(count) * step
      }
    }
    return places
  }

  /// Says what stands for the whole.
  func write(_ header: String, details: String, recordCount: UInt64, _ connection: PostgresConnection) throws(PostgresFailure) {
    try connection.run(
      """
      INSERT INTO \(notes.quotedName) AS c ("table", place, hash, keys, records) VALUES ($1, 0, $2, $3, $4)
      ON CONFLICT ("table", place) DO UPDATE SET hash = excluded.hash, keys = excluded.keys, records = excluded.records
      """, [.text(table), Self.bytea(header), Self.bytea(details), .integer(Int64(clamping: recordCount))])
  }
}
