#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension LoadRun {
  /// Takes the first source to the place where an earlier run has ended.
  /// - Returns: nil where there is no such run, or its input has changed there.
  /// - Throws: `guardRefused` for changed input under `--resume require`.
  func goThere(_ beginning: Beginning) throws(UpsurgeError) -> Resumption? {
    guard let run = beginning.resumption else { return nil }
    if let block = try Resumption.goThere(beginning.source, run.position) {
      return Resumption(run: run, block: block)
    }
    if job.options.transaction.resume == .require {
      throw RunStart.refusal(
        run, because: "\(beginning.source.opened.name.escapedForTerminal) has changed", in: job.shownDatabase)
    }
    return nil
  }

  /// Says of a dry run, which tries everything, what the load itself would do because of an earlier run.
  func noteEarlier(_ runJob: RunJob, _ sources: [Source], _ store: (any Store)?) {
    let words: Wording
    do throws(UpsurgeError) {
      guard let shelf = try lookingShelf(store) else { return }
      switch try RunStart.decide(runJob, policy: job.options.transaction.resume, sources: sources, in: shelf) {
      case .goOn(let run, _):
        words = "resumes after the \(run.progress.ledger.read) records that an earlier run has committed"
      case .report(let run):
        words = "reads nothing, and shows the ledger of the run that began \(run.startedAt)"
      case .anew(_, let doubt):
        guard let doubt else { return }
        let count = doubt.run.progress.ledger.read
        words =
          "finds an earlier run that has committed \(count) records, and cannot resume there: \(saying: doubt.change)"
      }
    } catch {
      if error.code != .guardRefused { return }
      words = "is refused: \(saying: error.said)"
    }
    note(RunNote(.warning, "a dry run tries the whole input; the load itself \(saying: words)"))
  }

  /// Refuses `--infer full` where an earlier run of the job, which looked at the first values only, has made the table:
  /// its columns stay what they are.
  func checkTypesFound(
    by beginning: Beginning, _ runJob: RunJob, _ table: some StoreTable, _ claim: JobClaim
  ) throws(UpsurgeError) {
    guard job.options.table.inference == .full, !table.facts.isNew else { return }
    let runs = (beginning.doubt.map { [$0.run] } ?? []) + beginning.replaced
    guard
      let run = runs.last(where: {
        $0.position.madeTable && runJob.changedOptions(from: $0.job).contains { $0.terms == [.infer] }
      })
    else { return }
    claim.standing = run
    let name = table.facts.name.escapedForTerminal
    throw UpsurgeError(
      .guardRefused,
      "table \(name) was made by an earlier run of this job, with types that it found in the first values: \(.infer, "full") "
        + "cannot change them",
      hint: "DROP TABLE \(name) first, or load into a table of another name")
  }

  /// Refuses to start over where that would store or add up again what an earlier run has committed.
  func checkDoubt(of beginning: Beginning, _ table: some StoreTable, _ claim: JobClaim) throws(UpsurgeError) {
    guard let doubt = beginning.doubt else { return }
    let mayDouble = table.mayInsertAnew(options: job.options)
    if mayDouble || table.repetition(options: job.options) != nil {
      claim.standing = doubt.run
      throw RunStart.refusal(doubt.run, because: doubt.change, in: job.shownDatabase, wouldRepeat: true)
    }
    note(
      RunNote(
        .warning,
        "an earlier run of this job ended early and cannot resume: \(saying: doubt.change); starting over, which its key makes harmless"
      ))
  }

  /// Says where a run goes on, or that it could not.
  func announce(_ beginning: Beginning, _ columns: ColumnRegistry) {
    announceNumbers(of: beginning, columns)
    if let run = beginning.resumption {
      let count = run.progress.ledger.read
      let place = run.position.position.record == nil ? "" : ", the last one at \(run.position.position)"
      note(
        RunNote(
          .info,
          "goes on where a run that began \(run.startedAt) has ended: \(count) records are committed\(place)"
            .escapedForTerminal))
      summary.withLock { $0.progress.resumedCount = count }
      return
    }
    let transaction = job.options.transaction
    if job.options.output.isTrial || transaction.durability == .off || transaction.isAtomic { return }
    let name = beginning.source.opened.name
    let isInput = beginning.source.opened.kind == .standardInput
    if isInput || !beginning.source.opened.isSeekable {
      let words = isInput ? "standard input" : name
      note(
        RunNote(
          .info,
          "\(words.escapedForTerminal) cannot be read twice, so this run cannot be resumed if it is killed; "
            + "store it in a file first, or use \(.atomic), which stores all or nothing"))
    }
  }

  /// What keeps the record of the run; nil for a trial and where nothing would survive.
  func keeper(
    for beginning: Beginning, table: PreparedTable, runJob: RunJob, on connection: Connection,
    startedAt: String? = nil
  ) throws(UpsurgeError) -> RunKeeper? {
    if job.options.output.isTrial || job.options.transaction.durability == .off { return nil }
    let keeper = try RunKeeper(
      connection: connection, job: runJob, resumed: beginning.resumption, replaced: beginning.replaced,
      keepsHistory: job.options.transaction.keepsHistory, 
      startedAt: job.options.table.added.isEmpty ? startedAt : self.startedAt, owner: owner)
    keeper.keptRunCount = job.options.transaction.keptRunCount
    let files = beginning.files
    keeper.files = { files.all }
    if table.createdSQL != nil { keeper.madeTable = true }
    return keeper
  }

  /// Says what an earlier part of the run has committed, where this process has failed before it wrote anything.
  func tell(_ standing: RunRecord?, isRefused: Bool) {
    guard let run = standing else { return }
    summary.withLock {
      if $0.progress.hasBegunToWrite { return }
      $0.tell(run)
      $0.progress.isResumable = !isRefused
    }
  }

  /// Makes the ledger that of what stands in the store, which is less than this process was told.
  /// - Returns: the records that it took for committed.
  func tellWhatStands(_ standing: RunRecord?, isResumable: Bool) -> UInt64 {
    summary.withLock {
      let confirmed = $0.progress.committedCount
      let resumed = $0.progress.resumedCount
      if let standing {
        $0.tell(standing)
      } else {
        ($0.ledger, $0.rejectsByReason, $0.progress.committedThrough) = (Ledger(), [], nil)
        $0.progress.committedCount = 0
      }
      $0.progress.resumedCount = min(resumed, $0.progress.committedCount)
      ($0.progress.isResumable, $0.progress.hasBegunToWrite) = (isResumable, true)
      return confirmed
    }
  }

  /// The error of a record that ended a run which has committed others: options that make another job do not let this
  /// one go on, so the fix is what does.
  func goingOn(_ error: UpsurgeError) -> UpsurgeError {
    let hasCommitted = summary.withLock {
      $0.progress.remedy == .rejecting && $0.progress.isResumable && $0.progress.committedCount > 0
        && !$0.isDryRun
    }
    guard hasCommitted, let remedy = error.remedy, !remedy.terms.isEmpty else { return error }
    let goingOnHint: Wording =
      "the same command with \(.onError, "reject") \(.rejects, "table") (or FILE) keeps such records and goes on"
    var error = error
    if remedy.terms.contains(.infer) {
      // The table has rows already, and with them its types.
      error.remedy =
        "\(saying: goingOnHint); or DROP TABLE \(job.table.escapedForTerminal) first, and load again with one of these: \(saying: remedy)"
    } else if !remedy.terms.isSubset(of: [.onError, .rejects, .memory, .maxRatio, .commitEvery]) {
      // What resumes the run is said already.
      let others = Wording(clauses: remedy.clauses.filter { !$0.terms.contains(.onError) })
      error.remedy =
        others.isEmpty
        ? goingOnHint
        : "\(saying: goingOnHint); with other options it is another job, from the first record: \(saying: others)"
    } else if !remedy.terms.contains(.onError) {
      error.remedy = "\(saying: goingOnHint); \(saying: remedy)"
    } else {
      error.remedy = goingOnHint
    }
    return error
  }

  /// Reports the ledger of a run that is complete, and reads nothing.
  func report(_ run: RunRecord) {
    // A run that has lost the connection after its last commit has said what it did.
    var isOwn = false
    if case .wentBack = again { isOwn = true }
    if !isOwn {
      note(
        RunNote(
          .info,
          "this job was completed by a run that began \(run.startedAt), whose ledger was not shown; nothing is read. "
            + "\(.resume, "never") loads again, and stores rows without a key a second time"))
    }
    RejectFile.confirm(filesOf: run)
    summary.withLock {
      $0.tell(run)
      $0.progress.hasBegunToWrite = true
    }
  }
}

extension RunSummary {
  /// Takes over what a run has committed.
  fileprivate mutating func tell(_ run: RunRecord) {
    let known = run.progress
    ledger = known.ledger
    progress.resumedCount = known.ledger.read
    progress.committedCount = known.ledger.read
    progress.committedThrough = run.position.position.record == nil ? nil : run.position.position
    rejectsByReason = Self.sorted(known.rejectsByReason)
    warnings = known.warnings
    supersededCount = known.supersededCount
    guardRefusal = known.guardRefusal?.error
    localEdits = known.localEdits
  }
}
