import UpsurgeRecords

/// Sees what becomes of each record; records then go one by one.
///
/// Called on the writer thread, in input order, for every record: those that the parser could not read included,
/// except the one that ends the run. What was seen since the last `didCommit` has not happened when `didRollBack`
/// comes.
package protocol RecordObserver: AnyObject {
  /// Which rows are looked up for `observe`.
  var wantedRows: ObservedRows { get }

  /// The records that follow are stored by this plan; called before the first record, and again when the input's
  /// columns change or the table has got new ones.
  func begin(_ plan: UpsertPlan) throws(UpsurgeError)

  /// SQL terms over the table's row, whose values `before` and `after` hold. By itself all columns that can be read,
  /// in table order.
  func terms(of schema: TableSchema) throws(UpsurgeError) -> [String]

  /// Looks at a record before it is stored.
  /// - Returns: the reject to make of it; nil to let it be stored.
  func refusal(of record: Int, in batch: borrowing Batch) throws(UpsurgeError) -> Reject?

  /// A record has been dealt with.
  /// - Parameters:
  ///   - before: the row that the record is about as it was; nil when none existed or it was not asked for.
  ///   - after: the same row as it is now; nil when there is none or it was not asked for.
  func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError)

  /// Everything observed so far is committed (in a dry run: has come to its end).
  func didCommit() throws(UpsurgeError)

  /// What was observed since the last commit is undone.
  func didRollBack()
}

/// The rows that a `RecordObserver` asks for.
package enum ObservedRows: Int, Sendable, Comparable {
  case none, after, beforeAndAfter

  package static func < (left: ObservedRows, right: ObservedRows) -> Bool { left.rawValue < right.rawValue }
}

extension RecordObserver {
  package func begin(_ plan: UpsertPlan) throws(UpsurgeError) {}

  package func terms(of schema: TableSchema) throws(UpsurgeError) -> [String] {
    var terms: [String] = []
    for column in schema.readableColumns { terms.append(try SQLName.quote(column.name)) }
    return terms
  }

  package func refusal(of record: Int, in batch: borrowing Batch) throws(UpsurgeError) -> Reject? { nil }

  package func didCommit() throws(UpsurgeError) {}

  package func didRollBack() {}
}

extension TableSchema {
  /// The columns that a query can read, in table order: all but the hidden ones of a virtual table.
  package var readableColumns: [Column] { columns.filter { !$0.isHidden } }

  /// A name of the rowid that no column has taken; nil where there is no rowid.
  package var rowidName: String? {
    if isWithoutRowid || kind == .view { return nil }
    return ["rowid", "_rowid_", "oid"].first { columnIndex($0) == nil }
  }
}
