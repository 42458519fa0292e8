import Upsurge
import UpsurgeRecords

/// The keys that records of a snapshot were about. Whole numbers are noted on this side; all others are in a temporary table beside
/// the rows. There the server's own `=` finds the rows, so collations, scales of numbers and types of others mean what they mean to it.
struct SeenKeys: ~Copyable {
  private let rows: SweptRows
  private var encoded: EncodedRows
  private var numbers: SeenNumbers?

  private static let pieceByteCount = 256 << 10
  /// Values that only the server can read wait here.
  private static let texts = "upsurge_seen_texts"

  /// - Parameters:
  ///   - shape: the key's columns of records.
  ///   - slots: the slot of each of them.
  ///   - numbers: notes keys on this side; nil where SQL asks for them, or they are not numbers.
  init(_ rows: SweptRows, _ shape: RecordShape, slots: [Int], numbers: SeenNumbers?) {
    (self.rows, self.numbers) = (rows, numbers)
    encoded = EncodedRows(shape, slots: slots)
  }

  func make(_ connection: PostgresConnection) throws(PostgresFailure) {
    if numbers == nil { try connection.run(KeyTable.seen.creation(for: rows)) }
  }

  /// The keys, as long as they are on this side; nil where they are in the table.
  func onThisSide() -> SeenNumbers? { numbers }

  /// Brings the keys into the table, where SQL is to ask for them.
  mutating func bringUp(_ connection: PostgresConnection) throws(PostgresFailure) {
    guard let numbers else { return }
    self.numbers = nil
    try make(connection)
    _ = try connection.beginCopy(KeyTable.seen.copy)
    try numbers.send(connection)
  }

  /// Adds the keys of some records.
  /// - Returns: how many have a key that is not one of any row.
  mutating func add(
    _ records: [Int32], of batch: borrowing Batch, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Int {
    let faults = encoded.fill(batch, 0..<records.count, only: records)
    if encoded.count == 0 { return faults.count }
    if try note(connection) { return faults.count }
    let types = encoded.shape.binaryColumns
    if types.contains(where: { $0.form == .castText }) {
      try addTexts(types, connection)
    } else {
      _ = try connection.beginCopy(KeyTable.seen.copy)
      try send(connection)
    }
    return faults.count
  }

  /// Notes the keys on this side.
  /// - Returns: false where they must go up.
  private mutating func note(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    for index in 0..<encoded.count {
      guard numbers != nil else { return false }
      // A key that comes again in the table does no harm.
      if numbers?.insert(encoded.row(index)) == false { try bringUp(connection) }
    }
    return numbers != nil
  }

  /// Sends the values as texts where the client cannot read them; a statement makes keys of them.
  private func addTexts(_ types: [BinaryColumn], _ connection: PostgresConnection) throws(PostgresFailure) {
    let columns = zip(rows.key, zip(types, rows.keyNames)).map { column, other in
      "\(rows.alias).\(column.name.quotedForPostgres)::\(other.0.stagingType) AS \(other.1)"
    }
    _ = try connection.beginCopy(
      "CREATE TEMPORARY TABLE \(Self.texts) ON COMMIT DROP AS SELECT \(columns.joined(separator: ", ")) FROM \(rows.table) WITH NO DATA;"
        + " COPY pg_temp.\(Self.texts) FROM STDIN (FORMAT binary)")
    try send(connection)
    let keys = zip(rows.key, rows.keyNames).map { "\($1)::\($0.typeName)" }.joined(separator: ", ")
    try connection.run(
      "INSERT INTO \(KeyTable.seen.quotedName) SELECT \(keys) FROM pg_temp.\(Self.texts); DROP TABLE pg_temp.\(Self.texts)")
  }

  private func send(_ connection: PostgresConnection) throws(PostgresFailure) {
    var piece = RowBuffer(capacity: Self.pieceByteCount * 2)
    piece.appendCopyHeader()
    for index in 0..<encoded.count {
      let row = encoded.row(index)
      piece.append(row.assumingMemoryBound(to: UInt8.self))
      if piece.count >= Self.pieceByteCount {
        try connection.put(piece.bytes)
        piece.count = 0
      }
    }
    piece.appendCopyTrailer()
    try connection.put(piece.bytes)
    _ = try connection.endCopy()
  }
}
