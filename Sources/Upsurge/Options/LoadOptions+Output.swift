extension LoadOptions {
  /// What is shown of a run, or only tried out.
  public struct Output: Sendable {
    /// Whether the plan is only printed.
    public var isExplained = false
    public var dryRun: DryRun?
    /// Where each row that is inserted, updated or deleted is written as NDJSON.
    public var changesPath: String?
    /// Where the statements are written as plain SQL.
    public var emitPath: String?
    /// Bounds a statement in `emitPath`.
    public var maxStatement = ByteSize.kibibytes(100)
    /// Where the caller will write the summary; only checked against the files that the run uses.
    package var summaryPath: String?

    public init() {}
  }
}
