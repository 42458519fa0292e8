/// What can be done about a failure, by its SQLSTATE.
package enum FailureClass: String, Sendable, CaseIterable {
  /// The whole transaction can be tried again: deadlock, serialization, a lock that was waited for too long.
  case retryTransaction
  /// The connection is gone, or the server is about to go: connect again, and look up what was committed.
  case connectionLost
  /// The connection broke while it committed: only what stands in the database says whether it did.
  case outcomeUnknown
  /// The connection breaks each time at the same records.
  case breaksAgain
  /// The server takes no rows now: it is a standby, or was told to take none.
  case readOnly
  /// The server stands before commits that it had confirmed: one has taken over that lacked them.
  case commitsLost
  /// A pooler gives each statement to any session, so that there are no transactions.
  case noTransactions
  /// One of the records of the statement cannot be stored.
  case record
  /// A right is missing, or row-level security refuses; a row that it hides under the same key looks the same.
  case privilege
  /// A table or column is not what it was when the statement was made.
  case schemaChanged
  /// Disk or memory of the server is full.
  case resources
  /// A limit of the server on the time of statements has ended it.
  case timedOut
  /// Nobody answers, or the server takes no more connections now.
  case unreachable
  /// The server refuses who asks, or has no such database.
  case refused
  /// libpq is not here.
  case notInstalled
  /// The run is another process's by now.
  case takenOver
  /// A table has the name of one of ours, and is not ours.
  case foreignTable
  /// We were told to end.
  case interrupted
  /// The URL cannot be understood.
  case badTarget
  /// Everything else: SQL that is wrong, or what is not such a server.
  case other

  /// - Parameter sqlState: five letters, as SQL and PostgreSQL's appendix A have them.
  package init(sqlState: String) {
    if let known = Self.states[sqlState] {
      self = known
    } else {
      self = Self.classes[String(sqlState.prefix(2))] ?? .other
    }
  }

  /// What differs from the class of its first two letters.
  private static let states: [String: FailureClass] = [
    "40001": .retryTransaction, "40P01": .retryTransaction, "55P03": .retryTransaction, "25P03": .retryTransaction,
    "40003": .outcomeUnknown, "08007": .outcomeUnknown,
    "57P01": .connectionLost, "57P02": .connectionLost, "57P03": .connectionLost, "57P05": .connectionLost,
    "53300": .connectionLost, "25P04": .connectionLost,
    "57014": .timedOut,
    "25006": .readOnly,
    "54000": .record, "54001": .record, "428C9": .record,
    "42501": .privilege,
    "42P01": .schemaChanged, "42703": .schemaChanged, "0A000": .schemaChanged,
    "3D000": .refused,
  ]

  private static let classes: [String: FailureClass] = [
    "08": .connectionLost, "22": .record, "23": .record, "44": .record, "28": .refused, "53": .resources, "58": .resources,
    // What functions of triggers, defaults and rules end with: a subquery of two rows, a failed ASSERT, a case that is not there.
    "09": .record, "20": .record, "21": .record, "27": .record, "2F": .record, "38": .record, "39": .record, "P0": .record,
  ]
}
