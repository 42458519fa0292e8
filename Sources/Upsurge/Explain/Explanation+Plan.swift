extension Explanation {
  /// What a run would do with the columns of its first source.
  init(_ table: PreparedTable, job: LoadJob, sourceNames: [String]) throws(UpsurgeError) {
    let plan = table.plan
    if let line = Self.contract(table) { lines.append(line) }
    if plan.schema.columns.isEmpty { return }
    lines.append(Self.table(plan.schema, isNew: table.facts.isNew))
    lines.append(Self.mode(plan))
    lines += Self.keys(plan)
    lines += Self.nullKeys(plan)
    if let words = plan.partialKeyWords { lines.append(Line("outside key", "insert", because: words)) }
    lines += Self.columns(plan)
    lines += table.additions.map {
      Line("column", $0.name, because: "added\($0.type.isEmpty ? "" : ", \($0.type)")")
    }
    lines += Self.conditions(plan)
    lines.append(Self.statements(plan, options: job.options))
    if plan.key != nil { lines.append(Self.order(plan, options: job.options)) }
    lines += Self.surroundings(plan.schema, options: job.options)
    if plan.mode == .delete || plan.rules.tombstone != nil { lines += Self.cascades(plan.schema) }
    lines.append(Self.commits(job.options.transaction))
    if sourceNames.count > 1 {
      lines.append(
        Line("sources", "\(sourceNames.count)", because: "this is the plan for the columns of the first"))
    }
    if let sql = table.createdSQL { statements.append(("new table", sql)) }
    if let sql = table.keySQL { statements.append(("new key", sql)) }
    statements += table.additions.map { ("new column", $0.sql) }
    statements += try plan.shownStatements()
    let others =
      "records that lack columns have statements of their own, which leave those columns alone; "
      + "terms that only count what becomes of a record are left out here"
    lines.append(Line("SQL", "below", because: others))
  }

  private static func table(_ schema: TableSchema, isNew: Bool) -> Line {
    if isNew { return Line("table", schema.name, because: "it is not there, and is made") }
    var words = schema.isStrict ? "STRICT " : ""
    if schema.isWithoutRowid { words += "WITHOUT ROWID " }
    words +=
      schema.kind == .virtual || schema.kind == .shadow
      ? "\(schema.kind.rawValue) table" : schema.kind.rawValue
    return Line("table", schema.name, because: "a \(words) that exists")
  }

  private static func mode(_ plan: UpsertPlan) -> Line {
    let reason: String
    if plan.rules.mode != nil {
      reason = "it was asked for"
    } else {
      reason = plan.key == nil ? "there is no key" : "there is a key"
    }
    return Line("mode", plan.mode.rawValue, because: reason)
  }

  // MARK: - Keys

  private static func keys(_ plan: UpsertPlan) -> [Line] {
    if plan.targets.isEmpty { return [Line("key", "none", because: reasonForNoKey(plan))] }
    return plan.targets.enumerated().map { index, key in
      var reason = reason(for: plan.rules.target, key)
      if plan.targets.count > 1 {
        reason += index == 0 ? "; it decides first" : "; it decides where none before it matches a row"
      }
      return Line("key", key.description, because: reason)
    }
  }

  private static func reason(for target: ConflictTarget, _ key: TableSchema.Key) -> Wording {
    switch target {
    case .primaryKey: return "no key was given, and the input has all columns of the primary key"
    case .columns(_, let predicate):
      if !key.isPartial { return "it is the key of all rows on the columns of \(.key)" }
      return predicate == nil
        ? "it is the only key on the columns of \(.key), and counts for the rows of its WHERE"
        : "it is the key on the columns of \(.key) with the WHERE of \(.keyWhere)"
    case .index: return "it is the index of \(.keyIndex)"
    case .any: return "\(.anyKey) takes every key whose columns the input has"
    case .firstOf: return "it is among the keys given"
    }
  }

  private static func reasonForNoKey(_ plan: UpsertPlan) -> String {
    if plan.mode == .insert && plan.rules.mode == .insert { return "mode insert makes a row of every record" }
    let primary = plan.schema.primaryKeyColumns
    if primary.isEmpty { return "none was given, and the table has no primary key" }
    let input = plan.slots.map { plan.schema.columns[$0.columnIndex].name }
    let missing = primary.filter { name in !input.contains { SQLName.isSame($0, name) } }
    if missing.isEmpty { return "none was asked for" }
    return "none was given, and the input lacks \(missing.joined(separator: ", ")) of the primary key"
  }

  private static func nullKeys(_ plan: UpsertPlan) -> [Line] {
    guard let key = plan.key, [.upsert, .insert, .ignore].contains(plan.mode) else { return [] }
    if key.isRowidAlias && !plan.rules.needsRowids {
      return [Line("NULL in key", "insert", because: "an INTEGER PRIMARY KEY that is NULL gets its number")]
    }
    switch plan.rules.nullKeys {
    case .reject:
      return [
        Line(
          "NULL in key", "reject",
          because: "NULL matches no row, so such a record would be stored anew by every run")
      ]
    case .insert:
      return [
        Line("NULL in key", "insert", because: "\(.nullKeys, "insert"); every run stores such a record anew")
      ]
    }
  }

  // MARK: - Columns

  private static func columns(_ plan: UpsertPlan) -> [Line] {
    let changes = plan.mode == .upsert || plan.mode == .update
    var lines = plan.slots.map { slot in
      let name = plan.schema.columns[slot.columnIndex].name
      if slot.isKey { return Line("column", name, because: "part of the key, never changed") }
      let isPrimary = plan.schema.columns[slot.columnIndex].keyOrdinal > 0
      if changes && isPrimary {
        return Line(
          "column", name, because: "for new rows; the primary key of a row that exists is never changed")
      }
      return Line("column", name, because: changes ? meaning(slot.rule) : "the record's value")
    }
    lines += plan.assignments.map {
      Line(
        "column", plan.schema.columns[$0.columnIndex].name,
        because: "not in the input; a row that changes gets \($0.expression)")
    }
    lines += plan.skippedColumns.map { Line("column", $0, because: "left out, the table computes it") }
    let given = Set(plan.slots.map(\.columnIndex) + plan.assignments.map(\.columnIndex))
    for (index, column) in plan.schema.columns.enumerated()
    where !given.contains(index) && !column.isHidden && column.generation == .none {
      guard plan.mode != .update && plan.mode != .delete else { continue }
      let others = plan.mode == .upsert ? ", others keep it" : ""
      lines.append(
        Line(
          "column", column.name,
          because: "not in the input; \(fresh(index, of: plan.schema))\(others)"))
    }
    return lines
  }

  /// What a new row gets in a column that no record speaks of.
  private static func fresh(_ index: Int, of schema: TableSchema) -> String {
    let column = schema.columns[index]
    if schema.rowidAlias == index { return "new rows get a number" }
    if let standard = column.defaultExpression { return "new rows get its default \(standard)" }
    return column.isNotNull
      ? "it is NOT NULL without a default, so new records are rejected" : "new rows get NULL"
  }

  private static func meaning(_ rule: MergeRule) -> String {
    switch rule {
    case .replace: "replace, the record's value"
    case .coalesce: "coalesce, the record's value unless it is NULL"
    case .keep: "keep, what is there unless that is NULL"
    case .min: "min, the smaller of both"
    case .max: "max, the larger of both"
    case .along: "along, the record's value where the row changes for another reason"
    case .sum: "sum of both, NULL counting as nothing"
    case .expression(let sql): "a row that changes gets \(sql)"
    }
  }

  private static func conditions(_ plan: UpsertPlan) -> [Line] {
    var lines: [Line] = []
    if let newer = plan.rules.merge.newer {
      lines.append(
        Line(
          "newer", newer.column,
          because: "a row changes only if the record's value is "
            + (newer.isStrict ? "greater" : "not less, so that of a tie the last arrival wins")
            + "; NULL is older than anything; others are stale"))
    }
    if let condition = plan.rules.merge.condition {
      lines.append(Line("update if", condition, because: "where it is not true, the record is stale"))
    }
    if let tombstone = plan.rules.tombstone {
      lines.append(
        Line(
          "delete when", "\(tombstone.column) = \(tombstone.value)",
          because: "such records delete their row, or are ignored if there is no such row"))
    }
    return lines
  }

  // MARK: - Writing

  private static func statements(_ plan: UpsertPlan, options: LoadOptions) -> Line {
    let choice = plan.formChoice
    var (form, reason) = (choice.form, Wording(choice.reason))
    if options.output.changesOutput != nil || options.output.emitPath != nil {
      (form, reason) = (.singleRow, "what becomes of each record is written down")
    } else if form == .manyRowsOrAbort && options.transaction.durability == .off {
      (form, reason) = (.singleRow, "\(.durability, "off") cannot undo a statement of many rows")
    }
    let decision = form == .singleRow ? "one row a statement" : "many rows a statement"
    return Line("statements", decision, because: reason)
  }

  private static func order(_ plan: UpsertPlan, options: LoadOptions) -> Line {
    var obstacle = plan.sortObstacle.map { Wording($0) }
    if options.transaction.keepsInputOrder {
      obstacle = "\(.inputOrder)"
    } else if options.output.changesPath != nil || options.output.emitPath != nil {
      obstacle = "what becomes of each record is written down"
    } else if options.table.foreignKeys == .deferred {
      obstacle = "foreign keys are looked at when the transaction ends"
    } else if case .milliseconds = options.transaction.commitEvery {
      obstacle = "records do not wait where transactions go by time"
    }
    if let obstacle { return Line("order", "as records come", because: obstacle) }
    return Line(
      "order", "by the key where records come in none",
      because: "only hidden rowids of new rows could tell; \(.inputOrder) stores them as they come")
  }

  private static func surroundings(_ schema: TableSchema, options: LoadOptions) -> [Line] {
    var lines: [Line] = []
    for key in schema.foreignKeys {
      let parent = key.parentColumns.isEmpty ? "" : " (\(key.parentColumns.joined(separator: ", ")))"
      let reason =
        switch options.table.foreignKeys {
        case .auto: "looked at as the schema says"
        case .on: "looked at with each record"
        case .deferred: "looked at with each commit, so that a parent may come later"
        }
      lines.append(
        Line(
          "foreign key", "(\(key.columns.joined(separator: ", "))) to \(key.parentTable)\(parent)",
          because: reason))
    }
    for table in schema.referencingTables {
      lines.append(Line("referenced by", table, because: "its foreign keys are enforced"))
    }
    for trigger in schema.triggers {
      lines.append(
        Line(
          "trigger", trigger,
          because: options.table.triggers == .guarded
            ? "runs, with upsurge_is_synchronizing() = 1" : "runs, but not for rows that stay as they are"))
    }
    return lines
  }

  /// What deletes do to rows of other tables.
  private static func cascades(_ schema: TableSchema) -> [Line] {
    schema.referencingKeys.filter { !$0.keepsParent }.map { key in
      let fate = key.onDelete == "CASCADE" ? "go too" : "lose their reference"
      return Line(
        "deletes", "rows of \(key.table) \(fate) (ON DELETE \(key.onDelete)), and are not counted",
        because: "they refer by (\(key.columns.joined(separator: ", ")))")
    }
  }

  private static func commits(_ transaction: LoadOptions.Transaction) -> Line {
    Line(
      "commits", transaction.commitEvery.words,
      because:
        "earlier where the log would pass \(transaction.walLimit); durability \(transaction.durability.rawValue)"
    )
  }
}
