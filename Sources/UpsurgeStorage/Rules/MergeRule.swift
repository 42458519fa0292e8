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
  /// SQL over `excluded.column` (the record) and the row's columns: `count + excluded.count`.
  case expression(String)
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
