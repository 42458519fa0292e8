/// The writing side of a run: connection, table, writer and the rejects file; belongs to the writing thread.
final class Writing {
  let connection: Connection
  let table: PreparedTable
  let writer: TableWriter
  let upkeep: TableUpkeep
  let note: @Sendable (RunNote) -> Void
  /// nil where rejects are only counted.
  let rejects: (any RejectSink)?
  let options: LoadOptions
  /// What the delivery tells of its feed; nil where it is of none.
  let delivered: DeliveredFeed?
  /// Whether the load goes on with an earlier part.
  let isResumed: Bool
  /// Slots of columns that are NULL where a record lacks them, as their fields are gone.
  let nulledSlots: [Int]
  private let cacheByteCount: Int
  /// Known once everything is committed.
  var supersededCount: UInt64 = 0
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
  private let triggerCount: Int
  private var hasNotedSorting = false
  /// Whether the run has failed while every record that it had was committed.
  private(set) var hasFailedBehindCommit = false
  private static let allCommitted = " (all rows are committed)"

  /// - Parameter before: the load in front of this one, which has ended in the same transaction.
  init(
    connection: Connection, table: PreparedTable, upkeep: TableUpkeep, run: LoadRun, keeper: RunKeeper?,
    resumed: RunRecord?, chunks: DeliveryChunks? = nil, behind before: Writing? = nil
  ) throws(UpsurgeError) {
    self.connection = connection
    self.table = table
    self.upkeep = upkeep
    note = run.note
    options = run.job.options
    delivered = run.delivered
    isResumed = resumed != nil
    nulledSlots = run.tableOptions.feed.map { $0.nulledColumns.compactMap(table.columns.slot) } ?? []
    delivered?.begin(columns: table.plan.columns.map(\.name))
    cacheByteCount = connection.pageCacheByteCount
    if let before {
      triggerCount = before.triggerCount
    } else {
      triggerCount = try TriggerText.read(connection, table: table.facts.name).count
    }
    let sourceNames = run.summary.withLock { $0.sources }
    isSlow = sourceNames.contains(where: FeedsAhead.isSlow)
    let rejects = try options.rejectSink(
      connection, table: table.facts.name, contexts: run.contexts, sourceNames: sourceNames,
      resumed: resumed, note: note)
    self.rejects = rejects
    var settings = WriterSettings(options, for: table, of: run)
    settings.commitsOnce = upkeep.hasSetAside || options.isAtomic
    settings.chunks = chunks
    if let before { settings.snapshot?.lastCount = before.writer.ledger.read }
    let preview = try Preview(
      options, connection: connection, setup: table.createdStatements + upkeep.statements,
      sourceNames: sourceNames, goingOnAt: resumed?.position.outputLengths ?? [:], note: note)
    keeper?.keep(rejects, at: options.rejects?.place, preview.files, after: resumed)
    writer = try TableWriter(
      connection: connection, plan: table.plan, sourceNames: sourceNames, settings: settings,
      observer: preview.observer, transactionObserver: rejects, keeper: keeper, resumed: resumed,
      behind: before?.writer,
      rejectSink: { reject throws(UpsurgeError) in try rejects?.write(reject) })
    writer.isGatheringPaused = upkeep.isUndecided
  }

