import CSQLite
import UpsurgeRecords

/// Removing rows that a snapshot no longer has.
extension TableWriter {
  /// Sweeps, in the transaction of the last records, unless something speaks against it.
  /// `guardRefusal` is what does.
  /// - Parameter leavesOpen: whether rows elsewhere may refer to rows that go, because they are swept next, too; then
  ///   `refuseSweep` tells of those that stay.
  /// - Throws: `guardRefused` for records outside of their feed's scope: nothing of the transaction is to stay.
  package func sweep(leavesOpen: Bool = false) throws(UpsurgeError) {
    guard let rules = settings.snapshot else { return try stages.claims?.end() ?? () }
    if rules.sweep == .none {
      let facts = SnapshotFacts(readCount: ledger.read, unreadableCount: 0, rowsBefore: 0, unseenCount: 0)
      do throws(UpsurgeError) {
        let refusal = try verdict(rules) { (_) throws(UpsurgeError) in
          rules.refusal(facts, table: plan.schema.name)
        }
        if refusal == nil { try accept(rules) }
        guardRefusal = refusal.map { RunProgress.GuardRefusal($0) }
      } catch {
        throw fail(error)
      }
      return try stages.claims?.end() ?? ()
    }
    try settle()
    do throws(UpsurgeError) {
      try begin()
      if !isSuspended { try checkScope(rules) }
      if earlier.ledger.read > 0 && ((rowsBefore ?? 1) > 0 || hasOnlyMarkedRows || acceptance.holdsRows) {
        guardRefusal = RunProgress.GuardRefusal(
          "nothing is swept: \(earlier.ledger.read) records were stored by an earlier part of the run, and nobody "
            + "knows any more which rows they were about", remedy: "run the job again: it compares all of them")
        try stages.claims?.finish(unseen: nil)
        return try finishChunks()
      }
      var scope = try rules.liveScope(of: plan.schema)
      if let claims = stages.claims?.claims, claims.rules.isOwned { scope = "(\(scope)) AND \(claims.sweptTerm)" }
      var unswept: UInt64 = 0
      if let kept = stages.claims?.claims.keptTerm {
        unswept = try count(rowsIn: "(\(scope)) AND \(kept) AND \(try unseenTerm())")
        scope = "(\(scope)) AND NOT \(kept)"
      }
      let rows = try sweptRows(rules, scope)
      var refusal = guardRefusal?.error
      if refusal == nil && !isJudged { refusal = try self.refusal(rules, scope, rows) }
      if refusal == nil {
        refusal = try remove(rules, scope, rows, leavesOpen: leavesOpen)
        if refusal == nil { try accept(rules) } else { try keepUnswept(rules) }
      } else {
        try removeForBefore(rules, scope, rows, leavesOpen: leavesOpen)
      }
      guardRefusal = refusal.map { RunProgress.GuardRefusal($0) }
      stages.claims?.localEdits.unswept = refusal == nil ? unswept : 0
      try stages.claims?.finish(unseen: refusal == nil ? rows.unseen : nil)
      try finishChunks()
      forgetSeen()
      seenBefore?.remove()
      seenBefore = nil
    } catch {
      throw fail(error)
    }
  }

  /// Looks whether anything speaks against the sweep, which the next delivery of the table takes over, or which is done
  /// later; `guardRefusal` is what does.
  package func judgeSweep() throws(UpsurgeError) {
    guard let rules = settings.snapshot, rules.sweep != .none, !isJudged, guardRefusal == nil else { return }
    do throws(UpsurgeError) {
      let scope = try rules.liveScope(of: plan.schema)
      let refusal = try refusal(rules, scope, sweptRows(rules, scope))
      guardRefusal = refusal.map { RunProgress.GuardRefusal($0) }
      isJudged = refusal == nil
      if !isJudged { return }
      try accept(rules)
      seenBefore?.remove()
      seenBefore = nil
    } catch {
      throw fail(error)
    }
  }

  /// Takes over the sweep of the delivery in front of this one, which was judged: what goes is what this one does not
  /// have.
  package func takeOverSweep(of before: TableWriter) {
    writerBefore = before
    // Records of it that still wait are noted in it, too.
    seenBefore = before.seen
  }

