import UpsurgeRecords

/// A sample of a CSV file, read with one dialect.
struct SampleRecords {
  struct Record {
    /// The places of the record's fields in `fields`.
    var fields: Range<Int>
    /// Where the record starts in the sample.
    var offset: Int
    /// Whether the record's quotes made no sense; then it is one physical line without fields.
    var isBroken = false
    var startsWithHash = false
  }

  /// So many records are read: more say nothing new.
  static let recordLimit = 1000
  /// So many fields are read: only a record that no table takes has more.
  static let fieldLimit = 3 * HeaderNames.fieldLimit

  let reader: FieldReader
  private(set) var fields: [FieldReader.Field] = []
  private(set) var records: [Record] = []
  /// Fields that are properly quoted.
  private(set) var quotedCount = 0
  private(set) var brokenCount = 0
  /// Whether the sample ends inside its first record.
  private(set) var isFirstRecordCut = false
  /// Whether the first record has more fields than a header may have; the rest of it was not read.
  private(set) var isFirstRecordTooWide = false
  /// How many records end with LF, CRLF, CR.
  private(set) var lineEndCounts = [0, 0, 0]

  /// - Parameter isWhole: whether the sample is all of the file; else its last record is not judged.
  init(_ bytes: UnsafeBufferPointer<UInt8>, dialect: CSVDialect, isWhole: Bool, offset: Int = 0) {
    var reader = FieldReader(bytes: bytes, dialect: dialect)
    reader.offset = offset
    self.reader = reader
    while !reader.isAtEnd && records.count < Self.recordLimit && fields.count < Self.fieldLimit {
      let byte = bytes[reader.offset]
      if byte == 0x0A || byte == 0x0D {
        reader.skipLine()
      } else if byte == 0xEF, bytes[reader.offset...].starts(with: CSVParser.byteOrderMark) {
        reader.offset += CSVParser.byteOrderMark.count
      } else if let prefix = dialect.commentPrefix,
        bytes[reader.offset...].drop(while: { FieldReader.isPadding($0, dialect) }).starts(with: prefix)
      {
        reader.skipLine()
      } else if dialect.widths == nil, let prefix = dialect.commentPrefix, let stop = commentStart(prefix, from: reader.offset) {
        var part = FieldReader(bytes: UnsafeBufferPointer(rebasing: bytes[..<stop]), like: reader)
        part.offset = reader.offset
        readRecord(&part, isWhole: true)
        reader.skipLine()
      } else {
        readRecord(&reader, isWhole: isWhole)
      }
    }
  }

  /// Where a comment begins in the line at `start`, after blanks and outside of quotes; nil where none does.
  private func commentStart(_ prefix: [UInt8], from start: Int) -> Int? {
    var at = start
    var isQuoted = false
    while at < reader.bytes.count, reader.bytes[at] != 0x0A, reader.bytes[at] != 0x0D {
      if reader.bytes[at] == reader.quote { isQuoted.toggle() }
      if !isQuoted, at > start, FieldReader.isBlank(reader.bytes[at - 1]), reader.bytes[at...].starts(with: prefix) {
        var stop = at
        while stop > start && FieldReader.isBlank(reader.bytes[stop - 1]) { stop -= 1 }
        if stop > start && reader.bytes[stop - 1] != reader.delimiter.last { return stop }
      }
      at += 1
    }
    return nil
  }

  /// Leaves records out.
  mutating func dropFirst(_ count: Int) { records.removeFirst(count) }

  private mutating func readRecord(_ reader: inout FieldReader, isWhole: Bool) {
    let start = reader.offset
    let firstField = fields.count
    var record = Record(fields: firstField..<firstField, offset: start)
    record.startsWithHash = reader.bytes[start] == UInt8(ascii: "#")
    var quotedCount = 0
    while true {
      let field = reader.nextField()
      switch field.ending {
      case .badQuote, .unclosedQuote:
        // What the end of the sample has cut is not broken, however long it is.
        if field.ending == .unclosedQuote && !isWhole && !holdsRecords(field) {
          if records.isEmpty {
            isFirstRecordCut = true
            fields.append(field)
            record.fields = firstField..<fields.count
            records.append(record)
          } else {
            fields.removeSubrange(firstField...)
          }
          reader.offset = reader.bytes.count
          return
        }
        fields.removeSubrange(firstField...)
        reader.offset = start
        reader.skipLine()
        record.isBroken = true
        brokenCount += 1
        records.append(record)
        return
      case .delimiter, .lineEnd, .endOfInput:
        fields.append(field)
        if field.isQuoted { quotedCount += 1 }
      }
      if field.ending == .delimiter {
        if fields.count - firstField <= HeaderNames.fieldLimit { continue }
        if records.isEmpty { isFirstRecordTooWide = true }
        reader.skipLine()
        break
      }
      if field.ending == .lineEnd { countLineEnd(before: reader.offset) }
      if field.ending == .endOfInput && !isWhole {
        if records.isEmpty {
          isFirstRecordCut = true
        } else {
          fields.removeSubrange(firstField...)
          return
        }
      }
      break
    }
    record.fields = firstField..<fields.count
    self.quotedCount += quotedCount
    records.append(record)
  }

  /// Whether the lines of a field whose quote stays open are records like the first one, so that the quote is
  /// likely to have been opened by mistake.
  private func holdsRecords(_ field: FieldReader.Field) -> Bool {
    guard let expected = records.first(where: { !$0.isBroken })?.fields.count, expected > 1 else {
      return false
    }
    var lines = FieldReader(
      bytes: UnsafeBufferPointer(rebasing: reader.bytes[..<field.stop]), like: reader)
    lines.offset = field.start
    lines.skipLine()
    var lineCount = 0
    var agreeingCount = 0
    while !lines.isAtEnd && lineCount < 100 {
      var fieldCount = 1
      while lines.nextFieldLeniently().ending == .delimiter { fieldCount += 1 }
      lineCount += 1
      if fieldCount == expected { agreeingCount += 1 }
    }
    return lineCount >= 3 && agreeingCount * 4 > lineCount * 3
  }

