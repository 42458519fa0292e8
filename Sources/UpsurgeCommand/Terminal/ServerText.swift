import Upsurge

/// What a database of a server holds, in lines for people: as `DatabaseText` has it of a file.
enum ServerText {
  static func text(_ database: ServerDescription) -> String {
    var lines = [
      "\(database.name): \(database.server) · database \(database.database) · \(Words.bytes(Double(database.byteCount))) · "
        + database.encoding
    ]
    for table in database.tables { lines += text(table) }
    if database.tables.isEmpty { lines.append("it holds no table") }
    return lines.map(\.escapedForTerminal).joined(separator: "\n") + "\n"
  }

  private static func text(_ table: ServerDescription.Table) -> [String] {
    var head = "\(table.kind) \(table.sourceName)"
    if table.kind != "view" { head += ": \(rows(table.rowEstimate))" }
    if table.isUnlogged { head += " · UNLOGGED" }
    var lines = [head] + columns(table.columns)
    for key in table.keys {
      lines.append("  key: \(key.option)  (\(key.kind)\(key.indexName.map { " \($0)" } ?? ""))")
    }
    for index in table.indexes {
      lines.append(
        "  index: \(index.name) on \(index.parts.joined(separator: ", "))\(index.isPartial ? ", of some rows" : "")"
      )
    }
    for key in table.foreignKeys {
      lines.append(
        "  foreign key: \(key.columns.joined(separator: ", ")) -> \(key.parentTable) (\(key.parentColumns.joined(separator: ", ")))"
      )
    }
    if !table.referencingTables.isEmpty {
      lines.append("  referenced by: \(table.referencingTables.joined(separator: ", "))")
    }
    for check in table.checks { lines.append("  check: \(check.name): \(check.expression)") }
    for trigger in table.triggers {
      lines.append("  trigger: \(trigger.name), \(trigger.moment)\(trigger.isEnabled ? "" : ", disabled")")
    }
    for rule in table.rules { lines.append("  rule: \(rule)") }
    return lines + policies(table)
  }

  private static func rows(_ estimate: UInt64?) -> String {
    guard let estimate else { return "rows not counted (ANALYZE counts them)" }
    return "about \(Words.count(estimate, "row"))"
  }

  private static func columns(_ columns: [ServerDescription.Column]) -> [String] {
    let width = columns.map(\.name.count).max() ?? 0
    return columns.map { column in
      var words = [column.type]
      if column.isNotNull { words.append("NOT NULL") }
      if let collation = column.collation { words.append("COLLATE \(collation)") }
      if let value = column.defaultExpression { words.append("DEFAULT \(value)") }
      if let generation = column.generation { words.append("GENERATED \(generation)") }
      let padding = String(repeating: " ", count: width - column.name.count)
      return "  \(column.name)\(padding)  \(words.joined(separator: " "))"
    }
  }

  private static func policies(_ table: ServerDescription.Table) -> [String] {
    var lines: [String] = []
    switch table.rowSecurity {
    case .off: if table.policies.isEmpty { return [] }
    case .bypassed: lines.append("  row-level security: on, and this user is not bound by it")
    case .active: lines.append("  row-level security: decides which rows this user reads and writes")
    }
    for policy in table.policies {
      var words = "  policy: \(policy.name) for \(policy.command) to \(policy.roles.joined(separator: ", "))"
      if !policy.isPermissive { words += ", restrictive" }
      if let using = policy.using { words += ", using \(using)" }
      if let check = policy.check { words += ", with check \(check)" }
      if table.rowSecurity == .off { words += ", not enabled" }
      lines.append(words)
    }
    return lines
  }
}
