/// What becomes of a mirrored row that somebody has edited or deleted in the database.
public enum LocalEdits: String, Sendable, CaseIterable {
  /// The feed wins: the row is brought back to what the feed says, also where the feed has not changed.
  case repair
  /// The edit wins: records about the row are passed over, and no sweep takes it away.
  case keep
}

/// How many rows were edited or deleted here, and what became of them in a run.
public struct LocalEditCounts: Sendable, Equatable {
  /// Rows that were brought back.
  public var repaired: UInt64 = 0
  /// Rows whose records were passed over.
  public var kept: UInt64 = 0
  /// Rows that are no longer in the delivery, and were not swept.
  public var unswept: UInt64 = 0

  public init() {}
}
