/// Why a run could not go on: what happened, where, and what would help.
public struct UpsurgeError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it was; decides the exit code. New codes may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The request contradicts itself or the database: exit 64.
    public static let usage = Code(rawValue: "usage")
    /// Bad, cut or corrupt input: exit 65.
    public static let badInput = Code(rawValue: "bad-input")
    /// The input was not found or cannot be read: exit 66.
    public static let unreadableInput = Code(rawValue: "unreadable-input")
    /// An output file cannot be made or written: exit 73.
    public static let cannotCreate = Code(rawValue: "cannot-create")
    /// Another process holds the database: exit 75.
    public static let databaseBusy = Code(rawValue: "database-busy")
    /// A guard refused (a frozen contract): exit 4.
    public static let guardRefused = Code(rawValue: "guard-refused")
    /// SQLite failed, or the file is not a database: exit 1.
    public static let database = Code(rawValue: "database")
    /// The connection to the database has broken, and what was not committed is lost; whether the last commit stands is
    /// looked up: exit 75, or 3.
    public static let connectionLost = Code(rawValue: "connection-lost")
    /// The database has lost commits that it had confirmed, as after a failover, and the input cannot be read again: exit 3.
    public static let commitsLost = Code(rawValue: "commits-lost")
    /// The time that the run was given is over: exit 3 or 1.
    public static let deadline = Code(rawValue: "deadline")
    /// A signal ended the run: exit 130 or 143.
    public static let interrupted = Code(rawValue: "interrupted")
  }

  public var code: Code
  /// One sentence without a final full stop, with options as the command calls them.
  public var message: String {
    get { said.text }
    set { said = Wording(newValue) }
  }
  /// The message with its terms, which whoever shows it puts into its own words.
  package var said: Wording
  public var position: Position?
  /// The column concerned, by its name in the table or header.
  public var column: String?
  /// The start of the offending bytes as text, at most 120 characters.
  public var snippet: String?
  /// The option or act that would help, one sentence, with options as the command calls them.
  public var hint: String? {
    get { remedy?.text }
    set { remedy = newValue.map { Wording($0) } }
  }
  /// The hint with its terms, which whoever shows it puts into its own words.
  package var remedy: Wording?
  /// SQLite's extended result code, errno, or the decompressor's code.
  public var underlyingCode: Int32?
  /// Whether all rows were committed when it happened, and the message says so.
  package private(set) var isBehindLastCommit = false

  @_disfavoredOverload
  public init(
    _ code: Code, _ message: String, position: Position? = nil, column: String? = nil,
    snippet: String? = nil, hint: String? = nil, underlyingCode: Int32? = nil
  ) {
    self.init(
      code, Wording(message), position: position, column: column, snippet: snippet, hint: hint.map { Wording($0) },
      underlyingCode: underlyingCode)
  }

  package init(
    _ code: Code, _ said: Wording, position: Position? = nil, column: String? = nil,
    snippet: String? = nil, hint remedy: Wording? = nil, underlyingCode: Int32? = nil
  ) {
    self.code = code
    self.said = said
    self.position = position
    self.column = column
    self.snippet = snippet
    self.remedy = remedy
    self.underlyingCode = underlyingCode
  }

  /// Says that all rows are committed, once.
  package mutating func sayAllCommitted() {
    if isBehindLastCommit || code == .commitsLost { return }
    isBehindLastCommit = true
    said += " (all rows are committed)"
  }

  /// The whole message for a person, several lines: what, where, the bytes, the fix.
  public var description: String {
    var text = message
    if let column { text += " (column \(column))" }
    if let position { text += "\n  at \(position)" }
    if let snippet { text += "\n  here: \(snippet)" }
    if let hint { text += "\n  fix: \(hint)" }
    return text
  }
}
