import CSQLite
import UpsurgeRecords

/// Sweeps: removes rows that a snapshot no longer has. It also notes which rows records were about where only their state
/// is asked for (see `ClaimStage`).
final class SweepStage: WriterStage {
  unowned let writer: TableWriter
  /// What the snapshot means; nil where the records are none.
  let rules: SnapshotRules?
  /// The rows that records were about, where others may be swept.
  var seen: SeenRows?
  /// The same of the delivery in front of this one, whose sweep this one takes over.
  private(set) var seenBefore: SeenRows?
  /// Whether a delivery of the table has ended in the transaction of this one, and was swept for itself.
  var followsDelivery = false
  /// Its writer, which counts the rows that go because of it.
  private var writerBefore: TableWriter?
  /// Whether nothing has spoken against the sweep of this delivery.
  private var isJudged = false
  /// Rows that a sweep may be about, before the first record; nil where that is found out at the end.
  var rowsBefore: UInt64? = 0
  /// Whether all rows were marked as gone before the first record: none is left to go, and any may come back.
  var hasOnlyMarkedRows = false
  /// Rows outside of the feed's scope, before the first record.
  var rowsOutside: UInt64 = 0
  /// Records of which nobody knows which row they are about.
  var unreadableCount: UInt64 = 0
  /// Rows whose mark the sweep has taken back, as no record has changed them.
  private(set) var revivedCount: UInt64 = 0
  /// What is remembered of deliveries that were not accepted.
  var acceptance = TableWriter.Acceptance()
  /// Why nothing was swept.
  private(set) var guardRefusal: RunProgress.GuardRefusal?

  init(_ writer: TableWriter) {
    self.writer = writer
    rules = writer.settings.snapshot
  }

  var permits: StorePermits { .all }

  /// The notes of the rows' state, where there are any.
  var claims: RowClaims? { writer.stages.claims?.claims }

  // MARK: - The writer's way

  func willCommit(isLast: Bool) throws(UpsurgeError) { try acceptance.rows?.flush() }

  func didRollBack() { acceptance.rows?.didRollBack() }

  func didEnd() { acceptance.rows?.stop() }

  func moveToCurrentThread() {
    seen?.moveToCurrentThread()
    seenBefore?.moveToCurrentThread()
  }

  /// The part of a transaction ends that others go on with: a feed writes only what belongs to it.
  func willSuspend() throws(UpsurgeError) {
    guard let rules, rules.sweep != .none, rules.scope != nil else { return }
    do throws(UpsurgeError) {
      try writer.begin()
      try checkScope(rules)
    } catch {
      throw writer.fail(error)
    }
  }

  // MARK: - Sweeping

