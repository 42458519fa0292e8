import UpsurgeRecords

/// What a column's affinity makes of a number (https://www.sqlite.org/datatype3.html#type_affinity).
enum NumberStorage: UInt8, Sendable {
  /// As it is: TEXT columns take none, BLOB and ANY columns any.
  case plain
  /// INTEGER and NUMERIC: a float that is a whole number becomes an integer.
  case integral
  /// REAL: an integer becomes a float, which is stored like an integer where that is shorter.
  case real

  init(_ affinity: Affinity) {
    switch affinity {
    case .integer, .numeric: self = .integral
    case .real: self = .real
    case .none, .text: self = .plain
    }
  }
}

/// A number as a record holds it (https://www.sqlite.org/fileformat2.html#record_format).
struct StoredNumber {
  /// The serial type: below 10, so one byte.
  var type: UInt8
  var byteCount: Int
  /// The bytes from the highest on.
  var bits: UInt64

  /// An integer in a column.
  @inline(__always)
  init(_ value: Int64, in storage: NumberStorage, sizes: UnsafePointer<UInt8>) {
    if storage == .real && !StoredNumber.isShort(value) {
      self.init(bitsOf: Double(value))
    } else {
      self.init(integer: value, sizes: sizes)
    }
  }

  /// A float in a column; SQLite stores NaN as NULL.
  @inline(__always)
  init(_ value: Double, in storage: NumberStorage, sizes: UnsafePointer<UInt8>) {
    if storage != .plain, let whole = StoredNumber.whole(value),
      storage == .integral || StoredNumber.isShort(whole)
    {
      self.init(integer: whole, sizes: sizes)
    } else if value.isNaN {
      self.init(type: 0, byteCount: 0, bits: 0)
    } else {
      self.init(bitsOf: value)
    }
  }

  @inline(__always)
  private init(type: UInt8, byteCount: Int, bits: UInt64) {
    self.type = type
    self.byteCount = byteCount
    self.bits = bits
  }

  @inline(__always)
  private init(bitsOf value: Double) { self.init(type: 7, byteCount: 8, bits: value.bitPattern) }

  @inline(__always)
  private init(integer value: Int64, sizes: UnsafePointer<UInt8>) {
    if UInt64(bitPattern: value) < 2 {
      self.init(type: 8 &+ UInt8(truncatingIfNeeded: value), byteCount: 0, bits: 0)
      return
    }
    let magnitude = UInt64(bitPattern: value ^ (value >> 63))
    let size = sizes[64 - magnitude.leadingZeroBitCount]
    let byteCount = Int(size & 15)
    self.init(
      type: size >> 4, byteCount: byteCount,
      bits: UInt64(bitPattern: value) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* byteCount))
  }

  /// Adds the number to a record; up to 8 bytes after it may be written.
  @inline(__always)
  func append(_ type: inout UnsafeMutableRawPointer, _ body: inout UnsafeMutableRawPointer) {
    type.storeBytes(of: self.type, as: UInt8.self)
    type += 1
    body.storeBytes(of: bits.bigEndian, as: UInt64.self)
    body += byteCount
  }

  /// Whether SQLite stores a float of this value as an integer.
  @inline(__always)
  private static func isShort(_ value: Int64) -> Bool {
    value >= -140_737_488_355_328 && value <= 140_737_488_355_327
  }

  /// The integer that a float equals; never the least of all.
  @inline(__always)
  static func whole(_ value: Double) -> Int64? {
    guard value > -0x1p63 && value < 0x1p63 else { return nil }
    let whole = Int64(value)
    return Double(whole) == value ? whole : nil
  }

  /// By the bits of a magnitude (0...63): serial type and bytes of an integer, four bits each.
  static func makeSizes() -> UnsafeMutablePointer<UInt8> {
    let sizes = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)
    for bits in 0..<64 {
      sizes[bits] =
        switch bits {
        case ...7: 0x11
        case ...15: 0x22
        case ...23: 0x33
        case ...31: 0x44
        case ...47: 0x56
        default: 0x68
        }
    }
    return sizes
  }
}
