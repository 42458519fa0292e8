import UpsurgeRecords
import UpsurgeSQLite

/// The SQL of a plan's merge rules: what is set, and when.
///
///     replace    excluded."v"
///     coalesce   CASE WHEN excluded."v" IS NULL THEN "t"."v" ELSE excluded."v" END
///     min        CASE WHEN "t"."v" IS NULL OR excluded."v" < "t"."v" THEN excluded."v" ELSE "t"."v" END
///
/// CASE and not `coalesce()` or `min()`: SQLite takes every function for one that may fail (see `WriteNotes`).
struct MergeSQL {
  let plan: UpsertPlan
  /// The row as SQL names it: `"t"`.
  let row: String
  /// A column of the record as SQL: `excluded."v"`, a parameter, or its default where the record lacks it.
  let record: (_ columnIndex: Int) -> String

  /// `SET` and its condition for the slots that a record has.
  struct Update {
    /// `"v" = excluded."v"`, by column name; empty where there is nothing to set.
    var assignments: [String] = []
    /// The columns that they set.
    var columns: [String] = []
    /// Of these one holds when the row would become another one.
    var differences: [String] = []
    /// What must hold besides; empty for none.
    var conditions: [String] = []
  }

  /// - Parameters:
  ///   - key: the key by which the row was found; its columns are not set.
  ///   - flag: as `insertSQL` has it.
  func update(
    _ present: [UpsertPlan.Slot], matching key: TableSchema.Key, flag: (Int) -> String? = { _ in nil }
  ) throws(UpsurgeError) -> Update {
    var update = Update()
    let columns = Set(present.map(\.columnIndex))
    for slot in plan.slots where !plan.isKept(slot.columnIndex, matching: key) {
      if !columns.contains(slot.columnIndex), !slot.rule.isExpression { continue }
      try add(slot.columnIndex, slot.rule, flag: flag(slot.columnIndex), to: &update)
    }
    for assignment in plan.assignments where !plan.isKept(assignment.columnIndex, matching: key) {
      try add(assignment.columnIndex, .expression(assignment.expression), flag: nil, to: &update)
    }
    // Columns that go along with others change no row by themselves.
    if update.differences.isEmpty { (update.assignments, update.columns) = ([], []) }
    for key in plan.schema.foreignKeys where SQLName.isSame(key.parentTable, plan.schema.name) {
      try setAlong(key, in: &update)
    }
    if let newer = try newerCondition(present) { update.conditions.append(newer) }
    if let condition = plan.rules.merge.condition { update.conditions.append("(\(try free(condition)))") }
    return update
  }

  /// Sets the columns of a reference of the table to itself as they are, where the columns that it refers to are set. For a
  /// row that refers to itself, SQLite 3.40 else counts one open reference too few. Then another one that is open is committed.
  private func setAlong(_ key: TableSchema.ForeignKey, in update: inout Update) throws(UpsurgeError) {
    let set = update.columns
    let isSet = { (column: String) in set.contains { SQLName.isSame($0, column) } }
    guard key.referredColumns.contains(where: isSet) else { return }
    for column in key.columns where !isSet(column) {
      guard let index = plan.schema.columnIndex(column) else { continue }
      let name = try SQLName.quote(plan.schema.columns[index].name)
      update.assignments.append("\(name) = \(row).\(name)")
      update.columns.append(column)
    }
  }

  /// The condition under which the record is not older than the row; nil when the plan does not ask.
  func newerCondition(_ present: [UpsertPlan.Slot]) throws(UpsurgeError) -> String? {
    guard let column = plan.newerColumn, let newer = plan.rules.merge.newer else { return nil }
    let old = try stored(column)
    // A record without the column counts as NULL, whatever the column's default.
    guard present.contains(where: { $0.columnIndex == column }) else {
      return newer.isStrict ? "0" : "(\(old) IS NULL)"
    }
    let new = record(column)
    return newer.isStrict
      ? "(\(new) > \(old) OR (\(old) IS NULL AND \(new) IS NOT NULL))"
      : "(\(new) >= \(old) OR \(old) IS NULL)"
  }

  private func add(
    _ column: Int, _ rule: MergeRule, flag: String?, to update: inout Update
  ) throws(UpsurgeError) {
    let unwrapped = try value(column, rule)
    var value = unwrapped
    let schemaColumn = plan.schema.columns[column]
    if schemaColumn.notNullConflict == .replace, let standard = schemaColumn.defaultExpression {
      // As SQLite will store it; the difference must know.
      value = "CASE WHEN \(value) IS NULL THEN (\(standard)) ELSE \(value) END"
    }
    let differences =
      value == unwrapped || rule == .along
      ? try differences(column, rule, value) : try difference(column, from: value)
    if let flag {
      value = "CASE WHEN \(flag) THEN \(value) ELSE \(try stored(column)) END"
      if !differences.isEmpty {
        update.differences.append("(\(flag) AND (\(differences.joined(separator: " OR "))))")
      }
    } else {
      update.differences += differences
    }
    update.assignments.append("\(try SQLName.quote(plan.schema.columns[column].name)) = \(value)")
    update.columns.append(schemaColumn.name)
  }

