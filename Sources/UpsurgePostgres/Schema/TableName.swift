/// A table as a person names it: `orders`, `sales.orders`, `"my.schema"."a table"`.
///
///     sales.orders      the table orders of the schema sales; where there is none, a table of the name sales.orders
///     "sales.orders"    a table of that name
package struct TableName: Sendable, Equatable {
  /// nil looks along `search_path`.
  package var schema: String?
  package var name: String
  /// The text, where its dot may be a part of the name.
  private var whole: String?

  package init(_ text: String) {
    let parts = Self.parts(of: text)
    if parts.count == 2 {
      (schema, name) = (parts[0], parts[1])
      whole = text.contains("\"") ? nil : text
    } else {
      (schema, name) = (nil, parts.count == 1 ? parts[0] : text)
    }
  }

  /// The text at its dots outside of quotes, without these.
  private static func parts(of text: String) -> [String] {
    var parts = [""]
    var isQuoted = false
    var scalars = Array(text.unicodeScalars)[...]
    while let scalar = scalars.popFirst() {
      if scalar == "\"" {
        if isQuoted, scalars.first == "\"" {
          scalars.removeFirst()
          parts[parts.count - 1].unicodeScalars.append(scalar)
        } else {
          isQuoted.toggle()
        }
      } else if scalar == ".", !isQuoted {
        parts.append("")
      } else {
        parts[parts.count - 1].unicodeScalars.append(scalar)
      }
    }
    return isQuoted || parts.contains("") ? [text] : parts
  }

  /// - Returns: nil where there is no such table or view.
  package func find(on connection: PostgresConnection) throws(PostgresFailure) -> PostgresTable? {
    if let table = try PostgresTable.read(schema: schema, name: name, connection) { return table }
    guard let whole else { return nil }
    return try PostgresTable.read(name: whole, connection)
  }

  /// A name that finds a table: with its schema where `search_path` does not find it, and with quotes where it has a dot of its own.
  package static func shown(schema: String?, name: String) -> String {
    [schema, name].compactMap { $0 }.map {
      $0.contains(where: { ".\"".contains($0) }) ? $0.quotedForPostgres : $0
    }
    .joined(separator: ".")
  }

  /// The first tables and views that there are, as `shown` has them.
  package static func known(on connection: PostgresConnection, limit: Int) throws(PostgresFailure) -> [String]
  {
    try connection.run(
      """
      SELECT CASE WHEN pg_table_is_visible(c.oid) THEN NULL ELSE n.nspname END, c.relname
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition AND n.nspname <> 'information_schema'
        AND n.nspname NOT LIKE 'pg\\_%' AND c.relname NOT LIKE 'upsurge\\_%'
      ORDER BY NOT pg_table_is_visible(c.oid), n.nspname, c.relname LIMIT $1
      """, [.integer(Int64(limit))]
    ).rows.map { row in shown(schema: row.text(0), name: row.text(1) ?? "") }
  }
}
