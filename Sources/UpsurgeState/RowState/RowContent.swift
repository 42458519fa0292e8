import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// The SQL function that makes one number of the values of a row, with their types: `upsurge_content(a, b, …)`.
///
/// Each value is hashed by XXH64 and chained to those before it, so that values that change places are told, too; two rows
/// with the same number are as good as equal (1 in 2^64).
enum RowContent {
  static let function = "upsurge_content"

  static func register(on connection: Connection) throws(UpsurgeError) {
    let code = sqlite3_create_function_v2(
      connection.handle, function, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil,
      { context, count, values in
        var hash: UInt64 = 0
        for index in 0..<Int(count) {
          guard let value = values?[index] else { continue }
          hash = RowContent.add(value, to: hash)
        }
        sqlite3_result_int64(context, Int64(bitPattern: hash))
      }, nil, nil, nil)
    try connection.check(code, sql: function)
  }

  private static func add(_ value: OpaquePointer, to hash: UInt64) -> UInt64 {
    let type = sqlite3_value_type(value)
    let bits: UInt64
    switch type {
    case SQLITE_INTEGER: bits = UInt64(bitPattern: sqlite3_value_int64(value))
    case SQLITE_FLOAT: bits = sqlite3_value_double(value).bitPattern
    case SQLITE_TEXT:
      let start = sqlite3_value_text(value)
      bits = ContentHash.hash(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    case SQLITE_BLOB:
      let start = sqlite3_value_blob(value)
      bits = ContentHash.hash(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    default: bits = 0
    }
    let chained = (hash.littleEndian, bits.littleEndian, UInt64(type).littleEndian)
    return withUnsafeBytes(of: chained) { ContentHash.hash($0) }
  }
}
