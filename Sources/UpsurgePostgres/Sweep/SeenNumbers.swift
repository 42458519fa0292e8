import Upsurge
import UpsurgeRecords
import UpsurgeStorage

/// Keys of one whole number each: a bit for each, on this side. Where the memory is full they go up into a table, as others do.
struct SeenNumbers {
  private let numbers: RowidSet
  /// Bytes of a number as the server has it.
  private let byteCount: Int
  /// How many there are.
  private(set) var count: UInt64 = 0

  /// - Parameter columns: those of the key.
  /// - Returns: nil where the key is not one whole number that every row has.
  init?(of columns: [PostgresColumn], _ memory: SeenMemory) {
    guard columns.count == 1, columns[0].isNotNull, !columns[0].isDomain else { return nil }
    switch BinaryColumn(columns[0]).form {
    case .int2: byteCount = 2
    case .int4: byteCount = 4
    case .int8: byteCount = 8
    default: return nil
    }
    numbers = RowidSet(memory)
  }

  /// - Parameter row: a row in COPY's binary format whose first field is the number.
  /// - Returns: false where the memory is full.
  mutating func insert(_ row: UnsafeRawBufferPointer) -> Bool {
    guard let number = Self.number(in: row), let isNew = numbers.insert(number) else { return false }
    if isNew { count += 1 }
    return true
  }

  /// The numbers of a table's rows that are none of these.
  /// - Parameter sql: a COPY of the key to STDOUT.
  /// - Returns: nil where they are too many to be held here.
  func missing(_ sql: String, _ connection: PostgresConnection) throws(PostgresFailure) -> [Int64]? {
    var missing: [Int64] = []
    var hasHeader = false
    // It is read to its end: a copy that we end would end the transaction.
    _ = try connection.copyOut(sql) { (message) throws(PostgresFailure) -> Bool in
      var row = message
      if !hasHeader {
        hasHeader = true
        row = UnsafeRawBufferPointer(rebasing: message.dropFirst(CopyFrame.header.count))
      }
      if row.count > CopyFrame.trailer.count, let number = Self.number(in: row), !numbers.contains(number),
        missing.count <= Self.mostMissing
      {
        missing.append(number)
      }
      return true
    }
    return missing.count > Self.mostMissing ? nil : missing
  }

  private static let mostMissing = 250_000

  /// Sends all of them as the rows of a copy that has begun, and ends it.
  func send(_ connection: PostgresConnection) throws(PostgresFailure) {
    var copy = NumberCopy(byteCount: byteCount)
    try numbers.visit { (number) throws(PostgresFailure) in try copy.add(number, connection) }
    try copy.end(connection)
  }

  /// Sends some.
  func send(_ some: [Int64], _ connection: PostgresConnection) throws(PostgresFailure) {
    var copy = NumberCopy(byteCount: byteCount)
    for number in some { try copy.add(number, connection) }
    try copy.end(connection)
  }

  private static func number(in row: UnsafeRawBufferPointer) -> Int64? {
    guard EncodedRow(row).isSound(fieldCount: 1), let bytes = EncodedRow(row).field(0) else { return nil }
    switch bytes.count {
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    default: return nil
    }
  }
}

/// Whole numbers as rows of COPY's binary format.
private struct NumberCopy: ~Copyable {
  private let byteCount: Int
  private var piece = RowBuffer()

  private static let pieceByteCount = 128 << 10

  init(byteCount: Int) {
    self.byteCount = byteCount
    piece.appendCopyHeader()
  }

  mutating func add(_ number: Int64, _ connection: PostgresConnection) throws(PostgresFailure) {
    piece.append(Int16(1))
    piece.append(Int32(byteCount))
    switch byteCount {
    case 2: piece.append(Int16(truncatingIfNeeded: number))
    case 4: piece.append(Int32(truncatingIfNeeded: number))
    default: piece.append(number)
    }
    if piece.count < Self.pieceByteCount { return }
    try connection.put(piece.bytes)
    piece.count = 0
  }

  mutating func end(_ connection: PostgresConnection) throws(PostgresFailure) {
    piece.appendCopyTrailer()
    try connection.put(piece.bytes)
    _ = try connection.endCopy()
  }
}
