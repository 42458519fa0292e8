import Upsurge
import UpsurgeRecords
import UpsurgeState
import UpsurgeStorage

/// One of several connections of a run, with its thread: it stores the records of its keys in transactions of its own, each of which
/// notes in the connection's row how far it has come.
final class RunLane: @unchecked Sendable {
  // Sendable because its thread alone touches what changes between `begin` and `finish`, and its owner at other times; `outcome` is read
  // before that, when the thread waits at the gate.

  private let number: Int
  private let table: TargetTable
  private let server: PostgresTarget
  private let capabilities: Capabilities
  private let rejects: LoadOptions.Rejects
  private let owner: String
  private let fenced: FencedTransactions
  private let batches: BatchStore
  private let thread = TurnThread()
  private(set) var mark: LaneMark
  /// What it has stored since the mark's seal.
  private(set) var progress: LaneProgress
  private(set) var outcome = LaneOutcome()
  /// What the COMMIT that comes next waits for.
  private var gate: LaneGate?
  private var endsRound = false
  /// How many rejects the run had before the round.
  private var earlierRejectCount: UInt64 = 0
  /// How often the gate had sent connections back when the transaction began.
  private var retreatCount = 0
  /// Whether it has waited in the round until no other connection was at work.
  private var hasHadTurn = false
  /// How many of the records that are the same as their row are counted.
  private var sameCount = 0

  /// What is to be stored, by which rules, and where.
  struct Place {
    let store: PostgresStore
    let table: TargetTable
    let lanes: PostgresLanes
    let begun: PartTransactions.Begun
    let earlierOwner: String?
    let settings: TransactionSettings
  }

  /// - Parameters:
  ///   - mark: where its row stands.
  ///   - progress: what it has stored beside the run's position.
  init(_ number: Int, _ place: Place, mark: LaneMark, _ progress: LaneProgress) {
    let (store, options) = (place.store, place.store.job.options)
    (self.number, table, self.mark, self.progress) = (number, place.table, mark, progress)
    (server, capabilities, rejects) = (store.session.target, store.capabilities, options.rejects)
    owner = place.begun.owner
    // Each would read the rows of all: see `RoundWalk`.
    batches = BatchStore(place.table, store.capabilities, walks: false)
    let row = LaneRow(lanes: place.lanes, run: place.begun.run, lane: number, owner: place.begun.owner)
    fenced = FencedTransactions(
      to: store.session.target, row: row, earlierOwner: place.earlierOwner, server: place.begun.server,
      settings: place.settings, patience: options.patience, cancellation: store.session.cancellation,
      applicationName: "upsurge connection \(number)")
    fenced.commit = { [unowned self] (connection) throws(PostgresFailure) in try commit(connection) }
    fenced.didFail = { [unowned self] failure in note(failure) }
  }

  /// Adds columns that records of the next batch speak of for the first time.
  func add(_ columns: [ColumnTarget]) { batches.add(columns) }

  /// Begins to store records of a round.
  func begin(_ records: LaneRecords, _ round: LaneRound) throws(UpsurgeError) {
    outcome = LaneOutcome()
    (gate, earlierRejectCount, retreatCount) = (round.gate, round.rejectedCount, 0)
    (sameCount, hasHadTurn) = (0, false)
    try thread.begin { [self] in
      do throws(PostgresFailure) {
        try store(records, round)
      } catch {
        outcome.failure = error
        round.gate.shut()
      }
    }
  }

  func finish() { thread.finish() }

  func end() { thread.end() }

  /// Forgets what it did for the last round.
  func forgetOutcome() { outcome = LaneOutcome() }

  // MARK: - On its thread

  private func commit(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    if endsRound { try arrive() } else { try gate?.awaitSeal() }
    return try connection.commit()
  }

  /// Somebody may hold a lock of this connection's and wait for one of those that wait at the gate.
  /// - Returns: whether no other connection of the round is at work now.
  private func note(_ failure: PostgresFailure) -> Bool {
    guard let gate else { return false }
    defer { retreatCount = gate.retreatCount }
    guard ["40P01", "55P03"].contains(failure.sqlState) else { return false }
    gate.sendBack(isAgain: retreatCount > 0)
    if hasHadTurn || !gate.isFree { return false }
    hasHadTurn = true
    gate.awaitTurn(number)
    return true
  }

  private func arrive() throws(PostgresFailure) {
    do throws(PostgresFailure) {
      try gate?.arrive(number, endsRun: endsRun)
    } catch {
      guard error == .rejectEndsRun else { throw error }
      outcome.hasFatalReject = true
      throw .roundEnded
    }
  }

