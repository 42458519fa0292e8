/// The parts that statements are made of. `s` is a record, `o` the row that it is about.
extension RecordShape {
  /// The name of the staging table, in statements.
  static let staging = "pg_temp.\(StagingTable.name)"

  /// The smallest and the largest of the key's first part, as literals: the table is only looked at between them. nil where
  /// the type has no order that min() knows.
  func boundsSQL(from source: String = staging) -> String? {
    guard let key, let part = key.parts.first, let first = part.column, let column = table.column(first),
      columns.contains(column), part.collation == column.collation, !mayFindNull(key)
    else { return nil }
    switch binary(column).form {
    case .int2, .int4, .int8, .numeric, .text, .bpchar, .date, .time, .timestamp, .timestamptz: break
    default: return nil
    }
    let name = first.quotedForPostgres
    return "SELECT quote_literal(min(\(name))), quote_literal(max(\(name))) FROM \(source) AS s"
  }

  /// Pairs of `ord`: a record, and the one before it with the same key.
  func repetitionsSQL(from source: String = staging) -> String? {
    guard let key else { return nil }
    let parts = key.parts.map { $0.definition + collating($0) }.joined(separator: ", ")
    return """
      SELECT upsurge_ord, before
      FROM (SELECT upsurge_ord, lag(upsurge_ord) OVER (PARTITION BY \(parts) ORDER BY upsurge_ord) AS before
        FROM (SELECT upsurge_ord, \(typedList(key, "s").joined(separator: ", "))
        FROM \(source) AS s) AS s) AS pairs WHERE before IS NOT NULL ORDER BY upsurge_ord
      """
  }

  /// All records of a source.
  static let everything = 0..<Int(Int32.max)

  /// Says no more than it must: two bounds are taken for one row in 200, and the join is planned as if for so few.
  func slice(_ part: Range<Int>) -> String {
    if part.count == 1 { return "s.upsurge_ord = \(part.lowerBound)" }
    let bounds = [
      part.lowerBound > 0 ? "s.upsurge_ord >= \(part.lowerBound)" : nil,
      part.upperBound < Self.everything.upperBound ? "s.upsurge_ord < \(part.upperBound)" : nil,
    ].compactMap { $0 }
    return bounds.isEmpty ? "true" : bounds.joined(separator: " AND ")
  }

  /// The beginning of an INSERT.
  var insertHead: String {
    "INSERT INTO \(table.quotedName) AS upsurge_row (\(names.joined(separator: ", "))) \(overriding)"
  }

  /// A column that is GENERATED ALWAYS AS IDENTITY takes a value only so; each record fails without (428C9).
  private var overriding: String {
    rules.overridesIdentity && columns.contains { $0.generation == .identityAlways }
      ? "OVERRIDING SYSTEM VALUE " : ""
  }

  /// The records beside their rows.
  func found(_ key: PostgresIndex, in part: Range<Int>, from source: String = staging, bounds: KeyBounds?)
    -> String
  {
    "FROM \(typed(key, from: source)) AS s LEFT JOIN \(existing(key)) AS o ON \(join(key, bounds: bounds)) WHERE \(slice(part))"
  }

  static let isNew = "o.upsurge_found IS NULL"

  /// Which of `found` are to be written.
  var filter: String {
    switch rules.conflict {
    case .update: " AND (\(Self.isNew) OR \(differs(row: "o", record: "s")))"
    case .ignore: " AND \(Self.isNew)"
    case .fail: ""
    }
  }

  // MARK: - Values

  /// The value of a record's column as one of the table's type.
  func value(of column: PostgresColumn, _ scope: String) -> String {
    let name = "\(scope).\(column.name.quotedForPostgres)"
    guard column.isDomain || binary(column).form == .castText else { return name }
    return AssignedText(column)?.sql(of: name) ?? "\(name)::\(column.castName ?? column.typeName)"
  }

  /// The records' values as the table's types, under their names; and of the columns that they lack those that the key asks
  /// for, which a new row would have.
  private func typedList(_ key: PostgresIndex, _ scope: String) -> [String] {
    let own = Set(columns.map(\.name))
    let lacking = table.columns.filter { key.predicateColumns.contains($0.name) && !own.contains($0.name) }
    return columns.map { "\(value(of: $0, scope)) AS \($0.name.quotedForPostgres)" }
      + lacking.map { "(\($0.defaultExpression ?? "NULL"))::\($0.typeName) AS \($0.name.quotedForPostgres)" }
  }

  /// The values of raw records.
  func rawValues(_ scope: String) -> String { columns.map { value(of: $0, scope) }.joined(separator: ", ") }

  /// The values of records that have the table's types already.
  func values(_ scope: String) -> String { names.map { "\(scope).\($0)" }.joined(separator: ", ") }

  func newValue(_ column: PostgresColumn, row: String, record: String) -> String {
    switch rules.changes[column.name] ?? .replace {
    case .replace, .along: "\(record).\(column.name.quotedForPostgres)"
    case .expression(let sql): scoped(sql, row: row, record: record)
    }
  }

  /// Whether a row is to be changed: something would be another value, and the condition holds.
  func differs(row: String, record: String) -> String {
    let changed = changedColumns.filter { rules.changes[$0.name] != .along }
    guard !changed.isEmpty else { return "false" }
    let old = changed.map { comparable($0, "\(row).\($0.name.quotedForPostgres)") }
    let new = changed.map { comparable($0, newValue($0, row: row, record: record)) }
    let isOther = "(\(old.joined(separator: ", "))) IS DISTINCT FROM (\(new.joined(separator: ", ")))"
    return rules.condition.map { "\(isOther) AND (\(scoped($0, row: row, record: record)))" } ?? isOther
  }

