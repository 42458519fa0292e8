import UpsurgeRecords

/// Lines whose fields stand at the same places, by widths that were given or by a line of dashes below the header:
///
///     id  name       amount
///     --- ---------- ------
///       1 Ännchen      3.50
extension Sniffing {
  /// A line of dashes below a header.
  struct Ruler {
    var widths: FixedWidths
    /// Physical lines above the header.
    var lineCount: Int
  }

  /// Lines that are looked at for a ruler, and for whether those below keep to it.
  private static let rulerLineLimit = 50
  private static let bodyLineLimit = 200

  /// The ruler of the table; nil where it has no ruler, or the marks of fields were given.
  func ruler() -> Ruler? {
    guard given.delimiter == nil, given.quote == nil, given.escape == nil else { return nil }
    var reader = FieldReader(bytes: bytes, dialect: CSVDialect())
    let first = given.skippedLineCount ?? 0
    var above: Slice<UnsafeBufferPointer<UInt8>>?
    for number in 0..<(first + Self.rulerLineLimit) {
      if reader.isAtEnd { return nil }
      let start = reader.offset
      reader.skipLine()
      let line = Self.trimmed(bytes[start..<reader.offset])
      if let above, number > first, !above.isEmpty, FixedWidths(ruler: above) == nil,
        let widths = FixedWidths(ruler: line),
        isKept(widths, from: reader.offset)
      {
        let count = given.headerLineCount ?? 1
        return Ruler(widths: widths, lineCount: count == 0 ? number + 1 : max(number - count, 0))
      }
      above = line
    }
    return nil
  }

  /// A line without its end, and without the blanks there.
  private static func trimmed(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>>
  {
    var line = line
    while let last = line.last, last == 0x0A || last == 0x0D || last == FieldReader.blank {
      line.removeLast()
    }
    return line
  }

  /// Whether the lines below a ruler have blanks where it has some, but for a few that are no records.
  private func isKept(_ widths: FixedWidths, from start: Int) -> Bool {
    guard let base = bytes.baseAddress else { return true }
    var reader = FieldReader(bytes: bytes, dialect: CSVDialect())
    reader.offset = start
    var (lineCount, keptCount) = (0, 0)
    while !reader.isAtEnd && lineCount < Self.bodyLineLimit {
      let start = reader.offset
      reader.skipLine()
      let line = Self.trimmed(bytes[start..<reader.offset])
      if line.isEmpty || FooterWords.isAlone(HeaderNames.trim(String(decoding: line, as: UTF8.self))) {
        continue
      }
      lineCount += 1
      var place = FixedLine(base, from: start, to: line.endIndex)
      let isCrossed = widths.fields.withUnsafeBufferPointer { fields in
        fields.indices.contains { place.next(fields, $0, isRuled: true) == .crossed }
      }
      if !isCrossed && !line.contains(0x09) { keptCount += 1 }
    }
    return keptCount * 3 >= lineCount * 2
  }

  /// The sample as it is cut by widths.
  func fixedResult(_ widths: FixedWidths, ruler: Ruler?) -> CSVSniffResult {
    var dialect = CSVDialect(
      delimiter: FixedWidths.delimiter, quote: nil, nullSpellings: given.nullSpellings, ragged: given.ragged,
      skippedLineCount: given.skippedLineCount ?? 0)
    dialect.widths = widths
    (dialect.quotedEmpty, dialect.bareEmpty) = (given.quotedEmpty, given.bareEmpty)
    dialect.commentPrefix = given.commentPrefix.flatMap { $0.isEmpty ? nil : $0 }
    if let ruler { dialect.skippedLineCount = ruler.lineCount }
    let table = read(dialect)
    dialect.headerLineCount = given.headerLineCount ?? (ruler == nil ? fixedHeaderLineCount(of: table) : 1)
    if ruler != nil && dialect.headerLineCount > 0 { dialect.headerLineCount += 1 }

    let names = fixedNames(of: table, dialect, fieldCount: widths.fields.count)
    let shape = table.shape(ignoringHashes: false)
    return CSVSniffResult(
      dialect: dialect, headerNames: names.names, header: header(of: table, dialect),
      renamings: names.renamings,
      lineEnd: table.lineEnd, fieldCount: names.names.count,
      remarks: fixedRemarks(on: table, dialect, isFound: ruler != nil),
      delimiterEvidence:
        "\(widths.fields.count) widths, which \(shape.agreeingCount) of \(shape.recordCount) records fill",
      unknownFields: dialect.headerLineCount == 0 ? nil : unknownFields(table))
  }

  /// Where names are given, a first record is the header only if it says so: most files with widths have none.
  private func fixedHeaderLineCount(of table: SampleRecords) -> Int {
    let judge = HeaderJudge(table)
    guard let names = given.columnNames else { return judge.hasHeader ? 1 : 0 }
    if judge.isSupported { return 1 }
    guard let first = table.records.first else { return 0 }
    let texts = table.texts(of: first).map { String(decoding: $0, as: UTF8.self).lowercased() }
    return texts == names.map { $0.lowercased() } ? 1 : 0
  }

  /// As many names as there are widths.
  private func fixedNames(of table: SampleRecords, _ dialect: CSVDialect, fieldCount: Int) -> HeaderNames {
    if let names = given.columnNames { return HeaderNames(fields: names) }
    let headers = table.records.prefix(dialect.headerLineCount)
    if headers.isEmpty { return HeaderNames(count: table.records.isEmpty ? 0 : fieldCount) }
    var names = Array(joinedNames(headers, of: table, dialect).prefix(fieldCount))
    names += Array(repeating: "", count: fieldCount - names.count)
    return HeaderNames(fields: names)
  }

  private func fixedRemarks(on table: SampleRecords, _ dialect: CSVDialect, isFound: Bool) -> [Wording] {
    if isFound {
      return [
        "fields stand where the line of dashes below the header shows them; \(.delimiter, "space") parts them at blanks instead"
      ]
    }
    guard given.headerLineCount == nil, dialect.headerLineCount == 1, !HeaderJudge(table).isSupported else {
      return []
    }
    return ["the first record is read as the header; \(.noHeader) reads it as a record"]
  }
}

extension FixedWidths {
  /// The places of the dashes of a line that has nothing but dashes, or equals signs, and blanks between them. The last one
  /// goes on to the end of its line.
  init?(ruler line: Slice<UnsafeBufferPointer<UInt8>>) {
    guard let mark = line.first(where: { $0 != FieldReader.blank }),
      mark == UInt8(ascii: "-") || mark == UInt8(ascii: "="),
      line.allSatisfy({ $0 == mark || $0 == FieldReader.blank })
    else { return nil }
    var fields: [Field] = []
    var at = line.startIndex
    while let start = line[at...].firstIndex(of: mark) {
      let end = line[start...].firstIndex(of: FieldReader.blank) ?? line.endIndex
      fields.append(Field(start: start - line.startIndex, width: end - start))
      at = end
    }
    guard fields.count > 1, fields.count <= HeaderNames.fieldLimit,
      fields.contains(where: { $0.width ?? 0 > 1 })
    else { return nil }
    fields[fields.count - 1].width = nil
    self.init(fields: fields, ruler: mark)
  }
}
