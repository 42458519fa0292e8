import Upsurge
import UpsurgeRecords

/// What a load into PostgreSQL would do: the table, the key, the paths with their reasons, and the SQL.
struct PostgresExplanation {
  let table: TargetTable
  let job: LoadJob
  let capabilities: Capabilities
  let server: String

  private typealias Line = Explanation.Line

  var text: String {
    var explanation = Explanation()
    explanation.lines.append(
      Line("server", server, because: capabilities.version.split(separator: " ").prefix(2).joined(separator: " ")))
    if let making = table.making {
      explanation.lines.append(Line("table", table.name.shown, because: "it is not there, and is made"))
      explanation.statements.append(("new table", making.statements.joined(separator: ";\n")))
    } else {
      explanation.lines.append(Line("table", table.name.shown, because: "it is there"))
    }
    explanation.lines.append(
      Line(
        "mode", table.mode.rawValue,
        because: table.given.mode != nil
          ? "it was asked for" : table.key.isNone ? "there is no key" : "there is a key"))
    explanation.lines.append(Line("key", table.key.words, because: keyReason))
    let count = job.options.transaction.connections
    if count > 1 {
      explanation.lines.append(
        table.making == nil
          ? Line("connections", "\(count)", because: "a record goes over the one that its key says")
          : Line("connections", "1", because: "a new table is filled over one"))
    }
    if let found = table.found {
      addPaths(of: found, to: &explanation)
    } else {
      addNewTable(to: &explanation)
    }
    for sql in table.preparations { explanation.statements.append(("new key", sql)) }
    return explanation.text
  }

  private var keyReason: String {
    switch table.key {
    case .none: "records are new rows"
    case .index(let index): index.isPrimary ? "it is the primary key" : "it is the unique index \(index.name)"
    case .future: table.making == nil ? "it is made before the first record" : "it is made after the rows"
    }
  }

  private func addPaths(of found: PostgresTable, to explanation: inout Explanation) {
    let plan = RecordPlan(table, found: found)
    let names = table.columns.targets.compactMap { plan.column(of: $0)?.name }
    let shape = plan.shape(of: names)
    if table.mode == .update || table.mode == .delete {
      explanation.lines.append(Line("path", "keyed", because: "only rows that are there change"))
      return
    }
    if job.options.output.changesOutput != nil {
      explanation.lines.append(Line("path", "ordered", because: "each row that changes is told"))
      return
    }
    let choice = PathChoice(shape, capabilities)
    explanation.lines.append(Line("path", choice.base.path.rawValue, because: choice.base.reason))
    explanation.lines.append(
      Line(
        "append", choice.appendObjection == nil ? "yes" : "no",
        because: choice.appendObjection ?? "where the table has no row in a batch's key range"))
    explanation.lines.append(
      Line(
        "walk", choice.walkObjection == nil ? "yes" : "no",
        because: choice.walkObjection ?? "where most rows of a batch's key range are in the batch"))
    explanation.statements.append(
      (
        choice.base.path.rawValue,
        choice.base.path == .delta ? DeltaPlan(shape).shownSQL : OrderedPlan(shape, capabilities).shownSQL
      ))
  }

  private func addNewTable(to explanation: inout Explanation) {
    explanation.lines.append(
      Line(
        "path", "new table",
        because:
          "rows are copied into a table of the engine's own name, which gets its key and its name at the end")
    )
  }
}
