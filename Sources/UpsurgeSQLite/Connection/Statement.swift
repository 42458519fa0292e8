import CSQLite
import UpsurgeRecords

/// One compiled statement of a connection, for the cold paths; the writer binds and steps the handle itself.
///
/// Used on the connection's thread. Keeps the connection alive; finalized by `deinit`.
package final class Statement {
  package let handle: OpaquePointer
  package let connection: Connection
  package let sql: String

  init(_ handle: OpaquePointer, connection: Connection, sql: String) {
    self.handle = handle
    self.connection = connection
    self.sql = sql
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs to the next row.
  /// - Returns: false when there is no further row.
  package func step() throws(UpsurgeError) -> Bool {
    connection.checkThread()
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    try connection.check(code, sql: sql)
    return false
  }

  /// Makes the statement ready to run again; bindings stay.
  package func reset() { sqlite3_reset(handle) }

  /// How many columns each row has.
  package var columnCount: Int32 { sqlite3_column_count(handle) }

  /// Binds a copy of the text; parameters count from 1.
  package func bind(_ text: String, at parameter: Int32) throws(UpsurgeError) {
    var copy = text
    let code = copy.withUTF8 { bytes in
      // SQLITE_TRANSIENT: SQLite copies the bytes at once.
      bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text64(
          handle, parameter, $0.baseAddress, UInt64($0.count),
          unsafeBitCast(-1, to: sqlite3_destructor_type.self), UInt8(SQLITE_UTF8))
      }
    }
    try connection.check(code, sql: sql)
  }

  package func bind(_ integer: Int64, at parameter: Int32) throws(UpsurgeError) {
    try connection.check(sqlite3_bind_int64(handle, parameter, integer), sql: sql)
  }

  package func bind(_ value: SQLValue, at parameter: Int32) throws(UpsurgeError) {
    switch value {
    case .null: try connection.check(sqlite3_bind_null(handle, parameter), sql: sql)
    case .integer(let number): try bind(number, at: parameter)
    case .real(let number): try connection.check(sqlite3_bind_double(handle, parameter, number), sql: sql)
    case .text(let text): try bind(text, at: parameter)
    case .blob(let bytes):
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      let code = bytes.withUnsafeBytes {
        // A NULL pointer would bind NULL.
        $0.isEmpty
          ? sqlite3_bind_zeroblob(handle, parameter, 0)
          : sqlite3_bind_blob64(handle, parameter, $0.baseAddress, UInt64($0.count), transient)
      }
      try connection.check(code, sql: sql)
    }
  }

  /// Whether a column of the current row is NULL; columns count from 0.
  package func isNull(at column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  package func integer(at column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// A column of the current row as text; nil for NULL.
  package func text(at column: Int32) -> String? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
