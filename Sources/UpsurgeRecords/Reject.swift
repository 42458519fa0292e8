/// A record that cannot be stored, with all that is needed to find and correct it.
public struct Reject: Sendable, Equatable {
  /// Why, as a word that programs can test. New codes may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// More or fewer fields than columns.
    public static let ragged = Code(rawValue: "ragged")
    /// A line after the last record that is not a record: a total, a count of rows.
    public static let footer = Code(rawValue: "footer")
    /// Text after a closing quote.
    public static let badQuote = Code(rawValue: "bad-quote")
    /// A quoted field that never ends.
    public static let unclosedQuote = Code(rawValue: "unclosed-quote")
    /// Bytes that are not UTF-8.
    public static let invalidUTF8 = Code(rawValue: "invalid-utf8")
    /// Larger than a quarter of `--memory`.
    public static let tooLarge = Code(rawValue: "too-large")
    /// The column's affinity would change the value's spelling.
    public static let wouldChange = Code(rawValue: "would-change")
    /// Not JSON (RFC 8259).
    public static let jsonSyntax = Code(rawValue: "json-syntax")
    /// Text for a BLOB column that `--blob` cannot decode, or a file that cannot be read.
    public static let badBlob = Code(rawValue: "bad-blob")
    /// A value that is not written as the date format of its column.
    public static let badDate = Code(rawValue: "bad-date")
    /// A value of a column of numbers that is not written as the numbers of the input are said to be.
    public static let badNumber = Code(rawValue: "bad-number")
    /// A value of a column of yes and no that is not one of its words.
    public static let badTruth = Code(rawValue: "bad-bool")
    /// JSON nested deeper than the bound.
    public static let tooDeep = Code(rawValue: "too-deep")
    /// A record that needs more columns than SQLite takes in a table.
    public static let tooManyColumns = Code(rawValue: "too-many-columns")
    /// A `\uD800`..`\uDFFF` escape without its partner: no Unicode text.
    public static let loneSurrogate = Code(rawValue: "lone-surrogate")
    /// A key twice in one object, under `--duplicate-keys reject`.
    public static let duplicateKey = Code(rawValue: "duplicate-key")
    /// A JSON value that is not an object (or not an array, under an array header).
    public static let notAnObject = Code(rawValue: "not-an-object")
    /// NULL in a key column.
    public static let nullKey = Code(rawValue: "null-key")
    /// NULL in a NOT NULL column.
    public static let notNull = Code(rawValue: "not-null")
    /// A conflict with another key than the conflict target.
    public static let unique = Code(rawValue: "unique")
    public static let check = Code(rawValue: "check")
    public static let foreignKey = Code(rawValue: "foreign-key")
    /// A value of the wrong type for a STRICT table or an INTEGER PRIMARY KEY.
    public static let typeMismatch = Code(rawValue: "type-mismatch")
    /// A value of a model that its column's coding cannot express.
    public static let badValue = Code(rawValue: "bad-value")
    /// A trigger said RAISE(ABORT or FAIL).
    public static let trigger = Code(rawValue: "trigger")
  }

  /// At most this many raw bytes of a record are kept.
  package static let rawByteLimit = 64 << 10

  public var code: Code
  public var position: Position
  /// The column concerned, where one is.
  public var column: String?
  /// One sentence for a person, with options as the command calls them.
  public var reason: String { said.text }
  /// The reason with its terms, which whoever shows it puts into its own words.
  package var said: Wording
  /// The option that would help, where one is, as the command calls it.
  public var hint: String? { remedy?.text }
  /// The hint with its terms, which whoever shows it puts into its own words.
  package var remedy: Wording?
  /// The record's bytes as they stood in the (decompressed) input, at most 64 KiB.
  public var raw: [UInt8]
  /// Whether `raw` was cut.
  public var isRawCut: Bool
  /// Which of the run's sources the record is of, from 0: a run may read the same file more than once.
  package var sourceIndex: Int?

  @_disfavoredOverload
  package init(
    _ code: Code, at position: Position, column: String? = nil, reason: String, hint: Wording? = nil,
    raw: UnsafeBufferPointer<UInt8>
  ) {
    self.init(code, at: position, column: column, reason: Wording(reason), hint: hint, raw: raw)
  }

  /// Copies at most 64 KiB of `raw`.
  package init(
    _ code: Code, at position: Position, column: String? = nil, reason said: Wording,
    hint remedy: Wording? = nil,
    raw: UnsafeBufferPointer<UInt8>
  ) {
    self.code = code
    self.position = position
    self.column = column
    self.said = said
    self.remedy = remedy
    self.raw = Array(raw.prefix(Reject.rawByteLimit))
    self.isRawCut = raw.count > Reject.rawByteLimit
  }

  /// The reject as an error, for `--on-error stop`.
  package var asError: UpsurgeError {
    let head = String(decoding: raw.prefix(120), as: UTF8.self)
    return UpsurgeError(
      .badInput, "\(saying: said) [\(code.rawValue)]", position: position, column: column,
      snippet: head.escapedForTerminal,
      hint: remedy ?? "\(.onError, "reject") goes on without it; \(.rejects, "FILE") keeps it")
  }
}
