import CSQLite

/// A plain connection, independent of the engine.
final class FuzzDatabase {
  private let handle: OpaquePointer

  private init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_close(handle) }

  static func memory() throws -> FuzzDatabase { try open(":memory:") }

  /// Opens a file, which is made where it is missing.
  static func open(_ path: String) throws -> FuzzDatabase {
    var handle: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else { throw Finding("cannot open \(path)") }
    return FuzzDatabase(handle)
  }

  /// Runs the statements of a text.
  /// - Returns: the rows, each value with a letter for its type: `n`, `i1`, `r` and the bits, `t` or `b` and the bytes.
  @discardableResult
  func execute(_ sql: String) throws -> [[String]] {
    var rows: [[String]] = []
    try sql.withCString { start in
      var next: UnsafePointer<CChar>? = start
      while let text = next, text.pointee != 0 {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, text, -1, &statement, &next) == SQLITE_OK else { throw failure(sql) }
        while statement != nil {
          let code = sqlite3_step(statement)
          if code == SQLITE_DONE { break }
          guard code == SQLITE_ROW else { throw failure(sql) }
          rows.append((0..<sqlite3_column_count(statement)).map { value(statement, $0) })
        }
      }
    }
    return rows
  }

  private func failure(_ sql: String) -> Finding {
    Finding("\(String(cString: sqlite3_errmsg(handle))): \(sql)")
  }

  private func value(_ statement: OpaquePointer?, _ column: Int32) -> String {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_NULL: return "n"
    case SQLITE_INTEGER: return "i\(sqlite3_column_int64(statement, column))"
    case SQLITE_FLOAT: return "r\(sqlite3_column_double(statement, column).bitPattern)"
    case let type:
      let start = sqlite3_column_blob(statement, column)
      let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
      return (type == SQLITE_BLOB ? "b" : "t") + Self.hex(bytes)
    }
  }

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
