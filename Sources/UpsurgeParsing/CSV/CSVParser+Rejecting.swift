import CScan
import UpsurgeRecords

/// Why a record is rejected, as the person at the terminal reads it.
struct RecordProblem {
  var code: Reject.Code
  var column: String?
  var reason: Wording
  var hint: Wording?
}

extension CSVParser {
  /// What is wrong with a record whose quotes are right; nil: nothing.
  func problem(of scanner: RecordScanner, in batch: borrowing Batch) -> RecordProblem? {
    if scanner.record.invalidField >= 0 { return invalidText(inField: scanner.record.invalidField) }
    if scanner.record.fieldCount != slotOfField.count, var problem = raggedness(of: scanner) {
      if let hint = lineHint(of: scanner, in: batch) { problem.hint = hint }
      return problem
    }
    return spellingProblem(of: scanner)
  }

  /// What is wrong with the spelling of a record's numbers; nil: nothing.
  func spellingProblem(of scanner: RecordScanner) -> RecordProblem? {
    for index in 0..<scanner.record.noteCount where scanner.notes[index].note == .spellingChanges {
      let field = Int(scanner.notes[index].field)
      if let slot = slotOfField[field], columns[slot].spellingPolicy != .warn {
        return wouldChange(inSlot: slot)
      }
    }
    return nil
  }

  /// What leaves out a line with `#`, and no record that begins so.
  private func commentHint(_ scanner: RecordScanner, in batch: borrowing Batch) -> Wording? {
    if !hasHashRecord || scanner.bytes[batch.parsedByteCount] != UInt8(ascii: "#") {
      return "\(.comment, "'#'") leaves out lines that begin with #"
    }
    let start = batch.parsedByteCount
    guard start + 1 < scanner.record.end, scanner.bytes[start + 1] == FieldReader.blank else { return nil }
    return "\(.comment, "'# '") leaves out lines that begin with # and a blank"
  }

  /// What helps where a ragged line is a comment, is hardly a record, or has its quotes in the wrong places: to fill it up,
  /// or to keep what is too much, would store what nobody has meant.
  private func lineHint(of scanner: RecordScanner, in batch: borrowing Batch) -> Wording? {
    let start = batch.parsedByteCount
    if dialect.commentPrefix == nil {
      var at = start
      while at < scanner.record.end && FieldReader.isPadding(scanner.bytes[at], dialect) { at += 1 }
      if at < scanner.record.end, scanner.bytes[at] == UInt8(ascii: "#"),
        let hint = commentHint(scanner, in: batch)
      {
        return hint
      }
      let slashes = UInt8(ascii: "/")
      if at + 1 < scanner.record.end, scanner.bytes[at] == slashes, scanner.bytes[at + 1] == slashes {
        return "\(.comment, "'//'") leaves out lines that begin with //"
      }
    }
    if hasShiftedQuotes(scanner, at: start) {
      return
        "correct the quotes, which stand inside of fields; \(.onError, "reject") sets the record aside until then"
    }
    let isWord =
      (scanner.bytes[start] | 0x20) &- UInt8(ascii: "a") < 26
      || scanner.bytes[start] &- UInt8(ascii: "0") < 10
    if scanner.record.fieldCount == 1, slotOfField.count > (isWord || scanner.bytes[start] >= 0x80 ? 2 : 1) {
      return
        "\(.onError, "reject") sets the line aside if it is no record; \(.ragged, "pad") stores it as one, with NULL in all "
        + "other fields"
    }
    return nil
  }

  /// Whether a quote stands inside a field that does not begin with one.
  private func hasShiftedQuotes(_ scanner: RecordScanner, at start: Int) -> Bool {
    guard let quote = dialect.quote else { return false }
    let bytes = UnsafeBufferPointer(start: scanner.bytes + start, count: scanner.record.end - start)
    guard bytes.contains(quote) else { return false }
    var reader = FieldReader(bytes: bytes, dialect: dialect)
    while true {
      let field = reader.nextFieldLeniently()
      if !field.isQuoted, bytes[field.start..<field.stop].contains(quote) { return true }
      if field.ending != .delimiter { return false }
    }
  }

  private func invalidText(inField field: Int) -> RecordProblem {
    guard let encodingName else {
      return RecordProblem(
        code: .invalidUTF8, column: columnName(ofField: field),
        reason: "field \(field + 1) is not valid UTF-8",
        hint: beginsAsUTF8
          ? "the rest of the text is UTF-8: correct these bytes, or \(.onError, "reject") sets such records aside"
          : "if the file is not UTF-8, name its encoding: \(.encoding, "windows-1252") (western), windows-1250, "
            + "windows-1251, shift_jis, gb18030 ...")
    }
    return RecordProblem(
      code: .invalidUTF8, column: columnName(ofField: field),
      reason:
        "field \(field + 1) has bytes that are not \(encodingName) (bytes are counted in the text as UTF-8)",
      hint: "correct them, or name the file's true encoding with \(.encoding)")
  }

