import Upsurge
import UpsurgeRecords

/// What a load asks of its tables; where a right is missing, the GRANT that gives it.
struct WantedRights {
  /// A table, and what is done with it.
  private struct Wanted {
    var schema: String
    var name: String
    var rights: [String]
    /// Whether it is made where it is not there.
    var isMade: Bool
  }

  private var tables: [Wanted] = []

  /// A table that is asked for, after those before.
  mutating func add(_ schema: String, _ name: String, _ rights: [String], isMade: Bool) {
    tables.append(Wanted(schema: schema, name: name, rights: rights, isMade: isMade))
  }

  /// What the server has refused, as a hint: `GRANT INSERT ON public.t TO loader gives what is missing`.
  /// - Returns: nil where nothing is missing that could be granted: a policy refuses rows in the same way.
  func hint(_ connection: PostgresConnection) throws(PostgresFailure) -> Wording? {
    var grants: [String] = []
    for table in tables {
      for row in try connection.run(Self.query, parameters(of: table)).rows {
        guard let grant = row.text(0), !grants.contains(grant) else { continue }
        grants.append(grant)
      }
    }
    if grants.isEmpty { return nil }
    return "\(grants.joined(separator: "; ").escapedForTerminal) gives what is missing; the owner may run it"
  }

  private func parameters(of table: Wanted) -> [PostgresParameter] {
    [
      .text(table.schema), .text(table.name), .text(table.rights.joined(separator: ",")),
      .text(table.isMade ? "t" : "f"),
    ]
  }

  /// A row for each object: the schema, the table, and the sequences of its columns, which an INSERT takes numbers from.
  private static let query = """
    WITH names AS (SELECT n.oid AS schema, quote_ident(n.nspname) AS schema_name, c.oid AS relation,
        quote_ident(n.nspname) || '.' || quote_ident($2::text) AS relation_name, quote_ident(current_user) AS me
      FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = $2::text WHERE n.nspname = $1::text)
    SELECT 'GRANT ' || string_agg(r, ', ') || ' ON SCHEMA ' || schema_name || ' TO ' || me
    FROM names, unnest(ARRAY['USAGE', 'CREATE']) AS r
    WHERE NOT has_schema_privilege(schema, r) AND (r = 'USAGE' OR relation IS NULL AND $4::text = 't') GROUP BY schema_name, me
    UNION ALL
    SELECT 'GRANT ' || string_agg(r, ', ') || ' ON ' || relation_name || ' TO ' || me
    FROM names, unnest(string_to_array($3::text, ',')) AS r
    WHERE relation IS NOT NULL AND NOT has_table_privilege(relation, r) GROUP BY relation_name, me
    UNION ALL
    SELECT 'GRANT USAGE ON SEQUENCE ' || q.oid::regclass::text || ' TO ' || me
    FROM names JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = relation AND d.deptype = 'a'
      JOIN pg_class q ON q.oid = d.objid AND d.classid = 'pg_class'::regclass AND q.relkind = 'S'
    WHERE NOT has_sequence_privilege(q.oid, 'USAGE') AND $3::text LIKE '%INSERT%'
    """
}

extension TargetTable {
  /// What its mode and a sweep do with rows.
  func neededRights(for sweep: RowSweep?) -> [String] {
    var rights: [String] =
      switch mode {
      case .insert: ["INSERT"]
      case .ignore: ["SELECT", "INSERT"]
      case .upsert: ["SELECT", "INSERT", "UPDATE"]
      case .update: ["SELECT", "UPDATE"]
      case .delete: ["SELECT", "DELETE"]
      }
    var others = given.tombstone == nil ? [] : ["DELETE"]
    switch sweep {
    case .hard: others += ["SELECT", "DELETE"]
    case .soft: others += ["SELECT", "UPDATE"]
    case .none?, nil: break
    }
    for right in others where !rights.contains(right) { rights.append(right) }
    return rights
  }
}
