/// The statements of the ordered path: records are stored by one INSERT … ON CONFLICT a segment, in their order.
///
///     WITH w AS (INSERT INTO t … SELECT … LEFT JOIN t … ORDER BY upsurge_ord ON CONFLICT … DO UPDATE … RETURNING …) SELECT counts
///
/// It is right for every table that has the key, whatever else is there: second unique keys, triggers, workers of Citus. A join
/// in front leaves out records whose row says the same: ON CONFLICT would lock those rows, write that down, and take numbers
/// from sequences. Within a statement a key may come once, so the records are cut into segments where one comes again. Records
/// with a NULL in the key are not given to it.
package struct OrderedPlan: Sendable, Equatable {
  package var shape: RecordShape
  let insertedTest: InsertedTest

  /// How a new row is told from one that was there.
  enum InsertedTest: Sendable {
    /// From version 18 on.
    case old
    case xmax
    /// By the join in front: rows of partitions have no system columns for sure. Others must not write meanwhile, so it needs
    /// a snapshot.
    case joined
  }

  /// - Parameters:
  ///   - key: which row a record is about; nil inserts.
  ///   - columns: names that the table has.
  package init(
    _ table: PostgresTable, key: PostgresIndex?, columns names: [String], rules: OrderedRules, capabilities: Capabilities
  ) {
    self.init(RecordShape(table, key: key, columns: names, rules: rules), capabilities)
  }

  package init(_ shape: RecordShape, _ capabilities: Capabilities) {
    self.shape = shape
    // A row that goes to a partition has system columns only where it was made over for it; those of Citus's shards, too.
    // Who may read some columns may not read system columns.
    let readsXmax = capabilities.hasXmax && !shape.table.hasPartitions && shape.table.rights.selects
    insertedTest = capabilities.hasReturningOld ? .old : readsXmax ? .xmax : .joined
  }

  package var table: PostgresTable { shape.table }
  package var key: PostgresIndex? { shape.key }
  package var columns: [PostgresColumn] { shape.columns }
  var rules: OrderedRules { shape.rules }

  /// Whether the transaction must be one of a snapshot (REPEATABLE READ) for the counts to be right.
  package var needsSnapshot: Bool { insertedTest == .joined && key != nil }

  /// The statement as people may read it.
  var shownSQL: String { statement(RecordShape.everything) }

  // MARK: - The statement

  /// Stores the records from one `ord` up to another.
  ///
  /// It gives one row: inserted, updated, how many were not to be changed by the rules' condition, deleted, and how many found no row
  /// or became no new one because of a trigger.
  func statement(_ part: Range<Int>, from source: String = RecordShape.staging, bounds: KeyBounds? = nil) -> String {
    guard let key else {
      return counting(
        "\(shape.insertHead)SELECT \(shape.rawValues("s")) FROM \(source) AS s WHERE \(shape.slice(part))"
          + " ORDER BY s.upsurge_ord RETURNING true AS fresh",
        of: "FROM \(source) AS s WHERE \(shape.slice(part))")
    }
    if rules.action != .store { return KeyedStatement(shape, key).sql(part, from: source, bounds: bounds) }
    let found = shape.found(key, in: part, from: source, bounds: bounds)
    let isNew = RecordShape.isNew
    let kept = rules.conflict != .update ? nil : shape.keptSQL(found + " AND NOT (\(isNew))", row: "o", record: "s")
    if insertedTest == .joined { return joinedStatement(key, found, kept: kept) }
    let test = insertedTest == .old ? "old.\(returnedKey(key)) IS NULL" : "(upsurge_row.xmax = 0)"
    return counting(
      "\(shape.insertHead)SELECT \(shape.values("s")) \(found)\(shape.filter) ORDER BY s.upsurge_ord \(onConflict(key)) RETURNING \(test) AS fresh",
      of: found + (rules.conflict == .fail ? "" : " AND \(isNew)"), kept: kept)
  }

  /// The join says which records are new rows. A trigger may leave rows out, so those that were written are looked up among the
  /// records by their keys then.
  private func joinedStatement(_ key: PostgresIndex, _ found: String, kept: String?) -> String {
    let records = "WITH m AS MATERIALIZED (SELECT s.*, \(RecordShape.isNew) AS upsurge_fresh \(found)\(shape.filter))"
    let insert = "\(shape.insertHead)SELECT \(shape.values("m")) FROM m ORDER BY m.upsurge_ord \(onConflict(key))"
    let (new, writtenCount) = ("FROM m WHERE upsurge_fresh", "(SELECT count(*) FROM w)")
    if !table.hasRowTriggers {
      let inserted = "count(*) FILTER (WHERE upsurge_fresh)"
      return """
        \(records),
        w AS (\(insert) RETURNING 1)
        \(counts(inserted, "\(writtenCount) - \(inserted)", kept: kept, of: new)) FROM m
        """
    }
    let written = key.parts.enumerated().map { "\($1.definition) AS upsurge_key_\($0)" }
    let equality = key.treatsNullsAsEqual ? "IS NOT DISTINCT FROM" : "="
    let isRecord = key.parts.enumerated().map { index, part in
      "m.\(part.column?.quotedForPostgres ?? "upsurge_part_\(index)") \(equality) w.upsurge_key_\(index)\(shape.collating(part))"
    }
    return """
      \(records),
      w AS (\(insert) RETURNING \(written.joined(separator: ", "))),
      u AS (SELECT count(*) AS updated FROM m WHERE NOT upsurge_fresh AND EXISTS (SELECT FROM w WHERE \(isRecord.joined(separator: " AND "))))
      \(counts("\(writtenCount) - updated", "updated", kept: kept, of: new)) FROM u
      """
  }

  private func counting(_ insert: String, of new: String, kept: String? = nil) -> String {
    let (inserted, updated) = ("count(*) FILTER (WHERE fresh)", "count(*) FILTER (WHERE NOT fresh)")
    return """
      WITH w AS (\(insert))
      \(counts(inserted, updated, kept: kept, of: new)) FROM w
      """
  }

  /// The SELECT of what became of the records, without its FROM.
  /// - Parameter new: what the records are from that are to be new rows. A trigger may leave some of them out; where it leaves out a
  ///   row that is there, that is not told from one that it has made say the same.
  private func counts(_ inserted: String, _ updated: String, kept: String?, of new: String) -> String {
    let leftOut = table.hasRowTriggers ? "(SELECT count(*) \(new)) - (\(inserted))" : "0"
    return "SELECT \(inserted), \(updated), \(kept.map { "(\($0))" } ?? "0"), 0, \(leftOut)"
  }

  /// A column that a row of the table always has.
  func returnedKey(_ key: PostgresIndex) -> String {
    (table.primaryKey?.parts.first?.column ?? key.parts.first?.column ?? columns.first { $0.isNotNull }?.name
      ?? "tableoid").quotedForPostgres
  }

  func onConflict(_ key: PostgresIndex) -> String {
    let target = key.parts.map { $0.definition + ($0.column == nil ? "" : shape.collating($0)) }
      .joined(separator: ", ")
    let predicate = key.predicate.map { " WHERE \($0)" } ?? ""
    switch rules.conflict {
    case .fail: return ""
    case .ignore: return "ON CONFLICT (\(target))\(predicate) DO NOTHING"
    case .update:
      let changed = shape.changedColumns
      // Something must be said to change; the filter lets no row come so far.
      if changed.isEmpty { return "ON CONFLICT (\(target))\(predicate) DO NOTHING" }
      let sets = changed.map { "\($0.name.quotedForPostgres) = \(shape.newValue($0, row: "upsurge_row", record: "excluded"))" }
      return "ON CONFLICT (\(target))\(predicate) DO UPDATE SET \(sets.joined(separator: ", "))"
        + " WHERE \(shape.differs(row: "upsurge_row", record: "excluded"))"
    }
  }
}
