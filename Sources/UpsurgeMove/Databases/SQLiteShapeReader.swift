import UpsurgeRecords
import UpsurgeSQLite

/// Reads what a database file holds, as a move sees it.
struct SQLiteShapeReader {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func shape() throws(UpsurgeError) -> DatabaseShape {
    let catalog = try SchemaCatalog(connection)
    var shape = DatabaseShape()
    for entry in catalog.entries {
      if MoveTables.isOwn(entry.name) { continue }
      switch entry.kind {
      case .table:
        if let table = try table(entry, &shape.leftOut) { shape.tables.append(table) }
      case .view:
        shape.leftOut.append(
          LeftOut("view \(entry.name)", "a view is a query in the words of SQLite: make it anew"))
      case .virtual:
        shape.leftOut.append(
          LeftOut(
            "virtual table \(entry.name)",
            "PostgreSQL has no such tables; an index of a search is made anew there"))
      case .shadow: break
      }
    }
    let triggers = try connection.allRows(
      "SELECT name, tbl_name FROM main.sqlite_schema WHERE type = 'trigger' ORDER BY tbl_name, name")
    for row in triggers {
      shape.leftOut.append(
        LeftOut(
          "trigger \(row[0] ?? "") of \(row[1] ?? "")",
          "a trigger is a program in the words of SQLite: write it anew"))
    }
    try addOwnTables(to: &shape)
    return shape
  }

  /// What stands in the engine's own tables stays.
  private func addOwnTables(to shape: inout DatabaseShape) throws(UpsurgeError) {
    let names = try connection.allRows(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name"
    ).compactMap { $0[0] }
    for name in names where OwnTable.isOwn(name) {
      guard try connection.integer("SELECT EXISTS (SELECT 1 FROM main.\(name.quotedAsName))") == 1 else {
        continue
      }
      shape.leftOut.append(MoveTables.leftOut(name))
    }
  }

  private func table(_ entry: SchemaCatalog.Entry, _ leftOut: inout [LeftOut]) throws(UpsurgeError)
    -> TableShape?
  {
    guard let schema = try TableSchema.read(connection, table: entry.name) else { return nil }
    let text = CreateTableText(entry.sql)
    var table = TableShape(name: schema.name)
    for column in schema.columns where !column.isHidden {
      var shape = ColumnShape(name: column.name, type: column.declaredType)
      shape.isNotNull = column.isNotNull || schema.isWithoutRowid && column.keyOrdinal > 0
      shape.defaultText = column.generation == .none ? column.defaultExpression : nil
      if column.generation != .none { shape.generated = text.generated[SQLName.folded(column.name)] ?? "" }
      table.columns.append(shape)
      if !SQLName.isSame(column.collation, "BINARY") {
        leftOut.append(
          LeftOut(
            "COLLATE \(column.collation) of \(schema.name).\(column.name)",
            "PostgreSQL compares the column letter by letter"))
      }
    }
    if let alias = schema.rowidAlias {
      let place = table.columns.firstIndex { $0.name == schema.columns[alias].name }
      if let place { (table.columns[place].isNumbered, table.columns[place].isNotNull) = (true, true) }
    }
    table.primaryKey = schema.primaryKeyColumns
    table.checks = text.checks
    table.indexes = try indexes(of: schema)
    table.foreignKeys = try foreignKeys(of: schema, text)
    table.order = order(of: schema)
    return table
  }

  /// The rowid by a name that no column has taken.
  private func order(of schema: TableSchema) -> String? {
    if schema.isWithoutRowid { return schema.primaryKeyColumns.quotedAsNames }
    return ["rowid", "_rowid_", "oid"].first { schema.columnIndex($0) == nil }
  }

  private func indexes(of schema: TableSchema) throws(UpsurgeError) -> [IndexShape] {
    let list = try connection.allRows(
      """
      SELECT l.name, l."unique", l.origin, s.sql FROM pragma_index_list(\(schema.name.quotedAsText)) l
        LEFT JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = l.name
      WHERE l.origin <> 'pk' ORDER BY l.seq DESC
      """)
    var indexes: [IndexShape] = []
    for row in list {
      var index = IndexShape(name: row[0] ?? "", isUnique: row[1] == "1", isConstraint: row[2] == "u")
      let text = CreateIndexText(row[3] ?? "")
      index.predicate = text.predicate
      let parts = try connection.allRows(
        #"SELECT cid, name, coll, "desc" FROM pragma_index_xinfo(\#(index.name.quotedAsText)) WHERE key ORDER BY seqno"#
      )
      for (place, part) in parts.enumerated() {
        let isColumn = (Int(part[0] ?? "") ?? -1) >= 0
        let expression = place < text.parts.count ? text.parts[place] : ""
        let collation = part[2] ?? "BINARY"
        index.parts.append(
          IndexShape.Part(
            text: isColumn ? part[1] ?? "" : expression, isColumn: isColumn, isDescending: part[3] == "1",
            collation: SQLName.isSame(collation, "BINARY") ? nil : collation))
      }
      if let collation = index.parts.compactMap(\.collation).first {
        index.obstacle =
          "it compares by \(collation), which PostgreSQL has not; an index on lower(…) is near it"
      }
      indexes.append(index)
    }
    return indexes
  }

  private func foreignKeys(of schema: TableSchema, _ text: CreateTableText) throws(UpsurgeError)
    -> [ForeignKeyShape]
  {
    let rows = try connection.allRows(
      #"SELECT id, "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(\#(schema.name.quotedAsText)) ORDER BY id DESC, seq"#
    )
    var keys: [ForeignKeyShape] = []
    var last: String?
    for row in rows {
      if row[0] != last || keys.isEmpty {
        keys.append(
          ForeignKeyShape(
            columns: [], parent: row[1] ?? "", parentColumns: [], onDelete: row[5] ?? "NO ACTION",
            onUpdate: row[4] ?? "NO ACTION"))
        last = row[0]
      }
      keys[keys.count - 1].columns.append(row[2] ?? "")
      if let column = row[3] { keys[keys.count - 1].parentColumns.append(column) }
    }
    for index in keys.indices {
      keys[index].isDeferred = text.deferredForeignKeys.contains(keys[index].columns.map(SQLName.folded))
    }
    return keys
  }
}
