import Upsurge
import UpsurgeRecords
import UpsurgeState
import UpsurgeStorage

/// A run with several connections: see `RunLanes`.
extension PostgresTransfer {
  /// Goes on from where the connections of an earlier part stand: they may have stored more since the run's record was read.
  func goOn(_ lanes: RunLanes) throws(UpsurgeError) {
    guard let begun = (transactions as? PartTransactions)?.begun else { return }
    var progress = try RunText.progress(begun.progress)
    for lane in lanes.progress { progress.add(lane) }
    (ledger, committedLedger) = (progress.ledger, progress.ledger)
    (rejectsByReason, committedRejects) = (progress.rejectsByReason, progress.rejectsByReason)
    hasMetTombstone = progress.hasMetTombstone
  }

  /// Stores a batch over all connections, while what they have committed before is written down.
  func storeRound(_ batch: inout Batch, over lanes: RunLanes) throws(UpsurgeError) {
    var place = inputPlace
    place.begin(batch)
    let first = try place.firstNew(of: batch, sourceNames: context.sourceNames)
    if first.record < batch.recordCount || first.reject < batch.rejects.count {
      try store(&batch, from: first, place, over: lanes)
    }
    place.prove(batch, recordCount: batch.recordCount)
    place.allWarnings.merge(batch.warnings)
    inputPlace = place
  }

  private func store(
    _ batch: inout Batch, from first: (record: Int, reject: Int), _ place: InputPlace, over lanes: RunLanes
  ) throws(UpsurgeError) {
    let file = context.sourceNames[batch.origin.sourceIndex]
    let names = context.sourceNames
    let division = try divide(&batch, from: first.record, lanes) { place.changed(before: $0, names) }
    let seals = lanes.canSeal
    let gate = LaneGate(count: division.workingCount, isFree: lanes.commitsFreely)
    let (seal, lastRecord, rejectedCount) = (
      lanes.seal + (seals ? 1 : 0), batch.recordCount - 1, ledger.rejected
    )
    var failure: UpsurgeError?
    withUnsafeMutablePointer(to: &batch) { batch in
      let round = LaneRound(
        batch: batch, gate: gate, seal: seal, lastRecord: lastRecord, file: file, rejectedCount: rejectedCount
      )
      do throws(UpsurgeError) {
        try lanes.begin(division, round)
        if seals { try self.seal(lanes) }
        gate.noteSealed()
        if gate.awaitAll() {
          // Those that did not wait are at work on what they have done.
          if gate.isFree { lanes.finish() }
          try judge(lanes.outcomes, of: batch.pointee, from: first.reject)
          transactions.noteStored()
          gate.open()
        }
      } catch {
        failure = error
      }
      gate.shut()
      lanes.finish()
    }
    if gate.isFree { noteFree(lanes) }
    try adopt(lanes, failure, of: batch, from: first.reject)
    take(batch, from: first.reject, division, place, lanes)
  }

  /// Says which connection stores which records of a batch.
  private func divide(
    _ batch: inout Batch, from first: Int, _ lanes: RunLanes, changed: (_ line: UInt64) -> UpsurgeError
  ) throws(UpsurgeError) -> RunLanes.Division {
    var same: [Int32] = []
    // Before its mark a connection has stored some of the records, and what comes after those.
    if let walk = lanes.walk, !lanes.isAhead {
      same = try withUnsafePointer(to: &batch) { (batch) throws(UpsurgeError) in
        try walk.same(in: batch, from: first)
      }
      if same.count == batch.recordCount - first, !same.isEmpty {
        return RunLanes.Division(
          records: Array(repeating: LaneRecords(), count: lanes.count), sameCount: same.count)
      }
    }
    let file = context.sourceNames[batch.origin.sourceIndex]
    var division = try lanes.divide(batch, from: first, file: file, changed: changed)
    division.leaveOut(same, of: batch.recordCount)
    return division
  }

  /// Has connections commit without waiting for one another from now on, and says so.
  private func noteFree(_ lanes: RunLanes) {
    if lanes.commitsFreely { return }
    lanes.commitsFreely = true
    context.note(
      RunNote(
        .info,
        "connections of the run wait for locks of one another: from now on each commits as soon as it has stored its records"
      ))
  }

  /// Counts what has been committed, and ends where a connection or a reject has ended the round.
  private func adopt(
    _ lanes: RunLanes, _ failure: UpsurgeError?, of batch: borrowing Batch, from firstReject: Int
  ) throws(UpsurgeError) {
    let outcomes = lanes.outcomes
    var failure = failure
    if failure == nil, outcomes.contains(where: \.hasFatalReject) {
      do { try judge(outcomes, of: batch, from: firstReject) } catch { failure = error }
    }
    if lanes.mayHaveCommitted { transactions.noteStored() }
    for outcome in outcomes where outcome.ledger.read > 0 {
      committedLedger += outcome.ledger
      committedRejects.merge(outcome.rejectsByReason) { $0 + $1 }
      ledger += outcome.ledger
      rejectsByReason.merge(outcome.rejectsByReason) { $0 + $1 }
      hasMetTombstone = hasMetTombstone || outcome.hasMetTombstone
    }
    if let failure {
      if fatalReject == nil { lanes.noteFailure() }
      throw failure
    }
    let failures = outcomes.compactMap(\.failure)
    if failures.isEmpty { return }
    let causes = failures.filter { $0 != .roundEnded }
    // What another process, or another server, has done explains all the rest.
    let first = causes.first { [.takenOver, .commitsLost].contains($0.kind) } ?? causes.first ?? failures[0]
    lanes.noteFailure()
    throw store.session.error(of: first)
  }

