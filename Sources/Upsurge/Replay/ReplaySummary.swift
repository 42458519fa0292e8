/// What a replay did.
public struct ReplaySummary: Sendable {
  /// What became of the records of one table.
  public struct Table: Sendable {
    public var name: String
    public var ledger = Ledger()
    /// Why records of it still have no place, most frequent first.
    public var waiting: [Waiting] = []
    /// Why rejected records could not be tried; they stay as they are.
    public var untried: [Untried] = []
  }

  /// Rejected records that could not be tried for the same reason.
  public struct Untried: Sendable, Equatable {
    public var code: Reject.Code
    public var reason: String
    public var count: UInt64
    /// The first of them.
    public var first: Position
  }

  /// Records that wait for the same thing.
  public struct Waiting: Sendable, Equatable {
    /// What is missing, in words: `table t lacks column c`.
    public var reason: String
    /// The columns that are missing; empty where it is something else.
    public var columns: [String]
    public var count: UInt64
  }

  public var database: String
  /// The file of rejects that was replayed; nil where it was what the database keeps.
  public var file: String?
  /// In the order in which their first records arrived.
  public var tables: [Table] = []
  /// Rejected records by code, most frequent first.
  public var rejectsByReason: [(code: Reject.Code, count: UInt64)] = []
  /// Records that an earlier replay had settled, and which are part of the ledger: it ended early, or nobody has seen its
  /// ledger.
  public var resumedCount: UInt64 = 0
  /// Records of the file that a replay of an older version, which was cut short, has tried and rejected again: they stay,
  /// and are not part of this ledger.
  public var rejectedBefore: UInt64 = 0
  /// The first rejected records with their reasons and the places where they stood in their inputs; they stay where
  /// they were.
  public var rejects: [Reject] = []
  /// What was stored and is worth knowing, of rejected records: texts in columns of numbers, values respelled.
  public var warnings = WarningLog()
  /// Bytes of the kept records that were read.
  public var bytesRead: UInt64 = 0
  public var seconds = 0.0
  /// Seconds by stage.
  public var stages: [(name: String, seconds: Double)] = []
  /// Why the replay ended early, if it did. What was stored until then is committed and is not tried again.
  public var error: UpsurgeError?
  /// The signal that ended it, if one did.
  public var signal: Int32?

  public init(database: String, file: String? = nil) {
    self.database = database
    self.file = file
  }

  /// All tables together; `read` counts the records that were tried.
  public var ledger: Ledger { tables.reduce(into: Ledger()) { $0 += $1.ledger } }

  /// How many records were tried and still have no place.
  public var waiting: UInt64 { ledger.quarantined }

  /// Of the records that this process has tried.
  public var rowsPerSecond: Double {
    seconds > 0 && ledger.read >= resumedCount ? Double(ledger.read - resumedCount) / seconds : 0
  }

  /// The first that applies of the documented exit codes.
  public var exitCode: Int32 {
    if let signal { return 128 + signal }
    let ledger = ledger
    if let error {
      let settled = ledger.read - ledger.rejected - ledger.quarantined
      return error.exitCode(hasCommittedWork: settled > 0)
    }
    return ledger.rejected + ledger.quarantined + rejectedBefore > 0 ? 2 : 0
  }
}

extension ReplaySummary.Table {
  /// So many reasons are told apart.
  private static let reasonLimit = 100

  mutating func note(untried code: Reject.Code, _ reason: String, at position: Position) {
    if let index = untried.firstIndex(where: { $0.code == code && $0.reason == reason }) {
      untried[index].count += 1
    } else if untried.count < Self.reasonLimit {
      untried.append(ReplaySummary.Untried(code: code, reason: reason, count: 1, first: position))
    } else {
      untried[Self.reasonLimit - 1].count += 1
    }
  }
}
