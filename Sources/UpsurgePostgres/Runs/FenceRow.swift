/// A row that one process at a time writes. It is locked first in each of its transactions, and says what stands.
package protocol FenceRow: Sendable {
  /// What the row calls this process.
  var owner: String { get }

  /// What it means that the row is gone, or another process's.
  var loss: String { get }

  /// Locks the row, and says what stands. A transaction whose COMMIT is not yet through is waited for.
  /// - Returns: nil where it has gone.
  func lock(_ connection: PostgresConnection) throws(PostgresFailure) -> PostgresRuns.Standing?

  /// Writes down what stands with the transaction.
  /// - Parameter isComplete: whether it is the last one.
  /// - Returns: false where the row has gone, or is another process's.
  func advance(
    to standing: PostgresRuns.Standing, isComplete: Bool, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool
}

/// The row of a run.
struct RunRow: FenceRow {
  let runs: PostgresRuns
  let run: Int64
  let owner: String

  var loss: String { "another process has taken up the run, or it was forgotten" }

  func lock(_ connection: PostgresConnection) throws(PostgresFailure) -> PostgresRuns.Standing? {
    try runs.lock(run, connection)
  }

  func advance(
    to standing: PostgresRuns.Standing, isComplete: Bool, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool {
    try runs.advance(run, to: standing, isComplete: isComplete, connection)
  }
}
