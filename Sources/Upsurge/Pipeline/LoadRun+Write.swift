#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension LoadRun {
  /// The writing thread: prepares, starts the reader, writes until the reader is done, commits.
  func writeAll() {
    do throws(UpsurgeError) {
      try job.validate()
      let names = try sourceNames()
      summary.withLock { $0.sources = names }
      try job.checkOutputs(sources: names)
      try loadAll(names)
    } catch {
      fail(goingOn(error))
      tellStanding(isRefused: error.code == .guardRefused || error.code == .usage)
    }
    summary.withLock {
      $0.seconds = watch.seconds
      $0.peakMemoryBytes = peakMemoryByteCount()
      $0.signal = control.cancellationSignal
      if $0.signal != nil, $0.error?.code == .interrupted { $0.error = nil }
    }
  }

  /// - Throws: `unreadableInput` for a file that is not there; what an earlier run has committed is told then, too.
  private func sourceNames() throws(UpsurgeError) -> [String] {
    do throws(UpsurgeError) {
      return try SourceList.expand(job.sources)
    } catch {
      if !job.options.isTrial, access(job.database, F_OK) == 0,
        let looking = try? Connection.looking(at: job.database)
      {
        _ = try? RunStart.decide(
          job.runJob(initHash: nil), policy: job.options.resume, names: [], on: looking
        ) { run in
          standing.withLock { $0 = run }
        }
      }
      throw error
    }
  }

  /// Looks for an earlier run of the job, and goes on with it or begins anew.
  private func loadAll(_ names: [String]) throws(UpsurgeError) {
    let script = try InitScript(options: job.options)
    let runJob = job.runJob(initHash: script.hash)
    var connection: Connection?
    var start = RunStart.anew(replaced: [], doubt: nil)
    if !job.options.isTrial {
      let lock = try JobLock.take(
        runJob, files: names.map(SourceName.place), database: SourceName.place(of: job.database))
      self.lock.withLock { $0 = lock }
    }
    if !job.options.isTrial && job.options.durability != .off {
      if access(job.database, F_OK) == 0 {
        let opened = try open()
        connection = opened
        start = try RunStart.decide(runJob, policy: job.options.resume, names: names, on: opened) { run in
          standing.withLock { $0 = run }
        }
      } else if job.options.resume == .require {
        throw RunStart.nothingToResume(runJob)
      }
    }
    if job.options.dryRun != nil { noteEarlier(runJob, names) }
    if case .report(let run) = start, let connection { return report(run, on: connection) }
    let beginning = try prepareFirst(of: names, start: start)
    let goesOn = try load(beginning, runJob: runJob, script: script, names: names, opened: connection)
    guard !goesOn, let run = beginning.resumption else { return }
    summary.withLock { $0.dialects = [] }
    // On a connection of its own, as --init would find there what it has made already.
    connection = nil
    let anew = RunStart.anew(
      replaced: beginning.replaced + [run],
      doubt: RunStart.Doubt(run: run, change: "\(names[beginning.index].escapedForTerminal) has changed"))
    _ = try load(
      prepareFirst(of: names, start: anew), runJob: runJob, script: script, names: names, opened: nil)
  }

  /// Opens sources until one holds something; the last one is taken as it is. Of a run that goes on, the one that it
  /// was reading.
  private func prepareFirst(of names: [String], start: RunStart) throws(UpsurgeError) -> Beginning {
    let files = RunFiles(names)
    if case .goOn(let run, let replaced) = start {
      let index = run.position.sourceIndex
      let source = try prepare(names[index])
      files.goOn(run.files.map(\.identity))
      try announce(source, files: files, index: index)
      noteTotal(of: names, first: source)
      return Beginning(
        source: source, index: index, files: files, resumption: run, replaced: replaced, doubt: nil)
    }
    guard case .anew(let replaced, let doubt) = start else { preconditionFailure("a report reads nothing") }
    var index = 0
    while true {
      let source = try prepare(names[index])
      try announce(source, files: files, index: index)
      if !source.isBlank || index == names.count - 1 {
        noteTotal(of: names, first: source)
        return Beginning(
          source: source, index: index, files: files, resumption: nil, replaced: replaced, doubt: doubt)
      }
      index += 1
    }
  }

  private func prepare(_ name: String) throws(UpsurgeError) -> PreparedSource {
    try PreparedSource.prepare(name, options: job.options, cancellation: readCancellation)
  }

  /// Opens the database, finds or makes the table, and loads; leaves no new file behind when nothing came of it.
  /// - Returns: false where a run cannot go on because its input has changed; nothing was done then.
  private func load(
    _ beginning: Beginning, runJob: RunJob, script: InitScript, names: [String], opened: Connection?
  ) throws(UpsurgeError) -> Bool {
    let options = job.options
    if !options.isTrial {
      if opened == nil && access(job.database, F_OK) != 0 {
        try waitForMaker()
      } else {
        // Not needed here, whatever it is.
        try? ImageFile.removeStale(for: job.database)
      }
    }
    let existed = opened != nil || access(job.database, F_OK) == 0
    var beginning = beginning
    var packed = existed ? nil : try pack(beginning, runJob: runJob, script: script, names: names)
    let reader = packed?.reader
    let madeTable = packed?.table
    let isPacked = packed?.record != nil
    if let record = packed?.record { beginning.resumption = record }
    let connection: Connection
    do throws(UpsurgeError) {
      if let opened { connection = opened } else { connection = try open() }
    } catch {
      stop(reader)
      throw error
    }
    let (first, index) = (beginning.source, beginning.index)
    do throws(UpsurgeError) {
      try connection.configure(
        durability: options.durability, pageCacheByteCount: options.pageCacheByteCount,
        defersForeignKeys: options.foreignKeys == .deferred)
      if connection.didSwitchToWAL && !isPacked {
        note(RunNote(.info, "\(job.database) is now in WAL mode"))
      }
      connection.isSynchronizing = options.triggers == .guarded
      try script.run(on: connection)
      let upkeep = TableUpkeep(connection, request: UpkeepRequest(options))
      try upkeep.prepare(table: job.table)
      var table: PreparedTable
      if let madeTable {
        table = madeTable
        if !isPacked { try makeAgain(table, on: connection) }
      } else {
        table = try PreparedTable.prepare(
          job.table, for: first, others: names[(index + 1)...], on: connection, options: options,
          wasMade: beginning.resumption?.position.madeTable ?? false)
        try checkDoubt(of: beginning, table)
        announce(table, isJSON: first.isJSON)
      }
      connection.settleTrust(of: table.plan.schema)
      noteTrust(connection)
      let triggers = try TriggerText.read(connection, table: table.facts.name)
      if let words = options.triggers.note(of: triggers, table: table.facts.name) {
        note(RunNote(.warning, words))
      }
      if reader == nil { warnOfRoom(first, names: names[index...]) }
      try begin(
        upkeep, for: &table, isPacked: isPacked, first: first, names: names[index...],
        on: connection)
      if options.isExplained {
        try explain(table, upkeep.decisions, names: names, on: connection)
        return true
      }
      var resumption: Resumption?
      if reader == nil {
        resumption = try goThere(beginning)
        if beginning.resumption != nil && resumption == nil {
          if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
          return false
        }
        announce(beginning)
      }
      let keeper = try keeper(for: beginning, table: table, runJob: runJob, on: connection)
      let writing = try Writing(
        connection: connection, table: table, upkeep: upkeep, run: self, keeper: keeper,
        resumed: beginning.resumption)
      defer { writing.record(in: summary) }
      if isPacked { writing.writer.goOnBehindCommitted(warnings: packed?.warnings ?? WarningLog()) }
      let stage = ReaderStage(
        run: self, sourceNames: names, firstIndex: index, table: table, files: beginning.files,
        resumption: resumption)
      writing.noteStart(seconds: packed?.prepareSeconds ?? watch.seconds)
      var rest: Batch?
      if packed != nil { rest = packed!.rest.take() }
      let thread: WorkerThread
      if let reader { thread = reader } else { thread = try start(Reading(stage: stage, first: first)) }
      try run(writing, thread, rest: rest)
      if let keeper, keeper.hasTrace {
        ending.withLock { $0 = RunEnding(keeper, writing.writer) }
      }
    } catch {
      stop(reader)
      if !existed && summary.withLock({ $0.committedCount == 0 }) { connection.discardNewFile() }
      throw error
    }
    let isUnused = summary.withLock { $0.committedCount == 0 } && control.cancellationSignal != nil
    if !existed && isUnused { connection.discardNewFile() }
    return true
  }

  private func open() throws(UpsurgeError) -> Connection {
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

  func start(_ reading: Reading) throws(UpsurgeError) -> WorkerThread { try WorkerThread { reading.run() } }

  private func stop(_ reader: WorkerThread?) {
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
    let readError = readError.withLock { $0 }
    if let readError, readError.code != .interrupted {
      writing.abandon()
      throw readError
    }
    try writing.finish(isInterrupted: control.cancellationSignal != nil)
  }

  private func write(_ batch: consuming sending Batch, with writing: Writing) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      try writing.writer.write(&batch)
    } catch {
      pool.giveBack(batch)
      throw error
    }
    noteProgress(of: writing.writer)
    pool.giveBack(batch)
  }

  /// Says what a source is and what was changed of its header.
  func announce(_ source: PreparedSource, files: RunFiles, index: Int) throws(UpsurgeError) {
    try files.note(source, index: index)
    if source.isBlank { return note(RunNote(.warning, "\(source.opened.name) is empty and left out")) }
    note(RunNote(.info, source.summary))
    for remark in source.remarks { note(RunNote(.warning, remark)) }
    let words = source.summary
    summary.withLock { $0.dialects.append(words) }
  }

  /// Warnings of a source that has no batch to travel with.
  func addWarnings(_ warnings: WarningLog) {
    if !warnings.isEmpty { summary.withLock { $0.warnings.merge(warnings) } }
  }

  /// Tells the progress line how much there is to read, where every source is a file.
  private func noteTotal(of names: [String], first: PreparedSource) {
    guard first.opened.fileByteCount != nil else {
      return note(RunNote(.detail, "\(first.opened.name) is a pipe: its length is not known"))
    }
    if let total = totalByteCount(of: names) { control.note(totalBytes: total) }
  }

  func announce(_ table: PreparedTable, isJSON: Bool) {
    summary.withLock { $0.createdTable = table.createdSQL }
    if table.createdSQL != nil {
      note(RunNote(.info, "new table:\n\(table.createdStatements.joined(separator: ";\n"))"))
    }
    announceOptions(table)
    if table.plan.schema.columns.isEmpty {
      note(
        RunNote(.warning, "there is no table \(job.table): its records are kept in \(KeptTable.name)"))
    }
    for name in table.plan.skippedColumns where !isJSON {
      note(RunNote(.warning, "the column \(name) is generated by the table; the input's values are left out"))
    }
    announceKeys(table.plan)
  }

  private func announceKeys(_ plan: UpsertPlan) {
    if plan.targets.isEmpty || plan.mode == .insert { return }
    let keys = plan.targets.map(\.words).joined(separator: ", then ")
    note(RunNote(.info, "\(plan.mode.rawValue) by key \(keys)"))
    if let words = plan.partialKeyWords { note(RunNote(.info, words)) }
    let primary = plan.slots.map { plan.schema.columns[$0.columnIndex] }.filter { $0.keyOrdinal > 0 }
    guard !primary.isEmpty, plan.mode == .upsert || plan.mode == .update,
      plan.targets.contains(where: { $0.kind != .primaryKey }), plan.schema.kind == .table
    else { return }
    let names = primary.map(\.name).joined(separator: ", ").escapedForTerminal
    note(RunNote(.info, "the primary key (\(names)) of a row that exists is never changed"))
  }
}

extension TableSchema.Key {
  /// The key's columns and expressions, and the WHERE of a partial one: `email WHERE active = 1`.
  var words: String {
    let names = parts.map { $0.column ?? $0.expression ?? "" }.joined(separator: ", ")
    return (names + (predicate.map { " WHERE \($0)" } ?? "")).escapedForTerminal
  }
}

/// Carries the reading stage and its first source to the reading thread.
final class Reading: @unchecked Sendable {
  // Sendable because it is made on the writing thread and used on the reading thread only, which starts later.
  private var stage: ReaderStage
  private let first: PreparedSource

  init(stage: ReaderStage, first: PreparedSource) {
    self.stage = stage
    self.first = first
  }

  func run() { stage.readAll(first: first) }
}

/// The process's largest resident size so far. On Linux from /proc: getrusage counts the parent's before exec.
private func peakMemoryByteCount() -> UInt64 {
  #if os(Linux)
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      if words.count >= 2, words[0] == "VmHWM:", let kibibytes = UInt64(words[1]) { return kibibytes << 10 }
    }
    return 0
  #else
    var usage = rusage()
    return getrusage(RUSAGE_SELF, &usage) == 0 ? UInt64(usage.ru_maxrss) : 0
  #endif
}