  /// Stores records in one transaction, or in several where bad ones are found by halves.
  private func store(_ records: LaneRecords, _ round: LaneRound) throws(PostgresFailure) {
    var parts = BatchParts(records.stored.indices, capabilities, isWhole: capabilities.findsBadRecords)
    while let part = parts.next {
      var attempt = Attempt(mark.seal == round.seal ? progress : LaneProgress())
      do throws(PostgresFailure) {
        try fenced.perform(mark.text) { (connection) throws(PostgresFailure) in
          try store(part, of: records, round, &attempt, connection)
        }
      } catch {
        guard let failure = attempt.failure, (try? parts.failed(failure)) != nil else { throw error }
        batches.forget()
        continue
      }
      (mark, progress, sameCount) = (attempt.mark, attempt.progress, attempt.sameCount)
      outcome.ledger += attempt.ledger
      outcome.rejectsByReason.merge(attempt.rejectsByReason) { $0 + $1 }
      outcome.hasMetTombstone = outcome.hasMetTombstone || attempt.progress.hasMetTombstone
      batches.didCommit()
      parts.stored(upTo: attempt.next)
    }
  }

  /// One transaction, as often as it is tried.
  private struct Attempt {
    let before: LaneProgress
    var progress: LaneProgress
    var mark = LaneMark(seal: 0)
    /// Of the transaction alone.
    var ledger = Ledger()
    var rejectsByReason: [Reject.Code: UInt64] = [:]
    /// How many of the records are done with it, and of those that are the same as their row.
    var (next, sameCount) = (0, 0)
    /// What was against a part in which bad records are not found.
    var failure: PostgresFailure?
    /// Whether it was tried before; another try may be one after a connection that broke in the COMMIT.
    var isTried = false
    /// Rejects of the parts before.
    var rejectCount: Int?

    init(_ before: LaneProgress) { (self.before, progress) = (before, before) }
  }

  private func store(
    _ part: BatchPart, of records: LaneRecords, _ round: LaneRound, _ attempt: inout Attempt,
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> (Void, PostgresRuns.Standing) {
    if attempt.isTried { batches.forget() }
    (attempt.failure, attempt.isTried) = (nil, true)
    let rejectCount = attempt.rejectCount ?? outcome.rejects.count
    attempt.rejectCount = rejectCount
    outcome.rejects.removeSubrange(rejectCount...)
    outcome.hasFatalReject = false
    var stored: BatchStore.Outcome
    do {
      stored = try batches.store(part, of: round.batch.pointee, only: records.stored, on: connection)
    } catch {
      if part.savepoints == .none { attempt.failure = error }
      throw error
    }
    let all = records.stored
    attempt.next =
      stored.next.map { next in all.firstIndex { Int($0) >= next } ?? all.count } ?? part.records.upperBound
    endsRound = attempt.next == all.count
    let last = endsRound ? round.lastRecord : Int(all[attempt.next - 1])
    attempt.sameCount = records.same.firstIndex { Int($0) > last } ?? records.same.count
    stored.ledger += batches.ledger(ofSame: attempt.sameCount - sameCount)
    try note(stored, &attempt, round)
    attempt.mark = LaneMark(seal: round.seal, round.batch.pointee, record: last)
    return (
      (), PostgresRuns.Standing(owner: owner, position: attempt.mark.text, progress: attempt.progress.text)
    )
  }

  /// Counts what became of a part's records.
  private func note(
    _ stored: BatchStore.Outcome, _ attempt: inout Attempt, _ round: LaneRound
  ) throws(PostgresFailure) {
    attempt.progress = attempt.before
    attempt.progress.ledger += stored.ledger
    attempt.progress.hasMetTombstone = attempt.before.hasMetTombstone || stored.hasDeletes
    (attempt.ledger, attempt.rejectsByReason) = (stored.ledger, [:])
    let sourceIndex = round.batch.pointee.origin.sourceIndex
    for entry in stored.rejected {
      var reject = entry.reject(in: round.batch.pointee, file: round.file, table: table, server: server)
      reject.sourceIndex = sourceIndex
      attempt.progress.note(reject, sourceIndex: sourceIndex)
      attempt.ledger.read += 1
      attempt.ledger.rejected += 1
      attempt.rejectsByReason[reject.code, default: 0] += 1
      outcome.rejects.append((entry.record, reject))
      // The rejects of all connections are counted together when each has stored its records, if it comes to that.
      if !endsRound, endsRun {
        outcome.hasFatalReject = true
        throw .roundEnded
      }
    }
  }

  /// Whether the rejects that it has ended with end the run, as far as it knows.
  private var endsRun: Bool {
    if outcome.rejects.isEmpty { return false }
    if rejects.onError == .stop { return true }
    if case .count(let most)? = rejects.limit {
      return earlierRejectCount + UInt64(outcome.rejects.count) > most
    }
    return false
  }
}
