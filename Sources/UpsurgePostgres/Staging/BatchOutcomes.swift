/// What became of the records of a batch.
package struct BatchOutcomes: Sendable, Equatable {
  /// A record that was not stored.
  package struct Rejected: Sendable, Equatable {
    package enum Cause: Sendable, Equatable {
      case nullKey(column: String)
      /// A value of the record has no binary form of the column's type.
      case fault(EncodingFault, column: String)
      /// What the server said.
      case failure(PostgresFailure)
    }

    /// The index of the record in the batch.
    package var record: Int
    package var cause: Cause
  }

  package var inserted = 0
  package var updated = 0
  package var unchanged = 0
  /// Records whose row stayed because of the rules' condition.
  package var kept = 0
  package var deleted = 0
  /// Records that found no row to change or delete, or whose row a trigger has left out.
  package var missing = 0
  package var rejected: [Rejected] = []
  /// Statements that were sent: copies, queries and what writes; not savepoints.
  package var statementCount = 0
  /// The first record that nothing was done about, because the transaction should hold no more; nil where all are done. Only
  /// `BatchWriter.store(_:of:)` ends so.
  package var next: Int?

  /// The counts of records that were stored.
  var counts: [Int] {
    get { [inserted, updated, unchanged, kept, deleted, missing] }
    set {
      (inserted, updated, unchanged) = (newValue[0], newValue[1], newValue[2])
      (kept, deleted, missing) = (newValue[3], newValue[4], newValue[5])
    }
  }

  /// - Throws: where the server has counted more rows than there are records, so that no ledger is right.
  func check() throws(PostgresFailure) {
    if counts.allSatisfy({ $0 >= 0 }) { return }
    throw PostgresFailure(.other, "the server has written more rows than there were records")
  }

  /// Puts rejects in the order of their records, and forgets those of records that are not done.
  mutating func arrangeRejects() {
    if let next { rejected.removeAll { $0.record >= next } }
    rejected.sort { $0.record < $1.record }
  }
}
