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
        part.elementsEqual(UnsafeRawBufferPointer(rebasing: bytes[other.start..<other.start + other.count]))
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

  /// FNV-1a over eight bytes at a time, mixed.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var index = 0
    while index + 8 <= bytes.count {
      hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
      index += 8
    }
    while index < bytes.count {
      hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3
      index += 1
    }
    return hash ^ (hash >> 32)
  }
}
