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
      end = try store(input, behind: &packed, on: connection, claim)
    } catch {
      reader?.stop()
      if !existed && summary.withLock({ $0.committedCount == 0 }) { connection.discardNewFile() }
      throw error
    }
    if case .startOver = end { reader?.stop() }
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
    _ input: LoadInput, behind packed: inout Packed?, on connection: Connection, _ claim: JobClaim
  ) throws(UpsurgeError) -> LoadEnd {
    var beginning = input.beginning
    let isPacked = packed?.record != nil
    if let record = packed?.record { beginning.resumption = record }
    let made = packed?.table
    guard let target = try target(of: input, made: made, isPacked: isPacked, on: connection, claim) else {
      return .startOver(.packedInVain(seconds: 0))
    }
    if job.options.isExplained {
      try explain(target.table, target.upkeep.decisions, names: input.names, on: connection)
      return .done(nil)
    }
    var resumption: Resumption?
    if made == nil {
      resumption = try goThere(beginning)
      if let run = beginning.resumption, resumption == nil {
        if !connection.isInAutocommit { try connection.rollBackWriting() }
        return .startOver(.inputChanged(beginning.startAnew(insteadOf: run, in: input.names)))
      }
      announce(beginning)
    }
    let transfer = try beginTransfer(to: target, from: beginning, input)
    let writing = transfer.writing
    defer { if !writing.isSuspended { writing.record(in: summary) } }
    if isPacked {
      writing.transfer.writer.goOnBehindCommitted(warnings: packed?.warnings ?? WarningLog())
      delivered?.observeAll()
    }
    writing.waitSeconds = packed?.waitSeconds ?? 0
    writing.noteStart(
      seconds: (packed?.prepareSeconds ?? watch.seconds) - (again?.lostSeconds ?? 0) - input.aheadSeconds)
    var rest: Batch?
    if packed != nil { rest = packed!.rest.take() }
    do throws(UpsurgeError) {
      var reader = packed?.reader
      if reader == nil {
        reader = try start(input, table: target.table, resumption: resumption, chunks: transfer.chunks)
      }
      if let reader { try run(transfer, reader, rest: rest) }
    } catch {
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
    if let group, writing.isSuspended {
      group.add(LoadGroup.Part(run: self, writing: writing, lastKept: transfer.lastKept))
      return .done(nil)
    }
    return .done(writing.transfer.ending)
  }

  /// Where the records go.
  private struct Target {
    let connection: Connection
    var table: PreparedTable
    let upkeep: TableUpkeep
  }

  /// Finds or makes the table, and sets aside what is to be.
  /// - Parameter made: the table of an image, where there was one.
  /// - Returns: nil where it was made in an image that came to nothing, and another program has made it meanwhile.
  private func target(
    of input: LoadInput, made: PreparedTable?, isPacked: Bool, on connection: Connection, _ claim: JobClaim
  ) throws(UpsurgeError) -> Target? {
    if group == nil { try input.script.run(on: connection) }
    connection.isSynchronizing = job.options.triggers == .guarded
    let upkeep = TableUpkeep(connection, request: UpkeepRequest(job.options))
    try upkeep.prepare(table: job.table)
    guard var table = try table(made, isPacked: isPacked, for: input, on: connection, claim) else { return nil }
    try noteSchema(of: table, on: connection)
    let first = input.beginning.source
    if made == nil { warnOfRoom(first, names: input.remainingNames) }
    try begin(
      upkeep, for: &table, isPacked: isPacked, first: first, names: input.remainingNames, on: connection)
    return Target(connection: connection, table: table, upkeep: upkeep)
  }

  /// The table of the run: found, made, or made in an image and packed.
  private func table(
    _ made: PreparedTable?, isPacked: Bool, for input: LoadInput, on connection: Connection, _ claim: JobClaim
  ) throws(UpsurgeError) -> PreparedTable? {
    if let made {
      if isPacked { return made }
      return try makeAgain(made, on: connection) ? made : nil
    }
    let beginning = input.beginning
    let table = try PreparedTable.prepare(
      job.table, for: beginning.source, others: input.otherSources, on: connection,
      options: tableOptions, wasMade: beginning.resumption?.position.madeTable ?? false)
    try checkTypesFound(by: beginning, input.runJob, table, claim)
    try checkDoubt(of: beginning, table, claim)
    announce(table, isJSON: beginning.source.isJSON)
    return table
  }

  /// What takes the records, and what is kept of them.
  private struct Transfer {
    let writing: Writing<SQLiteTransfer>
    let chunks: DeliveryChunks?
    /// The last record that was in the quarantine before.
    let lastKept: Int64
  }

  private func beginTransfer(
    to target: Target, from beginning: Beginning, _ input: LoadInput
  ) throws(UpsurgeError) -> Transfer {
    let connection = target.connection
    let chunks = try deliveryChunks(
      of: beginning.source, for: target.table, names: input.names, on: connection)
    let keeper = try keeper(for: beginning, table: target.table, runJob: input.runJob, on: connection)
    let lastKept = group == nil ? 0 : try KeptTable.lastID(connection)
    let transfer = try SQLiteTransfer(
      connection: connection, table: target.table, upkeep: target.upkeep, run: self, keeper: keeper,
      resumed: beginning.resumption, chunks: chunks)
    transfer.writer.followsDelivery = group?.hasEndedDelivery(of: target.table.facts.name) ?? false
    let writing = Writing(transfer, into: target.table, of: self, isResumed: beginning.resumption != nil)
    return Transfer(writing: writing, chunks: chunks, lastKept: lastKept)
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
    _ input: LoadInput, table: PreparedTable, resumption: Resumption?, chunks: DeliveryChunks?
  ) throws(UpsurgeError) -> Reader {
    let stage = ReaderStage(run: self, input, table: table, resumption: resumption, chunks: chunks)
    return try Reader(stage, first: input.beginning.source, of: self)
  }

  /// - Parameter rest: a batch in front of those that the reader has still to hand over.
  private func run(
    _ transfer: Transfer, _ reader: Reader, rest: consuming sending Batch?
  ) throws(UpsurgeError) {
    let writing = transfer.writing
    do throws(UpsurgeError) {
      if let rest { try write(rest, with: writing) }
      while let batch = try nextBatch(for: writing) {
        try write(batch, with: writing)
        try writing.reconsider()
      }
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
    if transfer.chunks?.isVoid == true {
      writing.abandon()
      throw UpsurgeError(.guardRefused, "all of the delivery must be read")
    }
    if let error = reader.error, error.code != .interrupted {
      writing.abandon()
      throw error
    }
    try end(transfer)
  }

  /// Ends behind the last record.
  private func end(_ transfer: Transfer) throws(UpsurgeError) {
    let writing = transfer.writing
    let isInterrupted = control.cancellationSignal != nil
    if job.options.snapshot != nil && !isInterrupted { control.note(stage: .sweeping) }
    if group == nil { return try writing.finish(isInterrupted: isInterrupted) }
    try writing.suspend(isInterrupted: isInterrupted)
    pool.discard()
    summary.withLock { $0.note(writing.transfer.writer) }
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
