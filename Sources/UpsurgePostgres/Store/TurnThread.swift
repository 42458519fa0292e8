import UpsurgeRecords

/// A thread that does one thing at a time, for whoever hands it over.
///
///     begin(work)     hands over what is to be done
///     finish          waits for its end
///     end             ends the thread, which the first work has started
final class TurnThread: @unchecked Sendable {
  // Sendable because `work` and `isEnded` are only touched while `monitor` is locked, and `thread` only by the owner.

  private let monitor = Monitor()
  private var work: (() -> Void)?
  private var isEnded = false
  private var thread: WorkerThread?

  /// - Throws: `database` when the system has no thread left.
  func begin(_ work: @escaping () -> Void) throws(UpsurgeError) {
    if thread == nil { thread = try WorkerThread { self.run() } }
    monitor.lock()
    precondition(self.work == nil && !isEnded, "one thing is done at a time")
    self.work = work
    monitor.notifyAll()
    monitor.unlock()
  }

  func finish() {
    monitor.lock()
    while work != nil { monitor.wait() }
    monitor.unlock()
  }

  /// Ends the thread after what it does.
  func end() {
    monitor.lock()
    isEnded = true
    monitor.notifyAll()
    monitor.unlock()
    thread?.join()
    thread = nil
  }

  private func run() {
    while let work = next() {
      work()
      monitor.lock()
      self.work = nil
      monitor.notifyAll()
      monitor.unlock()
    }
  }

  private func next() -> (() -> Void)? {
    monitor.lock()
    defer { monitor.unlock() }
    while work == nil && !isEnded { monitor.wait() }
    return work
  }
}
