import UpsurgeRecords

/// Finds out how a CSV file is written from its first bytes.
///
/// Each pair of delimiter and quote that could be meant is tried on the sample. A good one gives many records the
/// same number of fields, leaves no quote in the wrong place, and gives fields that look like something:
///
///     a;b           by comma:      1 4 4 fields, `5;2` looks cut in the wrong place
///     1,5;2,5       by semicolon:  2 2 2 fields, `1,5` looks like a number
///     3,5;4,5
///
/// Then, with the marks known: which lines are comments, which come before the table, and whether the table starts
/// with names. What was given is never sniffed, and what happens to bad records has no say.
package enum CSVSniffer {
  /// More of a sample says nothing new, unless its first record is larger.
  package static let sampleByteLimit = 256 << 10

  /// - Parameters:
  ///   - sample: the first bytes of the decoded stream.
  ///   - isWhole: whether they are all of it; else the last record is taken as cut.
  package static func sniff(
    sample: UnsafeBufferPointer<UInt8>, isWhole: Bool, given: CSVOverrides = CSVOverrides()
  ) -> CSVSniffResult {
    var byteLimit = sampleByteLimit
    while true {
      let isCut = sample.count > byteLimit
      var bytes = UnsafeBufferPointer(rebasing: sample.prefix(byteLimit))
      if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = UnsafeBufferPointer(rebasing: bytes.dropFirst(3)) }
      var sniffing = Sniffing(bytes: bytes, isWhole: isWhole && !isCut, given: given)
      let result = sniffing.result()
      guard isCut, case .cut? = result.unknownFields else { return result }
      byteLimit = sample.count
    }
  }

  /// Finds the dialect of a sample that is an array.
  package static func sniff(
    sample: [UInt8], isWhole: Bool, given: CSVOverrides = CSVOverrides()
  ) -> CSVSniffResult {
    sample.withUnsafeBufferPointer { sniff(sample: $0, isWhole: isWhole, given: given) }
  }
}

/// One look at one sample.
struct Sniffing {
  let bytes: UnsafeBufferPointer<UInt8>
  let isWhole: Bool
  let given: CSVOverrides
  /// Whether lines above the table were taken for titles.
  var hasTitle = false
  /// What speaks against the marks that were chosen, one sentence each.
  var doubts: [Wording] = []

  init(bytes: UnsafeBufferPointer<UInt8>, isWhole: Bool, given: CSVOverrides) {
    (self.bytes, self.isWhole, self.given) = (bytes, isWhole, given)
  }

  mutating func result() -> CSVSniffResult {
    if let widths = given.widths { return fixedResult(widths, ruler: nil) }
    if let ruler = ruler() { return fixedResult(ruler.widths, ruler: ruler) }
    if let result = resultBehindSeparatorLine() { return result }
    var dialect = chooseMarks()
    dialect.quotedEmpty = given.quotedEmpty
    dialect.commentPrefix = given.commentPrefix.flatMap { $0.isEmpty ? nil : $0 }
    dialect.skippedLineCount = given.skippedLineCount ?? 0
    dialect.skippedLineCount += leadingCommentLineCount(dialect)
    var table = read(dialect)
    let otherHeader = otherHeader(of: table)
    if given.skippedLineCount == nil && otherHeader == nil {
      let commentCount = dialect.skippedLineCount
      dialect.skippedLineCount = preambleLineCount(table, behind: commentCount)
      if dialect.skippedLineCount > commentCount { table = read(dialect) }
      hasTitle = dialect.skippedLineCount > commentCount
    }
    dialect.headerLineCount = given.headerLineCount ?? (otherHeader == nil ? headerLineCount(of: table) : 1)

    let shape = table.shape(ignoringHashes: false)
    var remarks: [Wording] = []
    var names = names(of: table, dialect, shape, &remarks)
    if let otherHeader, given.columnNames == nil, dialect.headerLineCount == 1 {
      names = HeaderNames(fields: otherHeader.names)
      remarks = ["the header is parted by \(CSVDialect.name(of: [otherHeader.delimiter])), and the records are not"]
    }
    remarks += doubts + self.doubts(in: table, dialect, names: names.names)
    if let remark = secondTableRemark(table, headerLineCount: dialect.headerLineCount) { remarks.append(remark) }
    return CSVSniffResult(
      dialect: dialect, headerNames: names.names, header: header(of: table, dialect), renamings: names.renamings, lineEnd: table.lineEnd,
      fieldCount: names.names.count, remarks: remarks,
      delimiterEvidence:
        "\(shape.fieldCount) field\(shape.fieldCount == 1 ? "" : "s") in \(shape.agreeingCount) of "
        + "\(shape.recordCount) records",
      unknownFields: unknownFields(table))
  }

