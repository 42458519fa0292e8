import UpsurgeRecords

/// What in the values speaks against the marks that were chosen, with the option for the other reading.
extension Sniffing {
  /// Records that are looked at.
  private static let limit = 200
  private static let marks: [UInt8] = [UInt8(ascii: "\""), UInt8(ascii: "'")]

  /// - Parameters:
  ///   - table: the sample by the marks that were chosen.
  ///   - names: those of its columns.
  func doubts(in table: SampleRecords, _ dialect: CSVDialect, names: [String]) -> [String] {
    let body = table.records.dropFirst(dialect.headerLineCount).prefix(Self.limit).filter { !$0.isBroken }
    return quotesThatAreData(dialect) + otherQuotes(in: body, of: table, dialect, names) + blanks(of: table, dialect)
      + secondHeader(of: table, dialect) + recurringNames(of: table, dialect)
  }

  /// Fields begin with a quote, and reading it as one made no sense.
  private func quotesThatAreData(_ dialect: CSVDialect) -> [String] {
    guard given.quote == nil, dialect.quote == nil else { return [] }
    var reader = FieldReader(bytes: bytes, dialect: dialect)
    var count = 0
    while !reader.isAtEnd && count < 1_000 {
      let field = reader.nextField()
      if field.stop > field.start && bytes[field.start] == Self.marks[0] {
        return [
          "the quotes do not fit together, so they are read as data; --quote '\"' --quotes lenient reads them as quotes "
            + "wherever they fit"
        ]
      }
      count += 1
    }
    return []
  }

  /// A column most of whose values stand in the other kind of quotes.
  private func otherQuotes(
    in body: [SampleRecords.Record], of table: SampleRecords, _ dialect: CSVDialect, _ names: [String]
  ) -> [String] {
    guard given.quote == nil else { return [] }
    for mark in Self.marks where mark != dialect.quote {
      for column in names.indices {
        let values = body.compactMap { value(of: $0, column, in: table) }.filter { $0.count > 0 }
        let enclosed = values.count { $0.count > 1 && $0.first == mark && $0.last == mark }
        if enclosed > 1 && enclosed * 5 >= values.count * 4 {
          let option = mark == Self.marks[0] ? "--quote '\"'" : "--quote \"'\""
          return [
            "the values of \(names[column].escapedForTerminal) keep the \(CSVDialect.name(of: [mark])) around them; "
              + "\(option) reads them without"
          ]
        }
      }
    }
    return []
  }

  /// Most fields begin or end with a blank, which stands beside each delimiter.
  private func blanks(of table: SampleRecords, _ dialect: CSVDialect) -> [String] {
    guard given.delimiter == nil, dialect.delimiter.count == 1, dialect.delimiter[0] > FieldReader.blank else { return [] }
    var (afterCount, after, beforeCount, before) = (0, 0, 0, 0)
    for record in table.records.prefix(Self.limit) where !record.isBroken && record.fields.count > 1 {
      for column in record.fields.indices.map({ $0 - record.fields.lowerBound }) {
        guard let value = value(of: record, column, in: table), value.count > 1 else { continue }
        if column > 0 {
          afterCount += 1
          if isSingleBlank(value[0], beside: value[1]) { after += 1 }
        }
        if column + 1 < record.fields.count {
          beforeCount += 1
          if isSingleBlank(value[value.count - 1], beside: value[value.count - 2]) { before += 1 }
        }
      }
    }
    let begins = after > 1 && after * 5 >= afterCount * 4
    let ends = before > 1 && before * 5 >= beforeCount * 4
    guard begins || ends else { return [] }
    let mark = String(decoding: dialect.delimiter, as: UTF8.self)
    let option = "'\(ends ? " " : "")\(mark)\(begins ? " " : "")'"
    return [
      "fields \(begins ? ends ? "begin and end" : "begin" : "end") with a blank, which is part of them; --delimiter "
        + "\(option) reads them without"
    ]
  }

  /// The first record could be names that its columns hold as well.
  private func recurringNames(of table: SampleRecords, _ dialect: CSVDialect) -> [String] {
    guard given.headerLineCount == nil, given.columnNames == nil, dialect.headerLineCount == 0,
      HeaderJudge(table).isRecurring
    else { return [] }
    return [
      "the first record is read as data, as its texts stand in later records, too; --header-lines 1 reads it as the header"
    ]
  }

  private func isSingleBlank(_ byte: UInt8, beside other: UInt8) -> Bool {
    byte == FieldReader.blank && other != FieldReader.blank
  }

  /// The second record names columns, too, or their units.
  private func secondHeader(of table: SampleRecords, _ dialect: CSVDialect) -> [String] {
    guard given.headerLineCount == nil, dialect.headerLineCount == 1,
      HeaderJudge(table, hasSecondRow: true).isSecondRowHeader
    else { return [] }
    return ["the second record looks like a part of the header; --header-lines 2 joins the two, and --skip-lines 1 leaves the first one out"]
  }

  /// An unquoted field; nil where there is none.
  private func value(
    of record: SampleRecords.Record, _ column: Int, in table: SampleRecords
  ) -> UnsafeBufferPointer<UInt8>? {
    guard column < record.fields.count else { return nil }
    let field = table.fields[record.fields.lowerBound + column]
    return field.isQuoted ? nil : UnsafeBufferPointer(rebasing: bytes[field.start..<field.stop])
  }
}
