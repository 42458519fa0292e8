import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Rows that records are about, read back.
extension TableWriter {
  /// The row that a record is about as it is now; nil without one.
  func rowOfRecord(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, columns: [Int]
  ) throws(UpsurgeError) -> [SQLValue]? {
    if plan.lookUpKeys.isEmpty { return nil }
    return try row(try statements.handle(shape, .find(columns)), batch, record, shape)
  }

  /// Whether there is one.
  func hasRow(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> Bool {
    let columns = stages.observer?.columns ?? bound.visibleColumns
    return try rowOfRecord(batch, record, shape, columns: columns) != nil
  }

  /// The row that a statement finds by a record.
  func row(
    _ handle: OpaquePointer, _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements
  ) throws(UpsurgeError) -> [SQLValue]? {
    defer { sqlite3_reset(handle) }
    let code = step(handle, batch, record, shape)
    if code == SQLITE_DONE { return nil }
    if code != SQLITE_ROW { throw connection.failure(code, sql: String(cString: sqlite3_sql(handle))) }
    return (0..<sqlite3_column_count(handle)).map { SQLValue(handle, column: $0) }
  }

  /// How many rows of the table fulfil a condition.
  func count(rowsIn condition: String) throws(UpsurgeError) -> UInt64 {
    // There is no table yet whose rows they could be: its records are kept until there is.
    if plan.schema.columns.isEmpty { return 0 }
    let table = try SQLName.quote(plan.schema.name)
    return try connection.interruptible { () throws(UpsurgeError) in
      // Without a condition SQLite counts the entries of pages.
      let filter = condition == "1" ? "" : " WHERE \(condition)"
      let count = try connection.integer("SELECT count(*) FROM main.\(table)\(filter)")
      return UInt64(count ?? 0)
    }
  }
}
