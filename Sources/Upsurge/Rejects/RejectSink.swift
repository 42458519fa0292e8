/// Takes the rejected records of a load, on the writing thread.
package protocol RejectSink: TransactionObserver {
  /// Keeps one record.
  func write(_ reject: Reject) throws(UpsurgeError)

  /// Writes out what is buffered.
  func flush() throws(UpsurgeError)

  /// The length of the file that the next commit stands for; nil without one.
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
  init(
    _ connection: Connection, table: String, contexts: RejectContexts, deliveries: RejectDeliveries?
  ) throws(UpsurgeError) {
    writer = try RejectTableWriter(connection, table: table, deliveries: deliveries)
    self.contexts = contexts
  }

  func write(_ reject: Reject) throws(UpsurgeError) {
    let file = reject.position.file
    let identity = writer.countsDeliveries ? contexts.identity(of: file) : 0
    try writer.write(reject, context: contexts.text(of: file) ?? "", identity: identity)
  }

  func flush() {}

  func willCommit() {}

  var length: UInt64? { nil }

  var recordCount: UInt64 { 0 }

  func didCommit() { writer.transactionEnded() }

  func didRollBack() { writer.transactionEnded() }
}

/// What a database knows of runs and replays that have not ended: files of rejects may be theirs.
package struct OpenWork {
  /// For messages: the path of the database, or its URL without a password.
  let place: String
  let runs: () throws(UpsurgeError) -> [RunRecord]
  let replays: () throws(UpsurgeError) -> [ReplayMark]

  package init(
    place: String, runs: @escaping () throws(UpsurgeError) -> [RunRecord],
    replays: @escaping () throws(UpsurgeError) -> [ReplayMark]
  ) {
    (self.place, self.runs, self.replays) = (place, runs, replays)
  }
}

extension LoadOptions {
  /// The file of this run's rejects; nil where it has none.
  /// - Parameters:
  ///   - table: where the records go.
  ///   - work: of the database.
  ///   - sourceNames: the run's sources.
  ///   - resumed: the earlier part of the run.
  ///   - note: is told of a file that is not as the earlier part has left it, or holds what another load has rejected.
  /// - Throws: `cannotCreate`, `databaseBusy`, `guardRefused`.
  package func rejectFile(
    for table: String, beside work: OpenWork, contexts: RejectContexts, sourceNames: [String],
    resumed: RunRecord?, note: @escaping (RunNote) -> Void
  ) throws(UpsurgeError) -> RejectFile? {
    if let resumed { try cutEarlierFiles(of: resumed, work, note: note) }
    guard case .file(let path) = rejects.target else { return nil }
    let wasThere = isRegularFile(path)
    // Locked first: who holds it may end while it is looked at.
    let file = try RejectFile(
      path: path, isTrial: output.dryRun != nil, contexts: contexts, sourceNames: sourceNames,
      continuing: resumed, note: note)
    // One that is made here holds nothing of anybody; another process may have made it meanwhile.
    if wasThere || holdsRejects(path) {
      try checkReplay(of: path, work)
      try checkRuns(path, work, table: table, sourceNames, resumed)
    }
    if let resumed { try file.goOn(after: resumed, note: note) }
    return file
  }

  /// Where this run's rejects go; nil where they are only counted.
  /// - Parameters as of `rejectFile`.
  /// - Throws: `cannotCreate`, `databaseBusy`, `guardRefused`.
  func rejectSink(
    _ connection: Connection, table: String, contexts: RejectContexts, sourceNames: [String],
    resumed: RunRecord?, note: @escaping (RunNote) -> Void
  ) throws(UpsurgeError) -> (any RejectSink)? {
    let work = OpenWork(
      place: connection.path, runs: { () throws(UpsurgeError) in try RunTable.all(connection) },
      replays: { () throws(UpsurgeError) in try ReplayMark.all(connection) })
    let file = try rejectFile(
      for: table, beside: work, contexts: contexts, sourceNames: sourceNames, resumed: resumed, note: note)
    if let file { return file }
    if rejects.target == nil { return nil }
    let deliveries =
      delivery.rules.snapshot == nil
      ? nil
      : RejectDeliveries(
        token: "\(RunOwner().text) \(MonotonicClock.seconds)", owner: delivery.rules.rowState?.owner ?? "",
        resumedStart: resumed?.startedAt)
    return try RejectTableSink(connection, table: table, contexts: contexts, deliveries: deliveries)
  }

