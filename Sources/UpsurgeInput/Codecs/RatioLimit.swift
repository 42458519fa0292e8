import UpsurgeRecords

/// Ends the reading of a decompression bomb: a small file that becomes more text than anybody has stored on purpose.
///
/// Text that says the same thing over and over is no bomb yet, so nothing is refused before 64 MiB, which a load takes
/// in a second. gzip cannot go beyond 1,032; zstd reaches 32,000 with zeros and 10,000 with lines that are all alike,
/// where tables that hold data stay below 100.
struct RatioLimit: Sendable {
  /// How many bytes may come out of one that goes in.
  let ratio: Double
  /// Where the counting began.
  private var decodedBefore: UInt64 = 0
  private var readBefore: UInt64 = 0

  init(ratio: Double) { self.ratio = ratio }

  /// Decoded bytes that are never refused.
  static let freeByteCount: UInt64 = 64 << 20

  /// Counts from another place in the source on.
  mutating func begin(decodedByteCount: UInt64, readByteCount: UInt64) {
    decodedBefore = decodedByteCount
    readBefore = readByteCount
  }

  /// - Parameters:
  ///   - decodedByteCount: bytes that came out so far, those before the beginning included.
  ///   - readByteCount: bytes of the file that were read so far.
  /// - Throws: `badInput`.
  @inline(__always)
  func check(name: String, decodedByteCount: UInt64, readByteCount: UInt64) throws(UpsurgeError) {
    let decoded = decodedByteCount &- decodedBefore
    if decoded <= RatioLimit.freeByteCount { return }
    let read = readByteCount &- readBefore
    if Double(decoded) > ratio * Double(max(read, 1)) {
      throw error(name, decoded, read, at: decodedByteCount)
    }
  }

  @inline(never)
  private func error(_ name: String, _ decoded: UInt64, _ read: UInt64, at byte: UInt64) -> UpsurgeError {
    let found = decoded / max(read, 1)
    return UpsurgeError(
      .badInput,
      "\(SourceName.shown(name)) grows like a decompression bomb: \(read) bytes read became \(decoded), "
        + "\(found) times as many, and \(.maxRatio) is \(RatioLimit.text(ratio))",
      position: Position(file: name, byte: byte),
      hint:
        "\(.maxRatio, found * 4) reads on if it is meant to be so repetitive; \(.maxRatio, "none") sets no bound"
    )
  }

  /// `10000`, `2.5`.
  private static func text(_ ratio: Double) -> String {
    Int(exactly: ratio).map(String.init) ?? "\(ratio)"
  }
}
