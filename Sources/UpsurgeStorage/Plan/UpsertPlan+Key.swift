import UpsurgeRecords

extension UpsertPlan {
  /// The key of the table that the request means.
  /// - Returns: nil when none was asked for and the input does not hold the PRIMARY KEY.
  static func resolveKey(
    _ requested: [String], mode: Mode?, schema: TableSchema, input: [String]
  ) throws(UpsurgeError) -> TableSchema.Key? {
    if mode == .upsert || (mode == nil && !requested.isEmpty), schema.kind != .table {
      let kind = schema.kind == .view ? "view" : "\(schema.kind.rawValue) table"
      throw UpsurgeError(
        .usage, "\(schema.name.escapedForTerminal) is a \(kind): SQLite knows no upsert there",
        hint: "--mode insert adds rows")
    }
    if requested.isEmpty {
      if mode == .insert { return nil }
      return schema.keys.first { $0.kind == .primaryKey && isCovered($0, by: input) }
    }
    for name in requested {
      try checkKeyColumn(name, schema: schema, input: input)
    }
    let folded = Set(requested.map(SQLName.folded))
    let match = schema.keys.first {
      $0.isPlain && folded == Set(($0.columns ?? []).map(SQLName.folded))
    }
    if let match { return match }
    throw noMatch(requested, schema: schema)
  }

  private static func isCovered(_ key: TableSchema.Key, by input: [String]) -> Bool {
    (key.columns ?? []).allSatisfy { column in input.contains { SQLName.isSame($0, column) } }
  }

  private static func checkKeyColumn(
    _ name: String, schema: TableSchema, input: [String]
  ) throws(UpsurgeError) {
    let table = schema.name.escapedForTerminal
    guard schema.columnIndex(name) != nil else {
      throw UpsurgeError(
        .usage, "the key column \(name.escapedForTerminal) is not a column of table \(table)",
        hint: "--key takes names of: \(schema.columns.map(\.name).joined(separator: ", ").escapedForTerminal)"
      )
    }
    guard input.contains(where: { SQLName.isSame($0, name) }) else {
      throw UpsurgeError(
        .usage, "the key column \(name.escapedForTerminal) is not in the input",
        hint: "--key takes names of: \(input.joined(separator: ", ").escapedForTerminal)")
    }
  }

  private static func noMatch(_ requested: [String], schema: TableSchema) -> UpsurgeError {
    let names = requested.joined(separator: ", ").escapedForTerminal
    let table = schema.name.escapedForTerminal
    let keys = schema.keys.map(\.description).joined(separator: "; ")
    var message = "table \(table) has no PRIMARY KEY or UNIQUE index on (\(names)); "
    message += keys.isEmpty ? "it has no key at all" : "its keys are: \(keys)"
    if schema.keys.contains(where: { !$0.isPlain }) {
      message += " (a key on an expression or of some rows only cannot be named by its columns)"
    }
    var hint: String?
    if let index = try? SQLName.quote(([schema.name] + requested + ["key"]).joined(separator: "_")),
      let table = try? SQLName.quote(schema.name), let columns = try? SQLName.quoteList(requested)
    {
      hint = "CREATE UNIQUE INDEX \(index) ON \(table) (\(columns)); makes that key".escapedForTerminal
    }
    return UpsurgeError(.usage, message, hint: hint)
  }
}