  /// How many of some records would change their row, were it not for the rules' condition; nil where there is not one.
  func keptSQL(_ found: String, row: String, record: String) -> String? {
    guard let condition = rules.condition else { return nil }
    var free = rules
    free.condition = nil
    let others = RecordShape(table, key: key, columns: columns.map(\.name), rules: free)
    return "SELECT count(*) \(found) AND (\(others.differs(row: row, record: record)))"
      + " AND (\(scoped(condition, row: row, record: record))) IS NOT TRUE"
  }

  /// Types without an equality are compared as texts, and texts by their bytes: `Anna` is another value than `ANNA`, whatever a
  /// collation says.
  private func comparable(_ column: PostgresColumn, _ value: String) -> String {
    let bytes = column.collation?.isDeterministic == false ? " COLLATE \"C\"" : ""
    if column.hasEquality { return bytes.isEmpty ? value : "(\(value))\(bytes)" }
    return "(\(value))::text\(bytes)"
  }

  /// Somebody's SQL, in which a name is a column of the row and `excluded` the record.
  func scoped(_ sql: String, row: String, record: String) -> String {
    let own = table.columns.map(\.name.quotedForPostgres)
    let name = (rules.tableName ?? table.name).quotedForPostgres
    let rows =
      "(SELECT \(own.map { "\(row).\($0)" }.joined(separator: ", "))) AS \(name)(\(own.joined(separator: ", ")))"
    // A scope within the other one: a name is looked for in the inner one first, so it is never ambiguous.
    // A comment at the end of the SQL ends with its line.
    let inner = "(SELECT \(sql)\n FROM \(rows))"
    if record == "excluded" { return inner }
    let list = names.map { "\(record).\($0)" }.joined(separator: ", ")
    return "(SELECT \(inner) FROM (SELECT \(list)) AS excluded(\(names.joined(separator: ", "))))"
  }

  // MARK: - Sides of the join

  /// The records, with their values as the table's types and the parts of the key that are expressions.
  func typed(_ key: PostgresIndex, from source: String) -> String {
    let inner =
      "(SELECT r.upsurge_ord, \(typedList(key, "r").joined(separator: ", ")) FROM \(source) AS r)"
    let extra = expressions(key) + (key.predicate.map { ["(\($0)) AS upsurge_meant"] } ?? [])
    return extra.isEmpty
      ? inner
      : "(SELECT *, \(extra.joined(separator: ", ")) FROM \(inner) AS \(table.name.quotedForPostgres))"
  }

  /// The rows of the table that the key is about.
  private func existing(_ key: PostgresIndex) -> String {
    var extra = ["true AS upsurge_found"] + expressions(key)
    // By which rows are found again whose key is an expression.
    if rules.action != .store, key.predicate != nil || key.columns == nil {
      extra += ["tableoid AS upsurge_table", "ctid AS upsurge_place"]
    }
    let filter = key.predicate.map { " WHERE \($0)" } ?? ""
    return "(SELECT \((readColumns(key) + extra).joined(separator: ", ")) FROM \(table.ownRows)\(filter))"
  }

  /// The rows of the table that the key is about, with all columns.
  func wholeRows(_ key: PostgresIndex) -> String {
    let filter = key.predicate.map { " WHERE \($0)" } ?? ""
    return "(SELECT \((["*"] + expressions(key)).joined(separator: ", ")) FROM \(table.ownRows)\(filter))"
  }

  /// What is read of the rows: no more than the user may have the right to.
  private func readColumns(_ key: PostgresIndex) -> [String] {
    if !rules.changes.isEmpty || rules.condition != nil { return ["*"] }
    let asked = Set(columns.map(\.name) + key.parts.compactMap(\.column))
    return table.columns.filter { asked.contains($0.name) }.map(\.name.quotedForPostgres)
  }

  private func expressions(_ key: PostgresIndex) -> [String] {
    key.parts.enumerated().compactMap { index, part in
      part.column == nil ? "\(part.definition) AS upsurge_part_\(index)" : nil
    }
  }

  /// Whether a NULL in the key finds a row: NULLS NOT DISTINCT.
  func mayFindNull(_ key: PostgresIndex) -> Bool {
    key.treatsNullsAsEqual
      && key.parts.contains { part in part.column.map { table.column($0)?.isNotNull != true } ?? true }
  }

  /// What says that texts are compared as the index does, where the column has another collation.
  func collating(_ part: PostgresIndex.Part) -> String {
    guard let collation = part.collation, collation != part.column.flatMap({ table.column($0)?.collation })
    else { return "" }
    return " COLLATE \(collation.quotedName)"
  }

  private func join(_ key: PostgresIndex, bounds: KeyBounds?) -> String {
    let findsNull = mayFindNull(key)
    var terms = key.parts.enumerated().map { index, part in
      let name = part.column?.quotedForPostgres ?? "upsurge_part_\(index)"
      let isSame = "o.\(name) = s.\(name)\(collating(part))"
      return findsNull ? "(\(isSame) OR o.\(name) IS NULL AND s.\(name) IS NULL)" : isSame
    }
    if let bounds { terms.append(bounds.sql(of: key, row: "o")) }
    if key.predicate != nil { terms.append("s.upsurge_meant") }
    return terms.joined(separator: " AND ")
  }
}

extension Range<Int> {
  /// This part of so many records, without an upper bound where it reaches to the last one.
  func unbounded(of count: Int) -> Range<Int> {
    upperBound >= count && self.count > 1 ? lowerBound..<RecordShape.everything.upperBound : self
  }
}
