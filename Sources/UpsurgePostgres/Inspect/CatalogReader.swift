import Upsurge
import UpsurgeRecords

/// Reads all tables of a database from its catalogue, by a query for each kind of thing that they have.
struct CatalogReader {
  private let connection: PostgresConnection

  init(_ connection: PostgresConnection) { self.connection = connection }

  /// - Parameters:
  ///   - name: of the database, as it may be shown.
  ///   - table: the OID of the only table that is wanted; nil for all.
  func database(named name: String, only table: UInt32?) throws(PostgresFailure) -> ServerDescription {
    let facts = try connection.run(
      """
      SELECT version(), current_database(), pg_database_size(current_database()), current_setting('server_encoding')
      """, []
    ).first
    let version = (facts?.text(0) ?? "").prefix { $0 != "(" && $0 != "," }.split(separator: " ").prefix(2)
    var database = ServerDescription(
      name: name, server: version.joined(separator: " "), database: facts?.text(1) ?? "",
      byteCount: UInt64(max(facts?.integer(2) ?? 0, 0)), encoding: facts?.text(3) ?? "")
    var tables = try relations(only: table)
    let places = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($0.element.oid, $0.offset) })
    let list = PostgresParameter.text("{\(tables.map { "\($0.oid)" }.joined(separator: ","))}")
    for part in Part.allCases {
      for row in try connection.run(part.query, [list]).rows {
        guard let oid = row.integer(0), let place = places[oid] else { continue }
        part.add(row, to: &tables[place].table)
      }
    }
    database.tables = tables.map(\.table)
    return database
  }

  private func relations(only table: UInt32?) throws(PostgresFailure) -> [(
    oid: Int64, table: ServerDescription.Table
  )] {
    try connection.run(Self.relationQuery, [table.map { .integer(Int64($0)) } ?? .null]).rows.map { row in
      let (schema, name) = (row.text(1) ?? "", row.text(2) ?? "")
      var table = ServerDescription.Table(
        schema: schema, name: name,
        sourceName: TableName.asSource(schema: row.flag(5) == true ? nil : schema, name: name),
        kind: Self.kind(row.text(3) ?? ""))
      table.rowEstimate = row.integer(4).map { UInt64(max($0, 0)) }
      table.isUnlogged = row.text(6) == "u"
      table.rowSecurity = row.flag(8) == true ? .active : row.flag(7) == true ? .bypassed : .off
      return (row.integer(0) ?? 0, table)
    }
  }

  private static let relationQuery = """
    SELECT c.oid, n.nspname, c.relname, c.relkind,
      CASE WHEN c.relkind = 'p' THEN (SELECT sum(l.reltuples)::int8 FROM pg_partition_tree(c.oid) t
          JOIN pg_class l ON l.oid = t.relid WHERE t.isleaf AND l.reltuples >= 0)
        WHEN c.reltuples >= 0 THEN c.reltuples::int8 END,
      pg_table_is_visible(c.oid), c.relpersistence, c.relrowsecurity, row_security_active(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND CASE WHEN $1::oid IS NULL THEN NOT c.relispartition
      AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' ELSE c.oid = $1::oid END
    ORDER BY n.nspname, c.relname
    """

  private static func kind(_ letter: String) -> String {
    switch letter {
    case "p": "partitioned table"
    case "f": "foreign table"
    case "v": "view"
    case "m": "materialized view"
    default: "table"
    }
  }

  // MARK: - What tables have

  /// The rows of each begin with the OID of the table that they are of.
  private enum Part: CaseIterable {
    case columns, indexes, foreignKeys, references, checks, triggers, rules, policies

    var query: String {
      switch self {
      case .columns:
        """
        SELECT a.attrelid, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid),
          a.attidentity, a.attgenerated, CASE WHEN a.attcollation <> t.typcollation THEN o.collname END
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
          LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_collation o ON o.oid = a.attcollation
        WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
        """
      // A row for each part of each index.
      case .indexes:
        """
        SELECT i.indrelid, c.relname, i.indisprimary, i.indisunique AND i.indisvalid AND i.indimmediate,
          EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u')),
          pg_get_expr(i.indpred, i.indrelid), pg_get_indexdef(i.indexrelid), p.part, a.attname,
          pg_get_indexdef(i.indexrelid, p.part, false)
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid CROSS JOIN LATERAL generate_series(1, i.indnkeyatts) AS p(part)
          LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[p.part - 1] AND a.attnum > 0
        WHERE i.indrelid = ANY ($1::oid[]) ORDER BY NOT i.indisprimary, NOT i.indisunique, c.relname, i.indexrelid, p.part
        """
      // A row for each column of each key.
      case .foreignKeys:
        """
        SELECT k.conrelid, u.place, own.attname, n.nspname, p.relname, pg_table_is_visible(p.oid), other.attname
        FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u(own, other, place)
          JOIN pg_attribute own ON own.attrelid = k.conrelid AND own.attnum = u.own
          JOIN pg_attribute other ON other.attrelid = k.confrelid AND other.attnum = u.other
          JOIN pg_class p ON p.oid = k.confrelid JOIN pg_namespace n ON n.oid = p.relnamespace
        WHERE k.conrelid = ANY ($1::oid[]) AND k.contype = 'f'
          AND NOT EXISTS (SELECT FROM pg_constraint q WHERE q.oid = k.conparentid AND q.conrelid = k.conrelid)
        ORDER BY k.conname, k.oid, u.place
        """
      case .references:
        """
        SELECT DISTINCT k.confrelid, n.nspname, c.relname, pg_table_is_visible(c.oid)
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE k.confrelid = ANY ($1::oid[]) AND k.contype = 'f' AND NOT c.relispartition ORDER BY 2, 3
        """
      case .checks:
        """
        SELECT conrelid, conname, pg_get_expr(conbin, conrelid) FROM pg_constraint
        WHERE conrelid = ANY ($1::oid[]) AND contype = 'c' ORDER BY conname
        """
      case .triggers:
        """
        SELECT tgrelid, tgname, tgtype, tgenabled IN ('O', 'A') FROM pg_trigger
        WHERE tgrelid = ANY ($1::oid[]) AND NOT tgisinternal ORDER BY tgname
        """
      case .rules:
        "SELECT ev_class, rulename FROM pg_rewrite WHERE ev_class = ANY ($1::oid[]) AND rulename <> '_RETURN' ORDER BY rulename"
      case .policies: Self.policyQuery
      }
    }

    /// A row for each role of each policy; 0 is PUBLIC.
    private static let policyQuery = """
      SELECT p.polrelid, p.polname, p.polcmd, p.polpermissive, pg_get_expr(p.polqual, p.polrelid),
        pg_get_expr(p.polwithcheck, p.polrelid), coalesce(r.rolname, 'PUBLIC'), u.place
      FROM pg_policy p CROSS JOIN LATERAL unnest(p.polroles) WITH ORDINALITY AS u(role, place)
        LEFT JOIN pg_roles r ON r.oid = u.role
      WHERE p.polrelid = ANY ($1::oid[]) ORDER BY p.polname, p.oid, u.place
      """

    func add(_ row: PostgresRow, to table: inout ServerDescription.Table) {
      let name = row.text(1) ?? ""
      switch self {
      case .columns: table.columns.append(ServerDescription.Column(row))
      case .indexes: table.addIndexPart(row)
      case .foreignKeys: table.addForeignKeyPart(row)
      case .references:
        table.referencingTables.append(
          TableName.asSource(schema: row.flag(3) == true ? nil : name, name: row.text(2) ?? ""))
      case .checks: table.checks.append(ServerDescription.Check(name: name, expression: row.text(2) ?? ""))
      case .triggers:
        let moment = ServerDescription.Trigger.moment(Int(row.integer(2) ?? 0))
        table.triggers.append(
          ServerDescription.Trigger(name: name, moment: moment, isEnabled: row.flag(3) ?? true))
      case .rules: table.rules.append(name)
      case .policies: table.addPolicyPart(row)
      }
    }
  }
}
