import UpsurgeRecords
import UpsurgeSQLite

/// Plans the move of a schema of PostgreSQL into a database file.
struct FilePlanner {
  let task: PlanTask

  func plan() throws(UpsurgeError) -> MovePlan {
    let (tables, begun) = try task.begin(.toFile)
    var plan = begun
    var finishing = Finishing()
    let names = tables.map(\.name)
    finishing.reserve(try task.target.takenNames(besides: names) + names)
    for table in tables {
      task.look(table.name)
      let probe = FileProbe(table, task.rules, task.target)
      plan.tables.append(try self.table(probe, among: tables, &plan.leftOut))
      for index in table.indexes where !index.isConstraint || index.obstacle != nil {
        let title = index.title(in: table)
        switch try probe.indexClause(index) {
        case .failure(let obstacle): plan.leftOut.append(LeftOut(title, obstacle.reason))
        case .success(let clause):
          let name = finishing.takeName(index.name) ? index.name : "\(table.name)_\(index.name)"
          let sql =
            "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(name.quotedAsName) ON \(table.name.quotedAsName) \(clause)"
          finishing.indexes.append(MoveStep(title: title, work: .statement(sql), isOptional: !index.isUnique))
        }
      }
    }
    finishing.addNumberings(of: plan.tables)
    plan.finishing = finishing.steps
    return plan
  }

  private func table(
    _ probe: FileProbe, among tables: [TableShape], _ leftOut: inout [LeftOut]
  ) throws(UpsurgeError) -> PlannedTable {
    let table = probe.table
    var planned = PlannedTable(name: table.name)
    let rowid = probe.rowid
    for column in table.columns {
      planned.columns.append(try self.column(column, probe, isRowid: column.name == rowid, &leftOut))
      if column.name == rowid, column.isNumbered { planned.numbered = column.name }
    }
    let lines =
      planned.columns.map { "\($0.name.quotedAsName) \($0.definition)" }
      + (try constraints(probe, among: tables, &leftOut))
    planned.creation = "CREATE TABLE \(table.name.quotedAsName) (\n  \(lines.joined(separator: ",\n  "))\n)"
    if table.comment != nil || table.columns.contains(where: { $0.comment != nil }) {
      leftOut.append(LeftOut("comments of \(table.name)", "SQLite keeps none"))
    }
    planned.isOrdered = table.order != nil
    let place = "\(task.schema.quotedAsName).\(table.name.quotedAsName)"
    let stored = planned.columns.filter { !$0.isGenerated }
    planned.reading =
      "SELECT \(stored.map(\.name).quotedAsNames) FROM \(place)\(table.order.map { " ORDER BY \($0)" } ?? "")"
    let compared = PlannedColumn.list(planned.columns) {
      $0.kind.comparingInServer($0.name, type: $0.sourceType)
    }
    planned.comparedSource = "SELECT \(compared) FROM \(place)"
    planned.comparedTarget =
      "SELECT \(PlannedColumn.list(planned.columns) { $0.kind.comparingInSQLite($0.name) }) FROM \(task.target.quotedName(of: table.name))"
    return planned
  }

  private func column(
    _ column: ColumnShape, _ probe: FileProbe, isRowid: Bool, _ leftOut: inout [LeftOut]
  ) throws(UpsurgeError) -> PlannedColumn {
    let type = probe.type(of: column)
    var planned = PlannedColumn(
      name: column.name, sourceType: column.type, targetType: isRowid ? "INTEGER" : type.declared,
      kind: type.kind)
    planned.definition = planned.targetType
    let what = "\(probe.table.name).\(column.name)"
    if !FileType.isKnown(column.type) {
      leftOut.append(LeftOut("type of \(what)", "the values of \(column.type) move as texts"))
    }
    if type.declared.hasPrefix("NUMERIC TEXT") {
      leftOut.append(
        LeftOut(
          "order of \(what)",
          "numeric moves as text, to the last digit, and SQLite compares and sorts texts letter by letter: 10 comes before 9"
        ))
    }
    if column.generated != nil {
      switch try probe.generated(column) {
      case .success(let expression):
        planned.definition += " GENERATED ALWAYS AS (\(expression)) STORED"
        planned.isGenerated = true
      case .failure(let obstacle):
        leftOut.append(
          LeftOut("expression of \(what)", "its values move into a plain column: \(obstacle.reason)"))
      }
      return planned
    }
    if isRowid { planned.definition += column.isNumbered ? " PRIMARY KEY AUTOINCREMENT" : " PRIMARY KEY" }
    if column.isNumbered && !isRowid {
      leftOut.append(LeftOut("numbering of \(what)", "SQLite numbers only an INTEGER PRIMARY KEY"))
    }
    if column.isNotNull { planned.definition += " NOT NULL" }
    if let value = column.defaultText {
      if let carried = try probe.defaultValue(value, type) {
        planned.definition += " DEFAULT \(carried)"
      } else {
        leftOut.append(LeftOut("DEFAULT of \(what)", "\(value) is no literal"))
      }
    }
    return planned
  }

  /// What a table of SQLite must have from the beginning: keys, CHECKs and foreign keys.
  private func constraints(
    _ probe: FileProbe, among tables: [TableShape], _ leftOut: inout [LeftOut]
  ) throws(UpsurgeError) -> [String] {
    let table = probe.table
    var lines: [String] = []
    if !table.primaryKey.isEmpty, probe.rowid == nil {
      lines.append("PRIMARY KEY (\(table.primaryKey.quotedAsNames))")
    }
    for index in table.indexes where index.isConstraint && index.obstacle == nil {
      lines.append("UNIQUE (\(index.columns.quotedAsNames))")
    }
    lines += try probe.checks(&leftOut).map { "CHECK (\($0))" }
    for given in table.foreignKeys {
      guard let parent = tables.first(where: { $0.name == given.parent }) else {
        leftOut.append(
          LeftOut(given.title(in: table), "the table \(given.parent) does not move"))
        continue
      }
      lines.append(given.resolved(in: table, parent: parent).clause(parent: parent.name.quotedAsName))
    }
    return lines
  }
}
