/// The writing side of a load: what takes its records in the store, and what is judged of them as a whole; belongs to the
/// writing thread.
final class Writing<Transfer: StoreTransfer> {
  let transfer: Transfer
  let note: @Sendable (RunNote) -> Void
  let options: LoadOptions
  private let table: String
  /// What the delivery says of its feed; nil where it belongs to none.
  let delivered: DeliveredFeed?
  private let replaced: ReplacedRecords
  /// Whether the load goes on with an earlier part.
  private let isResumed: Bool
  /// Slots of columns that are NULL where a record lacks them, as their fields are gone.
  private let nulledSlots: [Int]
  /// Whether the records are stored in a transaction that other loads go on with.
  var isSuspended = false
  /// Whether nothing is left to be swept when those are stored.
  var hasSwept = false
  private var hasTooManyRejects = false
  /// Seconds before the reader was started, and those spent waiting for its batches.
  private var prepareSeconds = 0.0
  var waitSeconds = 0.0
  /// Whether a source may keep the run waiting.
  let isSlow: Bool
  /// Seconds that the open transaction has waited for batches.
  private(set) var idleSeconds = 0.0
  private var idleCommitCount = 0
  /// Whether the run has failed while every record that it had was committed.
  private(set) var hasFailedBehindCommit = false

  /// - Parameter isResumed: whether the load goes on with an earlier part.
  init(_ transfer: Transfer, into table: some StoreTable, of run: LoadRun, isResumed: Bool) {
    self.transfer = transfer
    self.table = table.facts.name
    note = run.note
    options = run.job.options
    delivered = run.delivered
    replaced = ReplacedRecords(table, rules: run.job.options.rules)
    self.isResumed = isResumed
    nulledSlots = run.tableOptions.delivery.feed.map { $0.nulledColumns.compactMap(table.columns.slot) } ?? []
    delivered?.begin(columns: table.knownColumns.map(\.name))
    isSlow = run.summary.withLock { $0.sources }.contains { Source($0).isSlow }
  }

  /// Says that the reader was started, so many seconds after the run began.
  func noteStart(seconds: Double) { prepareSeconds = max(seconds - transfer.setUpSeconds, 0) }

  /// Waits until there is a batch or no more come, at most so long.
  /// - Returns: false when the time is over.
  func waits(for batches: BatchChannel, milliseconds: Int) -> Bool {
    let start = MonotonicClock.seconds
    defer { noteWait(since: start) }
    return batches.waits(milliseconds: milliseconds)
  }

  /// Counts a wait for a batch.
  func noteWait(since start: Double) {
    let seconds = MonotonicClock.seconds - start
    waitSeconds += seconds
    if transfer.commitCount != idleCommitCount || !transfer.isInTransaction {
      (idleSeconds, idleCommitCount) = (0, transfer.commitCount)
    }
    if transfer.isInTransaction { idleSeconds += seconds }
  }

  /// Looks at a batch before it is stored.
  func look(at batch: inout Batch) {
    guard let delivered else { return }
    delivered.observe(batch)
    if !nulledSlots.isEmpty && batch.hasAbsentCells { batch.makeNull(where: nulledSlots) }
  }

  /// Decides anew what is known only after the first records.
  func reconsider() throws(UpsurgeError) {
    let isAllCommitted = transfer.hasCommittedAll
    do throws(UpsurgeError) {
      try transfer.reconsider()
    } catch {
      hasFailedBehindCommit = isAllCommitted
      throw error
    }
  }