  private func stored(_ column: Int) throws(UpsurgeError) -> String {
    "\(row).\(try SQLName.quote(plan.schema.columns[column].name))"
  }

  private func value(_ column: Int, _ rule: MergeRule) throws(UpsurgeError) -> String {
    let (old, new) = (try stored(column), record(column))
    switch rule {
    case .replace, .along: return new
    case .coalesce: return "CASE WHEN \(new) IS NULL THEN \(old) ELSE \(new) END"
    case .keep: return "CASE WHEN \(old) IS NULL THEN \(new) ELSE \(old) END"
    case .min: return "CASE WHEN \(old) IS NULL OR \(new) < \(old) THEN \(new) ELSE \(old) END"
    case .max: return "CASE WHEN \(old) IS NULL OR \(new) > \(old) THEN \(new) ELSE \(old) END"
    case .sum:
      return "CASE WHEN \(new) IS NULL THEN \(old) WHEN \(old) IS NULL THEN \(new) ELSE \(old) + \(new) END"
    case .expression(let sql): return "+(\(try free(sql)))"  // The sign takes a column's affinity away.
    }
  }

  /// Free SQL with the record's values for `excluded.v`.
  private func free(_ sql: String) throws(UpsurgeError) -> String {
    let schema = plan.schema
    for (token, next) in zip(SQLFragment(sql).tokens, SQLFragment(sql).tokens.dropFirst(2))
    where token.isName && SQLName.isSame(token.text, "excluded") && schema.columnIndex(next.text) == nil {
      throw UpsurgeError(.usage, "excluded.\(next.text.escapedForTerminal) is no column of the table")
    }
    return SQLFragment(sql).replacingExcluded { name in
      schema.columnIndex(name).map(stored(ofRecord:)) ?? "NULL"
    }
  }

  /// A column of the record as `excluded` has it: an integer for a REAL column is a REAL, `excluded.v / 2` is 1.5.
  private func stored(ofRecord column: Int) -> String {
    let value = record(column)
    if plan.schema.columns[column].affinity != .real || value == "NULL" || value.hasPrefix("excluded.") {
      return value
    }
    return "CASE WHEN typeof(\(value)) = 'integer' THEN CAST(\(value) AS REAL) ELSE \(value) END"
  }

  /// The conditions of which one holds when a rule's value would change the row. They take fewer words than to compare the
  /// row with that value: a wide table has many of them.
  private func differences(
    _ column: Int, _ rule: MergeRule, _ value: String
  ) throws(UpsurgeError) -> [String] {
    let new = record(column)
    switch rule {
    case .coalesce:
      let changes = try difference(column, from: new).joined(separator: " OR ")
      return ["(\(new) IS NOT NULL AND (\(changes)))"]
    case .along: return []
    // SQLite knows that a NOT NULL column is never NULL: such a condition would take those that count with it.
    case .replace, .keep, .min, .max, .sum, .expression: return try difference(column, from: value)
    }
  }

  /// The conditions of which one holds when the stored value would become another one. A collation must not hide a
  /// change of spelling, and where the column converts nothing, 1 and 1.0 compare equal but are not the same.
  private func difference(_ index: Int, from value: String) throws(UpsurgeError) -> [String] {
    let column = plan.schema.columns[index]
    let old = try stored(index)
    let collate = SQLName.isSame(column.collation, "BINARY") ? "" : " COLLATE BINARY"
    let condition = "\(old)\(collate) IS NOT \(value)"
    if column.affinity != .none { return [condition] }
    // Not typeof(): a function would cost a statement journal (see WriteNotes).
    return [condition, "CAST(\(old) AS TEXT) IS NOT CAST(\(value) AS TEXT)"]
  }

  /// The terms joined by OR. Without parentheses each OR is one deeper than the one before, and SQLite takes no
  /// expression that is deeper than 1,000: many are halved until few are left.
  static func anyOf(_ terms: ArraySlice<String>) -> String {
    if terms.count <= 8 { return terms.joined(separator: " OR ") }
    let middle = terms.startIndex + terms.count / 2
    return "(\(anyOf(terms[..<middle]))) OR (\(anyOf(terms[middle...])))"
  }
}

extension MergeRule {
  package var isExpression: Bool { if case .expression = self { true } else { false } }
}
