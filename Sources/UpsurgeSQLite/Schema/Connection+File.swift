import UpsurgeRecords

extension Connection {
  /// Whether a table is one of the database file, and no TEMP table hides it.
  package func isInFile(table: String) throws(UpsurgeError) -> Bool {
    let statement = try prepare(
      "SELECT 1 FROM sqlite_temp_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE")
    try statement.bind(table, at: 1)
    return try !statement.step()
  }
}
