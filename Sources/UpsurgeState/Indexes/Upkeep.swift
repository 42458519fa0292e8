/// When what belongs to a table (secondary indexes, FTS5 tables) is brought up to date.
public enum Upkeep: String, Sendable, CaseIterable {
  /// As the cost is estimated to be lower; the run says which and why.
  case auto
  /// With every row.
  case keep
  /// Set aside, and built anew when all rows are there.
  case `defer`

  /// The choice as the end of a sentence.
  package var words: String {
    switch self {
    case .auto: "as is cheaper"
    case .keep: "kept up with every row"
    case .defer: "built after the rows"
    }
  }
}

/// What was decided for one index or FTS5 table of a run's table, and why.
public struct UpkeepDecision: Sendable, Equatable {
  public enum Kind: String, Sendable { case index, fts }

  public var kind: Kind
  public var name: String
  /// `keep` or `defer`, never `auto`.
  public var upkeep: Upkeep
  /// One sentence without a capital and a full stop.
  public var reason: String
  /// Whether the option asked for something else.
  public var isAgainstRequest = false

  package init(kind: Kind, name: String, upkeep: Upkeep, reason: String, isAgainstRequest: Bool = false) {
    self.kind = kind
    self.name = name
    self.upkeep = upkeep
    self.reason = reason
    self.isAgainstRequest = isAgainstRequest
  }

  /// `index t_a_idx: built after the rows: the table is new`
  public var text: String {
    let subject = "\(kind == .index ? "index" : "FTS5 table") \(name)".escapedForTerminal
    return "\(subject): \(upkeep.words): \(reason)"
  }
}
