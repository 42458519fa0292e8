import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

extension Statement {
  /// Binds a copy of a text, or NULL.
  package func bind(_ text: String?, at parameter: Int32) throws(UpsurgeError) {
    if let text { try bind(text, at: parameter) } else { try check(sqlite3_bind_null(handle, parameter)) }
  }

  /// Binds a number, or NULL.
  package func bind(_ number: UInt64?, at parameter: Int32) throws(UpsurgeError) {
    if let number {
      try bind(Int64(clamping: number), at: parameter)
    } else {
      try check(sqlite3_bind_null(handle, parameter))
    }
  }

  /// Binds a copy of a cell's value; absent is NULL.
  package func bind(_ cell: Cell, of batch: borrowing Batch, at parameter: Int32) throws(UpsurgeError) {
    switch cell.kind {
    case .absent, .null: try check(sqlite3_bind_null(handle, parameter))
    case .integer: try bind(Int64(bitPattern: cell.payload), at: parameter)
    case .real: try check(sqlite3_bind_double(handle, parameter, Double(bitPattern: cell.payload)))
    case .text:
      let bytes = UnsafeRawBufferPointer(batch.bytes(of: cell))
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      try check(
        sqlite3_bind_text64(handle, parameter, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8)))
    case .blob:
      let bytes = batch.bytes(of: cell)
      try check(
        bytes.isEmpty
          ? sqlite3_bind_zeroblob(handle, parameter, 0)
          : sqlite3_bind_blob64(handle, parameter, bytes.baseAddress, UInt64(bytes.count), transient))
    }
  }

  /// SQLITE_TRANSIENT: SQLite copies the bytes at once.
  private var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  private func check(_ code: Int32) throws(UpsurgeError) { try connection.check(code, sql: sql) }
}
