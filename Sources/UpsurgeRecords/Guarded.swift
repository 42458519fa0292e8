/// A value that one thread at a time may touch.
///
/// Does what `Synchronization.Mutex` does, with a lock that ThreadSanitizer sees: on Linux it does not see that one, and
/// reports a race between any two threads that meet at nothing else.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
  // Sendable because the value is only touched while the lock is held.

  private let monitor = Monitor()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  /// Gives `body` the value, and keeps other threads from it meanwhile; not to be nested.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    monitor.lock()
    defer { monitor.unlock() }
    return try body(&value)
  }
}
