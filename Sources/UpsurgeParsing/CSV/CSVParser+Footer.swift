import UpsurgeRecords

/// Lines behind the last record that are none: `(3 rows)`, `Total;12`, `Total,,,12`, blanks, a Ctrl-Z.
///
/// They look like what people and programs write under a table, and nothing stands behind them but others of their kind.
/// One with as many fields as a record is a total with gaps: other lines could be records. All are rejected as what they
/// are, and never filled up with NULL.
extension CSVParser {
  /// So much of the end of an input may be footers.
  private static let byteLimit = 4 << 10

  /// Whether the record that was just read is a footer.
  func footerMatch(_ scanner: RecordScanner, in batch: borrowing Batch) -> RecordScanner.Match {
    guard slotOfField.count > 1, scanner.fieldCount <= slotOfField.count, recordCount > 0 else { return .no }
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
    var (fieldCount, first, hasEmpty) = (0, "", false)
    while true {
      let field = reader.nextFieldLeniently()
      fieldCount += 1
      if field.start == field.stop {
        if !field.isQuoted { hasEmpty = true }
      } else if first.isEmpty {
        first = HeaderNames.trim(String(decoding: reader.text(of: field), as: UTF8.self))
      }
      if field.ending != .delimiter { break }
      if fieldCount >= slotOfField.count { return false }
    }
    if fieldCount == slotOfField.count { return hasEmpty && FooterWords.beginTotal(first) }
    return FooterWords.begin(first, isAlone: fieldCount == 1)
  }

  /// Whether the record that was just read may be a footer by how it begins.
  @inline(never)
  func beginsFooter(_ scanner: RecordScanner, at start: Int) -> Bool {
    let (bytes, stop) = (scanner.bytes, scanner.recordEnd)
    var at = start
    while at < stop && (bytes[at] == scanner.delimiter || bytes[at] == FieldReader.blank) { at += 1 }
    if at < stop && UInt16(bytes[at]) == scanner.quote { at += 1 }
    var end = at
    while end < stop && (bytes[end] | 0x20) &- UInt8(ascii: "a") < 26 { end += 1 }
    guard end - at >= 3 && end - at <= 9, FooterWords.mayBeTotal(bytes + at) else { return false }
    return FooterWords.beginTotal(
      String(decoding: UnsafeBufferPointer(start: bytes + at, count: end - at), as: UTF8.self))
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
    "average", "mean", "count", "eof", "end", "source", "sources", "note", "notes", "footnote", "generated", "exported",
    "printed", "page", "copyright",
  ]
  private static let totals: Set<String> = [
    "total", "totals", "subtotal", "sum", "sums", "grand", "summe", "gesamt", "insgesamt", "somme", "suma",
  ]
  /// The first letters of totals, in both cases.
  static let totalStarts: [UInt8] = totals.compactMap(\.utf8.first).flatMap { [$0, $0 & ~0x20] }

  /// Whether three letters begin a total, perhaps.
  static func mayBeTotal(_ letters: UnsafePointer<UInt8>) -> Bool {
    let found = UInt32(letters[0] | 0x20) << 16 | UInt32(letters[1] | 0x20) << 8 | UInt32(letters[2] | 0x20)
    return totalBeginnings.contains(found)
  }

  private static let totalBeginnings: [UInt32] = Array(
    Set(totals.map { word in word.utf8.prefix(3).reduce(0) { $0 << 8 | UInt32($1) } }))

  /// Whether a cell says that its line is a total.
  package static func beginTotal(_ text: String) -> Bool { totals.contains(text.prefix { $0.isLetter }.lowercased()) }

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
