import UpsurgeRecords

/// Lines before the table that are no part of it.
extension Sniffing {
  /// Physical lines before the table, from the first line of the input on: titles with fewer fields than it has, lines of
  /// another width, and such that a spreadsheet has padded.
  func preambleLineCount(_ sample: SampleRecords, behind skipped: Int) -> Int {
    let records = sample.records
    let fieldCount = sample.shape(ignoringHashes: false).fieldCount
    guard fieldCount > 1, !isOneName(sample, fieldCount) else { return skipped }
    let first = [
      titleCount(sample, fieldCount), emptyTitleCount(records, of: sample),
      strangerCount(sample, fieldCount), paddedTitleCount(sample, fieldCount), shortTitleCount(sample, fieldCount),
    ].max() ?? 0
    return first == 0 ? skipped : sample.lineCount(before: records[first].offset)
  }

  /// Whether the first record is one word above records of two fields, with no names below it: it names the second field.
  private func isOneName(_ sample: SampleRecords, _ fieldCount: Int) -> Bool {
    guard fieldCount == 2, sample.records.count > 2, let first = sample.records.first, first.fields.count == 1,
      !first.isBroken
    else { return false }
    let name = sample.text(first.fields.lowerBound)
    return !name.isEmpty && !name.contains(where: FieldReader.isBlank) && !HeaderJudge(sample, from: 1).isSupported
  }

  /// The most records that are looked at as titles.
  private static let limit = 50

  /// Records before the first whole one that have one field, or less than half of the table's.
  private func titleCount(_ sample: SampleRecords, _ fieldCount: Int) -> Int {
    let records = sample.records
    let count = records.prefix {
      !$0.isBroken && ($0.fields.count == 1 || $0.fields.count * 2 < fieldCount)
    }.count
    let table = records.dropFirst(count)
    guard count > 0, count <= Self.limit, table.first?.fields.count == fieldCount else { return 0 }
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

  /// Leading records of another width than the table below them, in which nearly all are of one.
  private func strangerCount(_ sample: SampleRecords, _ fieldCount: Int) -> Int {
    let records = sample.records
    let count = records.prefix { $0.isBroken || $0.fields.count != fieldCount }.count
    let rest = records.dropFirst(count)
    guard count > 0, count <= Self.limit, rest.count >= 3,
      rest.count(where: { $0.fields.count == fieldCount }) * 10 >= rest.count * 9
    else { return 0 }
    // The last of them may be the header all the same, with a field lost or too many.
    let isHeader = !HeaderJudge(sample, from: count).isSupported && isHeader(count - 1, of: sample, fieldCount)
    return isHeader ? count - 1 : count
  }

  /// Whether a record of another width than the table could name its columns.
  private func isHeader(_ index: Int, of sample: SampleRecords, _ fieldCount: Int) -> Bool {
    let record = sample.records[index]
    if record.isBroken { return true }
    var names = sample.texts(of: record)
    while names.last?.isEmpty == true { names.removeLast() }
    let filled = names.filter { !$0.isEmpty }
    guard filled.count * 2 > fieldCount, filled.count > 1 || fieldCount == 2 && index == 0,
      filled.count == names.count || filled.count == fieldCount
    else { return false }
    return filled.allSatisfy { !CellLook($0).isTyped }
  }

  /// Leading records that end with an empty cell, above a full header and records that are full, as names and values of
  /// what the table is about.
  private func shortTitleCount(_ sample: SampleRecords, _ fieldCount: Int) -> Int {
    let records = sample.records
    func isShort(_ record: SampleRecords.Record) -> Bool {
      record.isBroken || record.fields.count != fieldCount || sample.text(record.fields.upperBound - 1).isEmpty
    }
    let count = records.prefix {
      isShort($0) && !$0.isBroken && $0.fields.count == fieldCount && !sample.text($0.fields.lowerBound).isEmpty
    }.count
    let table = records.dropFirst(count)
    guard count > 0, count <= Self.limit, table.count >= 3, let header = table.first,
      sample.filledCount(of: header) == fieldCount, table.count(where: isShort) * 10 <= table.count,
      Set(sample.texts(of: header)).count == fieldCount, HeaderJudge(sample, from: count).isSupported
    else { return 0 }
    return count
  }

  /// Whether a record with empty cells stands above one that names all columns: groups of them.
  private func isGroupRow(
    _ record: SampleRecords.Record, above next: SampleRecords.Record?, in sample: SampleRecords, _ fieldCount: Int
  ) -> Bool {
    guard let next, !next.isBroken, sample.filledCount(of: record) > 1, sample.filledCount(of: next) == fieldCount else { return false }
    return sample.texts(of: next).allSatisfy { !CellLook($0).isTyped }
  }

  /// Leading records that are mostly empty, above a header and records that are mostly full: titles that a spreadsheet has
  /// padded.
  private func paddedTitleCount(_ sample: SampleRecords, _ fieldCount: Int) -> Int {
    let records = sample.records
    let most = max(1, fieldCount / 2)
    // Cells that are filled after empty ones stand above columns: they are part of a header.
    let count = records.prefix {
      !$0.isBroken && sample.filledCount(of: $0) <= most
        && (sample.filledCount(of: $0) == 0 || !sample.text($0.fields.lowerBound).isEmpty)
    }.count
    let table = records.dropFirst(count)
    guard fieldCount > 2, count > 0, count <= Self.limit, table.count >= 3, let header = table.first,
      header.fields.count == fieldCount,
      sample.filledCount(of: header) > most || isGroupRow(header, above: table.dropFirst().first, in: sample, fieldCount),
      table.dropFirst().count(where: { sample.filledCount(of: $0) <= most }) <= max(table.count / 10, 1)
    else { return 0 }
    var below = sample
    below.dropFirst(count)
    let hasTwoRows = HeaderJudge(below, hasSecondRow: true).isSecondRowHeader
    if hasTwoRows && sample.filledCount(of: header) <= most { return count }
    let isDistinct =
      Set(sample.texts(of: header).filter { !$0.isEmpty }).count == sample.filledCount(of: header)
    if isDistinct && HeaderJudge(sample, from: count).isSupported {
      return sample.filledCount(of: header) == fieldCount ? count : 0
    }
    return hasTwoRows ? count : 0
  }
}