  /// What follows a first line `sep=;`, read so.
  private func resultBehindSeparatorLine() -> CSVSniffResult? {
    guard given.skippedLineCount == nil, let line = SeparatorLine(bytes) else { return nil }
    let rest = UnsafeBufferPointer(rebasing: bytes.dropFirst(line.byteCount))
    var result = result(of: rest, delimiter: given.delimiter ?? [line.delimiter])
    if given.delimiter == nil && result.fieldCount == 1 && !rest.contains(line.delimiter) {
      let other = self.result(of: rest, delimiter: nil)
      if other.fieldCount > 1 {
        result = other
        result.remarks.append(
          "the first line says that the delimiter is \(CSVDialect.name(of: [line.delimiter])), which is in no line: "
            + "\(CSVDialect.name(of: other.dialect.delimiter)) parts the fields; \(.delimiter) says another one")
      }
    }
    result.dialect.skippedLineCount += line.lineCount
    return result
  }

  private func result(of bytes: UnsafeBufferPointer<UInt8>, delimiter: [UInt8]?) -> CSVSniffResult {
    var given = given
    given.delimiter = delimiter
    var sniffing = Sniffing(bytes: bytes, isWhole: isWhole, given: given)
    return sniffing.result()
  }

  /// No more of a header is kept to know it again.
  private static let headerByteLimit = 64 << 10

  func header(of table: SampleRecords, _ dialect: CSVDialect) -> [UInt8]? {
    guard dialect.headerLineCount == (dialect.widths?.ruler == nil ? 1 : 2), let first = table.records.first, first.fields.count > 1, !first.isBroken,
      !table.isFirstRecordCut, !table.isFirstRecordTooWide
    else { return nil }
    var stop = table.records.count > 1 ? table.records[1].offset : bytes.count
    var reader = table.reader
    reader.offset = first.offset
    for _ in first.fields { _ = reader.nextField() }
    stop = min(stop, reader.offset)
    while stop > first.offset, bytes[stop - 1] == 0x0A || bytes[stop - 1] == 0x0D { stop -= 1 }
    let header = bytes[first.offset..<stop]
    return header.count > Self.headerByteLimit ? nil : Array(header)
  }

  /// Below a title the names may take two lines: groups of columns, or units.
  private func headerLineCount(of table: SampleRecords) -> Int {
    if hasTitle, HeaderJudge(table, hasSecondRow: true).isSecondRowHeader { return 2 }
    if isUnderlined(table) { return 2 }
    return HeaderJudge(table).hasHeader ? 1 : 0
  }

  /// Whether lines of dashes stand below the first record, as programs draw them below a header.
  func isUnderlined(_ table: SampleRecords) -> Bool {
    guard table.records.count > 2, let second = table.records.dropFirst().first, !second.isBroken,
      second.fields.count == table.records[0].fields.count
    else { return false }
    return table.texts(of: second).allSatisfy { $0.count > 1 && Self.isLine($0) }
  }

