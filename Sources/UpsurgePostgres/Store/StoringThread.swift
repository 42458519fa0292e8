import UpsurgeRecords

/// Stores gathered batches on a thread, one at a time, while the next one is gathered.
///
///     begin(batch)     hands over a batch, which is the thread's until `finish`
///     finish           waits for its end, and throws what it threw
///     end              ends the thread, which the first batch has started
final class StoringThread: @unchecked Sendable {
  // Sendable because `failure` is touched by the thread between `begin` and `finish`, and by the owner at other times; `store` is only
  // called by the thread.

  private let store: (GatheredBatch) throws(UpsurgeError) -> Void
  private let thread = TurnThread()
  private var failure: UpsurgeError?

  /// - Parameter store: stores a batch, and leaves it empty.
  init(_ store: @escaping (GatheredBatch) throws(UpsurgeError) -> Void) { self.store = store }

  /// Begins to store a batch; the one before must be finished.
  /// - Throws: `database` when the system has no thread left.
  func begin(_ batch: GatheredBatch) throws(UpsurgeError) {
    try thread.begin { [self] in
      do throws(UpsurgeError) { try store(batch) } catch { failure = error }
    }
  }

  /// Waits until nothing is stored.
  /// - Throws: what was thrown since the last call.
  func finish() throws(UpsurgeError) {
    thread.finish()
    defer { failure = nil }
    if let failure { throw failure }
  }

  /// Ends the thread after the batch that is its own.
  func end() { thread.end() }
}
