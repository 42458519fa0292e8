import UpsurgeRecords

/// Lines behind the last record that are none: `(3 rows)`, `Total;12`, blanks, a Ctrl-Z.
///
/// They have fewer fields than a record, look like what people and programs write under a table, and nothing stands behind
/// them but others of their kind. They are rejected as what they are, and never filled up with NULL.
extension CSVParser {
  /// So much of the end of an input may be footers.
  private static let byteLimit = 4 << 10

  /// Whether the record that was just read, which has too few fields, is a footer.
  func footerMatch(_ scanner: RecordScanner, in batch: borrowing Batch) -> RecordScanner.Match {
    guard slotOfField.count > 1, scanner.fieldCount < slotOfField.count else { return .no }
    let start = batch.parsedByteCount
    let bytes = UnsafeBufferPointer(start: scanner.bytes + start, count: scanner.end - start)
    guard isFooter(UnsafeBufferPointer(rebasing: bytes[..<(scanner.recordEnd - start)])),
      bytes.count <= Self.byteLimit
    else { return .no }
    if !scanner.isFinal { return .unknown }
    var rest = FieldReader(bytes: bytes, dialect: dialect)
    rest.offset = scanner.nextStart - start
    while !rest.isAtEnd {
      let first = rest.offset
      rest.skipLine()
      guard isFooter(UnsafeBufferPointer(rebasing: bytes[first..<rest.offset])) else { return .no }
    }
    return .yes
  }

  /// - Parameter line: one physical line.
  private func isFooter(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    var reader = FieldReader(bytes: line, dialect: dialect)
    var (fieldCount, first) = (0, "")
    while true {
      let field = reader.nextFieldLeniently()
      fieldCount += 1
      if first.isEmpty { first = HeaderNames.trim(String(decoding: reader.text(of: field), as: UTF8.self)) }
      if field.ending != .delimiter { break }
      if fieldCount >= slotOfField.count { return false }
    }
    if fieldCount >= slotOfField.count { return false }
    return FooterWords.begin(first, isAlone: fieldCount == 1)
  }

  var footerProblem: RecordProblem {
    RecordProblem(
      code: .footer, column: nil,
      reason: "the input ends with a line that is no record, as a total or a count of rows",
      hint: "--on-error reject stores the records and sets this line aside")
  }
}

/// What footers begin with.
package enum FooterWords {
  private static let words: Set<String> = [
    "total", "totals", "subtotal", "sum", "sums", "average", "mean", "count", "grand", "eof", "end", "source", "sources",
    "note", "notes", "footnote", "generated", "exported", "printed", "page", "copyright", "summe", "gesamt", "insgesamt",
    "somme", "suma",
  ]

  /// - Parameters:
  ///   - text: the first cell that is not empty, without blanks around it; empty where all are.
  ///   - isAlone: whether the line has no other cell.
  package static func begin(_ text: String, isAlone: Bool) -> Bool {
    if text.isEmpty || text.unicodeScalars.allSatisfy({ $0.value == 0x1A || "-=_*.".unicodeScalars.contains($0) }) {
      return true
    }
    let word = text.prefix { $0.isLetter }.lowercased()
    if words.contains(word) { return true }
    if text.hasPrefix("(") && text.hasSuffix(")") { return isAlone }
    // `3 rows`, `12 records selected.`
    let parts = text.split(separator: " ")
    if parts.count > 1, parts[0].allSatisfy(\.isNumber),
      ["row", "rows", "record", "records", "line", "lines"].contains(parts[1].lowercased().filter(\.isLetter))
    {
      return true
    }
    // A sentence; a record that is cut off ends within a value.
    return isAlone && parts.count > 3
  }
}
