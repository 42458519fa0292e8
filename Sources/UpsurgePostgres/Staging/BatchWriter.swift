import UpsurgeRecords

/// A way of storing rows: a path, or several of which each batch takes one.
package protocol RowStore {
  /// What rows are put in order for.
  var arrangement: RowArrangement { get }

  /// Stores rows within the transaction that is open, and counts what became of them. With savepoints that have a limit it may end
  /// at a record, which is the outcomes' `next`; the rows of all records before it are done.
  /// - Throws: a failure of the class `record` only where nothing of the call stands, or the transaction has failed because there
  ///   are no savepoints. JSON is sent as text then.
  mutating func store(
    _ rows: borrowing EncodedRows, _ order: RowOrder, _ savepoints: inout Savepoints,
    _ outcomes: inout BatchOutcomes
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

/// Stores batches by a path, each within a transaction that the caller has begun and commits, or each in several: `BatchParts`.
package struct BatchWriter<Path: RowStore>: ~Copyable {
  private(set) var path: Path
  private var rows: BatchRows

  /// - Parameter slots: the slot of each of the shape's columns in the records.
  init(_ path: Path, _ shape: RecordShape, slots: [Int]) {
    self.path = path
    rows = BatchRows(shape, slots: slots)
  }

  /// How all records of a batch are encoded by this writer.
  /// - Parameter number: no two recipes of a table have the same.
  func recipe(_ number: Int) -> RowRecipe { rows.recipe(number, path.arrangement) }

  /// Takes rows that were encoded before by its recipe, for the next call that stores all of a batch. What it held of earlier
  /// batches is let go, so that no third batch stays in memory.
  mutating func take(_ ahead: AheadRows) {
    rows = ahead.emptyRows()
    swap(&rows, &ahead.rows)
  }

  /// Gives them back after it.
  mutating func giveBack(_ ahead: AheadRows) { swap(&rows, &ahead.rows) }

  /// Stores records of a batch, or as many of them as one transaction should hold.
  /// - Parameters:
  ///   - selection: only the records of these indexes; nil is all.
  ///   - savepoints: those of the transaction.
  /// - Returns: what became of the records before `next`, or of all.
  /// - Throws: also what is the fault of a record, where there are no savepoints; the transaction has failed then.
  package mutating func store(
    _ batch: borrowing Batch, only selection: [Int32]? = nil, within savepoints: inout Savepoints
  ) throws(PostgresFailure) -> BatchOutcomes {
    let records = 0..<(selection?.count ?? batch.recordCount)
    return try rows.store(batch, records, only: selection, within: &savepoints, by: &path)
  }
}
