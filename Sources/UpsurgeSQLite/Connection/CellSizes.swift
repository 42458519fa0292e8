import CSQLite
import UpsurgeRecords

/// How large the texts and BLOBs in a column are, without reading them; belongs to the connection's thread.
///
/// By incremental I/O (https://sqlite.org/c3ref/blob_open.html), as `length` of a text reads all of it.
package final class CellSizes {
  private let connection: Connection
  private let table: String
  private let column: String
  private var cell: OpaquePointer?

  package init(_ connection: Connection, table: String, column: String) {
    self.connection = connection
    self.table = table
    self.column = column
  }

  deinit { sqlite3_blob_close(cell) }

  /// The bytes of a cell; 0 for NULL, numbers and rows that are not there.
  func byteCount(row: Int64) -> Int {
    if cell != nil && sqlite3_blob_reopen(cell, row) != SQLITE_OK {
      sqlite3_blob_close(cell)
      cell = nil
    }
    if cell == nil, sqlite3_blob_open(connection.handle, "main", table, column, row, 0, &cell) != SQLITE_OK {
      return 0
    }
    return Int(sqlite3_blob_bytes(cell))
  }

  /// The first of a table's rows whose cell is larger than a limit.
  /// - Returns: its rowid and size; nil where none of the next `count` rows is.
  package func firstLarger(
    than limit: Int, after: Int64, through: Int64, count: Int
  ) throws(UpsurgeError) -> (row: Int64, byteCount: Int)? {
    let rows = try connection.prepare(
      "SELECT id FROM main.\(SQLName.quote(table)) WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3")
    try rows.bind(after, at: 1)
    try rows.bind(through, at: 2)
    try rows.bind(Int64(count), at: 3)
    while try rows.step() {
      let row = rows.integer(at: 0)
      let byteCount = byteCount(row: row)
      if byteCount > limit { return (row, byteCount) }
    }
    return nil
  }
}
