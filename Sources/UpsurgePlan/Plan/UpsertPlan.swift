import UpsurgeRecords
import UpsurgeSQLite

/// How the records of one input go into one table: which slot to which column, by which key, in which mode.
///
/// What `UpsertRules` come to for one table and the columns of one input; `keys`, `mode` and `statements` show it.
/// Made from what the database says of the table; knows no connection. Its SQL is in `UpsertPlan+Insert.swift`
/// and `UpsertPlan+ByKey.swift`, the choice between single rows and many rows a statement in `StatementForm.swift`.
public struct UpsertPlan: Sendable, Equatable {
  /// One slot of the records that goes into a column.
  package struct Slot: Sendable, Equatable {
    /// Index of the cell in a record.
    package var cellIndex: Int
    /// Index into `schema.columns`.
    package var columnIndex: Int
    /// Whether the column belongs to a target.
    package var isKey = false
    /// How a row that exists takes the value.
    package var rule = MergeRule.replace
  }

  /// A column that no record speaks of and that every update sets.
  package struct Assignment: Sendable, Equatable {
    package var columnIndex: Int
    package var expression: String
  }

  package let schema: TableSchema
  public let mode: WriteMode
  /// The conflict targets in the order in which they decide; empty without one.
  package let targets: [TableSchema.Key]
  /// The slots that are stored, in record order.
  package let slots: [Slot]
  /// Rules for columns that are not in the input.
  package let assignments: [Assignment]
  /// The column that decides which of two records is newer, as an index into `schema.columns`.
  package let newerColumn: Int?
  /// Names of input columns that are left out because the table computes them.
  public let skippedColumns: [String]
  /// Cells whose column the table lacks; a record with a value in one of them is quarantined.
  package let unknownCells: [Int]
  /// The cell that says whether a record is a delete.
  package let tombstoneCell: Int?
  /// The columns of the input, one for each cell of a record.
  package let columns: [ColumnTarget]
  /// What was asked for.
  public let rules: UpsertRules

  /// The first conflict target; in mode `upsert` always, otherwise where one was asked for.
  package var key: TableSchema.Key? { targets.first }

  /// The conflict targets as people read them: `PRIMARY KEY (id)`, `UNIQUE (lower(email)) WHERE active = 1`.
  public var keys: [String] { targets.map(\.description) }

  /// Whether an update of a row has a condition of its own, so that records may be stale.
  package var hasCondition: Bool { newerColumn != nil || rules.merge.condition != nil }

  /// Whether SQL that somebody wrote may speak of the record's values.
  package var hasFreeSQL: Bool {
    !assignments.isEmpty || rules.merge.condition != nil || slots.contains { $0.rule.isExpression }
  }

  /// Matches the input's columns and the key against the table.
  /// - Parameters:
  ///   - columns: the columns of the input, one for each cell of a record.
  ///   - toleratesUnknownColumns: whether columns that the table lacks become `unknownCells`.
  /// - Throws: `usage` when no key of the table matches, or the mode or a rule cannot be; `guardRefused` when the
  ///   table lacks columns of the input.
  package init(
    schema: TableSchema, rules: UpsertRules, columns: [ColumnTarget], toleratesUnknownColumns: Bool = false
  ) throws(UpsurgeError) {
    let schema = schema.namingRowid(for: rules.target)
    self.schema = schema
    self.columns = columns
    self.rules = rules
    let matched = try UpsertPlan.match(columns, schema: schema, rules: rules)
    if !matched.missing.isEmpty && !toleratesUnknownColumns {
      throw UpsertPlan.lacking(matched.missing.map { columns[$0].name }, table: schema.name)
    }
    skippedColumns = matched.skipped
    unknownCells = matched.missing
    tombstoneCell = try UpsertPlan.tombstoneCell(rules, columns: columns)
    let names = matched.slots.map { schema.columns[$0.columnIndex].name }
    let isUnknownTable = schema.columns.isEmpty && toleratesUnknownColumns
    targets = isUnknownTable ? [] : try UpsertPlan.resolve(rules, schema: schema, input: names)
    mode = rules.mode ?? (targets.isEmpty ? .insert : .upsert)
    var applied = try UpsertPlan.apply(
      rules.merge, to: matched.slots, targets: targets, schema: schema, isUnknownTable: isUnknownTable)
    if let column = rules.softColumn, !isUnknownTable {
      applied.assignments.append(try UpsertPlan.revival(of: column, applied.slots, schema: schema))
    }
    (slots, assignments) = applied
    newerColumn = try UpsertPlan.newerColumn(
      rules, schema: schema, input: names, isUnknownTable: isUnknownTable)
    if !isUnknownTable { try checkMode() }
  }

