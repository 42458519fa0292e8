import UpsurgeRecords

/// Lines that are cut by widths. Neither quotes nor escapes mean anything in them, and each record is one line.
extension RecordScanner {
  /// Reads the line that starts at `start`, whose record was reset.
  @inline(never)
  mutating func scanFixedRecord(from start: Int) -> Outcome {
    record.isCrossed = false
    guard findLineEnd() else { return .incomplete }
    var line = FixedLine(bytes, from: start, to: record.end)
    if line.isBlank { return .record }
    while true {
      switch line.next(fixed.widths, record.fieldCount, isRuled: fixed.isRuled) {
      case .field(let start, let stop): takeField(from: start, to: stop, isQuoted: false, hasEscapes: false)
      case .end: return .record
      case .surplus(let start, let stop):
        takeField(from: start, to: stop, isQuoted: false, hasEscapes: false)
        return .record
      case .crossed:
        record.isCrossed = true
        return .record
      }
    }
  }

  /// Goes to the end of the line.
  /// - Returns: false where more bytes are needed.
  private mutating func findLineEnd() -> Bool {
    while true {
      let at = nextPosition()
      if at == end {
        (record.end, record.nextStart) = (end, end)
        return isFinal
      }
      if bytes[at] == 0x0A || bytes[at] == 0x0D { return endRecord(at: at) }
    }
  }
}

extension CSVParser {
  /// Steps over a line of blanks, which has no field where widths cut it.
  mutating func skipsBlankLine(_ batch: inout Batch, _ scanner: inout RecordScanner) -> Bool {
    guard dialect.widths != nil, scanner.record.fieldCount == 0, !scanner.record.isCrossed else {
      return false
    }
    tally.count(.blankLine, at: position(ofByte: batch.parsedByteCount, in: batch))
    nextLine += scanner.lineCount(from: batch.parsedByteCount, to: scanner.record.nextStart)
    batch.parsedByteCount = scanner.record.nextStart
    scanner.spillByteCount = batch.spillByteCount
    return true
  }

  /// What is wrong with a line whose text does not keep to the columns of its ruler.
  func crossedProblem(_ scanner: RecordScanner) -> RecordProblem {
    let field = max(scanner.record.fieldCount - 1, 0)
    return RecordProblem(
      code: .ragged, column: columnName(ofField: field),
      reason:
        "the text goes on after \(fieldLabel(field)), where the line of dashes below the header has a blank",
      hint: "\(.widths, "NAME:N,NAME:N") says where the fields stand; \(.onError, "reject") sets the record aside")
  }
}

extension FixedWidths {
  /// The first byte of the line that was drawn below the header; nil without a line.
  var rulerStart: UInt16? {
    ruler.map { UInt16(fields.first?.start == 0 ? $0 : FieldReader.blank) }
  }

  /// Whether the line that was drawn below the header stands again at the start of some bytes, as above each page.
  func findRuler(in text: UnsafeBufferPointer<UInt8>, isFinal: Bool) -> RepeatedHeader.Finding {
    guard let ruler else { return .no }
    var (end, count) = (0, 0)
    while end < text.count, text[end] == ruler || text[end] == FieldReader.blank {
      if text[end] == ruler { count += 1 }
      end += 1
    }
    if end == text.count && !isFinal { return .incomplete }
    let length = fields.reduce(0) { $0 + ($1.width ?? 0) }
    guard count > length, end == text.count || text[end] == 0x0A || text[end] == 0x0D else { return .no }
    return .yes(end)
  }
}
