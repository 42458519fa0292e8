import CScan
import UpsurgeRecords

extension RecordScanner {
  /// The position of the next interesting byte, or `end`.
  @inline(__always)
  mutating func nextPosition() -> Int {
    if nextIndex == positionCount {
      guard indexNextChunk() else { return end }
    }
    let position = Int(positions[nextIndex])
    nextIndex += 1
    return position
  }

  /// Leaves out positions before `offset`: bytes that turned out to be data, or part of a mark.
  @inline(__always)
  mutating func skipPositions(before offset: Int) {
    while true {
      if nextIndex == positionCount {
        guard indexNextChunk() else { return }
      }
      if Int(positions[nextIndex]) >= offset { return }
      nextIndex += 1
    }
  }

  /// Makes the index stand at `offset`, before or behind where it stands.
  mutating func seek(to offset: Int) {
    guard offset >= indexedStart && offset <= indexedEnd else {
      reindex(from: offset)
      return
    }
    while nextIndex > 0 && Int(positions[nextIndex - 1]) >= offset { nextIndex -= 1 }
    while nextIndex < positionCount && Int(positions[nextIndex]) < offset { nextIndex += 1 }
  }

  /// Drops the index and begins another one at `offset`.
  mutating func reindex(from offset: Int) {
    (positionCount, nextIndex) = (0, 0)
    (indexedStart, indexedEnd) = (offset, offset)
  }

  /// Indexes chunks until one has an interesting byte; false at the end of the input.
  @inline(never)
  private mutating func indexNextChunk() -> Bool {
    while indexedEnd < end {
      if let cancellation, cancellation._withUnsafeGuaranteedRef({ $0.isRequested }) { return giveUp() }
      let byteCount = min(CSVScratch.chunkByteCount, end - indexedEnd)
      indexedStart = indexedEnd
      positionCount = upsurge_structural(
        simdLevel, bytes + indexedStart, byteCount, needles, UInt32(truncatingIfNeeded: indexedStart),
        positions)
      nextIndex = 0
      indexedEnd += byteCount
      if positionCount > 0 { return true }
    }
    return false
  }

  /// Ends the scan as if more bytes were needed.
  private mutating func giveUp() -> Bool {
    isFinal = false
    (positionCount, nextIndex) = (0, 0)
    (indexedStart, indexedEnd) = (end, end)
    return false
  }

  /// The first CR or LF at or behind `offset`, or nil.
  func lineEnd(from offset: Int) -> Int? {
    var at = offset
    while at < end {
      if bytes[at] == 0x0A || bytes[at] == 0x0D { return at }
      at += 1
    }
    return nil
  }

  /// Where the line behind a line end starts.
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
