import CSQLite
import UpsurgePlan
import UpsurgeRecords
import UpsurgeState

/// Sweeps: removes rows that a snapshot no longer has. It also notes which rows records were about where only their state
/// is asked for (see `RowStateStage`).
final class SweepStage: WriterStage {
  unowned let writer: TableWriter
  /// What the snapshot means; nil where the records are none.
  let rules: SnapshotRules?
  /// The rows that records were about, where others may be swept.
  var seen: SeenRows?
  /// The rows that records of the delivery before this one were about, whose sweep this one takes over.
  private(set) var seenBefore: SeenRows?
  /// Whether a delivery of the table has ended in the transaction of this one, and was swept for itself.
  var followsDelivery = false
  /// The writer of the delivery before, which counts the rows that go because of it.
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
  var revivedCount: UInt64 = 0
  /// What is remembered of deliveries that were not accepted.
  var acceptance = TableWriter.Acceptance()
  /// Why nothing was swept.
  private(set) var guardRefusal: RunProgress.GuardRefusal?

  init(_ writer: TableWriter) {
    self.writer = writer
    rules = writer.settings.delivery.snapshot
  }

  var permits: StorePermits { .all }

  /// The notes of the rows' state, where there are any.
  var rowState: RowStateKeeper? { writer.stages.rowState?.rowState }

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
  ///   `refuseSweep` says which of those stay.
  /// - Throws: `guardRefused` for records outside of their feed's scope: nothing of the transaction is to stay.
  func sweep(_ rules: SnapshotRules, leavesOpen: Bool) throws(UpsurgeError) {
    if rules.sweep == .none {
      let facts = SnapshotFacts(
        readCount: writer.ledger.wanted, filteredCount: writer.ledger.filtered, unreadableCount: 0,
        rowsBefore: 0, unseenCount: 0)
      do throws(UpsurgeError) {
        let refusal = try verdict(rules) { (_) throws(UpsurgeError) in
          rules.refusal(facts, table: plan.schema.name)
        }
        if refusal == nil { try accept(rules) }
        guardRefusal = refusal.map { RunProgress.GuardRefusal($0) }
      } catch {
        throw writer.fail(error)
      }
      try writer.stages.rowState?.end()
      return
    }
    try writer.settle()
    do throws(UpsurgeError) {
      try writer.begin()
      if !writer.isSuspended { try checkScope(rules) }
      if writer.earlier.ledger.read > 0
        && ((rowsBefore ?? 1) > 0 || hasOnlyMarkedRows || acceptance.holdsRows)
      {
        guardRefusal = RunProgress.GuardRefusal(
          "nothing is swept: \(writer.earlier.ledger.read) records were stored by an earlier part of the run, and nobody "
            + "knows any more which rows they were about",
          remedy: "run the job again: it compares all of them")
        try writer.stages.rowState?.finish(unseen: nil)
        try writer.stages.chunks?.finish()
        return
      }
      var scope = try rules.liveScope(of: plan.schema)
      if let rowState, rowState.rules.isOwned { scope = "(\(scope)) AND \(rowState.sweptTerm)" }
      var unswept: UInt64 = 0
      if let kept = rowState?.keptTerm {
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
      writer.stages.rowState?.localEdits.unswept = refusal == nil ? unswept : 0
      try writer.stages.rowState?.finish(unseen: refusal == nil ? rows.unseen : nil)
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

  /// Takes over the sweep of the delivery before this one, which was judged: what goes is what this one does not
  /// have.
  func takeOver(of before: TableWriter) {
    writerBefore = before
    // Records of it that still wait are noted in it, too.
    seenBefore = before.stages.sweep?.seen
  }

  /// Sweeps for the delivery before this one, as this one is not taken for whole: rows that neither of them has.
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
        readCount: writer.ledger.wanted, filteredCount: writer.ledger.filtered,
        unreadableCount: unreadableCount, rowsBefore: 0,
        unseenCount: rows.count,
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

  /// A feed writes only what belongs to it.
  private func checkScope(_ rules: SnapshotRules) throws(UpsurgeError) {
    guard let scope = rules.scope, let seen else { return }
    let outside = "(\(scope)) IS NOT TRUE"
    // A row that somebody here has put outside is passed over, or brought back.
    let kept = rowState?.keptTerm.map { " AND NOT (\($0))" } ?? ""
    let edited = rowState?.editedTerm.map { " AND NOT (\($0))" } ?? ""
    let strays = try writer.count(rowsIn: "\(outside) AND NOT (\(try seen.unseenTerm()))\(kept)")
    // One that a record has brought into the scope was another's, too.
    if strays == 0, try writer.count(rowsIn: outside + edited) == rowsOutside { return }
    throw .outside(scope: scope)
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
  ///   `refuseSweep` says which of those stay.
  /// - Throws: `guardRefused` for records outside of their feed's scope: nothing of the transaction is to stay.
  package func sweep(leavesOpen: Bool = false) throws(UpsurgeError) {
    if let rules = settings.delivery.snapshot, let sweep = stages.sweep {
      try sweep.sweep(rules, leavesOpen: leavesOpen)
    } else {
      try stages.rowState?.end()
    }
  }

  /// Looks whether anything speaks against the sweep, which the next delivery of the table takes over, or which is done
  /// later; `guardRefusal` is what does.
  package func judgeSweep() throws(UpsurgeError) { try stages.sweep?.judge() }

  /// Takes over the sweep of the delivery before this one, which was judged: what goes is what this one does not
  /// have.
  package func takeOverSweep(of before: TableWriter) { stages.sweep?.takeOver(of: before) }

  /// Takes back what a sweep has done since a place to which the caller has rolled back, because rows elsewhere still
  /// refer to rows that it has removed.
  package func refuseSweep() throws(UpsurgeError) { try stages.sweep?.takeBack() }
}
