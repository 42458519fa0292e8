extension LoadOptions {
  /// How records become transactions, what of them a crash may take, and what memory and log they may use.
  public struct Transaction: Sendable {
    public var durability: Durability = .normal
    /// How much a transaction holds.
    public var commitEvery: CommitInterval = .auto
    /// Whether all of the run is one transaction.
    public var isAtomic = false
    /// Whether records are stored in the order of the input also where that makes no difference to the result; else they
    /// may be sorted by their key, which is faster where keys arrive in no order.
    public var keepsInputOrder = false
    /// Whether the rows of a new table in a new database are packed into pages without SQLite, in a file beside the
    /// database that becomes the database in one step; the result does not depend on it.
    public var direct = DirectPolicy.auto
    /// The log grows no further than this unless a reader pins it.
    public var walLimit = ByteSize.mebibytes(256)
    /// So many connections to a server store records at the same time, each those of its keys; a file has one.
    public var connections = 1
    /// How long to wait for a lock, in milliseconds.
    public var busyTimeout: Int32 = 5_000
    /// Bounds all that is allocated after start-up: batches, page cache.
    public var memory = ByteSize.mebibytes(64)
    /// What becomes of an earlier run of the same job that ended early.
    public var resume = ResumePolicy.auto
    /// Whether the run stays listed after it has ended.
    public var keepsHistory = false
    /// So many past runs of the table stay, the newest, where this one does; nil is all of them.
    package var keptRunCount: UInt64?

    public init() {}
  }

  /// Whether rows may be packed into pages.
  public enum DirectPolicy: String, Sendable, CaseIterable {
    /// Where the table and the options allow it and the input is large enough to gain by it.
    case auto
    /// Small inputs, too.
    case always
    /// All rows go through SQLite.
    case never
  }
}

// The shares of the memory.
extension LoadOptions.Transaction {
  /// The largest record, in bytes: a quarter of the memory, and no more than SQLite can take.
  package var recordByteLimit: Int { min(memory.byteCount / 4, 1_000_000_000) }

  /// A quarter of the memory, and of what the log may hold: the cache of a transaction goes to the log in the end.
  package var pageCacheByteCount: Int { min(memory.byteCount, walLimit.byteCount) / 4 }

  /// What records may take that wait to be sorted by their key: what the cache and the batches leave. Batches with large
  /// records share it.
  package var sortByteCount: Int {
    let rest = memory.byteCount - pageCacheByteCount - (16 << 20)
    return min(max(rest, memory.byteCount / 4), 2 << 30)
  }

  /// What batches with large records may take, all together: such a record as it stands and as it is stored.
  package var largeBatchByteLimit: Int { memory.byteCount / 2 }

  /// What may be kept in memory of which rows a snapshot's records were about, for all tables of a transaction together.
  package var seenByteLimit: Int { min(memory.byteCount / 8, 8 << 20) }
}
