#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Compares the keys of rows as the server sorts them: integers and moments by their value, everything else by its bytes.
///
/// Only for keys of which `RecordShape.hasSortableKey` holds, and rows that have no NULL in theirs.
struct KeyOrder {
  private struct Part {
    var field: Int
    /// Whether its first bit is a sign: integers, days and times are sent as two's complement, the most significant byte first.
    var isSigned: Bool
  }

  private let parts: [Part]
  /// Whether the first eight bytes decide: one part, of a number.
  private let isWholePrefix: Bool

  /// - Returns: nil where the order is the server's own.
  init?(_ shape: RecordShape) {
    guard shape.hasSortableKey, let fields = shape.keyFields else { return nil }
    parts = fields.map { field in
      let form = shape.binary(shape.columns[field]).form
      return Part(field: field, isSigned: [.int2, .int4, .int8, .date, .time, .timestamp, .timestamptz].contains(form))
    }
    isWholePrefix = parts.count == 1 && parts[0].isSigned
  }

  /// A number whose order is that of the keys, as far as their first bytes go.
  @inline(__always)
  func prefix(_ row: UnsafeRawBufferPointer) -> UInt64 {
    guard let bytes = EncodedRow(row).field(parts[0].field) else { return 0 }
    if bytes.count == 8 {
      let value = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      return parts[0].isSigned ? value ^ 1 << 63 : value
    }
    var value: UInt64 = 0
    for index in 0..<min(bytes.count, 8) { value |= UInt64(bytes[index]) << UInt64(56 - index * 8) }
    return parts[0].isSigned ? value ^ 1 << 63 : value
  }

  /// Less than 0, 0 or more, as memcmp says it.
  @inline(__always)
  func compare(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    let (first, second) = (prefix(one), prefix(other))
    if first != second { return first < second ? -1 : 1 }
    return isWholePrefix ? 0 : compareWhole(one, other)
  }

  /// As `compare`, for rows whose prefixes are equal.
  @inline(__always)
  func compareTied(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    isWholePrefix ? 0 : compareWhole(one, other)
  }

  private func compareWhole(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    for part in parts {
      guard let first = EncodedRow(one).field(part.field), let second = EncodedRow(other).field(part.field) else { continue }
      let order = part.isSigned ? Self.signed(first, second) : Self.unsigned(first, second)
      if order != 0 { return order }
    }
    return 0
  }

  private static func signed(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    guard let first = one.first, let second = other.first, one.count == other.count else { return one.count - other.count }
    if first ^ second >= 0x80 { return first >= 0x80 ? -1 : 1 }
    return unsigned(one, other)
  }

  private static func unsigned(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    let count = min(one.count, other.count)
    if count > 0, let first = one.baseAddress, let second = other.baseAddress {
      let order = memcmp(first, second, count)
      if order != 0 { return Int(order) }
    }
    return one.count - other.count
  }
}