  /// Takes rejects of records that are read again out of the files that earlier parts of the run have written, where
  /// `--rejects` is another one now: those files may be replayed too.
  private func cutEarlierFiles(
    of run: RunRecord, _ work: OpenWork, note: (RunNote) -> Void
  ) throws(UpsurgeError) {
    for path in run.position.rejectPlaces where path != rejects.target?.place && isRegularFile(path) {
      let kept: KeptRejects
      do throws(UpsurgeError) {
        kept = try KeptRejects(path, of: run)
      } catch {
        // Somebody has put something else there.
        if error.code == .cannotCreate { continue }
        throw error
      }
      if kept.isWhole { continue }
      try checkReplay(of: path, work)
      let file = try OutputFile(path: path, option: "\(.rejects)", goesOn: true)
      try file.cut(to: kept.byteCount)
      note(
        RunNote(
          .info,
          "\(path.escapedForTerminal), which was \(.rejects) before, holds no more the rejects of records that are read again"
        ))
    }
  }

  /// Leaves the file of another run alone that has not ended: what it has rejected stands nowhere else. A run of the
  /// same files into the same table takes that one's place, unless it is a trial.
  private func checkRuns(
    _ path: String, _ work: OpenWork, table: String, _ sourceNames: [String], _ resumed: RunRecord?
  ) throws(UpsurgeError) {
    let (place, sources) = (rejects.target?.place ?? path, sourceNames.map(SourceName.place))
    for run in try work.runs() where run.state == .running && run.id != resumed?.id {
      let isReplaced =
        output.dryRun == nil && run.files.map(\.name) == sources && SQLName.isSame(run.job.table, table)
      let hasKept = run.position.rejectsLength(in: place) ?? 0 > 0 && holdsRejects(path)
      guard !isReplaced, hasKept, run.livePID == nil else { continue }
      throw UpsurgeError(
        .guardRefused,
        "\(path.escapedForTerminal) of \(.rejects) holds what run \(run.id) has rejected, which has not ended",
        hint:
          "give another path to \(.rejects); or end that run first by its own command, or give it up: upsurge runs "
          + "\(work.place.quotedForShell) \(.forget, run.id)")
    }
  }

  private func holdsRejects(_ path: String) -> Bool { FileIdentity.byteCount(ofPath: path) ?? 0 > 0 }

  /// Leaves a file alone whose replay was cut short: it knows the file by its first lines.
  private func checkReplay(of path: String, _ work: OpenWork) throws(UpsurgeError) {
    guard let whole = realPath(path), try work.replays().contains(where: { $0.path == whole })
    else { return }
    throw UpsurgeError(
      .guardRefused,
      "a replay of \(path.escapedForTerminal) was cut short, and the file of \(.rejects) holds what is left for it",
      hint:
        "end it first: upsurge replay \(work.place.quotedForShell) \(path.quotedForShell); or give "
        + "another path to \(.rejects)")
  }
}

extension RunPosition {
  private static let rejectsKey = Wording.option(.rejects) + " "

  /// The files that rejects of the run were given to, by their places.
  var rejectPlaces: [String] {
    outputLengths.keys.filter { $0.hasPrefix(Self.rejectsKey) }.map {
      String($0.dropFirst(Self.rejectsKey.count))
    }
    .sorted()
  }

  /// How long such a file was at the commit; nil for one that the run has not written to.
  func rejectsLength(in place: String) -> UInt64? { outputLengths[Self.rejectsKey + place] }

  /// The lengths of all these files, that of the present one among them.
  package func rejectsLengths(with length: UInt64?, in place: String?) -> [String: UInt64] {
    var lengths = outputLengths.filter { $0.key.hasPrefix(Self.rejectsKey) }
    if let place, let length { lengths[Self.rejectsKey + place] = length }
    return lengths
  }
}
