import UpsurgeRecords
import UpsurgeSQLite

/// Which columns of a database hold keys that become UUIDs: those of the tables that were named, and all that refer to them.
struct KeyMap {
  /// Tables that are made again, in the order of the schema.
  private(set) var tables: [TableSchema] = []
  /// Tables that were named and whose key is no integer any more.
  private(set) var migratedBefore: [String] = []
  /// By folded table and column: the table whose integers the column holds, as its name is spelled in the schema.
  private var roots: [String: [String: String]] = [:]

  /// - Throws: `usage` for a table that is missing, or whose key is not one integer column; `guardRefused` for references that
  ///   cannot follow.
  init(of names: [String], on connection: Connection) throws(UpsurgeError) {
    var all: [TableSchema] = []
    for name in try Self.tableNames(connection) {
      if let schema = try TableSchema.read(connection, table: name), schema.kind == .table {
        all.append(schema)
      }
    }
    var keys: [String: String] = [:]
    for name in names {
      guard let schema = all.first(where: { SQLName.isSame($0.name, name) }) else {
        throw UpsurgeError(
          .usage, "there is no table \(name.escapedForTerminal)",
          hint: "the tables are: \(all.map(\.name).joined(separator: ", ").escapedForTerminal)")
      }
      let key = schema.columns.filter { $0.keyOrdinal > 0 }
      guard key.count == 1 else {
        throw UpsurgeError(
          .usage,
          "the table \(schema.name.escapedForTerminal) has "
            + (key.isEmpty ? "no primary key" : "a primary key of \(key.count) columns"),
          hint:
            "only keys of one integer column can be migrated; columns that refer to them follow by themselves"
        )
      }
      if try Self.holdsIntegers(key[0], of: schema, connection) {
        keys[SQLName.folded(schema.name)] = key[0].name
      } else {
        migratedBefore.append(schema.name)
      }
    }
    try spread(keys, in: all)
    tables = all.filter { roots[SQLName.folded($0.name)] != nil }
  }

  /// The table whose integers a column holds; nil for a column that stays as it is.
  func root(of column: String, in table: String) -> String? {
    roots[SQLName.folded(table)]?[SQLName.folded(column)]
  }

  private static func holdsIntegers(
    _ column: TableSchema.Column, of schema: TableSchema, _ connection: Connection
  ) throws(UpsurgeError) -> Bool {
    if column.affinity == .integer { return true }
    if column.affinity == .text { return false }
    return try connection.integer(
      "SELECT 1 FROM \(try SQLName.quote(schema.name)) WHERE typeof(\(try SQLName.quote(column.name))) = 'integer' LIMIT 1"
    ) != nil
  }

  private static func tableNames(_ connection: Connection) throws(UpsurgeError) -> [String] {
    let statement = try connection.prepare(
      """
      SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      ORDER BY rowid
      """)
    var names: [String] = []
    while try statement.step() { names.append(statement.text(at: 0) ?? "") }
    return names
  }

  /// Follows the references, table by table, until no column is new.
  private mutating func spread(_ keys: [String: String], in all: [TableSchema]) throws(UpsurgeError) {
    // A key that refers to another one is that one.
    for schema in all {
      guard let key = keys[SQLName.folded(schema.name)], schema.reference(of: key) == nil else { continue }
      try set(schema.name, of: key, in: schema)
    }
    var isNew = true
    while isNew {
      isNew = false
      for schema in all {
        for reference in schema.foreignKeys {
          for (column, referred) in zip(reference.columns, reference.referredColumns) {
            guard let root = root(of: referred, in: reference.parentTable) else { continue }
            if self.root(of: column, in: schema.name) == nil { isNew = true }
            try set(root, of: column, in: schema)
          }
        }
      }
    }
    for schema in all {
      guard let key = keys[SQLName.folded(schema.name)], root(of: key, in: schema.name) == nil,
        let parent = schema.reference(of: key)
      else { continue }
      throw UpsurgeError(
        .usage,
        "the key of \(schema.name.escapedForTerminal) refers to \(parent.escapedForTerminal), which is not migrated",
        hint: "name both tables")
    }
  }

  private mutating func set(_ root: String, of column: String, in schema: TableSchema) throws(UpsurgeError) {
    let (table, folded) = (SQLName.folded(schema.name), SQLName.folded(column))
    let name = "\(schema.name).\(column)".escapedForTerminal
    if let before = roots[table]?[folded], before != root {
      throw UpsurgeError(
        .guardRefused,
        "the column \(name) refers to \(before.escapedForTerminal) and to \(root.escapedForTerminal), whose rows get different UUIDs",
        hint: "give each reference a column of its own first")
    }
    if schema.columns.contains(where: { SQLName.isSame($0.name, column) && $0.generation != .none }) {
      throw UpsurgeError(
        .guardRefused, "the column \(name) is computed, and refers to keys that change",
        hint: "make it an ordinary column first")
    }
    roots[table, default: [:]][folded] = root
  }
}

extension TableSchema {
  /// The table that a column refers to.
  fileprivate func reference(of column: String) -> String? {
    foreignKeys.first { $0.columns.contains { SQLName.isSame($0, column) } }
      .flatMap { SQLName.isSame($0.parentTable, name) ? nil : $0.parentTable }
  }
}
