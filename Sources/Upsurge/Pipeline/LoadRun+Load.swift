#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One load, from the database that is opened or packed to the last commit.
extension LoadRun {
  /// Packs what can be packed, opens the database and stores the rest. Removes its new files when nothing came of it.
  /// - Parameter opened: a connection to the database, where it was there from the start.
  func load(_ input: LoadInput, opened: Connection?, _ claim: JobClaim) throws(UpsurgeError) -> LoadEnd {
    let image = image(for: input, isThere: opened != nil)
    let existed = image == nil && (opened != nil || access(job.database, F_OK) == 0)
    var packed: Packed?
    if let image { packed = try pack(input, in: image, claim) }
    if case .startOver(let again) = packed?.end { return .startOver(again) }
    let reader = packed?.reader
    var connection: Connection
    do throws(UpsurgeError) {
      if let opened { connection = opened } else { connection = try open() }
    } catch {
      reader?.stop()
      throw error
    }
    let end: LoadEnd
    do throws(UpsurgeError) {
      if group == nil {
        try Connection.configure(&connection, for: job.options, opening: open)
      }
      let isPacked = packed?.record != nil
      defer { if !isPacked { connection.noteSwitchToWAL(of: job.database, note) } }
      let store = SQLiteStore(
        run: self, connection: connection, madeTable: packed?.table, isPacked: isPacked,
        warnings: packed?.warnings ?? WarningLog())
      end = try load(input, into: store, behind: &packed, claim)
    } catch {
      reader?.stop()
      if !existed && summary.withLock({ $0.progress.committedCount == 0 }) { connection.discardNewFile() }
      throw error
    }
    if case .startOver = end { reader?.stop() }
    let isUnused = summary.withLock { $0.progress.committedCount == 0 } && control.cancellationSignal != nil
    if !existed && isUnused { connection.discardNewFile() }
    return end
  }

  func open() throws(UpsurgeError) -> Connection {
    if let group { return try group.openedConnection() }
    do throws(UpsurgeError) {
      return try Connection(
        path: job.database, createIfMissing: true, busyTimeoutMilliseconds: job.options.transaction.busyTimeout,
        isTrial: job.options.output.isTrial, vfs: job.options.environment.vfsName,
        isCancelled: { [control] in control.cancellationSignal != nil })
    } catch {
      var error = error
      if error.isNoDatabase { error.hint = "the database comes first: upsurge load DB TABLE FILE" }
      throw error
    }
  }

  /// Loads into a store that is not SQLite; goes back to what stands there when the connection has broken.
  func load<S: Store>(_ input: LoadInput, into store: S, _ claim: JobClaim) throws(UpsurgeError) -> LoadEnd {
    var packed: Packed?
    do throws(UpsurgeError) {
      return try load(input, into: store, behind: &packed, claim)
    } catch {
      guard error.code == .connectionLost || error.code == .commitsLost else { throw error }
      return .startOver(try wentBack(because: error, input, store, claim))
    }
  }

  /// Finds or makes the table, starts the reader unless it is at work, and stores what it reads.
  /// - Parameter packed: what was stored in another way already; nil where nothing was.
  func load<S: Store>(
    _ input: LoadInput, into store: S, behind packed: inout Packed?, _ claim: JobClaim
  ) throws(UpsurgeError) -> LoadEnd {
    var beginning = input.beginning
    let isPacked = packed?.record != nil
    if let record = packed?.record { beginning.resumption = record }
    guard var table = try store.table(for: input, options: tableOptions) else {
      return .startOver(.packedInVain(seconds: 0))
    }
    if packed == nil {
      try checkTypesFound(by: beginning, input.runJob, table, claim)
      try checkDoubt(of: beginning, table, claim)
    }
    try store.setUp(&table, for: input)
    if job.options.output.isExplained {
      let text = try store.explain(table, for: input)
      summary.withLock { $0.explanation = text }
      return .done(nil)
    }
    var resumption: Resumption?
    if packed == nil {
      resumption = try goThere(beginning)
      if let run = beginning.resumption, resumption == nil {
        try store.takeBack()
        return .startOver(.inputChanged(beginning.startAnew(insteadOf: run, in: input.names)))
      }
      announce(beginning, table.columns)
    }
    let transfer = try store.begin(table, for: input, from: beginning, storeContext)
    let writing = Writing(transfer, into: table, of: self, isResumed: beginning.resumption != nil)
    defer { if !writing.isSuspended { writing.record(in: summary) } }
    if isPacked { delivered?.observeAll() }
    writing.waitSeconds = packed?.waitSeconds ?? 0
    writing.noteStart(
      seconds: (packed?.prepareSeconds ?? watch.seconds) - (again?.lostSeconds ?? 0) - input.aheadSeconds)
    var rest: Batch?
    if packed != nil { rest = packed!.rest.take() }
    do throws(UpsurgeError) {
      var reader = packed?.reader
      if reader == nil {
        reader = try Reader(input, of: self, into: table, resumption: resumption, chunks: transfer.chunks)
      }
      if let reader { try run(writing, reader, rest: rest) }
    } catch {
      if transfer.mustBeginAgain {
        note(RunNote(.info, "a key comes twice: all of it is stored again, from the first record"))
        return .startOver(.keyComesTwice)
      }
      // Nothing was committed: it is a run in one transaction.
      if transfer.chunks?.isVoid == true, error.code != .interrupted {
        note(
          RunNote(
            .info, "what is known of the last delivery does not fit this one; all of it is read and compared")
        )
        return .startOver(.chunksUnfit)
      }
      throw error
    }
    return .done(writing.isSuspended ? nil : transfer.ending)
  }

