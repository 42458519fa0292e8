import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Sees what becomes of each record, in input order; records then go one by one.
///
/// Called on the writer thread, also for records that the parser could not read, but not for the one that ends the
/// run. When `didRollBack` comes, what was seen since the last `didCommit` has not happened; when `didTakeBack` comes,
/// what was seen since the last `didHold`.
package protocol RecordObserver: TransactionObserver {
  /// Which rows `observe` is given; others are not looked up, and nil.
  var wantedRows: ObservedRows { get }

  /// Whether the rows have one value more at their end: the rowid, or NULL without one.
  var wantsRowid: Bool { get }

  /// The table's columns as they are from now on; called before the first record and whenever columns were added.
  /// - Parameter columns: indexes into `plan.schema.columns` of the values that `observe` is given.
  func begin(_ plan: UpsertPlan, columns: [Int]) throws(UpsurgeError)

  /// Looks at a record before it is stored.
  /// - Parameter isTombstone: whether the record deletes its row, whatever the mode is.
  /// - Returns: the reject to make of it; nil to let it be stored.
  func refusal(
    of record: Int, in batch: borrowing Batch, isTombstone: Bool
  ) throws(UpsurgeError) -> Reject?

  /// The record in hand goes into the row that exists by an UPDATE instead of by its INSERT, which SQLite has refused or
  /// could not do.
  /// - Parameter target: which of the plan's targets finds that row.
  func willUpdate(byTarget target: Int)

  /// The record in hand is ignored because its row exists, although SQLite has refused its INSERT.
  func willIgnore()

  /// - Parameters:
  ///   - before: the row that the record is about as it was; nil when there was none.
  ///   - after: the row as it is now; nil without one, and of a record that was rejected or quarantined.
  func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError)

  /// The records that follow may come once more, with what comes of them in the end, because a foreign key that is looked
  /// at when the transaction ends finds no parent.
  func didHold()

  /// The records since `didHold` come once more.
  func didTakeBack() throws(UpsurgeError)
}

/// The rows that a `RecordObserver` asks for.
package enum ObservedRows: Int, Sendable {
  case none, after, beforeAndAfter
}

extension RecordObserver {
  package var wantedRows: ObservedRows { .beforeAndAfter }
  package var wantsRowid: Bool { false }

  package func begin(_ plan: UpsertPlan, columns: [Int]) throws(UpsurgeError) {}

  package func refusal(
    of record: Int, in batch: borrowing Batch, isTombstone: Bool
  ) throws(UpsurgeError) -> Reject? { nil }

  package func willUpdate(byTarget target: Int) {}

  package func willIgnore() {}

  package func didHold() {}

  package func didTakeBack() throws(UpsurgeError) {}

  package func didCommit() throws(UpsurgeError) {}

  package func didRollBack() {}
}

extension TransactionObserver {
  package func didBegin() throws(UpsurgeError) {}

  package func willCommit() throws(UpsurgeError) {}
}

/// Is told how transactions end, on the writer thread.
package protocol TransactionObserver: AnyObject {
  /// A transaction is open, and nobody has refused it; also told where none is needed, as there is nothing to store.
  func didBegin() throws(UpsurgeError)

  /// Everything so far is about to be committed: what must be there when it is goes to the disk now. Not in a dry run.
  func willCommit() throws(UpsurgeError)

  /// Everything so far is committed; in a dry run, has come to its end.
  func didCommit() throws(UpsurgeError)

  /// Everything since the last `didCommit` has not happened.
  func didRollBack()
}
