import CSQLite
import UpsurgeRecords

extension TableSchema {
  /// Reads what the database says of a table or view.
  /// - Returns: nil without one of that name.
  package static func read(_ connection: Connection, table: String) throws(UpsurgeError) -> TableSchema? {
    try connection.reading { () throws(UpsurgeError) in
      if table.utf8.contains(0) { return nil }
      guard var schema = try basics(connection, table: table) else { return nil }
      let sql = try definition(connection, type: schema.kind == .view ? "view" : "table", name: schema.name)
      let text = schema.kind == .table ? CreateTableText(sql ?? "") : CreateTableText("")
      schema.hasAutoincrement = text.hasAutoincrement
      schema.hasDeferredForeignKeys = !text.deferredForeignKeys.isEmpty
      schema.hasCheck = !text.checks.isEmpty
      schema.checkCallsFunction = text.checkCallsFunction
      schema.checkMayRaise = text.checkMayRaise
      // Only COLLATE gives a table's column another collation than BINARY, and SQLite looks through all columns for one.
      let mayCollate = schema.kind != .table || sql?.containsASCII("COLLATE") ?? true
      try schema.readColumns(connection, text: text, mayCollate: mayCollate)
      if schema.kind == .virtual, Self.isFullText(sql ?? "") { schema.addRowid() }
      if schema.kind == .table { try schema.readKeys(connection, text: text) }
      try schema.readForeignKeys(connection)
      try schema.readTriggers(connection)
      try schema.readVirtualTables(connection)
      return schema
    }
  }

  private mutating func readVirtualTables(_ connection: Connection) throws(UpsurgeError) {
    let statement = try connection.prepare(
      """
      SELECT sql FROM (SELECT type, rootpage, sql FROM sqlite_temp_schema
        UNION ALL SELECT type, rootpage, sql FROM sqlite_schema)
      WHERE type = 'table' AND rootpage = 0
      """)
    while try statement.step() {
      let tokens = SQLScanner.tokens(of: statement.text(at: 0) ?? "")
      if tokens.contains(where: { SQLName.isSame($0.text, name) }) { isNamedByVirtualTable = true }
    }
  }

  private static func basics(
    _ connection: Connection, table: String
  ) throws(UpsurgeError) -> TableSchema? {
    // Where a TEMP table hides a table of the file, SQLite means the TEMP one; so do we. Of a table that is in neither
    // it means that of a file which is attached; for us that is no table then. Below, where a schema is not named, SQLite
    // looks into temp and main first, and there the table is.
    let statement = try connection.prepare(
      """
      SELECT name, type, wr, strict, (SELECT schema_version FROM pragma_schema_version) FROM pragma_table_list(?1)
      WHERE schema IN ('main', 'temp')
      ORDER BY schema = 'temp' DESC
      """)
    try statement.bind(table, at: 1)
    guard try statement.step() else { return nil }
    var schema = TableSchema(name: statement.text(at: 0) ?? table)
    schema.kind = Kind(rawValue: statement.text(at: 1) ?? "") ?? .table
    schema.isWithoutRowid = statement.integer(at: 2) != 0
    schema.isStrict = statement.integer(at: 3) != 0
    schema.moment = SchemaMoment(
      dataVersion: connection.dataVersion, schemaVersion: statement.integer(at: 4))
    return schema
  }

  private static func isFullText(_ sql: String) -> Bool {
    let words = SQLScanner.tokens(of: sql)
    guard let using = words.firstIndex(where: { $0.isWord("USING") }), using + 1 < words.count else {
      return false
    }
    return words[using + 1].isWord("fts5")
  }

  /// The rowid of a full-text table has no name of its own among its columns, and is all that can find a row quickly.
  private mutating func addRowid() {
    if columnIndex("rowid") != nil { return }
    columns.append(
      Column(
        name: "rowid", declaredType: "INTEGER", affinity: .integer, collation: "BINARY", isNotNull: false,
        notNullConflict: nil, defaultExpression: nil, generation: .none, isHidden: true, keyOrdinal: 0))
  }

  private static func definition(
    _ connection: Connection, type: String, name: String
  ) throws(UpsurgeError) -> String? {
    let statement = try connection.prepare(
      """
      SELECT sql FROM (SELECT type, name, sql FROM sqlite_temp_schema
        UNION ALL SELECT type, name, sql FROM sqlite_schema)
      WHERE type = ?1 AND name = ?2 COLLATE NOCASE
      """)
    try statement.bind(type, at: 1)
    try statement.bind(name, at: 2)
    return try statement.step() ? statement.text(at: 0) : nil
  }

