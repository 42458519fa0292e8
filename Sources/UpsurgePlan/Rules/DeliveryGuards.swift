/// What must hold before a row is removed because a snapshot no longer has it, as a job or a call says it.
/// The value is handed on whole: what a run knows beside it stands in `SnapshotRules`.
public struct DeliveryGuards: Sendable, Equatable {
  /// So many of the rows in scope before the run may go.
  public var maximumDeletes = RowLimit.percent(10)
  /// A snapshot has at least so many records.
  public var leastRows: UInt64 = 1
  /// A snapshot has at least this share of the records of the last one, from 0 to 1.
  public var leastRatio = 0.5
  /// Whether a snapshot without a record means that there is no row.
  public var allowsEmpty = false
  /// How many records a delivery has; nil where nobody says so.
  public var expectedCount: UInt64?
  /// What the last line of each file looks like that says that nothing is missing, and is no record: text with `*` for any
  /// text and `{count}` for the number of records, as in `TRL|*|{count}`. A file without it is cut. nil where files have none.
  public var trailer: String?
  /// Numbers of records at which a source cuts its deliveries off: one that ends there is not believed to be whole.
  public var suspiciousCounts: [UInt64] = []
  /// Whether the last line of a file must end with a line end, without which nobody knows whether it is whole.
  public var needsLineEnd = true

  public init() {}
}
