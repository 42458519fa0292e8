/// One run of a load: what its threads share.
///
///     reading thread   sources -> decompress -> parse -> full batches
///     writing thread   prepares the first source and the table, starts the reader, writes batches, commits
///     caller           waits, shows progress, passes on a cancellation
final class LoadRun: Sendable {
  let job: LoadJob
  let control: RunControl
  /// Makes the store that the records go into; nil where that is SQLite.
  let makeStore: StoreMaker?
  /// The loads with which it shares a transaction.
  let group: LoadGroup?
  /// The loads for which it only reads, by source; else empty (see `FileLoads`).
  let members: [LoadRun]
  let note: @Sendable (RunNote) -> Void
  let pool: BatchPool
  /// Parsed batches on their way to the writer.
  let full = BatchChannel(capacity: LoadRun.batchCount)
  /// Ends waits for a pipe.
  let readCancellation = ReadCancellation()
  /// Ends what a store that is not SQLite waits for, when the run was told to end.
  let storeCancellation = ReadCancellation()
  /// Ends the checkpoint that is under way.
  let checkpoint = Guarded<Interrupter?>(nil)
  let summary: Guarded<RunSummary>
  /// What its record in the database calls it.
  let owner: RunOwner
  /// Sources that were read to their end before anything is written.
  let ahead: FeedsAhead
  /// Runs from the start of the run.
  let watch: Stopwatch
  /// When this part of the run has begun, in UTC.
  let startedAt: String
  /// How the records of each source are read, for those that are rejected.
  let contexts = RejectContexts()
  /// What the delivery says of its feed; nil where it belongs to none.
  let delivered: DeliveredFeed?
  /// The hash of a snapshot's bytes as far as they were read; nil where only a part of them is.
  let deliveryHash = Guarded<ContentHash.Stream?>(nil)
  /// Why this one begins again in the place of another; nil where it does not.
  let again: StartOver?

  private let said: SaidNotes
  private let tell: @Sendable (RunNote) -> Void

  /// One being filled, one being written, two waiting.
  fileprivate static let batchCount = 4

  convenience init(
    job: LoadJob, control: RunControl, group: LoadGroup?, makeStore: StoreMaker?,
    note: @escaping @Sendable (RunNote) -> Void
  ) {
    self.init(
      job, control, group, note, said: SaidNotes(), watch: Stopwatch(), again: nil, pool: BatchPool(job),
      makeStore: makeStore)
  }

  /// A run that reads for others, one for each of its sources.
  convenience init(readingFor members: [LoadRun], note: @escaping @Sendable (RunNote) -> Void) {
    var job = members[0].job
    job.sources = members.flatMap(\.job.sources)
    self.init(
      job, members[0].control, nil, note, said: SaidNotes(), watch: Stopwatch(), again: nil,
      pool: members[0].pool, members: members)
  }

  /// A run for which another one reads.
  /// - Parameter pool: the batches of that.
  convenience init(
    job: LoadJob, control: RunControl, pool: BatchPool, note: @escaping @Sendable (RunNote) -> Void
  ) {
    self.init(
      job, control, nil, note, said: SaidNotes(), watch: Stopwatch(), again: nil, pool: pool)
  }

  /// A run from the first record in place of one that came to nothing; nothing is said twice.
  convenience init(_ again: StartOver, insteadOf run: LoadRun) {
    run.said.startOver()
    let job = again.job(insteadOf: run.job)
    self.init(
      job, run.control, run.group, run.tell, said: run.said, watch: run.watch, again: again,
      pool: BatchPool(job), owner: run.owner, makeStore: run.makeStore,
      startedAt: run.startedAt)
    if case .packedInVain(let seconds) = again {
      summary.withLock { $0.metrics.stages.append((RunStage.pack, seconds)) }
    }
  }

  private init(
    _ job: LoadJob, _ control: RunControl, _ group: LoadGroup?,
    _ tell: @escaping @Sendable (RunNote) -> Void, said: SaidNotes,
    watch: Stopwatch, again: StartOver?, pool: BatchPool, members: [LoadRun] = [],
    owner: RunOwner = RunOwner(), makeStore: StoreMaker? = nil, startedAt: String = AddedCells.now
  ) {
    var job = job
    job.options = job.options.withRulesOfAddedColumns
    self.startedAt = startedAt
    self.pool = pool
    self.members = members
    job.options.environment.columnsElsewhere = ColumnsElsewhere()
    let ahead =
      group?.ahead
      ?? FeedsAhead(database: job.spoolNeighbour, freeByteCount: job.options.environment.spoolRoom)
    self.ahead = ahead
    job.options.environment.archives =
      job.options.environment.archives ?? OpenArchives(job.options, makeSpool: ahead.makeTextSpool)
    self.job = job
    delivered = DeliveredFeed(job.options)
    self.control = control
    self.group = group
    self.said = said
    self.tell = tell
    self.watch = watch
    self.again = again
    self.owner = owner
    self.makeStore = makeStore
    note = { if said.take($0) { tell($0) } }
    var summary = RunSummary(
      database: job.shownDatabase, table: job.table, sources: job.maskedSources.map(\.name))
    summary.progress.command = job.command
    summary.progress.beginsAnew = job.options.transaction.resume == .never
    self.summary = Guarded(summary)
  }

  /// Lets the writer finish with what was parsed so far.
  func stopReading() {
    readCancellation.request()
    full.close()
    pool.close()
  }

  func fail(_ error: UpsurgeError) {
    summary.withLock { $0.error = $0.error ?? error }
  }

  /// Whose records those of a source are.
  func owner(of sourceIndex: Int) -> LoadRun { members.isEmpty ? self : members[sourceIndex] }

  func takeSummary() -> RunSummary { summary.withLock { $0 } }

  /// A record may take a quarter of the memory.
  var recordByteLimit: Int { job.options.transaction.recordByteLimit }
}

extension BatchPool {
  /// As many batches as a run needs, of the size that the job's memory allows.
  convenience init(_ job: LoadJob) {
    var sizes = job.options.tuning.batchSizes
    // A server's transaction holds whole batches.
    if SourceName.isServer(job.database), case .records(let count) = job.options.transaction.commitEvery {
      sizes.recordCount = max(min(sizes.recordCount, count), 1)
    }
    // A date may be longer than it is written, but seldom twice as long as its record.
    if !job.options.input.values.isEmpty { sizes.extraSpillByteCount = sizes.arenaByteCount }
    self.init(
      count: LoadRun.batchCount, sizes: sizes,
      allowance: job.options.transaction.largeBatchByteLimit)
  }
}
