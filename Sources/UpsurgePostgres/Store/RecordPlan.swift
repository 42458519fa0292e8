import Upsurge
import UpsurgeRecords

/// What becomes of records in a table that is there: their columns, their key and their rules, by PostgreSQL's words.
struct RecordPlan {
  let table: TargetTable
  let found: PostgresTable
  let key: PostgresIndex?

  /// - Parameter found: the table as it is now.
  init(_ table: TargetTable, found: PostgresTable) {
    self.table = table
    self.found = found
    switch table.key {
    case .none: key = nil
    case .index(let index): key = found.uniqueIndexes.first { $0.name == index.name } ?? index
    case .future(let columns):
      key =
        found.uniqueIndexes.first { index in index.columns.map { Set($0) } == Set(columns) }
        ?? table.making?.futureKey(of: found)
    }
  }

  /// The column that a slot of the records is for; nil where nothing is written of it.
  func column(of target: ColumnTarget) -> PostgresColumn? {
    guard let column = found.columnLike(target.name), column.isWritable else { return nil }
    return column
  }

  /// What records are that have these columns.
  func shape(of names: [String], isDelete: Bool = false) -> RecordShape {
    let deletes = isDelete || table.mode == .delete
    let names = deletes ? names.filter(isAskedByDeletes) : names
    return RecordShape(found, key: key, columns: names, rules: rules(of: names, isDelete: deletes))
  }

  /// What records of a kind are, and the slot of each of their columns.
  /// - Parameter targets: the columns of the records, in slot order.
  func fields(
    of targets: [ColumnTarget], as kind: RecordGroups.Kind
  ) -> (shape: RecordShape, slots: [Int]) {
    var (names, slots): ([String], [Int]) = ([], [])
    for (slot, target) in targets.enumerated() where !kind.lacks(slot) {
      guard let column = column(of: target) else { continue }
      names.append(column.name)
      slots.append(slot)
    }
    let shape = shape(of: names, isDelete: kind.isDelete)
    return (shape, shape.columns.map { column in slots[names.firstIndex(of: column.name) ?? 0] })
  }

  /// What records are by the user's SQL alone: brackets around it, and what is added to it, would hide that it is not one expression.
  func shapeOfGivenSQL(for names: [String]) -> RecordShape {
    let shape = shape(of: names)
    var rules = shape.rules
    if rules.action != .delete { rules.condition = table.given.merge.condition }
    return RecordShape(found, key: key, columns: shape.columns.map(\.name), rules: rules)
  }

  /// A delete is about its key, and the column that says whether it is too old.
  private func isAskedByDeletes(_ name: String) -> Bool {
    let newer = table.given.merge.newer?.column
    return key?.parts.contains { $0.column == name || $0.operands.contains(name) } ?? false
      || key?.predicateColumns.contains(name) ?? false
      || newer.map { SQLName.isSame($0, name) } ?? false
  }

  // MARK: - Rules

  private func rules(of names: [String], isDelete: Bool) -> OrderedRules {
    var rules = OrderedRules(
      table.mode == .insert ? .fail : table.mode == .ignore ? .ignore : .update,
      changes: isDelete ? [:] : changes(of: names),
      condition: condition(names, isDelete: isDelete))
    rules.action = isDelete ? .delete : table.mode == .update ? .update : .store
    rules.tableName = table.making?.name
    return rules
  }

  /// The column that marks rows as gone; nil without one, and where it cannot be one, which the sweep says.
  private var mark: (column: String, mark: RowMark)? {
    guard let name = table.given.softColumn, let column = found.columnLike(name),
      let mark = try? RowMark(name, in: found, key: key?.columns ?? [])
    else { return nil }
    return (column.name, mark)
  }

  private func changes(of names: [String]) -> [String: OrderedRules.Change] {
    let merge = table.given.merge
    var changes: [String: OrderedRules.Change] = [:]
    // A row that was marked as gone, and that a record is about, is there again.
    if let mark { changes[mark.column] = .expression("(\(mark.mark.kept))") }
    for name in names {
      let own = merge.columns.first { SQLName.isSame($0.key, name) }?.value
      if own == .along { changes[name] = .along }
      if let sql = Self.sql(own ?? merge.rule, name) { changes[name] = .expression(sql) }
    }
    let own = Set(names)
    for case (let name, .expression(let sql)) in merge.columns {
      guard let column = found.columnLike(name), !own.contains(column.name), column.isWritable else {
        continue
      }
      // Where the record lacks what the SQL asks of it, the row's value stays.
      if Self.asked(by: sql).allSatisfy({ name in names.contains { SQLName.isSame($0, name) } }) {
        changes[column.name] = .expression(sql)
      }
    }
    return changes
  }

  /// The columns of the record that SQL speaks of.
  private static func asked(by sql: String) -> [String] {
    sql.lowercased().split(separator: "excluded.", omittingEmptySubsequences: false).dropFirst().map { rest in
      if rest.hasPrefix("\"") { return String(rest.dropFirst().prefix { $0 != "\"" }) }
      return String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
  }

  /// The value that a column takes; nil for the record's own.
  private static func sql(_ rule: MergeRule, _ name: String) -> String? {
    let (row, record) = (name.quotedForPostgres, "excluded.\(name.quotedForPostgres)")
    switch rule {
    case .replace, .along: return nil
    case .coalesce: return "coalesce(\(record), \(row))"
    case .keep: return "coalesce(\(row), \(record))"
    case .min: return "least(\(row), \(record))"
    case .max: return "greatest(\(row), \(record))"
    case .sum: return "coalesce(\(row) + \(record), \(row), \(record))"
    case .expression(let sql): return sql
    }
  }

  private func condition(_ names: [String], isDelete: Bool) -> String? {
    let merge = table.given.merge
    var terms: [String] = []
    if let newer = merge.newer, let column = found.columnLike(newer.column) {
      let row = column.name.quotedForPostgres
      if names.contains(column.name) {
        let test = "excluded.\(row) \(newer.isStrict ? ">" : ">=") \(row)"
        // NULL is older than anything, and as old as NULL.
        let old = newer.isStrict ? "\(row) IS NULL AND excluded.\(row) IS NOT NULL" : "\(row) IS NULL"
        terms.append("(\(test) OR \(old))")
      } else {
        terms.append(newer.isStrict ? "false" : "\(row) IS NULL")
      }
    }
    // A comment at its end ends with its line.
    if !isDelete, let condition = merge.condition { terms.append("(\(condition)\n)") }
    return terms.isEmpty ? nil : terms.joined(separator: " AND ")
  }
}
