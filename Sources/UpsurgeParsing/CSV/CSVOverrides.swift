import UpsurgeRecords

/// The parts of a CSV dialect that were given and must not be sniffed; nil: find it out.
public struct CSVOverrides: Sendable, Equatable {
  /// A mark that may be given as absent.
  public enum Mark: Sendable, Equatable {
    case none
    case byte(UInt8)

    var byte: UInt8? {
      switch self {
      case .none: nil
      case .byte(let byte): byte
      }
    }
  }

  public var delimiter: [UInt8]?
  /// Where the fields of a line stand that has no marks between them.
  public var widths: FixedWidths?
  public var quote: Mark?
  public var escape: Mark?
  /// What a given escape character does.
  public var escaping = CSVDialect.Escaping.any
  /// An empty prefix: there are no comments.
  public var commentPrefix: [UInt8]?
  public var headerLineCount: Int?
  public var skippedLineCount: Int?
  /// Names of all fields, instead of those in the header.
  public var columnNames: [String]?
  /// Never sniffed.
  public var nullSpellings: [[UInt8]]
  /// What quoted empty fields are, never sniffed; nil: NULL in a column of numbers, the empty text elsewhere.
  public var quotedEmpty: CSVDialect.QuotedEmpty?
  /// Never sniffed.
  public var bareEmpty = CSVDialect.QuotedEmpty.null
  /// Never sniffed, and without influence on what is.
  public var ragged: CSVDialect.RaggedPolicy
  /// Never sniffed.
  public var quotes = CSVDialect.Quotes.strict

  /// Whether the marks are those of a sheet, which nobody has given.
  package private(set) var isOfSheet = false

  public init(
    delimiter: [UInt8]? = nil, quote: Mark? = nil, escape: Mark? = nil, commentPrefix: [UInt8]? = nil,
    headerLineCount: Int? = nil, skippedLineCount: Int? = nil, columnNames: [String]? = nil,
    nullSpellings: [[UInt8]] = [], ragged: CSVDialect.RaggedPolicy = .reject
  ) {
    self.delimiter = delimiter
    self.quote = quote
    self.escape = escape
    self.commentPrefix = commentPrefix
    self.headerLineCount = headerLineCount
    self.skippedLineCount = skippedLineCount
    self.columnNames = columnNames
    self.nullSpellings = nullSpellings
    self.ragged = ragged
  }
}

extension CSVOverrides {
  /// With the marks in which a sheet is written down: tabs, and letters after a backslash for what would end a field.
  package var ofSheet: CSVOverrides {
    var sheet = self
    (sheet.delimiter, sheet.quote) = ([0x09], Mark.none)
    (sheet.escape, sheet.escaping) = (.byte(UInt8(ascii: "\\")), .letters)
    sheet.isOfSheet = true
    return sheet
  }
}

/// What a sample says about a CSV file.
package struct CSVSniffResult: Sendable, Equatable {
  package var dialect: CSVDialect
  /// Column names, unique and not empty; `c1`, `c2`... without a header.
  package var headerNames: [String]
  /// The bytes of the header, without its line end; nil without one, or for one of a single field.
  package var header: [UInt8]?
  /// Names that had to be changed, for the person to know.
  package var renamings: [HeaderNames.Renaming]
  /// `LF`, `CRLF`, `CR`, `mixed`, or empty when the sample holds no line end.
  package var lineEnd: String
  /// Fields that a record should have; 0 when the sample holds no record.
  package var fieldCount: Int
  /// What else a person should know, one sentence each.
  package var remarks: [Wording]
  /// Why this delimiter: `6 fields in 98 of 100 records`.
  package var delimiterEvidence: String
  /// Why the names and number of the fields are not known: the header, or the first record without one, is
  /// not read to its end. nil where they are.
  package var unknownFields: UnknownFields?

  /// What is wrong with the first record of a sample.
  package enum UnknownFields: Sendable, Equatable {
    /// The record is larger than the sample, which has so many bytes.
    case cut(byteCount: Int)
    /// The record has more fields than `HeaderNames.fieldLimit`.
    case tooMany
  }

  /// One line for people: `csv · delimiter comma · quote " · header · LF · 6 fields`.
  package var summary: String {
    var text = dialect.summary
    if !lineEnd.isEmpty { text += " · \(lineEnd)" }
    return text + " · \(fieldCount) field\(fieldCount == 1 ? "" : "s")"
  }

  /// One line for people of a sheet: `sheet · 2 rows skipped · header · 6 fields`.
  package var sheetSummary: String {
    var parts = ["sheet"]
    if dialect.skippedLineCount > 0 { parts.append(Words.count(UInt64(dialect.skippedLineCount), "row") + " skipped") }
    let count = dialect.headerLineCount
    parts.append(count == 0 ? "no header" : count == 1 ? "header" : "header of \(count) rows")
    parts.append(Words.count(UInt64(fieldCount), "field"))
    return parts.joined(separator: " · ")
  }
}
