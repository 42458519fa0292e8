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

/// Changes integer primary keys into UUIDs, with all columns that refer to them by a foreign key, in one transaction.
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
      try refuseSearch(searchTables)
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
    let triggers = try TriggerText.read(connection, table: schema.name)
    let mapped = schema.columns.map(\.name).filter { map.root(of: $0, in: schema.name) != nil }
    let rowidKey = rowidKey(of: schema)
    try refuseIndexes(indexes, mapped)
    let sequence = schema.hasAutoincrement && rowidKey == nil ? try self.sequence(of: schema.name) : nil

    let text = try KeyTableText.edited(
      sql, name: Self.newTable, changes: changes(of: schema, mapped), isRowidChanged: rowidKey != nil)
    guard let text else { throw notUnderstood(schema) }
    try connection.execute(text)
    try checkNewTable(schema, mapped)
    let rowCount = try copyRows(of: schema)
    let table = try SQLName.quote(schema.name)
    let isAnalyzed = try self.isAnalyzed(schema.name)
    let rowid = schema.rowidName ?? "rowid"
    var remade: [(search: SearchTable, sql: String, settings: [(SQLValue, SQLValue)])] = []
    for search in searchTables where SQLName.isSame(search.content ?? "", schema.name) {
      guard let rowidKey,
        let sql = KeyTriggerText.editedSearchTable(search.sql, key: rowidKey, rowid: rowid)
      else { continue }
      try refusePartial(search, of: schema)
      remade.append((search, sql, try settings(of: search.name)))
      try connection.execute("DROP TABLE \(try SQLName.quote(search.name))")
    }
    try connection.execute(
      "DROP TABLE \(table); ALTER TABLE \(try SQLName.quote(Self.newTable)) RENAME TO \(table)")
    if let sequence { try set(sequence, of: schema.name) }
    for index in indexes { try connection.execute(index) }
    if isAnalyzed { try connection.execute("ANALYZE main.\(table)") }
    for (search, sql, settings) in remade { try make(search.name, sql, settings) }
    let searchNames = Set(searchTables.map { SQLName.folded($0.name) })
    for trigger in triggers {
      let places = KeyTriggerText.rowidPlaces(in: trigger.sql, searchTables: searchNames)
        .filter { rowidKey.map(SQLName.folded) == SQLName.folded($0.text) }
      try connection.execute(trigger.creation(of: KeyTriggerText.edited(trigger.sql, places, rowid: rowid)))
    }
    return KeyMigrationSummary.Table(name: schema.name, rowCount: rowCount, columns: mapped)
  }

  /// The column that was the rowid and is no longer.
  private func rowidKey(of schema: TableSchema) -> String? {
    schema.rowidAlias.map { schema.columns[$0].name }.flatMap {
      map.root(of: $0, in: schema.name) == nil ? nil : $0
    }
  }

  private func notUnderstood(_ schema: TableSchema) -> UpsurgeError {
    UpsurgeError(
      .guardRefused, "the CREATE TABLE of \(schema.name.escapedForTerminal) is not understood",
      hint: "make the table again by hand, as https://www.sqlite.org/lang_altertable.html#otheralter says")
  }

  /// Whether the query planner knows something of the table, which goes with it.
  private func isAnalyzed(_ table: String) throws(UpsurgeError) -> Bool {
    guard try connection.integer("SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_stat1'") != nil else {
      return false
    }
    return try connection.integer(
      "SELECT 1 FROM main.sqlite_stat1 WHERE tbl = \(try SQLName.literal(table)) COLLATE NOCASE LIMIT 1")
      != nil
  }

  /// The largest key that AUTOINCREMENT has ever given.
  private func sequence(of table: String) throws(UpsurgeError) -> Int64? {
    let statement = try connection.prepare(
      "SELECT seq FROM main.sqlite_sequence WHERE name = ?1 COLLATE NOCASE")
    try statement.bind(table, at: 1)
    return try statement.step() ? statement.integer(at: 0) : nil
  }

  private func set(_ sequence: Int64, of table: String) throws(UpsurgeError) {
    let name = try SQLName.literal(table)
    try connection.execute(
      """
      DELETE FROM main.sqlite_sequence WHERE name = \(name);
      INSERT INTO main.sqlite_sequence(name, seq) VALUES (\(name), \(sequence))
      """)
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
    // Full-text tables know the rows by it.
    let rowid = schema.isWithoutRowid ? nil : schema.rowidName
    if let rowid {
      names.append(rowid)
      values.append(rowid)
    }
    try connection.execute(
      """
      INSERT INTO \(try SQLName.quote(Self.newTable))(\(names.joined(separator: ", ")))
      SELECT \(values.joined(separator: ", ")) FROM \(try SQLName.quote(schema.name)) \(rowid.map { "ORDER BY \($0)" } ?? "")
      """)
    let count = try connection.integer("SELECT count(*) FROM \(try SQLName.quote(Self.newTable))") ?? 0
    if count == (try connection.integer("SELECT count(*) FROM \(try SQLName.quote(schema.name))")) {
      return count
    }
    throw UpsurgeError(
      .guardRefused, "rows of \(schema.name.escapedForTerminal) would be lost by an ON CONFLICT clause of it",
      hint: "PRAGMA integrity_check shows rows that break a constraint; repair them first")
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
      new.hasAutoincrement == (old.hasAutoincrement && rowidKey(of: old) == nil),
      zip(new.columns, old.columns).allSatisfy({ new, old in
        new.keyOrdinal == old.keyOrdinal
          && (mapped.contains(new.name) ? new.affinity == .text : new.affinity == old.affinity)
      })
    else { throw notUnderstood(old) }
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

  /// A partial index whose condition has an integer would cover other rows, or none.
  private func refuseIndexes(_ indexes: [String], _ mapped: [String]) throws(UpsurgeError) {
    for index in indexes {
      let tokens = SQLScanner.tokens(of: index)
      guard let condition = tokens.lastIndex(where: { $0.isWord("WHERE") }).map({ tokens[$0...] }),
        condition.contains(where: { token in
          token.kind != .literal && mapped.contains { SQLName.isSame($0, token.text) }
        }), condition.contains(where: { $0.kind == .word && Int64($0.text) != nil })
      else { continue }
      throw UpsurgeError(
        .guardRefused, "the condition of an index compares keys that change: \(index.escapedForTerminal)",
        hint: "drop the index first, and make it again with UUIDs")
    }
  }

  /// Full-text tables that would be told of rows by what is no rowid any more, from where this does not reach.
  private func refuseSearch(_ searchTables: [SearchTable]) throws(UpsurgeError) {
    let names = Set(searchTables.map { SQLName.folded($0.name) })
    for trigger in try TriggerText.read(connection) {
      let schema = map.tables.first { SQLName.isSame($0.name, trigger.table) }
      for place in KeyTriggerText.rowidPlaces(in: trigger.sql, searchTables: names) {
        guard let schema, map.root(of: place.text, in: schema.name) != nil,
          rowidKey(of: schema).map({ SQLName.isSame($0, place.text) }) != true
        else { continue }
        throw UpsurgeError(
          .guardRefused,
          "the trigger \(trigger.name.escapedForTerminal) finds rows of a full-text table by \(place.text.escapedForTerminal), which becomes a UUID",
          hint: "drop the trigger first, and make one that finds them otherwise")
      }
    }
    for search in searchTables {
      guard let schema = map.tables.first(where: { SQLName.isSame($0.name, search.content ?? "") }),
        let key = rowidKey(of: schema), SQLName.isSame(key, "rowid")
      else { continue }
      throw UpsurgeError(
        .guardRefused,
        "the full-text table \(search.name.escapedForTerminal) finds rows by the column \(key.escapedForTerminal), which becomes a UUID",
        hint: "rename the column first, and make the full-text table again")
    }
    let views = try connection.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'")
    while try views.step() {
      let (view, sql) = (views.text(at: 0) ?? "", views.text(at: 1) ?? "")
      guard let search = searchTables.first(where: { SQLName.isSame($0.content ?? "", view) }) else {
        continue
      }
      let tokens = SQLScanner.tokens(of: sql)
      guard
        map.tables.contains(where: { table in
          rowidKey(of: table) != nil && tokens.contains { SQLName.isSame($0.text, table.name) }
        })
      else { continue }
      throw UpsurgeError(
        .guardRefused,
        "the full-text table \(search.name.escapedForTerminal) finds the rows of the view \(view.escapedForTerminal) by a key that becomes a UUID",
        hint: "drop the full-text table first, and make it again over a view that gives the rowid")
    }
  }

  // MARK: - Full-text tables

  /// What an FTS5 table was told: `rank`, `automerge` and the like.
  private func settings(of search: String) throws(UpsurgeError) -> [(SQLValue, SQLValue)] {
    let statement = try connection.prepare(
      "SELECT k, v FROM main.\(try SQLName.quote(search + "_config")) WHERE k <> 'version'")
    var settings: [(SQLValue, SQLValue)] = []
    while try statement.step() {
      settings.append((SQLValue(statement.handle, column: 0), SQLValue(statement.handle, column: 1)))
    }
    return settings
  }

  /// An index of some of the rows only would have all of them when it is made again.
  private func refusePartial(_ search: SearchTable, of schema: TableSchema) throws(UpsurgeError) {
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

  private func make(
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

extension TriggerText {
  /// The statement that makes the trigger where it was, of a text of it.
  fileprivate func creation(of text: String) -> String {
    let tokens = SQLScanner.tokens(of: text)
    guard isTemporary, tokens.count > 1, tokens[1].isWord("TRIGGER") else { return text }
    var edits = SQLEdits(text)
    edits.insert(" TEMP", at: tokens[0].range.upperBound)
    return edits.text
  }
}
