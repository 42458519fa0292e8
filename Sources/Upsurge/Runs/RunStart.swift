/// How a run begins: from the first record, where an earlier run of the same job has ended, or not at all.
enum RunStart: Sendable {
  /// - replaced: runs of the same job that this one takes the place of.
  /// - doubt: an earlier run that cannot go on, where starting over may do something twice.
  case anew(replaced: [RunRecord], doubt: Doubt?)
  case goOn(RunRecord, replaced: [RunRecord])
  /// The earlier run is complete, and nobody may have seen its ledger.
  case report(RunRecord)

  /// Records that stand of the run that goes on.
  var committedCount: UInt64 {
    if case .goOn(let run, _) = self { return run.progress.ledger.read }
    return 0
  }

  /// A start without an earlier run.
  static let fresh = RunStart.anew(replaced: [], doubt: nil)

  /// An earlier run that has read the same input, and why it cannot go on.
  struct Doubt: Sendable {
    var run: RunRecord
    var change: Wording
  }

  /// - Parameter sources: the files that the job's sources stand for now.
  ///   - found: is told of an earlier run that has ended early, whatever is decided then; nil takes it back.
  /// - Throws: `guardRefused` for a job that is running, and for what `--resume` does not allow.
  static func decide(
    _ job: RunJob, policy: ResumePolicy, sources: [Source], in shelf: some RunShelf,
    found: (RunRecord?) -> Void = { _ in }
  ) throws(UpsurgeError) -> RunStart {
    let open = try shelf.openRuns(of: job.table)
    let runs = open.filter { $0.job.sources == job.sources && !(job.isStream && $0.livePID != nil) }
    guard let last = runs.last else {
      return try decide(job, policy: policy, beside: sharing(open, sources), in: shelf)
    }
    for run in runs { if let pid = run.livePID { throw RunKeeper.alreadyRunning(run, pid: pid) } }
    if policy == .never { return .anew(replaced: runs, doubt: nil) }
    let others = runs.dropLast()
    if last.state == .running { found(last) }
    let change = try change(of: last, job: job, sources: sources)
    if try shelf.hasLostRows(of: last) {
      found(nil)
      if policy == .require { throw refusal(last, because: "its rows are not in the table any more", in: shelf.place) }
      return .anew(replaced: runs, doubt: nil)
    }
    guard let change else {
      return last.state == .complete ? .report(last) : .goOn(last, replaced: Array(others))
    }
    // What is complete is done, whatever the job is now.
    if last.state == .complete && policy == .auto { return .anew(replaced: runs, doubt: nil) }
    if policy == .require { throw refusal(last, because: change, in: shelf.place) }
    return .anew(replaced: runs, doubt: Doubt(run: last, change: change))
  }

  /// How a job begins whose sources no run was given, where some of the files were read by other runs.
  private static func decide(
    _ job: RunJob, policy: ResumePolicy, beside others: [RunRecord], in shelf: some RunShelf
  ) throws(UpsurgeError) -> RunStart {
    for run in others { if let pid = run.livePID { throw RunKeeper.alreadyRunning(run, pid: pid) } }
    for run in others.reversed() where policy != .never && run.state == .running {
      if try shelf.hasLostRows(of: run) { continue }
      let sources = run.job.sources.joined(separator: ", ").escapedForTerminal
      let change = Wording("it was given \(sources), which holds a file of this one")
      if policy == .require { throw refusal(run, because: change, in: shelf.place) }
      return .anew(replaced: [], doubt: Doubt(run: run, change: change))
    }
    if policy == .require { throw nothingToResume(job) }
    return .anew(replaced: [], doubt: nil)
  }

  /// Which of the runs have read something of these files: under one of their names, or, where they have ended, under
  /// another.
  private static func sharing(_ runs: [RunRecord], _ sources: [Source]) throws(UpsurgeError) -> [RunRecord] {
    if runs.isEmpty { return [] }
    var contents = FileContents(sources)
    var sharing: [RunRecord] = []
    for run in runs {
      let isLive = run.livePID != nil
      for file in run.files.prefix(run.position.sourceIndex + 1) {
        guard let identity = file.identity,
          try contents.has(identity, at: SourceName.place(of: file.name), elsewhere: !isLive)
        else { continue }
        sharing.append(run)
        break
      }
    }
    return sharing
  }

  /// The refusal to start over where that would do something twice.
  /// - Parameters:
  ///   - database: its path.
  ///   - wouldRepeat: whether what the run has stored would be stored, or added, again.
  static func refusal(
    _ run: RunRecord, because change: Wording, in database: String, wouldRepeat: Bool = false
  ) -> UpsurgeError {
    let count = run.progress.ledger.read
    let stream =
      run.job.sources.contains { Source($0).isDatabase }
      ? "a database may have other rows now"
      : run.job.sources.contains { Source($0).isFeed }
        ? "a URL or a command may send something else now" : "a pipe cannot be read again"
    let was = run.job.command.map { " ( \($0.lineFromAnywhere.escapedForTerminal) )" } ?? ""
    return UpsurgeError(
      .guardRefused,
      "an earlier run of this job ended after \(Words.count(count, "committed record")), and this one cannot resume there: \(saying: change)",
      position: run.position.position.record == nil ? nil : run.position.position,
      hint: run.isReadable
        ? "bring input and options back as they were\(was); "
          + (wouldRepeat
            ? "or remove the rows of that run: DROP TABLE \(run.job.table.escapedForTerminal) where they are all of it, else "
              + "DELETE them and `upsurge runs \(database.quotedForShell) \(.forget, run.id)`"
            : "\(.resume, "never") reads the input from its start; without a key, delete first what that run has stored")
        : "\(stream): delete the rows of that run, or keep them, and forget it (upsurge runs "
          + "\(database.quotedForShell) \(.forget, run.id)); then load from a file, or with \(.atomic)")
  }

  static func nothingToResume(_ job: RunJob) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "there is nothing to resume: no earlier run of this job into table \(job.table.escapedForTerminal) ended early",
      hint: "leave out \(.resume, "require") to load from the first record")
  }

  /// What is not as it was; nil where the run can go on.
  private static func change(
    of run: RunRecord, job: RunJob, sources: [Source]
  ) throws(UpsurgeError) -> Wording? {
    // The ledger has the counts of the earlier rejects, wherever they stand.
    let changed = job.changedOptions(from: run.job).filter { $0.terms != [.rejects] }
    if let first = changed.first {
      let names = changed.dropFirst().reduce(first) { "\(saying: $0), \(saying: $1)" }
      return "\(saying: names) \(changed.count == 1 && !first.terms.isEmpty ? "has changed" : "have changed")"
    }
    // The table of runs may have been edited.
    guard run.files.map({ SourceName.place(of: $0.name) }) == sources.map(\.place),
      sources.indices.contains(run.position.sourceIndex)
    else {
      return "the list of files has changed"
    }
    for (index, file) in run.files.enumerated() where index <= run.position.sourceIndex {
      let name = sources[index].name.escapedForTerminal
      guard let identity = file.identity else {
        return Source(file.name).isStandardInput
          ? "standard input cannot be read again from there" : "\(name) cannot be read twice"
      }
      if try !identity.isStill(sources[index]) { return "\(name) has changed" }
    }
    return nil
  }
}
