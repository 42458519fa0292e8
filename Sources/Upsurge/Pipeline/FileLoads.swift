/// Files that are read by one thread and stored in one transaction, each as a separate load: with its ledger, its rejects,
/// its guards and its run. It is for many small files. A connection, two threads and a commit for each would cost many
/// times what their records do.
///
///     reading thread   file 1, file 2, file 3, ...
///     writing thread   BEGIN   store 1, sweep   store 2, sweep   ...   COMMIT
///
/// It is all or nothing. Where one of them fails, is refused by a guard, or has other columns than those before it, nothing is
/// stored and nothing is said. Each file then needs a separate load, which says what there is to say.
package final class FileLoads: Sendable {
  private let lead: LoadRun
  private let loads: [LoadRun]
  /// What the loads have said.
  private let notes = Guarded<[RunNote]>([])
  private let note: @Sendable (RunNote) -> Void

  /// - Parameter jobs: one for each file, of one table with the same options; each has one source.
  package init(_ jobs: [LoadJob], control: RunControl, note: @escaping @Sendable (RunNote) -> Void) {
    let notes = notes
    let pool = BatchPool(jobs[0])
    loads = jobs.map { job in
      LoadRun(job: job, control: control, pool: pool) { note in notes.withLock { $0.append(note) } }
    }
    lead = LoadRun(readingFor: loads, note: note)
    self.note = note
  }

  /// A file with more bytes when it is decompressed has a transaction of its own.
  static let decodedByteLimit: UInt64 = 4 << 20

  /// Why files cannot be loaded together; nobody sees it, as each is loaded alone then.
  static func unfit(_ words: String) -> UpsurgeError { UpsurgeError(.guardRefused, words) }

  /// Loads all of them.
  /// - Parameters:
  ///   - beforeCommit: does what is to be committed with them, on another thread.
  ///   - tick: is called on the calling thread about ten times a second.
  /// - Returns: the loads in the order of the files; nil where nothing was stored.
  package func run(
    beforeCommit: @escaping @Sendable (Connection) throws(UpsurgeError) -> Void,
    tick: (RunControl.Progress) -> Void
  ) -> [EndedLoad]? {
    // Why not, each load will say.
    let done = try? lead.wait(tick) { [self] in try? loadAll(beforeCommit) }
    guard let ends = done ?? nil else { return nil }
    for said in notes.withLock({ $0 }) { note(said) }
    return zip(loads, ends).map { load, end in EndedLoad(load, end.ending, end.claim) }
  }

  /// What a load leaves.
  private struct End: Sendable {
    let claim: JobClaim
    let ending: RunEnding?
  }

  // MARK: - The writing thread

  private func loadAll(
    _ beforeCommit: (Connection) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) -> [End] {
    let job = lead.job
    try job.validate()
    let group = LoadGroup(
      database: job.database, options: [job.options], control: lead.control, note: loads[0].note)
    let connection = try group.openedConnection()
    let claims = loads.map { _ in JobClaim() }
    var reader: Reader?
    do throws(UpsurgeError) {
      let (input, jobs) = try input(claims)
      let writers = try prepare(input, jobs, on: connection)
      let started = try Reader(input, of: lead, into: writers.table)
      reader = started
      try store(with: writers, in: group, behind: started)
      reader = nil
      try group.commit(with: beforeCommit)
    } catch {
      reader?.stop()
      for part in group.parts { part.writing.abandon() }
      connection.rollBackShared()
      throw error
    }
    let peak = peakMemoryByteCount()
    for load in loads { load.summary.withLock { $0.metrics.peakMemoryBytes = peak } }
    return zip(claims, group.parts).map { claim, part in End(claim: claim, ending: part.ending) }
  }

  /// Opens the first file.
  /// - Returns: what is read, and what each load is as a job.
  private func input(_ claims: [JobClaim]) throws(UpsurgeError) -> (LoadInput, [RunJob]) {
    let sources = lead.job.maskedSources
    let script = try InitScript(options: lead.job.options)
    let jobs = loads.map { $0.job.runJob(initHash: script.hash) }
    let database = SourceName.place(of: lead.job.database)
    for (index, load) in loads.enumerated() {
      load.summary.withLock { $0.sources = load.job.maskedSources.map(\.name) }
      claims[index].lock = try JobLock.take(jobs[index], files: jobs[index].sources, database: database)
    }
    let files = RunFiles(sources)
    let source = try lead.prepare(sources[0])
    try lead.announce(source, files: files, index: 0)
    if source.isBlank { throw Self.unfit("the first file is empty") }
    lead.noteTotal(of: sources, first: source)
    return (
      LoadInput(
        runJob: jobs[0], script: script, sources: sources,
        beginning: Beginning(source: source, index: 0, files: files, replaced: [], doubt: nil)), jobs
    )
  }

  /// Finds the table; it is there, as a new one is made for its first file alone.
  private func prepare(
    _ input: LoadInput, _ jobs: [RunJob], on connection: Connection
  ) throws(UpsurgeError) -> MemberWriters {
    let first = loads[0]
    let job = lead.job
    guard try TableSchema.read(connection, table: job.table) != nil else { throw Self.unfit("no table") }
    connection.isSynchronizing = job.options.table.triggers == .guarded
    let upkeep = TableUpkeep(connection, request: UpkeepRequest(job.options))
    try upkeep.prepare(table: job.table)
    var table = try PreparedTable.prepare(
      job.table, for: input.beginning.source, others: [], on: connection, options: job.options)
    first.announce(table, isJSON: input.beginning.source.isJSON)
    try first.noteSchema(of: table, on: connection)
    first.warnOfRoom(input.beginning.source, sources: input.sources)
    try first.begin(
      upkeep, for: &table, isPacked: false, first: input.beginning.source, sources: input.remainingSources,
      on: connection)
    if upkeep.hasSetAside { throw Self.unfit("indexes are set aside") }
    return try MemberWriters(
      connection: connection, table: table, upkeep: upkeep, files: input.beginning.files, jobs: jobs,
      startedAt: RunKeeper.now(connection))
  }

  /// Stores what the reader hands over, file by file.
  private func store(
    with writers: MemberWriters, in group: LoadGroup, behind reader: Reader
  ) throws(UpsurgeError) {
    var index = 0
    var part = try writers.begin(loads[0], index: 0, behind: nil)
    do throws(UpsurgeError) {
      while var batch = try lead.nextBatch(for: part.writing) {
        while index < batch.origin.sourceIndex {
          try end(part, in: group)
          index += 1
          part = try writers.begin(loads[index], index: index, behind: part)
        }
        if !batch.newColumns.isEmpty {
          lead.pool.giveBack(batch)
          throw Self.unfit("a file has columns that the table lacks")
        }
        batch.origin.sourceIndex = 0
        try lead.write(batch, with: part.writing)
      }
      reader.stop()
      if let error = reader.error { throw error }
      if lead.control.cancellationSignal != nil { throw UpsurgeError(.interrupted, "interrupted") }
      try end(part, in: group)
      while index < loads.count - 1 {
        index += 1
        part = try writers.begin(loads[index], index: index, behind: part)
        try end(part, in: group)
      }
    } catch {
      part.writing.abandon()
      throw error
    }
  }

  /// Ends a load after its last record.
  private func end(_ part: LoadGroup.Part, in group: LoadGroup) throws(UpsurgeError) {
    // So that a file without records has its run, too.
    try part.writer.begin()
    try part.writing.suspend(isInterrupted: false, keepsStatements: true)
    if let last = group.parts.last?.run.delivered, part.run.delivered?.lacksFields(of: last) == true {
      throw Self.unfit("a file lacks a column of the one before it")
    }
    group.add(part)
    if part.sweepsLater { try part.sweepNow(on: group.openedConnection()) }
    if let refusal = part.writer.guardRefusal { throw Self.unfit(refusal.said.text) }
    // While the reader is at work on the files that follow.
    try part.writing.transfer.prepareSharedCommit()
    part.run.summary.withLock {
      $0.note(part.writer)
      $0.metrics.seconds = part.run.watch.seconds
    }
  }
}

