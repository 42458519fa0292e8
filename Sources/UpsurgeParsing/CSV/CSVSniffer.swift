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
  /// More of a sample says nothing new.
  package static let sampleByteLimit = 256 << 10

  /// - Parameters:
  ///   - sample: the first bytes of the decoded stream.
  ///   - isWhole: whether they are all of it; else the last record is taken as cut.
  package static func sniff(
    sample: UnsafeBufferPointer<UInt8>, isWhole: Bool, given: CSVOverrides = CSVOverrides()
  ) -> CSVSniffResult {
    let isCut = sample.count > sampleByteLimit
    var bytes = UnsafeBufferPointer(rebasing: sample.prefix(sampleByteLimit))
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = UnsafeBufferPointer(rebasing: bytes.dropFirst(3)) }
    return Sniffing(bytes: bytes, isWhole: isWhole && !isCut, given: given).result()
  }

  /// The same for an array.
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

  func result() -> CSVSniffResult {
    var dialect = chooseMarks()
    dialect.commentPrefix = chooseComment(dialect)
    if let skipped = given.skippedLineCount {
      dialect.skippedLineCount = skipped
    } else {
      dialect.skippedLineCount = preambleLineCount(read(dialect))
    }
    let table = read(dialect)
    dialect.headerLineCount = given.headerLineCount ?? (HeaderJudge(table).hasHeader ? 1 : 0)

    let shape = table.shape(ignoringHashes: false)
    let headers = Array(table.records.prefix(dialect.headerLineCount))
    let fieldCount =
      table.records.isEmpty ? 0 : headers.map(\.fields.count).max() ?? shape.fieldCount
    let names =
      headers.isEmpty
      ? HeaderNames(count: fieldCount) : HeaderNames(fields: joinedNames(headers, of: table, fieldCount))
    return CSVSniffResult(
      dialect: dialect, headerNames: names.names, renamings: names.renamings, lineEnd: table.lineEnd,
      fieldCount: fieldCount,
      delimiterEvidence:
        "\(shape.fieldCount) field\(shape.fieldCount == 1 ? "" : "s") in \(shape.agreeingCount) of "
        + "\(shape.recordCount) records")
  }

  /// Reads the sample from behind the skipped lines on.
  func read(_ dialect: CSVDialect) -> SampleRecords {
    var reader = FieldReader(bytes: bytes, dialect: dialect)
    for _ in 0..<dialect.skippedLineCount where !reader.isAtEnd { reader.skipLine() }
    return SampleRecords(bytes, dialect: dialect, isWhole: isWhole, offset: reader.offset)
  }

  /// The names of all header records, one column's below each other joined by a space.
  private func joinedNames(
    _ headers: [SampleRecords.Record], of table: SampleRecords, _ fieldCount: Int
  ) -> [String] {
    let rows = headers.map { table.texts(of: $0).map(HeaderNames.trim) }
    return (0..<fieldCount).map { column in
      rows.compactMap { column < $0.count && !$0[column].isEmpty ? $0[column] : nil }.joined(separator: " ")
    }
  }
}
