import UpsurgeInput

/// How a delivery of a feed is written, and which fields it has: what a feed keeps from night to night. A part that is nil
/// was not decided with evidence, and binds nobody.
package struct FeedShape: Sendable, Equatable {
  /// The options that say how fields are told apart and named. Under others, the fields mean nothing.
  package var reading: String
  /// The fields that the job takes, by their names in the input.
  package var fields: [String] = []
  package var format: Format?
  package var delimiter: [UInt8]?
  package var quote: CSVOverrides.Mark?
  package var escape: CSVOverrides.Mark?
  /// Whether no line is a comment; nil where there are comments, or nobody knows.
  package var hasNoComments: Bool?
  package var headerLineCount: Int?
  package var skippedLineCount: Int?
  /// Fields of a record, also those that are not taken.
  package var fieldCount: Int?
  package var encoding: TextEncoding?

  package enum Format: String, Sendable { case csv, json }

  package init(reading: String) { self.reading = reading }

  /// What most records must be to bear witness: a header and two records, or three records.
  private static let leastRecordCount = 3

  /// Takes what a CSV file bears witness of.
  /// - Parameter sample: its first records, as the dialect reads them.
  mutating func note(_ dialect: CSVDialect, _ sample: SampleShape) {
    guard sample.recordCount >= Self.leastRecordCount, sample.isRegular else { return }
    format = .csv
    hasNoComments = dialect.commentPrefix == nil ? true : nil
    headerLineCount = dialect.headerLineCount
    skippedLineCount = dialect.skippedLineCount
    fieldCount = sample.fieldCount
    if sample.fieldCount > 1 { delimiter = dialect.delimiter }
    guard sample.quotedCount > 0, let byte = dialect.quote else { return }
    quote = .byte(byte)
    if let byte = dialect.distinctEscape { escape = .byte(byte) }
  }

  /// Keeps what is known of earlier deliveries and this one says nothing of.
  /// - Parameter used: how this one was read: what contradicts it is forgotten.
  package func keeping(_ earlier: FeedShape?, used: CSVDialect?) -> FeedShape {
    guard let earlier, earlier.reading == reading else { return self }
    var merged = self
    if format == nil { merged.format = earlier.format }
    guard merged.format != .json else { return merged }
    if encoding == nil { merged.encoding = earlier.encoding }
    guard let used else { return merged }
    if delimiter == nil, earlier.delimiter == used.delimiter { merged.delimiter = earlier.delimiter }
    if quote == nil, earlier.quote == CSVOverrides.Mark(used.quote) {
      (merged.quote, merged.escape) = (earlier.quote, earlier.escape)
    }
    if hasNoComments == nil, used.commentPrefix == nil { merged.hasNoComments = earlier.hasNoComments }
    if headerLineCount == nil, earlier.headerLineCount == used.headerLineCount {
      merged.headerLineCount = earlier.headerLineCount
      (merged.skippedLineCount, merged.fieldCount) = (earlier.skippedLineCount, earlier.fieldCount)
    }
    return merged
  }
}

extension CSVOverrides.Mark {
  init(_ byte: UInt8?) { self = byte.map { .byte($0) } ?? .none }
}

/// What is known of the feed that a load reads a delivery of.
package struct FeedRules: Sendable {
  /// The shape of the last delivery that was accepted; nil before the first one.
  package var last: FeedShape?
  package var policy = GonePolicy.refuse
  /// Whether a delivery holds only changes, so that a JSON key that no record has says nothing.
  package var isDelta = false
  /// Columns that a record without the field has NULL in.
  package var nulledColumns: [String] = []

  package init() {}

  /// What becomes of a feed that is no longer what it was.
  package enum GonePolicy: Sendable {
    case refuse
    /// The delivery is taken, and its shape is what the next one is compared with.
    case accept
    /// Rows keep the values of fields that are gone.
    case keep
    /// Rows get NULL in the columns of fields that are gone.
    case null
  }

  /// The fields that the last delivery had, the job takes, and this one lacks.
  func gone(from fields: [String], options: LoadOptions) -> [String] {
    guard let last, last.reading == options.input.readingWords else { return [] }
    // A field that is renamed to a column is there under the column's name, too.
    let there = Set((fields + fields.map { Self.column(of: $0, options: options) }).map(SQLName.folded))
    let wanted = Set(options.table.columns.map(SQLName.folded))
    return last.fields.filter {
      let name = SQLName.folded($0)
      return !there.contains(name) && (wanted.isEmpty || wanted.contains(name))
    }
  }

  /// The column of a field.
  static func column(of field: String, options: LoadOptions) -> String {
    options.table.renames.first { SQLName.isSame($0.key, field) }?.value ?? field
  }

  /// The field of a column.
  static func field(of column: String, options: LoadOptions) -> String {
    options.table.renames.first { SQLName.isSame($0.value, column) }?.key ?? column
  }
}

extension LoadOptions.Input {
  /// What decides which fields there are and what they are called, but for `--columns` and `--rename`.
  var readingWords: String {
    var words: [String] = []
    if let format {
      words.append("format \(format == .tsv ? "csv" : format == .ndjson ? "json" : format.rawValue)")
    }
    if let names = csv.columnNames { words.append("names \(names)") }
    if let count = csv.headerLineCount { words.append("header \(count)") }
    if let count = csv.skippedLineCount { words.append("skip \(count)") }
    if let sheet { words.append("sheet \(sheet)") }
    if let delimiter = csv.delimiter, !csv.isOfSheet { words.append("delimiter \(delimiter)") }
    if let widths = csv.widths { words.append("widths \(widths.text)") }
    if let quote = csv.quote, !csv.isOfSheet { words.append("quote \(quote)") }
    if let escape = csv.escape, !csv.isOfSheet { words.append("escape \(escape)") }
    if let prefix = csv.commentPrefix { words.append("comment \(prefix)") }
    if encoding != .auto { words.append("encoding \(encoding.rawValue)") }
    if let flattenSeparator { words.append("flatten \(flattenSeparator)") }
    if !jsonPath.isEmpty { words.append("path \(jsonPath)") }
    if let jsonMap { words.append("map \(jsonMap)") }
    if takesWrapper { words.append("wrapper") }
    return words.joined(separator: "\n")
  }
}
