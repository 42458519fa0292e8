import UpsurgeRecords

/// Lines after the last record that are not records: `(3 rows)`, `Total;12`, `Total,,12`, blanks, a Ctrl-Z.
///
/// Such lines look like what people and programs write under a table, and nothing follows them but others of their kind.
/// Footers are rejected as what they are, and never filled up with NULL. Blank lines with all fields (`,,`), and such
/// with a number in the last one (`,,12`), could be records: they are stored, and said.
extension CSVParser {
  /// So much of the end of an input may be footers.
  private static let byteLimit = 4 << 10

  enum FooterMatch {
    case no, footer
    /// A footer, if it is no record.
    case perhaps
    /// More bytes are needed to tell.
    case unknown
  }

  /// Whether the record that was just read is a footer.
  func footerMatch(_ scanner: RecordScanner, in batch: borrowing Batch) -> FooterMatch {
    guard scanner.record.fieldCount <= slotOfField.count, recordCount > 0 else { return .no }
    let start = batch.parsedByteCount
    let bytes = UnsafeBufferPointer(start: scanner.bytes + start, count: scanner.end - start)
    guard let first = footer(UnsafeBufferPointer(rebasing: bytes[..<(scanner.record.end - start)])),
      bytes.count <= Self.byteLimit
    else { return .no }
    if !scanner.isFinal { return .unknown }
    var rest = FieldReader(bytes: bytes, dialect: dialect)
    rest.offset = scanner.record.nextStart - start
    while !rest.isAtEnd {
      let first = rest.offset
      rest.skipLine()
      if footer(UnsafeBufferPointer(rebasing: bytes[first..<rest.offset])) == nil { return .no }
    }
    return first == .line ? .footer : .perhaps
  }

  private enum Footer { case line, record }

  /// - Parameter line: one physical line.
  private func footer(_ line: UnsafeBufferPointer<UInt8>) -> Footer? {
    let whole = dialect.widths == nil ? nil : HeaderNames.trim(String(decoding: line, as: UTF8.self))
    if let whole, whole.isEmpty || FooterWords.isAlone(whole) { return .line }
    var reader = FieldReader(bytes: line, dialect: dialect)
    var (fieldCount, first, hasEmptyText, hasNumber, filledCount) = (0, "", false, false, 0)
    var isLastFilled = false
    while true {
      let field = reader.nextFieldLeniently()
      fieldCount += 1
      isLastFilled = field.stop > field.start
      if field.start == field.stop {
        if field.isQuoted { hasEmptyText = true }
      } else {
        filledCount += 1
        let text = reader.text(of: field)
        if first.isEmpty { first = HeaderNames.trim(String(decoding: text, as: UTF8.self)) }
        if FooterWords.isNumber(text) { hasNumber = true }
      }
      if field.ending != .delimiter { break }
      if fieldCount >= slotOfField.count { return nil }
    }
    if slotOfField.count == 1 {
      let isFooter = first.isEmpty ? FooterWords.isBlank(line) : FooterWords.isAlone(first)
      return isFooter ? .line : nil
    }
    if fieldCount < slotOfField.count {
      // A line that is cut by widths shows by its words alone.
      return FooterWords.begin(whole ?? first, isAlone: whole == nil && fieldCount == 1) ? .line : nil
    }
    if filledCount == 0 { return hasEmptyText ? nil : .record }
    // A number alone in the last cell.
    if fieldCount > 2 && filledCount == 1 && !hasEmptyText && hasNumber && isLastFilled { return .record }
    if FooterWords.isTotal(first) && (hasNumber || filledCount == 1) { return .line }
    return filledCount == 1 && FooterWords.isAlone(first) || FooterWords.isRemark(first, isAlone: filledCount == 1) ? .record : nil
  }

