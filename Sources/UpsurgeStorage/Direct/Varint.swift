/// SQLite's integers of variable length (https://www.sqlite.org/fileformat2.html#varint): seven bits a byte, the
/// highest first; where nine bytes are needed, the last one holds eight.
///
///     0...127: 1 byte     128...16383: 2 bytes     ...     2^56 and more, and all that is negative: 9 bytes
enum Varint {
  /// The most bytes that an integer takes.
  static let byteLimit = 9

  @inline(__always)
  static func byteCount(_ value: UInt64) -> Int {
    value < 0x80 ? 1 : min((70 - value.leadingZeroBitCount) / 7, byteLimit)
  }

  /// - Returns: how many bytes were written.
  @inline(__always) @discardableResult
  static func write(_ value: UInt64, to target: UnsafeMutableRawPointer) -> Int {
    if value < 0x80 {
      target.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
      return 1
    }
    if value < 0x4000 {
      target.storeBytes(of: UInt8(truncatingIfNeeded: value >> 7) | 0x80, as: UInt8.self)
      target.storeBytes(of: UInt8(truncatingIfNeeded: value) & 0x7F, toByteOffset: 1, as: UInt8.self)
      return 2
    }
    return writeLong(value, to: target)
  }

  /// Writes an integer before something.
  /// - Returns: its first byte.
  @inline(__always)
  static func write(_ value: UInt64, endingAt end: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    if value >> 56 != 0 {
      writeLong(value, to: end - byteLimit)
      return end - byteLimit
    }
    var rest = value >> 7
    var at = end - 1
    at.storeBytes(of: UInt8(truncatingIfNeeded: value) & 0x7F, as: UInt8.self)
    while rest != 0 {
      at -= 1
      at.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
      rest >>= 7
    }
    return at
  }

  /// Reads an integer and goes past it.
  @inline(__always)
  static func read(_ at: inout UnsafeRawPointer) -> UInt64 {
    var value: UInt64 = 0
    for _ in 1..<byteLimit {
      let byte = at.load(as: UInt8.self)
      at += 1
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return value }
    }
    let byte = at.load(as: UInt8.self)
    at += 1
    return value << 8 | UInt64(byte)
  }

  @inline(never) @discardableResult
  private static func writeLong(_ value: UInt64, to target: UnsafeMutableRawPointer) -> Int {
    let count = byteCount(value)
    var rest = value
    var at = count - 1
    if count == byteLimit {
      target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: at, as: UInt8.self)
      rest >>= 8
    } else {
      target.storeBytes(of: UInt8(truncatingIfNeeded: rest) & 0x7F, toByteOffset: at, as: UInt8.self)
      rest >>= 7
    }
    while at > 0 {
      at -= 1
      target.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: at, as: UInt8.self)
      rest >>= 7
    }
    return count
  }
}
