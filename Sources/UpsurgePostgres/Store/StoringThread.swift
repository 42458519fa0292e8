import UpsurgeRecords

/// Stores gathered batches on a thread, one at a time, while the next one is gathered.
///
///     begin(batch)     hands over a batch, which is the thread's until `finish`
///     finish           waits for its end, and throws what it threw
///     end              ends the thread, which the first batch has started
final class StoringThread: @unchecked Sendable {
  // Sendable because `work`, `failure` and `isEnded` are only touched while `monitor` is locked, `thread` only by the owner, and
  // `store` is only called by the thread, between `begin` and `finish` of its owner.

  private let store: (GatheredBatch) throws(UpsurgeError) -> Void
  private let monitor = Monitor()
  /// What is stored.
  private var work: GatheredBatch?
  private var failure: UpsurgeError?
  private var isEnded = false
  private var thread: WorkerThread?

  /// - Parameter store: stores a batch, and leaves it empty.
  init(_ store: @escaping (GatheredBatch) throws(UpsurgeError) -> Void) { self.store = store }

  /// Begins to store a batch; the one before must be finished.
  /// - Throws: `database` when the system has no thread left.
  func begin(_ batch: GatheredBatch) throws(UpsurgeError) {
    if thread == nil { thread = try WorkerThread { self.run() } }
    monitor.lock()
    precondition(work == nil && !isEnded, "one batch is stored at a time")
    work = batch
    monitor.notifyAll()
    monitor.unlock()
  }

  /// Waits until nothing is stored.
  /// - Throws: what was thrown since the last call.
  func finish() throws(UpsurgeError) {
    monitor.lock()
    while work != nil { monitor.wait() }
    let failure = self.failure
    self.failure = nil
    monitor.unlock()
    if let failure { throw failure }
  }

  /// Ends the thread after the batch that is its own.
  func end() {
    monitor.lock()
    isEnded = true
    monitor.notifyAll()
    monitor.unlock()
    thread?.join()
    thread = nil
  }

  private func run() {
    while let batch = next() {
      var failure: UpsurgeError?
      do throws(UpsurgeError) { try store(batch) } catch { failure = error }
      monitor.lock()
      (self.failure, work) = (failure, nil)
      monitor.notifyAll()
      monitor.unlock()
    }
  }

  private func next() -> GatheredBatch? {
    monitor.lock()
    defer { monitor.unlock() }
    while work == nil && !isEnded { monitor.wait() }
    return work
  }
}
