import UpsurgePlan

/// What is asked for each record. Stands here because calls into another module are never inlined.
extension SlotShape {
  /// As `contains`.
  @inline(__always)
  func has(_ slot: Int) -> Bool { words[slot >> 6] & (1 << UInt64(slot & 63)) != 0 }

  /// As `remove`.
  @inline(__always)
  mutating func leaveOut(_ slot: Int) { words[slot >> 6] &= ~(1 << UInt64(slot & 63)) }
}
