import UpsurgeRecords

/// Whether the statement at work is one of a bulk call with `BulkOptions.isSynchronizing`: so that triggers know changes that come
/// from a sync from those that are made here.
public var isSynchronizing: SQLExpression<Bool> { SQLExpression<Bool>("upsurge_is_synchronizing()") }

/// What a trigger is about.
public enum TriggerEvent: Sendable {
  case insert, delete
  /// Of these columns; of any where there are none.
  case update(of: [String] = [])
}

/// When a trigger runs.
public enum TriggerTime: String, Sendable {
  case before = "BEFORE"
  case after = "AFTER"
}

extension Database {
  /// Makes a trigger that lives as long as this database is open, and sees the writes that go through it.
  ///
  ///     try await database.createTemporaryTrigger("log", after: .insert, on: Player.self, when: { _, _ in !isSynchronizing }) { _, new in
  ///       "INSERT INTO changes(player) VALUES (\(new.id))"
  ///     }
  ///
  /// - Parameters:
  ///   - name: of the trigger; one that is there is replaced.
  ///   - time: before or after what happens to a row.
  ///   - event: what happens.
  ///   - model: whose table it is.
  ///   - condition: for which rows it runs. The row as it was is only there in updates and deletes, the row as it will be only in inserts
  ///     and updates.
  ///   - body: a statement, or several with semicolons between them.
  public func createTemporaryTrigger<Model: Table>(
    _ name: String, _ time: TriggerTime = .after, _ event: TriggerEvent, on model: Model.Type,
    when condition: ((_ old: Model.TableColumns, _ new: Model.TableColumns) -> SQLExpression<Bool>)? = nil,
    body: (_ old: Model.TableColumns, _ new: Model.TableColumns) -> SQLText
  ) async throws(UpsurgeError) {
    let (old, new) = (Model.columns(of: .table("old")), Model.columns(of: .table("new")))
    let what =
      switch event {
      case .insert: "INSERT"
      case .delete: "DELETE"
      case .update(of: let columns):
        columns.isEmpty ? "UPDATE" : "UPDATE OF " + columns.map(\.quotedIdentifier).joined(separator: ", ")
      }
    let guardText = try condition.map { (condition) throws(UpsurgeError) in
      "WHEN " + (try condition(old, new).truth.spelled())
    }
    var statements = try body(old, new).spelled()
    while let last = statements.last, last.isWhitespace || last == ";" { statements.removeLast() }
    let quoted = name.quotedIdentifier
    let sql = """
      BEGIN; DROP TRIGGER IF EXISTS temp.\(quoted);
      CREATE TEMP TRIGGER \(quoted) \(time.rawValue) \(what) ON main.\(Model.tableName.quotedIdentifier)
      FOR EACH ROW \(guardText ?? "") BEGIN \(statements)
      ; END; COMMIT
      """
    try await writer.perform { (connection) throws(UpsurgeError) in try connection.execute(sql) }
  }

  /// Drops a trigger that `createTemporaryTrigger` has made, if it is there.
  public func dropTemporaryTrigger(_ name: String) async throws(UpsurgeError) {
    let quoted = name.quotedIdentifier
    try await writer.perform { (connection) throws(UpsurgeError) in
      try connection.execute("DROP TRIGGER IF EXISTS temp.\(quoted)")
    }
  }

  /// Makes a view that lives as long as this database is open; a model of its name reads it like a table.
  ///
  ///     try await database.createTemporaryView("high_scores", as: "SELECT * FROM players WHERE score > \(100)")
  ///
  /// - Parameters:
  ///   - name: of the view; one that is there is replaced.
  ///   - select: the rows of the view.
  public func createTemporaryView(_ name: String, as select: SQLText) async throws(UpsurgeError) {
    let sql = try select.spelled()
    let quoted = name.quotedIdentifier
    try await onEachConnection { (connection) throws(UpsurgeError) in
      try connection.execute("DROP VIEW IF EXISTS temp.\(quoted); CREATE TEMP VIEW \(quoted) AS \(sql)")
    }
  }
}
