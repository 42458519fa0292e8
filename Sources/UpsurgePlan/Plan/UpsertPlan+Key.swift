import UpsurgeRecords
import UpsurgeSQLite

extension UpsertPlan {
  /// The keys of the table that the request means, in the order in which they decide.
  /// - Returns: none when none was asked for and the input does not hold the PRIMARY KEY.
  static func resolve(
    _ rules: UpsertRules, schema: TableSchema, input: [String]
  ) throws(UpsurgeError) -> [TableSchema.Key] {
    // Records that are only inserted have a key where one is named.
    if rules.target == .primaryKey && rules.mode == .insert && rules.tombstone == nil { return [] }
    return try resolve(rules.target, rules: rules, schema: schema, input: input)
  }

  private static func resolve(
    _ target: ConflictTarget, rules: UpsertRules, schema: TableSchema, input: [String]
  ) throws(UpsurgeError) -> [TableSchema.Key] {
    switch target {
    case .primaryKey:
      return schema.keys.filter { $0.kind == .primaryKey && isCovered($0, by: input, schema: schema) }
    case .columns(let names, let predicate):
      return [try key(names, where: predicate, schema: schema, input: input)]
    case .index(let name):
      guard let key = schema.keys.first(where: { SQLName.isSame($0.indexName ?? "", name) }) else {
        throw UpsurgeError(
          .usage,
          "table \(schema.name.escapedForTerminal) has no UNIQUE index \(name.escapedForTerminal); \(keyList(schema))"
        )
      }
      try checkCovered(key, by: input, schema: schema)
      return [key]
    case .any:
      let keys = schema.keys.filter {
        isCovered($0, by: input, schema: schema) && !schema.isBeyondUpsert($0)
      }
      if keys.isEmpty {
        throw UpsurgeError(
          .usage,
          "no key of table \(schema.name.escapedForTerminal) has all its columns in the input; \(keyList(schema))"
        )
      }
      return keys
    case .firstOf(let list):
      var keys: [TableSchema.Key] = []
      for target in list {
        for key in try resolve(target, rules: rules, schema: schema, input: input) where !keys.contains(key) {
          keys.append(key)
        }
      }
      return keys
    }
  }

  private static func key(
    _ requested: [String], where predicate: String?, schema: TableSchema, input: [String]
  ) throws(UpsurgeError) -> TableSchema.Key {
    let wanted = requested.map { schema.rowidColumn($0) ?? $0 }
    if schema.kind != .table { return try lookUpKey(wanted, schema: schema, input: input) }
    for name in wanted where !name.contains("(") {
      try checkKeyColumn(name, schema: schema, input: input)
    }
    let fitting = schema.keys.filter { $0.hasParts(wanted, of: schema) }
    if let predicate, predicate.isEmpty {
      if let key = fitting.first(where: { !$0.isPartial }) { return key }
    } else if let predicate {
      let fragment = SQLFragment(predicate)
      if let key = fitting.first(where: { $0.hasPredicate(fragment, of: schema) }) {
        try checkCovered(key, by: input, schema: schema)
        return key
      }
    } else {
      let partial = fitting.filter(\.isPartial)
      if let key = fitting.first(where: { !$0.isPartial }) ?? (partial.count == 1 ? partial[0] : nil) {
        try checkCovered(key, by: input, schema: schema)
        return key
      }
      if partial.count > 1 {
        throw UpsurgeError(
          .usage,
          "table \(schema.name.escapedForTerminal) has several partial keys on (\(list(requested))): "
            + Wording(partial.map(\.description).joined(separator: "; ")),
          hint: "\(.keyWhere, "SQL") says which")
      }
    }
    throw noMatch(requested, where: predicate, schema: schema, input: input)
  }

  private static let takesNames = Wording("\(.key) takes names of:", call: "the columns are:")

