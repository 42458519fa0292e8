/// What became of the records of a batch.
package struct BatchOutcomes: Sendable, Equatable {
  /// A record that was not stored.
  package struct Rejected: Sendable, Equatable {
    package enum Cause: Sendable, Equatable {
      case nullKey(column: String)
      /// Its value has no binary form of the column's type.
      case fault(EncodingFault, column: String)
      /// What the server said.
      case failure(PostgresFailure)
    }

    /// Its index in the batch.
    package var record: Int
    package var cause: Cause
  }

  package var inserted = 0
  package var updated = 0
  package var unchanged = 0
  /// Their row stayed because of the rules' condition.
  package var kept = 0
  package var deleted = 0
  /// There is no row for them to change or delete.
  package var missing = 0
  package var rejected: [Rejected] = []
  /// Statements that were sent: copies, queries and what writes; not savepoints.
  package var statementCount = 0
}
