import CScan
import UpsurgeRecords

extension RecordScanner {
  /// The position of the next interesting byte, or `end`.
  @inline(__always)
  mutating func nextPosition() -> Int {
    if index.next == index.count {
      guard indexNextChunk() else { return end }
    }
    let position = Int(index.positions[index.next])
    index.next += 1
    return position
  }

  /// Leaves out positions before `offset`: bytes that turned out to be data, or part of a mark.
  @inline(__always)
  mutating func skipPositions(before offset: Int) {
    while true {
      if index.next == index.count {
        guard indexNextChunk() else { return }
      }
      if Int(index.positions[index.next]) >= offset { return }
      index.next += 1
    }
  }

  /// Makes the index stand at `offset`, before or after where it stands.
  mutating func seek(to offset: Int) {
    guard offset >= index.start && offset <= index.end else {
      reindex(from: offset)
      return
    }
    while index.next > 0 && Int(index.positions[index.next - 1]) >= offset { index.next -= 1 }
    while index.next < index.count && Int(index.positions[index.next]) < offset { index.next += 1 }
  }

  /// Drops the index and begins another one at `offset`.
  mutating func reindex(from offset: Int) {
    (index.count, index.next) = (0, 0)
    (index.start, index.end) = (offset, offset)
  }

  /// Indexes chunks until one has an interesting byte; false at the end of the input.
  @inline(never)
  private mutating func indexNextChunk() -> Bool {
    while index.end < end {
      if let cancellation, cancellation._withUnsafeGuaranteedRef({ $0.isRequested }) { return giveUp() }
      let byteCount = min(CSVScratch.chunkByteCount, end - index.end)
      index.start = index.end
      index.count = upsurge_structural(
        index.simdLevel, bytes + index.start, byteCount, index.needles,
        UInt32(truncatingIfNeeded: index.start),
        index.positions)
      index.next = 0
      index.end += byteCount
      if index.count > 0 { return true }
    }
    return false
  }

  /// Ends the scan as if more bytes were needed.
  private mutating func giveUp() -> Bool {
    isFinal = false
    (index.count, index.next) = (0, 0)
    (index.start, index.end) = (end, end)
    return false
  }

  /// The first CR or LF at or after `offset`, or nil.
  func lineEnd(from offset: Int) -> Int? {
    var at = offset
    while at < end {
      if bytes[at] == 0x0A || bytes[at] == 0x0D { return at }
      at += 1
    }
    return nil
  }

  /// Where the line after a line end starts.
  func lineStart(after lineEnd: Int) -> Int {
    let isPair = bytes[lineEnd] == 0x0D && lineEnd + 1 < end && bytes[lineEnd + 1] == 0x0A
    return lineEnd + (isPair ? 2 : 1)
  }

  /// Line ends (LF, CRLF, CR) in a range of the input.
  func lineCount(from start: Int, to stop: Int) -> UInt64 {
    var count: UInt64 = 0
    var at = start
    while at < stop {
      if bytes[at] == 0x0A || bytes[at] == 0x0D {
        count += 1
        at = lineStart(after: at)
      } else {
        at += 1
      }
    }
    return count
  }
}
