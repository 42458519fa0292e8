import UpsurgeRecords

/// The keys that an index has, as hashes: says surely that a key is new, and almost surely that it is not.
///
/// Open addressing with steps of one; at most five of eight places are taken.
struct KeySet: ~Copyable {
  private var places: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private var count = 0

  init() {
    mask = (1 << 12) - 1
    places = .allocate(capacity: mask + 1)
    places.initialize(repeating: 0, count: mask + 1)
  }

  deinit { places.deallocate() }

  /// Bytes that are allocated.
  var memoryByteCount: Int { (mask + 1) * MemoryLayout<UInt64>.stride }

  /// The most bytes that are allocated while so many keys are added, both tables included while it grows.
  func memoryByteCount(adding keyCount: Int) -> Int {
    var byteCount = memoryByteCount
    var placeCount = mask + 1
    while (count + keyCount) * 8 > placeCount * 5 {
      placeCount *= 2
      byteCount = placeCount * MemoryLayout<UInt64>.stride * 3 / 2
    }
    return byteCount
  }

  /// - Returns: false when it may be there already.
  mutating func insert(_ hash: UInt64) -> Bool {
    if (count + 1) * 8 > (mask + 1) * 5 { grow() }
    let hash = max(hash, 1)
    var place = Int(truncatingIfNeeded: hash >> 7) & mask
    while places[place] != 0 {
      if places[place] == hash { return false }
      place = (place + 1) & mask
    }
    places[place] = hash
    count += 1
    return true
  }

  private mutating func grow() {
    let (old, oldMask) = (places, mask)
    mask = 2 * mask + 1
    places = .allocate(capacity: mask + 1)
    places.initialize(repeating: 0, count: mask + 1)
    for index in 0...oldMask where old[index] != 0 {
      var place = Int(truncatingIfNeeded: old[index] >> 7) & mask
      while places[place] != 0 { place = (place + 1) & mask }
      places[place] = old[index]
    }
    old.deallocate()
  }

  // MARK: - Hashes

  /// The hash of a record's key: keys that are equal in an index have equal ones.
  static func hash(
    _ row: UnsafePointer<Cell>, _ source: BatchBytes, _ columns: [RecordEncoder.Column]
  ) -> UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    for column in columns {
      let index = Int(column.cellIndex)
      let cell = index >= 0 && index < source.cellCount ? row[index] : .null
      switch cell.kind {
      case .absent, .null: mix(&hash, 1)
      case .integer:
        let value = Int64(bitPattern: cell.payload)
        if column.storage == .real { number(Double(value), &hash) } else { integer(value, &hash) }
      case .real: number(Double(bitPattern: cell.payload), &hash)
      case .text, .blob:
        mix(&hash, cell.kind == .text ? 3 : 4)
        bytes(source.start(cell), Int(cell.byteCount), &hash)
      }
    }
    return hash
  }

  /// A float and an integer of the same value are equal.
  private static func number(_ value: Double, _ hash: inout UInt64) {
    if let whole = Int64(exactly: value) {
      integer(whole, &hash)
    } else {
      mix(&hash, 2)
      mix(&hash, value.bitPattern)
    }
  }

  private static func integer(_ value: Int64, _ hash: inout UInt64) {
    mix(&hash, 5)
    mix(&hash, UInt64(bitPattern: value))
  }

  private static func bytes(_ start: UnsafeRawPointer, _ byteCount: Int, _ hash: inout UInt64) {
    var at = 0
    while at + 8 <= byteCount {
      mix(&hash, start.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      at += 8
    }
    var rest = UInt64(byteCount)
    while at < byteCount {
      rest = rest << 8 | UInt64(start.load(fromByteOffset: at, as: UInt8.self))
      at += 1
    }
    mix(&hash, rest)
  }

  @inline(__always)
  private static func mix(_ hash: inout UInt64, _ word: UInt64) {
    let product = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    hash = product.low ^ product.high &* 0x9E37_79B9_7F4A_7C15
  }
}
