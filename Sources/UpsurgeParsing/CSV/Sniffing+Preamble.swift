import UpsurgeRecords

/// Lines that are no part of the table.
extension Sniffing {
  /// `#` when records that start so do not fit in with the others.
  func chooseComment(_ dialect: CSVDialect) -> [UInt8]? {
    if let prefix = given.commentPrefix { return prefix.isEmpty ? nil : prefix }
    let sample = read(dialect)
    let hashes = sample.records.filter(\.startsWithHash)
    guard !hashes.isEmpty && hashes.count < sample.records.count else { return nil }
    let shape = sample.shape(ignoringHashes: true)
    let leadingCount = sample.records.prefix { $0.startsWithHash }.count

    let isComment: Bool
    if shape.fieldCount > 1 {
      let strangers = hashes.count { $0.isBroken || $0.fields.count != shape.fieldCount }
      isComment = strangers * 2 >= hashes.count && strangers > 0
    } else {
      // In one column only the place and the look tell a comment from data.
      isComment =
        leadingCount == hashes.count
        && hashes.allSatisfy { record in
          let next = record.offset + 1
          return next < bytes.count && (bytes[next] == UInt8(ascii: " ") || bytes[next] == UInt8(ascii: "#"))
        }
    }
    return isComment ? [UInt8(ascii: "#")] : nil
  }

  /// Physical lines before the table: titles with fewer fields than it has, or with all fields but one empty and
  /// an empty record after them.
  func preambleLineCount(_ sample: SampleRecords) -> Int {
    let records = sample.records
    let fieldCount = sample.shape(ignoringHashes: false).fieldCount
    guard fieldCount > 1 else { return 0 }
    let first = max(
      titleCount(records, fieldCount), emptyTitleCount(records, of: sample))
    return first == 0 ? 0 : sample.lineCount(before: records[first].offset)
  }

  /// Records before the first whole one that have one field, or less than half of the table's.
  private func titleCount(_ records: [SampleRecords.Record], _ fieldCount: Int) -> Int {
    let count = records.prefix {
      !$0.isBroken && ($0.fields.count == 1 || $0.fields.count * 2 < fieldCount)
    }.count
    let table = records.dropFirst(count)
    guard count > 0, count <= 50, table.first?.fields.count == fieldCount else { return 0 }
    // A delimiter that was given may be the wrong one; few fields in the first lines are then no sign of a title.
    if given.delimiter != nil
      && (table.dropFirst().first?.fields.count != fieldCount
        || records.prefix(count).contains { $0.fields.count != 1 })
    {
      return 0
    }
    // A table of two columns needs more than one record to be believed.
    if fieldCount == 2 && table.count < 2 { return 0 }
    let agreeing = table.count { $0.fields.count == fieldCount }
    return agreeing * 2 >= table.count ? count : 0
  }

  /// Leading records with one filled field at most, if one of them is all empty.
  private func emptyTitleCount(_ records: [SampleRecords.Record], of sample: SampleRecords) -> Int {
    let count = records.prefix { sample.filledCount(of: $0) <= 1 && !$0.isBroken }.count
    let hasEmpty = records.prefix(count).contains { sample.filledCount(of: $0) == 0 && $0.fields.count > 1 }
    return hasEmpty && count < records.count ? count : 0
  }
}
