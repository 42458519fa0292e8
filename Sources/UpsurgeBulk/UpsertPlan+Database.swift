import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

extension UpsertPlan {
  /// What rules come to for a table of a database; nothing is stored, and the database is not changed.
  ///
  ///     let plan = try UpsertPlan(
  ///       database: "app.db", table: "players", columns: ["name", "score"],
  ///       rules: UpsertRules(target: .columns(["name"])))
  ///     print(plan.mode, plan.keys, try plan.statements())
  ///
  /// - Parameters:
  ///   - database: path of the SQLite database.
  ///   - table: the table's name.
  ///   - columns: the columns of the table that the records speak of.
  ///   - rules: which row a record is about, and how that row changes.
  /// - Throws: `unreadableInput` when there is no such database; `usage` when there is no such table, or the rules do
  ///   not fit it; `guardRefused` when the table lacks a column; `database`.
  public init(
    database: String, table: String, columns: [String], rules: UpsertRules = UpsertRules()
  ) throws(UpsurgeError) {
    let connection = try Connection(path: database, createIfMissing: false, isTrial: true)
    guard let schema = try TableSchema.read(connection, table: table) else {
      throw UpsurgeError(
        .usage, "\(database.escapedForTerminal) has no table \(table.escapedForTerminal)",
        hint: "make the table first")
    }
    let targets = columns.map { name in
      schema.columnTarget(name, spellingPolicy: .warn)
        ?? ColumnTarget(name: name, affinity: .none, spellingPolicy: .warn)
    }
    try self.init(schema: schema, rules: rules, columns: targets)
  }

  /// The statements for a record that speaks of every column, with `?1`, `?2` … in the order of the columns.
  ///
  /// The engine's own statements also count what becomes of each record, and hold many rows where that is safe.
  public func statements() throws(UpsurgeError) -> [String] { try shownStatements().map(\.sql) }
}
