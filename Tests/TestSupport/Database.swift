import CSQLite

/// A plain connection, independent of the engine, to see what a run left behind.
public final class Database {
  private var handle: OpaquePointer?

  public init(_ path: String) {
    guard sqlite3_open(path, &handle) == SQLITE_OK else { fatalError("cannot open \(path)") }
  }

  deinit { sqlite3_close(handle) }

  public struct Failure: Error, CustomStringConvertible { public var description: String }

  /// All rows of a statement as text, each value quoted as SQL (`'x'`, `1`, `NULL`), joined by `|`.
  @discardableResult
  public func rows(_ sql: String) throws -> [String] {
    var rows: [String] = []
    try sql.withCString { start in
      var next: UnsafePointer<CChar>? = start
      while let text = next, text.pointee != 0 {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, text, -1, &statement, &next) == SQLITE_OK else {
          throw Failure(description: String(cString: sqlite3_errmsg(handle)) + ": " + sql)
        }
        while statement != nil {
          let code = sqlite3_step(statement)
          if code == SQLITE_DONE { break }
          guard code == SQLITE_ROW else {
            throw Failure(description: String(cString: sqlite3_errmsg(handle)))
          }
          rows.append(
            (0..<sqlite3_column_count(statement)).map { value(statement, $0) }.joined(separator: "|"))
        }
      }
    }
    return rows
  }

  private func value(_ statement: OpaquePointer?, _ column: Int32) -> String {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_NULL: return "NULL"
    case SQLITE_INTEGER: return String(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return "\(sqlite3_column_double(statement, column))"
    case SQLITE_BLOB:
      let count = Int(sqlite3_column_bytes(statement, column))
      let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
      return "x'" + bytes.map { String($0, radix: 16) }.joined() + "'"
    default:
      let count = Int(sqlite3_column_bytes(statement, column))
      let bytes = UnsafeBufferPointer(start: sqlite3_column_text(statement, column), count: count)
      return "'" + String(decoding: bytes, as: UTF8.self) + "'"
    }
  }
}
