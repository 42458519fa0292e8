import UpsurgeRecords

/// Records that are larger than memory allows: the first line of one is a reject, and parsing goes on after it.
extension CSVParser {
  /// A record whose first line is being dropped.
  struct DroppedRecord {
    var position: Position
    /// The first bytes of the record.
    var raw: [UInt8]
    var byteCount: Int
    var limit: Int
  }

  package mutating func rejectTooLarge(_ batch: inout Batch, limit: Int) throws(UpsurgeError) {
    let start = batch.parsedByteCount
    let bytes = UnsafeBufferPointer(start: batch.arena + start, count: batch.arenaByteCount - start)
    if headersToSkip > 0 {
      throw UpsurgeError(
        .badInput, "the header is larger than \(limit) bytes", position: position(ofByte: start, in: batch),
        hint:
          "\(.memory, Self.memory(for: 2 * bytes.count)) for a larger one; \(.quote, "none") if a quote is never closed"
      )
    }
    recordCount += 1
    let lineEnd = bytes.firstIndex { $0 == 0x0A || $0 == 0x0D }
    let record = DroppedRecord(
      position: recordPosition(in: batch),
      raw: Array(bytes[..<(lineEnd ?? bytes.count)].prefix(Reject.rawByteLimit + 1)),
      byteCount: lineEnd ?? bytes.count, limit: limit)
    // The next call drops the line end, and the rest of the line where it is not there yet.
    linesToSkip = 1
    batch.parsedByteCount = lineEnd.map { start + $0 } ?? batch.arenaByteCount
    if lineEnd == nil {
      dropped = record
    } else {
      // It goes on after its first line, for nobody knows how long.
      let memory = Self.memory(for: 2 * bytes.count)
      batch.take(
        reject(
          record,
          "the record is larger than the \(limit) bytes of a quarter of \(.memory); \(.memory, memory) for larger ones, \(.quote, "none") if a quote is never closed"
        ))
    }
    if !tally.isEmpty { tally.move(to: &batch.warnings, naming: columns, file: file) }
  }

  /// Counts more bytes of the record that is being dropped.
  mutating func drop(_ byteCount: Int) { dropped?.byteCount += byteCount }

  /// Makes a reject of the record that is being dropped, once its line, or the input, has ended.
  mutating func finishDropped(_ batch: inout Batch) {
    guard let record = dropped else { return }
    dropped = nil
    let memory = Self.memory(for: record.byteCount + 1)
    batch.take(
      reject(
        record,
        "the record has \(record.byteCount) bytes, more than the \(record.limit) of a quarter of \(.memory); "
          + "\(.memory, memory) has room for it"))
  }

  private func reject(_ record: DroppedRecord, _ reason: Wording) -> Reject {
    record.raw.withUnsafeBufferPointer { raw in
      Reject(.tooLarge, at: record.position, reason: reason, raw: raw)
    }
  }

  /// A record may take a quarter of the memory.
  private static func memory(for byteCount: Int) -> String { "\((4 * byteCount + (1 << 20) - 1) >> 20)MiB" }
}
