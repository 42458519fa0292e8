import UpsurgeRecords
import UpsurgeSQLite

extension UpsertPlan {
  /// The statement for records that speak of every column.
  package func sql(rowCount: Int = 1) throws(UpsurgeError) -> String {
    try insertSQL(shape: SlotShape(full: slots.count), rowCount: rowCount, .parameters)
  }

  /// The slots that a shape has, in slot order: parameters go by their place here.
  package func present(_ shape: SlotShape) -> [Slot] {
    slots.indices.filter { shape.contains($0) }.map { slots[$0] }
  }

  /// The statement that stores `rowCount` records of one shape.
  ///
  ///     INSERT INTO "t" ("k", "v") VALUES (?, ?), (?, ?)
  ///     ON CONFLICT ("k") DO UPDATE SET "v" = excluded."v"
  ///     WHERE ("t"."v" IS NOT excluded."v") AND CAST(excluded."k" AS TEXT) = '' COLLATE upsurge_note_update
  ///
  /// - Parameter flag: a condition under which the record speaks of a column, by column; nil: it does.
  package func insertSQL(
    shape: SlotShape, rowCount: Int, _ spelling: Spelling, flag: (Int) -> String? = { _ in nil }
  ) throws(UpsurgeError) -> String {
    let present = present(shape)
    let filling = try Filling(self, present: present, spelling)
    let table = try SQLName.quote(schema.name)
    // In a table named "excluded", excluded.v would be the stored value, not the new one.
    let needsAlias = SQLName.isSame(schema.name, "excluded")
    let row = needsAlias ? "\"upsurge_row\"" : table
    let verb =
      "INSERT\(override(rowCount: rowCount, spelling)) INTO \(table)\(needsAlias ? " AS \(row)" : "")"
    if present.isEmpty && filling.isEmpty {
      // DEFAULT VALUES takes no ON CONFLICT.
      guard let any = schema.columns.firstIndex(where: { $0.generation == .none && !$0.isHidden }),
        mode != .insert
      else { return "\(verb) DEFAULT VALUES" }
      let column = try SQLName.quote(schema.columns[any].name)
      return
        "\(verb) (\(column)) VALUES (\(standard(any)))\(try conflictSQL(present, row: row, spelling, flag))"
    }
    let overrides = overridesClauses
    let names = try SQLName.quoteList(
      present.map { schema.columns[$0.columnIndex].name } + filling.columns.map { schema.columns[$0].name })
    var rows: [String] = []
    for row in 0..<rowCount {
      var values: [String] = []
      for (place, slot) in present.enumerated() {
        values.append(filling.values[slot.columnIndex] ?? value(slot, spelling.value(row, place), overrides))
      }
      values += filling.columns.map { filling.values[$0] ?? "NULL" }
      rows.append(values.joined(separator: ", "))
    }
    let source =
      filling.isEmpty
      ? "VALUES \(rows.map { "(\($0))" }.joined(separator: ", "))" : "SELECT \(rows[0]) \(filling.source)"
    return "\(verb) (\(names)) \(source)\(try conflictSQL(present, row: row, spelling, flag))"
  }

  /// An ON CONFLICT clause on a key of the table must not rule: REPLACE would delete rows. Nor may a NOT NULL ON CONFLICT
  /// ROLLBACK end the transaction, or FAIL keep what a trigger did for the row. The statement's own word overrides them all.
  var overridesClauses: Bool {
    schema.keys.contains { $0.conflictClause != nil }
      || schema.columns.contains { $0.notNullConflict == .rollback || $0.notNullConflict == .fail }
  }

  private func override(rowCount: Int, _ spelling: Spelling) -> String {
    if overridesClauses { return " OR ABORT" }
    return spelling.isCounted && rowCount > 1 && form == .manyRowsOrFail ? " OR FAIL" : ""
  }

  /// OR ABORT overrides NOT NULL ON CONFLICT REPLACE too, so the default is put in here.
  private func value(_ slot: Slot, _ value: String, _ overrides: Bool) -> String {
    let column = schema.columns[slot.columnIndex]
    if overrides, column.notNullConflict == .replace, let standard = column.defaultExpression {
      return "ifnull(\(value), \(standard))"
    }
    return value
  }

