import UpsurgeRecords

/// How the records of one input go into one table: which slot to which column, by which key, in which mode.
///
/// Made from what the database says of the table; knows no connection. Its SQL is in `UpsertPlan+SQL.swift`,
/// the choice between single rows and many rows a statement in `StatementForm.swift`.
package struct UpsertPlan: Sendable, Equatable {
  package typealias Mode = WriteMode

  /// One slot of the records that goes into a column.
  package struct Slot: Sendable, Equatable {
    /// Index of the cell in a record.
    package var cellIndex: Int
    /// Index into `schema.columns`.
    package var columnIndex: Int
    /// Whether the column belongs to the key.
    package var isKey: Bool
  }

  package let schema: TableSchema
  package let mode: Mode
  /// The conflict target; in mode `upsert` always, otherwise where one was asked for.
  package let key: TableSchema.Key?
  /// The slots that are stored, in record order.
  package let slots: [Slot]
  /// Names of input columns that are left out because the table computes them.
  package let skippedColumns: [String]
  /// The columns of the input, one for each cell of a record.
  package let columns: [ColumnTarget]
  /// What was asked for.
  package let rules: UpsertRules

  /// Matches the input's columns and the key against the table.
  /// - Parameters:
  ///   - key: the key's columns in any order; empty means the PRIMARY KEY if the input has all of its
  ///   columns.
  ///   - mode: nil means `upsert` with a key, else `insert`.
  ///   - columns: the columns of the input, one for each cell of a record.
  /// - Throws: `usage` when no key of the table matches, or the mode cannot be; `guardRefused` when the table
  ///   lacks columns of the input.
  package init(
    schema: TableSchema, key: [String] = [], mode: Mode? = nil, columns: [ColumnTarget]
  ) throws(UpsurgeError) {
    let target: ConflictTarget = key.isEmpty ? .primaryKey : .columns(key)
    try self.init(schema: schema, rules: UpsertRules(target: target, mode: mode), columns: columns)
  }

  package init(schema: TableSchema, rules: UpsertRules, columns: [ColumnTarget]) throws(UpsurgeError) {
    self.schema = schema
    self.columns = columns
    self.rules = rules
    let (key, mode) = (rules.target.columnNames, rules.mode)
    let matched = try UpsertPlan.match(columns, schema: schema)
    skippedColumns = matched.skipped
    let names = matched.slots.map { schema.columns[$0.columnIndex].name }
    let resolved = try UpsertPlan.resolveKey(key, mode: mode, schema: schema, input: names)
    self.mode = mode ?? (resolved == nil ? .insert : .upsert)
    self.key = resolved
    if self.mode == .upsert && resolved == nil {
      throw UpsurgeError(
        .usage,
        "mode upsert needs a key, and table \(schema.name.escapedForTerminal) has no PRIMARY KEY in the input",
        hint: "--key COLS names the columns that say which row a record is about")
    }
    let keyColumns = resolved?.columns ?? []
    slots = matched.slots.map { slot in
      var slot = slot
      slot.isKey = keyColumns.contains { SQLName.isSame($0, schema.columns[slot.columnIndex].name) }
      return slot
    }
  }

  /// The same request for another set of input columns, or after the table has changed.
  package func replanned(schema: TableSchema, columns: [ColumnTarget]) throws(UpsurgeError) -> UpsertPlan {
    var rules = rules
    rules.mode = rules.mode ?? mode
    return try UpsertPlan(schema: schema, rules: rules, columns: columns)
  }

  private static func match(
    _ columns: [ColumnTarget], schema: TableSchema
  ) throws(UpsurgeError) -> (slots: [Slot], skipped: [String]) {
    var slots: [Slot] = []
    var skipped: [String] = []
    var missing: [String] = []
    for (cellIndex, column) in columns.enumerated() {
      guard let columnIndex = schema.columnIndex(column.name) else {
        missing.append(column.name)
        continue
      }
      if schema.columns[columnIndex].generation != .none {
        skipped.append(schema.columns[columnIndex].name)
      } else if let other = slots.first(where: { $0.columnIndex == columnIndex }) {
        let names = "\(columns[other.cellIndex].name) and \(column.name)".escapedForTerminal
        throw UpsurgeError(
          .usage,
          "the input has two columns for one column of table \(schema.name.escapedForTerminal): \(names)",
          hint: "--rename OLD=NEW gives one another name; --columns leaves one out")
      } else {
        slots.append(Slot(cellIndex: cellIndex, columnIndex: columnIndex, isKey: false))
      }
    }
    if !missing.isEmpty { throw lacking(missing, table: schema.name) }
    return (slots, skipped)
  }

  static func lacking(_ missing: [String], table: String) -> UpsurgeError {
    let names = missing.joined(separator: ", ").escapedForTerminal
    return UpsurgeError(
      .guardRefused,
      "table \(table.escapedForTerminal) has no column \(names)",
      hint: "--alter adds \(missing.count == 1 ? "it" : "them"); --columns A,B loads only the columns named")
  }
}
