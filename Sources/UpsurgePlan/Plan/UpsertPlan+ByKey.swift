import UpsurgeRecords
import UpsurgeSQLite

/// Statements that look the row up by key: for modes `update` and `delete`, tombstones, and for views and virtual
/// tables, which know no ON CONFLICT.
///
/// The conditions that count stand in nested CASEs, so that SQLite can only ask them in this order:
///
///     UPDATE "t" SET "v" = ?2 WHERE "t"."k" = ?1 AND
///       CASE WHEN "t"."k" = ?1 AND note_conflict THEN
///         CASE WHEN ("t"."v" IS NOT ?2) AND note_difference AND (…) THEN note_update ELSE 0 END ELSE 0 END
extension UpsertPlan {
  /// The condition under which a row is the one that a record is about.
  func lookUp(_ present: [Slot], row: Int, _ spelling: Spelling) throws(UpsurgeError) -> String {
    var conditions: [String] = []
    for key in lookUpKeys { conditions.append(try lookUp(key, present, row: row, spelling)) }
    return conditions.count == 1 ? conditions[0] : conditions.map { "(\($0))" }.joined(separator: " OR ")
  }

  /// The columns that name one row: -1 for the rowid, or those of the primary key.
  package var identityColumns: [Int] {
    if !schema.isWithoutRowid { return [-1] }
    return schema.primaryKeyColumns.compactMap { schema.columnIndex($0) }
  }

  /// `SELECT` of the row that a record is about; of several, that of the first target that matches.
  /// - Parameter columns: indexes into `schema.columns`, -1 for the rowid.
  package func findSQL(shape: SlotShape, columns: [Int], _ spelling: Spelling) throws(UpsurgeError) -> String {
    let present = present(shape)
    let names = try schema.terms(columns)
    var sql =
      "SELECT \(names) FROM \(try SQLName.quote(schema.name)) WHERE \(try lookUp(present, row: 0, spelling))"
    if lookUpKeys.count > 1 {
      var order = ""
      for (index, key) in lookUpKeys.enumerated() {
        order += " WHEN \(try lookUp(key, present, row: 0, spelling)) THEN \(index)"
      }
      sql += " ORDER BY CASE\(order) END"
    }
    return sql + " LIMIT 1"
  }

  /// `SELECT` that has a row where a target finds one.
  package func existsSQL(shape: SlotShape, target: Int, _ spelling: Spelling) throws(UpsurgeError) -> String {
    let found = try lookUp(targets[target], present(shape), row: 0, spelling)
    return "SELECT 1 FROM \(try SQLName.quote(schema.name)) WHERE \(found) LIMIT 1"
  }

  /// The keys by which the row of a record can be found: the targets, or the PRIMARY KEY where there are none.
  package var lookUpKeys: [TableSchema.Key] {
    targets.isEmpty && mode != .ignore ? schema.keys.filter { $0.kind == .primaryKey } : targets
  }

  /// `SELECT` of the row with the PRIMARY KEY of a record.
  package func findByPrimaryKeySQL(
    shape: SlotShape, columns: [Int], _ spelling: Spelling
  ) throws(UpsurgeError) -> String {
    guard let key = schema.keys.first(where: { $0.kind == .primaryKey }) else { return "" }
    let found = try lookUp(key, present(shape), row: 0, spelling)
    return "SELECT \(try schema.terms(columns)) FROM \(try SQLName.quote(schema.name)) WHERE \(found)"
  }

  /// `SELECT` of a row by the values of the columns that name it.
  package func namedRowSQL(columns: [Int], by identity: [Int]) throws(UpsurgeError) -> String {
    var conditions = ""
    for (place, column) in identity.enumerated() {
      conditions += (place == 0 ? "" : " AND ") + "\(try schema.terms([column])) = ?\(place + 1)"
    }
    return "SELECT \(try schema.terms(columns)) FROM \(try SQLName.quote(schema.name)) WHERE \(conditions)"
  }