  /// Plans the request for another set of input columns, or after the table has changed.
  package func replanned(
    schema: TableSchema, columns: [ColumnTarget], toleratesUnknownColumns: Bool = false
  ) throws(UpsurgeError) -> UpsertPlan {
    var rules = rules
    if !self.schema.columns.isEmpty { rules.mode = rules.mode ?? mode }
    return try UpsertPlan(
      schema: schema, rules: rules, columns: columns, toleratesUnknownColumns: toleratesUnknownColumns)
  }

  /// Whether a record that matches a row by `key` leaves the column as it is: its own columns keep their spelling, and
  /// the primary key of a row that exists is never changed.
  func isKept(_ columnIndex: Int, matching key: TableSchema.Key) -> Bool {
    let isPrimary = schema.columns[columnIndex].keyOrdinal > 0
    if key.speaks(of: columnIndex, in: schema) { return isPrimary || !isSetBySQL(columnIndex) }
    return key.kind != .primaryKey && isPrimary
  }

  /// Whether a rule of the column's own is SQL: it sets even a column of the key, where that is not the PRIMARY KEY.
  package func isSetBySQL(_ columnIndex: Int) -> Bool {
    rules.merge.columns.contains { name, rule in
      rule.isExpression && SQLName.isSame(name, schema.columns[columnIndex].name)
    }
  }

  private func checkMode() throws(UpsurgeError) {
    let table = schema.name.escapedForTerminal
    let keyless: Wording =
      "needs a key, and table \(table) has no PRIMARY KEY \(saying: Wording("in the input", call: "of columns of the model"))"
    if mode != .insert && mode != .ignore && targets.isEmpty {
      let call: Wording = mode == .delete ? "a delete" : mode == .update ? "an update" : "an upsert"
      throw UpsurgeError(
        .usage, "\(saying: Wording("mode \(mode.rawValue)", call: call)) \(saying: keyless)",
        hint: "\(.key, "COLS") names the columns that say which row a record is about")
    }
    if mode == .upsert, let key = targets.first(where: { schema.isBeyondUpsert($0) }) {
      throw UpsurgeError(
        .usage, "SQLite knows no upsert by \(key.description), because it holds the INTEGER PRIMARY KEY",
        hint: "\(.key, schema.primaryKeyColumns.joined().quotedForShell) says which row a record is about")
    }
    if tombstoneCell != nil && targets.isEmpty {
      throw UpsurgeError(
        .usage, "\(.deleteWhen) \(saying: keyless)",
        hint: "\(.key, "COLS") names the columns that say which row a record is about")
    }
    if targets.count > 1 && (mode == .update || mode == .delete || tombstoneCell != nil) {
      throw UpsurgeError(
        .usage, "updates and deletes need one key, and \(targets.count) were given",
        hint: "\(.key, "COLS") names one")
    }
  }

  package static func lacking(_ missing: [String], table: String) -> UpsurgeError {
    let names = missing.joined(separator: ", ").escapedForTerminal
    let them = missing.count == 1 ? "it" : "them"
    return UpsurgeError(
      .guardRefused,
      "table \(table.escapedForTerminal) has no column \(names)",
      hint: Wording(
        "\(.alter) adds \(them); \(.columns, "A,B") loads only the columns named",
        call: "add \(them) to the table, or take \(them) out of the model"))
  }
}

extension TableSchema.Key {
  /// Whether a column is one of the key's or is named in one of its expressions.
  package func speaks(of columnIndex: Int, in schema: TableSchema) -> Bool {
    parts.contains { part in
      if let column = part.column { return SQLName.isSame(column, schema.columns[columnIndex].name) }
      return SQLFragment(part.expression ?? "").columns(of: schema).contains(columnIndex)
    }
  }

  /// All columns that must be known to tell whether a row conflicts, by index; those of the predicate too.
  package func columnIndexes(in schema: TableSchema) -> [Int] {
    let ofPredicate = predicate.map { SQLFragment($0).columns(of: schema) } ?? []
    return schema.columns.indices.filter { speaks(of: $0, in: schema) || ofPredicate.contains($0) }
  }
}
