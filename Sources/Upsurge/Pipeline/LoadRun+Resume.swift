extension LoadRun {
  /// Takes the first source to the place where an earlier run has ended.
  /// - Returns: nil where there is no such run, or its input has changed there.
  /// - Throws: `guardRefused` for changed input under `--resume require`.
  func goThere(_ beginning: Beginning) throws(UpsurgeError) -> Resumption? {
    guard let run = beginning.resumption else { return nil }
    if let block = try Resumption.goThere(beginning.source, run.position) {
      return Resumption(run: run, block: block)
    }
    if job.options.resume == .require {
      throw RunStart.refusal(run, because: "\(beginning.source.opened.name.escapedForTerminal) has changed")
    }
    return nil
  }

  /// Refuses to start over where that would store or add up again what an earlier run has committed.
  func checkDoubt(of beginning: Beginning, _ table: PreparedTable) throws(UpsurgeError) {
    guard let doubt = beginning.doubt else { return }
    let mayDouble = table.plan.mayInsertAnew(hasPrimaryKey: job.options.mode != nil)
    if mayDouble || table.repetition(options: job.options) != nil {
      throw RunStart.refusal(doubt.run, because: doubt.change)
    }
    note(
      RunNote(
        .warning,
        "an earlier run of this job ended early and cannot go on: \(doubt.change); starting over, which its key makes harmless"
      ))
  }

  /// Says where a run goes on, or that it could not.
  func announce(_ beginning: Beginning) {
    if let run = beginning.resumption {
      let count = run.progress.ledger.read
      let place = run.position.position.record == nil ? "" : ", the last one at \(run.position.position)"
      note(
        RunNote(
          .info,
          "goes on where a run that began \(run.startedAt) has ended: \(count) records are committed\(place)"
            .escapedForTerminal))
      summary.withLock { $0.resumedCount = count }
      return
    }
    if job.options.isTrial || job.options.durability == .off || job.options.isAtomic { return }
    if !beginning.source.opened.isSeekable {
      let name = beginning.source.opened.name
      let words = SourceName.isStandardInput(name) ? "standard input" : name
      note(
        RunNote(
          .info,
          "\(words.escapedForTerminal) cannot be read twice, so this run cannot be resumed if it is killed; "
            + "store it in a file first to make it so"))
    }
  }

  /// What keeps the record of the run; nil for a trial and where nothing would survive.
  func keeper(
    for beginning: Beginning, table: PreparedTable, runJob: RunJob, on connection: Connection
  ) throws(UpsurgeError) -> RunKeeper? {
    if job.options.isTrial || job.options.durability == .off { return nil }
    let keeper = try RunKeeper(
      connection: connection, job: runJob, resumed: beginning.resumption, replaced: beginning.replaced,
      keepsHistory: job.options.keepsHistory)
    let files = beginning.files
    keeper.files = { files.all }
    if table.createdSQL != nil { keeper.madeTable = true }
    return keeper
  }

  /// Tells the ledger of a run that is complete, and reads nothing.
  func report(_ run: RunRecord, on connection: Connection) {
    let (progress, position) = (run.progress, run.position)
    note(
      RunNote(
        .info,
        "this job was completed by a run that began \(run.startedAt), whose ledger was not shown; nothing is read. "
          + "--resume never loads again"))
    summary.withLock {
      $0.ledger = progress.ledger
      $0.resumedCount = progress.ledger.read
      $0.committedCount = progress.ledger.read
      $0.committedThrough = position.position
      $0.rejectsByReason = RunSummary.sorted(progress.rejectsByReason)
      $0.warnings = progress.warnings
      $0.supersededCount = progress.supersededCount
      $0.hasBegunToWrite = true
    }
    ending.withLock { $0 = RunEnding(run, on: connection, keepsHistory: job.options.keepsHistory) }
  }

  /// The last act, when the ledger was seen: a run that is whole leaves no mark.
  func acknowledge() {
    let exitCode = summary.withLock { $0.exitCode }
    guard exitCode == 0 || exitCode == 2, let ending = ending.withLock({ $0 }) else { return }
    do throws(UpsurgeError) {
      try ending.acknowledge(exitCode: exitCode)
    } catch {
      note(
        RunNote(
          .warning,
          "the run is complete, but its mark could not be removed (\(error.message)); the same command shows its ledger "
            + "again and loads nothing"))
    }
  }
}
