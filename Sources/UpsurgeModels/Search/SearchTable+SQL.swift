import UpsurgeRecords
import UpsurgeSQLite

extension SearchTable {
  /// Rows that match a pattern, best ones anywhere: order them by `rank`.
  public static func matching(_ pattern: SearchPattern) -> Query<Self> { all.where { _ in match(pattern) } }

  /// Whether a row matches a pattern, in any column.
  public static func match(_ pattern: SearchPattern) -> SQLExpression<Bool> {
    SQLExpression<Bool>("\(identifier: tableName) MATCH \(pattern.text)")
  }

  /// Whether a column of a row matches a pattern.
  public static func match(
    _ column: KeyPath<TableColumns, SQLExpression<String>>, _ pattern: SearchPattern
  ) -> SQLExpression<Bool> {
    let name = columns(of: .table(tableName))[keyPath: column].sql
    return SQLExpression<Bool>("\(name) MATCH \(pattern.text)")
  }

  /// How well a row matches; the smaller, the better.
  public static var rank: SQLExpression<Double> {
    SQLExpression("\(identifier: tableName).rank", coding: ExpressionCoding(Double.self))
  }

  /// How well a row matches, where columns weigh differently; the smaller, the better.
  /// - Parameter weights: of columns; others weigh 1.
  public static func bm25(
    _ weights: [KeyPath<TableColumns, SQLExpression<String>>: Double]
  ) -> SQLExpression<Double> {
    var byIndex = [Double](repeating: 1, count: columnNames.count)
    for (path, weight) in weights { if let index = index(of: path) { byIndex[index] = weight } }
    let list = SQLText.joined(byIndex.map { "\($0)" }, separator: ", ")
    return SQLExpression("bm25(\(identifier: tableName), \(list))", coding: ExpressionCoding(Double.self))
  }

  /// The text of a column with marks around what matches.
  public static func highlight(
    _ column: KeyPath<TableColumns, SQLExpression<String>>, _ open: String, _ close: String
  ) -> SQLExpression<String> {
    let index = index(of: column) ?? 0
    return SQLExpression(
      "highlight(\(identifier: tableName), \(index), \(open), \(close))",
      coding: ExpressionCoding(String.self))
  }

  /// A piece of the text of a column around what matches, with marks around that.
  /// - Parameters:
  ///   - column: whose text it is.
  ///   - open: the mark before what matches.
  ///   - close: the mark after it.
  ///   - ellipsis: where text is left out.
  ///   - tokenCount: how long the piece may be, in words; 1...64.
  public static func snippet(
    _ column: KeyPath<TableColumns, SQLExpression<String>>, _ open: String, _ close: String,
    ellipsis: String = "…", tokenCount: Int = 16
  ) -> SQLExpression<String> {
    let index = index(of: column) ?? 0
    let count = Swift.min(Swift.max(tokenCount, 1), 64)
    return SQLExpression(
      "snippet(\(identifier: tableName), \(index), \(open), \(close), \(ellipsis), \(count))",
      coding: ExpressionCoding(String.self))
  }

  private static func index(of path: KeyPath<TableColumns, SQLExpression<String>>) -> Int? {
    let name = columns(of: .row)[keyPath: path].columnName
    return columnNames.firstIndex { $0 == name }
  }

  /// The statement that makes the index.
  /// - Parameters:
  ///   - content: the table whose text is indexed; nil where the index keeps its own text.
  ///   - tokenizer: as FTS5 reads it: `porter unicode61`.
  public static func createSearchTableSQL(
    of content: (any Table.Type)? = nil, tokenizer: String? = nil
  ) throws(UpsurgeError) -> String {
    var options = columnNames.map(\.quotedIdentifier)
    if let content {
      options.append("content=\(content.tableName.quotedIdentifier)")
      if let rowid = content.rowidColumn { options.append("content_rowid=\(rowid.quotedIdentifier)") }
    }
    if let tokenizer { options.append("tokenize=\(try SQLName.literal(tokenizer))") }
    return "CREATE VIRTUAL TABLE \(tableName.quotedIdentifier) USING fts5(\(options.joined(separator: ", ")))"
  }
}

extension Database {
  /// Makes the index of a table's text, with the triggers that keep it right, and fills it.
  ///
  /// The columns of the index are columns of the table by their names. Bulk loads know such triggers and are as fast with them.
  /// - Throws: `usage` for a column that the table does not have, or that only there may be NULL; `database`, also when the index is there already.
  public func createSearchTable<Search: SearchTable, Content: Table>(
    _ search: Search.Type, of content: Content.Type, tokenizer: String? = nil
  ) async throws(UpsurgeError) {
    let statements = try Search.createSearchTableStatements(of: content, tokenizer: tokenizer)
    try await execute("BEGIN IMMEDIATE;\n\(raw: statements.joined(separator: ";\n"));\nCOMMIT")
  }
}

extension SearchTable {
  /// What makes the index of a table's text, and the triggers that keep it right, and fills it.
  /// - Throws: `usage` for a column that the table does not have, or that only there may be NULL, and for a table without a primary key.
  package static func createSearchTableStatements<Content: Table>(
    of content: Content.Type, tokenizer: String?
  ) throws(UpsurgeError) -> [String] {
    let known = Set(Content.columnNames)
    if let missing = columnNames.first(where: { !known.contains($0) }) {
      throw UpsurgeError(
        .usage, "\(self) has a column \(missing.escapedForTerminal), which \(Content.self) does not have",
        hint: "an index of a table has columns of its names")
    }
    let optional = Set(Content.columnDefinitions.filter(\.isNullable).map(\.name))
    if let column = columnDefinitions.first(where: { !$0.isNullable && optional.contains($0.name) }) {
      throw UpsurgeError(
        .usage,
        "\(Content.self) may have NULL in the column \(column.name.escapedForTerminal), which \(self) could not read",
        hint: "make the property an optional in \(self), too")
    }
    if Content.primaryKeyColumnNames.isEmpty {
      throw UpsurgeError(
        .usage,
        "\(Content.self) has no primary key, so that VACUUM would give its rows other numbers than the index has",
        hint: "give the table a primary key")
    }
    let (index, table) = (tableName.quotedIdentifier, Content.tableName.quotedIdentifier)
    let rowid = (Content.rowidColumn ?? "rowid").quotedIdentifier
    let columns = columnNames.map(\.quotedIdentifier)
    let names = columns.joined(separator: ", ")
    func values(_ row: String) -> String { columns.map { "\(row).\($0)" }.joined(separator: ", ") }
    func trigger(_ name: String) -> String { "\(tableName)_\(name)".quotedIdentifier }
    let add = "INSERT INTO \(index)(rowid, \(names)) VALUES (new.\(rowid), \(values("new")));"
    let remove =
      "INSERT INTO \(index)(\(index), rowid, \(names)) VALUES ('delete', old.\(rowid), \(values("old")));"
    return [
      try createSearchTableSQL(of: content, tokenizer: tokenizer),
      "CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(table) BEGIN \(add) END",
      "CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(table) BEGIN \(remove) END",
      "CREATE TRIGGER \(trigger("update")) AFTER UPDATE ON \(table) BEGIN \(remove) \(add) END",
      "INSERT INTO \(index)(\(index)) VALUES ('rebuild')",
    ]
  }
}