  /// Whether an upsert is an UPDATE, and an INSERT where that finds no row. Views and virtual tables know no ON CONFLICT. And
  /// to a rule that asks for NULL, `excluded` does not show it where NOT NULL ON CONFLICT REPLACE has put the default.
  package var updatesFirst: Bool {
    if mode != .upsert || targets.isEmpty { return false }
    return schema.kind != .table || schema.shiftsExcluded
      || slots.contains { slot in
        schema.columns[slot.columnIndex].notNullConflict == .replace && !(slot.isKey && targets.count == 1)
          && (slot.rule != .replace || slot.columnIndex == newerColumn || hasFreeSQL)
      }
  }

  /// Whether mode `ignore` looks for the row and inserts where it is missing, because ON CONFLICT cannot name the key.
  package var looksBeforeInsert: Bool {
    guard mode == .ignore, !targets.isEmpty else { return false }
    return schema.kind != .table || hasOtherKey && targets.contains(where: schema.isBeyondUpsert)
  }

  /// Whether a record may have a conflict with a key that is not one of the targets.
  var hasOtherKey: Bool {
    schema.keys.contains { key in
      // A rowid that records do not have is always a new one.
      let isNumbered = key.isRowidAlias && !slots.contains { $0.columnIndex == schema.rowidAlias }
      return !isNumbered && !targets.contains(key)
    }
  }

  /// `UPDATE` of the row that a record is about.
  /// - Parameter target: which of the targets finds the row.
  package func updateSQL(shape: SlotShape, target: Int = 0, _ spelling: Spelling) throws(UpsurgeError) -> String {
    let present = present(shape)
    guard target < targets.count else { return "" }
    let key = targets[target]
    let table = try SQLName.quote(schema.name)
    let found = try lookUp(key, present, row: 0, spelling)
    let merge = MergeSQL(plan: self, row: table) { value(of: $0, present, row: 0, spelling) }
    var update = try merge.update(present, matching: key)
    if update.assignments.isEmpty {
      let same = try SQLName.quote(schema.columns[key.columnIndexes(in: schema).first ?? 0].name)
      update.assignments = ["\(same) = \(same)"]
      update.differences = ["0"]
    }
    let verb = overridesClauses ? "UPDATE OR ABORT" : "UPDATE"
    let set = "\(verb) \(table) SET \(update.assignments.joined(separator: ", "))\nWHERE \(found)"
    let differs = "(\(MergeSQL.anyOf(update.differences[...])))"
    if !spelling.isCounted {
      return set + ([""] + [differs] + update.conditions).joined(separator: " AND ")
    }
    let subject = try noteSubject(key) { index throws(UpsurgeError) in try stored(index) }
    let conditions = update.conditions.isEmpty ? "1" : update.conditions.joined(separator: " AND ")
    return """
      \(set) AND CASE WHEN (\(found)) AND \(Note.conflict.sql(subject)) THEN
        CASE WHEN \(differs) AND \(Note.difference.sql(subject)) THEN
          CASE WHEN \(conditions) THEN \(Note.update.sql(subject)) ELSE 0 END ELSE 0 END ELSE 0 END
      """
  }

  /// `DELETE` of the row that a record is about.
  package func deleteSQL(shape: SlotShape, _ spelling: Spelling) throws(UpsurgeError) -> String {
    let present = present(shape)
    guard let key else { return "" }
    let table = try SQLName.quote(schema.name)
    let found = try lookUp(key, present, row: 0, spelling)
    let merge = MergeSQL(plan: self, row: table) { value(of: $0, present, row: 0, spelling) }
    let newer = try merge.newerCondition(present)
    let delete = "DELETE FROM \(table) WHERE \(found)"
    if !spelling.isCounted { return newer.map { "\(delete) AND \($0)" } ?? delete }
    let subject = try noteSubject(key) { index throws(UpsurgeError) in try stored(index) }
    return """
      \(delete) AND CASE WHEN (\(found)) AND \(Note.conflict.sql(subject)) THEN
        CASE WHEN \(newer ?? "1") THEN \(Note.update.sql(subject)) ELSE 0 END ELSE 0 END
      """
  }

