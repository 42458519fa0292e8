/// The ordered path: records in a staging table, stored by one INSERT … ON CONFLICT a segment, in their order.
///
///     CREATE TEMPORARY TABLE upsurge_staging ON COMMIT DROP AS SELECT 0::int4 AS upsurge_ord, … FROM t WITH NO DATA
///     COPY upsurge_staging (upsurge_ord, …) FROM STDIN (FORMAT binary)
///     WITH w AS (INSERT INTO t … SELECT … LEFT JOIN t … ORDER BY upsurge_ord ON CONFLICT … DO UPDATE … RETURNING …) SELECT counts
///
/// It is right for every table that has the key, whatever else is there: second unique keys, triggers, workers of Citus. A join
/// in front leaves out records whose row says the same: ON CONFLICT would lock those rows, write that down, and take numbers
/// from sequences. Within a statement a key may come once, so the records are cut into segments where one comes again. Records
/// with a NULL in the key are not given to it.
package struct OrderedPlan: Sendable, Equatable {
  /// The table of the records; its name is no one else's within a transaction.
  package static let stagingName = "upsurge_staging"

  package let table: PostgresTable
  package let key: PostgresIndex?
  /// The table's columns that the records have, in the order of the staging table.
  package let columns: [PostgresColumn]
  package let rules: OrderedRules
  private let insertedTest: InsertedTest

  /// How a new row is told from one that was there.
  enum InsertedTest: Sendable {
    /// From version 18 on.
    case old
    case xmax
    /// By the join in front: partitions of another layout have no system columns. Others must not write meanwhile, so it needs
    /// a snapshot.
    case joined
  }

  /// - Parameters:
  ///   - key: which row a record is about; nil inserts.
  ///   - columns: names that the table has.
  package init(
    _ table: PostgresTable, key: PostgresIndex?, columns names: [String], rules: OrderedRules, capabilities: Capabilities
  ) {
    self.table = table
    self.key = key
    self.rules = rules
    columns = names.map { name in
      guard let column = table.column(name) else { preconditionFailure("the table has no column of that name") }
      return column
    }
    insertedTest =
      capabilities.hasReturningOld
      ? .old : table.hasUnevenPartitions || table.hasForeignPartitions || !capabilities.hasXmax ? .joined : .xmax
  }

  /// Whether the transaction must be one of a snapshot (REPEATABLE READ) for the counts to be right.
  package var needsSnapshot: Bool { insertedTest == .joined && key != nil }

  /// Columns that are written as text, and cast by the statement.
  package var textColumns: Set<String> = []

  /// How the columns are written to the staging table.
  package var binaryColumns: [BinaryColumn] { columns.map(binary) }

  private func binary(_ column: PostgresColumn) -> BinaryColumn {
    textColumns.contains(column.name) ? BinaryColumn(.castText) : BinaryColumn(column)
  }

  // MARK: - Staging

  /// Makes the staging table. Its columns have the collations of the table's own, so that they can be compared.
  package var stagingSQL: String {
    let list = zip(columns, binaryColumns).map { column, binary in
      "\(column.name.quotedForPostgres)::\(binary.stagingType) AS \(column.name.quotedForPostgres)"
    }
    return "CREATE TEMPORARY TABLE \(Self.stagingName) ON COMMIT DROP AS SELECT \((["0::int4 AS upsurge_ord"] + list).joined(separator: ", "))"
      + " FROM \(table.quotedName) WITH NO DATA"
  }

  /// Fills it.
  package var copySQL: String {
    "COPY pg_temp.\(Self.stagingName) (\((["upsurge_ord"] + names).joined(separator: ", "))) FROM STDIN (FORMAT binary)"
  }

  private var names: [String] { columns.map(\.name.quotedForPostgres) }

  /// The smallest and the largest of the key's first part, as literals: the table is only looked at between them. nil where
  /// the type has no order that min() knows.
  package var boundsSQL: String? {
    guard let first = key?.parts.first?.column, let column = table.column(first), columns.contains(column) else { return nil }
    switch binary(column).form {
    case .int2, .int4, .int8, .numeric, .text, .bpchar, .date, .time, .timestamp, .timestamptz: break
    default: return nil
    }
    let name = first.quotedForPostgres
    return "SELECT quote_literal(min(\(name))), quote_literal(max(\(name))) FROM pg_temp.\(Self.stagingName)"
  }

  /// Pairs of `ord`: a record, and the one before it with the same key.
  package var repetitionsSQL: String? {
    guard let key else { return nil }
    let parts = key.parts.map(\.definition).joined(separator: ", ")
    return """
      SELECT upsurge_ord, before
      FROM (SELECT upsurge_ord, lag(upsurge_ord) OVER (PARTITION BY \(parts) ORDER BY upsurge_ord) AS before
        FROM (SELECT upsurge_ord, \(zip(columns, names).map { "\(value(of: $0, "s")) AS \($1)" }.joined(separator: ", "))
        FROM pg_temp.\(Self.stagingName) AS s) AS s) AS pairs WHERE before IS NOT NULL ORDER BY upsurge_ord
      """
  }

  /// Whether the client can see by the bytes that a key comes again.
  package var hasComparableKey: Bool {
    guard let key, key.predicate == nil else { return false }
    return key.parts.allSatisfy { part in
      guard let name = part.column, let column = table.column(name), columns.contains(column), !column.isDomain else { return false }
      return binary(column).hasUniqueBytes && part.collation?.isDeterministic ?? true
    }
  }

  // MARK: - The statement

  /// Stores the records from one `ord` up to another.
  ///
  /// It gives one row: inserted, updated, and how many were not to be changed by the rules' condition.
  /// - Parameter bounds: literals, as `boundsSQL` gives them.
  package func statement(_ segment: Range<Int>, bounds: (least: String, most: String)? = nil) -> String {
    guard let key else {
      return counting(
        "INSERT INTO \(table.quotedName) AS upsurge_row (\(names.joined(separator: ", "))) \(overriding)SELECT \(values("s")) "
          + "FROM pg_temp.\(Self.stagingName) AS s WHERE \(slice(segment)) ORDER BY s.upsurge_ord RETURNING true AS fresh")
    }
    let found = "FROM \(staging(key)) AS s LEFT JOIN \(existing(key)) AS o ON \(join(key, bounds: bounds)) WHERE \(slice(segment))"
    let isNew = "o.upsurge_found IS NULL"
    let filter =
      switch rules.conflict {
      case .update: " AND (\(isNew) OR \(differs(row: "o", record: "s")))"
      case .ignore: " AND \(isNew)"
      case .fail: ""
      }
    let head = "INSERT INTO \(table.quotedName) AS upsurge_row (\(names.joined(separator: ", "))) \(overriding)"
    let kept = rules.condition == nil || rules.conflict != .update ? nil
      : "SELECT count(*) \(found) AND NOT (\(isNew)) AND (\(scoped(rules.condition ?? "", row: "o", record: "s"))) IS NOT TRUE"
    if insertedTest == .joined {
      return """
        WITH m AS MATERIALIZED (SELECT s.*, \(isNew) AS upsurge_fresh \(found)\(filter)),
        w AS (\(head)SELECT \(values("m")) FROM m ORDER BY m.upsurge_ord \(onConflict(key)) RETURNING 1)
        SELECT count(*) FILTER (WHERE upsurge_fresh), (SELECT count(*) FROM w) - count(*) FILTER (WHERE upsurge_fresh), \(kept.map { "(\($0))" } ?? "0")
        FROM m
        """
    }
    let test = insertedTest == .old ? "old.\(returnedKey(key)) IS NULL" : "(upsurge_row.xmax = 0)"
    return counting(
      "\(head)SELECT \(values("s")) \(found)\(filter) ORDER BY s.upsurge_ord \(onConflict(key)) RETURNING \(test) AS fresh", kept: kept)
  }

  private func counting(_ insert: String, kept: String? = nil) -> String {
    """
    WITH w AS (\(insert))
    SELECT count(*) FILTER (WHERE fresh), count(*) FILTER (WHERE NOT fresh), \(kept.map { "(\($0))" } ?? "0") FROM w
    """
  }

  /// A column that a row of the table always has.
  private func returnedKey(_ key: PostgresIndex) -> String {
    (table.primaryKey?.parts.first?.column ?? key.parts.first?.column ?? columns.first { $0.isNotNull }?.name ?? "tableoid").quotedForPostgres
  }

  /// A column that is GENERATED ALWAYS AS IDENTITY takes a value only so; each record fails without (428C9).
  private var overriding: String {
    rules.overridesIdentity && columns.contains { $0.generation == .identityAlways } ? "OVERRIDING SYSTEM VALUE " : ""
  }

  private func slice(_ segment: Range<Int>) -> String { "s.upsurge_ord >= \(segment.lowerBound) AND s.upsurge_ord < \(segment.upperBound)" }

  private func onConflict(_ key: PostgresIndex) -> String {
    let target = key.parts.map(\.definition).joined(separator: ", ")
    let predicate = key.predicate.map { " WHERE \($0)" } ?? ""
    switch rules.conflict {
    case .fail: return ""
    case .ignore: return "ON CONFLICT (\(target))\(predicate) DO NOTHING"
    case .update:
      let changed = changedColumns
      // Something must be said to change; the filter lets no row come so far.
      if changed.isEmpty { return "ON CONFLICT (\(target))\(predicate) DO NOTHING" }
      let sets = changed.map { "\($0.name.quotedForPostgres) = \(newValue($0, row: "upsurge_row", record: "excluded"))" }
      return "ON CONFLICT (\(target))\(predicate) DO UPDATE SET \(sets.joined(separator: ", "))"
        + " WHERE \(differs(row: "upsurge_row", record: "excluded"))"
    }
  }

  // MARK: - Parts

  /// The columns that an update writes: not those of the key.
  private var changedColumns: [PostgresColumn] {
    let parts = Set(key?.parts.compactMap(\.column) ?? [])
    return columns.filter { !parts.contains($0.name) }
  }

  /// The value of a record's column as one of the table's type.
  private func value(of column: PostgresColumn, _ scope: String) -> String {
    let name = "\(scope).\(column.name.quotedForPostgres)"
    return column.isDomain || binary(column).form == .castText ? "\(name)::\(column.typeName)" : name
  }

  private func values(_ scope: String) -> String {
    columns.map { scope == "s" && key != nil || scope == "m" ? "\(scope).\($0.name.quotedForPostgres)" : value(of: $0, scope) }.joined(separator: ", ")
  }

  private func newValue(_ column: PostgresColumn, row: String, record: String) -> String {
    switch rules.changes[column.name] ?? .replace {
    case .replace: "\(record).\(column.name.quotedForPostgres)"
    case .expression(let sql): scoped(sql, row: row, record: record)
    }
  }

  /// Whether a row is to be changed: something would be another value, and the condition holds.
  private func differs(row: String, record: String) -> String {
    let changed = changedColumns
    guard !changed.isEmpty else { return "false" }
    let old = changed.map { comparable($0, "\(row).\($0.name.quotedForPostgres)") }
    let new = changed.map { comparable($0, newValue($0, row: row, record: record)) }
    let isOther = "(\(old.joined(separator: ", "))) IS DISTINCT FROM (\(new.joined(separator: ", ")))"
    return rules.condition.map { "\(isOther) AND (\(scoped($0, row: row, record: record)))" } ?? isOther
  }

  /// Types without an equality are compared as texts.
  private func comparable(_ column: PostgresColumn, _ value: String) -> String {
    column.hasEquality ? value : "(\(value))::text"
  }

  /// Somebody's SQL, in which a name is a column of the row and `excluded` the record.
  private func scoped(_ sql: String, row: String, record: String) -> String {
    let own = table.columns.map(\.name.quotedForPostgres)
    let rows = "(SELECT \(own.map { "\(row).\($0)" }.joined(separator: ", "))) AS \(table.name.quotedForPostgres)(\(own.joined(separator: ", ")))"
    // A scope within the other one: a name is looked for in the inner one first, so it is never ambiguous.
    let inner = "(SELECT \(sql) FROM \(rows))"
    if record == "excluded" { return inner }
    let list = names.map { "\(record).\($0)" }.joined(separator: ", ")
    return "(SELECT \(inner) FROM (SELECT \(list)) AS excluded(\(names.joined(separator: ", "))))"
  }

  /// The records, with their values as the table's types and the parts of the key that are expressions.
  private func staging(_ key: PostgresIndex) -> String {
    let list = columns.map { "\(value(of: $0, "r")) AS \($0.name.quotedForPostgres)" }
    let inner = "(SELECT r.upsurge_ord, \(list.joined(separator: ", ")) FROM pg_temp.\(Self.stagingName) AS r)"
    let extra = expressions(key) + (key.predicate.map { ["(\($0)) AS upsurge_meant"] } ?? [])
    return extra.isEmpty ? inner : "(SELECT *, \(extra.joined(separator: ", ")) FROM \(inner) AS \(table.name.quotedForPostgres))"
  }

  /// The rows of the table that the key is about.
  private func existing(_ key: PostgresIndex) -> String {
    let extra = ["true AS upsurge_found"] + expressions(key)
    return "(SELECT *, \(extra.joined(separator: ", ")) FROM \(table.quotedName)\(key.predicate.map { " WHERE \($0)" } ?? ""))"
  }

  private func expressions(_ key: PostgresIndex) -> [String] {
    key.parts.enumerated().compactMap { index, part in part.column == nil ? "\(part.definition) AS upsurge_part_\(index)" : nil }
  }

  private func join(_ key: PostgresIndex, bounds: (least: String, most: String)?) -> String {
    var terms = key.parts.enumerated().map { index, part in
      let name = part.column?.quotedForPostgres ?? "upsurge_part_\(index)"
      return "o.\(name) = s.\(name)"
    }
    if let bounds, let first = key.parts.first?.column {
      terms.append("o.\(first.quotedForPostgres) BETWEEN \(bounds.least) AND \(bounds.most)")
    }
    if key.predicate != nil { terms.append("s.upsurge_meant") }
    return terms.joined(separator: " AND ")
  }
}
