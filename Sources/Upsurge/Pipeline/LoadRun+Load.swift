#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One load, from the database that is opened or packed to the last commit.
extension LoadRun {
  /// Packs what can be packed, opens the database and stores the rest; leaves no new file behind when nothing came of
  /// it.
  /// - Parameter opened: a connection to the database, where it was there from the start.
  func load(_ input: LoadInput, opened: Connection?) throws(UpsurgeError) -> LoadEnd {
    let image = image(for: input, isThere: opened != nil)
    let existed = image == nil && (opened != nil || access(job.database, F_OK) == 0)
    var packed: Packed?
    if let image { packed = try pack(input, in: image) }
    let reader = packed?.reader
    if case .void(let seconds) = packed?.end {
      voidSeconds.withLock { $0 = seconds }
      return .void
    }
    var connection: Connection
    do throws(UpsurgeError) {
      if let opened { connection = opened } else { connection = try open() }
    } catch {
      stop(reader)
      throw error
    }
    let end: LoadEnd
    do throws(UpsurgeError) {
      if group == nil {
        try Connection.configure(&connection, for: job.options, opening: open)
      }
      let isPacked = packed?.record != nil
      defer { if !isPacked { connection.noteSwitchToWAL(of: job.database, note) } }
      end = try store(input, behind: &packed, on: connection)
    } catch {
      stop(reader)
      if !existed && summary.withLock({ $0.committedCount == 0 }) { connection.discardNewFile() }
      throw error
    }
    if case .void = end {
      stop(reader)
      voidSeconds.withLock { $0 = 0 }
    }
    let isUnused = summary.withLock { $0.committedCount == 0 } && control.cancellationSignal != nil
    if !existed && isUnused { connection.discardNewFile() }
    return end
  }

  func open() throws(UpsurgeError) -> Connection {
    if let group { return try group.openedConnection() }
    do throws(UpsurgeError) {
      return try Connection(
        path: job.database, createIfMissing: true, busyTimeoutMilliseconds: job.options.busyTimeout,
        isTrial: job.options.isTrial, vfs: job.options.vfsName,
        isCancelled: { [control] in control.cancellationSignal != nil })
    } catch {
      var error = error
      if error.isNoDatabase { error.hint = "the database comes first: upsurge load DB TABLE FILE" }
      throw error
    }
  }

  /// Finds or makes the table, starts the reader unless it is at work, and stores what it reads.
  private func store(
    _ input: LoadInput, behind packed: inout Packed?, on connection: Connection
  ) throws(UpsurgeError) -> LoadEnd {
    var beginning = input.beginning
    let record = packed?.record
    if let record { beginning.resumption = record }
    if group == nil { try input.script.run(on: connection) }
    connection.isSynchronizing = job.options.triggers == .guarded
    let upkeep = TableUpkeep(connection, request: UpkeepRequest(job.options))
    try upkeep.prepare(table: job.table)
    let made = packed?.table
    guard var table = try table(made, isPacked: record != nil, for: input, on: connection) else {
      return .void
    }
    try noteSchema(of: table, on: connection)
    if made == nil { warnOfRoom(beginning.source, names: input.remainingNames) }
    try begin(
      upkeep, for: &table, isPacked: record != nil, first: beginning.source, names: input.remainingNames,
      on: connection)
    if job.options.isExplained {
      try explain(table, upkeep.decisions, names: input.names, on: connection)
      return .done
    }
    var resumption: Resumption?
    if made == nil {
      resumption = try goThere(beginning)
      if let run = beginning.resumption, resumption == nil {
        if !connection.isInAutocommit { try connection.rollBackWriting() }
        return .inputChanged(run)
      }
      announce(beginning)
    }
    let chunks = try deliveryChunks(
      of: beginning.source, for: table, names: input.names, on: connection)
    self.chunks.withLock { $0 = chunks }
    let keeper = try keeper(for: beginning, table: table, runJob: input.runJob, on: connection)
    let lastKept = group == nil ? 0 : try KeptTable.lastID(connection)
    let writing = try Writing(
      connection: connection, table: table, upkeep: upkeep, run: self, keeper: keeper,
      resumed: beginning.resumption)
    writing.writer.followsDelivery = group?.hasEndedDelivery(of: table.facts.name) ?? false
    defer { if !writing.isSuspended { writing.record(in: summary) } }
    if record != nil { writing.writer.goOnBehindCommitted(warnings: packed?.warnings ?? WarningLog()) }
    if record != nil { delivered?.observeAll() }
    writing.waitSeconds = packed?.waitSeconds ?? 0
    writing.noteStart(
      seconds: (packed?.prepareSeconds ?? watch.seconds) - lostSeconds - aheadSeconds.withLock { $0 })
    var rest: Batch?
    if packed != nil { rest = packed!.rest.take() }
    do throws(UpsurgeError) {
      if let reader = packed?.reader {
        try run(writing, reader, rest: rest)
      } else {
        try run(writing, start(input, table: table, resumption: resumption), rest: rest)
      }
    } catch {
      // Nothing was committed: it is a run in one transaction.
      if chunks?.isVoid == true, error.code != .interrupted {
        note(
          RunNote(
            .info, "what is known of the last delivery does not fit this one; all of it is read and compared")
        )
        return .void
      }
      throw error
    }
    if let group, writing.isSuspended {
      group.add(LoadGroup.Part(run: self, writing: writing, keeper: keeper, lastKept: lastKept))
    } else {
      noteEnding(keeper, writing)
    }
    return .done
  }

