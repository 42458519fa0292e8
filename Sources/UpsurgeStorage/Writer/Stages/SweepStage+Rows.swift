import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Which rows a sweep is about, and removing them.
extension SweepStage {
  /// The rows that no record was about.
  struct SweptRows {
    /// SQL that is true of them.
    var unseen: String
    /// SQL that is true of rows that a record was about, if not of all of them: those that were not read are as they were.
    var seen: String
    /// How many of the first ones are in scope.
    var count: UInt64
  }

  func sweptRows(_ rules: SnapshotRules, _ scope: String) throws(UpsurgeError) -> SweptRows {
    if let rowids = try writer.stages.chunks?.goneRowids() {
      let rowid = plan.schema.rowidName ?? "rowid"
      let gone = try RowList(rowids, rowidName: rowid, on: connection)
      let isSoft = rules.sweep != .hard
      let seen = try RowList(isSoft ? seen?.rowids() ?? [] : [], rowidName: rowid, on: connection)
      return SweptRows(
        unseen: gone.term, seen: seen.term, count: try writer.count(rowsIn: "(\(scope)) AND \(gone.term)"))
    }
    let unseen = try unseenTerm()
    // What is there and was not before has come from elsewhere, as by a trigger.
    if hasOnlyMarkedRows && rules.scope == nil {
      return SweptRows(unseen: "0", seen: "NOT (\(unseen))", count: 0)
    }
    var unseenCount = try countUnseen(rules)
    if unseenCount == nil { unseenCount = try writer.count(rowsIn: "(\(scope)) AND \(unseen)") }
    return SweptRows(unseen: unseen, seen: "NOT (\(unseen))", count: unseenCount ?? 0)
  }

  func unseenTerm() throws(UpsurgeError) -> String {
    guard let seen else { return "0" }
    return try seen.unseenTerm()
  }

  /// - Returns: why the rows could not be removed; then none is.
  func remove(
    _ rules: SnapshotRules, _ scope: String, _ rows: SweptRows, leavesOpen: Bool
  ) throws(UpsurgeError) -> UpsurgeError? {
    let unseen = rows.unseen
    let table = "main.\(try SQLName.quote(plan.schema.name))"
    let isReferredToByItself = plan.schema.referencingTables.contains { SQLName.isSame($0, plan.schema.name) }
    let rowCount = isReferredToByItself ? try writer.count(rowsIn: "1") : 0
    try connection.execute("SAVEPOINT upsurge_sweep")
    do throws(UpsurgeError) {
      switch rules.sweep {
      case .none: break
      case .hard:
        if rows.count == 0 { break }
        try writer.stages.observer?.show(rowsIn: "(\(scope)) AND \(unseen)")
        writer.tally.ledger.swept += try change("DELETE FROM \(table) WHERE (\(scope)) AND \(unseen)")
      case .soft(let name):
        let mark = try SoftMark(name, in: plan.schema, rules)
        try writer.stages.observer?.show(rowsIn: "(\(scope)) AND \(unseen)", mark: mark, as: mark.gone)
        writer.tally.ledger.swept += try change(
          "UPDATE \(table) SET \(mark.name) = \(mark.gone) WHERE (\(scope)) AND \(unseen)")
        if seen != nil {
          let whole = rules.scope.map { "(\($0)) AND " } ?? ""
          let revived = "\(whole)NOT (\(mark.isThere)) AND \(rows.seen)"
          try writer.stages.observer?.show(rowsIn: revived, mark: mark, as: mark.there)
          revivedCount += try change("UPDATE \(table) SET \(mark.name) = \(mark.there) WHERE \(revived)")
        }
      }
    } catch {
      guard error.isConstraintViolation, !connection.isInAutocommit else { throw error }
      try takeBackSweep()
      return sweepRefusal(error)
    }
    let swept = rules.sweep == .hard ? writer.ledger.swept - writer.earlier.ledger.swept : 0
    let isBeyond = isReferredToByItself ? try writer.count(rowsIn: "1") + swept != rowCount : false
    if !leavesOpen && connection.hasOpenReferences || isBeyond {
      try takeBackSweep()
      return sweepRefusal(nil)
    }
    try connection.execute("RELEASE upsurge_sweep")
    return nil
  }

  private func takeBackSweep() throws(UpsurgeError) {
    writer.tally.ledger.swept = writer.earlier.ledger.swept
    revivedCount = 0
    try connection.execute("ROLLBACK TO upsurge_sweep; RELEASE upsurge_sweep")
    try writer.stages.observer?.didTakeBack()
  }

  func sweepRefusal(_ error: UpsurgeError?) -> UpsurgeError {
    .nothingSwept(from: plan.schema.name, children: plan.schema.referencingTables, because: error)
  }

  private func change(_ sql: String) throws(UpsurgeError) -> UInt64 {
    try connection.interruptible { () throws(UpsurgeError) in
      try connection.execute(sql)
      return UInt64(sqlite3_changes64(connection.handle))
    }
  }
}
