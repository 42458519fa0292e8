/// Takes the rejected records of a load, on the writing thread.
protocol RejectSink: TransactionObserver {
  /// Keeps one record.
  func write(_ reject: Reject) throws(UpsurgeError)

  /// Writes out what is buffered.
  func flush() throws(UpsurgeError)

  /// The length of the file that the next commit stands for; nil where there is none.
  var length: UInt64? { get }

  /// How many records were given to a file: no row of the database says that they are kept.
  var recordCount: UInt64 { get }
}

/// Rejects that go to the table `upsurge_rejects`, in the transactions of their neighbours. What is rolled back takes
/// its rejects with it; so does a dry run.
final class RejectTableSink: RejectSink {
  private let writer: RejectTableWriter
  private let contexts: RejectContexts

  /// - Throws: `guardRefused` when a table of that name is not ours.
  init(_ connection: Connection, table: String, contexts: RejectContexts) throws(UpsurgeError) {
    writer = try RejectTableWriter(connection, table: table)
    self.contexts = contexts
  }

  func write(_ reject: Reject) throws(UpsurgeError) {
    try writer.write(reject, context: contexts.text(of: reject.position.file) ?? "")
  }

  func flush() {}

  func willCommit() {}

  var length: UInt64? { nil }

  var recordCount: UInt64 { 0 }

  func didCommit() { writer.transactionEnded() }

  func didRollBack() { writer.transactionEnded() }
}

extension LoadOptions {
  /// Where this run's rejects go; nil where they are only counted.
  /// - Parameters:
  ///   - sourceNames: the run's sources.
  ///   - resumed: the earlier part of the run.
  ///   - note: is told of a file that is not as the earlier part has left it.
  /// - Throws: `cannotCreate`, `databaseBusy`, `guardRefused`.
  func rejectSink(
    _ connection: Connection, table: String, contexts: RejectContexts, sourceNames: [String],
    resumed: RunRecord?, note: (RunNote) -> Void
  ) throws(UpsurgeError) -> (any RejectSink)? {
    if let resumed { try cutEarlierFile(of: resumed, connection, note: note) }
    switch rejects {
    case nil: return nil
    case .file(let path):
      try checkReplay(of: path, connection)
      try checkRuns(path, connection, sourceNames, resumed)
      let file = try RejectFile(
        path: path, isTrial: dryRun != nil, contexts: contexts, sourceNames: sourceNames,
        goesOn: resumed?.position.outputLengths["--rejects"] != nil)
      if let resumed { try file.goOn(after: resumed, note: note) }
      return file
    case .table: return try RejectTableSink(connection, table: table, contexts: contexts)
    }
  }

  /// Takes rejects of records that are read again out of the file that an earlier part of the run has written, where
  /// `--rejects` is another one now: that file may be replayed too.
  private func cutEarlierFile(
    of run: RunRecord, _ connection: Connection, note: (RunNote) -> Void
  ) throws(UpsurgeError) {
    guard let text = run.job.options.first(where: { $0.name == "--rejects" })?.value,
      case .file(let path) = RejectsTarget(text: text), rejects?.place != text, isRegularFile(path)
    else { return }
    let file = try OutputFile(path: path, option: "--rejects", goesOn: true)
    let kept: KeptRejects
    do throws(UpsurgeError) {
      kept = try KeptRejects(path, of: run)
    } catch {
      // Somebody has put something else there.
      if error.code == .cannotCreate { return }
      throw error
    }
    if try file.isWhole(at: kept.byteCount) { return }
    try checkReplay(of: path, connection)
    try file.cut(to: kept.byteCount)
    note(
      RunNote(
        .info,
        "\(path.escapedForTerminal), which was --rejects before, holds no more the rejects of records that are read again"
      ))
  }

  /// Leaves the file of another run alone that has not ended: what it has rejected stands nowhere else. A run of the
  /// same files takes that one's place, unless it is a trial.
  private func checkRuns(
    _ path: String, _ connection: Connection, _ sourceNames: [String], _ resumed: RunRecord?
  ) throws(UpsurgeError) {
    let (place, sources) = (rejects?.place, sourceNames.map(SourceName.place))
    for run in try RunTable.all(connection) where run.state == .running && run.id != resumed?.id {
      let isReplaced = dryRun == nil && run.files.map(\.name) == sources
      let hasKept = run.position.outputLengths["--rejects"] ?? 0 > 0 && isRegularFile(path)
      guard !isReplaced, hasKept, run.livePID == nil,
        run.job.options.contains(RunJob.Option("--rejects", place ?? ""))
      else { continue }
      throw UpsurgeError(
        .guardRefused,
        "\(path.escapedForTerminal) of --rejects holds what run \(run.id) has rejected, which has not ended",
        hint:
          "give another path to --rejects; or end that run first by its own command, or give it up: upsurge runs DB "
          + "--forget \(run.id)")
    }
  }

  /// Leaves a file alone whose replay was cut short: it knows the file by its first lines.
  private func checkReplay(of path: String, _ connection: Connection) throws(UpsurgeError) {
    guard let whole = realPath(path), try ReplayMark.all(connection).contains(where: { $0.path == whole })
    else { return }
    throw UpsurgeError(
      .guardRefused,
      "a replay of \(path.escapedForTerminal) was cut short, and the file of --rejects holds what is left for it",
      hint:
        "end it first: upsurge replay \(connection.path.quotedForShell) \(path.quotedForShell); or give "
        + "another path to --rejects")
  }
}