  /// Notes what is left to do when the ledger was seen.
  func noteEnding(_ keeper: RunKeeper?, _ writing: Writing) {
    guard let keeper, keeper.hasTrace else { return }
    ending.withLock { $0 = RunEnding(keeper, writing.writer) }
  }

  /// The table of the run: found, made, or made in an image and packed.
  /// - Parameter made: the table of the image, where there was one.
  /// - Returns: nil where it was made in an image that came to nothing, and another program has made it meanwhile.
  private func table(
    _ made: PreparedTable?, isPacked: Bool, for input: LoadInput, on connection: Connection
  ) throws(UpsurgeError) -> PreparedTable? {
    if let made {
      if isPacked { return made }
      return try makeAgain(made, on: connection) ? made : nil
    }
    let beginning = input.beginning
    let table = try PreparedTable.prepare(
      job.table, for: beginning.source, others: input.otherSources, on: connection,
      options: tableOptions, wasMade: beginning.resumption?.position.madeTable ?? false)
    try checkTypesFound(by: beginning, input.runJob, table)
    try checkDoubt(of: beginning, table)
    announce(table, isJSON: beginning.source.isJSON)
    return table
  }

  func noteSchema(of table: PreparedTable, on connection: Connection) throws(UpsurgeError) {
    connection.settleTrust(of: table.plan.schema)
    noteTrust(connection)
    let triggers = try TriggerText.read(connection, table: table.facts.name)
    if let words = job.options.triggers.note(of: triggers, table: table.facts.name) {
      note(RunNote(.warning, words))
    }
  }

  // MARK: - Reading and writing

  /// Starts the reading thread.
  func start(
    _ input: LoadInput, table: PreparedTable, resumption: Resumption?
  ) throws(UpsurgeError) -> WorkerThread {
    let beginning = input.beginning
    let stage = ReaderStage(
      run: self, sources: input.sources, sourceNames: input.names, firstIndex: beginning.index, table: table,
      files: beginning.files,
      resumption: resumption)
    let reading = Reading(stage: stage, first: beginning.source)
    return try WorkerThread { reading.run() }
  }

  /// Ends the reading thread, where there is one.
  func stop(_ reader: WorkerThread?) {
    guard let reader else { return }
    stopReading()
    reader.join()
  }

  /// - Parameter rest: a batch in front of those that the reader has still to hand over.
  private func run(
    _ writing: Writing, _ reader: WorkerThread, rest: consuming sending Batch?
  ) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      if let rest { try write(rest, with: writing) }
      while let batch = try nextBatch(for: writing) {
        try write(batch, with: writing)
        try writing.reconsiderUpkeep()
      }
    } catch {
      // Whether more would have come is known when the reader has sent a batch or ended.
      let isLast =
        writing.hasFailedBehindCommit && full.waits(milliseconds: 1_000) && full.isDrained
        && readError.withLock { $0 } == nil
      stopReading()
      reader.join()
      writing.abandon()
      throw isLast ? Writing.behindTheLast(error) : error
    }
    stopReading()
    reader.join()
    if chunks.withLock({ $0?.isVoid }) == true {
      writing.abandon()
      throw UpsurgeError(.guardRefused, "all of the delivery must be read")
    }
    let readError = readError.withLock { $0 }
    if let readError, readError.code != .interrupted {
      writing.abandon()
      throw readError
    }
    let isInterrupted = control.cancellationSignal != nil
    if job.options.snapshot != nil && !isInterrupted { control.note(stage: .sweeping) }
    if group == nil { return try writing.finish(isInterrupted: isInterrupted) }
    try writing.suspend(isInterrupted: isInterrupted)
    pool.discard()
    summary.withLock { $0.note(writing.writer) }
  }

  func write(_ batch: consuming sending Batch, with writing: Writing) throws(UpsurgeError) {
    writing.look(at: &batch)
    do throws(UpsurgeError) {
      try writing.writer.write(&batch)
      try writing.writer.storeChunks()
    } catch {
      pool.giveBack(batch)
      throw error
    }
    noteProgress(of: writing.writer)
    pool.giveBack(batch)
  }
}
