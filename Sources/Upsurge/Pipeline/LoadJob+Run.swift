import Synchronization
import UpsurgeRecords

extension LoadJob {
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
