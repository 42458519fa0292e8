import Upsurge

/// How many rows are stored by one call.
public struct BulkOptions: Sendable {
  /// A commit after so many rows. With nil, the default, all rows are one transaction: what is thrown takes all of them back.
  public var commitEvery: Int?
  /// What happens at a row that cannot be stored. `stop` throws; `reject` counts the row as rejected and goes on.
  public var onError = ErrorPolicy.stop
  /// Is given each row that is rejected; its position's record is its number among those given, from 1. It is called on the
  /// database's thread.
  public var onReject: (@Sendable (Reject) -> Void)?

  /// Whether triggers are to know that the rows come from a sync: what ``isSynchronizing`` says meanwhile.
  public var isSynchronizing = false

  public init() {}
}