  /// Whether the first byte beyond ASCII begins a character of UTF-8: read in another encoding, such letters would be wrong.
  package static func beginsAsUTF8(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = text.firstIndex(where: { $0 >= 0x80 }), let base = text.baseAddress else {
      return false
    }
    let byteCount = text[first] >= 0xF0 ? 4 : text[first] >= 0xE0 ? 3 : 2
    return byteCount <= text.count - first
      && upsurge_validate_utf8(base + first, byteCount).valid_count == byteCount
  }

  private func wouldChange(inSlot slot: Int) -> RecordProblem {
    let column = columns[slot]
    return RecordProblem(
      code: .wouldChange, column: column.name,
      reason: column.isKeyOfNumbers
        ? "the key column \(column.name) holds numbers, and this key is not written as its number is"
        : "the value would change its spelling in column \(column.name), which holds numbers",
      hint: column.spellingHint)
  }

  /// What the ragged policy says of a record with too few or too many fields; nil: it can be stored.
  private func raggedness(of scanner: RecordScanner) -> RecordProblem? {
    let expected = slotOfField.count
    let found = scanner.record.fieldCount
    let counts = "expected \(expected) field\(expected == 1 ? "" : "s"), found \(found)"
    if found < expected {
      guard dialect.ragged == .reject else { return nil }
      return RecordProblem(
        code: .ragged, column: columnName(ofField: found - 1),
        reason: "\(counts): the record ends with \(fieldLabel(found - 1))",
        hint:
          "\(.ragged, "pad") fills the missing fields with NULL; \(.onError, "reject") sets the record aside")
    }
    if dialect.ragged == .extra && extraSlot != nil { return nil }
    if dialect.ragged != .reject && !scanner.record.hasSurplusContent { return nil }
    let hint: Wording =
      dialect.ragged == .reject && !scanner.record.hasSurplusContent
      ? "\(.ragged, "pad") drops surplus fields that are empty; \(.onError, "reject") sets the record aside"
      : "\(.ragged, "extra") keeps surplus fields in a column of their own; \(.onError, "reject") sets the record aside"
    return RecordProblem(
      code: .ragged, column: columnName(ofField: expected - 1),
      reason: "\(counts): the record goes on after \(fieldLabel(expected - 1)), the last one", hint: hint)
  }

  /// `column city`, or `field 3` where it goes to no column.
  private func fieldLabel(_ field: Int) -> String {
    columnName(ofField: field).map { "column \($0)" } ?? "field \(field + 1)"
  }

  /// Rejects the whole record that the scanner has just read.
  mutating func reject(_ problem: RecordProblem, _ batch: inout Batch, _ scanner: RecordScanner) {
    append(problem, to: &batch, rawEnd: scanner.record.end)
    nextLine += scanner.lineCount(from: batch.parsedByteCount, to: scanner.record.nextStart)
    batch.parsedByteCount = scanner.record.nextStart
  }

  /// Rejects the first physical line of a record whose quotes make no sense.
  mutating func rejectLine(
    _ line: (end: Int, next: Int), for outcome: RecordScanner.Outcome, _ batch: inout Batch,
    _ scanner: inout RecordScanner
  ) {
    let column = columnName(ofField: scanner.record.fieldCount)
    let label = fieldLabel(scanner.record.fieldCount)
    let mark = dialect.quote.map { CSVDialect.name(of: [$0]) } ?? ""
    let problem =
      outcome == .badQuote
      ? RecordProblem(
        code: .badQuote, column: column,
        reason: "\(label): the closing quote \(mark) is followed by something else than a delimiter",
        hint: dialect.quotes == .lenient
          ? "correct the quotes; \(.onError, "reject") sets the record aside until then"
          : "\(.quotes, "lenient") takes quotes inside a field as data; \(.escape, "C") if quotes are escaped by C; \(.onError, "reject") "
            + "sets the record aside")
      : RecordProblem(
        code: .unclosedQuote, column: column,
        reason: "\(label): the quote \(mark) is still open at the end of the input",
        hint: "\(.quote, "none") if quotes are data; else close the quote on this line")
    append(problem, to: &batch, rawEnd: line.end)
    if line.next > line.end { nextLine += 1 }
    batch.parsedByteCount = line.next
    scanner.spillByteCount = batch.spillByteCount
    scanner.seek(to: line.next)
  }

  /// Counts a record as rejected, with the bytes from `batch.parsedByteCount` on.
  private mutating func append(_ problem: RecordProblem, to batch: inout Batch, rawEnd: Int) {
    recordCount += 1
    let start = batch.parsedByteCount
    batch.take(
      Reject(
        problem.code, at: recordPosition(in: batch), column: problem.column, reason: problem.reason,
        hint: problem.hint, raw: UnsafeBufferPointer(start: batch.arena + start, count: rawEnd - start)))
  }
}
