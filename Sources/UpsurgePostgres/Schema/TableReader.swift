/// Reads a table from the catalogue, by four queries whose names are parameters.
struct TableReader {
  let connection: PostgresConnection

  /// - Parameter schema: nil looks along `search_path`.
  /// - Returns: nil where there is no such table or view.
  func table(schema: String?, name: String) throws(PostgresFailure) -> PostgresTable? {
    guard
      let relation = try connection.run(Self.relationQuery, [schema.map { .text($0) } ?? .null, .text(name)])
        .first,
      let oid = relation.integer(0), let kind = Self.kind(relation.text(3) ?? "")
    else { return nil }
    let parameter = [PostgresParameter.integer(oid)]
    let columns = try connection.run(Self.columnQuery, parameter).rows.map(Self.column)
    let indexes = Self.indexes(try connection.run(Self.indexQuery, parameter).rows)
    let others = try connection.run(Self.constraintQuery, parameter).rows
    let isDistributed = relation.flag(14) == true ? try isDistributed(oid) : false
    return PostgresTable(
      oid: UInt32(truncatingIfNeeded: oid), schema: relation.text(1) ?? "", name: relation.text(2) ?? "",
      kind: isDistributed ? .distributed : kind, columns: columns, uniqueIndexes: indexes,
      constraints: others.compactMap { Self.constraint($0, table: oid) },
      triggers: others.compactMap(Self.trigger),
      rules: others.compactMap(Self.rule),
      hasRowSecurity: relation.flag(4) ?? false, isTemporary: relation.text(5) == "t",
      isUnlogged: relation.text(5) == "u",
      hasForeignPartitions: relation.flag(6) ?? false, hasPartitions: relation.flag(7) ?? false,
      hasChildren: relation.flag(15) ?? false,
      partitionKeys: others.filter { $0.text(0) == "key" }.compactMap { $0.text(1) },
      rowEstimate: relation.text(8).flatMap { Double($0) }.flatMap { $0 < 0 ? nil : $0 },
      rights: PostgresTable.Rights(
        selects: relation.flag(9) ?? false, inserts: relation.flag(10) ?? false,
        updates: relation.flag(11) ?? false,
        deletes: relation.flag(12) ?? false))
  }

  private func isDistributed(_ oid: Int64) throws(PostgresFailure) -> Bool {
    try connection.run(
      "SELECT FROM pg_dist_partition WHERE logicalrelid = $1::oid::regclass", [.integer(oid)]
    ).rowCount > 0
  }

  // MARK: - Queries

  private static let relationQuery = """
    SELECT c.oid, n.nspname, c.relname, c.relkind, row_security_active(c.oid), c.relpersistence,
      EXISTS (SELECT FROM pg_partition_tree(c.oid) p JOIN pg_class f ON f.oid = p.relid WHERE f.relkind = 'f' AND c.relkind = 'p'),
      c.relkind = 'p', c.reltuples, has_table_privilege(c.oid, 'SELECT'), has_table_privilege(c.oid, 'INSERT') OR
        has_any_column_privilege(c.oid, 'INSERT'), has_table_privilege(c.oid, 'UPDATE') OR has_any_column_privilege(c.oid, 'UPDATE'),
      has_table_privilege(c.oid, 'DELETE'), c.relispartition, EXISTS (SELECT FROM pg_extension WHERE extname = 'citus'),
      c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass(coalesce(quote_ident($1::text) || '.', '') || quote_ident($2::text))
    """

  /// Whether texts are in the order of their bytes in UTF-8, too: other encodings have orders of their own.
  private static let isBytewise = """
    (o.collcollate IN ('C', 'POSIX') OR o.collname = 'ucs_basic' OR o.collname = 'default' AND
      (SELECT datcollate IN ('C', 'POSIX') FROM pg_database WHERE datname = current_database()))
      AND current_setting('server_encoding') IN ('UTF8', 'SQL_ASCII')
    """

  /// What a collation is, in four columns.
  private static let collation = """
    o.collname, (SELECT nspname FROM pg_namespace WHERE oid = o.collnamespace AND nspname <> 'pg_catalog'),
      o.collisdeterministic, \(isBytewise)
    """

