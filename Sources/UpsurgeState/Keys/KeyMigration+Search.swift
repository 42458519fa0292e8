import UpsurgeRecords
import UpsurgeSQLite

/// Full-text tables of a database whose keys change.
extension KeyMigration {
  /// What an FTS5 table was told: `rank`, `automerge` and the like.
  func settings(of search: String) throws(UpsurgeError) -> [(SQLValue, SQLValue)] {
    let statement = try connection.prepare(
      "SELECT k, v FROM main.\(try SQLName.quote(search + "_config")) WHERE k <> 'version'")
    var settings: [(SQLValue, SQLValue)] = []
    while try statement.step() {
      settings.append((SQLValue(statement.handle, column: 0), SQLValue(statement.handle, column: 1)))
    }
    return settings
  }

  /// An index of some of the rows only would have all of them when it is made again.
  func refusePartial(_ search: SearchTable, of schema: TableSchema) throws(UpsurgeError) {
    let indexed = try connection.integer(
      "SELECT count(*) FROM main.\(try SQLName.quote(search.name + "_docsize"))")
    if indexed == (try connection.integer("SELECT count(*) FROM \(try SQLName.quote(schema.name))")) {
      return
    }
    throw UpsurgeError(
      .guardRefused,
      "the full-text table \(search.name.escapedForTerminal) does not have all rows of \(schema.name.escapedForTerminal)",
      hint: "INSERT INTO f(f) VALUES ('rebuild') gives it all; or drop it first, and fill it again afterwards"
    )
  }

  func make(
    _ search: String, _ sql: String, _ settings: [(SQLValue, SQLValue)]
  ) throws(UpsurgeError) {
    let name = try SQLName.quote(search)
    try connection.execute(sql)
    for (key, value) in settings {
      let statement = try connection.prepare("INSERT INTO \(name)(\(name), rank) VALUES (?1, ?2)")
      try statement.bind(key, at: 1)
      try statement.bind(value, at: 2)
      _ = try statement.step()
    }
    try connection.execute("INSERT INTO \(name)(\(name)) VALUES ('rebuild')")
  }

  struct SearchTable {
    var name: String
    var sql: String
    /// The table whose text it indexes.
    var content: String?
  }

  func searchTables() throws(UpsurgeError) -> [SearchTable] {
    let statement = try connection.prepare(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'")
    var tables: [SearchTable] = []
    while try statement.step() {
      let sql = statement.text(at: 1) ?? ""
      let tokens = SQLScanner.tokens(of: sql)
      guard let using = tokens.firstIndex(where: { $0.isWord("USING") }), using + 1 < tokens.count,
        tokens[using + 1].text.lowercased().hasPrefix("fts")
      else { continue }
      let content = tokens.indices.dropLast(2).first {
        tokens[$0].isWord("content") && tokens[$0 + 1].isMark("=")
      }
      tables.append(
        SearchTable(name: statement.text(at: 0) ?? "", sql: sql, content: content.map { tokens[$0 + 2].text })
      )
    }
    return tables
  }
}
