import UpsurgeRecords

/// Lines with `#` before the table: comments, or a header that is marked so.
///
///     # made on Tuesday        a comment
///     ##fileformat=VCFv4       a comment
///     #CHROM  POS              the header: as many fields as the records have
///     1       100
///     #2      90               a record: comments only stand before the header
extension Sniffing {
  /// Physical lines of comments before the table, after those that `dialect` skips.
  func leadingCommentLineCount(_ dialect: CSVDialect) -> Int {
    if given.commentPrefix != nil { return 0 }
    let sample = read(dialect)
    guard sample.records.first?.startsWithHash == true,
      let firstPlain = sample.records.firstIndex(where: { !$0.startsWithHash })
    else { return 0 }
    let rest = sample.records[firstPlain...]
    let block = HashBlock(
      sample: sample, fieldCount: sample.shape(of: rest).fieldCount,
      stop: sample.records[firstPlain].offset)
    return block.commentLineCount(above: SampleRecords(bytes, dialect: dialect, isWhole: isWhole, offset: block.stop))
  }
}

/// The lines of a sample that begin with `#`, before the first one that does not.
private struct HashBlock {
  let sample: SampleRecords
  /// Fields of the records below it.
  let fieldCount: Int
  /// Where the first line below it starts.
  let stop: Int

  func commentLineCount(above table: SampleRecords) -> Int {
    var reader = sample.reader
    reader.offset = sample.records[0].offset
    var count = 0
    var lineCount = 0
    var lastLine: (offset: Int, hasBlank: Bool, isTable: Bool)?
    while reader.offset < stop {
      let start = reader.offset
      reader.skipLine()
      lineCount += 1
      guard sample.reader.bytes[start] == UInt8(ascii: "#") else { continue }
      let mark = Mark(sample.reader.bytes[(start + 1)..<min(reader.offset, stop)])
      let isTable = fieldCount > 1 && mark != .double && fields(at: start) == fieldCount
      lastLine = (start, mark == .blank, isTable)
      if isComment(mark, isTable: isTable) { count = lineCount }
    }
    // `# x, y` above records without a header of their own names their fields.
    if let lastLine, lastLine.hasBlank, lastLine.isTable, count == lineCount, !HeaderJudge(table).hasHeader {
      count -= 1
    }
    return count
  }

  private func isComment(_ mark: Mark, isTable: Bool) -> Bool {
    switch mark {
    case .double, .blank: true
    case .name: fieldCount > 1 && !isTable
    }
  }

  /// What follows the first `#` of a line.
  private enum Mark {
    case double, blank, name

    init(_ rest: Slice<UnsafeBufferPointer<UInt8>>) {
      switch rest.first {
      case UInt8(ascii: "#"): self = .double
      case nil, 0x20, 0x09, 0x0A, 0x0D: self = .blank
      default: self = .name
      }
    }
  }

  /// Fields of one physical line.
  private func fields(at offset: Int) -> Int {
    var line = sample.reader
    line.offset = offset
    line.skipLine()
    var reader = FieldReader(
      bytes: UnsafeBufferPointer(rebasing: sample.reader.bytes[offset..<line.offset]), like: sample.reader)
    var count = 1
    while reader.nextFieldLeniently().ending == .delimiter { count += 1 }
    return count
  }
}
