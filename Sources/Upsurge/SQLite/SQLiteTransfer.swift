/// Takes records into a table of SQLite: the writer, what is set aside while it is at work, and the record of the run.
final class SQLiteTransfer: StoreTransfer {
  let connection: Connection
  let table: PreparedTable
  let writer: TableWriter
  let upkeep: TableUpkeep
  let rejects: (any RejectSink)?
  /// What keeps the record of the run; nil where none is kept.
  let keeper: RunKeeper?
  private let note: @Sendable (RunNote) -> Void
  private let willBuild: @Sendable (String) -> Void
  private let willFinish: @Sendable () -> Void
  let options: LoadOptions
  let cacheByteCount: Int
  let triggerCount: Int
  /// Known once everything is committed.
  private(set) var supersededCount: UInt64 = 0
  /// Of rejects that are kept nowhere.
  private let lost = Guarded(FirstRejects())
  /// The first of those that are kept nowhere.
  var firstRejects: FirstRejects { lost.withLock { $0 } }
  private var hasNotedSorting = false
  /// Of a load in a group: the last record that was in the quarantine before.
  var lastQuarantined: Int64 = 0

  /// - Parameter before: the load before this one, which has ended in the same transaction.
  init(
    connection: Connection, table: PreparedTable, upkeep: TableUpkeep, _ context: StoreContext,
    keeper: RunKeeper?, resumed: RunRecord?, chunks: DeliveryChunks? = nil, behind before: SQLiteTransfer? = nil
  ) throws(UpsurgeError) {
    self.connection = connection
    self.table = table
    self.upkeep = upkeep
    self.keeper = keeper
    note = context.note
    (willBuild, willFinish) = (context.willBuild, context.willFinish)
    options = context.options
    cacheByteCount = connection.pageCacheByteCount
    if let before {
      triggerCount = before.triggerCount
    } else {
      triggerCount = try TriggerText.read(connection, table: table.facts.name).count
    }
    let sourceNames = context.sourceNames
    let rejects = try options.rejectSink(
      connection, table: table.facts.name, contexts: context.contexts, sourceNames: sourceNames,
      resumed: resumed, note: note)
    self.rejects = rejects
    var settings = WriterSettings(options, for: table, context)
    settings.commitsOnce = upkeep.hasSetAside || options.transaction.isAtomic
    settings.chunks = chunks
    if let before { settings.delivery.snapshot?.lastCount = before.writer.ledger.wanted }
    let preview = try Preview(
      options, connection: connection, setup: table.createdStatements + upkeep.statements,
      sourceNames: sourceNames, goingOnAt: resumed?.position.outputLengths ?? [:], note: note)
    keeper?.keep(rejects, at: options.rejects.target?.place, preview.files, after: resumed)
    writer = try TableWriter(
      connection: connection, plan: table.plan, sourceNames: sourceNames, settings: settings,
      observer: preview.observer, transactionObserver: rejects, keeper: keeper, resumed: resumed,
      behind: before?.writer,
      rejectSink: { [lost] reject throws(UpsurgeError) in
        if let rejects { try rejects.write(reject) } else { lost.withLock { $0.take(reject) } }
      })
    writer.isGatheringPaused = upkeep.isUndecided
  }

  // MARK: What became of the records

  var ledger: Ledger { writer.ledger }
  var committedLedger: Ledger { writer.committedLedger }
  var commitCount: Int { writer.statistics.commitCount }
  var rejectsByReason: [Reject.Code: UInt64] { writer.rejectsByReason }
  var fatalReject: Reject? { writer.fatalReject }
  var hasMetTombstone: Bool { writer.hasMetTombstone }
  var lastCommitted: Position? { writer.lastCommittedRecord?.position }
  var hasCommittedAll: Bool { writer.hasCommittedAll }
  var isResumable: Bool { writer.isResumable }

  // MARK: Batches

  func write(_ batch: inout Batch) throws(UpsurgeError) {
    try writer.write(&batch)
    try writer.storeChunks()
  }

  var isGathering: Bool { writer.isGathering }

  func storeGathered() throws(UpsurgeError) { try writer.storeGathered() }

  var isInTransaction: Bool { writer.isInTransaction }

  func commitWhileIdle() throws(UpsurgeError) { try writer.commitWhileIdle() }

  /// Sets indexes and FTS5 tables aside on the way, when the first records show that it pays.
  func reconsider() throws(UpsurgeError) {
    // Of a delivery that is known in parts, how many rows change says nothing of the rest.
    if writer.settings.chunks?.maySkip == true { return }
    for decision in try upkeep.reconsider(writer) { note(decision.note) }
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

  // MARK: The end

  func settle() throws(UpsurgeError) { try writer.settle() }

  func sweep() throws(UpsurgeError) { try writer.sweep() }

  /// From its first rowid to its last one: two walks down the tree.
  var rowLimit: UInt64? {
    let schema = table.plan.schema
    guard schema.kind == .table, !schema.isWithoutRowid, let rowid = schema.rowidName,
      let name = try? SQLName.quote(schema.name),
      let span = try? connection.integer(
        "SELECT (SELECT max(\(rowid)) FROM main.\(name)) - (SELECT min(\(rowid)) FROM main.\(name))")
    else { return nil }
    return UInt64(max(span, 0)) + 1
  }

  /// Builds what was set aside, and commits the rest.
  func finish(isInterrupted: Bool) throws(UpsurgeError) {
    try bringBack(isInterrupted: isInterrupted)
    willFinish()
    try writer.finish(isInterrupted: isInterrupted)
    supersededCount = writer.supersededCount
  }

  private func bringBack(isInterrupted: Bool) throws(UpsurgeError) {
    try upkeep.finish(writer, isInterrupted: isInterrupted) { words in
      note(RunNote(.info, words))
      willBuild(words)
    }
  }

  func rollback() { writer.rollback() }

  var setUpSeconds: Double { upkeep.indexSeconds + upkeep.fullTextSeconds }

  /// What is left to do when the ledger was seen; nil where nothing is kept of the run.
  var ending: RunEnding? {
    guard let keeper, keeper.hasTrace else { return nil }
    return RunEnding(keeper, writer)
  }

  // MARK: Loads of one transaction

  /// Ends after the last record; the transaction goes on.
  /// - Parameter keepsStatements: for a load of the same table that follows.
  func suspend(keepsStatements: Bool) throws(UpsurgeError) {
    try bringBack(isInterrupted: false)
    try writer.suspend(keepsStatements: keepsStatements)
  }

  /// Does what is left to do in the transaction before it is committed.
  func prepareSharedCommit() throws(UpsurgeError) {
    if options.output.dryRun == nil { try writer.prepareSharedCommit() }
  }

  /// Ends after the commit of all.
  func finishShared(isLast: Bool) throws(UpsurgeError) {
    supersededCount = writer.supersededCount
    if options.output.dryRun != nil { return try writer.noteSharedTrial() }
    try writer.noteSharedCommit(isLast: isLast)
  }

  // MARK: Parts of a delivery that are known

  var chunks: DeliveryChunks? { writer.settings.chunks }

  var skippedRecordCount: UInt64 { writer.skippedRecordCount }

  func countSkipped() { writer.countSkipped() }
}
