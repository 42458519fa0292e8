import UpsurgeRecords
import UpsurgeSQLite

/// An index that is no key: it makes look-ups fast and refuses nothing, so a load can do without it.
package struct SecondaryIndex: Sendable, Equatable {
  package var name: String
  package var parts: [TableSchema.Key.Part]
  package var isPartial: Bool
  /// The CREATE INDEX as the schema has it.
  package var sql: String

  /// The indexes of a table that are not UNIQUE, in the order of their making.
  package static func read(
    _ connection: Connection, table: String
  ) throws(UpsurgeError) -> [SecondaryIndex] {
    let statement = try connection.prepare(
      """
      SELECT l.name, l.partial, s.sql FROM pragma_index_list(?1, 'main') l
        JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = l.name
      WHERE l.origin = 'c' AND l."unique" = 0 AND s.sql IS NOT NULL ORDER BY s.rowid
      """)
    try statement.bind(table, at: 1)
    var indexes: [SecondaryIndex] = []
    while try statement.step() {
      let name = statement.text(at: 0) ?? ""
      indexes.append(
        SecondaryIndex(
          name: name, parts: try TableSchema.parts(connection, index: name),
          isPartial: statement.integer(at: 1) != 0, sql: statement.text(at: 2) ?? ""))
    }
    return indexes
  }

  /// Whether an expression of it may raise an error for some value: then the record that has it must be found
  /// while it is stored.
  package var mayRaise: Bool {
    if !isPartial && parts.allSatisfy({ $0.column != nil }) { return false }
    var scanner = SQLScanner(sql)
    var tokens: [SQLScanner.Token] = []
    while let token = scanner.next() { tokens.append(token) }
    // CREATE INDEX name ON table ( … ) WHERE …
    guard let start = tokens.firstIndex(where: { $0.isMark("(") }) else { return true }
    let words = CreateTableText.harmless.union([
      "and", "or", "not", "in", "is", "between", "like", "where", "on",
    ])
    for (token, next) in zip(tokens[start...], tokens[(start + 1)...]) {
      if token.isMark("-") && next.isMark(">") { return true }
      let isCall = next.isMark("(") && (token.kind == .word || token.kind == .quotedName)
      if isCall && !words.contains(SQLName.folded(token.text)) { return true }
    }
    return false
  }

  /// Whether it serves look-ups by these columns in this order, with the collations the columns have.
  package func serves(_ columns: [String], of schema: TableSchema) -> Bool {
    !isPartial && Self.isSame(parts, columns, schema)
  }

  /// Whether an index or key on `parts` is one on these columns.
  static func isSame(_ parts: [TableSchema.Key.Part], _ columns: [String], _ schema: TableSchema) -> Bool {
    parts.count == columns.count
      && zip(parts, columns).allSatisfy { part, column in
        guard let name = part.column, SQLName.isSame(name, column), let index = schema.columnIndex(name)
        else { return false }
        return SQLName.isSame(part.collation, schema.columns[index].collation)
      }
  }
}