  /// Whether the record that was just read, with all its fields, may be a footer by how it begins.
  @inline(never)
  mutating func beginsFooter(_ scanner: RecordScanner, at start: Int) -> Bool {
    let (bytes, stop) = (scanner.bytes, scanner.record.end)
    if bytes[start] == UInt8(ascii: "#") { hasHashRecord = true }
    var (at, delimiterCount) = (start, 0)
    while at < stop && (bytes[at] == scanner.marks.delimiter || bytes[at] == FieldReader.blank) {
      let isDelimiter = bytes[at] == scanner.marks.delimiter
      at += isDelimiter ? scanner.marks.delimiterByteCount : 1
      delimiterCount += isDelimiter ? 1 : 0
    }
    if delimiterCount > 1 && delimiterCount == slotOfField.count - 1 { return true }
    if at < stop && UInt16(bytes[at]) == scanner.marks.quote { at += 1 }
    if at >= stop {
      return slotOfField.count > 1 || stop > start && UInt16(bytes[start]) != scanner.marks.quote
    }
    if slotOfField.count == 1 && FooterWords.isBlank(bytes[at]) { return true }
    if slotOfField.count == 1 || dialect.widths != nil, bytes[at] == UInt8(ascii: "(") || bytes[at] &- UInt8(ascii: "0") <= 9 {
      return mayCountRows(bytes, from: at, to: stop)
    }
    if bytes[at] == UInt8(ascii: "\\") { return stop - at == 2 && bytes[at + 1] == UInt8(ascii: ".") }
    var end = at
    while end < stop && (bytes[end] | 0x20) &- UInt8(ascii: "a") < 26 { end += 1 }
    guard end - at >= 3 && end - at <= 9, FooterWords.mayBegin(bytes + at) else { return false }
    return FooterWords.isWord(
      String(decoding: UnsafeBufferPointer(start: bytes + at, count: end - at), as: UTF8.self))
  }

  /// Whether digits and then a word stand there: `3 rows`, `(3 rows)`.
  private func mayCountRows(_ bytes: UnsafePointer<UInt8>, from start: Int, to stop: Int) -> Bool {
    var at = bytes[start] == UInt8(ascii: "(") ? start + 1 : start
    while at < stop && bytes[at] &- UInt8(ascii: "0") <= 9 { at += 1 }
    return at + 1 < stop && bytes[at] == FieldReader.blank && (bytes[at + 1] | 0x20) &- UInt8(ascii: "a") < 26
  }

  /// Whether the record is the mark `\.` with which COPY ends its text.
  func isEndMark(_ scanner: RecordScanner, at start: Int) -> Bool {
    dialect.escaping == .letters && scanner.record.end - start == 2
      && scanner.bytes[start] == UInt8(ascii: "\\")
      && scanner.bytes[start + 1] == UInt8(ascii: ".")
  }

  var footerProblem: RecordProblem {
    RecordProblem(
      code: .footer, column: nil,
      reason: "the input ends with a line that is no record, as a total or a count of rows",
      hint: "\(.onError, "reject") stores the records and sets this line aside")
  }
}