  private static func checkKeyColumn(
    _ name: String, schema: TableSchema, input: [String]
  ) throws(UpsurgeError) {
    guard schema.columnIndex(name) != nil else {
      throw UpsurgeError(
        .usage,
        "the key column \(name.escapedForTerminal) is not a column of table \(schema.name.escapedForTerminal)",
        hint: "\(saying: takesNames) \(list(schema.columns.map(\.name)))")
    }
    guard input.contains(where: { SQLName.isSame($0, name) }) else {
      throw UpsurgeError(
        .usage, "the key column \(name.escapedForTerminal) is not in the input",
        hint: "\(saying: takesNames) \(list(input))")
    }
  }

  /// A view or virtual table has no keys: rows are looked up by the columns given.
  private static func lookUpKey(
    _ columns: [String], schema: TableSchema, input: [String]
  ) throws(UpsurgeError) -> TableSchema.Key {
    var parts: [TableSchema.Key.Part] = []
    for name in columns {
      try checkKeyColumn(name, schema: schema, input: input)
      guard let column = schema.columnIndex(name).map({ schema.columns[$0] }) else { continue }
      parts.append(TableSchema.Key.Part(column: column.name, collation: column.collation))
    }
    return TableSchema.Key(kind: .uniqueConstraint, indexName: nil, parts: parts, isPartial: false)
  }

  /// Whether the input has every column that the key's own columns and expressions name.
  private static func isCovered(
    _ key: TableSchema.Key, by input: [String], schema: TableSchema
  ) -> Bool {
    schema.columns.indices.allSatisfy { index in
      !key.speaks(of: index, in: schema)
        || input.contains { SQLName.isSame($0, schema.columns[index].name) }
    }
  }

  private static func checkCovered(
    _ key: TableSchema.Key, by input: [String], schema: TableSchema
  ) throws(UpsurgeError) {
    for index in schema.columns.indices where key.speaks(of: index, in: schema) {
      let name = schema.columns[index].name
      if input.contains(where: { SQLName.isSame($0, name) }) { continue }
      throw UpsurgeError(
        .usage, "the key column \(name.escapedForTerminal) is not in the input",
        hint: "\(saying: takesNames) \(list(input))")
    }
  }

  private static func noMatch(
    _ requested: [String], where predicate: String?, schema: TableSchema, input: [String]
  ) -> UpsurgeError {
    let table = schema.name.escapedForTerminal
    let predicate = predicate == "" ? nil : predicate
    let which = predicate.map { " WHERE \($0.escapedForTerminal)" } ?? ""
    let message: Wording =
      "table \(table) has no PRIMARY KEY or UNIQUE index on (\(list(requested)))\(which); \(keyList(schema))"
    // Records that have another key in common are refused by that one, whatever is made beside it.
    let other = schema.keys.first { !$0.isPartial && isCovered($0, by: input, schema: schema) }
    let elsewhere = other.map {
      Wording("; where records share a \($0.description.escapedForTerminal), load into another table")
    }
    let hint = (try? createKeySQL(requested, where: predicate, schema: schema)).map { sql -> Wording in
      "\(saying: Wording("\(.createKey) makes", call: "make")) it: \(sql.escapedForTerminal)"
        + (elsewhere ?? "")
    }
    return UpsurgeError(.usage, message, hint: hint)
  }

  /// The statement that makes the key that a request needs: `CREATE UNIQUE INDEX "t_a_key" ON "t" ("a")`.
  /// - Throws: `usage` for a name that cannot be, or for what is not an expression.
  package static func createKeySQL(
    _ columns: [String], where predicate: String?, schema: TableSchema
  ) throws(UpsurgeError) -> String {
    var parts = ""
    for name in columns {
      let isColumn = schema.columnIndex(name) != nil
      if !isColumn { try SQLFragment(name).checkIsExpression(option: "\(.key)") }
      parts += (parts.isEmpty ? "" : ", ") + (isColumn ? try SQLName.quote(name) : name)
    }
    let index = try SQLName.quote(indexName([schema.name] + columns + ["key"], schema: schema))
    var sql = "CREATE UNIQUE INDEX \(index) ON \(try SQLName.quote(schema.name)) (\(parts))"
    if let predicate {
      try SQLFragment(predicate).checkIsExpression(option: "\(.keyWhere)")
      sql += " WHERE \(predicate)"
    }
    return sql
  }