  /// Says that the reader was started, so many seconds after the run began.
  func noteStart(seconds: Double) {
    prepareSeconds = max(seconds - upkeep.indexSeconds - upkeep.fullTextSeconds, 0)
  }

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
    if writer.statistics.commitCount != idleCommitCount || !writer.isInTransaction {
      (idleSeconds, idleCommitCount) = (0, writer.statistics.commitCount)
    }
    if writer.isInTransaction { idleSeconds += seconds }
  }

  /// Sets indexes and FTS5 tables aside on the way, when the first records show that it pays.
  func reconsiderUpkeep() throws(UpsurgeError) {
    // Of a delivery that is known in parts, how many rows change says nothing of the rest.
    if writer.settings.chunks?.maySkip == true { return }
    let isAllCommitted = writer.hasCommittedAll
    do throws(UpsurgeError) {
      for decision in try upkeep.reconsider(writer) { note(decision.note) }
    } catch {
      hasFailedBehindCommit = isAllCommitted
      throw error
    }
    writer.isGatheringPaused = upkeep.isUndecided
    if writer.statistics.sortedRecordCount > 0, !hasNotedSorting, let key = writer.sortKeyWords {
      hasNotedSorting = true
      note(
        RunNote(
          .detail,
          "keys arrive in no order, so records are sorted by \(key) before they are stored, at most"
            + " \(writer.settings.sorting.byteCount >> 20) MiB of them at once; \(.inputOrder) stores them as they come"
        ))
    }
  }

  /// Builds what was set aside and commits the rest, unless too large a share was rejected, or nothing was read
  /// before the run was interrupted.
  func finish(isInterrupted: Bool) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      // The last rejects may come only now.
      if !isInterrupted || !options.isAtomic { try writer.settle() }
      if !isInterrupted {
        try judgeFeed()
        countSkipped()
        try checkRejectShare()
        try writer.sweep()
      }
      // Before the commit, so that what a full disk refuses is not committed.
      try rejects?.didBegin()
      try rejects?.flush()
    } catch {
      abandon()
      throw error
    }
    let isVoid = writer.ledger.read == 0 || options.isAtomic
    if isInterrupted && isVoid { return abandon() }
    let isAllCommitted = !isInterrupted && writer.hasCommittedAll
    do throws(UpsurgeError) {
      try upkeep.finish(writer, isInterrupted: isInterrupted) { note(RunNote(.info, $0)) }
      try writer.finish(isInterrupted: isInterrupted)
    } catch {
      abandon()
      if isAllCommitted { throw Writing.behindTheLast(error) }
      throw error
    }
    supersededCount = writer.supersededCount
    if !isInterrupted { noteTombstone() }
  }

  /// Says so where no record was a delete, and some might have been.
  func noteTombstone() {
    let ledger = writer.ledger
    guard let tombstone = options.rules.tombstone, !writer.hasMetTombstone,
      ledger.read > ledger.rejected + ledger.quarantined
    else { return }
    let words = "\(tombstone.column) = \(tombstone.value)".escapedForTerminal
    note(RunNote(.info, "no record had \(words)"))
  }

  /// The error of a run whose last record is committed.
  static func behindTheLast(_ error: UpsurgeError) -> UpsurgeError {
    var error = error
    if !error.message.hasSuffix(allCommitted) { error.said += Wording(allCommitted) }
    return error
  }

  /// Ends after an error: what is not committed goes, and its rejects with it. The record that ended the run is in the
  /// message: the file of rejects would have it stored by a replay, and again by the run that goes on.
  func abandon() {
    writer.rollback()
    // A trial's stay. The first error is the one to tell.
    if options.dryRun != nil { try? rejects?.flush() }
  }

  /// What is left to do when the ledger was seen; nil where nothing is kept of the run.
  func ending(_ keeper: RunKeeper?) -> RunEnding? {
    guard let keeper, keeper.hasTrace else { return nil }
    return RunEnding(keeper, writer)
  }

  /// Counts the records that were not read.
  func countSkipped() {
    writer.countSkipped()
    if writer.skippedRecordCount == 0 { return }
    note(
      RunNote(
        .info,
        "\(writer.skippedRecordCount) of \(writer.ledger.read) records stand in parts that the last delivery had, too; they "
          + "were not compared (\(.verify) does)"))
  }

  func checkRejectShare() throws(UpsurgeError) {
    guard case .percent(let limit) = options.rejectLimit else { return }
    let ledger = writer.ledger
    guard ledger.read > 0, Double(ledger.rejected) * 100 > limit * Double(ledger.read) else { return }
    hasTooManyRejects = true
    let share = limit == limit.rounded() ? "\(Int(limit))" : "\(limit)"
    throw UpsurgeError(
      .badInput,
      "\(ledger.rejected) of \(ledger.read) records \(ledger.rejected == 1 ? "was" : "were") rejected "
        + "(\(writer.rejectWords)), more than the \(share)% of \(.maxRejects)",
      hint: options.rejectLimitHint)
  }

  /// What would have let the run go on where a record has ended it.
  private var remedy: RunSummary.Remedy? {
    if hasTooManyRejects { return .moreRejects }
    if writer.fatalReject == nil { return nil }
    return options.onError == .stop ? .rejecting : .moreRejects
  }

  /// Puts what the writer knows into the summary.
  func record(in summary: Guarded<RunSummary>) {
    // What is committed is; only a line of the report depends on this.
    let keeps = (try? writer.keepsRecords()) ?? true
    // Two numbers of the file's first page.
    let pages = (try? connection.integer("PRAGMA main.page_count")) ?? nil
    let databaseByteCount = Int(pages ?? 0) * writer.pageByteCount
    summary.withLock { summary in
      summary.note(writer)
      summary.hasBegunToWrite = true
      summary.isDryRun = options.dryRun != nil
      summary.keepsRecords = keeps
      recordOutcome(in: &summary)
      recordCost(in: &summary)
      summary.time.note(writer.statistics, options: options, databaseByteCount: databaseByteCount)
      summary.time.triggerCount = triggerCount
    }
  }

  /// What has become of the records.
  private func recordOutcome(in summary: inout RunSummary) {
    summary.ledger = writer.ledger
    summary.committedCount = writer.committedLedger.read
    summary.committedThrough = writer.lastCommittedRecord?.position
    summary.supersededCount = supersededCount
    summary.localEdits = writer.localEdits
    summary.rejectsByReason = RunSummary.sorted(writer.rejectsByReason)
    var warnings = writer.inputWarnings
    warnings.merge(writer.warnings)
    summary.warnings.merge(warnings)
    summary.repetition = table.repetition(options: options)
    // What shares a transaction is stored as a whole or not at all.
    summary.isResumable = !isSuspended && writer.isResumable
    summary.remedy = remedy
  }

  /// What it took.
  private func recordCost(in summary: inout RunSummary) {
    let statistics = writer.statistics
    summary.walBytesWritten = UInt64(statistics.walBytesWritten)
    summary.walBytesPeak = UInt64(statistics.walBytesPeak)
    summary.logPin = statistics.logPin
    summary.upkeep = upkeep.decisions
    summary.settings = sizes
    let packing = summary.stages.firstIndex { $0.name == RunStage.pack } ?? summary.stages.endIndex
    summary.stages.insert((RunStage.prepare, prepareSeconds), at: packing)
    summary.stages += [
      (RunStage.waitForReader, waitSeconds),
      (RunStage.store, statistics.storeSeconds - statistics.sortSeconds),
      (RunStage.commit, statistics.commitSeconds), (RunStage.checkpoint, statistics.checkpointSeconds),
    ]
    let rare = [
      (RunStage.sort, statistics.sortSeconds), (RunStage.giveWay, statistics.pauseSeconds),
      (RunStage.index, upkeep.indexSeconds), (RunStage.fullText, upkeep.fullTextSeconds),
    ]
    summary.stages += rare.filter { $0.1 > 0 }
  }

  /// Sizes that were chosen, and how many records took a way of their own.
  private var sizes: [(name: String, value: UInt64)] {
    let statistics = writer.statistics
    let rare = [
      ("sorted_records", UInt64(statistics.sortedRecordCount)),
      ("sorted_at_once", UInt64(statistics.sortedRecordCount > 0 ? statistics.mostSortedRecords : 0)),
      ("skipped_records", writer.skippedRecordCount),
      ("equal_beside_rows", UInt64(statistics.equalRecordCount)),
    ]
    return [
      ("page_size", UInt64(writer.pageByteCount)),
      ("cache_bytes", UInt64(cacheByteCount)),
      ("checkpoint_bytes", UInt64(writer.settings.checkpointByteCount)),
      ("rows_per_statement", UInt64(writer.settings.rowsPerStatement)),
      options.commitEvery.setting,
    ] + rare.filter { $0.1 > 0 }
  }
}

extension RunSummary {
  /// Takes over whether the delivery was accepted.
  mutating func note(_ writer: TableWriter) {
    guardRefusal = writer.guardRefusal?.error
    refusedDelivery = writer.acceptance.refusedDigest
    isAcceptedByDigest = writer.acceptance.isByDigest
  }
}
