import CSQLite
import UpsurgeRecords
import UpsurgeSQLite


/// A value as the tests write it; becomes a cell, an SQL literal, or what a query gave.
package enum Value: Equatable, Hashable, CustomStringConvertible, ExpressibleByIntegerLiteral,
  ExpressibleByStringLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
  case absent, null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(floatLiteral value: Double) { self = .real(value) }
  package init(nilLiteral: ()) { self = .null }

  /// As SQL and as a person would write it; tells 1 from 1.0 and '1'.
  package var description: String {
    switch self {
    case .absent: "-"
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value):
      "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    case .blob(let bytes):
      "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
  }
}

extension Connection {
  /// All rows of a query.
  package func rows(_ sql: String, _ arguments: [Value] = []) throws(UpsurgeError) -> [[Value]] {
    let statement = try prepare(sql)
    for (index, value) in arguments.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    var rows: [[Value]] = []
    while try statement.step() {
      rows.append((0..<sqlite3_column_count(statement.handle)).map { statement.value(at: $0) })
    }
    return rows
  }
}

extension Statement {
  /// What the row that was stepped to has in a column.
  package func value(at column: Int32) -> Value {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: return .integer(integer(at: column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
    case SQLITE_TEXT: return .text(text(at: column) ?? "")
    case SQLITE_BLOB:
      let count = Int(sqlite3_column_bytes(handle, column))
      guard let start = sqlite3_column_blob(handle, column) else { return .blob([]) }
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
    default: return .null
    }
  }

  /// Copies texts and blobs.
  package func bind(_ value: Value, at parameter: Int32) throws(UpsurgeError) {
    switch value {
    case .absent, .null: sqlite3_bind_null(handle, parameter)
    case .integer(let number): try bind(number, at: parameter)
    case .real(let number): sqlite3_bind_double(handle, parameter, number)
    case .text(let text): try bind(text, at: parameter)
    case .blob(let bytes):
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      sqlite3_bind_blob64(handle, parameter, bytes.isEmpty ? [0] : bytes, UInt64(bytes.count), transient)
    }
  }
}
