import UpsurgeParsing

/// The slow, obvious CSV parser that the fast one must equal: the whole document at once, one byte at a time.
/// Written from the grammar in `CSVParser`'s comment, not from its code.
package struct CSVOracle {
  let bytes: [UInt8]
  let dialect: CSVDialect
  let fieldCount: Int

  private var at = 0
  /// Where the record or line that was just passed ends, without its line end.
  private var contentEnd = 0
  private var line: UInt64 = 1
  private var number: UInt64 = 0
  private var document = ParsedDocument()
  /// Whether `readRecord` reads one field, or takes quotes for data; and whether the record ended with it.
  private var isSingle = false
  private var unquoted = false
  private var endedRecord = false
  /// How often quotes inside of fields are taken for data: never, where nothing that ends a field follows them, where that
  /// follows a doubled one, and in fields that have several and none that could end them.
  private var lenience = 0

  private struct Field {
    var text: [UInt8] = []
    var raw: [UInt8] = []
    var isQuoted = false
  }

  private enum RecordEnd { case whole, badQuote, unclosedQuote }

  /// Everything that the document holds.
  package static func parse(_ bytes: [UInt8], _ dialect: CSVDialect, fieldCount: Int) -> ParsedDocument {
    var oracle = CSVOracle(bytes: bytes, dialect: dialect, fieldCount: fieldCount)
    oracle.run()
    return oracle.document
  }

  private init(bytes: [UInt8], dialect: CSVDialect, fieldCount: Int) {
    self.bytes = bytes
    self.dialect = dialect
    self.fieldCount = fieldCount
  }

  private mutating func run() {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    for _ in 0..<dialect.skippedLineCount where at < bytes.count { skipLine() }
    var headersLeft = dialect.headerLineCount
    while at < bytes.count {
      if at > 0, starts(with: [0xEF, 0xBB, 0xBF], at: at) {
        warn("byte-order-mark")
        at += 3
      } else if isLineEnd(at) {
        warn("blank-line")
        skipLine()
      } else if let prefix = dialect.commentPrefix, starts(with: prefix, at: at + paddingCount(from: at)) {
        warn("comment")
        skipLine()
      } else if headersLeft > 0 {
        headersLeft -= 1
        let start = at
        if case (_, .whole) = readRecord() {} else { returnToLine(after: start) }
        line += countLines(start, at)
      } else {
        takeRecord()
      }
    }
    document.sortWarnings()
  }

  private mutating func takeRecord() {
    let start = at
    number += 1
    var (fields, ending) = readRecord()
    let isCut = cutComment(&fields, &ending, from: start)
    if ending != .whole && dialect.quotes == .lenient, let found = readLeniently(from: start) {
      (fields, ending) = (found, .whole)
      returnToLine(after: start)
    }
    if ending != .whole {
      returnToLine(after: start)
      let column = fields.count < fieldCount ? "c\(fields.count + 1)" : nil
      reject(ending == .badQuote ? "bad-quote" : "unclosed-quote", column, start)
    } else if let index = fields.firstIndex(where: { String(validating: $0.raw, as: UTF8.self) == nil }) {
      reject("invalid-utf8", index < fieldCount ? "c\(index + 1)" : nil, start)
    } else if !fields.allSatisfy({ $0.raw.isEmpty }) || fields.count < fieldCount, footer(from: start) == .line {
      reject("footer", nil, start)
    } else if fields.count < fieldCount && dialect.ragged == .reject {
      reject("ragged", "c\(fields.count)", start)
    } else if fields.count > fieldCount && dialect.ragged == .reject {
      reject("ragged", "c\(fieldCount)", start)
    } else if fields.count > fieldCount && dialect.ragged == .pad
      && fields[fieldCount...].contains(where: { !$0.text.isEmpty })
    {
      reject("ragged", "c\(fieldCount)", start)
    } else {
      if isCut { warn("trailing-comment", at: start) }
      if fields.count == fieldCount && footer(from: start) == .record { warn("footer-like", at: start) }
      store(fields, start)
    }
    line += countLines(start, at)
  }

  private enum Footer {
    /// A line that is no record.
    case line
    /// One that has all fields, and may be a record.
    case record
  }

  /// What the record at `start` is where all lines from it on are footers; else nil.
  private func footer(from start: Int) -> Footer? {
    if number == 1 || bytes.count - start > 4 << 10 { return nil }
    var kinds: [Footer] = []
    var first = start
    // The record may have several lines; what follows is looked at line by line.
    var rest = self
    rest.at = at
    while first < bytes.count {
      let end = first == start ? at : { rest.skipLine(); return rest.at }()
      guard let kind = footer(line: Array(bytes[first..<end])) else { return nil }
      kinds.append(kind)
      first = end
    }
    return kinds.first
  }

  private func footer(line bytes: [UInt8]) -> Footer? {
    var line = CSVOracle(bytes: bytes, dialect: dialect, fieldCount: fieldCount)
    let found = line.readLeniently()
    let texts = found.map(\.text)
    let name = texts.map { String(decoding: $0, as: UTF8.self) }.map(Self.trimmed).first { !$0.isEmpty } ?? ""
    if texts.count > fieldCount { return nil }
    if fieldCount == 1 {
      return (name.isEmpty ? FooterWords.isBlank(bytes) : FooterWords.isAlone(name)) ? .line : nil
    }
    if texts.count < fieldCount { return FooterWords.begin(name, isAlone: texts.count == 1) ? .line : nil }
    let filled = texts.filter { !$0.isEmpty }
    let isBlankElse = !zip(found, texts).contains { $0.isQuoted && $1.isEmpty }
    let hasNumber = filled.contains(where: FooterWords.isNumber)
    if filled.isEmpty { return isBlankElse ? .record : nil }
    if fieldCount > 2, filled.count == 1, isBlankElse, hasNumber, texts.last?.isEmpty == false { return .record }
    if FooterWords.isTotal(name) && (hasNumber || filled.count == 1) { return .line }
    // What has all fields is looked at for its words only.
    let word = name.prefix { $0.isASCII && $0.isLetter }
    if !(3...9).contains(word.count) || !FooterWords.isWord(String(word)) { return nil }
    return filled.count == 1 && FooterWords.isAlone(name) || FooterWords.isRemark(name, isAlone: filled.count == 1) ? .record : nil
  }

  private static func trimmed(_ text: String) -> String {
    func isBlank(_ scalar: Unicode.Scalar) -> Bool {
      scalar.properties.isWhitespace || scalar == "\u{FEFF}" || scalar == "\0"
    }
    var scalars = Array(text.unicodeScalars)
    while let last = scalars.last, isBlank(last) { scalars.removeLast() }
    while let first = scalars.first, isBlank(first) { scalars.removeFirst() }
    var out = ""
    out.unicodeScalars.append(contentsOf: scalars)
    return out
  }

  /// The fields of one line, where quotes that make no sense are data.
  private mutating func readLeniently() -> [Field] {
    var texts: [Field] = []
    while true {
      let start = at
      var one = self
      one.isSingle = true
      let (fields, ending) = one.readRecord()
      if ending == .whole, let field = fields.first {
        texts.append(field)
        at = one.at
      } else {
        one = self
        one.unquoted = true
        one.isSingle = true
        one.at = start
        texts.append(one.readRecord().0.first ?? Field())
        at = one.at
      }
      if one.endedRecord { return texts }
    }
  }

  /// Reads what stands before a comment behind the last field, if that has all fields.
  private mutating func cutComment(_ fields: inout [Field], _ ending: inout RecordEnd, from start: Int) -> Bool {
    guard let prefix = dialect.commentPrefix, !prefix.isEmpty else { return false }
    let isWhole = ending == .whole && fields.count == fieldCount
    let end = isWhole ? contentEnd : bytes[start...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
    for found in start..<max(end, start) where found + prefix.count <= end && starts(with: prefix, at: found) {
      var stop = found
      while stop > start && isPadding(bytes[stop - 1]) { stop -= 1 }
      let beforeMark = stop - dialect.delimiter.count
      if beforeMark > start, starts(with: dialect.delimiter, at: beforeMark) {
        stop = beforeMark
      } else {
        let after = found + prefix.count
        let isApart = stop < found && (after >= end || bytes[after] == 32 || bytes[after] == 9)
        if stop == start || (!isApart && bytes[stop - 1] != dialect.quote) { continue }
      }
      var part = CSVOracle(bytes: Array(bytes[start..<stop]), dialect: dialect, fieldCount: fieldCount)
      guard case (let read, .whole) = part.readRecord(), read.count == fieldCount else { continue }
      (fields, ending) = (read, .whole)
      if !isWhole { returnToLine(after: start) }
      contentEnd = end
      return true
    }
    return false
  }

  /// Whether a byte is a blank or a tab that does not delimit.
  private func isPadding(_ byte: UInt8) -> Bool { (byte == 32 || byte == 9) && byte != dialect.delimiter[0] }

  private func paddingCount(from start: Int) -> Int { bytes[start...].prefix(while: isPadding).count }

  /// The fields of the line that starts at `start`, with quotes inside of fields as data; nil when they are not as many
  /// as they should be.
  private func readLeniently(from start: Int) -> [Field]? {
    let stop = bytes[start...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
    for lenience in [1, 2, 3] {
      var line = CSVOracle(bytes: Array(bytes[start..<stop]), dialect: dialect, fieldCount: fieldCount)
      line.lenience = lenience
      if case (let fields, .whole) = line.readRecord(), fields.count == fieldCount { return fields }
    }
    return nil
  }

  /// Whether a field that begins with a quote has another one, and none that could end it.
  private func isBare(_ start: Int) -> Bool {
    var quotes: [Int] = []
    for offset in (start + 1)..<max(bytes.count, start + 1) {
      if isLineEnd(offset) || starts(with: dialect.delimiter, at: offset) { break }
      if bytes[offset] == dialect.quote { quotes.append(offset) }
    }
    return !quotes.isEmpty && !quotes.contains { isFieldEnd($0 + 1) }
  }

  /// Whether a field could end at `offset`.
  private func isFieldEnd(_ offset: Int) -> Bool {
    let stop = offset + blanks(from: offset)
    return stop == bytes.count || isLineEnd(stop) || starts(with: dialect.delimiter, at: stop)
  }

  private mutating func store(_ fields: [Field], _ start: Int) {
    if fields.count < fieldCount { warn("padded", record: number, at: start) }
    if fields.count > fieldCount && dialect.ragged == .pad {
      warn("surplus-empty", record: number, at: start)
    }
    var values: [[UInt8]?] = fields.prefix(fieldCount).map { field in
      if field.isQuoted { return field.text }
      return field.raw.isEmpty || dialect.nullSpellings.contains(field.raw) ? nil : field.text
    }
    while values.count < fieldCount { values.append(nil) }
    if dialect.ragged == .extra {
      let surplus = fields.dropFirst(fieldCount)
      values.append(surplus.isEmpty ? nil : Array(json(surplus.map(\.text)).utf8))
    }
    document.records.append(
      ParsedDocument.Record(
        fields: values, number: number, line: line, byte: UInt64(start), byteCount: contentEnd - start))
  }

  private func json(_ texts: [[UInt8]]) -> String {
    let strings = texts.map { text in
      var out = "\""
      for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
        switch scalar {
        case "\"": out += "\\\""
        case "\\": out += "\\\\"
        case "\n": out += "\\n"
        case "\r": out += "\\r"
        case "\t": out += "\\t"
        case _ where scalar.value < 32:
          let digits = String(scalar.value, radix: 16)
          out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: out.unicodeScalars.append(scalar)
        }
      }
      return out + "\""
    }
    return "[" + strings.joined(separator: ",") + "]"
  }

  /// Blanks that stand between a quote and a delimiter belong to neither.
  private func blanks(from start: Int) -> Int {
    dialect.delimiter.first == 0x20 ? 0 : bytes[start...].prefix { $0 == 0x20 }.count
  }

  /// Reads the fields from `at` on; goes behind the record's line end.
  private mutating func readRecord() -> ([Field], RecordEnd) {
    var fields: [Field] = []
    while true {
      var field = Field()
      let padding = blanks(from: at)
      if at + padding < bytes.count, bytes[at + padding] == dialect.quote, !unquoted,
        !(lenience == 3 && isBare(at + padding))
      {
        at += padding
        field.isQuoted = true
        field.raw.append(bytes[at])
        at += 1
        while true {
          if at == bytes.count { return (fields, .unclosedQuote) }
          let byte = bytes[at]
          field.raw.append(byte)
          at += 1
          if byte == dialect.quote {
            if at < bytes.count, bytes[at] == dialect.quote {
              field.raw.append(bytes[at])
              field.text.append(bytes[at])
              at += 1
              if lenience == 2 && isFieldEnd(at) { break }
            } else if lenience > 0 && !isFieldEnd(at) {
              field.text.append(byte)
            } else {
              break
            }
          } else if byte == dialect.escape && at < bytes.count {
            field.raw.append(bytes[at])
            field.text += escaped(bytes[at])
            at += 1
          } else {
            field.text.append(byte)
          }
        }
        at += blanks(from: at)
        if at < bytes.count && !isLineEnd(at) && !starts(with: dialect.delimiter, at: at) {
          return (fields, .badQuote)
        }
      } else {
        while at < bytes.count && !isLineEnd(at) && !starts(with: dialect.delimiter, at: at) {
          if bytes[at] == dialect.escape && dialect.escape != dialect.quote && at + 1 < bytes.count {
            field.raw.append(bytes[at])
            at += 1
            field.raw.append(bytes[at])
            field.text += escaped(bytes[at])
          } else {
            field.raw.append(bytes[at])
            field.text.append(bytes[at])
          }
          at += 1
        }
      }
      fields.append(field)
      contentEnd = at
      endedRecord = at == bytes.count || isLineEnd(at)
      if at == bytes.count { return (fields, .whole) }
      if isLineEnd(at) {
        at += at + 1 < bytes.count && bytes[at] == 13 && bytes[at + 1] == 10 ? 2 : 1
        return (fields, .whole)
      }
      at += dialect.delimiter.count
      if isSingle { return (fields, .whole) }
    }
  }

  /// What a byte behind an escape character says.
  private func escaped(_ byte: UInt8) -> [UInt8] {
    switch dialect.escaping {
    case .any: return [byte]
    case .marks:
      let isMark = byte == dialect.quote || byte == dialect.delimiter.first || byte == 10 || byte == 13
      return isMark ? [byte] : [dialect.escape ?? 0, byte]
    case .letters:
      let letters: [Character: UInt8] = [
        "n": 10, "t": 9, "r": 13, "0": 0, "b": 8, "f": 12, "v": 11, "Z": 26,
      ]
      return [letters[Character(Unicode.Scalar(byte))] ?? byte]
    }
  }

  private func isLineEnd(_ offset: Int) -> Bool { bytes[offset] == 10 || bytes[offset] == 13 }

  private func starts(with mark: [UInt8], at offset: Int) -> Bool {
    bytes[offset...].starts(with: mark)
  }

  private mutating func skipLine() {
    let start = at
    returnToLine(after: start)
    line += countLines(start, at)
  }

  /// Goes to the physical line behind the one that holds `start`.
  private mutating func returnToLine(after start: Int) {
    at = start
    while at < bytes.count && !isLineEnd(at) { at += 1 }
    contentEnd = at
    if at < bytes.count { at += at + 1 < bytes.count && bytes[at] == 13 && bytes[at + 1] == 10 ? 2 : 1 }
  }

  private func countLines(_ start: Int, _ stop: Int) -> UInt64 {
    var count: UInt64 = 0
    for offset in start..<stop {
      if bytes[offset] == 10 && !(offset > start && bytes[offset - 1] == 13) { count += 1 }
      if bytes[offset] == 13 { count += 1 }
    }
    return count
  }

  private mutating func warn(_ code: String, record: UInt64? = nil, at start: Int? = nil) {
    if let index = document.warnings.firstIndex(where: { $0.code == code }) {
      document.warnings[index].count += 1
    } else {
      document.warnings.append(
        ParsedDocument.Warning(
          code: code, column: nil, count: 1, firstLine: line, firstByte: UInt64(start ?? at),
          firstRecord: record))
    }
  }

  private mutating func reject(_ code: String, _ column: String?, _ start: Int) {
    document.rejections.append(
      ParsedDocument.Rejection(
        code: code, number: number, line: line, byte: UInt64(start), column: column,
        raw: Array(bytes[start..<contentEnd])))
  }
}
