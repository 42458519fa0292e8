import Synchronization

/// One load of records into one table: what `upsurge load` does.
///
///     var options = LoadOptions()
///     options.key = ["id"]
///     let job = LoadJob(database: "app.db", table: "people", sources: ["people.csv.zst"], options: options)
///     let summary = job.run()
///     print(summary.ledger.inserted, summary.exitCode)
///
/// Two threads work while `run` waits: one reads, decompresses and parses, one owns the database connection.
public struct LoadJob: Sendable {
  /// Path of the SQLite database.
  public var database: String
  public var table: String
  /// Files, globs, URLs (`https://…`), commands (`exec:COMMAND`), or `-` for standard input, in the order in which they
  /// are read.
  public var sources: [String]
  public var options: LoadOptions
  /// The command line that asks for it, and would go on with it.
  package var command: RunCommand?

  public init(database: String, table: String, sources: [String], options: LoadOptions = LoadOptions()) {
    self.database = database
    self.table = table
    self.sources = sources
    self.options = options
  }

  /// Runs the load to its end; blocks the calling thread.
  ///
  /// - Parameters:
  ///   - control: shows the progress to, and takes a cancellation from, any thread.
  ///   - note: is told what people want to know, on any thread.
  ///   - tick: is called on the calling thread about ten times a second.
  ///   - report: is given the summary at the end, before the run is forgotten: when the process ends before that, the
  ///     same job tells the ledger again instead of loading twice. False says that nobody has seen it.
  /// - Returns: what happened. A failure is the summary's `error`; `exitCode` says it as the command would.
  public func run(
    control: RunControl = RunControl(),
    note: @escaping @Sendable (RunNote) -> Void = { _ in },
    tick: (RunControl.Progress) -> Void = { _ in },
    report: (RunSummary) -> Bool = { _ in true }
  ) -> RunSummary {
    let end = runToEnd(control: control, note: note, tick: tick)
    if report(end.summary) { end.acknowledge() }
    return end.summary
  }

  /// The same, for who shows the ledger later.
  /// - Parameter group: loads with which this one shares a transaction; it has ended only with them.
  package func runToEnd(
    control: RunControl, in group: LoadGroup? = nil, note: @escaping @Sendable (RunNote) -> Void,
    tick: (RunControl.Progress) -> Void
  ) -> EndedLoad {
    var run = LoadRun(job: self, control: control, group: group, note: note)
    perform(run, tick)
    if run.voidSeconds.withLock({ $0 }) != nil {
      run = LoadRun(startingOver: run)
      perform(run, tick)
    }
    let end = EndedLoad(run)
    group?.note(end, of: run)
    return end
  }

  private func perform(_ run: LoadRun, _ tick: (RunControl.Progress) -> Void) {
    do throws(UpsurgeError) { try run.wait(tick) { run.writeAll() } } catch { run.fail(error) }
  }
}

extension LoadRun {
  /// Does the run's work on a thread of its own, shows its progress meanwhile, and passes on a cancellation.
  /// - Throws: `database` when the system has no thread left.
  func wait(
    _ tick: (RunControl.Progress) -> Void, for work: @escaping @Sendable () -> Void
  ) throws(UpsurgeError) {
    let completion = Completion()
    let writer = try WorkerThread {
      work()
      completion.finish()
    }
    var isStopping = false
    while !completion.wait(milliseconds: 100) {
      if let signal = control.cancellationSignal, !isStopping {
        isStopping = true
        stopReading()
        noteSignal(signal)
      }
      if isStopping { checkpoint.withLock { $0?.interrupt() } }
      tick(control.progress)
    }
    writer.join()
  }
}

/// A load that has ended, and whose ledger nobody has seen yet: until somebody has, nobody starts the job again.
package final class EndedLoad {
  /// Of a load in a group, what is known before that has ended: whether it has failed.
  package private(set) var summary: RunSummary
  private var ending: RunEnding?
  /// What the delivery has told of its feed; nil where it is of none.
  package private(set) var feed: DeliveredFeed?
  private var lock: JobLock?
  private let note: @Sendable (RunNote) -> Void

  init(_ run: LoadRun) {
    summary = run.takeSummary()
    feed = run.delivered
    ending = run.ending.withLock { $0.take() }
    lock = run.lock.withLock { $0.take() }
    note = run.note
  }

  /// Makes the ledger that of an earlier part of the run, all of which was read once more.
  package func takeOver(_ first: RunSummary) {
    var whole = first
    (whole.guardRefusal, whole.error, whole.signal) = (summary.guardRefusal, summary.error, summary.signal)
    (whole.refusedDelivery, whole.isAcceptedByDigest) = (summary.refusedDelivery, summary.isAcceptedByDigest)
    whole.ledger.swept += summary.ledger.swept
    // What the first part has repaired the second one finds in order, and what both keep is the same.
    whole.localEdits.repaired += summary.localEdits.repaired
    whole.localEdits.kept = summary.localEdits.kept
    whole.localEdits.unswept = summary.localEdits.unswept
    summary = whole
  }

  /// Counts what an earlier part of the run has changed, as all of the delivery was read once more: those rows are found
  /// unchanged then, and those that it has deleted are not found.
  package func countChanges(of first: RunSummary) {
    let changedCount = first.ledger.inserted + first.ledger.updated
    guard summary.ledger.unchanged >= changedCount, summary.ledger.ignored >= first.ledger.deleted else {
      return
    }
    summary.ledger.inserted += first.ledger.inserted
    summary.ledger.updated += first.ledger.updated
    summary.ledger.unchanged -= changedCount
    summary.ledger.deleted += first.ledger.deleted
    summary.ledger.ignored -= first.ledger.deleted
  }

  /// What is to be known of the feed from now on; told once, as thousands of loads may wait to be acknowledged.
  package func takeFeedShape() -> FeedShape? {
    defer { feed = nil }
    return feed?.shape
  }

  /// Takes over what has become of the load with its group.
  func end(_ run: LoadRun) {
    summary = run.takeSummary()
    ending = run.ending.withLock { $0.take() } ?? ending
  }

  /// Takes the marks of runs away, as their ledgers were seen: of those that share a connection in one transaction.
  package static func acknowledge(_ loads: [EndedLoad]) {
    var rest = loads[...]
    while let first = rest.first {
      let connection = first.ending?.connection
      let group = rest.prefix { connection != nil && $0.ending?.connection === connection }
      rest = rest.dropFirst(max(group.count, 1))
      guard group.count > 1, let connection else {
        first.acknowledge()
        continue
      }
      connection.moveToCurrentThread()
      connection.shareTransaction()
      for load in group { load.acknowledge(isLast: load === group.last) }
      do throws(UpsurgeError) { try connection.commitShared() } catch { first.noteMark(error) }
    }
  }

  /// Takes the mark of the run away, as its ledger was seen.
  package func acknowledge() { acknowledge(isLast: true) }

  /// - Parameter isLast: whether no other load of the table follows at once.
  private func acknowledge(isLast: Bool) {
    defer { lock = nil }
    guard summary.isWhole, let ending else { return }
    do throws(UpsurgeError) {
      try ending.acknowledge(exitCode: summary.exitCode, isLast: isLast)
    } catch {
      noteMark(error)
    }
  }

  private func noteMark(_ error: UpsurgeError) {
    note(
      RunNote(
        .warning,
        "the run is complete, but its mark could not be removed (\(error.message)); the same command shows its ledger "
          + "again and loads nothing"))
  }
}
