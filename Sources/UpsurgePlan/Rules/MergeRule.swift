/// How one column of a row that exists takes a record's value.
public enum MergeRule: Sendable, Equatable {
  /// The record's value.
  case replace
  /// The record's value unless it is NULL.
  case coalesce
  /// What is there, unless that is NULL.
  case keep
  /// The smaller of both; NULL only where both are.
  case min
  /// The larger of both; NULL only where both are.
  case max
  /// The sum of both, NULL counting as nothing.
  case sum
  /// The record's value where the row changes for another reason; by itself it changes no row.
  case along
  /// SQL over `excluded.column` (the record) and the row's columns: `count + excluded.count`.
  case expression(String)
}

extension MergeRule {
  /// The rules that a word names, for all columns or for one.
  private static let ofAllColumns: [(word: String, rule: MergeRule)] = [
    ("replace", .replace), ("coalesce", .coalesce), ("keep", .keep),
  ]
  private static let named = ofAllColumns + [("min", .min), ("max", .max), ("sum", .sum), ("along", .along)]

  /// The words of the rules that `--merge` takes.
  package static var wordsOfAllColumns: [String] { ofAllColumns.map(\.word) }

  /// The rule that a word names; nil where none does.
  package init?(word: String) {
    guard let rule = Self.named.first(where: { $0.word == word })?.rule else { return nil }
    self = rule
  }

  /// The word that names it; nil for SQL.
  package var word: String? { Self.named.first { $0.rule == self }?.word }

  /// Whether all columns can have it.
  package var isOfAllColumns: Bool { Self.ofAllColumns.contains { $0.rule == self } }
}

/// How a row that exists changes.
///
///     var merge = Merge(.coalesce)
///     merge.newer = Merge.Newer(column: "updated_at")
///     merge.columns["views"] = .sum
public struct Merge: Sendable, Equatable {
  /// Last-write-wins: the record's value of a column decides whether the row may change at all.
  public struct Newer: Sendable, Equatable {
    public var column: String
    /// Whether a tie leaves the row as it is (`>`); otherwise the last arrival wins (`>=`).
    public var isStrict: Bool

    /// NULL is older than anything; values compare as SQLite compares them.
    public init(column: String, isStrict: Bool = false) {
      self.column = column
      self.isStrict = isStrict
    }

    /// `newer:COL`, or `newer-strict:COL`; nil for another text.
    package init?(text: String) {
      let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2, ["newer", "newer-strict"].contains(parts[0]) else { return nil }
      self.init(column: parts[1], isStrict: parts[0] == "newer-strict")
    }

    /// As `--merge` takes it.
    package var text: String { "newer\(isStrict ? "-strict" : ""):\(column)" }
  }

  /// The rule of every column that has none of its own.
  public var rule: MergeRule
  /// Rules by column.
  public var columns: [String: MergeRule] = [:]
  public var newer: Newer?
  /// SQL over `excluded.column` and the row's columns; the row changes only where it is true.
  public var condition: String?

  public init(_ rule: MergeRule = .replace) { self.rule = rule }
}
