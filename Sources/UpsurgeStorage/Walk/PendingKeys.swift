import UpsurgeRecords

/// The keys of records that are not stored yet; may take another key for one of them, but overlooks none.
///
/// A record that equals its row may be left out only where no earlier record about the same row still waits: that one
/// will change the row, and the later one must change it back.
struct PendingKeys: ~Copyable {
  private let words: UnsafeMutablePointer<UInt64>
  private let wordCount: Int
  /// Whether a key is noted of which only SQLite knows what it equals.
  private var holdsUnknown = false
  /// Whether no key is noted.
  private(set) var isEmpty = true

  /// - Parameter recordCount: as many as may be noted.
  init(recordCount: Int) {
    var count = 16
    // 16 bits a record: of 100 other keys about one is taken for a pending one.
    while count * 4 < recordCount { count *= 2 }
    wordCount = count
    words = .allocate(capacity: count)
    words.initialize(repeating: 0, count: count)
  }

  deinit { words.deallocate() }

  /// Bytes that are allocated for each record, about.
  static let byteCountPerRecord = 4

  mutating func removeAll() {
    if isEmpty { return }
    words.update(repeating: 0, count: wordCount)
    (isEmpty, holdsUnknown) = (true, false)
  }

  /// Notes a key of which only SQLite knows what it equals: from then on, any key may be there.
  mutating func insertUnknown() { (isEmpty, holdsUnknown) = (false, true) }

  mutating func insert(_ hash: UInt64) {
    isEmpty = false
    let (first, second) = places(hash)
    words[first >> 6] |= 1 << UInt64(first & 63)
    words[second >> 6] |= 1 << UInt64(second & 63)
  }

  func mayContain(_ hash: UInt64) -> Bool {
    if isEmpty || holdsUnknown { return holdsUnknown }
    let (first, second) = places(hash)
    return words[first >> 6] >> UInt64(first & 63) & 1 == 1
      && words[second >> 6] >> UInt64(second & 63) & 1 == 1
  }

  private func places(_ hash: UInt64) -> (Int, Int) {
    let mask = UInt64(wordCount * 64 - 1)
    return (Int(hash & mask), Int(hash >> 32 & mask))
  }
}

extension KeyChunks {
  /// A hash of a record's key; keys that are equal to SQLite have equal hashes.
  func hash(_ record: Int) -> UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    for part in 0..<partCount {
      var depth = 0
      while true {
        let chunk = chunk(UInt32(truncatingIfNeeded: record), part: part, depth: depth)
        hash = (hash ^ chunk) &* 0xD6E8_FEB8_6659_FD93
        hash ^= hash >> 32
        if !goesOn(behind: chunk, depth: depth) { break }
        depth += 1
      }
    }
    return hash
  }
}
