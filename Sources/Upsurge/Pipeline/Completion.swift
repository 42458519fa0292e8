/// An event that happens once and can be waited for with a time limit.
package final class Completion: @unchecked Sendable {
  // Sendable because `isFinished` is only touched while `monitor` is locked.

  private var isFinished = false
  private let monitor = Monitor()

  package init() {}

  package func finish() {
    monitor.lock()
    defer { monitor.unlock() }
    isFinished = true
    monitor.notifyAll()
  }

  /// Waits for the event, at most so long.
  /// - Returns: whether it has happened.
  package func wait(milliseconds: Int) -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    while !isFinished {
      if !monitor.wait(milliseconds: milliseconds) { break }
    }
    return isFinished
  }
}
