import CSQLite
import UpsurgeRecords

/// What a migration of keys has done.
public struct KeyMigrationSummary: Sendable, Equatable {
  /// A table that was made again.
  public struct Table: Sendable, Equatable {
    public var name: String
    public var rowCount: Int64
    /// The columns that hold UUIDs now.
    public var columns: [String]
  }

  public var tables: [Table] = []
  /// Tables that were asked for and whose key is no integer any more.
  public var migratedBefore: [String] = []
}

/// Changes integer primary keys into UUIDs, with all columns that refer to them, in one transaction.
///
/// The UUID of a row is made of the MD5 hash of `TABLE:ID`, so that every copy of a database comes to the same ones; with a salt, of
/// `TABLE:ID:SALT`. It is stored as text in lower case.
///
/// Tables are made again as https://www.sqlite.org/lang_altertable.html#otheralter says: a new table, the rows, the old one dropped, the new
/// one renamed, then its indexes and triggers. Rows keep their rowid, by which full-text tables know them.
package struct KeyMigration {
  private let connection: Connection
  private let map: KeyMap
  private let salt: String?

  /// What a row without a key gets: a random UUID, in SQL that every SQLite knows.
  private static let newUUID =
    "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' || "
    + "substr('89ab', 1 + (abs(random()) & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
  private static let function = "upsurge_key_uuid"
  private static let newTable = "upsurge_new_table"

  /// - Parameters:
  ///   - connection: without a transaction.
  ///   - tables: those whose keys become UUIDs.
  package init(_ tables: [String], salt: String? = nil, on connection: Connection) throws(UpsurgeError) {
    self.connection = connection
    self.salt = salt
    map = try KeyMap(of: tables, on: connection)
  }

  /// The UUID of a key.
  package static func uuid(of key: Int64, in table: String, salt: String?) -> String {
    let hash = MD5.hash((["\(table):\(key)"] + (salt.map { [$0] } ?? [])).joined(separator: ":").utf8)
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for (index, byte) in hash.enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
      text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Does it.
  /// - Parameters:
  ///   - isTrial: whether all is taken back in the end.
  ///   - note: is told of each table.
  /// - Throws: `guardRefused` where references are broken before, or would be after; `database`. Nothing has changed then.
  package func run(isTrial: Bool = false, note: (String) -> Void = { _ in }) throws(UpsurgeError)
    -> KeyMigrationSummary
  {
    var summary = KeyMigrationSummary(migratedBefore: map.migratedBefore)
    if map.tables.isEmpty { return summary }
    let salt = salt
    try connection.addFunction(Self.function, argumentCount: 2, isDeterministic: true) { values in
      guard case .integer(let key) = values[0], case .text(let table) = values[1] else { return values[0] }
      return .text(Self.uuid(of: key, in: table, salt: salt))
    }
    let references = try connection.integer("PRAGMA foreign_keys") ?? 0
    try connection.execute("PRAGMA foreign_keys=OFF; PRAGMA legacy_alter_table=ON")
    defer {
      try? connection.execute("PRAGMA legacy_alter_table=OFF; PRAGMA foreign_keys=\(references)")
    }
    do throws(UpsurgeError) {
      try connection.execute("BEGIN IMMEDIATE")
      try checkReferences(isDone: false)
      try refuseFeeds()
      let searchTables = try searchTables()
      for schema in map.tables {
        note(schema.name)
        summary.tables.append(try remake(schema, searchTables))
      }
      try checkReferences(isDone: true)
      try connection.execute(isTrial ? "ROLLBACK" : "COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
    return summary
  }

  // MARK: - Tables

  private func remake(
    _ schema: TableSchema, _ searchTables: [SearchTable]
  ) throws(UpsurgeError) -> KeyMigrationSummary.Table {
    let (sql, indexes) = try texts(of: schema.name)
    let triggers = try TriggerText.read(connection, table: schema.name).filter { !$0.isTemporary }
    let rowidKey = schema.rowidAlias.map { schema.columns[$0].name }
    let mapped = schema.columns.map(\.name).filter { map.root(of: $0, in: schema.name) != nil }
    let isRowidMapped = rowidKey.map { map.root(of: $0, in: schema.name) != nil } ?? false

    guard let text = try KeyTableText.edited(sql, name: Self.newTable, changes: changes(of: schema, mapped))
    else {
      throw UpsurgeError(
        .guardRefused,
        "the CREATE TABLE of \(schema.name.escapedForTerminal) is not understood: \(sql.escapedForTerminal)",
        hint: "make the table again by hand, as https://www.sqlite.org/lang_altertable.html#otheralter says")
    }
    try connection.execute(text)
    try checkNewTable(schema, mapped)
    let rowCount = try copyRows(of: schema)
    let table = try SQLName.quote(schema.name)
    let searched = isRowidMapped ? searchTables.filter { SQLName.isSame($0.content ?? "", schema.name) } : []
    var remade: [(name: String, sql: String)] = []
    for search in searched {
      guard let rowidKey, let sql = KeyTriggerText.editedSearchTable(search.sql, key: rowidKey) else {
        continue
      }
      remade.append((try SQLName.quote(search.name), sql))
      try connection.execute("DROP TABLE \(try SQLName.quote(search.name))")
    }
    try connection.execute(
      "DROP TABLE \(table); ALTER TABLE \(try SQLName.quote(Self.newTable)) RENAME TO \(table)")
    for index in indexes { try connection.execute(index) }
    for search in remade {
      try connection.execute("\(search.sql); INSERT INTO \(search.name)(\(search.name)) VALUES ('rebuild')")
    }
    let searchNames = Set(searchTables.map { SQLName.folded($0.name) })
    for trigger in triggers {
      let key = isRowidMapped ? rowidKey : nil
      try connection.execute(
        key.map { KeyTriggerText.edited(trigger.sql, key: $0, searchTables: searchNames) } ?? trigger.sql)
    }
    return KeyMigrationSummary.Table(name: schema.name, rowCount: rowCount, columns: mapped)
  }

  private func changes(
    of schema: TableSchema, _ mapped: [String]
  ) -> [String: KeyTableText.Change] {
    var changes: [String: KeyTableText.Change] = [:]
    for column in schema.columns where mapped.contains(column.name) {
      let root = map.root(of: column.name, in: schema.name) ?? schema.name
      let isRowid = schema.rowidAlias.map { schema.columns[$0].name == column.name } ?? false
      let isOwnKey =
        column.keyOrdinal > 0 && root == schema.name && schema.columns.filter { $0.keyOrdinal > 0 }.count == 1
      changes[SQLName.folded(column.name)] = KeyTableText.Change(
        wasRowid: isRowid, defaultValue: isOwnKey ? Self.newUUID : nil,
        uuid: { Self.uuid(of: $0, in: root, salt: salt) })
    }
    return changes
  }

  private func copyRows(of schema: TableSchema) throws(UpsurgeError) -> Int64 {
    var names: [String] = []
    var values: [String] = []
    for column in schema.columns where column.generation == .none {
      let name = try SQLName.quote(column.name)
      names.append(name)
      if let root = map.root(of: column.name, in: schema.name) {
        values.append(
          "CASE typeof(\(name)) WHEN 'integer' THEN \(Self.function)(\(name), \(try SQLName.literal(root))) ELSE \(name) END"
        )
      } else {
        values.append(name)
      }
    }
    let hasRowid = !schema.isWithoutRowid && !names.contains { SQLName.isSame($0, "\"rowid\"") }
    if hasRowid {
      names.append("rowid")
      values.append("rowid")
    }
    try connection.execute(
      """
      INSERT INTO \(try SQLName.quote(Self.newTable))(\(names.joined(separator: ", ")))
      SELECT \(values.joined(separator: ", ")) FROM \(try SQLName.quote(schema.name)) \(hasRowid ? "ORDER BY rowid" : "")
      """)
    return try connection.integer("SELECT count(*) FROM \(try SQLName.quote(Self.newTable))") ?? 0
  }

  /// - Returns: the CREATE TABLE, and the CREATE INDEX statements.
  private func texts(of table: String) throws(UpsurgeError) -> (String, [String]) {
    let statement = try connection.prepare(
      """
      SELECT type, sql FROM main.sqlite_schema
      WHERE tbl_name = ?1 COLLATE NOCASE AND type IN ('table', 'index') AND sql IS NOT NULL ORDER BY rowid
      """)
    try statement.bind(table, at: 1)
    var (sql, indexes) = ("", [String]())
    while try statement.step() {
      let text = statement.text(at: 1) ?? ""
      if statement.text(at: 0) == "table" { sql = text } else { indexes.append(text) }
    }
    return (sql, indexes)
  }

  /// Makes sure that the changed text means what it should.
  private func checkNewTable(_ old: TableSchema, _ mapped: [String]) throws(UpsurgeError) {
    guard let new = try TableSchema.read(connection, table: Self.newTable),
      new.columns.map(\.name) == old.columns.map(\.name), new.isWithoutRowid == old.isWithoutRowid,
      zip(new.columns, old.columns).allSatisfy({ new, old in
        new.keyOrdinal == old.keyOrdinal
          && (mapped.contains(new.name) ? new.affinity == .text : new.affinity == old.affinity)
      })
    else {
      throw UpsurgeError(
        .guardRefused, "the CREATE TABLE of \(old.name.escapedForTerminal) is not understood",
        hint: "make the table again by hand, as https://www.sqlite.org/lang_altertable.html#otheralter says")
    }
  }

  // MARK: - What speaks against it

  private func checkReferences(isDone: Bool) throws(UpsurgeError) {
    let check = try connection.prepare(
      "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2")
    var broken: [String] = []
    while try check.step() {
      broken.append("\(check.integer(at: 2)) of \(check.text(at: 0) ?? "") to \(check.text(at: 1) ?? "")")
    }
    if broken.isEmpty { return }
    let words = broken.joined(separator: ", ").escapedForTerminal
    throw UpsurgeError(
      .guardRefused,
      isDone
        ? "rows would refer to rows that do not exist: \(words)"
        : "rows refer to rows that do not exist: \(words)",
      hint: isDone
        ? "a column that refers to an integer key must hold integers"
        : "PRAGMA foreign_key_check shows them; repair them first")
  }

  /// Tables that a feed mirrors would get its integers again.
  private func refuseFeeds() throws(UpsurgeError) {
    guard try connection.integer("SELECT count(*) FROM main.sqlite_schema WHERE name = 'upsurge_feeds'") != 0
    else { return }
    let feeds = try connection.prepare("SELECT DISTINCT \"table\" FROM main.upsurge_feeds")
    while try feeds.step() {
      let name = feeds.text(at: 0) ?? ""
      guard let table = map.tables.first(where: { SQLName.isSame($0.name, name) }) else { continue }
      throw UpsurgeError(
        .guardRefused,
        "the table \(table.name.escapedForTerminal) is mirrored from a feed, whose next delivery would bring its integers again",
        hint: "end the mirror first; what it knows of the table is in upsurge_feeds")
    }
  }

  // MARK: - Full-text tables

  private struct SearchTable {
    var name: String
    var sql: String
    /// The table whose text it indexes.
    var content: String?
  }

  private func searchTables() throws(UpsurgeError) -> [SearchTable] {
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
