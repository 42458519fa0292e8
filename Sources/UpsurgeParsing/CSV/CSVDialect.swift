import UpsurgeRecords

/// How a CSV file is written: the marks between and around its fields, and what stands before its records.
public struct CSVDialect: Sendable, Equatable {
  /// What happens to a record with more or fewer fields than the header.
  public enum RaggedPolicy: String, Sendable, CaseIterable {
    /// The record is rejected.
    case reject
    /// Missing fields are NULL; surplus fields are dropped when all of them are empty, else the record is rejected.
    case pad
    /// Missing fields are NULL; surplus fields go to one extra column as a JSON array of strings.
    case extra
  }

  /// What the byte after an escape character says.
  public enum Escaping: String, Sendable, CaseIterable {
    /// Itself, whatever it is: `\,` is a comma, `\n` an n.
    case any
    /// Itself where it is a quote, a delimiter or a line end; before others the escape character is data, too.
    case marks
    /// As MySQL and PostgreSQL write: `\n` is a line feed, `\t` a tab, `\0` a NUL, and others are themselves.
    case letters
  }

  /// What a quoted empty field (`""`) is, in columns of any type.
  public enum QuotedEmpty: String, Sendable, CaseIterable {
    /// NULL, as an unquoted empty field is.
    case null
    /// The empty text.
    case text
  }

  /// What becomes of a record whose quotes make no sense: something follows a closing quote, or none closes.
  public enum Quotes: String, Sendable, CaseIterable {
    /// The record's first line is rejected.
    case strict
    /// The record's first line is read once more, with quotes inside a field as data. It is rejected if that does not give the
    /// fields that a record should have.
    case lenient
  }

  /// What stands between two fields: one byte or several.
  public var delimiter: [UInt8]
  /// Where the fields of a line stand that has no marks between them; nil: marks part them.
  public var widths: FixedWidths?
  /// What encloses a field that holds marks; nil: nothing does, and quotes are data.
  public var quote: UInt8?
  /// Makes the next byte data, inside and outside of quotes; nil: a quote inside quotes is doubled.
  public var escape: UInt8?
  public var escaping = Escaping.any
  /// A record that starts so is a comment.
  public var commentPrefix: [UInt8]?
  /// Unquoted fields that equal one of these (as they are written, escapes and all) are NULL. An unquoted empty
  /// field is always NULL.
  public var nullSpellings: [[UInt8]]
  /// nil: NULL in a column of numbers, the empty text in every other one.
  public var quotedEmpty: QuotedEmpty?
  /// What an unquoted empty field is in a column that is not one of numbers.
  public var bareEmpty = QuotedEmpty.null
  public var ragged: RaggedPolicy
  public var quotes = Quotes.strict
  /// Records before the data that hold the names of the columns: 0 none, more than one are joined by a space.
  public var headerLineCount: Int
  /// Physical lines before the header that are not part of the table.
  public var skippedLineCount: Int

  public init(
    delimiter: [UInt8] = [UInt8(ascii: ",")], quote: UInt8? = UInt8(ascii: "\""), escape: UInt8? = nil,
    commentPrefix: [UInt8]? = nil, nullSpellings: [[UInt8]] = [], ragged: RaggedPolicy = .reject,
    headerLineCount: Int = 1, skippedLineCount: Int = 0
  ) {
    self.delimiter = delimiter
    self.quote = quote
    self.escape = escape
    self.commentPrefix = commentPrefix
    self.nullSpellings = nullSpellings
    self.ragged = ragged
    self.headerLineCount = headerLineCount
    self.skippedLineCount = skippedLineCount
  }

  /// The escape character where it differs from the quote; doubling a quote needs no escape of its own.
  package var distinctEscape: UInt8? { escape == quote ? nil : escape }