  /// Sweeps, in the transaction of the last records, unless something speaks against it.
  /// `guardRefusal` is what does.
  /// - Parameter leavesOpen: whether rows elsewhere may refer to rows that go, because they are swept next, too; then
  ///   `refuseSweep` tells of those that stay.
  /// - Throws: `guardRefused` for records outside of their feed's scope: nothing of the transaction is to stay.
  func sweep(_ rules: SnapshotRules, leavesOpen: Bool) throws(UpsurgeError) {
    if rules.sweep == .none {
      let facts = SnapshotFacts(readCount: writer.ledger.read, unreadableCount: 0, rowsBefore: 0, unseenCount: 0)
      do throws(UpsurgeError) {
        let refusal = try verdict(rules) { (_) throws(UpsurgeError) in
          rules.refusal(facts, table: plan.schema.name)
        }
        if refusal == nil { try accept(rules) }
        guardRefusal = refusal.map { RunProgress.GuardRefusal($0) }
      } catch {
        throw writer.fail(error)
      }
      try writer.stages.claims?.end()
      return
    }
    try writer.settle()
    do throws(UpsurgeError) {
      try writer.begin()
      if !writer.isSuspended { try checkScope(rules) }
      if writer.earlier.ledger.read > 0 && ((rowsBefore ?? 1) > 0 || hasOnlyMarkedRows || acceptance.holdsRows) {
        guardRefusal = RunProgress.GuardRefusal(
          "nothing is swept: \(writer.earlier.ledger.read) records were stored by an earlier part of the run, and nobody "
            + "knows any more which rows they were about", remedy: "run the job again: it compares all of them")
        try writer.stages.claims?.finish(unseen: nil)
        try writer.stages.chunks?.finish()
        return
      }
      var scope = try rules.liveScope(of: plan.schema)
      if let claims, claims.rules.isOwned { scope = "(\(scope)) AND \(claims.sweptTerm)" }
      var unswept: UInt64 = 0
      if let kept = claims?.keptTerm {
        unswept = try writer.count(rowsIn: "(\(scope)) AND \(kept) AND \(try unseenTerm())")
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
      writer.stages.claims?.localEdits.unswept = refusal == nil ? unswept : 0
      try writer.stages.claims?.finish(unseen: refusal == nil ? rows.unseen : nil)
      try writer.stages.chunks?.finish()
      forgetSeen()
      seenBefore?.remove()
      seenBefore = nil
    } catch {
      throw writer.fail(error)
    }
  }

  /// Takes back what a sweep has done since a place to which the caller has rolled back, because rows elsewhere still
  /// refer to rows that it has removed.
  func takeBack() throws(UpsurgeError) {
    guard let rules, rules.sweep != .none else { return }
    if writer.ledger.swept == writer.earlier.ledger.swept && (writerBefore?.ledger.swept ?? 0) == 0 { return }
    writer.tally.ledger.swept = writer.earlier.ledger.swept
    writerBefore?.tally.ledger.swept = 0
    try writer.stages.observer?.didTakeBack()
    if guardRefusal != nil { return }
    try keepUnswept(rules)
    let error = sweepRefusal(nil)
    guardRefusal = RunProgress.GuardRefusal(error)
  }

  /// Looks whether anything speaks against the sweep, which the next delivery of the table takes over, or which is done
  /// later; `guardRefusal` is what does.
  func judge() throws(UpsurgeError) {
    guard let rules, rules.sweep != .none, !isJudged, guardRefusal == nil else { return }
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
      throw writer.fail(error)
    }
  }

  /// Takes over the sweep of the delivery in front of this one, which was judged: what goes is what this one does not
  /// have.
  func takeOver(of before: TableWriter) {
    writerBefore = before
    // Records of it that still wait are noted in it, too.
    seenBefore = before.stages.sweep?.seen
  }

  /// Sweeps for the delivery in front of this one, as this one is not taken for whole: rows that neither of them has.
  private func removeForBefore(
    _ rules: SnapshotRules, _ scope: String, _ rows: SweptRows, leavesOpen: Bool
  ) throws(UpsurgeError) {
    guard let seenBefore, let writerBefore else { return }
    var rows = rows
    rows.unseen = "\(rows.unseen) AND \(try seenBefore.unseenTerm())"
    rows.count = try writer.count(rowsIn: "(\(scope)) AND \(rows.unseen)")
    if let refusal = try remove(rules, scope, rows, leavesOpen: leavesOpen) {
      writerBefore.stages.sweep?.guardRefusal = RunProgress.GuardRefusal(refusal)
    }
    writerBefore.tally.ledger.swept += writer.ledger.swept
    writer.tally.ledger.swept = 0
  }

  private func forgetSeen() {
    seen?.remove()
    seen = nil
    writer.stages.equalRows?.forgetSeen()
  }

