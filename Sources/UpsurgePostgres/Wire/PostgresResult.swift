import CPostgres

/// What a statement has given: rows, or how many it has written. Belongs to the thread of its connection.
package final class PostgresResult {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { upsurge_pq_clear(handle) }

  package var rowCount: Int { Int(upsurge_pq_row_count(handle)) }
  package var columnCount: Int { Int(upsurge_pq_column_count(handle)) }

  /// The rows that INSERT, UPDATE, DELETE, MERGE, SELECT or COPY has met; 0 for other statements.
  package var affectedCount: Int { upsurge_pq_affected(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

  /// What was done, as the server calls it: `INSERT 0 5`. A COMMIT of a transaction that had failed says `ROLLBACK`.
  package var command: String { upsurge_pq_command(handle).map { String(cString: $0) } ?? "" }

  package func columnName(_ column: Int) -> String { String(cString: upsurge_pq_column_name(handle, Int32(column))) }

  /// The OID of the column's type.
  package func columnType(_ column: Int) -> UInt32 { upsurge_pq_column_type(handle, Int32(column)) }

  package func columnModifier(_ column: Int) -> Int32 { upsurge_pq_column_modifier(handle, Int32(column)) }

  /// The bytes of a value as the server sent them, text or binary; nil for NULL. Valid as long as the result lives.
  package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    if upsurge_pq_is_null(handle, Int32(row), Int32(column)) == 1 { return nil }
    return UnsafeRawBufferPointer(
      start: upsurge_pq_value(handle, Int32(row), Int32(column)),
      count: Int(upsurge_pq_value_length(handle, Int32(row), Int32(column))))
  }

  package var rows: [PostgresRow] { (0..<rowCount).map { PostgresRow(result: self, row: $0) } }

  /// The first row, where there is one.
  package var first: PostgresRow? { rowCount > 0 ? PostgresRow(result: self, row: 0) : nil }
}

/// One row of a result that came as text, by types of Swift. nil is NULL.
package struct PostgresRow {
  let result: PostgresResult
  let row: Int

  package func text(_ column: Int) -> String? {
    result.bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
  }

  package func integer(_ column: Int) -> Int64? { text(column).flatMap { Int64($0) } }

  package func flag(_ column: Int) -> Bool? { text(column).map { $0 == "t" || $0 == "true" } }

  /// The numbers of an `int2vector` or `oidvector`: `1 2 0`.
  package func numbers(_ column: Int) -> [Int]? {
    text(column).map { $0.split(separator: " ").compactMap { Int($0) } }
  }
}
