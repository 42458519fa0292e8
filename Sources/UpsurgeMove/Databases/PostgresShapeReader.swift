import UpsurgeRecords

/// Reads what a schema of PostgreSQL holds, as a move sees it.
struct PostgresShapeReader {
  private let schema: String
  private let rows: (String) throws(UpsurgeError) -> [[String?]]

  init(schema: String, rows: @escaping (String) throws(UpsurgeError) -> [[String?]]) {
    (self.schema, self.rows) = (schema, rows)
  }

  func shape() throws(UpsurgeError) -> DatabaseShape {
    var shape = DatabaseShape()
    let relations = try rows(
      """
      SELECT c.oid::text, c.relname, c.relkind::text, obj_description(c.oid, 'pg_class'), row_security_active(c.oid) FROM pg_class c
      WHERE c.relnamespace = \(namespace) AND NOT c.relispartition AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
      ORDER BY c.relname COLLATE "C"
      """)
    for row in relations {
      let (oid, name) = (row[0] ?? "", row[1] ?? "")
      if MoveTables.isOwn(name) {
        let isFilled =
          try rows("SELECT EXISTS (SELECT FROM \(schema.quotedAsName).\(name.quotedAsName))")[0][0] == "t"
        if isFilled { shape.leftOut.append(MoveTables.leftOut(name)) }
        continue
      }
      guard ["r", "p"].contains(row[2]) else {
        shape.leftOut.append(Self.leftOut(kind: row[2] ?? "", name))
        continue
      }
      if row[4] == "t" {
        throw UpsurgeError(
          .guardRefused, "row-level security hides rows of \(name.escapedForTerminal) from this user",
          hint:
            "move as the owner of the table, or as a role with BYPASSRLS; or leave it out: \(.except, name.quotedForShell)"
        )
      }
      var table = TableShape(name: name)
      table.comment = row[3]
      table.columns = try columns(of: oid)
      try addKeys(of: oid, to: &table, &shape.leftOut)
      table.order = table.primaryKey.isEmpty ? nil : table.primaryKey.quotedAsNames
      shape.tables.append(table)
    }
    try addPrograms(to: &shape)
    return shape
  }

  private var namespace: String { "(SELECT oid FROM pg_namespace WHERE nspname = \(schema.quotedAsText))" }

  private static func leftOut(kind: String, _ name: String) -> LeftOut {
    switch kind {
    case "f": LeftOut("foreign table \(name)", "its rows are on another server: move them from there")
    case "m":
      LeftOut("materialized view \(name)", "it is a query in the words of PostgreSQL: make a table of it")
    default: LeftOut("view \(name)", "a view is a query in the words of PostgreSQL: make it anew")
    }
  }

  // MARK: - Columns and keys

  private func columns(of oid: String) throws(UpsurgeError) -> [ColumnShape] {
    let found = try rows(
      """
      SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity::text,
        a.attgenerated::text, pg_get_serial_sequence(a.attrelid::regclass::text, a.attname), col_description(a.attrelid, a.attnum)
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = \(oid) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
      """)
    return found.map { row in
      var column = ColumnShape(name: row[0] ?? "", type: row[1] ?? "", isNotNull: row[2] == "t")
      let isGenerated = !(row[5] ?? "").isEmpty
      column.generated = isGenerated ? row[3] : nil
      column.isNumbered = !(row[4] ?? "").isEmpty || row[6] != nil
      column.defaultText = isGenerated || column.isNumbered ? nil : row[3]
      column.comment = row[7]
      return column
    }
  }