/// What footers begin with.
package enum FooterWords {
  private static let words: Set<String> = [
    "average", "mean", "count", "eof", "end", "source", "sources", "note", "notes", "footnote", "generated", "exported",
    "printed", "page", "copyright", "trailer",
  ]
  private static let totals: Set<String> = [
    "total", "totals", "subtotal", "sum", "sums", "grand", "summe", "gesamt", "insgesamt", "somme", "suma",
  ]
  /// The first letters of the words, in both cases.
  static let starts: [UInt8] = totals.union(words).compactMap(\.utf8.first).flatMap { [$0, $0 & ~0x20] }

  /// The first bytes of a line that counts rows, or is blank.
  static let lineStarts: [UInt8] =
    [0x00, 0x09, 0x1A, 0x20, UInt8(ascii: "(")] + (UInt8(ascii: "0")...UInt8(ascii: "9"))

  /// Whether three letters begin a word of footers, perhaps.
  static func mayBegin(_ letters: UnsafePointer<UInt8>) -> Bool {
    let found = UInt32(letters[0] | 0x20) << 16 | UInt32(letters[1] | 0x20) << 8 | UInt32(letters[2] | 0x20)
    return beginnings.contains(found)
  }

  private static let beginnings: [UInt32] = Array(
    Set(totals.union(words).map { word in word.utf8.prefix(3).reduce(0) { $0 << 8 | UInt32($1) } }))

  /// Whether a cell begins with a word of footers.
  package static func isWord(_ text: String) -> Bool {
    let word = text.prefix { $0.isLetter }.lowercased()
    return totals.contains(word) || words.contains(word)
  }

  /// Whether a cell is a number, or a date.
  package static func isNumber(_ text: [UInt8]) -> Bool { CellLook(text).isTyped }

  /// Whether a cell says that its line is a total, and nothing else: `Total`, `Grand total:`.
  package static func isTotal(_ text: String) -> Bool {
    let words = text.lowercased().split(whereSeparator: { $0 == " " || $0 == ":" || $0 == "-" })
    guard let last = words.last, words.count <= 2 else { return false }
    if words.count == 2 { return ["grand", "sub"].contains(words[0]) && last == "total" }
    return last != "grand" && totals.contains(String(last))
  }

  /// Whether a cell that nothing but blanks or numbers follow is a remark on the table: `Source: the town hall`, `Page 1 of 2`.
  package static func isRemark(_ text: String, isAlone: Bool) -> Bool {
    let word = text.prefix { $0.isLetter }.lowercased()
    if !isAlone { return text.count == word.count && ["average", "mean", "count", "trailer"].contains(word) }
    return words.contains(word) && (text.count > word.count || ["average", "mean", "eof", "end", "trailer"].contains(word))
  }

  /// Whether a line of a table with one column is blank, as far as it is written: a Ctrl-Z is as well.
  package static func isBlank(_ line: some Sequence<UInt8>) -> Bool {
    line.allSatisfy { isBlank($0) || $0 == 0x0A || $0 == 0x0D }
  }

  static func isBlank(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x00, 0x09, 0x1A, 0x20: true
    default: false
    }
  }

  /// Whether a line of a table with one column is not one of its values: `(3 rows)`, `3 rows`, `Total: 60`.
  package static func isAlone(_ text: String) -> Bool {
    if text.hasPrefix("(") && text.hasSuffix(")") { return countsRows(text.dropFirst().dropLast()) }
    if countsRows(text[...]) { return true }
    let word = text.prefix { !$0.isNumber }
    let number = text.dropFirst(word.count)
    return !number.isEmpty && isTotal(String(word)) && number.allSatisfy { $0.isNumber || ".,' ".contains($0) }
  }

  /// Whether a text is as `3 rows` or `12 records selected.`
  private static func countsRows(_ text: Substring) -> Bool {
    let parts = text.split(separator: " ")
    return parts.count > 1 && parts[0].allSatisfy(\.isNumber)
      && ["row", "rows", "record", "records", "line", "lines"].contains(parts[1].lowercased().filter(\.isLetter))
  }

  /// - Parameters:
  ///   - text: the first cell that is not empty, without blanks around it; empty where all are.
  ///   - isAlone: whether the line has no other cell.
  package static func begin(_ text: String, isAlone: Bool) -> Bool {
    if text.isEmpty || text.unicodeScalars.allSatisfy({ $0.value == 0x1A || "-=_*.".unicodeScalars.contains($0) }) {
      return true
    }
    let word = text.prefix { $0.isLetter }.lowercased()
    if words.contains(word) || totals.contains(word) { return true }
    if text.hasPrefix("(") && text.hasSuffix(")") { return isAlone }
    if countsRows(text[...]) { return true }
    let parts = text.split(separator: " ")
    // A sentence; a record that is cut off ends within a value.
    return isAlone && parts.count > 3
  }
}
