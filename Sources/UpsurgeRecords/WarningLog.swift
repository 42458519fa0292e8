/// Things that were stored but are worth knowing, counted by code with their first position.
public struct WarningLog: Sendable, Equatable {
  /// What kind of thing it was. New codes may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Blank lines between records.
    public static let blankLine = Code(rawValue: "blank-line")
    /// Comment lines.
    public static let comment = Code(rawValue: "comment")
    /// A byte order mark inside the input, where files were joined.
    public static let byteOrderMark = Code(rawValue: "byte-order-mark")
    /// The header once more, where files were joined.
    public static let repeatedHeader = Code(rawValue: "repeated-header")
    /// What stood after a record's last field was a comment, and is left out.
    public static let trailingComment = Code(rawValue: "trailing-comment")
    /// The last records look like totals, or are blank; they are stored.
    public static let footerLike = Code(rawValue: "footer-like")
    /// A short record was filled up with NULL (`--ragged pad` or `extra`).
    public static let padded = Code(rawValue: "padded")
    /// Empty surplus fields of a long record were dropped (`--ragged pad`).
    public static let surplusEmpty = Code(rawValue: "surplus-empty")
    /// Text in a column of numbers stayed text.
    public static let textInNumberColumn = Code(rawValue: "text-in-number-column")
    /// SQLite's affinity changed a value's spelling in a table that existed (`007` became 7).
    public static let spellingChanged = Code(rawValue: "spelling-changed")
    /// The key of some values is the empty text; they are in the column that the warning names.
    public static let emptyKey = Code(rawValue: "empty-key")
    /// A record without a value in a key that is an INTEGER PRIMARY KEY got a new number, as it would in each run.
    public static let numberedKey = Code(rawValue: "numbered-key")
    /// A key twice in one JSON object; the last one won.
    public static let duplicateKey = Code(rawValue: "duplicate-key")
    /// A header name had to be changed to be unique or not empty.
    public static let headerRenamed = Code(rawValue: "header-renamed")
    /// A column of the input was left out, as the options say.
    public static let columnSkipped = Code(rawValue: "column-skipped")
    /// A column was added to the table on the way.
    public static let columnAdded = Code(rawValue: "column-added")
    /// A file changed its size or its time while it was read.
    public static let sourceChanged = Code(rawValue: "source-changed")
    /// A cell of a sheet holds an error such as `#N/A`, and is NULL.
    public static let errorCell = Code(rawValue: "error-cell")
    /// A formula of a sheet was stored without its value, and is NULL.
    public static let formulaWithoutValue = Code(rawValue: "formula-without-value")
    /// Cells of a sheet were merged; the first one has the value.
    public static let mergedCells = Code(rawValue: "merged-cells")
    /// SQL has calculated with a text that is no number, for which SQLite takes what it begins with, or 0.
    public static let textAsNumber = Code(rawValue: "text-as-number")
    /// SQL has compared a text of JSON with a number, than which any text is greater.
    public static let textAgainstNumber = Code(rawValue: "text-against-number")
    /// `trusted_schema` had to be on: a trigger, view or constraint uses what SQLite calls unsafe there.
    public static let trustedSchema = Code(rawValue: "trusted-schema")
  }

  /// One kind of warning in one column.
  public struct Entry: Sendable, Equatable {
    public var code: Code
    public var column: String?
    public var count: UInt64
    public var first: Position
  }

  /// In order of first appearance. Of each code at most 1,000 columns have an entry of their own; what concerns
  /// others is counted in one whose column is `…`.
  public private(set) var entries: [Entry] = []

  /// The place of each entry, once there are too many to look through.
  private var places: [Key: Int] = [:]
  private var countByCode: [Code: Int] = [:]

  /// Names of so many columns are told apart.
  package static let columnLimit = 1_000
  /// Stands for the later columns.
  public static let otherColumns = "…"
  private static let scanLimit = 16

  private struct Key: Hashable, Sendable {
    var code: Code
    var column: String?
  }

  public init() {}

  public var isEmpty: Bool { entries.isEmpty }

  public static func == (a: WarningLog, b: WarningLog) -> Bool { a.entries == b.entries }

  /// Counts one more (or `count` more) of a kind; keeps the first position.
  package mutating func add(
    _ code: Code, column: String? = nil, count: UInt64 = 1, at position: @autoclosure () -> Position
  ) {
    if let place = place(code, column) {
      entries[place].count += count
    } else if column != nil, column != Self.otherColumns, countByCode[code, default: 0] >= Self.columnLimit {
      add(code, column: Self.otherColumns, count: count, at: position())
    } else {
      if column != nil { countByCode[code, default: 0] += 1 }
      append(Entry(code: code, column: column, count: count, first: position()))
    }
  }

  /// - Parameter leftOut: a code that does not apply.
  package mutating func merge(_ other: WarningLog, leavingOut leftOut: Code? = nil) {
    for entry in other.entries where entry.code != leftOut {
      add(entry.code, column: entry.column, count: entry.count, at: entry.first)
    }
  }

  private func place(_ code: Code, _ column: String?) -> Int? {
    if entries.count > Self.scanLimit { return places[Key(code: code, column: column)] }
    return entries.firstIndex { $0.code == code && $0.column == column }
  }

  /// Says other names of files.
  package mutating func renameFiles(_ rename: (String) -> String) {
    for index in entries.indices { entries[index].first.file = rename(entries[index].first.file) }
  }

  private mutating func append(_ entry: Entry) {
    entries.append(entry)
    if entries.count <= Self.scanLimit { return }
    if places.isEmpty {
      for (place, entry) in entries.enumerated() {
        places[Key(code: entry.code, column: entry.column)] = place
      }
    } else {
      places[Key(code: entry.code, column: entry.column)] = entries.count - 1
    }
  }
}