  /// Whether records can be told apart with these marks.
  /// - Throws: `usage` when two marks are the same, or one is a line end.
  package func validate() throws(UpsurgeError) {
    try widths?.validate()
    guard let first = delimiter.first else { throw Self.wrong("the delimiter is empty", "\(.delimiter)") }
    let lineEnds: [UInt8] = [0x0A, 0x0D]
    if delimiter.contains(where: lineEnds.contains) {
      throw Self.wrong("the delimiter holds a line end", "\(.delimiter)")
    }
    if let quote, lineEnds.contains(quote) || quote == first {
      throw Self.wrong("the quote is a line end or starts the delimiter", "\(.quote) or \(.delimiter)")
    }
    if let escape = distinctEscape, lineEnds.contains(escape) || escape == first {
      throw Self.wrong("the escape is a line end or starts the delimiter", "\(.escape) or \(.delimiter)")
    }
    if let commentPrefix, commentPrefix.isEmpty || commentPrefix.contains(where: lineEnds.contains) {
      throw Self.wrong("the comment prefix is empty or holds a line end", "\(.comment)")
    }
    if headerLineCount < 0 || skippedLineCount < 0 {
      throw Self.wrong("a number of lines is negative", "\(.skipLines)")
    }
  }

  private static func wrong(_ message: Wording, _ option: Wording) -> UpsurgeError {
    UpsurgeError(.usage, message, hint: "give another \(saying: option)")
  }
}

extension CSVDialect: CustomStringConvertible {
  /// `csv · delimiter comma · quote " · header`: one line for people; what is usual is left out.
  public var summary: String {
    var parts: [String] = []
    if let widths {
      parts.append("fixed width \(widths.text)")
    } else {
      parts = ["csv", "delimiter \(CSVDialect.name(of: delimiter))"]
      parts.append(quote.map { "quote \(CSVDialect.name(of: [$0]))" } ?? "no quote")
    }
    if let escape = distinctEscape {
      let what =
        switch escaping {
        case .any: ""
        case .marks: " before quotes"
        case .letters: " with letters"
        }
      parts.append("escape \(CSVDialect.name(of: [escape]))\(what)")
    }
    if let commentPrefix { parts.append("comment \(CSVDialect.name(of: commentPrefix))") }
    if skippedLineCount > 0 {
      parts.append("\(skippedLineCount) line\(skippedLineCount == 1 ? "" : "s") skipped")
    }
    switch headerLineCount {
    case 0: parts.append("no header")
    case 1: parts.append("header")
    default: parts.append("header of \(headerLineCount) records")
    }
    if !nullSpellings.isEmpty {
      let spellings = nullSpellings.map { String(decoding: $0, as: UTF8.self).escapedForTerminal }
      parts.append("null \(spellings.joined(separator: " "))")
    }
    if let quotedEmpty { parts.append("quoted empty \(quotedEmpty.rawValue)") }
    if ragged != .reject { parts.append("ragged \(ragged.rawValue)") }
    if quotes != .strict { parts.append("quotes \(quotes.rawValue)") }
    return parts.joined(separator: " · ")
  }

  public var description: String { summary }

  /// A mark as people call it: `comma`, `tab`, `"`, `0x1F`.
  package static func name(of mark: [UInt8]) -> String {
    switch mark {
    case [UInt8(ascii: ",")]: return "comma"
    case [UInt8(ascii: ";")]: return "semicolon"
    case [UInt8(ascii: "\t")]: return "tab"
    case [UInt8(ascii: " ")]: return "space"
    case [UInt8(ascii: "|")]: return "pipe"
    case [UInt8(ascii: ":")]: return "colon"
    case FixedWidths.delimiter: return "fixed width"
    default: break
    }
    if mark.count == 1, mark[0] < 0x21 || mark[0] > 0x7E {
      return "0x" + (mark[0] < 16 ? "0" : "") + String(mark[0], radix: 16, uppercase: true)
    }
    return String(decoding: mark, as: UTF8.self).escapedForTerminal
  }
}
