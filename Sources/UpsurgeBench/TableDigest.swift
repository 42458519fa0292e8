import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// What distinguishes two tables: rows, declared columns, and a digest of all values with their storage classes that does
/// not depend on the order of the rows.
package struct TableDigest: Sendable, Equatable {
  package private(set) var rowCount: UInt64 = 0
  /// Sums of two 64-bit hashes of each row.
  private var low: UInt64 = 0
  private var high: UInt64 = 0
  /// Names and declared types, in table order.
  package let columns: [String]

  /// 32 hexadecimal digits.
  package var text: String {
    [high, low].map { sum in
      let digits = String(sum, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }

  /// Reads all of a table.
  /// - Throws: `database`, also where there is no such table.
  package init(of table: String, on connection: Connection) throws(UpsurgeError) {
    let names = try connection.prepare(
      "SELECT name || ' ' || type FROM pragma_table_xinfo(?1, 'main') ORDER BY cid")
    try names.bind(table, at: 1)
    var columns: [String] = []
    while try names.step() { columns.append(names.text(at: 0) ?? "") }
    self.columns = columns
    let statement = try connection.prepare("SELECT * FROM main.\(try SQLName.quote(table))")
    let handle = statement.handle
    while try statement.step() {
      var (first, second): (UInt64, UInt64) = (1, 2)
      for column in 0..<sqlite3_data_count(handle) {
        first = Self.absorb(first, handle, column)
        second = Self.absorb(second, handle, column)
      }
      rowCount += 1
      low &+= first
      high &+= second
    }
  }

  private static func absorb(_ hash: UInt64, _ statement: OpaquePointer, _ column: Int32) -> UInt64 {
    let type = sqlite3_column_type(statement, column)
    let tagged = absorb(hash, UInt64(truncatingIfNeeded: type))
    switch type {
    case SQLITE_INTEGER:
      return absorb(tagged, UInt64(bitPattern: sqlite3_column_int64(statement, column)))
    case SQLITE_FLOAT: return absorb(tagged, sqlite3_column_double(statement, column).bitPattern)
    case SQLITE_NULL: return tagged
    default:
      let start = sqlite3_column_blob(statement, column)
      let count = Int(sqlite3_column_bytes(statement, column))
      return absorb(
        absorb(tagged, UInt64(count)), UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
  }

  private static func absorb(_ hash: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = hash
    var offset = 0
    while offset + 8 <= bytes.count {
      hash = absorb(hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest: UInt64 = 0
    for (place, byte) in bytes[offset...].enumerated() { rest |= UInt64(byte) << (8 * UInt64(place)) }
    return absorb(hash, rest)
  }

  @inline(__always)
  private static func absorb(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    return mixed ^ (mixed >> 29)
  }
}

extension TableDigest {
  /// In what a table differs from one that it should equal, in words; nil where it does not.
  package func difference(from expected: TableDigest) -> String? {
    if columns != expected.columns {
      return "its columns are \(columns.joined(separator: ", ")) instead of "
        + expected.columns.joined(separator: ", ")
    }
    if rowCount != expected.rowCount {
      return "it holds \(rowCount) rows instead of \(expected.rowCount)"
    }
    return self == expected ? nil : "it holds as many rows, with other values or types"
  }
}
