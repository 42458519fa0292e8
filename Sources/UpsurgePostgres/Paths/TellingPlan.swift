/// The statements that return each row that they write, for a file of changes: see `ToldColumns`.
///
///     WITH m AS (records that differ), w AS (INSERT … RETURNING …) SELECT place, kind, row … UNION ALL …
///
/// What is written is what the statements without it write. As one statement sees the table as it was before, the rows that it changes
/// are there as they were.
struct TellingPlan {
  private let plan: OrderedPlan
  /// Whether records of different keys have nothing to do with one another, so that columns that they lack are no matter.
  private let isDelta: Bool

  init(_ shape: RecordShape, _ capabilities: Capabilities) {
    plan = OrderedPlan(shape, capabilities)
    isDelta = PathChoice.objection(toDelta: shape, capabilities) == nil
  }

  private var shape: RecordShape { plan.shape }

  /// Whether the transactions must be ones of a snapshot (REPEATABLE READ) for the counts to be right.
  var needsSnapshot: Bool { !isDelta && plan.needsSnapshot }

  func isKeyTaken(_ failure: PostgresFailure) -> Bool { isDelta && DeltaPlan(shape).isKeyTaken(failure) }

  /// Stores the records from one `ord` up to another.
  /// - Parameter textColumns: those that are staged as text.
  func statement(
    _ part: Range<Int>, _ bounds: KeyBounds?, textColumns: Set<String>, telling columns: ToldColumns
  ) -> String {
    var plan = plan
    plan.shape.textColumns = textColumns
    if isDelta { return DeltaPlan(plan.shape).statement(part, bounds, telling: columns) }
    guard let key = shape.key else { return plan.statement(part, telling: columns) }
    if shape.rules.action != .store {
      return KeyedStatement(plan.shape, key).statement(part, bounds, telling: columns)
    }
    return plan.statement(part, key, bounds, telling: columns)
  }
}

extension OrderedStore.Telling {
  /// What shows the rows of a table's records.
  init(_ rows: ToldRows, _ shape: RecordShape, _ capabilities: Capabilities) {
    let plan = TellingPlan(shape, capabilities)
    self.init(
      rows: rows,
      statement: { part, bounds, textColumns in
        plan.statement(part, bounds, textColumns: textColumns, telling: rows.columns)
      }, isKeyTaken: plan.isKeyTaken)
  }
}

extension DeltaPlan {
  fileprivate func statement(_ part: Range<Int>, _ bounds: KeyBounds?, telling columns: ToldColumns) -> String
  {
    let keys = shape.key?.returned("upsurge_row") ?? ""
    let insertion = insertion(RecordShape.everything, from: "m")
    var work = [
      "m AS MATERIALIZED (\(selection(part, bounds)))",
      "i AS (\(insertion) RETURNING \(columns.returned()), \(keys))",
    ]
    var told = [
      columns.told(
        "m.upsurge_ord", "\(ToldColumns.Kind.inserted.rawValue)", of: "i",
        "FROM i LEFT JOIN m ON \(key.matches("m", returned: "i", shape))"),
      columns.number("SELECT count(*) FROM m", .found),
    ]
    if let update = update(RecordShape.everything, bounds, from: "m") {
      work.append("u AS (\(update) RETURNING s.upsurge_ord, \(columns.returned()), \(keys))")
      told.append(
        columns.found(
          "u.upsurge_ord", .before, of: "b",
          "FROM u JOIN \(shape.table.ownRows) AS b ON \(key.matches("b", returned: "u", shape))\(key.bounded("b", bounds))"
        ))
      told.append(columns.told("u.upsurge_ord", "\(ToldColumns.Kind.after.rawValue)", of: "u", "FROM u"))
    }
    return "WITH \(work.joined(separator: ", ")) \(ToldColumns.all(told))"
  }
}

extension KeyedStatement {
  fileprivate func statement(_ part: Range<Int>, _ bounds: KeyBounds?, telling columns: ToldColumns) -> String
  {
    let found = shape.found(key, in: part, bounds: bounds)
    guard let work = work(found, returning: "m.upsurge_ord, \(columns.returned())") else {
      return columns.number("SELECT \(missing(found))", .missing)
    }
    var told = [columns.number("SELECT \(missing(found))\(leftOut)", .missing)]
    if let kept = kept(found) { told.append(columns.number("SELECT \(kept)", .kept)) }
    if shape.rules.action == .delete {
      told.append(columns.told("w.upsurge_ord", "\(ToldColumns.Kind.deleted.rawValue)", of: "w", "FROM w"))
    } else {
      told.append(
        columns.found(
          "w.upsurge_ord", .before, of: "upsurge_row",
          "FROM w JOIN m USING (upsurge_ord) JOIN \(shape.table.ownRows) AS upsurge_row ON \(isPlace)\(key.bounded("upsurge_row", bounds))"
        ))
      told.append(columns.told("w.upsurge_ord", "\(ToldColumns.Kind.after.rawValue)", of: "w", "FROM w"))
    }
    return "\(work) \(ToldColumns.all(told))"
  }
}