/// Makes what stores the records of one file after the other.
private struct MemberWriters {
  let connection: Connection
  let table: PreparedTable
  let upkeep: TableUpkeep
  let files: RunFiles
  let jobs: [RunJob]
  let book = RunBook()
  let startedAt: String

  /// - Parameter before: the load of the file in front, which has ended.
  func begin(
    _ load: LoadRun, index: Int, behind before: LoadGroup.Part?
  ) throws(UpsurgeError) -> LoadGroup.Part {
    let options = load.job.options
    var keeper: RunKeeper?
    if options.transaction.durability != .off {
      let made = try RunKeeper(
        connection: connection, job: jobs[index], resumed: nil, replaced: [],
        keepsHistory: options.transaction.keepsHistory, startedAt: startedAt, owner: load.owner, book: book)
      made.keptRunCount = options.transaction.keptRunCount
      made.files = { [files] in [files.all[index]] }
      keeper = made
    }
    let transfer = try SQLiteTransfer(
      connection: connection, table: table, upkeep: upkeep, load.storeContext, keeper: keeper, resumed: nil,
      behind: before?.writing.transfer)
    transfer.lastQuarantined = try QuarantineTable.lastID(connection)
    let writing = Writing(transfer, into: table, of: load, isResumed: false)
    return LoadGroup.Part(run: load, writing: writing)
  }
}

/// What of a source decides how a table is prepared for it.
struct LoadedColumns: Equatable {
  private var header: [String]?
  private var hasPrimaryKey = false
  private var hasNames = false

  /// - Throws: what inference throws.
  init(of source: PreparedSource, _ table: any StoreTable, _ options: LoadOptions) throws(UpsurgeError) {
    if case .csv(let sniffed) = source.shape { header = sniffed.headerNames }
    guard source.isJSON, options.rules.mode == nil, options.rules.target == .primaryKey else { return }
    let names = try source.inferColumns(options: options).map(\.name)
    hasPrimaryKey = table.primaryKeyColumns.allSatisfy { key in names.contains { SQLName.isSame($0, key) } }
    hasNames = !names.isEmpty
  }
}
