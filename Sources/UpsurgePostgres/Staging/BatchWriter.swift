import UpsurgeRecords

/// A way of storing rows: a path, or several of which each batch takes one.
package protocol RowStore {
  /// What rows are put in order for.
  var arrangement: RowArrangement { get }

  /// Stores rows within the transaction that is open, and counts what became of them.
  /// - Throws: a failure of the class `record` only where nothing of the call stands; JSON is sent as text then.
  mutating func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure)
}

/// What rows are put in order for.
package enum RowArrangement: Sendable {
  /// Nothing compares their keys.
  case none
  /// Parts in which no key comes twice, as they arrived.
  case segments
  /// Rounds in the order of keys, where that is known, else segments.
  case rounds
}

/// Stores batches by a path, each within a transaction that the caller has begun and commits.
package struct BatchWriter<Path: RowStore>: ~Copyable {
  private(set) var path: Path
  private var rows: BatchRows

  /// - Parameter slots: the slot of each of the shape's columns in the records.
  init(_ path: Path, _ shape: RecordShape, slots: [Int]) {
    self.path = path
    rows = BatchRows(shape, slots: slots)
  }

  /// - Throws: what is not the fault of a record; the transaction has failed then.
  package mutating func store(_ batch: borrowing Batch) throws(PostgresFailure) -> BatchOutcomes {
    try rows.store(batch, by: &path)
  }
}