  /// An equality is an operator class of btree: of the type itself, of one that it is taken for without a function, or of
  /// all enums, ranges, rows and arrays, where all that they are made of has one. That of citext and interval takes different
  /// values for one.
  private static let columnQuery = """
    WITH RECURSIVE base(number, type, modifier) AS (
      SELECT attnum, atttypid, atttypmod FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped
      UNION ALL
      SELECT b.number, t.typbasetype, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE b.modifier END
      FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd'
    ), part(number, type) AS (
      SELECT number, type FROM base
      UNION
      SELECT p.number, inner_.type FROM part p JOIN pg_type t ON t.oid = p.type CROSS JOIN LATERAL (
        SELECT t.typbasetype WHERE t.typtype = 'd' UNION ALL SELECT t.typelem WHERE t.typcategory = 'A' AND t.typelem <> 0
        UNION ALL SELECT f.atttypid FROM pg_attribute f
        WHERE t.typtype = 'c' AND f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped) AS inner_(type)
    ), unequal(number) AS (
      SELECT p.number FROM part p JOIN pg_type e ON e.oid = p.type
      WHERE NOT (e.typtype IN ('d', 'c') OR e.typcategory = 'A' AND e.typelem <> 0) AND (
        e.typname IN ('citext', 'interval') OR NOT EXISTS (
        SELECT FROM pg_opclass k JOIN pg_am m ON m.oid = k.opcmethod AND m.amname = 'btree'
        WHERE k.opcdefault AND (k.opcintype = e.oid
          OR e.typtype = 'e' AND k.opcintype = 'anyenum'::regtype OR e.typtype = 'r' AND k.opcintype = 'anyrange'::regtype
          OR e.typtype = 'm' AND k.opcintype = to_regtype('anymultirange')
          OR EXISTS (SELECT FROM pg_cast x WHERE x.castsource = e.oid AND x.casttarget = k.opcintype
            AND x.castmethod = 'b' AND x.castcontext = 'i'))))
    )
    SELECT a.attnum, a.attname, a.atttypid, format_type(a.atttypid, a.atttypmod), b.type, b.modifier, own.typtype = 'd',
      a.attnotnull OR own.typnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid),
      pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname),
      \(collation), a.attnum NOT IN (SELECT number FROM unequal),
      a.attnotnull AND NOT EXISTS (SELECT FROM pg_constraint k
        WHERE k.conrelid = a.attrelid AND k.contype = 'n' AND k.conkey = ARRAY[a.attnum] AND NOT k.convalidated),
      CASE WHEN t.typelem IN ('varchar'::regtype, 'bpchar'::regtype, 'bit'::regtype, 'varbit'::regtype) AND t.typcategory = 'A'
        THEN format_type(t.oid, -1) END
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN base b ON b.number = a.attnum JOIN pg_type t ON t.oid = b.type AND t.typtype <> 'd'
      JOIN pg_type own ON own.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      LEFT JOIN pg_collation o ON o.oid = a.attcollation
    WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum
    """

  /// A row for each part of each unique index.
  private static let indexQuery = """
    SELECT c.relname, i.indisprimary, i.indisvalid AND i.indisready, i.indimmediate, pg_get_expr(i.indpred, i.indrelid),
      to_jsonb(i) ->> 'indnullsnotdistinct', p.part, a.attname, pg_get_indexdef(i.indexrelid, p.part, false),
      \(collation),
      (SELECT string_agg(u.attname, E'\\x01' ORDER BY u.attnum) FROM pg_attribute u WHERE u.attrelid = i.indrelid AND u.attnum > 0
        AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL) AND EXISTS (SELECT FROM pg_depend d
          WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = 'pg_class'::regclass
          AND d.refobjid = i.indrelid AND d.refobjsubid = u.attnum))
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      CROSS JOIN LATERAL generate_series(1, i.indnkeyatts) AS p(part)
      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[p.part - 1] AND a.attnum > 0
      LEFT JOIN pg_collation o ON o.oid = i.indcollation[p.part - 1]
    WHERE i.indrelid = $1::oid AND i.indisunique AND NOT i.indisexclusion
    ORDER BY NOT i.indisprimary, i.indexrelid, p.part
    """

  /// Triggers, keys and exclusions may also be those of some partitions only.
  private static let constraintQuery = """
    WITH tree AS (SELECT relid FROM pg_partition_tree($1::oid::regclass) WHERE relid <> $1::oid)
    SELECT 'constraint', conname, contype::text, pg_get_expr(conbin, conrelid), pg_get_constraintdef(oid),
      condeferrable, confrelid::regclass::text, confrelid = conrelid
    FROM pg_constraint k WHERE conrelid = $1::oid AND contype IN ('c', 'f', 'x')
      AND NOT EXISTS (SELECT FROM pg_constraint p WHERE p.oid = k.conparentid AND p.conrelid = k.conrelid)
    UNION ALL
    SELECT 'constraint', conname, contype::text, NULL, pg_get_constraintdef(oid), condeferrable, confrelid::regclass::text, true
    FROM pg_constraint WHERE conrelid IN (SELECT relid FROM tree) AND conparentid = 0
      AND (contype = 'x' OR contype = 'f' AND (confrelid = $1::oid OR confrelid IN (SELECT relid FROM tree)))
    UNION ALL
    SELECT 'key', c.relname, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid IN (SELECT relid FROM tree) AND i.indisunique AND NOT i.indisexclusion
      AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid)
    UNION ALL
    SELECT 'trigger', tgname, tgtype::text, NULL, NULL, tgenabled IN ('O', 'A'), NULL, NULL
    FROM pg_trigger g WHERE NOT tgisinternal AND (tgrelid = $1::oid
      OR tgrelid IN (SELECT relid FROM tree) AND coalesce(to_jsonb(g) ->> 'tgparentid', '0') = '0')
    UNION ALL
    SELECT 'rule', rulename, ev_type::text, NULL, NULL, NULL, NULL, NULL
    FROM pg_rewrite WHERE ev_class = $1::oid AND rulename <> '_RETURN'
    ORDER BY 1, 2
    """