extension OrderedPlan {
  /// Each record is a new row: the rows come in the order in which the records go.
  fileprivate func statement(_ part: Range<Int>, telling columns: ToldColumns) -> String {
    let records = "FROM \(RecordShape.staging) AS s WHERE \(shape.slice(part))"
    let told = columns.told(
      "upsurge_p.upsurge_ord", "\(ToldColumns.Kind.inserted.rawValue)", of: "upsurge_r",
      "FROM upsurge_r LEFT JOIN upsurge_p USING (upsurge_number)")
    return """
      WITH w AS (\(shape.insertHead)SELECT \(shape.rawValues("s")) \(records) ORDER BY s.upsurge_ord RETURNING \(columns.returned())),
      upsurge_r AS (SELECT row_number() OVER () AS upsurge_number, w.* FROM w),
      upsurge_p AS (SELECT s.upsurge_ord, row_number() OVER (ORDER BY s.upsurge_ord) AS upsurge_number \(records))
      \(ToldColumns.all([told]))
      """
  }

  fileprivate func statement(
    _ part: Range<Int>, _ key: PostgresIndex, _ bounds: KeyBounds?, telling columns: ToldColumns
  ) -> String {
    let found = shape.found(key, in: part, bounds: bounds)
    let test =
      switch insertedTest {
      case .old: ", old.\(returnedKey(key)) IS NULL AS upsurge_is_new"
      case .xmax: ", (upsurge_row.xmax = 0) AS upsurge_is_new"
      case .joined: ""
      }
    let isNew = test.isEmpty ? "coalesce(m.upsurge_fresh, true)" : "w.upsurge_is_new"
    let insert =
      "\(shape.insertHead)SELECT \(shape.values("m")) FROM m ORDER BY m.upsurge_ord \(onConflict(key))"
    let kinds = ToldColumns.Kind.self
    var told = [
      columns.found(
        "upsurge_t.upsurge_ord", .before, of: "b",
        "FROM upsurge_t JOIN \(shape.wholeRows(key)) AS b ON NOT upsurge_t.upsurge_is_told_new"
          + " AND \(key.matches("b", returned: "upsurge_t", shape))\(key.bounded("b", bounds))"
      ),
      columns.told(
        "upsurge_t.upsurge_ord",
        "CASE WHEN upsurge_t.upsurge_is_told_new THEN \(kinds.inserted.rawValue) ELSE \(kinds.after.rawValue) END",
        of: "upsurge_t", "FROM upsurge_t"),
    ]
    if rules.conflict == .update,
      let kept = shape.keptSQL(found + " AND NOT (\(RecordShape.isNew))", row: "o", record: "s")
    {
      told.append(columns.number(kept, .kept))
    }
    if table.hasRowTriggers {
      let new = rules.conflict == .fail ? "m" : "m WHERE upsurge_fresh"
      told.append(
        columns.number(
          "SELECT (SELECT count(*) FROM \(new)) - (SELECT count(*) FROM upsurge_t WHERE upsurge_is_told_new)",
          .missing))
    }
    return """
      WITH m AS MATERIALIZED (SELECT s.*, \(RecordShape.isNew) AS upsurge_fresh \(found)\(shape.filter)),
      w AS (\(insert) RETURNING \(columns.returned()), \(key.returned("upsurge_row"))\(test)),
      upsurge_t AS (SELECT m.upsurge_ord, \(isNew) AS upsurge_is_told_new, w.* FROM w LEFT JOIN m ON \(key.matches("m", returned: "w", shape)))
      \(ToldColumns.all(told))
      """
  }
}

extension PostgresIndex {
  /// The key of a row that a statement writes, as RETURNING takes it.
  fileprivate func returned(_ row: String) -> String {
    parts.enumerated().map { index, part in
      "\(part.column.map { "\(row).\($0.quotedForPostgres)" } ?? part.definition) AS upsurge_k\(index)"
    }.joined(separator: ", ")
  }

  /// SQL for the bounds of the records' keys, so that other rows are not looked at; beginning with AND.
  fileprivate func bounded(_ row: String, _ bounds: KeyBounds?) -> String {
    bounds.map { " AND \($0.sql(of: self, row: row))" } ?? ""
  }

  /// SQL that is true where something has the key of a row that was returned.
  fileprivate func matches(_ name: String, returned row: String, _ shape: RecordShape) -> String {
    parts.enumerated().map { index, part in
      let equality = shape.mayFindNull(self) ? "IS NOT DISTINCT FROM" : "="
      return
        "\(name).\(part.column?.quotedForPostgres ?? "upsurge_part_\(index)") \(equality) \(row).upsurge_k\(index)\(shape.collating(part))"
    }.joined(separator: " AND ")
  }
}
