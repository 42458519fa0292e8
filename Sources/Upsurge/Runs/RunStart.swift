/// How a run begins: from the first record, where an earlier run of the same job has ended, or not at all.
enum RunStart {
  /// - replaced: runs of the same job that this one takes the place of.
  /// - doubt: why the last of them cannot go on, where that may do something twice.
  case anew(replaced: [RunRecord], doubt: String?)
  case goOn(RunRecord, replaced: [RunRecord])
  /// The earlier run is complete, and nobody may have seen its ledger.
  case report(RunRecord)

  /// - Parameter names: the files that the job's sources stand for now.
  /// - Throws: `guardRefused` for a job that is running, and for what `--resume` does not allow.
  static func decide(
    _ job: RunJob, policy: ResumePolicy, names: [String], on connection: Connection
  ) throws(UpsurgeError) -> RunStart {
    let runs = try RunTable.open(connection, table: job.table).filter { $0.job.sources == job.sources }
    guard let last = runs.last else {
      if policy == .require { throw nothingToResume(job) }
      return .anew(replaced: [], doubt: nil)
    }
    for run in runs { if let pid = run.livePID { throw RunKeeper.alreadyRunning(run, pid: pid) } }
    if policy == .never { return .anew(replaced: runs, doubt: nil) }
    let others = runs.dropLast()
    let change = try change(of: last, job: job, names: names)
    if try isGone(last, on: connection) {
      if policy == .require { throw refusal(last, because: "its rows are not in the table any more") }
      return .anew(replaced: runs, doubt: nil)
    }
    guard let change else {
      return last.state == .complete ? .report(last) : .goOn(last, replaced: Array(others))
    }
    // What is complete is done, whatever the job is now.
    if last.state == .complete && policy == .auto { return .anew(replaced: runs, doubt: nil) }
    if policy == .require { throw refusal(last, because: change) }
    return .anew(replaced: runs, doubt: change)
  }

  /// The refusal to start over where that would do something twice.
  static func refusal(_ run: RunRecord, because change: String) -> UpsurgeError {
    let count = run.progress.ledger.read
    return UpsurgeError(
      .guardRefused,
      "an earlier run of this job ended behind \(count) committed record\(count == 1 ? "" : "s"), and this one "
        + "cannot go on there: \(change)",
      position: run.position.position.record == nil ? nil : run.position.position,
      hint:
        "bring input and options back as they were; --resume never loads everything, also what is in the table "
        + "already")
  }

  static func nothingToResume(_ job: RunJob) -> UpsurgeError {
    UpsurgeError(
      .guardRefused,
      "there is nothing to resume: no earlier run of this job into table \(job.table.escapedForTerminal) ended early",
      hint: "leave out --resume require to load from the first record")
  }

  /// What is not as it was; nil where the run can go on.
  private static func change(
    of run: RunRecord, job: RunJob, names: [String]
  ) throws(UpsurgeError) -> String? {
    // The ledger has the counts of the earlier rejects, wherever they stand.
    let changed = job.changedOptions(from: run.job).filter { $0 != "--rejects" }
    if !changed.isEmpty {
      return "\(changed.joined(separator: ", ")) \(changed.count == 1 ? "is" : "are") not what "
        + "\(changed.count == 1 ? "it was" : "they were")"
    }
    // The table of runs may have been edited.
    guard run.files.map(\.name) == names, names.indices.contains(run.position.sourceIndex) else {
      return "the list of files has changed"
    }
    for (index, file) in run.files.enumerated() where index <= run.position.sourceIndex {
      let name = file.name.escapedForTerminal
      guard let identity = file.identity else {
        return SourceName.isStandardInput(file.name)
          ? "standard input cannot be read again from there" : "\(name) cannot be read twice"
      }
      if try !identity.isStill(atPath: file.name) { return "\(name) has changed" }
    }
    return nil
  }

  /// Whether somebody has dropped or emptied the table since.
  private static func isGone(_ run: RunRecord, on connection: Connection) throws(UpsurgeError) -> Bool {
    let ledger = run.progress.ledger
    guard ledger.inserted > 0, ledger.deleted == 0 else { return false }
    guard let schema = try TableSchema.read(connection, table: run.job.table) else { return true }
    guard schema.kind == .table else { return false }
    return try connection.integer("SELECT 1 FROM main.\(SQLName.quote(schema.name)) LIMIT 1") == nil
  }
}
