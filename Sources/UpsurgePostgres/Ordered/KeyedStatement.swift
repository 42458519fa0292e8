/// The statements of records that only change or delete rows that are there. Within one of them no key comes twice.
struct KeyedStatement {
  private let shape: RecordShape
  private let key: PostgresIndex

  init(_ shape: RecordShape, _ key: PostgresIndex) { (self.shape, self.key) = (shape, key) }

  /// - Returns: the statement; it gives one row, as those of `OrderedPlan` do.
  func sql(_ part: Range<Int>, from source: String, bounds: KeyBounds?) -> String {
    let found = shape.found(key, in: part, from: source, bounds: bounds)
    let isNew = RecordShape.isNew
    let missing = "(SELECT count(*) \(found) AND \(isNew))"
    if shape.rules.action == .delete {
      let kept = shape.rules.condition.map { condition in
        "(SELECT count(*) \(found) AND NOT (\(isNew)) AND (\(shape.scoped(condition, row: "o", record: "s"))) IS NOT TRUE)"
      }
      let allowed = shape.rules.condition.map { " AND (\(shape.scoped($0, row: "o", record: "s")))" } ?? ""
      let rows = "SELECT \(rowPlace) \(found) AND NOT (\(isNew))\(allowed)"
      return """
        WITH m AS MATERIALIZED (\(rows)),
        w AS (DELETE FROM \(shape.table.ownRows) AS upsurge_row USING m WHERE \(isPlace) RETURNING 1)
        SELECT 0, 0, \(kept ?? "0"), (SELECT count(*) FROM w), \(missing)\(leftOut)
        """
    }
    let changed = shape.changedColumns
    if changed.isEmpty { return "SELECT 0, 0, 0, 0, \(missing)" }
    let kept = shape.keptSQL(found + " AND NOT (\(isNew))", row: "o", record: "s").map { "(\($0))" }
    let sets = changed.map { "\($0.name.quotedForPostgres) = \(shape.newValue($0, row: "upsurge_row", record: "m"))" }
    let rows = "SELECT \(rowPlace), \(shape.values("s")) \(found) AND NOT (\(isNew)) AND \(shape.differs(row: "o", record: "s"))"
    return """
      WITH m AS MATERIALIZED (\(rows)),
      w AS (UPDATE \(shape.table.ownRows) AS upsurge_row SET \(sets.joined(separator: ", ")) FROM m WHERE \(isPlace) RETURNING 1)
      SELECT 0, (SELECT count(*) FROM w), \(kept ?? "0"), 0, \(missing)\(leftOut)
      """
  }

  /// Records whose row is left out by a trigger, withheld by a policy, or gone meanwhile.
  private var leftOut: String { " + (SELECT count(*) FROM m) - (SELECT count(*) FROM w)" }

  /// What finds a row again: its key, where that is columns, or its place.
  private var rowPlace: String {
    guard let columns = plainColumns else { return "o.upsurge_table, o.upsurge_place" }
    return columns.enumerated().map { "o.\($1.quotedForPostgres) AS upsurge_key_\($0)" }.joined(separator: ", ")
  }

  private var isPlace: String {
    guard let columns = plainColumns else {
      return "upsurge_row.tableoid = m.upsurge_table AND upsurge_row.ctid = m.upsurge_place"
    }
    let equality = key.treatsNullsAsEqual ? "IS NOT DISTINCT FROM" : "="
    return columns.enumerated().map { "upsurge_row.\($1.quotedForPostgres) \(equality) m.upsurge_key_\($0)" }
      .joined(separator: " AND ")
  }

  private var plainColumns: [String]? { key.predicate == nil ? key.columns : nil }
}
