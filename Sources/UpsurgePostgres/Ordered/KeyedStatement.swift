/// The statements of records that only change or delete rows that are there. Within one of them no key comes twice.
struct KeyedStatement {
  let shape: RecordShape
  let key: PostgresIndex

  init(_ shape: RecordShape, _ key: PostgresIndex) { (self.shape, self.key) = (shape, key) }

  /// - Returns: the statement; it gives one row, as those of `OrderedPlan` do.
  func sql(_ part: Range<Int>, from source: String, bounds: KeyBounds?) -> String {
    let found = shape.found(key, in: part, from: source, bounds: bounds)
    let (missing, kept) = (missing(found), kept(found) ?? "0")
    guard let work = work(found, returning: "1") else { return "SELECT 0, 0, 0, 0, \(missing)" }
    let written = "(SELECT count(*) FROM w)"
    let counts = shape.rules.action == .delete ? "0, 0, \(kept), \(written)" : "0, \(written), \(kept), 0"
    return "\(work)\nSELECT \(counts), \(missing)\(leftOut)"
  }

  /// How many records find no row.
  func missing(_ found: String) -> String { "(SELECT count(*) \(found) AND \(RecordShape.isNew))" }

  /// How many records find a row that the rules' condition keeps as it is; nil without a condition.
  func kept(_ found: String) -> String? {
    let isThere = "\(found) AND NOT (\(RecordShape.isNew))"
    if shape.rules.action != .delete {
      return shape.keptSQL(isThere, row: "o", record: "s").map { "(\($0))" }
    }
    return shape.rules.condition.map { condition in
      "(SELECT count(*) \(isThere) AND (\(shape.scoped(condition, row: "o", record: "s"))) IS NOT TRUE)"
    }
  }

  /// The beginning of the statement: `m` has the records that are to write, and `w` the rows that were written.
  /// - Returns: nil where no row can change.
  func work(_ found: String, returning list: String) -> String? {
    let isThere = "\(found) AND NOT (\(RecordShape.isNew))"
    let place = "s.upsurge_ord, \(rowPlace)"
    if shape.rules.action == .delete {
      let allowed = shape.rules.condition.map { " AND (\(shape.scoped($0, row: "o", record: "s")))" } ?? ""
      return """
        WITH m AS MATERIALIZED (SELECT \(place) \(isThere)\(allowed)),
        w AS (DELETE FROM \(shape.table.ownRows) AS upsurge_row USING m WHERE \(isPlace) RETURNING \(list))
        """
    }
    let changed = shape.changedColumns
    if changed.isEmpty { return nil }
    let sets = changed.map {
      "\($0.name.quotedForPostgres) = \(shape.newValue($0, row: "upsurge_row", record: "m"))"
    }
    let rows = "SELECT \(place), \(shape.values("s")) \(isThere) AND \(shape.differs(row: "o", record: "s"))"
    return """
      WITH m AS MATERIALIZED (\(rows)),
      w AS (UPDATE \(shape.table.ownRows) AS upsurge_row SET \(sets.joined(separator: ", ")) FROM m WHERE \(isPlace) RETURNING \(list))
      """
  }

  /// Records whose row is left out by a trigger, withheld by a policy, or gone meanwhile.
  var leftOut: String { " + (SELECT count(*) FROM m) - (SELECT count(*) FROM w)" }

  /// What finds a row again: its key, where that is columns, or its place.
  var rowPlace: String {
    guard let columns = plainColumns else { return "o.upsurge_table, o.upsurge_place" }
    return columns.enumerated().map { "o.\($1.quotedForPostgres) AS upsurge_key_\($0)" }.joined(
      separator: ", ")
  }

  var isPlace: String {
    guard let columns = plainColumns else {
      return "upsurge_row.tableoid = m.upsurge_table AND upsurge_row.ctid = m.upsurge_place"
    }
    let equality = key.treatsNullsAsEqual ? "IS NOT DISTINCT FROM" : "="
    return columns.enumerated().map { "upsurge_row.\($1.quotedForPostgres) \(equality) m.upsurge_key_\($0)" }
      .joined(separator: " AND ")
  }

  private var plainColumns: [String]? { key.predicate == nil ? key.columns : nil }
}
