extension LoadOptions {
  /// What becomes of records that cannot be stored.
  public struct Rejects: Sendable {
    public var onError: ErrorPolicy = .stop
    /// Where rejected records are kept; `nil` only counts them.
    public var target: RejectsTarget?
    /// More rejects than this end the run.
    public var limit: RowLimit?

    public init() {}

    /// Where rejects are written as NDJSON; nil where they go to a table, or nowhere.
    public var path: String? {
      get { if case .file(let path) = target { path } else { nil } }
      set { target = newValue.map { .file($0) } }
    }
  }
}