  private func addKeys(of oid: String, to table: inout TableShape, _ leftOut: inout [LeftOut])
    throws(UpsurgeError)
  {
    let keys = try rows(
      """
      SELECT k.contype::text, k.conname, pg_get_expr(k.conbin, k.conrelid), own.attname, p.relname, other.attname, k.confdeltype::text,
        k.confupdtype::text, k.condeferred, u.place::text, p.relnamespace = \(namespace)
      FROM pg_constraint k LEFT JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u(own, other, place) ON k.contype <> 'c'
        LEFT JOIN pg_attribute own ON own.attrelid = k.conrelid AND own.attnum = u.own
        LEFT JOIN pg_attribute other ON other.attrelid = k.confrelid AND other.attnum = u.other
        LEFT JOIN pg_class p ON p.oid = k.confrelid
      WHERE k.conrelid = \(oid) AND k.contype IN ('p', 'f', 'c', 'x')
        AND NOT EXISTS (SELECT FROM pg_constraint q WHERE q.oid = k.conparentid AND q.conrelid = k.conrelid)
      ORDER BY k.contype, k.conname, k.oid, u.place
      """)
    for row in keys {
      switch row[0] {
      case "p": table.primaryKey.append(row[3] ?? "")
      case "c": table.checks.append(row[2] ?? "")
      case "f":
        if row[10] != "t" {
          if row[9] == "1" {
            leftOut.append(
              LeftOut(
                "foreign key \(row[1] ?? "") of \(table.name)", "it refers to a table of another schema"))
          }
          continue
        }
        if row[9] == "1" { table.foreignKeys.append(Self.foreignKey(row)) }
        table.foreignKeys[table.foreignKeys.count - 1].columns.append(row[3] ?? "")
        table.foreignKeys[table.foreignKeys.count - 1].parentColumns.append(row[5] ?? "")
      default:
        if row[9] == nil || row[9] == "1" {
          leftOut.append(
            LeftOut("exclusion constraint \(row[1] ?? "") of \(table.name)", "SQLite has no such constraints")
          )
        }
      }
    }
    table.indexes = try indexes(of: oid)
  }

  private static func foreignKey(_ row: [String?]) -> ForeignKeyShape {
    let words = ["a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"]
    return ForeignKeyShape(
      columns: [], parent: row[4] ?? "", parentColumns: [], onDelete: words[row[6] ?? ""] ?? "NO ACTION",
      onUpdate: words[row[7] ?? ""] ?? "NO ACTION", isDeferred: row[8] == "t")
  }

  private func indexes(of oid: String) throws(UpsurgeError) -> [IndexShape] {
    let parts = try rows(
      """
      SELECT c.relname, i.indisunique, EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype = 'u'),
        pg_get_expr(i.indpred, i.indrelid), a.attname, pg_get_indexdef(i.indexrelid, p.part, false),
        (i.indoption[p.part - 1] & 1)::text, p.part::text, m.amname, i.indisvalid,
        pg_get_indexdef(i.indexrelid) LIKE '%NULLS NOT DISTINCT%'
      FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
        CROSS JOIN LATERAL generate_series(1, i.indnkeyatts) AS p(part)
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[p.part - 1] AND a.attnum > 0
      WHERE i.indrelid = \(oid) AND NOT i.indisprimary AND NOT i.indisexclusion ORDER BY c.relname COLLATE "C", i.indexrelid, p.part
      """)
    var indexes: [IndexShape] = []
    for row in parts {
      if row[7] == "1" {
        var index = IndexShape(name: row[0] ?? "", isUnique: row[1] == "t", isConstraint: row[2] == "t")
        index.predicate = row[3]
        if row[8] != "btree" { index.obstacle = "SQLite has no \(row[8] ?? "") indexes" }
        if row[9] == "f" { index.obstacle = "it is not valid: REINDEX makes it anew" }
        if row[10] == "t" { index.obstacle = "two NULLs are different in every UNIQUE index of SQLite" }
        indexes.append(index)
      }
      indexes[indexes.count - 1].parts.append(
        IndexShape.Part(text: row[4] ?? row[5] ?? "", isColumn: row[4] != nil, isDescending: row[6] == "1"))
    }
    return indexes
  }

  // MARK: - What stays

  private func addPrograms(to shape: inout DatabaseShape) throws(UpsurgeError) {
    let programs = try rows(
      """
      SELECT 'trigger', t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      WHERE c.relnamespace = \(namespace) AND NOT t.tgisinternal
      UNION ALL SELECT 'rule', r.rulename, c.relname FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
      WHERE c.relnamespace = \(namespace) AND r.rulename <> '_RETURN'
      UNION ALL SELECT 'policy', p.polname, c.relname FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
      WHERE c.relnamespace = \(namespace) ORDER BY 1, 3, 2
      """)
    for row in programs {
      shape.leftOut.append(
        LeftOut(
          "\(row[0] ?? "") \(row[1] ?? "") of \(row[2] ?? "")",
          "it is written in the words of PostgreSQL: write it anew"))
    }
  }
}
