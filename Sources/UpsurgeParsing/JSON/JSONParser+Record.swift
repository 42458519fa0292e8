import CScan
import UpsurgeRecords

extension JSONParser {
  /// How the reading of one record ended.
  enum Outcome {
    /// The record is in the batch; the pointer is the byte after it.
    case stored(UnsafePointer<UInt8>)
    /// The record is a reject for a reason that lets its end be known.
    case rejected(UnsafePointer<UInt8>)
    /// The record was the header of array records.
    case header(UnsafePointer<UInt8>)
    /// Columns appeared and the batch has records: it is closed, and the record is read again.
    case needsNewBatch
    /// The record cannot be read; `fault` says why.
    case failed
    /// Reading was cancelled inside the record.
    case cancelled
  }

  /// As `Batch.hasRoomForRecord`, without a call for each record.
  @inline(__always)
  static func hasRoom(_ batch: borrowing Batch) -> Bool {
    batch.recordCount < batch.recordCapacity && !batch.isClosed
      && (batch.recordCount + 1) * batch.columnCount <= batch.cellCapacity
  }

  /// Reads the record that begins at `start` into the batch.
  mutating func readRecord(
    _ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, _ batch: inout Batch
  ) throws(UpsurgeError) -> Outcome {
    keys.trim()
    while true {
      record.readingNumber += 1
      let row = batch.cells + batch.recordCount * batch.columnCount
      row.update(repeating: .absent, count: batch.columnCount)
      var frame = JSONFrame(
        base: UnsafePointer(batch.arena), end: end, limit: UnsafePointer(batch.arena) + batch.arenaByteCount,
        row: row, columnCount: batch.columnCount, spill: batch.spill, spillByteCount: batch.spillByteCount,
        spillCapacity: batch.spillCapacity, reading: record.readingNumber,
        depth: dialect.format == .json ? Int(document.machine.depth) : 0)
      if record.fault != nil { record.fault = nil }
      record.filledCount = 0
      record.blobByteCount = 0
      record.missingSpillByteCount = 0
      record.isKeyRepeated = false
      if !record.newNames.isEmpty { record.newNames.removeAll() }
      if !record.pendingWarnings.isEmpty { record.pendingWarnings.removeAll() }
      if shape == .unknown && start.pointee == UInt8(ascii: "[") {
        if try !hasGivenNames(start, &frame) {
          let next = try readHeader(start, &frame, at: position(of: start, batch))
          batch.elementNames = header.names
          return next.map { .header($0) } ?? unread
        }
        if record.fault != nil { return unread }
        batch.elementNames = header.names
      }
      guard let next = readByShape(start, &frame) else { return unread }
      if let mapName = record.mapName { try storeMapName(mapName, &frame, batch) }
      if !endsLine(next, frame) { return .failed }
      if record.fault != nil { return .rejected(next) }
      if shape == .unknown { shape = .objects }
      if record.missingSpillByteCount > 0 {
        askForSpill(start, frame, &batch)
        return .needsNewBatch
      }
      if record.newNames.count == 0 {
        accept(start, next, frame, &batch)
        return .stored(next)
      }
      try addPendingColumns(at: position(of: start, batch))
      if batch.recordCount > 0 {
        batch.isClosed = true
        return .needsNewBatch
      }
      begin(&batch)
    }
  }

  /// The outcome of a record that was not read to its end.
  private var unread: Outcome { record.fault?.kind == .cancelled ? .cancelled : .failed }

  /// Objects and arrays as the first record decided; anything else is a soft fault after the value.
  private mutating func readByShape(
    _ start: UnsafePointer<UInt8>, _ frame: inout JSONFrame
  ) -> UnsafePointer<UInt8>? {
    let first = start.pointee
    if frame.depth >= dialect.maximumDepth && (first == UInt8(ascii: "{") || first == UInt8(ascii: "[")) {
      return fail(UPSURGE_JSON_TOO_DEEP, at: start)
    }
    if first == UInt8(ascii: "{") && shape != .arrays {
      return readObject(start, &frame)
    }
    if first == UInt8(ascii: "[") && shape == .arrays { return readArray(start, &frame) }
    var token = upsurge_json_token()
    guard skipNested(start, frame, depth: frame.depth, &token) else { return nil }
    record.fault = JSONFault(kind: .notAnObject(mismatch(first)), at: start)
    return token.next
  }

  /// Whether nothing but white space follows a value on its line; always true in a document.
  mutating func endsLine(_ next: UnsafePointer<UInt8>, _ frame: JSONFrame) -> Bool {
    if dialect.format == .json { return true }
    let rest: UnsafePointer<UInt8> = upsurge_json_skip_space(next, frame.end)
    if rest >= frame.end || startsNextValue(rest, frame) { return true }
    record.fault = JSONFault(kind: .kernel(UPSURGE_JSON_TRAILING), at: rest)
    return false
  }

  private func mismatch(_ first: UInt8) -> String {
    let found =
      switch first {
      case UInt8(ascii: "{"): "an object"
      case UInt8(ascii: "["): "an array"
      case UInt8(ascii: "\""): "a string"
      case UInt8(ascii: "t"), UInt8(ascii: "f"): "true or false"
      case UInt8(ascii: "n"): "null"
      default: "a number"
      }
    return shape == .arrays
      ? "expected an array like the records before it, found \(found)" : "expected an object, found \(found)"
  }

  /// Makes the record part of the batch, with its warnings.
  private mutating func accept(
    _ start: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>, _ frame: JSONFrame, _ batch: inout Batch
  ) {
    recordNumber += 1
    batch.records[batch.recordCount] = RecordPosition(
      arenaOffset: start - frame.base, byteCount: next - start, line: line(of: start, batch),
      number: recordNumber)
    batch.recordCount += 1
    batch.spillByteCount = frame.spillByteCount
    if record.filledCount + columnCountFilledLater < frame.columnCount { batch.hasAbsentCells = true }
    if record.pendingWarnings.isEmpty && leftOut.isEmpty { return }
    let place = batch.position(of: batch.recordCount - 1, file: file)
    countLeftOutKeys(at: place)
    record.pendingWarnings.forEach { code, column, count in
      newWarnings.add(code, column: column, count: count, at: place)
    }
  }

  /// Makes a reject of the record whose bytes are given.
  mutating func reject(
    _ start: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>, _ batch: inout Batch
  ) {
    guard let fault = record.fault else { return }
    let place = position(of: start, batch)
    recordNumber += 1
    countLeftOutKeys(at: place)
    batch.take(
      Reject(
        fault.code, at: place, column: fault.column,
        reason: fault.reason(end: next, unit: "record", offset: fault.at - start), hint: fault.hint,
        raw: UnsafeBufferPointer(start: start, count: next - start)))
  }

  /// The position of the next record, which begins at `start`.
  func position(of start: UnsafePointer<UInt8>, _ batch: borrowing Batch) -> Position {
    Position(
      file: file, record: recordNumber + 1, line: line(of: start, batch),
      byte: batch.origin.sourceOffset + UInt64(start - UnsafePointer(batch.arena)))
  }

  /// The line on which a byte at or after `batch.parsedByteCount` stands.
  func line(of place: UnsafePointer<UInt8>, _ batch: borrowing Batch) -> UInt64 {
    line + upsurge_json_count_lines(UnsafePointer(batch.arena) + batch.parsedByteCount, place)
  }
}