  private static func isLine(_ text: some Collection<UInt8>) -> Bool {
    !text.isEmpty && text.allSatisfy { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "=") }
  }

  /// A header that is parted by another mark than the records.
  private func otherHeader(of table: SampleRecords) -> (names: [String], delimiter: UInt8)? {
    let fieldCount = table.shape(ignoringHashes: false).fieldCount
    guard let first = table.records.first, !first.isBroken, first.fields.count == 1, fieldCount > 2,
      table.records.count > 2,
      table.records.dropFirst().count(where: { $0.fields.count == fieldCount }) * 10 >= (table.records.count - 1) * 9,
      !HeaderJudge(table, from: 1).hasHeader
    else { return nil }
    var line = table.reader
    line.offset = first.offset
    line.skipLine()
    let bytes = UnsafeBufferPointer(rebasing: self.bytes[first.offset..<line.offset])
    for (delimiter, _) in Self.delimiters where [delimiter] != table.reader.delimiter {
      let dialect = CSVDialect(delimiter: [delimiter], quote: table.reader.quote)
      let sample = SampleRecords(bytes, dialect: dialect, isWhole: true)
      guard let record = sample.records.first, !record.isBroken, record.fields.count == fieldCount else { continue }
      let names = sample.texts(of: record)
      if names.allSatisfy({ !$0.isEmpty && !CellLook($0).isTyped }) {
        return (names.map { HeaderNames.trim(String(decoding: $0, as: UTF8.self)) }, delimiter)
      }
    }
    return nil
  }

  func unknownFields(_ table: SampleRecords) -> CSVSniffResult.UnknownFields? {
    if given.columnNames != nil { return nil }
    if table.isFirstRecordTooWide { return .tooMany }
    return table.isFirstRecordCut ? .cut(byteCount: bytes.count) : nil
  }

  /// The columns' names: given ones, those of the header, or numbered ones.
  private func names(
    of table: SampleRecords, _ dialect: CSVDialect, _ shape: SampleRecords.Shape, _ remarks: inout [Wording]
  ) -> HeaderNames {
    if let names = given.columnNames { return HeaderNames(fields: names) }
    let headers = table.records.prefix(dialect.headerLineCount)
    if headers.isEmpty { return HeaderNames(count: table.records.isEmpty ? 0 : shape.fieldCount) }

    var names = joinedNames(headers, of: table, dialect)
    // Delimiters too many in the header: its empty names belong to no field when all records agree on that.
    let body = table.records.dropFirst(headers.count)
    let filled = names.filter { !$0.isEmpty }
    if filled.count < names.count && body.count > 1 && body.allSatisfy({ $0.fields.count == filled.count }) {
      remarks.append(
        "the header has \(names.count) fields, the records have \(filled.count): its empty names are left out"
      )
      names = filled
    }
    if let usual = body.isEmpty ? nil : shape.fieldCount, usual != names.count {
      let count = "the header has \(names.count) field\(names.count == 1 ? "" : "s")"
      remarks.append(
        table.hasRowNames
          ? "\(count), all records have \(usual): the first one, which has no name, is column_1"
          : "\(count), most records have \(usual)")
      // A header that names fewer (a lost delimiter, row names without a title) must not make them all ragged.
      let isMost = shape.agreeingCount * 2 > shape.recordCount || table.hasRowNames && shape.agreeingCount > 1
      if isMost && usual > names.count {
        let surplus = Array(repeating: "", count: usual - names.count)
        names = table.hasRowNames ? surplus + names : names + surplus
      }
    }
    return HeaderNames(fields: names)
  }

  /// The names that stand in one column below each other, joined by a space.
  func joinedNames(_ headers: ArraySlice<SampleRecords.Record>, of table: SampleRecords, _ dialect: CSVDialect) -> [String] {
    let rows = headers.map { header in
      table.texts(of: header).map { text in
        let name = HeaderNames.trim(String(decoding: text, as: UTF8.self))
        if headers.count > 1 && Self.isLine(name.utf8) { return "" }
        return header.isBroken ? unquoted(name, dialect) : name
      }
    }
    let width = rows.map(\.count).max() ?? 0
    return (0..<width).map { column in
      rows.compactMap { column < $0.count && !$0[column].isEmpty ? $0[column] : nil }.joined(separator: " ")
    }
  }

  /// A name without the quotes around it, where those of its header make no sense.
  private func unquoted(_ name: String, _ dialect: CSVDialect) -> String {
    guard let quote = dialect.quote, name.utf8.first == quote, name.utf8.last == quote, name.utf8.count > 2 else {
      return name
    }
    return String(decoding: Array(name.utf8.dropFirst().dropLast()), as: UTF8.self)
  }

  /// Reads the sample from the end of the skipped lines on.
  func read(_ dialect: CSVDialect) -> SampleRecords {
    var reader = FieldReader(bytes: bytes, dialect: dialect)
    for _ in 0..<dialect.skippedLineCount where !reader.isAtEnd { reader.skipLine() }
    return SampleRecords(bytes, dialect: dialect, isWhole: isWhole, offset: reader.offset)
  }
}