  /// Sweeps for the delivery in front of this one, as this one is not taken for whole: rows that neither of them has.
  private func removeForBefore(
    _ rules: SnapshotRules, _ scope: String, _ rows: SweptRows, leavesOpen: Bool
  ) throws(UpsurgeError) {
    guard let seenBefore, let writerBefore else { return }
    var rows = rows
    rows.unseen = "\(rows.unseen) AND \(try seenBefore.unseenTerm())"
    rows.count = try count(rowsIn: "(\(scope)) AND \(rows.unseen)")
    if let refusal = try remove(rules, scope, rows, leavesOpen: leavesOpen) {
      writerBefore.guardRefusal = RunProgress.GuardRefusal(refusal)
    }
    writerBefore.tally.ledger.swept += ledger.swept
    tally.ledger.swept = 0
  }

  private func forgetSeen() {
    seen?.remove()
    seen = nil
    stages.equalRows?.forgetSeen()
  }

  /// Why the delivery is not taken for whole, or too many rows would go.
  private func refusal(
    _ rules: SnapshotRules, _ scope: String, _ rows: SweptRows
  ) throws(UpsurgeError) -> UpsurgeError? {
    try verdict(rules) { (hasUnknownRows) throws(UpsurgeError) in
      // How many rows there were is only asked where some are to go.
      var facts = SnapshotFacts(
        readCount: ledger.read, unreadableCount: unreadableCount, rowsBefore: 0, unseenCount: rows.count,
        hasUnknownRows: hasUnknownRows)
      if rows.count > 0, let seenBefore {
        // The rows that the delivery in front had not were judged with it.
        let there = "(\(scope)) AND NOT (\(try seenBefore.unseenTerm()))"
        facts.rowsBefore = try count(rowsIn: there)
        facts.unseenCount = try count(rowsIn: "\(there) AND \(rows.unseen)")
      } else if rows.count > 0 {
        facts.rowsBefore = try countRowsBefore(rules)
        if acceptance.holdsRows {
          facts.unseenCount = try count(rowsIn: "(\(scope)) AND \(rows.unseen)\(acceptance.term)")
        }
      }
      return rules.refusal(facts, table: plan.schema.name)
    }
  }

  /// The rows that no record was about.
  private struct SweptRows {
    /// SQL that is true of them.
    var unseen: String
    /// SQL that is true of rows that a record was about, if not of all of them: those that were not read are as they were.
    var seen: String
    /// How many of the first ones are in scope.
    var count: UInt64
  }

  private func sweptRows(_ rules: SnapshotRules, _ scope: String) throws(UpsurgeError) -> SweptRows {
    if let chunkWriter, chunkWriter.chunks.skippedRecordCount > 0 {
      let rowid = plan.schema.rowidName ?? "rowid"
      var rowids = goneRowids
      if rowids == nil { rowids = try goneRows(chunkWriter) }
      let gone = try RowList(rowids ?? [], rowidName: rowid, on: connection)
      let isSoft = rules.sweep != .hard
      let seen = try RowList(isSoft ? seen?.rowids() ?? [] : [], rowidName: rowid, on: connection)
      return SweptRows(
        unseen: gone.term, seen: seen.term, count: try count(rowsIn: "(\(scope)) AND \(gone.term)"))
    }
    let unseen = try unseenTerm()
    // What is there and was not before has come from elsewhere, as by a trigger.
    if hasOnlyMarkedRows && rules.scope == nil {
      return SweptRows(unseen: "0", seen: "NOT (\(unseen))", count: 0)
    }
    var unseenCount = try countUnseen(rules)
    if unseenCount == nil { unseenCount = try count(rowsIn: "(\(scope)) AND \(unseen)") }
    return SweptRows(unseen: unseen, seen: "NOT (\(unseen))", count: unseenCount ?? 0)
  }

  func unseenTerm() throws(UpsurgeError) -> String {
    guard let seen else { return "0" }
    return try seen.unseenTerm()
  }

