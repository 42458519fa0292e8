import CScan
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension JSONParser {
  /// A line that is too large for memory, whose end was not seen yet.
  struct DroppedLine {
    var position: Position
    /// The first bytes of the line.
    var raw: [UInt8]
    var byteCount: UInt64
    var limit: Int
  }

  /// What is known of the line in work.
  struct LineProgress {
    /// How far the end of the line was looked for that begins at `sourceOffset`.
    var searched: (sourceOffset: UInt64, byteCount: Int)?
    var dropped: DroppedLine?
    /// Arena offset of the next value, where several stand on the line.
    var nextValue: Int?
  }

  /// Reads NDJSON: a value a line.
  mutating func parseLines(_ batch: inout Batch, isFinal: Bool) throws(UpsurgeError) {
    if lineProgress.dropped != nil && !finishDroppedLine(&batch, isFinal: isFinal) { return }
    let base = UnsafePointer(batch.arena)
    while Self.hasRoom(batch) && batch.parsedByteCount < batch.arenaByteCount {
      let start = base + batch.parsedByteCount
      let rest = batch.arenaByteCount - batch.parsedByteCount
      var end = start + rest
      var hasLineEnd = false
      let searched = searchedByteCount(of: batch)
      if let found = memchr(start + searched, 0x0A, rest - searched) {
        end = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
        hasLineEnd = true
      } else if !isFinal {
        lineProgress.searched = (batch.origin.sourceOffset + UInt64(batch.parsedByteCount), rest)
        return
      }
      let next = hasLineEnd ? end + 1 : end
      if end > start && (end - 1).pointee == 0x0D { end -= 1 }
      if try !readLine(start, end, &batch) { return }
      if lineProgress.nextValue != nil, try !readRest(ofLineTo: end, &batch) { return }
      batch.parsedByteCount = next - base
      if hasLineEnd { line += 1 }
    }
    if isFinal && batch.parsedByteCount == batch.arenaByteCount { try addHeaderColumns(&batch) }
  }

  /// Bytes of the next line that are known to hold no line end, from when there were fewer of it.
  @inline(__always)
  private func searchedByteCount(of batch: borrowing Batch) -> Int {
    guard batch.recordCount == 0, let line = lineProgress.searched,
      line.sourceOffset == batch.origin.sourceOffset + UInt64(batch.parsedByteCount)
    else { return 0 }
    return min(line.byteCount, batch.arenaByteCount - batch.parsedByteCount)
  }

  /// Reads one line.
  /// - Returns: false when the batch must be closed before it.
  private mutating func readLine(
    _ lineStart: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ batch: inout Batch
  ) throws(UpsurgeError) -> Bool {
    var start: UnsafePointer<UInt8> = upsurge_json_skip_space(lineStart, end)
    if start < end && start.pointee != UInt8(ascii: "{") { start = skipMarks(start, end, batch) }
    if start == end {
      let place = position(of: lineStart, batch)
      let blank = Position(file: file, line: place.line, byte: place.byte)
      newWarnings.add(.blankLine, at: blank)
      return true
    }
    switch try readRecord(start, end: end, &batch) {
    case .needsNewBatch, .cancelled:
      lineProgress.nextValue = nil
      return false
    case .header, .stored: return true
    case .rejected:
      reject(start, lineProgress.nextValue.map { UnsafePointer(batch.arena) + $0 } ?? end, &batch)
      return true
    case .failed:
      // The mark of a text sequence begins the next record, whatever became of the one before (RFC 7464).
      let next = dialect.allowsSequence ? separator(after: start, before: end) : nil
      lineProgress.nextValue = next.map { $0 - UnsafePointer(batch.arena) }
      reject(start, next ?? end, &batch)
      return true
    }
  }

  private func separator(
    after start: UnsafePointer<UInt8>, before end: UnsafePointer<UInt8>
  ) -> UnsafePointer<UInt8>? {
    guard end - start > 1 else { return nil }
    return memchr(start + 1, Int32(Self.recordSeparator), end - start - 1).map {
      UnsafePointer($0.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// Reads the values that follow the first one of a line.
  /// - Returns: false when the batch must be closed before one.
  private mutating func readRest(
    ofLineTo end: UnsafePointer<UInt8>, _ batch: inout Batch
  ) throws(UpsurgeError) -> Bool {
    while let next = lineProgress.nextValue {
      lineProgress.nextValue = nil
      batch.parsedByteCount = next
      if !Self.hasRoom(batch) { return false }
      if try !readLine(UnsafePointer(batch.arena) + next, end, &batch) { return false }
    }
    return true
  }

  /// Begins to drop a line that is larger than memory allows.
  mutating func dropLine(_ batch: inout Batch, limit: Int) {
    let start = UnsafePointer(batch.arena) + batch.parsedByteCount
    let count = batch.arenaByteCount - batch.parsedByteCount
    lineProgress.dropped = DroppedLine(
      position: position(of: start, batch),
      raw: Array(UnsafeBufferPointer(start: start, count: min(count, Reject.rawByteLimit))), byteCount: 0,
      limit: limit)
    recordNumber += 1
    _ = finishDroppedLine(&batch, isFinal: false)
  }

  /// Drops bytes up to the line's end; the reject follows when its size is known.
  /// - Returns: Whether the end was found.
  private mutating func finishDroppedLine(_ batch: inout Batch, isFinal: Bool) -> Bool {
    guard var dropped = lineProgress.dropped else { return true }
    let start = UnsafePointer(batch.arena) + batch.parsedByteCount
    let rest = batch.arenaByteCount - batch.parsedByteCount
    let found = rest > 0 ? memchr(start, 0x0A, rest) : nil
    let count = found.map { UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) - start } ?? rest
    dropped.byteCount += UInt64(count)
    batch.parsedByteCount += found == nil ? count : count + 1
    if found == nil && !isFinal {
      lineProgress.dropped = dropped
      return false
    }
    line += found == nil ? 0 : 1
    lineProgress.dropped = nil
    let mebibytes = (dropped.byteCount * 4 + (1 << 20) - 1) >> 20
    var reject = dropped.raw.withUnsafeBufferPointer { raw in
      Reject(
        .tooLarge, at: dropped.position,
        reason:
          "the record has \(dropped.byteCount) bytes, more than the \(dropped.limit) of a quarter of \(.memory); "
          + "\(.memory, "\(mebibytes)MiB") has room for it", raw: raw)
    }
    reject.isRawCut = dropped.byteCount > UInt64(Reject.rawByteLimit)
    batch.take(reject)
    return true
  }
}
