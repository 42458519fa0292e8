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
      let sources = try expandedSources()
      summary.withLock { $0.sources = sources.map(job.options.question.mask.name) }
      try job.checkOutputs(sources: sources)
      try loadAll(sources)
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
  private func expandedSources() throws(UpsurgeError) -> [String] {
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
  private func loadAll(_ sources: [String]) throws(UpsurgeError) {
    let names = sources.map(job.options.question.mask.name)
    let script = try InitScript(options: job.options)
    let runJob = job.runJob(initHash: script.hash)
    var connection: Connection?
    var start = RunStart.anew(replaced: [], doubt: nil)
    if !job.options.isTrial && lock.withLock({ $0 == nil }) {
      let lock = try JobLock.take(
        runJob, files: names.map(SourceName.place), database: SourceName.place(of: job.database))
      self.lock.withLock { $0 = lock }
    }
    if let group {
      let opened = try group.openedConnection()
      connection = opened
      if !job.options.isTrial {
        start = try RunStart.decide(runJob, policy: job.options.resume, names: names, on: opened) { run in
          standing.withLock { $0 = run }
        }
      }
    } else if !job.options.isTrial && job.options.durability != .off {
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
    let beginning = try prepareFirst(of: sources, start: start)
    if let response = beginning.source.opened.response {
      summary.withLock { $0.response = response }
      if response.isNotModified { return }
    }
    try readAhead(beginning, of: sources, on: connection)
    var input = LoadInput(
      runJob: runJob, script: script, sources: sources, names: names, beginning: beginning)
    guard case .inputChanged(let run) = try load(input, opened: connection) else { return }
    summary.withLock { $0.dialects = [] }
    // On a connection of its own, as --init would find there what it has made already.
    connection = nil
    let doubt = RunStart.Doubt(run: run, change: "\(names[beginning.index].escapedForTerminal) has changed")
    input.beginning = try prepareFirst(
      of: sources, start: .anew(replaced: beginning.replaced + [run], doubt: doubt))
    _ = try load(input, opened: nil)
  }

  /// Opens sources until one holds something; the last one is taken as it is. Of a run that goes on, the one that it
  /// was reading.
  private func prepareFirst(of names: [String], start: RunStart) throws(UpsurgeError) -> Beginning {
    let files = RunFiles(names.map(job.options.question.mask.name))
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
}
