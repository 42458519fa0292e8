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
  ///     same job reports the ledger again instead of loading twice. False says that nobody has seen it.
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

  /// Runs the load, for a caller that shows the ledger later.
  /// - Parameters:
  ///   - group: loads with which this one shares a transaction; it has ended only with them.
  ///   - makeStore: makes the store that the records go into; nil is the one that the database's name asks for.
  package func runToEnd(
    control: RunControl, in group: LoadGroup? = nil, into makeStore: StoreMaker? = nil,
    note: @escaping @Sendable (RunNote) -> Void, tick: (RunControl.Progress) -> Void
  ) -> EndedLoad {
    let claim = JobClaim()
    let makeStore = makeStore ?? StoreRegistry.maker(of: database)
    var run = LoadRun(job: self, control: control, group: group, makeStore: makeStore, note: note)
    var ending: RunEnding?
    var isDone = false
    while !isDone {
      do throws(UpsurgeError) {
        switch try run.wait(tick, for: { [run] in run.writeAll(claim) }) {
        case .startOver(let again): run = LoadRun(again, insteadOf: run)
        case .done(let left): (ending, isDone) = (left, true)
        }
      } catch {
        run.fail(error)
        isDone = true
      }
    }
    let load = EndedLoad(run, ending, claim)
    group?.note(load, of: run)
    return load
  }
}

extension LoadRun {
  /// Does the run's work on a thread of its own, shows its progress meanwhile, and passes on a cancellation.
  /// - Throws: `database` when the system has no thread left.
  func wait<Result: Sendable>(
    _ tick: (RunControl.Progress) -> Void, for work: @escaping @Sendable () -> Result
  ) throws(UpsurgeError) -> Result {
    let completion = Completion()
    let result = Guarded<Result?>(nil)
    let writer = try WorkerThread {
      let done = work()
      result.withLock { $0 = done }
      completion.finish()
    }
    var isStopping = false
    while !completion.wait(milliseconds: 100) {
      if let signal = control.cancellationSignal, !isStopping {
        isStopping = true
        stopReading()
        storeCancellation.request()
        noteSignal(signal)
      }
      if isStopping { checkpoint.withLock { $0?.interrupt() } }
      tick(control.progress)
    }
    writer.join()
    guard let done = result.withLock({ $0 }) else { preconditionFailure("the work has ended") }
    return done
  }
}
