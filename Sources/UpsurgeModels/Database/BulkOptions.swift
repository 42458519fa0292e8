import UpsurgePlan
import UpsurgeRecords
import UpsurgeStorage

/// How the rows of one call are stored.
public struct BulkOptions: Sendable {
  /// Which row a record is about, in a call that names no columns: `.any` takes every key of the table, `.index` one by its
  /// name, `.firstOf` the first that has such a row.
  public var key = ConflictTarget.primaryKey
  /// What becomes of a record with NULL in its key. `reject` cannot store it; `insert` inserts it, anew by every call.
  public var nullKeys = NullKeyPolicy.reject
  /// A commit after so many rows. With nil, the default, all rows are one transaction: what is thrown takes all of them back.
  public var commitEvery: Int?
  /// What happens at a row that cannot be stored. `stop` throws; `reject` counts the row as rejected and goes on.
  public var onError = ErrorPolicy.stop
  /// Is given each row that is rejected; its position's record is its number among those given, from 1. It is called on the
  /// database's thread.
  public var onReject: (@Sendable (Reject) -> Void)?

  /// Bytes of text and blobs that one row may have, at most 1,000,000,000; a larger row cannot be stored. With nil, the default, a
  /// quarter of the database's `Configuration.memory`, and 16 MiB for a database of GRDB's.
  public var maximumRowSize: ByteSize?

  /// Whether triggers are to know that the rows come from a sync: what ``isSynchronizing`` says meanwhile.
  public var isSynchronizing = false

  public init() {}
}
