import UpsurgeRecords

extension TableName {
  /// The table that a source names: `sales.orders` is the table orders of the schema sales; where there is not one, one of that whole
  /// name.
  /// - Returns: nil where there is no such table or view.
  static func find(_ text: String, on connection: PostgresConnection) throws(PostgresFailure)
    -> PostgresTable?
  {
    let parts = TableName(text)
    if let table = try PostgresTable.read(schema: parts.schema, name: parts.name, connection) { return table }
    if parts.schema == nil || text.contains("\"") { return nil }
    return try PostgresTable.read(name: text, connection)
  }

  /// The error for a table that is not there.
  static func missing(_ text: String, on connection: PostgresConnection) throws(PostgresFailure)
    -> UpsurgeError
  {
    let known = try known(on: connection, limit: 20)
    return UpsurgeError(
      .unreadableInput,
      "there is no table \(text.escapedForTerminal) in database \(connection.database.escapedForTerminal)",
      hint: known.isEmpty ? nil : "it has: \(known.map(\.escapedForTerminal).joined(separator: ", "))")
  }

  /// The first tables and views that there are.
  private static func known(
    on connection: PostgresConnection, limit: Int
  ) throws(PostgresFailure) -> [String] {
    try connection.run(
      """
      SELECT CASE WHEN pg_table_is_visible(c.oid) THEN NULL ELSE n.nspname END, c.relname
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition AND n.nspname <> 'information_schema'
        AND n.nspname NOT LIKE 'pg\\_%' AND c.relname NOT LIKE 'upsurge\\_%'
      ORDER BY NOT pg_table_is_visible(c.oid), n.nspname, c.relname LIMIT $1
      """, [.integer(Int64(limit))]
    ).rows.map { row in asSource(schema: row.text(0), name: row.text(1) ?? "") }
  }
}
