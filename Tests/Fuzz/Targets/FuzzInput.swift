import UpsurgeRecords

/// The bytes of the fuzzer as choices: each takes a byte from the front; what is left is the content.
struct FuzzInput {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  /// The next byte; 0 when there is none.
  mutating func byte() -> Int { bytes.popFirst().map(Int.init) ?? 0 }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  /// A number of the range, which has at most 256.
  mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + byte() % range.count }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[byte() % elements.count] }

  /// The value in one of four cases, else nil.
  mutating func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? { byte() % 4 == 1 ? value() : nil }

  /// All that is left.
  mutating func rest() -> [UInt8] {
    defer { bytes = [] }
    return Array(bytes)
  }

  /// Small sizes of a batch, from a byte each.
  mutating func sizes() -> Batch.Sizes {
    Batch.Sizes(
      arenaByteCount: pick([
        1, 2, 3, 5, 7, 8, 13, 16, 31, 32, 33, 63, 64, 65, 100, 128, 256, 512, 1_000, 4_096,
      ]),
      cellCount: number(1...64), recordCount: number(1...16))
  }

  /// Room for most inputs as one batch.
  static let roomy = Batch.Sizes(arenaByteCount: 8_192, cellCount: 4_096, recordCount: 1_024)
}