  /// - Returns: why the rows could not be removed; then none is.
  private func remove(
    _ rules: SnapshotRules, _ scope: String, _ rows: SweptRows, leavesOpen: Bool
  ) throws(UpsurgeError) -> UpsurgeError? {
    let unseen = rows.unseen
    let table = "main.\(try SQLName.quote(plan.schema.name))"
    let isReferredToByItself = plan.schema.referencingTables.contains { SQLName.isSame($0, plan.schema.name) }
    let rowCount = isReferredToByItself ? try count(rowsIn: "1") : 0
    try connection.execute("SAVEPOINT upsurge_sweep")
    do throws(UpsurgeError) {
      switch rules.sweep {
      case .none: break
      case .hard:
        if rows.count == 0 { break }
        try stages.observer?.show(rowsIn: "(\(scope)) AND \(unseen)")
        tally.ledger.swept += try change("DELETE FROM \(table) WHERE (\(scope)) AND \(unseen)")
      case .soft(let name):
        let mark = try SoftMark(name, in: plan.schema, rules)
        try stages.observer?.show(rowsIn: "(\(scope)) AND \(unseen)", mark: mark, as: mark.gone)
        tally.ledger.swept += try change(
          "UPDATE \(table) SET \(mark.name) = \(mark.gone) WHERE (\(scope)) AND \(unseen)")
        if seen != nil {
          let whole = rules.scope.map { "(\($0)) AND " } ?? ""
          let revived = "\(whole)NOT (\(mark.isThere)) AND \(rows.seen)"
          try stages.observer?.show(rowsIn: revived, mark: mark, as: mark.there)
          revivedCount += try change("UPDATE \(table) SET \(mark.name) = \(mark.there) WHERE \(revived)")
        }
      }
    } catch {
      guard error.isConstraintViolation, !connection.isInAutocommit else { throw error }
      try takeBackSweep()
      return sweepRefusal(error)
    }
    let swept = rules.sweep == .hard ? ledger.swept - earlier.ledger.swept : 0
    let isBeyond = isReferredToByItself ? try count(rowsIn: "1") + swept != rowCount : false
    if !leavesOpen && connection.hasOpenReferences || isBeyond {
      try takeBackSweep()
      return sweepRefusal(nil)
    }
    try connection.execute("RELEASE upsurge_sweep")
    return nil
  }

  private func takeBackSweep() throws(UpsurgeError) {
    tally.ledger.swept = earlier.ledger.swept
    revivedCount = 0
    try connection.execute("ROLLBACK TO upsurge_sweep; RELEASE upsurge_sweep")
    try stages.observer?.didTakeBack()
  }

  func sweepRefusal(_ error: UpsurgeError?) -> UpsurgeError {
    let children = plan.schema.referencingTables.joined(separator: ", ").escapedForTerminal
    let cause =
      children.isEmpty
      ? error?.message ?? "" : "rows of \(children) refer to rows that are not in the delivery"
    return UpsurgeError(
      .guardRefused, "nothing is swept from table \(plan.schema.name.escapedForTerminal): \(cause)",
      hint: children.isEmpty
        ? "look at the triggers and constraints of the table"
        : "delete or change those rows of \(children), or mirror that table in the same job, so that they go first; then run the "
          + "job again",
      underlyingCode: error?.underlyingCode)
  }

  /// A feed writes only what belongs to it.
  func checkScope(_ rules: SnapshotRules) throws(UpsurgeError) {
    guard let scope = rules.scope, let seen else { return }
    let outside = "(\(scope)) IS NOT TRUE"
    // A row that somebody here has put outside is passed over, or brought back.
    let kept = stages.claims?.claims.keptTerm.map { " AND NOT (\($0))" } ?? ""
    let edited = stages.claims?.claims.editedTerm.map { " AND NOT (\($0))" } ?? ""
    let strays = try count(rowsIn: "\(outside) AND NOT (\(try seen.unseenTerm()))\(kept)")
    // One that a record has brought into the scope was another's, too.
    if strays == 0, try count(rowsIn: outside + edited) == rowsOutside { return }
    throw UpsurgeError(
      .guardRefused,
      "records of the delivery are about rows outside of the scope (\(scope.escapedForTerminal))",
      hint: "correct the scope, or leave such records out of the feed")
  }

  func count(rowsIn condition: String) throws(UpsurgeError) -> UInt64 {
    // There is no table yet whose rows they could be: its records are kept until there is.
    if plan.schema.columns.isEmpty { return 0 }
    let table = try SQLName.quote(plan.schema.name)
    return try connection.interruptible { () throws(UpsurgeError) in
      // Without a condition SQLite counts the entries of pages.
      let filter = condition == "1" ? "" : " WHERE \(condition)"
      let count = try connection.integer("SELECT count(*) FROM main.\(table)\(filter)")
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
