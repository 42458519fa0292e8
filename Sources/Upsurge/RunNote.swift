/// Something that a run says while it goes on.
public struct RunNote: Sendable {
  /// How much a person wants to know it.
  public enum Level: Sendable {
    case detail, info, warning
  }

  public var level: Level
  /// One line or, for a statement, several; without a line end. Options are as the command calls them.
  public var text: String {
    get { said.text }
    set { said = Wording(newValue) }
  }
  /// The text with its terms, which whoever shows it puts into its own words.
  package var said: Wording
  /// The table that it is about, of a job that has several.
  public var table: String?

  /// Whether it is also said with `--quiet`: values are not what they were, or something is gone that nobody keeps.
  package var isAlwaysSaid = false

  /// Where in the engine it is told: notes of one place are of one kind.
  package var kind: String

  @_disfavoredOverload
  public init(_ level: Level, _ text: String, file: StaticString = #fileID, line: UInt = #line) {
    self.init(level, Wording(text), file: file, line: line)
  }

  package init(_ level: Level, _ said: Wording, file: StaticString = #fileID, line: UInt = #line) {
    self.level = level
    self.said = said
    kind = "\(file):\(line)"
  }

  /// Passes on what is said, as about a table.
  package static func of(
    table: String, to note: @escaping @Sendable (RunNote) -> Void
  ) -> @Sendable (RunNote) -> Void {
    { said in
      var said = said
      said.table = table
      note(said)
    }
  }
}
