import UpsurgeRecords
import UpsurgeSQLite

extension UpsertPlan {
  /// What the input's columns are to the table.
  struct Match {
    var slots: [Slot] = []
    /// Names of columns that the table computes.
    var skipped: [String] = []
    /// Cells whose column the table lacks.
    var missing: [Int] = []
  }

  static func match(
    _ columns: [ColumnTarget], schema: TableSchema, rules: UpsertRules
  ) throws(UpsurgeError) -> Match {
    var match = Match()
    let indexes = schema.columnIndexes
    var cellOfColumn: [Int: Int] = [:]
    for (cellIndex, column) in columns.enumerated() {
      guard let columnIndex = indexes[SQLName.folded(column.name)] else {
        // A tombstone's column need not be one of the table.
        if !SQLName.isSame(column.name, rules.tombstone?.column ?? "") { match.missing.append(cellIndex) }
        continue
      }
      if schema.columns[columnIndex].generation != .none {
        match.skipped.append(schema.columns[columnIndex].name)
      } else if let other = cellOfColumn.updateValue(cellIndex, forKey: columnIndex) {
        let names = "\(columns[other].name) and \(column.name)".escapedForTerminal
        throw UpsurgeError(
          .usage,
          "the input has two columns for one column of table \(schema.name.escapedForTerminal): \(names)",
          hint: "give one of them another name, or leave it out")
      } else {
        match.slots.append(Slot(cellIndex: cellIndex, columnIndex: columnIndex))
      }
    }
    return match
  }

  static func tombstoneCell(
    _ rules: UpsertRules, columns: [ColumnTarget]
  ) throws(UpsurgeError) -> Int? {
    guard let tombstone = rules.tombstone else { return nil }
    if let cell = columns.firstIndex(where: { SQLName.isSame($0.name, tombstone.column) }) { return cell }
    throw UpsurgeError(
      .usage,
      "\(.deleteWhen) names the column \(tombstone.column.escapedForTerminal), which the input does not have",
      hint: "its columns are: \(columns.map(\.name).joined(separator: ", ").escapedForTerminal)")
  }

  /// The refusal of a rule for a column that the table lacks.
  package static func noColumn(_ name: String, in schema: TableSchema) -> UpsurgeError {
    UpsurgeError(
      .usage,
      "\(.set, name.escapedForTerminal): table \(schema.name.escapedForTerminal) has no such column that can be set",
      hint: "its columns are: \(schema.columns.map(\.name).joined(separator: ", ").escapedForTerminal)")
  }

  /// Gives every slot its rule; rules for other columns of the table become assignments.
  static func apply(
    _ merge: Merge, to slots: [Slot], targets: [TableSchema.Key], schema: TableSchema, isUnknownTable: Bool
  ) throws(UpsurgeError) -> (slots: [Slot], assignments: [Assignment]) {
    var slots = slots
    for index in slots.indices {
      slots[index].rule = merge.rule
      slots[index].isKey = targets.contains { $0.speaks(of: slots[index].columnIndex, in: schema) }
    }
    var assignments: [Assignment] = []
    for (name, rule) in merge.columns.sorted(by: { $0.key < $1.key }) where !isUnknownTable {
      let option: Wording = "\(.set, name.escapedForTerminal)"
      // A column that comes later, or is of the key, has nothing to go along with.
      if rule == .along,
        schema.columnIndex(name).map({ index in targets.contains { $0.speaks(of: index, in: schema) } })
          ?? true
      {
        continue
      }
      guard let column = schema.columnIndex(name), schema.columns[column].generation == .none else {
        throw noColumn(name, in: schema)
      }
      if targets.count == 1, targets[0].speaks(of: column, in: schema),
        !rule.isExpression || schema.columns[column].keyOrdinal > 0
      {
        throw UpsurgeError(
          .usage, "\(saying: option): the column belongs to the key, which says which row is meant",
          hint: schema.columns[column].keyOrdinal > 0
            ? "leave out \(saying: option); a record with another key is about another row"
            : "only SQL can set a column of a UNIQUE key")
      }
      if case .expression(let sql) = rule { try SQLFragment(sql).checkIsExpression(option: option) }
      if let slot = slots.firstIndex(where: { $0.columnIndex == column }) {
        slots[slot].rule = rule
      } else if case .expression(let sql) = rule {
        assignments.append(Assignment(columnIndex: column, expression: sql))
      } else {
        throw UpsurgeError(
          .usage, "\(saying: option): the column is not in the input",
          hint: Wording("add it to the input, or give SQL such as \(name)=\(name) + 1".escapedForTerminal))
      }
    }
    if let condition = merge.condition {
      try SQLFragment(condition).checkIsExpression(option: "\(.updateIf)")
    }
    return (slots, assignments)
  }

  /// What a record does to the column that says which rows are gone.
  static func revival(
    of column: String, _ slots: [Slot], schema: TableSchema
  ) throws(UpsurgeError) -> Assignment {
    let mark = try SoftMark(column, in: schema)
    guard let index = schema.columnIndex(column), !slots.contains(where: { $0.columnIndex == index }) else {
      throw UpsurgeError(
        .usage,
        "\(saying: SoftMark.term) the column \(column.escapedForTerminal) is in the feed, and only the sweep may set it",
        hint: "name another one, or leave it out of the feed: columns: [...]")
    }
    return Assignment(columnIndex: index, expression: mark.there)
  }

  static func newerColumn(
    _ rules: UpsertRules, schema: TableSchema, input: [String], isUnknownTable: Bool
  ) throws(UpsurgeError) -> Int? {
    guard let newer = rules.merge.newer, !isUnknownTable else { return nil }
    let option: Wording = "\(.merge, newer.text.escapedForTerminal)"
    guard let column = schema.columnIndex(newer.column) else {
      throw UpsurgeError(
        .usage, "\(saying: option): table \(schema.name.escapedForTerminal) has no such column",
        hint: "its columns are: \(schema.columns.map(\.name).joined(separator: ", ").escapedForTerminal)")
    }
    if !input.contains(where: { SQLName.isSame($0, newer.column) }) {
      throw UpsurgeError(
        .usage, "\(saying: option): the column is not in the input",
        hint: "its columns are: \(input.joined(separator: ", ").escapedForTerminal)")
    }
    return column
  }
}
