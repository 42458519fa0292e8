/// Where records are cut so that no key comes twice in a part: one that comes again begins the next one.
///
///     keys      a b c b d a a        parts   a b c | b d a | a
///
/// Keys are bytes of a buffer, and found by a hash table whose entries are numbers of records, so that nothing is allocated for one.
package struct KeySegments {
  /// The numbers at which a part begins, but for the first one.
  package private(set) var cuts: [Int] = []
  private var slots: [Int32] = []
  private var places: [Place] = []
  private var first = 0

  private struct Place {
    var hash: UInt64
    var start: Int
    var count: Int
  }

  package init() {}

  /// Forgets all records.
  package mutating func reset() {
    cuts.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    for index in slots.indices { slots[index] = -1 }
    first = 0
  }

  /// Takes the key of the next record.
  /// - Parameters:
  ///   - key: where its bytes are in `bytes`, which only grows until the next `reset`.
  package mutating func add(_ key: Range<Int>, of bytes: UnsafeRawBufferPointer) {
    let number = places.count
    let part = UnsafeRawBufferPointer(rebasing: bytes[key])
    let hash = Self.hash(part)
    places.append(Place(hash: hash, start: key.lowerBound, count: key.count))
    if places.count * 2 > slots.count { grow() }
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] >= 0 {
      let other = places[Int(slots[slot])]
      if other.hash == hash, other.count == key.count,
        part.isSame(as: UnsafeRawBufferPointer(rebasing: bytes[other.start..<other.start + other.count]))
      {
        if Int(slots[slot]) >= first {
          cuts.append(number)
          first = number
        }
        slots[slot] = Int32(truncatingIfNeeded: number)
        return
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    slots[slot] = Int32(truncatingIfNeeded: number)
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: -1, count: max(1024, old.count * 2))
    // Only the last record of each key is in the table.
    for number in old where number >= 0 {
      var slot = Int(truncatingIfNeeded: places[Int(number)].hash) & (slots.count - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = number
    }
  }

  /// The cuts of pairs of records with the same key, as the server finds them: each with the one before it.
  package static func cuts(of pairs: [(number: Int, before: Int)]) -> [Int] {
    var (cuts, first): ([Int], Int) = ([], 0)
    for pair in pairs where pair.before >= first {
      cuts.append(pair.number)
      first = pair.number
    }
    return cuts
  }

  /// Eight bytes at a time, each mixed by a step of MurmurHash3's end: numbers are sent with their most significant byte first, so
  /// that all differences are in the upper bits, and the table looks at the lower ones.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(truncatingIfNeeded: bytes.count)
    var index = 0
    while index + 8 <= bytes.count {
      hash = mixed(hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    var rest: UInt64 = 0
    while index < bytes.count {
      rest = rest << 8 | UInt64(bytes[index])
      index += 1
    }
    return mixed(hash ^ rest)
  }

  @inline(__always)
  private static func mixed(_ value: UInt64) -> UInt64 {
    let first = (value ^ value >> 33) &* 0xFF51_AFD7_ED55_8CCD
    let second = (first ^ first >> 33) &* 0xC4CE_B9FE_1A85_EC53
    return second ^ second >> 33
  }
}
