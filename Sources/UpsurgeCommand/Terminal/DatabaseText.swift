import Upsurge

/// What a database holds, in lines for people.
enum DatabaseText {
  static func text(_ database: DatabaseDescription) -> String {
    var lines = [
      "\(database.path): SQLite database · \(Words.bytes(Double(database.byteCount))) · pages of \(database.pageSize) "
        + "· journal mode \(database.journalMode)"
    ]
    for table in database.tables { lines += text(table) }
    for view in database.views { lines += text(view) }
    if database.tables.isEmpty && database.views.isEmpty { lines.append("it holds no table") }
    if database.shadowTableCount > 0 {
      lines.append("\(Words.count(UInt64(database.shadowTableCount))) tables of virtual tables are not shown")
    }
    for damage in database.damages { lines.append("damaged: \(damage)") }
    return lines.map(\.escapedForTerminal).joined(separator: "\n") + "\n"
  }

  private static func text(_ table: DatabaseDescription.Table) -> [String] {
    var head = "\(kind(table)) \(table.name): \(rows(table.rowCount))"
    if table.isStrict { head += " · STRICT" }
    if table.isWithoutRowid { head += " · WITHOUT ROWID" }
    switch table.fullTextContent {
    case nil: break
    case .own: head += " · content of its own"
    case .contentless: head += " · contentless: kept row by row, nothing to rebuild it from"
    case .table(let name): head += " · content is \(name)"
    }
    var lines = [head]
    if let problem = table.problem { lines.append("  cannot be read: \(problem)") }
    lines += columns(table.columns)
    for key in table.keys {
      lines.append("  key: \(key.option)  (\(key.kind)\(key.indexName.map { " \($0)" } ?? ""))")
    }
    for index in table.indexes {
      lines.append(
        "  index: \(index.name) on \(index.parts.joined(separator: ", "))\(index.isPartial ? ", of some rows" : "")"
      )
    }
    for key in table.foreignKeys {
      let parent = key.parentColumns.isEmpty ? "" : " (\(key.parentColumns.joined(separator: ", ")))"
      lines.append("  foreign key: \(key.columns.joined(separator: ", ")) -> \(key.parentTable)\(parent)")
    }
    if !table.referencingTables.isEmpty {
      lines.append("  referenced by: \(table.referencingTables.joined(separator: ", "))")
    }
    lines += triggers(table.triggers)
    if !table.applicationFunctions.isEmpty { lines.append("  " + warning(table.applicationFunctions)) }
    return lines
  }

  private static func text(_ view: DatabaseDescription.View) -> [String] {
    var lines = ["view \(view.name): \(view.columns.joined(separator: ", "))"]
    if let problem = view.problem { lines.append("  cannot be read: \(problem)") }
    lines += triggers(view.triggers)
    if !view.applicationFunctions.isEmpty { lines.append("  " + warning(view.applicationFunctions)) }
    return lines
  }

  private static func kind(_ table: DatabaseDescription.Table) -> String {
    if !table.isVirtual { return "table" }
    return table.fullTextContent == nil ? "virtual table" : "FTS5 table"
  }

  private static func rows(_ count: DatabaseDescription.RowCount) -> String {
    switch count {
    case .exact(let count): "\(Words.count(count)) \(count == 1 ? "row" : "rows")"
    case .atMost(let count): "at most \(Words.count(count)) rows by the largest rowid (--check counts)"
    case .unknown: "rows not counted"
    }
  }

  private static func columns(_ columns: [DatabaseDescription.Column]) -> [String] {
    let width = columns.map(\.name.count).max() ?? 0
    return columns.map { column in
      var words = [column.declaredType.isEmpty ? "(any)" : column.declaredType]
      if column.isNotNull { words.append("NOT NULL") }
      if column.collation != "BINARY" { words.append("COLLATE \(column.collation)") }
      if let value = column.defaultExpression { words.append("DEFAULT \(value)") }
      if column.isGenerated { words.append("generated") }
      if column.isHidden { words.append("hidden") }
      let padding = String(repeating: " ", count: width - column.name.count)
      return "  \(column.name)\(padding)  \(words.joined(separator: " "))"
    }
  }

  private static func triggers(_ triggers: [DatabaseDescription.Trigger]) -> [String] {
    triggers.map { trigger in
      let functions = trigger.applicationFunctions
      return "  trigger: \(trigger.name)" + (functions.isEmpty ? "" : ", which " + warning(functions))
    }
  }

  private static func warning(_ functions: [String]) -> String {
    "calls \(functions.map { "\($0)()" }.joined(separator: ", ")): fails in programs that do not register it"
  }
}