  private mutating func readColumns(
    _ connection: Connection, text: CreateTableText, mayCollate: Bool
  ) throws(UpsurgeError) {
    let statement = try connection.prepare(
      "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid")
    try statement.bind(name, at: 1)
    while try statement.step() {
      let columnName = statement.text(at: 0) ?? ""
      let type = statement.text(at: 1) ?? ""
      let hidden = statement.integer(at: 5)
      let isAny = isStrict && SQLName.isSame(type, "ANY")
      columns.append(
        Column(
          name: columnName, declaredType: type,
          affinity: isAny ? .none : Affinity(declaredType: type),
          collation: mayCollate ? connection.collation(table: name, column: columnName) : "BINARY",
          isNotNull: statement.integer(at: 2) != 0,
          notNullConflict: text.notNullConflicts[SQLName.folded(columnName)],
          defaultExpression: statement.text(at: 3),
          generation: hidden == 2 ? .virtual : hidden == 3 ? .stored : .none, isHidden: hidden == 1,
          keyOrdinal: Int(statement.integer(at: 4))))
    }
  }

  private mutating func readKeys(_ connection: Connection, text: CreateTableText) throws(UpsurgeError) {
    let statement = try connection.prepare(
      """
      SELECT l.name, l."unique", l.origin, l.partial, s.sql
      FROM pragma_index_list(?1) l LEFT JOIN
        (SELECT type, name, sql FROM sqlite_temp_schema UNION ALL SELECT type, name, sql FROM sqlite_schema) s
        ON s.type = 'index' AND s.name = l.name
      ORDER BY l.origin <> 'pk', l.seq DESC
      """)
    try statement.bind(name, at: 1)
    while try statement.step() {
      let index = statement.text(at: 0) ?? ""
      let origin = statement.text(at: 2) ?? "c"
      let isPartial = statement.integer(at: 3) != 0
      let indexText = CreateIndexText(statement.text(at: 4) ?? "")
      let parts = try Self.parts(connection, index: index, text: indexText)
      if isPartial || parts.contains(where: { $0.column == nil }) { hasComputedIndex = true }
      if statement.integer(at: 1) == 0 { continue }
      keys.append(
        Key(
          kind: origin == "pk" ? .primaryKey : origin == "u" ? .uniqueConstraint : .uniqueIndex,
          indexName: index, parts: parts, isPartial: isPartial, predicate: indexText.predicate,
          sql: statement.text(at: 4),
          conflictClause: origin == "c" ? nil : text.keyConflict(parts.compactMap(\.column))))
    }
    addRowidAlias(text)
  }

  /// An INTEGER PRIMARY KEY is the rowid when SQLite made no index for it.
  private mutating func addRowidAlias(_ text: CreateTableText) {
    let keyColumns = primaryKeyColumns
    guard !isWithoutRowid, keyColumns.count == 1, keys.first?.kind != .primaryKey,
      let index = columnIndex(keyColumns[0])
    else { return }
    rowidAlias = index
    keys.insert(
      Key(
        kind: .primaryKey, indexName: nil, parts: [.init(column: keyColumns[0], collation: "BINARY")],
        isPartial: false, conflictClause: text.keyConflict(keyColumns)),
      at: 0)
  }

  package static func parts(
    _ connection: Connection, index: String, text: CreateIndexText = CreateIndexText("")
  ) throws(UpsurgeError) -> [Key.Part] {
    let statement = try connection.prepare(
      "SELECT cid, name, coll FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno")
    try statement.bind(index, at: 1)
    var parts: [Key.Part] = []
    while try statement.step() {
      let isColumn = statement.integer(at: 0) >= 0
      parts.append(
        Key.Part(
          column: isColumn ? statement.text(at: 1) : nil, collation: statement.text(at: 2) ?? "BINARY",
          expression: !isColumn && parts.count < text.parts.count ? text.parts[parts.count] : nil))
    }
    return parts
  }

  private mutating func readTriggers(_ connection: Connection) throws(UpsurgeError) {
    let statement = try connection.prepare(
      """
      SELECT name, tbl_name FROM
        (SELECT type, name, tbl_name FROM sqlite_temp_schema
         UNION ALL SELECT type, name, tbl_name FROM sqlite_schema)
      WHERE type = 'trigger' ORDER BY name
      """)
    while try statement.step() {
      if SQLName.isSame(statement.text(at: 1) ?? "", name) {
        triggers.append(statement.text(at: 0) ?? "")
      } else {
        hasTriggersElsewhere = true
      }
    }
    hasUnsafeTriggers = try Self.hasUnsafeWords(connection)
  }