  /// The parts joined to a name of letters, digits and `_` that no key of the table has.
  private static func indexName(_ parts: [String], schema: TableSchema) -> String {
    let name = String(
      parts.joined(separator: "_").map { $0.isLetter || $0.isNumber ? $0 : "_" } as [Character])
    func isTaken(_ name: String) -> Bool {
      schema.keys.contains { SQLName.isSame($0.indexName ?? "", name) }
    }
    if !isTaken(name) { return name }
    return (2...).lazy.map { "\(name)_\($0)" }.first { !isTaken($0) } ?? name
  }

  private static func keyList(_ schema: TableSchema) -> String {
    let keys = schema.keys.map(\.description)
    return keys.isEmpty ? "it has no key at all" : "its keys are: \(keys.joined(separator: "; "))"
  }

  private static func list(_ names: [String]) -> String {
    names.joined(separator: ", ").escapedForTerminal
  }
}

extension TableSchema {
  /// Whether ON CONFLICT cannot name the key: SQLite finds no index that holds the INTEGER PRIMARY KEY. A row that
  /// matches by such a key matches by the PRIMARY KEY too.
  func isBeyondUpsert(_ key: Key) -> Bool {
    guard let rowidAlias, !key.isRowidAlias else { return false }
    return key.parts.contains { SQLName.isSame($0.column ?? "", columns[rowidAlias].name) }
  }

  /// Whether there is a key on exactly these columns and expressions, with this WHERE.
  package func hasKey(_ names: [String], where predicate: String?) -> Bool {
    keys.contains { key in
      let fragment = SQLFragment(predicate ?? "")
      return key.hasParts(names.map { rowidColumn($0) ?? $0 }, of: self)
        && (key.isPartial ? key.hasPredicate(fragment, of: self) : fragment.tokens.isEmpty)
    }
  }

  /// The key on exactly these columns and expressions, as `ConflictTarget.columns` means it; nil without one, or where
  /// several partial ones could be meant.
  package func key(_ names: [String], where predicate: String?) -> Key? {
    let fitting = keys.filter { $0.hasParts(names.map { rowidColumn($0) ?? $0 }, of: self) }
    if let predicate, !predicate.isEmpty {
      let fragment = SQLFragment(predicate)
      return fitting.first { $0.hasPredicate(fragment, of: self) }
    }
    let partial = predicate == nil ? fitting.filter(\.isPartial) : []
    return fitting.first { !$0.isPartial } ?? (partial.count == 1 ? partial[0] : nil)
  }

  /// The column that `rowid`, `oid` or `_rowid_` means, where no column is named so.
  func rowidColumn(_ name: String) -> String? {
    guard columnIndex(name) == nil, let rowidAlias,
      Self.rowidNames.contains(where: { SQLName.isSame($0, name) })
    else { return nil }
    return columns[rowidAlias].name
  }
}

extension TableSchema.Key {
  /// Whether the key is a partial one with this condition.
  func hasPredicate(_ fragment: SQLFragment, of schema: TableSchema) -> Bool {
    predicate.map { SQLFragment($0).isSamePredicate(fragment, in: schema) } ?? false
  }

  /// Whether these are the key's columns and expressions, in whatever order.
  func hasParts(_ requested: [String], of schema: TableSchema) -> Bool {
    guard requested.count == parts.count, Set(requested.map(SQLName.folded)).count == parts.count else {
      return false
    }
    return parts.allSatisfy { part in
      requested.contains { name in
        if let column = part.column { return SQLName.isSame(column, name) }
        return SQLFragment(part.expression ?? "").isSame(SQLFragment(name), in: schema)
      }
    }
  }
}
