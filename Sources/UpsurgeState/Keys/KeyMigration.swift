import UpsurgeRecords
import UpsurgeSQLite

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

/// How far a migration of keys is.
package enum KeyMigrationStep: Sendable {
  /// What is done from now on, for people.
  case work(String)
  /// Keys of the table at work, about: empty references are counted.
  case total(UInt64)
  /// Keys of it that are changed; told for every thousand.
  case done(UInt64)
}

/// Changes integer primary keys into UUIDs, with all columns that refer to them by a foreign key, in one transaction.
///
/// The UUID of a row is made of the MD5 hash of `TABLE:ID`, so that every copy of a database comes to the same ones; with a salt, of
/// `TABLE:ID:SALT`. It is stored as text in lower case.
///
/// Tables are made again as https://www.sqlite.org/lang_altertable.html#otheralter says: a new table, the rows, the old one dropped, the new
/// one renamed, then its indexes and triggers. Rows keep their rowid, by which full-text tables know them.
package struct KeyMigration {
  let connection: Connection
  let map: KeyMap
  private let salt: String?
  private let tick: (KeyMigrationStep) -> Void

  /// What a row without a key gets: a random UUID, in SQL that every SQLite knows.
  package static let newUUID =
    "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' || "
    + "substr('89ab', 1 + (abs(random()) & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
  private static let function = "upsurge_key_uuid"
  private static let newTable = "upsurge_new_table"

  /// Within the transaction that changes the tables: what was read before may be true no more.
  private init(
    _ tables: [String], salt: String?, on connection: Connection, tick: @escaping (KeyMigrationStep) -> Void
  ) throws(UpsurgeError) {
    self.connection = connection
    self.salt = salt
    self.tick = tick
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
  ///   - tables: those whose keys become UUIDs.
  ///   - connection: without a transaction.
  ///   - isTrial: whether all is taken back in the end.
  ///   - note: is told of each table.
  ///   - tick: is told how far it is.
  /// - Throws: `usage` for a table that is missing, or whose key is not one integer column; `guardRefused` where references are broken
  ///   before, or would be after, and where a run or a feed would bring integers; `database`. Nothing has changed then.
  package static func run(
    _ tables: [String], salt: String? = nil, isTrial: Bool = false, on connection: Connection,
    note: (String) -> Void = { _ in }, tick: @escaping (KeyMigrationStep) -> Void = { _ in }
  ) throws(UpsurgeError) -> KeyMigrationSummary {
    var keyCount: UInt64 = 0
    let tickTold: (KeyMigrationStep) -> Void = { step in
      if case .total = step { keyCount = 0 }
      tick(step)
    }
    try connection.addFunction(function, argumentCount: 2, isDeterministic: true) { values in
      keyCount += 1
      if keyCount % 1_024 == 0 { tick(.done(keyCount)) }
      guard case .integer(let key) = values[0], case .text(let table) = values[1] else { return values[0] }
      return .text(uuid(of: key, in: table, salt: salt))
    }
    let references = try connection.integer("PRAGMA foreign_keys") ?? 0
    try connection.execute("PRAGMA foreign_keys=OFF; PRAGMA legacy_alter_table=ON")
    defer {
      try? connection.execute("PRAGMA legacy_alter_table=OFF; PRAGMA foreign_keys=\(references)")
    }
    try connection.beginWriting()
    do throws(UpsurgeError) {
      let summary = try KeyMigration(tables, salt: salt, on: connection, tick: tickTold).remake(note: note)
      tick(.work("committing"))
      try connection.execute(isTrial ? "ROLLBACK" : "COMMIT")
      return summary
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  private func remake(note: (String) -> Void) throws(UpsurgeError) -> KeyMigrationSummary {
    var summary = KeyMigrationSummary(migratedBefore: map.migratedBefore)
    if map.tables.isEmpty { return summary }
    tick(.work("checking references"))
    try checkReferences(isDone: false)
    try refuseFeeds()
    try refuseRuns()
    let searchTables = try searchTables()
    try refuseSearch(searchTables)
    for schema in map.tables {
      note(schema.name)
      summary.tables.append(try remake(schema, searchTables))
    }
    tick(.work("checking references"))
    try checkReferences(isDone: true)
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
    let rowCount = try copyRows(of: schema, keyColumnCount: mapped.count)
    tick(.work("making the indexes of \(schema.name)"))
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
  func rowidKey(of schema: TableSchema) -> String? {
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

  private func copyRows(
    of schema: TableSchema, keyColumnCount: Int
  ) throws(UpsurgeError) -> Int64 {
    let table = try SQLName.quote(schema.name)
    let countBefore = try connection.integer("SELECT count(*) FROM \(table)") ?? 0
    tick(.work("changing keys of \(schema.name)"))
    tick(.total(UInt64(max(countBefore, 0)) * UInt64(keyColumnCount)))
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
      SELECT \(values.joined(separator: ", ")) FROM \(table) \(rowid.map { "ORDER BY \($0)" } ?? "")
      """)
    let count = try connection.integer("SELECT count(*) FROM \(try SQLName.quote(Self.newTable))") ?? 0
    if count == countBefore { return count }
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
