import Upsurge
import UpsurgeRecords

/// Runs a mirror job in the background of a program, and shows what it is doing.
///
///     let runner = MirrorRunner(job)
///     Task { for await event in runner.events { show(event) } }
///     try runner.start(every: .seconds(3600))
///     …
///     let summary = try await runner.runNow()
///     await runner.stop()
///
/// Runs never overlap. They are the blocking `MirrorJob.run` on a thread of the runner's own, so that no task waits for
/// them on a thread of Swift's. One that is let go of ends its run as `stop()` does.
public final class MirrorRunner: Sendable {
  public let job: MirrorJob
  private let core: RunnerCore

  public init(_ job: MirrorJob) {
    self.job = job
    core = RunnerCore(job)
  }

  deinit { core.requestStop() }

  /// What it is doing now.
  public var state: State { core.state }

  /// What became of the last run; nil before the first has ended.
  public var lastSummary: MirrorSummary? { core.lastSummary }

  /// What happens from now on; ends when the runner goes. Of an iteration that is too slow, only the newest 1,024
  /// events are kept.
  public var events: AsyncStream<Event> { core.events() }

  /// Runs the job now, and then as often; the time counts from the end of each run. Where it was started before, only
  /// the time changes.
  /// - Throws: `database` when the system has no thread left.
  public func start(every interval: Duration) throws(UpsurgeError) {
    try core.start(every: interval)
  }

  /// Runs the job once, as soon as no other run of this runner is at work, and waits for its end.
  /// - Returns: what became of it; nil where it was stopped before it began.
  /// - Throws: `database` when the system has no thread left.
  public func runNow() async throws(UpsurgeError) -> MirrorSummary? {
    try await core.summaryOfNextRun()
  }

  /// Ends the run that is at work at a commit, begins no other, and waits until that is so. It can be started again.
  public func stop() async {
    core.requestStop()
    await core.end()
  }
}