  /// Looks at the text of every trigger and every table, since a trigger may write to any of them; rather once too
  /// often, for it only costs savepoints.
  private static func hasUnsafeWords(_ connection: Connection) throws(UpsurgeError) -> Bool {
    // What a CASCADE or SET NULL leaves undone, because a trigger said IGNORE, SQLite calls a broken reference, but it
    // does not undo the rest.
    let acting = try connection.prepare(
      "SELECT 1 FROM sqlite_schema s, pragma_foreign_key_list(s.name) f WHERE s.type = 'table' AND \(isActing) LIMIT 1"
    )
    var words: [StaticString] = ["FAIL", "ROLLBACK"]
    if try acting.step() { words.append("IGNORE") }
    let statement = try connection.prepare(
      """
      SELECT type, sql FROM sqlite_temp_schema WHERE type IN ('table', 'trigger')
      UNION ALL SELECT type, sql FROM sqlite_schema WHERE type IN ('table', 'trigger')
      """)
    while try statement.step() {
      let text = statement.text(at: 1) ?? ""
      let isTrigger = statement.text(at: 0) == "trigger"
      if (isTrigger || text.containsASCII("CONFLICT")) && words.contains(where: text.containsASCII) {
        return true
      }
    }
    return false
  }

  /// Whether a foreign key `f` changes its own rows when the row that they refer to does.
  private static let isActing =
    "(f.on_delete NOT IN ('NO ACTION', 'RESTRICT') OR f.on_update NOT IN ('NO ACTION', 'RESTRICT'))"

  private mutating func readForeignKeys(_ connection: Connection) throws(UpsurgeError) {
    let statement = try connection.prepare(
      "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq")
    try statement.bind(name, at: 1)
    var lastID: Int64 = -1
    while try statement.step() {
      let id = statement.integer(at: 0)
      if id != lastID {
        foreignKeys.append(
          ForeignKey(columns: [], parentTable: statement.text(at: 1) ?? "", parentColumns: []))
        lastID = id
      }
      foreignKeys[foreignKeys.count - 1].columns.append(statement.text(at: 2) ?? "")
      if let to = statement.text(at: 3) { foreignKeys[foreignKeys.count - 1].parentColumns.append(to) }
    }
    let primaryKey = try connection.prepare(
      """
      SELECT name FROM pragma_table_info(?1)
      WHERE pk > 0 AND EXISTS (SELECT 1 FROM pragma_table_list(?1) WHERE schema IN ('main', 'temp')) ORDER BY pk
      """)
    for index in foreignKeys.indices {
      try primaryKey.bind(foreignKeys[index].parentTable, at: 1)
      while try primaryKey.step() { foreignKeys[index].parentKey.append(primaryKey.text(at: 0) ?? "") }
      primaryKey.reset()
    }
    let referencing = try connection.prepare(
      """
      SELECT s.name, max(\(Self.isActing)) FROM sqlite_schema s, pragma_foreign_key_list(s.name) f
      WHERE s.type = 'table' AND f."table" = ?1 COLLATE NOCASE GROUP BY s.name ORDER BY 1
      """)
    try referencing.bind(name, at: 1)
    while try referencing.step() {
      referencingTables.append(referencing.text(at: 0) ?? "")
      if referencing.integer(at: 1) != 0 { hasActingReferences = true }
    }
    try readReferencingKeys(connection)
  }

  private mutating func readReferencingKeys(_ connection: Connection) throws(UpsurgeError) {
    let statement = try connection.prepare(
      """
      SELECT s.name, f.seq, f."from", f.on_delete FROM sqlite_schema s, pragma_foreign_key_list(s.name) f
      WHERE s.type = 'table' AND f."table" = ?1 COLLATE NOCASE ORDER BY s.name, f.id, f.seq
      """)
    try statement.bind(name, at: 1)
    while try statement.step() {
      if statement.integer(at: 1) == 0 {
        referencingKeys.append(
          ReferencingKey(
            table: statement.text(at: 0) ?? "", columns: [],
            onDelete: (statement.text(at: 3) ?? "").uppercased()))
      }
      referencingKeys[referencingKeys.count - 1].columns.append(statement.text(at: 2) ?? "")
    }
  }
}

extension Connection {
  /// The collation a column was declared with.
  fileprivate func collation(table: String, column: String) -> String {
    var name: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(handle, nil, table, column, nil, &name, nil, nil, nil)
    guard code == SQLITE_OK, let name else { return "BINARY" }
    return String(cString: name)
  }
}

/// The tables of a database.
package enum TableList {
  /// The names of the tables that hold rows, in alphabetical order; SQLite's own are left out.
  package static func names(_ connection: Connection) throws(UpsurgeError) -> [String] {
    let statement = try connection.prepare(
      """
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      ORDER BY name
      """)
    var names: [String] = []
    while try statement.step() { names.append(statement.text(at: 0) ?? "") }
    return names
  }
}
