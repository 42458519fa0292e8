import CSQLite
import UpsurgeRecords

/// A table in memory with one column of each numeric affinity, to see what SQLite itself stores.
final class SQLiteColumns {
  /// A stored value with its type, exact to the bit.
  enum Value: Equatable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])

    var description: String {
      switch self {
      case .null: "null"
      case .integer(let value): "integer \(value)"
      case .real(let bits): "real \(Double(bitPattern: bits))"
      case .text(let bytes): "text \(String(decoding: bytes, as: UTF8.self))"
      }
    }
  }

  private var database: OpaquePointer?
  private var statement: OpaquePointer?
  private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// The names of the declared types, in column order.
  static let types = ["INTEGER", "REAL", "NUMERIC"]

  init() {
    sqlite3_open(":memory:", &database)
    sqlite3_exec(database, "CREATE TABLE t(i INTEGER, r REAL, n NUMERIC)", nil, nil, nil)
    sqlite3_prepare_v2(database, "INSERT INTO t VALUES (?1, ?2, ?3) RETURNING i, r, n", -1, &statement, nil)
    sqlite3_exec(database, "BEGIN", nil, nil, nil)
  }

  deinit {
    sqlite3_finalize(statement)
    sqlite3_close(database)
  }

  /// What the three columns hold after text was bound to each.
  func store(text: [UInt8]) -> [Value] {
    text.withUnsafeBytes { bytes in
      for column in 1...3 {
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        if let start {
          sqlite3_bind_text(statement, Int32(column), start, Int32(bytes.count), transient)
        } else {
          sqlite3_bind_text(statement, Int32(column), "", 0, transient)
        }
      }
      return step()
    }
  }

  /// What the three columns hold after one cell was bound to each; text cells point into `text`.
  func store(cells: [Cell], text: [UInt8]) -> [Value] {
    for (index, cell) in cells.enumerated() {
      let column = Int32(index + 1)
      switch cell.kind {
      case .integer: sqlite3_bind_int64(statement, column, Int64(bitPattern: cell.payload))
      case .real: sqlite3_bind_double(statement, column, Double(bitPattern: cell.payload))
      case .text:
        let part = Array(text[Int(cell.payload)..<Int(cell.payload) + Int(cell.byteCount)])
        part.withUnsafeBytes { bytes in
          let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
          _ =
            start.map { sqlite3_bind_text(statement, column, $0, Int32(bytes.count), transient) }
            ?? sqlite3_bind_text(statement, column, "", 0, transient)
        }
      default: sqlite3_bind_null(statement, column)
      }
    }
    return step()
  }

  private func step() -> [Value] {
    guard sqlite3_step(statement) == SQLITE_ROW else { return [] }
    let values = (0..<3).map { (column: Int32) -> Value in
      switch sqlite3_column_type(statement, column) {
      case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
      case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column).bitPattern)
      case SQLITE_NULL: return .null
      default:
        let count = Int(sqlite3_column_bytes(statement, column))
        guard let start = sqlite3_column_text(statement, column) else { return .text([]) }
        return .text(Array(UnsafeBufferPointer(start: start, count: count)))
      }
    }
    sqlite3_reset(statement)
    return values
  }
}
