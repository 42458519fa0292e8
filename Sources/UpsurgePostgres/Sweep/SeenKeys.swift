import Upsurge
import UpsurgeRecords

/// The keys that records of a snapshot were about. Whole numbers are noted on this side; all others are in a temporary table beside
/// the rows. There the server's own `=` finds the rows, so collations, scales of numbers and types of others mean what they mean to it.
struct SeenKeys: ~Copyable {
  private let rows: SweptRows
  /// Where they are beside the rows.
  private let table: KeyTable
  private var encoded: EncodedRows
  private var numbers: SeenNumbers?
  /// Whether each key has the number of its record's source.
  private let hasSource: Bool
  /// Whether that number is the record's own in its batch.
  private let numbersRecords: Bool
  /// That of the keys that are added; nil for those of records that were refused.
  private var source: Int?

  private static let pieceByteCount = 256 << 10
  /// Values that the server makes keys of wait here.
  private static let texts = "upsurge_seen_texts"

  /// - Parameters:
  ///   - shape: the key's columns of records.
  ///   - slots: the slot of each of them.
  ///   - numbers: notes keys on this side; nil where SQL asks for them, or they are not numbers.
  ///   - numbersRecords: whether it has each record's number in the batch in its place.
  ///   - hasSource: whether the table has the number of each record's source; there are no numbers on this side then.
  init(
    _ rows: SweptRows, _ shape: RecordShape, slots: [Int], numbers: SeenNumbers?, in table: KeyTable = .seen,
    hasSource: Bool = false, numbersRecords: Bool = false
  ) {
    (self.rows, self.table, self.numbers, self.hasSource) = (
      rows, table, numbers, hasSource || numbersRecords
    )
    self.numbersRecords = numbersRecords
    encoded = EncodedRows(shape, slots: slots)
  }

  func make(_ connection: PostgresConnection) throws(PostgresFailure) {
    if numbers == nil { try connection.run(table.creation(for: rows, hasSource: hasSource)) }
  }

  /// The keys, as long as they are on this side; nil where they are in the table.
  func onThisSide() -> SeenNumbers? { numbers }

  /// Brings the keys into the table, where SQL is to ask for them.
  mutating func bringUp(_ connection: PostgresConnection) throws(PostgresFailure) {
    guard let numbers else { return }
    self.numbers = nil
    try make(connection)
    _ = try connection.beginCopy(table.copy)
    try numbers.send(connection)
  }

  /// Adds the keys of some records.
  /// - Parameters:
  ///   - source: the number of the records' source; nil for those that were refused.
  ///   - mayFail: whether the table has refused some of the batch: their keys may be none, too.
  /// - Returns: how many have a key that is not one of any row.
  mutating func add(
    _ records: [Int32], of batch: borrowing Batch, source: Int? = nil, mayFail: Bool,
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Int {
    self.source = source
    let faults = encoded.fill(batch, 0..<records.count, only: records)
    if encoded.count == 0 { return faults.count }
    if try note(connection) { return faults.count }
    if mayFail { return faults.count + (try addReadable(0..<encoded.count, connection)) }
    try add(0..<encoded.count, connection)
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

  /// Adds keys, but for those that the server cannot read: a part with such a one is taken back, and comes again in halves.
  /// - Returns: how many it cannot read.
  private func addReadable(_ part: Range<Int>, _ connection: PostgresConnection) throws(PostgresFailure)
    -> Int
  {
    let isAdded = try Savepoints.unbounded.attempt("upsurge_keys", on: connection) {
      () throws(PostgresFailure) in
      try add(part, connection)
      return true
    }
    if isAdded != nil { return 0 }
    if part.count == 1 { return 1 }
    let middle = part.lowerBound + part.count / 2
    let before = try addReadable(part.lowerBound..<middle, connection)
    return before + (try addReadable(middle..<part.upperBound, connection))
  }

  private func add(_ part: Range<Int>, _ connection: PostgresConnection) throws(PostgresFailure) {
    let columns = encoded.shape.columns
    if zip(columns, encoded.shape.binaryColumns).contains(where: { $0.isDomain || $1.form == .castText }) {
      return try addTexts(part, connection)
    }
    _ = try connection.beginCopy(table.copy)
    try send(part, connection)
  }

  /// Sends values that are not of the key's types yet; a statement makes keys of them, as it would of those of a row.
  private func addTexts(_ part: Range<Int>, _ connection: PostgresConnection) throws(PostgresFailure) {
    let (shape, texts) = (encoded.shape, "pg_temp.\(Self.texts)")
    let list = zip(shape.columns, shape.binaryColumns).map { column, binary in
      let name = column.name.quotedForPostgres
      return "\(rows.alias).\(name)::\(binary.stagingType) AS \(name)"
    }
    let number = hasSource ? ["0::int4 AS upsurge_source"] : []
    _ = try connection.beginCopy(
      "CREATE TEMPORARY TABLE \(Self.texts) ON COMMIT DROP AS SELECT \((list + number).joined(separator: ", ")) FROM \(rows.table) WITH NO DATA;"
        + " COPY \(texts) FROM STDIN (FORMAT binary)")
    try send(part, connection)
    try connection.run(
      "INSERT INTO \(table.quotedName) SELECT \(shape.rawValues("s"))\(hasSource ? ", s.upsurge_source" : "") FROM \(texts) AS s; DROP TABLE \(texts)"
    )
  }

  private func send(_ part: Range<Int>, _ connection: PostgresConnection) throws(PostgresFailure) {
    var piece = RowBuffer(capacity: Self.pieceByteCount * 2)
    piece.appendCopyHeader()
    for index in part {
      let row = encoded.row(index)
      if hasSource {
        append(row, numbersRecords ? Int(encoded.records[index]) : source, to: &piece)
      } else {
        piece.append(row.assumingMemoryBound(to: UInt8.self))
      }
      if piece.count >= Self.pieceByteCount {
        try connection.put(piece.bytes)
        piece.count = 0
      }
    }
    piece.appendCopyTrailer()
    try connection.put(piece.bytes)
    _ = try connection.endCopy()
  }

  /// Appends a row with one field more.
  private func append(_ row: UnsafeRawBufferPointer, _ number: Int?, to piece: inout RowBuffer) {
    piece.append(Int16(truncatingIfNeeded: encoded.shape.columns.count + 1))
    piece.append(UnsafeBufferPointer(rebasing: row.assumingMemoryBound(to: UInt8.self)[2...]))
    if let number {
      piece.append(Int32(4))
      piece.append(Int32(truncatingIfNeeded: number))
    } else {
      piece.append(Int32(-1))
    }
  }
}
