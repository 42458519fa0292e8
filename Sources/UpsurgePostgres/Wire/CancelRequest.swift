import CPostgres
import UpsurgeRecords

/// What asks a server to end a statement: sent by a thread of its own, which frees what libpq has for it.
final class CancelRequest: @unchecked Sendable {
  // Sendable because one thread has the handle, and the monitor guards `isSent`.

  private let handle: OpaquePointer
  private let monitor = Monitor()
  private var isSent = false

  init(_ handle: OpaquePointer) { self.handle = handle }

  /// Returns when the server has taken the request, and signalled the process that runs the statement.
  func send() {
    _ = upsurge_pq_cancel(handle)
    upsurge_pq_free_cancel(handle)
    monitor.lock()
    isSent = true
    monitor.notifyAll()
    monitor.unlock()
  }

  /// - Returns: false where the request is not sent within that time.
  func wait(seconds: Double) -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    var isInTime = true
    while !isSent && isInTime { isInTime = monitor.wait(milliseconds: Int(seconds * 1_000)) }
    return isSent
  }
}
