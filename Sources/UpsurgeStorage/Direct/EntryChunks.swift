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

  @inline(__always)
  func chunk(_ record: UInt32, part: Int, depth: Int) -> UInt64 {
    EntryChunks.chunk(of: bytes + Int(offsets[Int(record)]), part: part, depth: depth)
  }

  @inline(__always)
  func goesOn(behind chunk: UInt64, depth: Int) -> Bool { EntryChunks.goesOn(chunk, depth) }

  @inline(__always)
  private static func goesOn(_ chunk: UInt64, _ depth: Int) -> Bool {
    KeyChunks.goesOn(chunk) || chunk >> 62 == 1 && depth == 0
  }

  // MARK: - One entry

  /// Bytes of an entry.
  static func byteCount(of entry: UnsafeRawPointer) -> Int {
    var at = entry
    let payload = Int(truncatingIfNeeded: Varint.read(&at))
    return at - entry + payload
  }

  /// Less than 0 where the first one's key comes first; 0 where they are equal to SQLite.
  static func compare(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer, partCount: Int) -> Int {
    for part in 0..<partCount {
      var depth = 0
      while true {
        let left = chunk(of: first, part: part, depth: depth)
        let right = chunk(of: second, part: part, depth: depth)
        if left != right { return left < right ? -1 : 1 }
        if !goesOn(left, depth) { break }
        depth += 1
      }
    }
    return 0
  }

  /// A chunk of an entry's key; `depth` counts those of one part.
  static func chunk(of entry: UnsafeRawPointer, part: Int, depth: Int) -> UInt64 {
    var at = entry
    _ = Varint.read(&at)
    let header = at
    let headerByteCount = Int(Varint.read(&at))
    var value = header + headerByteCount
    var type = Varint.read(&at)
    for _ in 0..<part {
      value += EntryChunks.byteCount(type)
      type = Varint.read(&at)
    }
    switch type {
    case 0: return 0
    case 1...6: return EntryChunks.number(EntryChunks.readInteger(value, type), depth)
    case 7: return EntryChunks.number(Double(bitPattern: EntryChunks.readWord(value, 8)), depth)
    case 8, 9: return EntryChunks.number(Int64(type) - 8, depth)
    default:
      let tag: UInt64 = type & 1 == 1 ? 2 << 62 : 3 << 62
      return tag | KeyChunks.bytes(value, EntryChunks.byteCount(type), depth: depth)
    }
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
  private static func lower(_ value: Double) -> UInt64 { (KeyChunks.ordered(value) & 3) << 16 }

  // MARK: - The record format (https://www.sqlite.org/fileformat2.html#record_format)

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
