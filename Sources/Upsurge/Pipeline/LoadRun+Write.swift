#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The writing thread, from the job to the first source that holds something; `LoadRun+Load` goes on from there.
extension LoadRun {
  /// Does all of the run: prepares, starts the reader, writes until the reader is done, commits.
  /// - Parameter claim: what this process has of the job already.
  func writeAll(_ claim: JobClaim) -> LoadEnd {
    defer { noteEnd() }
    do throws(UpsurgeError) {
      try job.validate()
      let sources = try expandedSources(claim)
      summary.withLock { $0.sources = sources.map(\.name) }
      try job.checkOutputs(sources: sources)
      let script = try InitScript(options: job.options)
      let runJob = job.runJob(initHash: script.hash)
      let opening = try opening(runJob, sources: sources, claim)
      if job.options.output.dryRun != nil { noteEarlier(runJob, sources, opening.store) }
      if case .report(let run) = opening.start {
        report(run)
        let ofSQLite = opening.connection.map { RunEnding(run, on: $0, options: job.options) }
        return .done(opening.store?.ending(of: run) ?? ofSQLite)
      }
      let beginning = try prepareFirst(of: sources, start: opening.start)
      if let response = beginning.source.opened.response {
        summary.withLock { $0.response = response }
        if response.isNotModified { return .done(nil) }
      }
      var input = LoadInput(runJob: runJob, script: script, sources: sources, beginning: beginning)
      input.aheadSeconds = try readAhead(beginning, of: sources, on: opening.connection)
      if let store = opening.store { return try load(input, into: store, claim) }
      return try load(input, opened: opening.connection, claim)
    } catch {
      fail(goingOn(error))
      tell(claim.standing, isRefused: error.code == .guardRefused || error.code == .usage)
      return .done(nil)
    }
  }

  private func noteEnd() {
    summary.withLock {
      $0.metrics.seconds = watch.seconds
      $0.metrics.peakMemoryBytes = peakMemoryByteCount()
      $0.signal = control.cancellationSignal
      if $0.signal != nil, $0.error?.code == .interrupted { $0.error = nil }
    }
  }

  /// - Throws: `unreadableInput` for a file that is not there; `badInput` for an archive that is not whole; what an earlier run has committed is told then, too.
  private func expandedSources(_ claim: JobClaim) throws(UpsurgeError) -> [Source] {
    do throws(UpsurgeError) {
      let archives = job.options.environment.archives
      return try unpacked(SourceList.expand(job.maskedSources, archives: archives, cancellation: readCancellation))
    } catch {
      if !job.options.output.isTrial, let shelf = try? lookingShelf(nil) {
        _ = try? decide(job.runJob(initHash: nil), sources: [], claim, in: shelf)
      }
      throw error
    }
  }

  /// What is known of earlier runs, for who changes nothing; nil where there is no database.
  /// - Parameter store: that of the run, where it is made and not SQLite.
  func lookingShelf(_ store: (any Store)?) throws(UpsurgeError) -> (any RunShelf)? {
    if let store { return store }
    if let makeStore { return try makeStore(job, storeCancellation) }
    return access(job.database, F_OK) == 0 ? try Connection.looking(at: job.database) : nil
  }

  /// How a run begins, and what that was found out by.
  private struct Opening {
    var start = RunStart.fresh
    /// To a database of SQLite that was there from the start.
    var connection: Connection?
    /// The store, where it is another one.
    var store: (any Store)?
  }

  /// Looks for an earlier run of the job: goes on with it, or begins anew.
  private func opening(
    _ runJob: RunJob, sources: [Source], _ claim: JobClaim
  ) throws(UpsurgeError) -> Opening {
    let options = job.options
    var opening = Opening()
    if !options.output.isTrial && claim.lock == nil {
      claim.lock = try JobLock.take(
        runJob, files: sources.map(\.place), database: job.databasePlace)
    }
    if let makeStore { opening.store = try makeStore(job, storeCancellation) }
    if let start = again?.start {
      // On the connection of an earlier try --init would find what it has made already.
      opening.start = start
      return opening
    }
    let isKept = !options.output.isTrial && options.transaction.durability != .off
    if let group {
      opening.connection = try group.openedConnection()
    } else if opening.store == nil && isKept && access(job.database, F_OK) == 0 {
      opening.connection = try open()
    }
    let shelf: (any RunShelf)? = opening.store ?? opening.connection
    if isKept, let shelf {
      opening.start = try decide(runJob, sources: sources, claim, in: shelf)
    } else if isKept && options.transaction.resume == .require {
      throw RunStart.nothingToResume(runJob)
    }
    return opening
  }

  private func decide(
    _ runJob: RunJob, sources: [Source], _ claim: JobClaim, in shelf: some RunShelf
  ) throws(UpsurgeError) -> RunStart {
    try RunStart.decide(runJob, policy: job.options.transaction.resume, sources: sources, in: shelf) { claim.standing = $0 }
  }

  /// Opens sources until one holds something; the last one is taken as it is. Of a run that goes on, the one that it
  /// was reading.
  private func prepareFirst(of sources: [Source], start: RunStart) throws(UpsurgeError) -> Beginning {
    let files = RunFiles(sources)
    if case .goOn(let run, let replaced) = start {
      let index = run.position.sourceIndex
      let source = try prepare(sources[index])
      files.goOn(run.files.map(\.identity))
      try announce(source, files: files, index: index)
      noteTotal(of: sources, first: source)
      lookForColumns(source, at: index, of: sources)
      return Beginning(
        source: source, index: index, files: files, resumption: run, replaced: replaced, doubt: nil)
    }
    guard case .anew(let replaced, let doubt) = start else { preconditionFailure("a report reads nothing") }
    var index = 0
    while true {
      let source = try prepare(sources[index])
      try announce(source, files: files, index: index)
      if !source.isBlank || index == sources.count - 1 {
        noteTotal(of: sources, first: source)
        lookForColumns(source, at: index, of: sources)
        return Beginning(
          source: source, index: index, files: files, resumption: nil, replaced: replaced, doubt: doubt)
      }
      index += 1
    }
  }
}
