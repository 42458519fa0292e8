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
    guard body.count > 1 else { return quotesThatAreData(dialect) }
    return quotesThatAreData(dialect) + otherQuotes(in: body, of: table, dialect, names) + blanks(in: body, of: table, dialect)
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

  /// Most values begin with a blank, which stands behind each delimiter.
  private func blanks(
    in body: [SampleRecords.Record], of table: SampleRecords, _ dialect: CSVDialect
  ) -> [String] {
    guard given.delimiter == nil, dialect.delimiter.count == 1, dialect.delimiter[0] != FieldReader.blank else { return [] }
    var (count, padded) = (0, 0)
    for record in body {
      for column in 1..<max(record.fields.count, 1) {
        guard let value = value(of: record, column, in: table), let first = value.first else { continue }
        count += 1
        if first == FieldReader.blank, value.count > 1, value.dropFirst().first != FieldReader.blank { padded += 1 }
      }
    }
    guard padded > 1, padded * 5 >= count * 4 else { return [] }
    let mark = String(decoding: dialect.delimiter, as: UTF8.self)
    if dialect.delimiter[0] < 0x20 { return [] }
    return ["values begin with a blank, which is part of them; --delimiter '\(mark) ' reads them without"]
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