  private mutating func countLineEnd(before offset: Int) {
    let isPair = offset > 1 && reader.bytes[offset - 2] == 0x0D
    lineEndCounts[reader.bytes[offset - 1] == 0x0D ? 2 : isPair ? 1 : 0] += 1
  }

  /// `LF`, `CRLF`, `CR`, `mixed`; empty when no record has a line end.
  var lineEnd: String {
    let seen = zip(["LF", "CRLF", "CR"], lineEndCounts).filter { $0.1 > 0 }
    return seen.count > 1 ? "mixed" : seen.first?.0 ?? ""
  }

  /// The text of a field, as bytes.
  func text(_ field: Int) -> [UInt8] { reader.text(of: fields[field]) }

  /// What the fields of a record say; those of a broken one as well as they can be told apart in its line.
  func texts(of record: Record) -> [[UInt8]] {
    if !record.isBroken { return record.fields.map(text) }
    var line = reader
    line.offset = record.offset
    line.skipLine()
    var fields = FieldReader(
      bytes: UnsafeBufferPointer(rebasing: reader.bytes[record.offset..<line.offset]), like: reader)
    var texts: [[UInt8]] = []
    while true {
      let field = fields.nextFieldLeniently()
      texts.append(fields.text(of: field))
      if field.ending != .delimiter { return texts }
    }
  }

  /// Fields of a record that are not empty.
  func filledCount(of record: Record) -> Int {
    record.fields.reduce(0) { $0 + (fields[$1].stop > fields[$1].start ? 1 : 0) }
  }

  /// Physical lines before `offset`.
  func lineCount(before offset: Int) -> Int {
    var reader = reader
    reader.offset = 0
    var count = 0
    while reader.offset < offset {
      reader.skipLine()
      count += 1
    }
    return count
  }
}

extension SampleRecords {
  /// How many fields most records have, and how many do.
  struct Shape: Equatable {
    var fieldCount: Int
    var recordCount: Int
    var agreeingCount: Int

    var consistency: Double { recordCount == 0 ? 0 : Double(agreeingCount) / Double(recordCount) }
  }

  /// The most common number of fields above one, or one where no record has more; comments left out.
  func shape(ignoringHashes: Bool) -> Shape {
    ignoringHashes ? shape(of: records.filter { !$0.startsWithHash }) : shape(of: records)
  }

  /// Whether lines that begin with `#` are of another kind than the others, by their fields.
  var hasHashComments: Bool {
    let plain = records.filter { !$0.startsWithHash }
    let hashCount = records.count - plain.count
    guard hashCount > 0, plain.count > 1 || plain.count == 1 && hashCount == 1 else { return false }
    let fieldCount = shape(of: plain).fieldCount
    return records.count { $0.startsWithHash && !$0.isBroken && $0.fields.count == fieldCount } * 2 < hashCount
      || fieldCount == 1
  }

  /// The most common number of fields above one in some of the records, or one where none has more.
  func shape(of records: some Collection<Record>) -> Shape {
    var counts: [Int: Int] = [:]
    var firstRecord: [Int: Int] = [:]
    for (index, record) in records.enumerated() where !record.isBroken {
      counts[record.fields.count, default: 0] += 1
      if firstRecord[record.fields.count] == nil { firstRecord[record.fields.count] = index }
    }
    let several = counts.filter { $0.key > 1 }
    // Of two that are as common, the one that comes first is more likely to be the header's.
    let best = several.max {
      ($0.value, -(firstRecord[$0.key] ?? 0)) < ($1.value, -(firstRecord[$1.key] ?? 0))
    }
    guard let best else {
      return Shape(fieldCount: 1, recordCount: records.count, agreeingCount: counts[1] ?? 0)
    }
    return Shape(fieldCount: best.key, recordCount: records.count, agreeingCount: best.value)
  }

  /// Whether the first record is one field short of every other one, which are not all empty at the end: it names the
  /// columns from the second on, and the first one holds the names of the rows.
  var hasRowNames: Bool {
    guard records.count > 1, let first = records.first, !first.isBroken else { return false }
    let body = records.dropFirst().dropLast(isFooter(records[records.count - 1]) ? 1 : 0)
    let isShort = body.allSatisfy { $0.isBroken || $0.fields.count == first.fields.count + 1 || repeats(first, in: $0) }
    return isShort && first.fields.count > 0 && !first.fields.contains(where: isEmpty)
      && body.contains { !$0.isBroken && $0.fields.count > first.fields.count && !isEmpty($0.fields.upperBound - 1) }
  }

  private func isFooter(_ record: Record) -> Bool {
    guard records.count > 2, !record.isBroken, record.fields.count == 1 else { return false }
    return FooterWords.begin(String(decoding: text(record.fields.lowerBound), as: UTF8.self), isAlone: true)
  }

  private func isEmpty(_ field: Int) -> Bool { fields[field].stop == fields[field].start }

  /// Whether a record says the same as the first one, field by field: the header of a file that was joined.
  func repeats(_ first: Record, in record: Record) -> Bool {
    guard record.fields.count == first.fields.count, !first.isBroken, !record.isBroken,
      record.offset != first.offset, record.fields.count > 1
    else { return false }
    return zip(first.fields, record.fields).allSatisfy { text($0) == text($1) }
  }
}