  /// What the store is told of the run.
  var storeContext: StoreContext {
    StoreContext(
      job: job, sourceNames: summary.withLock { $0.sources }, owner: owner, startedAt: startedAt, contexts: contexts,
      note: note,
      willBuild: { [control] in control.note(stage: .indexing, work: $0) },
      willFinish: { [control] in control.note(stage: .finishing) },
      isCancelled: { [control] in control.cancellationSignal != nil },
      holdsMemory: { [pool] in pool.hold($0) }, interrupter: checkpoint,
      deliveryHash: { [deliveryHash] in deliveryHash.withLock { $0?.value } },
      seenMemory: group?.seenMemory ?? SeenMemory(byteLimit: job.options.transaction.seenByteLimit))
  }

  func noteSchema(of table: PreparedTable, on connection: Connection) throws(UpsurgeError) {
    connection.settleTrust(of: table.plan.schema)
    noteTrust(connection)
    let triggers = try TriggerText.read(connection, table: table.facts.name)
    if let words = job.options.table.triggers.note(of: triggers, table: table.facts.name) {
      note(RunNote(.warning, words))
    }
  }

  // MARK: - Reading and writing

  /// - Parameter rest: a batch before those that the reader has still to hand over.
  private func run<Transfer: StoreTransfer>(
    _ writing: Writing<Transfer>, _ reader: Reader, rest: consuming sending Batch?
  ) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      if let rest { try write(rest, with: writing) }
      while let batch = try nextBatch(for: writing) {
        try write(batch, with: writing)
        try writing.reconsider()
      }
      // Their errors come before those of records that were read after them.
      try writing.transfer.awaitStored()
    } catch {
      // Whether more would have come is known when the reader has sent a batch or ended.
      let isLast =
        writing.hasFailedBehindCommit && full.waits(milliseconds: 1_000) && full.isDrained
        && reader.error == nil
      reader.stop()
      writing.abandon()
      throw isLast ? error.behindTheLastRecord : error
    }
    reader.stop()
    if writing.transfer.chunks?.isVoid == true {
      writing.abandon()
      throw UpsurgeError(.guardRefused, "all of the delivery must be read")
    }
    if let error = reader.error, error.code != .interrupted {
      writing.abandon()
      throw error
    }
    let isInterrupted = control.cancellationSignal != nil
    if job.options.delivery.rules.snapshot != nil && !isInterrupted { control.note(stage: .sweeping) }
    try end(writing, isInterrupted: isInterrupted)
  }

  /// Ends after the last record: in a group, the transaction goes on.
  private func end<Transfer: StoreTransfer>(
    _ writing: Writing<Transfer>, isInterrupted: Bool
  ) throws(UpsurgeError) {
    guard let group, let writing = writing as? Writing<SQLiteTransfer> else {
      return try writing.finish(isInterrupted: isInterrupted)
    }
    try writing.suspend(isInterrupted: isInterrupted)
    pool.discard()
    summary.withLock { $0.note(writing.transfer.writer) }
    if writing.isSuspended { group.add(LoadGroup.Part(run: self, writing: writing)) }
  }

  func write<Transfer: StoreTransfer>(
    _ batch: consuming sending Batch, with writing: Writing<Transfer>
  ) throws(UpsurgeError) {
    writing.look(at: &batch)
    do throws(UpsurgeError) {
      try writing.transfer.write(&batch)
    } catch {
      pool.giveBack(batch)
      throw error
    }
    noteProgress(of: writing.transfer)
    pool.giveBack(batch)
  }
}
