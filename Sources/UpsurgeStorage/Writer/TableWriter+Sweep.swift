import CSQLite
import UpsurgeRecords

/// Removing rows that a snapshot no longer has.
extension TableWriter {
  /// Sweeps, in the transaction of the last records, unless something speaks against it.
  /// `guardRefusal` is what does.
  /// - Throws: `guardRefused` for records outside of their feed's scope: nothing of the transaction is to stay.
  package func sweep() throws(UpsurgeError) {
    guard let rules = settings.snapshot, rules.sweep != .none else { return }
    try storeGathered()
    do throws(UpsurgeError) {
      try begin()
      try checkScope(rules)
      if earlier.ledger.read > 0 && rowsBefore > 0 {
        guardRefusal = RunProgress.GuardRefusal(
          message:
            "nothing is swept: \(earlier.ledger.read) records were stored by an earlier part of the run, and nobody "
            + "knows any more which rows they were about", hint: "run the job again: it compares all of them")
        return
      }
      let scope = try rules.liveScope(of: plan.schema)
      let unseen = try unseenTerm()
      let facts = SnapshotFacts(
        readCount: ledger.read, unreadableCount: unreadableCount, rowsBefore: rowsBefore,
        unseenCount: try count(rowsIn: "(\(scope)) AND \(unseen)"))
      var refusal = rules.refusal(facts, table: plan.schema.name)
      if refusal == nil { refusal = try remove(rules, scope, unseen) }
      guardRefusal = refusal.map { RunProgress.GuardRefusal(message: $0.message, hint: $0.hint) }
      try seen?.remove()
      seen = nil
    } catch {
      throw fail(error)
    }
  }

  private func unseenTerm() throws(UpsurgeError) -> String {
    guard let seen else { return "0" }
    return try seen.unseenTerm()
  }

  /// - Returns: why the rows could not be removed; then none is.
  private func remove(
    _ rules: SnapshotRules, _ scope: String, _ unseen: String
  ) throws(UpsurgeError) -> UpsurgeError? {
    let table = "main.\(try SQLName.quote(plan.schema.name))"
    try connection.execute("SAVEPOINT upsurge_sweep")
    do throws(UpsurgeError) {
      switch rules.sweep {
      case .none: break
      case .hard:
        ledger.swept += try change("DELETE FROM \(table) WHERE (\(scope)) AND \(unseen)")
      case .soft(let name):
        let mark = try SoftMark(name, in: plan.schema)
        ledger.swept += try change(
          "UPDATE \(table) SET \(mark.name) = \(mark.gone) WHERE (\(scope)) AND \(unseen)")
        if seen != nil {
          let whole = rules.scope.map { "(\($0)) AND " } ?? ""
          _ = try change(
            "UPDATE \(table) SET \(mark.name) = \(mark.there) WHERE \(whole)NOT (\(mark.isThere)) AND NOT (\(unseen))"
          )
        }
      }
    } catch {
      guard error.isConstraintViolation, !connection.isInAutocommit else { throw error }
      try connection.execute("ROLLBACK TO upsurge_sweep; RELEASE upsurge_sweep")
      return refused(error)
    }
    if connection.status(SQLITE_DBSTATUS_DEFERRED_FKS) != 0 {
      ledger.swept = 0
      try connection.execute("ROLLBACK TO upsurge_sweep; RELEASE upsurge_sweep")
      return refused(nil)
    }
    try connection.execute("RELEASE upsurge_sweep")
    return nil
  }

  private func refused(_ error: UpsurgeError?) -> UpsurgeError {
    let children = plan.schema.referencingTables.joined(separator: ", ").escapedForTerminal
    let cause =
      children.isEmpty
      ? error?.message ?? "" : "rows of \(children) refer to rows that are not in the delivery"
    return UpsurgeError(
      .guardRefused, "nothing is swept from table \(plan.schema.name.escapedForTerminal): \(cause)",
      hint: children.isEmpty
        ? "look at the triggers and constraints of the table"
        : "mirror \(children) in the same job, or ON DELETE CASCADE",
      underlyingCode: error?.underlyingCode)
  }

  /// A feed writes only what belongs to it.
  private func checkScope(_ rules: SnapshotRules) throws(UpsurgeError) {
    guard let scope = rules.scope, let seen else { return }
    let outside = try count(rowsIn: "(\(scope)) IS NOT 1 AND NOT (\(try seen.unseenTerm()))")
    if outside == 0 { return }
    throw UpsurgeError(
      .guardRefused,
      "\(outside) records of the delivery are about rows outside of the scope (\(scope.escapedForTerminal))",
      hint: "correct the scope, or leave such records out of the feed")
  }

  func count(rowsIn condition: String) throws(UpsurgeError) -> UInt64 {
    let table = try SQLName.quote(plan.schema.name)
    return try connection.interruptible { () throws(UpsurgeError) in
      let count = try connection.integer("SELECT count(*) FROM main.\(table) WHERE \(condition)")
      return UInt64(count ?? 0)
    }
  }

  private func change(_ sql: String) throws(UpsurgeError) -> UInt64 {
    try connection.interruptible { () throws(UpsurgeError) in
      try connection.execute(sql)
      return UInt64(sqlite3_changes64(connection.handle))
    }
  }
}

/// How a column says that its row is gone.
struct SoftMark {
  /// Quoted.
  let name: String
  /// SQL for a row that is gone.
  let gone: String
  /// SQL for a row that is there.
  let there: String
  /// SQL that is true of a row that is there.
  let isThere: String

  /// - Throws: `usage` where the table lacks the column.
  init(_ column: String, in schema: TableSchema) throws(UpsurgeError) {
    guard let index = schema.columnIndex(column), schema.columns[index].generation == .none else {
      throw UpsurgeError(
        .usage,
        "sweep: soft: table \(schema.name.escapedForTerminal) has no column \(column.escapedForTerminal)",
        hint: "ALTER TABLE adds one such as deleted_at TEXT")
    }
    let found = schema.columns[index]
    name = try SQLName.quote(found.name)
    switch found.affinity {
    case .text, .none: gone = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
    case .numeric, .integer, .real: gone = "1"
    }
    there = found.isNotNull ? found.defaultExpression.map { "(\($0))" } ?? "0" : "NULL"
    isThere = "\(name) IS NULL OR \(name) = 0 OR \(name) = ''"
  }
}

extension SnapshotRules {
  /// SQL that is true of the rows that a sweep is about: in scope, and not swept before.
  func liveScope(of schema: TableSchema) throws(UpsurgeError) -> String {
    var terms = scope.map { ["(\($0))"] } ?? []
    if case .soft(let column) = sweep { terms.append("(\(try SoftMark(column, in: schema).isThere))") }
    return terms.isEmpty ? "1" : terms.joined(separator: " AND ")
  }
}
