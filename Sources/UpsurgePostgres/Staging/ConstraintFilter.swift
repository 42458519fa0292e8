/// Finds all records at once that a constraint refuses, by its own expression.
///
///     CHECK        the expression is false of the record
///     NOT NULL     the column is NULL
///     FOREIGN KEY  no column is NULL, and no row of the other table has the values
///
/// A search needs some 10 statements for each bad record; this needs one for all of a batch. It is asked after a constraint has
/// failed eight times. It only looks at what is certain: a record that is stored as it stands, of a constraint that holds for
/// all rows, where nothing else of the record fails earlier. Everything else is left to the search.
struct ConstraintFilter {
  private static let patience = 8

  private let connection: PostgresConnection
  private let shape: RecordShape
  private var counts: [String: Int] = [:]
  private var asked: Set<String> = []

  /// - Returns: nil where a record is not stored as it stands, or may be left alone.
  init?(_ connection: PostgresConnection, _ shape: RecordShape) {
    let (rules, table) = (shape.rules, shape.table)
    guard rules.changes.isEmpty, rules.condition == nil, rules.conflict != .ignore, !table.hasRowTriggers,
      table.rules.isEmpty,
      table.kind == .table || table.kind == .partitioned
    else { return nil }
    self.connection = connection
    self.shape = shape
  }

  private static func name(_ failure: PostgresFailure) -> String? {
    switch failure.sqlState {
    case "23514", "23503": failure.constraint
    case "23502": failure.column.map { " \($0)" }
    default: nil
    }
  }

  /// Notes a failure.
  /// - Returns: whether it is time to ask.
  mutating func hasOften(_ failure: PostgresFailure) -> Bool {
    guard let name = Self.name(failure), !asked.contains(name) else { return false }
    counts[name, default: 0] += 1
    return counts[name, default: 0] >= Self.patience
  }

  /// The places of the records that the constraint refuses; nil where it cannot be said so.
  mutating func find<Store: PartStore>(
    _ failure: PostgresFailure, _ part: Range<Int>, in store: inout Store, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> [Int]? {
    guard let name = Self.name(failure) else { return nil }
    asked.insert(name)
    guard let condition = try condition(failure, &outcomes) else { return nil }
    let shape = shape
    // What fails here is for the search to find.
    return try store.places(in: part, after: "upsurge_filter", on: connection, &outcomes) { source, part in
      // A row that says the same is not written, so nothing is checked.
      guard let key = shape.key else {
        let list = zip(shape.columns, shape.names).map { "\(shape.value(of: $0, "s")) AS \($1)" }
        return
          "SELECT s.upsurge_ord FROM (SELECT s.upsurge_ord, \(list.joined(separator: ", ")) FROM \(source) AS s) AS s"
          + " WHERE \(shape.slice(part)) AND \(condition)"
      }
      return
        "SELECT s.upsurge_ord \(shape.found(key, in: part, from: source, bounds: nil))\(shape.filter) AND \(condition)"
    }
  }

  // MARK: - Conditions

  private func condition(
    _ failure: PostgresFailure, _ outcomes: inout BatchOutcomes
  ) throws(PostgresFailure) -> String? {
    if failure.sqlState == "23502" {
      guard let name = failure.column, shape.columns.contains(where: { $0.name == name }) else { return nil }
      return "s.\(name.quotedForPostgres) IS NULL"
    }
    outcomes.statementCount += 1
    guard let name = failure.constraint,
      let row = try connection.run(Self.query, [.integer(Int64(shape.table.oid)), .text(name)]).first,
      row.flag(0) == true, let columns = row.text(1).map(Self.list),
      columns.allSatisfy({ name in shape.columns.contains { $0.name == name } })
    else { return nil }
    var terms = notNulls
    for check in shape.table.constraints {
      guard case .check(let expression) = check.kind else { continue }
      if failure.sqlState == "23514", check.name == name {
        return (terms + ["\(scoped(expression)) IS FALSE"]).joined(separator: " AND ")
      }
      // Checks come in the order of their names, and foreign keys after all of them. One that speaks of other columns as well
      // fails here, which leaves all to the search.
      if failure.sqlState == "23503" || check.name < name {
        terms.append("\(scoped(expression)) IS NOT FALSE")
      }
    }
    guard failure.sqlState == "23503", row.flag(2) == true, let others = row.text(3).map(Self.list),
      let table = row.text(4),
      hasOneKey
    else { return nil }
    let pairs = zip(columns, others).map { "s.\($0.quotedForPostgres) = p.\($1.quotedForPostgres)" }
    terms += columns.map { "s.\($0.quotedForPostgres) IS NOT NULL" }
    terms.append("NOT EXISTS (SELECT FROM \(table) AS p WHERE \(pairs.joined(separator: " AND ")))")
    return terms.joined(separator: " AND ")
  }

  /// Another unique key would fail before a foreign key.
  private var hasOneKey: Bool { shape.table.uniqueIndexes.allSatisfy { $0.name == shape.key?.name } }

  /// What fails before all constraints.
  private var notNulls: [String] {
    shape.columns.filter(\.isNotNull).map { "s.\($0.name.quotedForPostgres) IS NOT NULL" }
  }

  /// The expression with the record's columns and no others.
  private func scoped(_ expression: String) -> String {
    "(SELECT (\(expression)) FROM (SELECT \(shape.values("s"))) AS \(shape.table.name.quotedForPostgres)(\(shape.names.joined(separator: ", "))))"
  }

  private static func list(_ json: String) -> [String] {
    json.split(separator: "\u{1}").map(String.init)
  }

  /// Whether it holds for all rows, its columns, whether it is a foreign key that can be asked for, and what it points to.
  /// Rows that policies hide would count as missing.
  private static let query = """
    SELECT k.convalidated AND cardinality(k.conkey) = (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum > 0 AND a.attnum = ANY (k.conkey)),
      (SELECT string_agg(a.attname, E'\\x01' ORDER BY p) FROM generate_subscripts(k.conkey, 1) p JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[p]),
      k.contype = 'f' AND k.confrelid <> k.conrelid AND k.confmatchtype = 's' AND NOT row_security_active(k.confrelid),
      (SELECT string_agg(a.attname, E'\\x01' ORDER BY p) FROM generate_subscripts(k.confkey, 1) p JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = k.confkey[p]),
      CASE WHEN k.contype = 'f' THEN (SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = k.confrelid) END
    FROM pg_constraint k WHERE k.conrelid = $1::oid AND k.conname = $2
    """
}
