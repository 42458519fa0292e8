import Upsurge
import UpsurgeRecords

/// What the thread of a runner and those who ask it share.
final class RunnerCore: @unchecked Sendable {
  // Sendable because every variable property is only touched while `monitor` is locked.

  typealias Answer = CheckedContinuation<Result<MirrorSummary?, UpsurgeError>, Never>

  private let job: MirrorJob
  private let monitor = Monitor()
  /// Whether the thread is there.
  private var isAlive = false
  /// Seconds between two runs; nil where runs are only asked for.
  private var interval: Double?
  private var isRequested = false
  /// Of the run at work.
  private var control: RunControl?
  private var shownState = MirrorRunner.State.idle
  private var summary: MirrorSummary?
  /// Callers that have asked for the next run, and callers that the current run is for.
  private var waiting: [Answer] = []
  private var served: [Answer] = []
  /// Callers that wait until no run is at work.
  private var ends: [CheckedContinuation<Void, Never>] = []
  private var listeners: [Int: AsyncStream<MirrorRunner.Event>.Continuation] = [:]
  private var listenerCount = 0

  private static let keptEventCount = 1_024

  init(_ job: MirrorJob) { self.job = job }

  deinit { for listener in listeners.values { listener.finish() } }

  private func locked<Result>(_ act: () -> Result) -> Result {
    monitor.lock()
    defer { monitor.unlock() }
    return act()
  }

  // MARK: - Asked by others

  var state: MirrorRunner.State { locked { shownState } }
  var lastSummary: MirrorSummary? { locked { summary } }

  func events() -> AsyncStream<MirrorRunner.Event> {
    let (stream, listener) = AsyncStream.makeStream(
      of: MirrorRunner.Event.self, bufferingPolicy: .bufferingNewest(Self.keptEventCount))
    let number = locked {
      listenerCount += 1
      listeners[listenerCount] = listener
      return listenerCount
    }
    listener.onTermination = { [weak self] _ in self?.forget(listener: number) }
    return stream
  }

  private func forget(listener number: Int) { locked { listeners[number] = nil } }

  func start(every interval: Duration) throws(UpsurgeError) {
    let (seconds, attoseconds) = interval.components
    locked {
      if self.interval == nil { isRequested = true }
      self.interval = max(Double(seconds) + Double(attoseconds) * 1e-18, 0)
      monitor.notifyAll()
    }
    do throws(UpsurgeError) {
      try wake()
    } catch {
      locked { self.interval = nil }
      throw error
    }
  }

  /// Asks for a run and waits for its end.
  func summaryOfNextRun() async throws(UpsurgeError) -> MirrorSummary? {
    let answer = await withCheckedContinuation { (answer: Answer) in
      locked {
        isRequested = true
        waiting.append(answer)
        monitor.notifyAll()
      }
      do throws(UpsurgeError) {
        try wake()
      } catch {
        let lost = locked {
          isRequested = false
          defer { waiting = [] }
          return waiting
        }
        for answer in lost { answer.resume(returning: .failure(error)) }
      }
    }
    return try answer.get()
  }

  func requestStop() {
    let lost = locked {
      interval = nil
      isRequested = false
      if let control {
        control.cancel(signal: 15)
        show(.stopping)
      }
      monitor.notifyAll()
      defer { waiting = [] }
      return waiting
    }
    for answer in lost { answer.resume(returning: .success(nil)) }
  }

  /// Waits until no run is at work.
  func end() async {
    await withCheckedContinuation { continuation in
      let isOver = locked {
        if control != nil { ends.append(continuation) }
        return control == nil
      }
      if isOver { continuation.resume() }
    }
  }

  // MARK: - The thread

  private func wake() throws(UpsurgeError) {
    let isNeeded = locked {
      defer { isAlive = true }
      return !isAlive
    }
    guard isNeeded else { return }
    do throws(UpsurgeError) {
      // It keeps the core, not the runner: who lets go of that ends it.
      _ = try WorkerThread { [self] in work() }
    } catch {
      locked { isAlive = false }
      throw error
    }
  }

  private func work() {
    WorkerThread.blockSignals()
    while let control = nextRun() {
      let summary = job.run(
        control: control, note: { [self] note in locked { emit(.note(note)) } },
        tick: { [self] progress in locked { emit(.progress(progress)) } },
        tableDone: { [self] table in locked { emit(.table(table)) } })
      finish(summary)
    }
  }

  /// Waits until a run is due.
  /// - Returns: nil where none will be, and the thread is to end.
  private func nextRun() -> RunControl? {
    monitor.lock()
    defer { monitor.unlock() }
    let start = MonotonicClock.seconds
    while !isRequested {
      guard let interval else {
        isAlive = false
        return nil
      }
      let rest = start + interval - MonotonicClock.seconds
      if rest <= 0 { break }
      _ = monitor.wait(milliseconds: Int(min(rest, 3_600) * 1_000) + 1)
    }
    isRequested = false
    (served, waiting) = (waiting, [])
    let control = RunControl { [weak self] table, stage in self?.show(table, stage) }
    self.control = control
    return control
  }

  private func finish(_ summary: MirrorSummary) {
    let (done, ended) = locked {
      self.summary = summary
      control = nil
      show(.idle)
      emit(.ended(summary))
      defer { (served, ends) = ([], []) }
      return (served, ends)
    }
    for answer in done { answer.resume(returning: .success(summary)) }
    for continuation in ended { continuation.resume() }
  }

  private func show(_ table: String, _ stage: RunControl.Stage) {
    locked {
      // One that is told to end does nothing else any more.
      if shownState == .stopping { return }
      switch stage {
      case .fetching, .inspecting: show(.fetching(table: table))
      case .applying, .packing, .sorting: show(.applying(table: table))
      case .sweeping: show(.sweeping(table: table))
      // The end of what it was doing.
      case .indexing, .finishing, .replaying, .migrating: break
      }
    }
  }

  /// Locked by the caller.
  private func show(_ state: MirrorRunner.State) {
    if shownState == state { return }
    shownState = state
    emit(.state(state))
  }

  /// Locked by the caller, so that all listeners see the same order.
  private func emit(_ event: MirrorRunner.Event) {
    for listener in listeners.values { listener.yield(event) }
  }
}
