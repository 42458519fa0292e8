/// Which slots of a plan a record speaks of, as bits; records of one shape share their statements.
package struct SlotShape: Hashable {
  package var words: [UInt64]

  /// All `count` slots present.
  package init(full count: Int) {
    words = Array(repeating: 0, count: (count + 63) / 64)
    for slot in 0..<count { insert(slot) }
  }

  @inline(__always)
  package func contains(_ slot: Int) -> Bool { words[slot >> 6] & (1 << UInt64(slot & 63)) != 0 }

  @inline(__always)
  mutating func insert(_ slot: Int) { words[slot >> 6] |= 1 << UInt64(slot & 63) }

  @inline(__always)
  package mutating func remove(_ slot: Int) { words[slot >> 6] &= ~(1 << UInt64(slot & 63)) }
}
