import CSQLite
import UpsurgeRecords

/// A handle to stop a connection's running statement from another thread or a signal's thread.
package final class Interrupter: @unchecked Sendable {
  // Sendable because the handle is only touched while the lock is held, and is nil once it is closed.

  private let handle: Guarded<UInt>

  init(_ handle: OpaquePointer) { self.handle = Guarded(UInt(bitPattern: handle)) }

  /// Makes the running statement end with `interrupted` (`sqlite3_interrupt`).
  package func interrupt() {
    handle.withLock { if let handle = OpaquePointer(bitPattern: $0) { sqlite3_interrupt(handle) } }
  }

  func close() { handle.withLock { $0 = 0 } }
}
