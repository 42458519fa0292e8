import UpsurgeRecords

extension UpsertPlan {
  /// The statement for records that speak of every column.
  package func sql(rowCount: Int = 1) throws(UpsurgeError) -> String {
    try sql(shape: SlotShape(full: slots.count), rowCount: rowCount)
  }

  /// The statement that stores `rowCount` records of one shape; parameters in row and slot order.
  ///
  ///     INSERT INTO "t" ("k", "v") VALUES (?, ?), (?, ?)
  ///     ON CONFLICT ("k") DO UPDATE SET "v" = excluded."v"
  ///     WHERE ("t"."v" IS NOT excluded."v") AND CAST(excluded."k" AS TEXT) = '' COLLATE upsurge_note_update
  /// - Parameter isPlain: whether the terms that only count are left out, for programs without our collations.
  func sql(shape: SlotShape, rowCount: Int, isPlain: Bool = false) throws(UpsurgeError) -> String {
    let present = slots.indices.filter { shape.contains($0) }.map { slots[$0] }
    let table = try SQLName.quote(schema.name)
    // In a table named "excluded", excluded.v would be the stored value, not the new one.
    let needsAlias = SQLName.isSame(schema.name, "excluded")
    let row = needsAlias ? "\"upsurge_row\"" : table
    let verb = "INSERT\(override(rowCount: rowCount)) INTO \(table)\(needsAlias ? " AS \(row)" : "")"
    if present.isEmpty { return "\(verb) DEFAULT VALUES" }
    let names = try SQLName.quoteList(present.map { schema.columns[$0.columnIndex].name })
    let values = "(\(present.map(placeholder).joined(separator: ", ")))"
    let rows = Array(repeating: values, count: rowCount).joined(separator: ", ")
    return "\(verb) (\(names)) VALUES \(rows)\(try conflictSQL(present, table: row, isPlain: isPlain))"
  }

  /// An ON CONFLICT clause on a key of the table must not rule (REPLACE would delete rows), nor may a NOT
  /// NULL ON CONFLICT ROLLBACK end the transaction: the statement's own word overrides them all.
  private var overridesClauses: Bool {
    schema.keys.contains { $0.conflictClause != nil }
      || schema.columns.contains { $0.notNullConflict == .rollback }
  }

  private func override(rowCount: Int) -> String {
    if overridesClauses { return " OR ABORT" }
    return rowCount > 1 && form == .manyRowsOrFail ? " OR FAIL" : ""
  }

  /// OR ABORT overrides NOT NULL ON CONFLICT REPLACE too, so the default is put in here.
  private func placeholder(_ slot: Slot) -> String {
    let column = schema.columns[slot.columnIndex]
    if overridesClauses, column.notNullConflict == .replace, let value = column.defaultExpression {
      return "ifnull(?, \(value))"
    }
    return "?"
  }

  private func conflictSQL(
    _ present: [Slot], table: String, isPlain: Bool
  ) throws(UpsurgeError) -> String {
    if mode == .insert || schema.kind != .table { return "" }
    if mode == .ignore { return "\nON CONFLICT DO NOTHING" }
    guard let key else { return "" }
    var target = ""
    for part in key.parts {
      target += (target.isEmpty ? "" : ", ") + (try targetTerm(part))
    }
    let first = try SQLName.quote(key.columns?.first ?? "")
    let note = "CAST(excluded.\(first) AS TEXT) = '' COLLATE"
    let changed = present.filter { !$0.isKey }.map { schema.columns[$0.columnIndex] }
    if changed.isEmpty {
      if !mayIgnore || isPlain { return "\nON CONFLICT (\(target)) DO NOTHING" }
      return
        "\nON CONFLICT (\(target)) DO UPDATE SET \(first) = \(first)\nWHERE NOT \(note) upsurge_note_conflict"
    }
    var assignments = ""
    var distinct: [String] = []
    for column in changed {
      let name = try SQLName.quote(column.name)
      assignments += (assignments.isEmpty ? "" : ", ") + "\(name) = excluded.\(name)"
      distinct += isDistinct(column, name: name, table: table)
    }
    if isPlain {
      return "\nON CONFLICT (\(target)) DO UPDATE SET \(assignments)\nWHERE \(Self.anyOf(distinct[...]))"
    }
    let noted = mayIgnore ? "\(note) upsurge_note_conflict AND " : ""
    return """

      ON CONFLICT (\(target)) DO UPDATE SET \(assignments)
      WHERE \(noted)(\(Self.anyOf(distinct[...]))) AND \(note) upsurge_note_update
      """
  }

  /// A key column; with its collation where another key of the table may differ from it by nothing else.
  private func targetTerm(_ part: TableSchema.Key.Part) throws(UpsurgeError) -> String {
    guard let column = part.column, let index = schema.columnIndex(column) else { return "" }
    let name = try SQLName.quote(column)
    if key?.isRowidAlias == true || SQLName.isSame(part.collation, schema.columns[index].collation) {
      return name
    }
    return "\(name) COLLATE \(try SQLName.quote(part.collation))"
  }

  /// The terms joined by OR. Without parentheses each OR is one deeper than the one before, and SQLite takes no
  /// expression that is deeper than 1,000: many are halved until few are left.
  private static func anyOf(_ terms: ArraySlice<String>) -> String {
    if terms.count <= 8 { return terms.joined(separator: " OR ") }
    let middle = terms.startIndex + terms.count / 2
    return "(\(anyOf(terms[..<middle]))) OR (\(anyOf(terms[middle...])))"
  }

  /// The conditions of which one holds when the stored value is another one. A collation must not hide a change of spelling, and
  /// where the column converts nothing, 1 and 1.0 compare equal but are not the same.
  private func isDistinct(_ column: TableSchema.Column, name: String, table: String) -> [String] {
    let collate = SQLName.isSame(column.collation, "BINARY") ? "" : " COLLATE BINARY"
    let condition = "\(table).\(name)\(collate) IS NOT excluded.\(name)"
    if column.affinity != .none { return [condition] }
    // Not typeof(): a function would cost a statement journal (see WriteNotes).
    return [condition, "CAST(\(table).\(name) AS TEXT) IS NOT CAST(excluded.\(name) AS TEXT)"]
  }
}
