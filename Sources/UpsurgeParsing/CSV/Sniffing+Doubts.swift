import UpsurgeRecords

/// What in the values speaks against the marks that were chosen, with the option for the other reading.
extension Sniffing {
  /// Records that are looked at.
  private static let limit = 200
  private static let marks: [UInt8] = [UInt8(ascii: "\""), UInt8(ascii: "'")]

  /// - Parameters:
  ///   - table: the sample by the marks that were chosen.
  ///   - names: those of its columns.
  func doubts(in table: SampleRecords, _ dialect: CSVDialect, names: [String]) -> [Wording] {
    let body = table.records.dropFirst(dialect.headerLineCount).prefix(Self.limit).filter { !$0.isBroken }
    return quotesThatAreData(dialect) + otherQuotes(in: body, of: table, dialect, names) + quotedLines(in: body, of: table)
      + blanks(in: body, of: table, dialect) + nullMarks(in: body, of: table, dialect)
      + secondHeader(of: table, dialect) + recurringNames(of: table, dialect) + headerAsTitle(of: table, dialect)
      + headerByPlace(of: table, dialect)
  }

  /// Fields begin with a quote, and reading it as one made no sense.
  private func quotesThatAreData(_ dialect: CSVDialect) -> [Wording] {
    guard given.quote == nil, dialect.quote == nil else { return [] }
    var reader = FieldReader(bytes: bytes, dialect: dialect)
    var count = 0
    while !reader.isAtEnd && count < 1_000 {
      let field = reader.nextField()
      if field.stop > field.start && bytes[field.start] == Self.marks[0] {
        return [
          "the quotes do not match up, so they are read as data; \(.quote, "'\"'") \(.quotes, "lenient") reads them as quotes "
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
  ) -> [Wording] {
    let isPreset = given.quote == CSVOverrides.Mark.none && given.escaping == .letters
    guard given.quote == nil || isPreset else { return [] }
    let body = isPreset ? table.records : body
    for mark in Self.marks where mark != dialect.quote {
      for column in names.indices {
        let values = body.compactMap { value(of: $0, column, in: table) }.filter { $0.count > 0 }
        let enclosed = values.count { $0.count > 1 && $0.first == mark && $0.last == mark }
        if enclosed > 1 && enclosed * 5 >= values.count * 4 {
          let option: Wording = mark == Self.marks[0] ? "\(.quote, "'\"'")" : "\(.quote, "\"'\"")"
          return [
            "the values of \(names[column].escapedForTerminal) keep the \(CSVDialect.name(of: [mark])) around them; "
              + "\(saying: option) reads them without"
          ]
        }
      }
    }
    return []
  }

  /// Each line is one quoted field that holds delimiters: somebody has quoted the lines and not the fields.
  private func quotedLines(in body: [SampleRecords.Record], of table: SampleRecords) -> [Wording] {
    guard given.delimiter == nil, body.count > 1, body.allSatisfy({ $0.fields.count == 1 }) else { return [] }
    let lines = body.map { table.fields[$0.fields.lowerBound] }
    guard lines.allSatisfy(\.isQuoted) else { return [] }
    let hasFields = Self.delimiters.prefix(4).contains { delimiter in
      body.allSatisfy { table.text($0.fields.lowerBound).contains(delimiter.byte) }
    }
    return hasFields
      ? ["each line stands in quotes as a whole, and is one field; sed 's/^\"//; s/\"$//; s/\"\"/\"/g' takes them off first"] : []
  }

  /// What stands at the ends of fields, beside the delimiters.
  private struct Ends {
    var fieldCount = 0
    var blankCount = 0
    var singleCount = 0

    mutating func add(_ value: UnsafeBufferPointer<UInt8>, isStart: Bool) {
      fieldCount += 1
      guard value.count > 1, value[isStart ? 0 : value.count - 1] == FieldReader.blank else { return }
      blankCount += 1
      if value[isStart ? 1 : value.count - 2] != FieldReader.blank { singleCount += 1 }
    }

    var isUsual: Bool { blankCount > 1 && blankCount * 5 >= fieldCount * 4 }
  }

  private func ends(of records: [SampleRecords.Record], in table: SampleRecords) -> (start: Ends, stop: Ends) {
    var (start, stop) = (Ends(), Ends())
    for record in records where !record.isBroken && record.fields.count > 1 {
      for column in 0..<record.fields.count {
        guard let value = value(of: record, column, in: table), !value.isEmpty else { continue }
        if column > 0 { start.add(value, isStart: true) }
        if column + 1 < record.fields.count { stop.add(value, isStart: false) }
      }
    }
    return (start, stop)
  }

  /// Most fields begin or end with a blank, which stands beside each delimiter.
  private func blanks(
    in body: [SampleRecords.Record], of table: SampleRecords, _ dialect: CSVDialect
  ) -> [Wording] {
    guard given.delimiter == nil, dialect.delimiter.count == 1, dialect.delimiter[0] > FieldReader.blank else { return [] }
    let (start, stop) = ends(of: body, in: table)
    let (begins, ends) = (start.isUsual, stop.isUsual)
    guard begins || ends else { return [] }
    let place = begins ? ends ? "begin and end" : "begin" : "end"
    let header = self.ends(of: Array(table.records.prefix(dialect.headerLineCount)), in: table)
    func isSingle(_ ends: Ends, _ header: Ends) -> Bool {
      // A header of several names is found again where no blanks stand in it.
      let isHeaderRead = header.singleCount == header.fieldCount || header.blankCount == 0 && header.fieldCount > 1
      return ends.singleCount == ends.fieldCount && isHeaderRead
    }
    guard !begins || isSingle(start, header.start), !ends || isSingle(stop, header.stop) else {
      return ["fields \(place) with blanks, which are part of them, so that numbers are texts, too"]
    }
    let mark = String(decoding: dialect.delimiter, as: UTF8.self)
    let option = "'\(ends ? " " : "")\(mark)\(begins ? " " : "")'"
    return ["fields \(place) with a blank, which is part of them; \(.delimiter, option) reads them without"]
  }

  /// Fields are `\N`, which programs write for NULL where they escape with backslashes.
  private func nullMarks(
    in body: [SampleRecords.Record], of table: SampleRecords, _ dialect: CSVDialect
  ) -> [Wording] {
    let mark: [UInt8] = [UInt8(ascii: "\\"), UInt8(ascii: "N")]
    guard given.escape == nil, !given.nullSpellings.contains(mark),
      body.contains(where: { $0.fields.contains { !table.fields[$0].isQuoted && isMark($0, mark, table) } })
    else { return [] }
    let isTabbed = dialect.delimiter == [0x09]
    return [
      isTabbed
        ? "fields are \\N, which is read as text; \(.dialect, "mysql") or \(.dialect, "postgres") reads it as NULL, and undoes escapes such as \\n"
        : "fields are \\N, which is read as text; \(.null, "'\\N'") reads it as NULL"
    ]
  }

  private func isMark(_ field: Int, _ mark: [UInt8], _ table: SampleRecords) -> Bool {
    bytes[table.fields[field].start..<table.fields[field].stop].elementsEqual(mark)
  }

  /// The first record is the header because first records are, where another sign says that it may be none.
  private func headerByPlace(of table: SampleRecords, _ dialect: CSVDialect) -> [Wording] {
    guard given.headerLineCount == nil, given.columnNames == nil, dialect.headerLineCount == 1, let first = table.records.first,
      !HeaderJudge(table).isSupported
    else { return [] }
    let isDump = given.escaping == .letters
    guard isDump || table.records.dropFirst().first.map({ table.repeats(first, in: $0) }) == true else { return [] }
    return ["the first record is read as the header; \(.noHeader) reads it as a record"]
  }

  /// The line above records without a header could be the header: names, of another number than the records have fields.
  private func headerAsTitle(of table: SampleRecords, _ dialect: CSVDialect) -> [Wording] {
    guard given.skippedLineCount == nil, given.headerLineCount == nil, given.columnNames == nil,
      dialect.headerLineCount == 0, dialect.skippedLineCount > 0, hasTitle
    else { return [] }
    var above = dialect
    above.skippedLineCount -= 1
    let sample = read(above)
    guard let first = sample.records.first, !first.isBroken, first.fields.count > 1,
      sample.texts(of: first).allSatisfy({ !$0.isEmpty && !CellLook($0).isTyped })
    else { return [] }
    return [
      "line \(dialect.skippedLineCount) is left out as a title, and the records have no header; \(.skipLines) "
        + "\(above.skippedLineCount) \(.headerLines, "1") reads it as the header"
    ]
  }

  /// The first record could be names that its columns hold as well.
  private func recurringNames(of table: SampleRecords, _ dialect: CSVDialect) -> [Wording] {
    guard given.headerLineCount == nil, given.columnNames == nil, dialect.headerLineCount == 0 else { return [] }
    let judge = HeaderJudge(table)
    if judge.isCounting { return ["the first record is read as data, and could be a header that counts; \(.headerLines, "1") reads it so"] }
    guard judge.isRecurring else { return [] }
    return [
      "the first record is read as data, as its texts stand in later records, too; \(.headerLines, "1") reads it as the header"
    ]
  }

  /// The second record names columns, too, or their units.
  private func secondHeader(of table: SampleRecords, _ dialect: CSVDialect) -> [Wording] {
    guard given.headerLineCount == nil, given.columnNames == nil else { return [] }
    if dialect.headerLineCount == 2 && !isUnderlined(table) {
      return ["the names of the first two records are joined; \(.headerLines, "1") takes those of the first one alone"]
    }
    guard dialect.headerLineCount < 2,
      dialect.headerLineCount == 1 && HeaderJudge(table, hasSecondRow: true).isSecondRowHeader || HeaderJudge.hasNamesBelow(table)
    else { return [] }
    return ["the second record looks like a part of the header; \(.headerLines, "2") joins the two, and \(.skipLines, "1") leaves the first one out"]
  }

  /// An unquoted field; nil without one.
  private func value(
    of record: SampleRecords.Record, _ column: Int, in table: SampleRecords
  ) -> UnsafeBufferPointer<UInt8>? {
    guard column < record.fields.count else { return nil }
    let field = table.fields[record.fields.lowerBound + column]
    return field.isQuoted ? nil : UnsafeBufferPointer(rebasing: bytes[field.start..<field.stop])
  }
}
