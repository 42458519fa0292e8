/// What the pipeline asks of a table, as the plan for SQLite knows it.
extension PreparedTable: StoreTable {
  var knownColumns: [ColumnTarget] { plan.columns }

  var primaryKeyColumns: [String] { plan.schema.primaryKeyColumns }

  var keyColumns: [String] { plan.schema.keyColumns(of: plan.rules) }

  func rules(for columns: [ColumnTarget]) -> UpsertRules {
    var rules = plan.rules
    if plan.schema.columns.isEmpty { return rules }
    let own = try? UpsertPlan(
      schema: plan.schema, rules: plan.rules, columns: columns, toleratesUnknownColumns: true)
    rules.mode = rules.mode ?? own?.mode ?? plan.mode
    return rules
  }

  func mayInsertAnew(options: LoadOptions) -> Bool {
    plan.mayInsertAnew(hasPrimaryKey: options.rules.mode != nil)
  }
}