  /// Counts the rejects of a round before it is committed.
  /// - Throws: `badInput` at the one that ends the run.
  private func judge(
    _ outcomes: [LaneOutcome], of batch: borrowing Batch, from firstReject: Int
  ) throws(UpsurgeError) {
    let isLimited = if case .count? = options.rejects.limit { true } else { false }
    // There may be many, which are put in order once more here.
    if !isLimited, options.rejects.onError == .reject { return }
    var counts = RejectCounts(ledger: ledger, byReason: rejectsByReason)
    for reject in Self.merged(outcomes.flatMap(\.rejects), of: batch, from: firstReject) {
      try count(reject, in: &counts)
    }
  }

  /// Notes what stands after a round, for the next seal.
  private func take(
    _ batch: borrowing Batch, from firstReject: Int, _ division: RunLanes.Division, _ place: InputPlace,
    _ lanes: RunLanes
  ) {
    var stands = RunLanes.Unsealed()
    stands.same = batches.ledger(ofSame: division.sameCount)
    ledger += stands.same
    stands.rejects = Self.merged(
      division.earlier + lanes.outcomes.flatMap(\.rejects), of: batch, from: firstReject)
    for reject in batch.rejects.dropFirst(firstReject) {
      ledger.count(.rejected)
      rejectsByReason[reject.code, default: 0] += 1
      stands.parserRejects[reject.code, default: 0] += 1
    }
    if kept.isNowhere { for reject in stands.rejects { firstRejects.take(reject) } }
    stands.place = place
    stands.place.prove(batch, recordCount: batch.recordCount)
    last = Self.last(of: batch, batch.recordCount, batch.rejects.count) ?? last
    stands.position = stands.place.position(of: last, sourceNames: context.sourceNames)
    (stands.ledger, stands.rejectsByReason, stands.hasMetTombstone) = (
      ledger, rejectsByReason, hasMetTombstone
    )
    lanes.note(stands, upTo: batch)
    commitCount += 1
    lastCommitted = stands.position.position
  }

  /// The rejects of connections and those of the parser, in the order of the input.
  private static func merged(
    _ own: [(record: Int, reject: Reject)], of batch: borrowing Batch, from firstReject: Int
  ) -> [Reject] {
    var (merged, next) = ([Reject](), firstReject)
    func take(before number: UInt64?, _ batch: borrowing Batch) {
      while next < batch.rejects.count {
        if let number, (batch.rejects[next].position.record ?? 0) >= number { return }
        var reject = batch.rejects[next]
        reject.sourceIndex = batch.origin.sourceIndex
        merged.append(reject)
        next += 1
      }
    }
    for entry in own.sorted(by: { $0.record < $1.record }) {
      take(before: batch.records[entry.record].number, batch)
      merged.append(entry.reject)
    }
    take(before: nil, batch)
    return merged
  }

  // MARK: - Seals

  /// Writes down where the run stands, with the rejects of what its connections have committed.
  private func seal(_ lanes: RunLanes) throws(UpsurgeError) {
    guard let stands = lanes.unsealed else { return }
    var hasTried = false
    try transactions.store { (connection) throws(PostgresFailure) in
      if hasTried { kept.file?.didRollBack() }
      hasTried = true
      guard try lanes.areStanding(connection) else { throw PostgresFailure.lostCommits }
      var entries: [PostgresRejects.Entry] = []
      do throws(UpsurgeError) {
        try kept.file?.didBegin()
        for reject in stands.rejects { try keep(reject, &entries) }
        try kept.file?.flush()
        try kept.file?.willCommit()
      } catch {
        throw transactions.refuse(error)
      }
      let text = ServerText(encoding: store.capabilities.encoding)
      let delivery = kept.countsDeliveries ? transactions.delivery : nil
      try kept.table?.write(entries, of: table.lookupName, delivery: delivery, text, connection)
      var state = state(
        stands.position, stands.ledger, stands.rejectsByReason, stands.place, stands.hasMetTombstone)
      state.position.lanes?.seal += 1
      return state
    }
    lanes.didSeal()
    committedLedger += stands.same
    for (code, count) in stands.parserRejects {
      committedLedger.read += count
      committedLedger.rejected += count
      committedRejects[code, default: 0] += count
    }
    try kept.file?.didCommit()
  }

  /// Writes down what is committed, before the end.
  /// - Parameter isWhole: whether the input is read to its end.
  /// - Throws: `guardRefused` where it has ended before records that are stored.
  func sealLast(_ lanes: RunLanes, isWhole: Bool) throws(UpsurgeError) {
    if lanes.canSeal { return try seal(lanes) }
    guard isWhole, lanes.isAhead else { return }
    throw UpsurgeError(
      .guardRefused,
      "the input ends before records that an earlier run has committed, and this one cannot go on",
      hint:
        "bring it back as it was; or delete what that run has stored, and then \(.resume, "never") loads everything"
    )
  }

  /// Writes down what is committed after an error, which is the one to say.
  func sealAfterError() {
    if let lanes, lanes.canSeal, !lanes.hasFailed { try? seal(lanes) }
  }
}