  /// Commits the rest, unless too large a share was rejected, or nothing was read before the run was interrupted.
  func finish(isInterrupted: Bool) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      // The last rejects may come only now.
      if !isInterrupted || !options.transaction.isAtomic { try transfer.settle() }
      if !isInterrupted {
        try judge()
        try transfer.sweep()
      }
      try writeOutRejects()
    } catch {
      abandon()
      throw error
    }
    let isVoid = transfer.ledger.read == 0 || options.transaction.isAtomic
    if isInterrupted && isVoid { return abandon() }
    let isAllCommitted = !isInterrupted && transfer.hasCommittedAll
    do throws(UpsurgeError) {
      try transfer.finish(isInterrupted: isInterrupted)
    } catch {
      abandon()
      if isAllCommitted { throw error.behindTheLastRecord }
      throw error
    }
    if !isInterrupted { noteTombstone() }
  }

  /// Judges the records as a whole, when all are stored.
  /// - Throws: `badInput`, `guardRefused`.
  func judge() throws(UpsurgeError) {
    try judgeFeed()
    countSkipped()
    try checkRejectShare()
    noteFiltered()
    if let said = replaced.note(of: transfer.ledger, rowLimit: { transfer.rowLimit }) { note(said) }
    if let said = transfer.noteOfRepeatedRows { note(said) }
  }

  /// Before the commit, so that what a full disk refuses is not committed.
  func writeOutRejects() throws(UpsurgeError) {
    try transfer.rejects?.didBegin()
    try transfer.rejects?.flush()
  }

  /// Says so where the condition of the load was true for no record: it may well be wrong.
  private func noteFiltered() {
    let ledger = transfer.ledger
    guard ledger.filtered > 0, ledger.wanted == 0 else { return }
    let what = ledger.read == 1 ? "the only record was" : "all \(ledger.read) records were"
    note(RunNote(.warning, "\(what) left out by \(.where)"))
  }

  /// Says so where no record was a delete, and some might have been.
  func noteTombstone() {
    let ledger = transfer.ledger
    guard let tombstone = options.rules.tombstone, !transfer.hasMetTombstone,
      ledger.wanted > ledger.rejected + ledger.quarantined
    else { return }
    let words = "\(tombstone.column) = \(tombstone.value)".escapedForTerminal
    note(RunNote(.info, "no record had \(words)"))
  }

  /// Ends after an error: what is not committed goes, and its rejects with it. The record that ended the run is in the
  /// message: the file of rejects would have it stored by a replay, and again by the run that goes on.
  func abandon() {
    transfer.rollback()
    // A trial's stay. The first error is the one to tell.
    if options.output.dryRun != nil { try? transfer.rejects?.flush() }
  }

  /// Counts the records that were not read.
  private func countSkipped() {
    transfer.countSkipped()
    if transfer.skippedRecordCount == 0 { return }
    note(
      RunNote(
        .info,
        "\(transfer.skippedRecordCount) of \(transfer.ledger.read) records stand in parts that the last delivery had, too; they "
          + "were not compared (\(.verify) does)"))
  }

  private func checkRejectShare() throws(UpsurgeError) {
    guard case .percent(let limit) = options.rejects.limit else { return }
    let ledger = transfer.ledger
    guard ledger.read > 0, Double(ledger.rejected) * 100 > limit * Double(ledger.read) else { return }
    hasTooManyRejects = true
    let share = limit == limit.rounded() ? "\(Int(limit))" : "\(limit)"
    throw UpsurgeError(
      .badInput,
      "\(ledger.rejected) of \(ledger.read) records \(ledger.rejected == 1 ? "was" : "were") rejected "
        + "(\(transfer.rejectWords)), more than the \(share)% of \(.maxRejects)",
      hint: options.rejectLimitHint)
  }

  /// Judges a delivery whose fields are known at its end.
  /// - Throws: `guardRefused`.
  private func judgeFeed() throws(UpsurgeError) {
    guard let delivered, delivered.goneToNull.isEmpty else { return }
    let rules = delivered.rules
    let skipped = transfer.skippedRecordCount
    let isPart = isResumed || skipped > 0
    let gone = delivered.judge(isPart: isPart, hasRecords: transfer.ledger.read > 0 || skipped > 0)
    if gone.isEmpty { return }
    if skipped > 0 {
      // The parts that were not read may have it.
      transfer.chunks?.giveUp()
      throw UpsurgeError(.guardRefused, "all of the delivery must be read")
    }
    if rules.isDelta, delivered.isUntold, rules.policy == .refuse {
      return note(FeedRules.note(onChangesWithout: gone))
    }
    let nulled = Set((options.delivery.feed?.nulledColumns ?? []).map(SQLName.folded))
    if gone.allSatisfy({ nulled.contains(SQLName.folded(FeedRules.column(of: $0, options: options))) }) {
      return note(rules.note(on: gone, in: table))
    }
    switch rules.policy {
    case .accept, .keep: note(rules.note(on: gone, in: table))
    case .refuse:
      if isResumed { delivered.ask(for: .all) }
      throw rules.refusal(of: gone, in: table, options: options)
    case .null:
      let columns = gone.map { FeedRules.column(of: $0, options: options) }
      delivered.ask(for: isResumed ? .all : .nulling(columns))
      throw rules.refusal(of: gone, in: table, options: options, isStream: true)
    }
  }

  // MARK: - The summary

  /// What would have let the run go on where a record has ended it.
  private var remedy: RunSummary.Remedy? {
    if hasTooManyRejects { return .moreRejects }
    if transfer.fatalReject == nil { return nil }
    return options.rejects.onError == .stop ? .rejecting : .moreRejects
  }

  /// Puts what is known of the records into the summary.
  func record(in summary: Guarded<RunSummary>) {
    summary.withLock { summary in
      summary.progress.hasBegunToWrite = true
      summary.isDryRun = options.output.dryRun != nil
      summary.ledger = transfer.ledger
      summary.progress.committedCount = transfer.committedLedger.read
      summary.progress.committedThrough = transfer.lastCommitted
      summary.rejectsByReason = RunSummary.sorted(transfer.rejectsByReason)
      // What shares a transaction is stored as a whole or not at all.
      summary.progress.isResumable = !isSuspended && transfer.isResumable
      summary.progress.remedy = remedy
      let packing =
        summary.metrics.stages.firstIndex { $0.name == RunStage.pack } ?? summary.metrics.stages.endIndex
      summary.metrics.stages.insert((RunStage.prepare, prepareSeconds), at: packing)
      summary.metrics.stages.append((RunStage.waitForReader, waitSeconds))
      transfer.record(in: &summary)
    }
  }
}

extension UpsurgeError {
  /// The error of a run whose last record is committed.
  var behindTheLastRecord: UpsurgeError {
    var error = self
    error.sayAllCommitted()
    return error
  }
}
