import UpsurgeRecords

/// What has keys that are looked at in chunks of 64 bits (see `SortKey`).
protocol KeyChunkSource {
  var partCount: Int { get }

  /// A chunk of a record's key; `depth` counts those of one part.
  func chunk(_ record: UInt32, part: Int, depth: Int) -> UInt64

  /// Whether a part goes on after this chunk of it.
  func goesOn(behind chunk: UInt64, depth: Int) -> Bool
}

/// Sorts records by their keys; those of equal keys stay in the order of the input.
///
/// All records are sorted by the first chunk of their keys (see `SortKey`), then each group with an equal chunk by the
/// next one, and so on. Large groups go by a radix sort, byte by byte from the lowest, in which a byte that all chunks
/// share costs no pass; small ones by comparison. About 60 ns a record of random text.
struct KeySorter<Source: KeyChunkSource> {
  private struct Entry {
    var chunk: UInt64
    var record: UInt32
  }

  private let source: Source
  private let entries: UnsafeMutablePointer<Entry>
  private let other: UnsafeMutablePointer<Entry>
  /// Of each of eight bytes, how often it has each value.
  private let counts: UnsafeMutablePointer<UInt32>
  /// Asked before each large group is sorted.
  private let isGivenUp: () -> Bool
  private var hasEnded = false

  /// Bytes that sorting takes for each record, the order included.
  static var byteCountPerRecord: Int { 2 * MemoryLayout<Entry>.stride + MemoryLayout<UInt32>.stride }

  /// Puts the indexes of records into the order of their keys.
  /// - Parameters:
  ///   - order: the indexes, ascending.
  ///   - isGivenUp: true ends the work, with the order half done.
  /// - Returns: whether they are sorted.
  @discardableResult
  static func sort(
    _ order: UnsafeMutablePointer<UInt32>, count: Int, of source: Source,
    unless isGivenUp: () -> Bool = { false }
  ) -> Bool {
    withoutActuallyEscaping(isGivenUp) { sort(order, count: count, of: source, asking: $0) }
  }

  private static func sort(
    _ order: UnsafeMutablePointer<UInt32>, count: Int, of source: Source,
    asking isGivenUp: @escaping () -> Bool
  ) -> Bool {
    if count == 0 { return true }
    let byteCount = 2 * count * MemoryLayout<Entry>.stride
    let memory = ArenaMemory.allocate(byteCount)
    let entries = UnsafeMutableRawPointer(memory).bindMemory(to: Entry.self, capacity: 2 * count)
    let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: 8 * 256)
    defer {
      ArenaMemory.deallocate(memory, byteCount)
      counts.deallocate()
    }
    var sorter = KeySorter(
      source: source, entries: entries, other: entries + count, counts: counts, isGivenUp: isGivenUp)
    for place in 0..<count { (entries + place).initialize(to: Entry(chunk: 0, record: order[place])) }
    sorter.sort(0..<count, part: 0, depth: 0)
    for place in 0..<count { order[place] = entries[place].record }
    return !sorter.hasEnded
  }

  /// Sorts entries that are equal so far, by the chunks from here on.
  private mutating func sort(_ range: Range<Int>, part: Int, depth: Int) {
    if range.count >= Self.fewestForRadix && isGivenUp() { hasEnded = true }
    if hasEnded { return }
    for place in range {
      entries[place].chunk = source.chunk(entries[place].record, part: part, depth: depth)
    }
    if range.count < Self.fewestForRadix { compare(range) } else { radix(range) }
    var start = range.lowerBound
    while start < range.upperBound {
      let chunk = entries[start].chunk
      var end = start + 1
      while end < range.upperBound, entries[end].chunk == chunk { end += 1 }
      if end - start > 1 {
        if source.goesOn(behind: chunk, depth: depth) {
          sort(start..<end, part: part, depth: depth + 1)
        } else if part + 1 < source.partCount {
          sort(start..<end, part: part + 1, depth: 0)
        }
      }
      start = end
    }
  }

  private static var fewestForRadix: Int { 512 }

  private func compare(_ range: Range<Int>) {
    if range.count > 24 {
      var buffer = UnsafeMutableBufferPointer(start: entries + range.lowerBound, count: range.count)
      buffer.sort { $0.chunk != $1.chunk ? $0.chunk < $1.chunk : $0.record < $1.record }
      return
    }
    for place in range.dropFirst() {
      let entry = entries[place]
      var at = place
      while at > range.lowerBound, entries[at - 1].chunk > entry.chunk {
        entries[at] = entries[at - 1]
        at -= 1
      }
      entries[at] = entry
    }
  }

  private mutating func radix(_ range: Range<Int>) {
    let count = range.count
    counts.update(repeating: 0, count: 8 * 256)
    for place in range {
      var chunk = entries[place].chunk
      for byte in 0..<8 {
        counts[byte << 8 | Int(chunk & 255)] += 1
        chunk >>= 8
      }
    }
    var (from, to) = (entries + range.lowerBound, other + range.lowerBound)
    for byte in 0..<8 {
      let counts = counts + byte << 8
      let shift = UInt64(8 * byte)
      if isGivenUp() {
        hasEnded = true
        break
      }
      if Int(counts[Int(from[0].chunk >> shift & 255)]) == count { continue }
      var sum: UInt32 = 0
      for value in 0..<256 {
        let next = sum + counts[value]
        counts[value] = sum
        sum = next
      }
      for place in 0..<count {
        let value = Int(from[place].chunk >> shift & 255)
        to[Int(counts[value])] = from[place]
        counts[value] += 1
      }
      swap(&from, &to)
    }
    if from != entries + range.lowerBound { to.update(from: from, count: count) }
  }
}
