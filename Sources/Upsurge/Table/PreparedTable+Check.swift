/// What cannot be, judged before the first record.
extension PreparedTable {
  /// - Throws: `usage` for a view that nothing can be stored through.
  static func checkView(_ schema: TableSchema) throws(UpsurgeError) {
    if schema.kind == .view && schema.triggers.isEmpty {
      throw UpsurgeError(
        .usage, "\(schema.name) is a view without triggers, so nothing can be stored through it",
        hint:
          "load the table that it reads, or give the view INSTEAD OF triggers (\(.initScript) takes TEMP ones)"
      )
    }
  }

  /// - Throws: `usage` for options that need a key, where nothing says which row a record is about.
  static func checkKey(of plan: UpsertPlan, options: LoadOptions) throws(UpsurgeError) {
    // An explicit mode is judged with the options alone; without slots there are no records.
    guard options.rules.mode == nil, plan.targets.isEmpty, !plan.slots.isEmpty,
      let option = options.optionsOfKeys.first
    else { return }
    throw UpsurgeError(
      .usage,
      "\(saying: option.escapedForTerminal) needs a key, and table \(plan.schema.name.escapedForTerminal) "
        + "has no PRIMARY KEY in the input",
      hint: "\(.key, "COLS") names the columns that say which row a record is about")
  }

  /// - Throws: `usage` for a rule of a column that the table lacks, and that nobody adds.
  static func checkRulesAlong(of schema: TableSchema, options: LoadOptions) throws(UpsurgeError) {
    for (name, rule) in options.rules.merge.columns.sorted(by: { $0.key < $1.key })
    where rule == .along && !options.table.isAdded(name) && schema.columnIndex(name) == nil {
      throw UpsertPlan.noColumn(name, in: schema)
    }
  }

  /// - Throws: `guardRefused` for a `--type` of texts or BLOBs, where the column is there and one of numbers: it would go on
  ///   to make numbers of the texts.
  static func checkTypes(of schema: TableSchema, options: LoadOptions) throws(UpsurgeError) {
    for (name, type) in options.table.types.sorted(by: { $0.key < $1.key }) {
      guard let index = schema.columnIndex(name), schema.columns[index].affinity.isNumeric,
        type == "ANY" || !Affinity(declaredType: type).isNumeric
      else { continue }
      let column = schema.columns[index]
      let (shown, table) = (column.name.escapedForTerminal, schema.name.escapedForTerminal)
      throw UpsurgeError(
        .guardRefused,
        "table \(table) exists, and its column \(shown) is \(column.declaredType.escapedForTerminal): \(.type) "
          + "\(shown):\(type) cannot change that, and texts would become numbers",
        column: column.name,
        hint:
          "load into a table of another name, or DROP TABLE \(table) first if all of it comes from this input; "
          + "without \(.type) the column takes numbers as before")
    }
  }

  /// What storing the same records again would do twice.
  func repetition(options: LoadOptions) -> RunSummary.Repetition? {
    // Without a mode, records that have the primary key are upserts.
    if plan.insertsAnew(hasPrimaryKey: options.rules.mode != nil) { return .store }
    return plan.addsUp ? .add : nil
  }

  /// - Throws: `usage` for a view that lacks an INSTEAD OF trigger which the run needs.
  static func checkTriggers(of plan: UpsertPlan, on connection: Connection) throws(UpsurgeError) {
    guard plan.schema.kind == .view else { return }
    var needed: [String]
    switch plan.mode {
    case .insert, .ignore: needed = ["INSERT"]
    case .upsert: needed = ["INSERT", "UPDATE"]
    case .update: needed = ["UPDATE"]
    case .delete: needed = ["DELETE"]
    }
    if plan.rules.tombstone != nil && !needed.contains("DELETE") { needed.append("DELETE") }
    let events = try TriggerText.read(connection, table: plan.schema.name).compactMap(\.insteadOf)
    let missing = needed.filter { !events.contains($0) }
    if missing.isEmpty { return }
    let view = plan.schema.name.escapedForTerminal
    let why: Wording =
      plan.mode == .delete || missing != ["DELETE"] ? "mode \(plan.mode.rawValue)" : "\(.deleteWhen)"
    throw UpsurgeError(
      .usage,
      "view \(view) has no INSTEAD OF \(missing.joined(separator: " or ")) trigger, which \(saying: why) needs",
      hint: "load the table that it reads, or give the view such a trigger (\(.initScript) takes TEMP ones)")
  }
}
