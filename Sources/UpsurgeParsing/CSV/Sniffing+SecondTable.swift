import UpsurgeRecords

/// Another table below the first one, in the same file: only one can be loaded.
extension Sniffing {
  private static let candidateLimit = 20

  /// Says where another table seems to begin: names that nothing above them has, after a blank line or with another number
  /// of fields than the records above.
  func secondTableRemark(_ table: SampleRecords, headerLineCount: Int) -> Wording? {
    let records = table.records
    let fieldCount = table.shape(ignoringHashes: false).fieldCount
    var candidateCount = 0
    for index in records.indices.dropFirst(headerLineCount + 1).dropLast() {
      let (record, next) = (records[index], records[index + 1])
      let width = record.fields.count
      guard width > 1, !record.isBroken, next.fields.count == width else { continue }
      let above = records[index - 1]
      let isApart = isBlank(before: record.offset) || table.filledCount(of: above) == 0
      guard isApart || width != fieldCount && width != above.fields.count || standsOut(record, at: index, in: table)
      else { continue }
      candidateCount += 1
      if candidateCount > Self.candidateLimit { return nil }
      let names = table.texts(of: record)
      if headerLineCount > 0, names == table.texts(of: records[0]) { continue }
      guard names.allSatisfy({ !$0.isEmpty && !CellLook($0).isTyped }), Set(names).count == width,
        HeaderJudge(table, from: index).isSupported
      else { continue }
      let line = table.lineCount(before: record.offset)
      let list = names.prefix(3).map { String(decoding: $0.prefix(20), as: UTF8.self).escapedForTerminal }
      return "line \(line + 1) seems to begin another table: \(list.joined(separator: ", "))\(width > 3 ? ", ..." : ""). "
        + "One table is read from a file: split it there, or \(.skipLines, line) reads the other one"
    }
    return nil
  }

  /// Whether a record has texts only, in columns that hold numbers and the like above it and below it.
  private func standsOut(_ record: SampleRecords.Record, at index: Int, in table: SampleRecords) -> Bool {
    guard index > 1, index + 2 < table.records.count else { return false }
    let others = [index - 2, index - 1, index + 1, index + 2].map { table.texts(of: table.records[$0]) }
    return record.fields.indices.contains { field in
      let column = field - record.fields.lowerBound
      return others.allSatisfy { column < $0.count && CellLook($0[column]).isTyped } && !CellLook(table.text(field)).isTyped
    }
  }

  /// Whether a blank line precedes a line.
  private func isBlank(before offset: Int) -> Bool {
    var at = offset - 1
    guard at > 0, bytes[at] == 0x0A || bytes[at] == 0x0D else { return false }
    if bytes[at] == 0x0A && bytes[at - 1] == 0x0D { at -= 1 }
    return at > 0 && (bytes[at - 1] == 0x0A || bytes[at - 1] == 0x0D && bytes[at] == 0x0D)
  }
}
