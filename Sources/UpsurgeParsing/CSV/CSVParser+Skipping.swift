import UpsurgeRecords

extension CSVParser {
  /// What stood where a record might have started.
  enum NonRecord {
    /// A record does.
    case none
    /// Something that is no record, and is past now.
    case skipped
    /// More bytes are needed.
    case incomplete
  }

  /// UTF-8's mark.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Steps over UTF-8's mark at the start of a stream.
  /// - Returns: false when more bytes are needed.
  mutating func skipByteOrderMark(_ batch: inout Batch, _ scanner: RecordScanner) -> Bool {
    if !isAtStreamStart { return true }
    let mark = Self.byteOrderMark
    let start = batch.parsedByteCount
    let byteCount = min(mark.count, scanner.end - start)
    for index in 0..<byteCount where scanner.bytes[start + index] != mark[index] {
      isAtStreamStart = false
      return true
    }
    guard byteCount == mark.count else { return scanner.isFinal }
    batch.parsedByteCount += mark.count
    isAtStreamStart = false
    return true
  }

  /// Drops `linesToSkip` lines, as far as they are there.
  /// - Returns: false when the arena is used up.
  mutating func skipLines(_ batch: inout Batch, _ scanner: RecordScanner) -> Bool {
    while linesToSkip > 0 {
      guard let lineEnd = scanner.lineEnd(from: batch.parsedByteCount) else {
        drop(scanner.end - batch.parsedByteCount)
        batch.parsedByteCount = scanner.end
        if scanner.isFinal { finishDropped(&batch) }
        return false
      }
      drop(lineEnd - batch.parsedByteCount)
      guard scanner.isLineEndWhole(lineEnd) else {
        batch.parsedByteCount = lineEnd
        return false
      }
      finishDropped(&batch)
      batch.parsedByteCount = scanner.lineStart(after: lineEnd)
      nextLine += 1
      linesToSkip -= 1
    }
    return true
  }

  /// Steps over a blank line, a comment, a header, or a byte order mark that joined files left.
  mutating func skipNonRecord(_ batch: inout Batch, _ scanner: inout RecordScanner) -> NonRecord {
    let start = batch.parsedByteCount
    let first = scanner.bytes[start]
    if first == 0x0A || first == 0x0D {
      guard scanner.isLineEndWhole(start) else { return .incomplete }
      if !tally.countAgain(.blankLine) { tally.count(.blankLine, at: position(ofByte: start, in: batch)) }
      batch.parsedByteCount = scanner.lineStart(after: start)
      nextLine += 1
      scanner.seek(to: batch.parsedByteCount)
      return .skipped
    }
    switch match(Self.byteOrderMark, at: start, scanner) {
    case .unknown: return .incomplete
    case .yes:
      tally.count(.byteOrderMark, at: position(ofByte: start, in: batch))
      batch.parsedByteCount += Self.byteOrderMark.count
      scanner.seek(to: batch.parsedByteCount)
      return .skipped
    case .no: break
    }
    switch matchComment(at: start, scanner) {
    case .unknown: return .incomplete
    case .yes:
      let position = position(ofByte: start, in: batch)
      tally.count(.comment, at: position)
      linesToSkip = 1
      guard skipLines(&batch, scanner) else { return .incomplete }
      scanner.seek(to: batch.parsedByteCount)
      return .skipped
    case .no: break
    }
    return headersToSkip > 0 ? skipHeader(&batch, &scanner) : skipRepeatedHeader(&batch, &scanner)
  }

  /// Steps over the header where it stands again, as in files that were joined.
  private mutating func skipRepeatedHeader(_ batch: inout Batch, _ scanner: inout RecordScanner) -> NonRecord {
    let start = batch.parsedByteCount
    let text = UnsafeBufferPointer(start: scanner.bytes + start, count: scanner.end - start)
    let end: Int
    let ruler = dialect.widths?.findRuler(in: text, isFinal: scanner.isFinal) ?? .no
    switch ruler == .no ? header.find(in: text, isFinal: scanner.isFinal, dialect) : ruler {
    case .incomplete: return .incomplete
    case .no: return .none
    case .yes(let byteCount): end = start + byteCount
    }
    guard end == scanner.end || scanner.isLineEndWhole(end) else { return .incomplete }
    let next = end == scanner.end ? end : scanner.lineStart(after: end)
    tally.count(.repeatedHeader, at: position(ofByte: start, in: batch))
    nextLine += scanner.lineCount(from: start, to: next)
    batch.parsedByteCount = next
    scanner.seek(to: next)
    return .skipped
  }

  /// Whether a comment stands at `start`, or after blanks there.
  private func matchComment(at start: Int, _ scanner: RecordScanner) -> RecordScanner.Match {
    guard let prefix = dialect.commentPrefix, !prefix.isEmpty else { return .no }
    var at = start
    while at < scanner.end && FieldReader.isPadding(scanner.bytes[at], dialect) { at += 1 }
    return match(prefix, at: at, scanner)
  }

  private func match(_ prefix: [UInt8], at start: Int, _ scanner: RecordScanner) -> RecordScanner.Match {
    for (index, byte) in prefix.enumerated() {
      if start + index == scanner.end { return scanner.isFinal ? .no : .unknown }
      if scanner.bytes[start + index] != byte { return .no }
    }
    return .yes
  }

  /// Steps over one record of column names; where its quotes make no sense, over its first line.
  private mutating func skipHeader(_ batch: inout Batch, _ scanner: inout RecordScanner) -> NonRecord {
    let start = batch.parsedByteCount
    scanner.expectedFieldCount = 0
    let outcome = scanner.scanRecord(at: start)
    scanner.expectedFieldCount = slotOfField.count

    var next = scanner.record.nextStart
    switch outcome {
    case .incomplete: return .incomplete
    case .record: break
    case .badQuote, .unclosedQuote:
      guard let line = scanner.firstLine(from: start) else { return .incomplete }
      next = line.next
      scanner.seek(to: next)
    }
    nextLine += scanner.lineCount(from: start, to: next)
    batch.parsedByteCount = next
    headersToSkip -= 1
    return .skipped
  }

  /// The position of something that is no record.
  func position(ofByte offset: Int, in batch: borrowing Batch) -> Position {
    Position(file: file, line: nextLine, byte: batch.origin.sourceOffset + UInt64(offset))
  }
}

extension RecordScanner {
  /// Whether the line end at `offset` cannot become longer: a CR that ends the input may be half of a CRLF.
  func isLineEndWhole(_ offset: Int) -> Bool {
    bytes[offset] == 0x0A || offset + 1 < end || isFinal
  }

  /// The physical line that starts at `start`: where it ends and where the next one starts; nil when its end is
  /// not there yet.
  func firstLine(from start: Int) -> (end: Int, next: Int)? {
    guard let lineEnd = lineEnd(from: start) else { return isFinal ? (end, end) : nil }
    return isLineEndWhole(lineEnd) ? (lineEnd, lineStart(after: lineEnd)) : nil
  }
}