  /// Why the delivery is not taken for whole, or too many rows would go.
  private func refusal(
    _ rules: SnapshotRules, _ scope: String, _ rows: SweptRows
  ) throws(UpsurgeError) -> UpsurgeError? {
    try verdict(rules) { (hasUnknownRows) throws(UpsurgeError) in
      // How many rows there were is only asked where some are to go.
      var facts = SnapshotFacts(
        readCount: writer.ledger.read, unreadableCount: unreadableCount, rowsBefore: 0, unseenCount: rows.count,
        hasUnknownRows: hasUnknownRows)
      if rows.count > 0, let seenBefore {
        // The rows that the delivery in front had not were judged with it.
        let there = "(\(scope)) AND NOT (\(try seenBefore.unseenTerm()))"
        facts.rowsBefore = try writer.count(rowsIn: there)
        facts.unseenCount = try writer.count(rowsIn: "\(there) AND \(rows.unseen)")
      } else if rows.count > 0 {
        facts.rowsBefore = try countRowsBefore(rules)
        if acceptance.holdsRows {
          facts.unseenCount = try writer.count(rowsIn: "(\(scope)) AND \(rows.unseen)\(acceptance.term)")
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
  private func remove(
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

  private func sweepRefusal(_ error: UpsurgeError?) -> UpsurgeError {
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
  private func checkScope(_ rules: SnapshotRules) throws(UpsurgeError) {
    guard let scope = rules.scope, let seen else { return }
    let outside = "(\(scope)) IS NOT TRUE"
    // A row that somebody here has put outside is passed over, or brought back.
    let kept = claims?.keptTerm.map { " AND NOT (\($0))" } ?? ""
    let edited = claims?.editedTerm.map { " AND NOT (\($0))" } ?? ""
    let strays = try writer.count(rowsIn: "\(outside) AND NOT (\(try seen.unseenTerm()))\(kept)")
    // One that a record has brought into the scope was another's, too.
    if strays == 0, try writer.count(rowsIn: outside + edited) == rowsOutside { return }
    throw UpsurgeError(
      .guardRefused,
      "records of the delivery are about rows outside of the scope (\(scope.escapedForTerminal))",
      hint: "correct the scope, or leave such records out of the feed")
  }

  private func change(_ sql: String) throws(UpsurgeError) -> UInt64 {
    try connection.interruptible { () throws(UpsurgeError) in
      try connection.execute(sql)
      return UInt64(sqlite3_changes64(connection.handle))
    }
  }
}

extension TableWriter {
  /// Why nothing was swept.
  package var guardRefusal: RunProgress.GuardRefusal? { stages.sweep?.guardRefusal }

  /// Rows whose mark the sweep has taken back, as no record has changed them.
  package var revivedCount: UInt64 { stages.sweep?.revivedCount ?? 0 }

  /// What is remembered of deliveries that were not accepted.
  package var acceptance: Acceptance { stages.sweep?.acceptance ?? Acceptance() }

  /// Whether a delivery of the table has ended in the transaction of this one, and was swept for itself.
  package var followsDelivery: Bool {
    get { stages.sweep?.followsDelivery ?? false }
    set { stages.sweep?.followsDelivery = newValue }
  }

  /// Sweeps, in the transaction of the last records, unless something speaks against it.
  /// `guardRefusal` is what does.
  /// - Parameter leavesOpen: whether rows elsewhere may refer to rows that go, because they are swept next, too; then
  ///   `refuseSweep` tells of those that stay.
  /// - Throws: `guardRefused` for records outside of their feed's scope: nothing of the transaction is to stay.
  package func sweep(leavesOpen: Bool = false) throws(UpsurgeError) {
    if let rules = settings.snapshot, let sweep = stages.sweep {
      try sweep.sweep(rules, leavesOpen: leavesOpen)
    } else {
      try stages.claims?.end()
    }
  }

  /// Looks whether anything speaks against the sweep, which the next delivery of the table takes over, or which is done
  /// later; `guardRefusal` is what does.
  package func judgeSweep() throws(UpsurgeError) { try stages.sweep?.judge() }

  /// Takes over the sweep of the delivery in front of this one, which was judged: what goes is what this one does not
  /// have.
  package func takeOverSweep(of before: TableWriter) { stages.sweep?.takeOver(of: before) }

  /// Takes back what a sweep has done since a place to which the caller has rolled back, because rows elsewhere still
  /// refer to rows that it has removed.
  package func refuseSweep() throws(UpsurgeError) { try stages.sweep?.takeBack() }
}
