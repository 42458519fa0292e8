import UpsurgeRecords

/// Sees what becomes of each record, in input order; records then go one by one.
package protocol RecordObserver: AnyObject {
  /// The table's columns as they are from now on; called before the first record and whenever columns were added.
  /// - Parameter columns: indexes into `schema.columns` of the values that `observe` is given.
  func begin(schema: TableSchema, columns: [Int]) throws(UpsurgeError)

  /// - Parameters:
  ///   - before: the row that the record is about as it was; nil when there was none.
  ///   - after: the row as it is now; nil when there is none, and of a record that was rejected or quarantined.
  func observe(
    _ outcome: Outcome, at position: Position, before: [SQLValue]?, after: [SQLValue]?
  ) throws(UpsurgeError)
}