  private func conflictSQL(
    _ present: [Slot], row: String, _ spelling: Spelling, _ flag: (Int) -> String?
  ) throws(UpsurgeError) -> String {
    if mode == .insert || schema.kind != .table { return "" }
    if mode == .ignore && (targets.isEmpty || !hasOtherKey) { return "\nON CONFLICT DO NOTHING" }
    if looksBeforeInsert { return "" }
    var sql = ""
    if mode == .ignore {
      for key in targets { sql += "\n\(try conflict(on: key)) DO NOTHING" }
      return sql
    }
    let columns = Set(present.map(\.columnIndex))
    for key in targets { sql += try updateClause(key, present, columns, row: row, spelling, flag) }
    return sql
  }

  private func updateClause(
    _ key: TableSchema.Key, _ present: [Slot], _ presentColumns: Set<Int>, row: String, _ spelling: Spelling,
    _ flag: (Int) -> String?
  ) throws(UpsurgeError) -> String {
    var names: [Int: String] = [:]
    for index in schema.columns.indices {
      names[index] = "excluded.\(try SQLName.quote(schema.columns[index].name))"
    }
    let merge = MergeSQL(plan: self, row: row) { index in
      // What fills a column that the record does not have is the row's, not the record's.
      presentColumns.contains(index) ? names[index] ?? "NULL" : standard(index)
    }
    let update = try merge.update(present, matching: key, flag: flag)
    let start = "\n\(try conflict(on: key))"
    let subject = try noteSubject(key) { names[$0] ?? "NULL" }
    if update.assignments.isEmpty {
      if !mayIgnore || !spelling.isCounted { return "\(start) DO NOTHING" }
      let same = try SQLName.quote(schema.columns[slots.first?.columnIndex ?? 0].name)
      return "\(start) DO UPDATE SET \(same) = \(row).\(same)\nWHERE NOT \(Note.conflict.sql(subject))"
    }
    let set = "\(start) DO UPDATE SET \(update.assignments.joined(separator: ", "))\nWHERE "
    let conditions = update.conditions.joined(separator: " AND ")
    var terms = ["(\(MergeSQL.anyOf(update.differences[...])))"]
    if !spelling.isCounted {
      return set + (terms + update.conditions).joined(separator: " AND ")
    }
    if mayIgnore { terms.insert(Note.conflict.sql(subject), at: 0) }
    if conditions.isEmpty {
      return set + (terms + [Note.update.sql(subject)]).joined(separator: " AND ")
    }
    // In nested CASEs: a condition that is always false would take the other terms of an AND with it.
    terms.append(Note.difference.sql(subject))
    let counted = "CASE WHEN \(conditions) THEN \(Note.update.sql(subject)) ELSE 0 END"
    return set + "CASE WHEN \(terms.joined(separator: " AND ")) THEN \(counted) ELSE 0 END"
  }

  /// Text of the record that is never NULL where the key conflicts and that SQLite cannot take for a constant.
  func noteSubject(
    _ key: TableSchema.Key, _ column: (Int) throws(UpsurgeError) -> String
  ) throws(UpsurgeError) -> String {
    if let first = key.parts.first?.column, let index = schema.columnIndex(first) {
      return "CAST(\(try column(index)) AS TEXT)"
    }
    return "CASE WHEN \(try column(key.columnIndexes(in: schema).first ?? 0)) IS NULL THEN 'n' ELSE 'v' END"
  }

  /// `ON CONFLICT ("k") WHERE …`
  private func conflict(on key: TableSchema.Key) throws(UpsurgeError) -> String {
    "ON CONFLICT (\(try targetTerms(key)))\(key.predicate.map { " WHERE \($0)" } ?? "")"
  }

  private func targetTerms(_ key: TableSchema.Key) throws(UpsurgeError) -> String {
    var target = ""
    for part in key.parts { target += (target.isEmpty ? "" : ", ") + (try targetTerm(part, of: key)) }
    return target
  }

  /// A key column; with its collation where another key of the table may differ from it by nothing else.
  private func targetTerm(
    _ part: TableSchema.Key.Part, of key: TableSchema.Key
  ) throws(UpsurgeError) -> String {
    guard let column = part.column, let index = schema.columnIndex(column) else {
      return part.expression ?? ""
    }
    let name = try SQLName.quote(column)
    if key.isRowidAlias || SQLName.isSame(part.collation, schema.columns[index].collation) { return name }
    return "\(name) COLLATE \(try SQLName.quote(part.collation))"
  }
}
