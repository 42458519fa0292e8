import Upsurge
import UpsurgeRecords

/// What a move did.
package struct MoveSummary: Sendable {
  /// One table, as far as it was moved.
  package struct Table: Sendable {
    package var name: String
    package var rowCount: UInt64 = 0
    /// Bytes of its rows as they are compared.
    package var byteCount: UInt64 = 0
    /// Spent in storing rows, in this run.
    package var seconds = 0.0
    /// Of both sides; nil as long as they were not compared.
    package var digest: String?
  }

  package var source: String
  package var target: String
  package var plan: MovePlan?
  package var tables: [Table] = []
  /// Steps after the rows that the other side has refused.
  package var refusals: [LeftOut] = []
  package var seconds = 0.0
  package var error: UpsurgeError?
  package var signal: Int32?
  /// Whether something of it stands in the target.
  package var hasCommitted = false
  /// Whether an earlier run has ended it already.
  package var wasDone = false
  /// Whether every table has equal digests on both sides.
  package var isVerified = false

  init(source: String, target: String) { (self.source, self.target) = (source, target) }

  /// The first that applies of the documented exit codes.
  package var exitCode: Int32 {
    if let signal { return 128 + signal }
    return error?.exitCode(hasCommittedWork: hasCommitted) ?? 0
  }
}