  // MARK: - Rows of them

  private static func kind(_ letter: String) -> PostgresTable.Kind? {
    switch letter {
    case "r": .table
    case "p": .partitioned
    case "f": .foreign
    case "v": .view
    case "m": .materializedView
    default: nil
    }
  }

  private static func column(_ row: PostgresRow) -> PostgresColumn {
    let generation: PostgresColumn.Generation? =
      switch (row.text(8), row.text(9)) {
      case ("a", _): .identityAlways
      case ("d", _): .identityByDefault
      case (_, "s"), (_, "v"): .expression
      default: nil
      }
    return PostgresColumn(
      number: Int(row.integer(0) ?? 0), name: row.text(1) ?? "", type: UInt32(row.integer(2) ?? 0),
      typeName: row.text(3) ?? "", castName: row.text(18),
      baseType: UInt32(row.integer(4) ?? 0), modifier: Int32(row.integer(5) ?? -1),
      isDomain: row.flag(6) ?? false,
      isNotNull: row.flag(7) ?? false, generation: generation, defaultExpression: row.text(10),
      sequence: row.text(11),
      collation: collation(row, from: 12), hasEquality: row.flag(16) ?? false,
      isProvenNotNull: row.flag(17) ?? false)
  }

  private static func collation(_ row: PostgresRow, from first: Int) -> PostgresCollation? {
    guard let name = row.text(first) else { return nil }
    return PostgresCollation(
      name: name, schema: row.text(first + 1), isDeterministic: row.flag(first + 2) ?? true,
      isBytewise: row.flag(first + 3) ?? false)
  }

  private static func indexes(_ rows: [PostgresRow]) -> [PostgresIndex] {
    var indexes: [PostgresIndex] = []
    for row in rows {
      let used = row.text(13).map { $0.split(separator: "\u{1}").map(String.init) } ?? []
      if row.integer(6) == 1 {
        let predicate = row.text(4)
        indexes.append(
          PostgresIndex(
            name: row.text(0) ?? "", parts: [], isPrimary: row.flag(1) ?? false,
            isValid: row.flag(2) ?? false,
            isImmediate: row.flag(3) ?? true, predicate: predicate,
            predicateColumns: predicate.map { SQLWords($0).names(of: used) } ?? [],
            treatsNullsAsEqual: row.flag(5) ?? false))
      }
      let (column, definition) = (row.text(7), row.text(8) ?? "")
      indexes[indexes.count - 1].parts.append(
        PostgresIndex.Part(
          column: column, definition: definition, collation: collation(row, from: 9),
          operands: column == nil ? SQLWords(definition).names(of: used) : []))
    }
    return indexes
  }

  private static func constraint(_ row: PostgresRow, table: Int64) -> PostgresConstraint? {
    guard row.text(0) == "constraint", let name = row.text(1) else { return nil }
    let kind: PostgresConstraint.Kind =
      switch row.text(2) {
      case "c": .check(expression: row.text(3) ?? "")
      case "f": .foreignKey(table: row.text(6) ?? "", isOwnTable: row.flag(7) ?? false)
      default: .exclusion
      }
    return PostgresConstraint(
      name: name, kind: kind, definition: row.text(4) ?? "", isDeferrable: row.flag(5) ?? false)
  }

  private static func rule(_ row: PostgresRow) -> PostgresRule? {
    guard row.text(0) == "rule", let name = row.text(1) else { return nil }
    let events: [String: PostgresRule.Event] = ["1": .select, "2": .update, "3": .insert, "4": .delete]
    return PostgresRule(name: name, event: events[row.text(2) ?? ""] ?? .insert)
  }

  /// The bits of `tgtype`: 1 for each row, 2 before, 64 instead of.
  private static func trigger(_ row: PostgresRow) -> PostgresTrigger? {
    guard row.text(0) == "trigger", let name = row.text(1), let bits = row.integer(2) else { return nil }
    return PostgresTrigger(
      name: name, isForEachRow: bits & 1 != 0, isBefore: bits & 2 != 0, isInsteadOf: bits & 64 != 0,
      isEnabled: row.flag(5) ?? true)
  }
}

extension PostgresTable {
  /// Reads a table or view from the catalogue.
  /// - Parameter schema: nil looks along `search_path`.
  /// - Returns: nil without one of that name.
  package static func read(
    schema: String? = nil, name: String, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> PostgresTable? {
    try TableReader(connection: connection).table(schema: schema, name: name)
  }
}
