/// The chunks of index entries' keys, as a tree's leaves take them: like those of `SortKey`, and exact. A number has two:
///
///     depth 0   1 in bits 63 and 62, then the upper 62 bits of the double, made to compare as an integer
///     depth 1   the lower two bits, then what an integer is more than its double
///
/// So entries whose chunks are all equal have keys that are equal to SQLite.
struct EntryChunks: KeyChunkSource {
  let bytes: UnsafePointer<UInt8>
  let offsets: UnsafePointer<UInt32>
  let partCount: Int

  func chunk(_ record: UInt32, part: Int, depth: Int) -> UInt64 {
    var at = UnsafeRawPointer(bytes + Int(offsets[Int(record)]))
    _ = EntryChunks.readVarint(&at)
    let header = at
    let headerByteCount = Int(EntryChunks.readVarint(&at))
    var value = header + headerByteCount
    var type = EntryChunks.readVarint(&at)
    for _ in 0..<part {
      value += EntryChunks.byteCount(type)
      type = EntryChunks.readVarint(&at)
    }
    switch type {
    case 0: return 0
    case 1...6: return EntryChunks.number(EntryChunks.readInteger(value, type), depth)
    case 7: return EntryChunks.number(Double(bitPattern: EntryChunks.readWord(value, 8)), depth)
    case 8, 9: return EntryChunks.number(Int64(type) - 8, depth)
    default:
      let tag: UInt64 = type & 1 == 1 ? 2 << 62 : 3 << 62
      return tag | EntryChunks.chunk(value, EntryChunks.byteCount(type), depth)
    }
  }

  @inline(__always)
  func goesOn(behind chunk: UInt64, depth: Int) -> Bool {
    if chunk >> 63 == 1 { return chunk & 15 == 8 }
    return chunk >> 62 == 1 && depth == 0
  }

  // MARK: - Values

  private static func number(_ value: Int64, _ depth: Int) -> UInt64 {
    let double = Double(value)
    if depth == 0 { return KeyChunks.number(double) }
    let more = double >= 0x1p63 ? (value - .max) - 1 : value - Int64(double)
    return lower(double) | UInt64(more + 2048)
  }

  private static func number(_ value: Double, _ depth: Int) -> UInt64 {
    depth == 0 ? KeyChunks.number(value) : lower(value) | 2048
  }

  /// The two bits of a double that `KeyChunks.number` leaves out.
  private static func lower(_ value: Double) -> UInt64 {
    let bits = (value + 0).bitPattern
    let ordered = bits >> 63 == 1 ? ~bits : bits | 1 << 63
    return (ordered & 3) << 16
  }

  /// Seven bytes from a place on, and how many there are from there, 8 for more than seven.
  private static func chunk(_ value: UnsafeRawPointer, _ byteCount: Int, _ depth: Int) -> UInt64 {
    let start = value + 7 * depth
    let count = byteCount - 7 * depth
    if count >= 8 { return (UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)) >> 8) << 4 | 8 }
    var word: UInt64 = 0
    for index in 0..<count {
      word |= UInt64(start.load(fromByteOffset: index, as: UInt8.self)) << UInt64(48 - 8 * index)
    }
    return word << 4 | UInt64(count)
  }

  // MARK: - The record format (https://www.sqlite.org/fileformat2.html#record_format)

  @inline(__always)
  private static func readVarint(_ at: inout UnsafeRawPointer) -> UInt64 {
    var value: UInt64 = 0
    for _ in 0..<8 {
      let byte = at.load(as: UInt8.self)
      at += 1
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return value }
    }
    let byte = at.load(as: UInt8.self)
    at += 1
    return value << 8 | UInt64(byte)
  }

  @inline(__always)
  private static func byteCount(_ type: UInt64) -> Int {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    default: Int(type - 12) / 2
    }
  }

  private static func readInteger(_ value: UnsafeRawPointer, _ type: UInt64) -> Int64 {
    let count = byteCount(type)
    let shift = UInt64(64 - 8 * count)
    return Int64(bitPattern: readWord(value, count) << shift) >> Int64(shift)
  }

  private static func readWord(_ value: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in 0..<byteCount {
      word = word << 8 | UInt64(value.load(fromByteOffset: index, as: UInt8.self))
    }
    return word
  }
}
