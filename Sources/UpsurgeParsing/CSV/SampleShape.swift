/// What a sample of a CSV file looks like when it is read with a dialect that somebody else has decided.
package struct SampleShape: Sendable, Equatable {
  /// Fields that most records have; 0 where there is no record.
  package var fieldCount: Int
  /// Records that have as many, and all records; names count as records.
  package var agreeingCount: Int
  package var recordCount: Int
  /// Fields in proper quotes.
  package var quotedCount: Int
  /// Physical lines at the start that begin with `#`, after those that the dialect skips.
  package var leadingHashLineCount: Int

  package init(sample: UnsafeBufferPointer<UInt8>, isWhole: Bool, dialect: CSVDialect) {
    let isCut = sample.count > CSVSniffer.sampleByteLimit
    var bytes = UnsafeBufferPointer(rebasing: sample.prefix(CSVSniffer.sampleByteLimit))
    if bytes.starts(with: CSVParser.byteOrderMark) {
      bytes = UnsafeBufferPointer(rebasing: bytes.dropFirst(3))
    }
    var reader = FieldReader(bytes: bytes, dialect: dialect)
    for _ in 0..<dialect.skippedLineCount where !reader.isAtEnd { reader.skipLine() }
    let records = SampleRecords(bytes, dialect: dialect, isWhole: isWhole && !isCut, offset: reader.offset)
    let shape = records.shape(ignoringHashes: false)
    (fieldCount, agreeingCount, recordCount) = (shape.fieldCount, shape.agreeingCount, shape.recordCount)
    quotedCount = records.quotedCount
    leadingHashLineCount = 0
    while !reader.isAtEnd, bytes[reader.offset] == UInt8(ascii: "#") {
      reader.skipLine()
      leadingHashLineCount += 1
    }
  }

  /// Whether more than half of the records have the same number of fields.
  package var isRegular: Bool { agreeingCount * 2 > recordCount }
}
