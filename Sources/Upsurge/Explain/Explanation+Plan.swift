extension Explanation {
  /// What a run would do with its first source's columns.
  init(_ table: PreparedTable, job: LoadJob, sourceNames: [String]) throws(UpsurgeError) {
    let plan = table.plan
    let schema = plan.schema
    if let line = Self.contract(table) { lines.append(line) }
    if schema.columns.isEmpty { return }
    lines.append(
      Line("table", schema.name, because: table.facts.isNew ? "made by this run" : Self.kind(schema)))
    lines.append(Line("mode", plan.mode.rawValue, because: Self.reasonForMode(plan)))
    lines.append(Self.key(plan))
    if let sql = table.createdSQL { statements.append(("new table", sql)) }
    statements.append(("records that speak of every column", try plan.sql()))
  }

  private static func kind(_ schema: TableSchema) -> String {
    var words = schema.isStrict ? "STRICT " : ""
    if schema.isWithoutRowid { words += "WITHOUT ROWID " }
    return
      "a \(words)\(schema.kind == .table ? "table" : schema.kind == .view ? "view" : "\(schema.kind.rawValue) table") that exists"
  }

  private static func reasonForMode(_ plan: UpsertPlan) -> String {
    if plan.rules.mode != nil { return "as --mode says" }
    return plan.key == nil ? "there is no key" : "there is a key"
  }

  private static func key(_ plan: UpsertPlan) -> Line {
    guard let key = plan.key else { return Line("key", "none", because: "every record is a new row") }
    return Line("key", key.description)
  }
}
