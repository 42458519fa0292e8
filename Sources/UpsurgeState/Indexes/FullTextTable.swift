import UpsurgeRecords
import UpsurgeSQLite

/// An FTS5 table whose content is another table (`content='t'`), with the triggers that keep it in step.
package struct FullTextTable: Equatable {
  package var name: String
  /// The indexed columns, which are columns of the content too.
  var columns: [String] = []
  /// The content's column that is the index's rowid.
  var contentRowid = "rowid"
  package var triggers: [SyncTrigger] = []
  /// Whether it keeps a size for each row (`columnsize`).
  private var hasSizes = true

  /// What an FTS5 table's content is.
  package enum Content: Equatable, Sendable {
    /// A table or view of that name.
    case external(String)
    /// Nothing: only the index is kept.
    case none
    case own
  }

  /// Reads the text of a CREATE VIRTUAL TABLE.
  /// - Returns: nil when it is no FTS5 table, or one with arguments that are not known here.
  package static func parse(name: String, sql: String) -> (table: FullTextTable, content: Content)? {
    var reader = TokenReader(sql)
    reader.skip(words: ["CREATE", "VIRTUAL", "TABLE"])
    reader.skip(words: ["IF", "NOT", "EXISTS"])
    guard reader.name() != nil, reader.take(words: ["USING"]), let module = reader.name(),
      SQLName.isSame(module, "fts5"), reader.take(mark: "(")
    else { return nil }
    var table = FullTextTable(name: name)
    var content = Content.own
    repeat {
      guard let word = reader.nameOrText() else { return nil }
      guard reader.take(mark: "=") else {
        reader.skip(words: ["UNINDEXED"])
        table.columns.append(word)
        continue
      }
      guard let value = reader.nameOrText() else { return nil }
      switch SQLName.folded(word) {
      case "content": content = value.isEmpty ? .none : .external(value)
      case "content_rowid": table.contentRowid = value
      case "columnsize": table.hasSizes = value != "0"
      case "tokenize", "prefix", "detail": while reader.nameOrText() != nil {}
      default: return nil
      }
    } while reader.take(mark: ",")
    return reader.take(mark: ")") && reader.isAtEnd ? (table, content) : nil
  }

  /// Whether as many rows are indexed as the content has; true where the index does not say.
  func isComplete(_ connection: Connection, content: String) throws(UpsurgeError) -> Bool {
    guard hasSizes else { return true }
    let sizes = try SQLName.quote(name + "_docsize")
    return try connection.integer("SELECT count(*) FROM main.\(sizes)")
      == connection.integer("SELECT count(*) FROM main.\(try SQLName.quote(content))")
  }

  /// The statement that indexes the whole content anew.
  package func rebuildSQL() throws(UpsurgeError) -> String {
    let quoted = try SQLName.quote(name)
    return "INSERT INTO main.\(quoted)(\(quoted)) VALUES('rebuild')"
  }
}

/// What triggers and FTS5 tables hang on a table.
struct TableTriggers {
  /// External-content FTS5 tables with all three of their sync triggers on the table.
  var fullText: [FullTextTable] = []
  /// Triggers that are no such ones, and TEMP triggers.
  var others: [String] = []
  /// Why an FTS5 table that has a trigger here can only be kept up row by row.
  var obstacles: [(name: String, reason: String)] = []

  static func read(_ connection: Connection, schema: TableSchema) throws(UpsurgeError) -> TableTriggers {
    var found = TableTriggers()
    if schema.triggers.isEmpty { return found }
    var triggers = try list(connection, table: schema.name)
    let names = Set(triggers.map(\.name))
    found.others = schema.triggers.filter { !names.contains($0) }
    // A TEMP trigger may have the name of another.
    if schema.triggers.count > triggers.count + found.others.count { found.others.append("a TEMP trigger") }
    for (name, sql) in try virtualTables(connection) {
      guard let (parsed, content) = FullTextTable.parse(name: name, sql: sql) else { continue }
      var table = parsed
      if case .external(let owner) = content, SQLName.isSame(owner, schema.name) {
        for trigger in triggers {
          guard let sync = SyncTrigger(name: trigger.name, sql: trigger.sql, index: table, schema: schema)
          else {
            continue
          }
          table.triggers.append(sync)
        }
        if Set(table.triggers.map(\.event.rawValue)).count == 3, table.triggers.count == 3 {
          triggers.removeAll { trigger in table.triggers.contains { $0.name == trigger.name } }
          found.fullText.append(table)
          continue
        }
      }
      if let writer = triggers.first(where: { mentions($0.sql, name) }) {
        found.obstacles.append((name, reason(content, trigger: writer.name, owner: schema.name)))
      }
    }
    found.others += triggers.map(\.name)
    return found
  }

  private static func reason(_ content: FullTextTable.Content, trigger: String, owner: String) -> String {
    switch content {
    case .none: "it is contentless, so there is nothing to rebuild it from"
    case .own: "it has a content of its own, so there is nothing to rebuild it from"
    case .external(let name) where !SQLName.isSame(name, owner):
      "its content is \(name), not this table".escapedForTerminal
    case .external:
      "its triggers are not the three plain ones that a rebuild comes to (such as \(trigger))"
        .escapedForTerminal
    }
  }

  private static func mentions(_ sql: String, _ name: String) -> Bool {
    var scanner = SQLScanner(sql)
    while let token = scanner.next() {
      if token.kind == .word || token.kind == .quotedName, SQLName.isSame(token.text, name) { return true }
    }
    return false
  }

  private static func list(
    _ connection: Connection, table: String
  ) throws(UpsurgeError) -> [(name: String, sql: String)] {
    let statement = try connection.prepare(
      """
      SELECT name, sql FROM main.sqlite_schema
      WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE ORDER BY rowid
      """)
    try statement.bind(table, at: 1)
    var triggers: [(name: String, sql: String)] = []
    while try statement.step() { triggers.append((statement.text(at: 0) ?? "", statement.text(at: 1) ?? "")) }
    return triggers
  }

  private static func virtualTables(
    _ connection: Connection
  ) throws(UpsurgeError) -> [(name: String, sql: String)] {
    let statement = try connection.prepare(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'table' AND rootpage = 0 ORDER BY rowid")
    var tables: [(name: String, sql: String)] = []
    while try statement.step() { tables.append((statement.text(at: 0) ?? "", statement.text(at: 1) ?? "")) }
    return tables
  }
}
