import UpsurgeRecords

/// Tables of the engine's own that are made where they are missing.
extension PostgresConnection {
  /// Makes a table.
  /// - Parameter creation: `CREATE TABLE IF NOT EXISTS`. Of two that make one at once, one fails in the catalogue, and finds it.
  func makeTable(_ creation: String) throws(PostgresFailure) {
    do {
      try run(creation)
    } catch {
      guard error.sqlState == "23505" || error.sqlState == "42P07" else { throw error }
    }
  }

  /// Whether there is a table of that name with these columns.
  func hasTable(_ quotedName: String, columns: [String]) throws(PostgresFailure) -> Bool {
    let names = columns.map { "'\($0)'" }.joined(separator: ", ")
    let sql =
      "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname IN (\(names)) AND NOT attisdropped"
    return try run(sql, [.text(quotedName)]).first?.integer(0) == Int64(columns.count)
  }
}