  /// Says whether every key with an expression is NULL for a record: `SELECT ((lower(email)) IS NULL) FROM (SELECT …)`.
  package func nullKeySQL(shape: SlotShape, _ spelling: Spelling) throws(UpsurgeError) -> String {
    let present = present(shape)
    let keys = targets.filter { $0.columns == nil }
    var terms: [String] = []
    for key in keys {
      var parts: [String] = []
      for part in key.parts {
        var value = part.expression ?? ""
        if let column = part.column { value = try SQLName.quote(column) }
        parts.append("(\(value)) IS NULL")
      }
      terms.append("(\(parts.joined(separator: " OR ")))")
    }
    let columns = Set(keys.flatMap { $0.columnIndexes(in: schema) }).sorted()
    let source = try recordSource(columns, present, row: 0, spelling)
    return "SELECT \(terms.joined(separator: " AND ")) FROM \(source)"
  }

  private func lookUp(
    _ key: TableSchema.Key, _ present: [Slot], row: Int, _ spelling: Spelling
  ) throws(UpsurgeError) -> String {
    var terms: [String] = []
    for part in key.parts {
      if let column = part.column, let index = schema.columnIndex(column) {
        if schema.kind == .virtual, schema.columns[index].affinity == .none {
          // Such a table keeps a number or a text as it came; 7 and '7' are one key.
          let value = value(of: index, present, row: row, spelling)
          terms.append("CAST(\(try stored(index)) AS TEXT) = CAST(\(value) AS TEXT)")
          continue
        }
        let needsCollation =
          !key.isRowidAlias && !SQLName.isSame(part.collation, schema.columns[index].collation)
        let collate = needsCollation ? " COLLATE \(try SQLName.quote(part.collation))" : ""
        terms.append("\(try stored(index)) = \(keyValue(of: index, present, row: row, spelling))\(collate)")
      } else if let expression = part.expression {
        terms.append(try "(\(expression)) = \(onRecord(expression, key, present, row: row, spelling))")
      }
    }
    if let predicate = key.predicate {
      terms.append("(\(predicate))")
      terms.append(try onRecord(predicate, key, present, row: row, spelling))
    }
    return terms.joined(separator: " AND ")
  }

  /// An expression of the schema, evaluated on the record: the columns that it names are those of a subquery.
  private func onRecord(
    _ expression: String, _ key: TableSchema.Key, _ present: [Slot], row: Int, _ spelling: Spelling
  ) throws(UpsurgeError) -> String {
    let source = try recordSource(key.columnIndexes(in: schema), present, row: row, spelling)
    return "(SELECT \(expression) FROM \(source))"
  }

  private func recordSource(
    _ columns: [Int], _ present: [Slot], row: Int, _ spelling: Spelling
  ) throws(UpsurgeError) -> String {
    var values = ""
    for index in columns {
      let name = try SQLName.quote(schema.columns[index].name)
      values +=
        (values.isEmpty ? "" : ", ") + "\(keyValue(of: index, present, row: row, spelling)) AS \(name)"
    }
    return "(SELECT \(values)) AS \(try SQLName.quote(schema.name))"
  }

  /// A column's value as it is compared: NULL is the default where the table says so.
  private func keyValue(of index: Int, _ present: [Slot], row: Int, _ spelling: Spelling) -> String {
    let value = value(of: index, present, row: row, spelling)
    let column = schema.columns[index]
    guard column.notNullConflict == .replace, let standard = column.defaultExpression else { return value }
    return "ifnull(\(value), \(standard))"
  }

  /// A column's value in a record: what it says, or what an insert would put there.
  private func value(of index: Int, _ present: [Slot], row: Int, _ spelling: Spelling) -> String {
    if let place = present.firstIndex(where: { $0.columnIndex == index }) {
      return spelling.value(row, place)
    }
    return standard(index)
  }

  /// What an insert puts into a column that a record does not have.
  func standard(_ index: Int) -> String {
    schema.columns[index].defaultExpression.map { "(\($0))" } ?? "NULL"
  }

  private func stored(_ index: Int) throws(UpsurgeError) -> String {
    "\(try SQLName.quote(schema.name)).\(try SQLName.quote(schema.columns[index].name))"
  }
}

extension TableSchema {
  /// Whether SQLite 3.40 makes a REAL of another column than the REAL one in a DO UPDATE: it counts the virtual columns
  /// before it, which have no place in the row (`sqlite3UpsertDoUpdate`).
  fileprivate var shiftsExcluded: Bool {
    guard let first = columns.firstIndex(where: { $0.generation == .virtual }) else { return false }
    return columns[first...].contains { $0.affinity == .real && $0.generation != .virtual }
  }
}
