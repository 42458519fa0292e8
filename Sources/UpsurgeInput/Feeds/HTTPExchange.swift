import UpsurgeRecords

/// What the thread that fetches and the one that reads tell each other, besides the bytes in the pipe.
final class HTTPExchange: @unchecked Sendable {
  // Sendable because every variable property is only touched while `monitor` is locked.

  /// The URL as it is shown.
  let name: String
  /// Ends the fetch as `stop()` does.
  private let cancellation: ReadCancellation?
  private let monitor = Monitor()
  private var isStopped = false
  private var response: HTTPResponse?
  private var ending: Result<Void, UpsurgeError>?
  private var isAbandoned = false

  /// A cancellation is noticed within so long.
  static let lookMilliseconds = 50
  private static let patienceSeconds = 0.15

  init(name: String, cancellation: ReadCancellation?) {
    self.name = name
    self.cancellation = cancellation
  }

  // MARK: - The fetching thread

  /// Whether nobody wants the rest.
  var isCancelled: Bool {
    monitor.lock()
    defer { monitor.unlock() }
    return isUnwanted(nil)
  }

  /// The answer is one that is read.
  func open(_ response: HTTPResponse) {
    monitor.lock()
    defer { monitor.unlock() }
    self.response = response
    monitor.notifyAll()
  }

  /// All has come, or nothing more will.
  func end(_ ending: Result<Void, UpsurgeError>) {
    monitor.lock()
    defer { monitor.unlock() }
    self.ending = ending
    monitor.notifyAll()
  }

  /// The thread is about to end: nothing of libcurl's is in use any more.
  func abandon() {
    monitor.lock()
    defer { monitor.unlock() }
    isAbandoned = true
    monitor.notifyAll()
  }

  /// Waits between two tries.
  /// - Returns: false when nobody wants the rest any more.
  func pause(seconds: Double) -> Bool {
    let end = MonotonicClock.seconds + seconds
    monitor.lock()
    defer { monitor.unlock() }
    while !isUnwanted(nil) {
      let rest = end - MonotonicClock.seconds
      if rest <= 0 { return true }
      _ = monitor.wait(milliseconds: max(min(Int(rest * 1_000), Self.lookMilliseconds), 1))
    }
    return false
  }

  // MARK: - The reading thread

  /// Waits for the answer.
  /// - Throws: why it does not come.
  func waitForResponse() throws(UpsurgeError) -> HTTPResponse {
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      if let response { return response }
      if case .failure(let error) = ending { throw error }
      try wait(nil)
    }
  }

  /// Waits until the fetch has ended.
  /// - Throws: why not all has come.
  func waitForEnd(cancellation: ReadCancellation?) throws(UpsurgeError) {
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      switch ending {
      case .success: return
      case .failure(let error): throw error
      case nil: try wait(cancellation)
      }
    }
  }

  func stop() {
    monitor.lock()
    defer { monitor.unlock() }
    isStopped = true
    monitor.notifyAll()
  }

  /// Ends the fetch and waits for its thread; not for ever, as one that looks for a host cannot be hurried.
  func stopAndWait() {
    stop()
    let deadline = MonotonicClock.seconds + Self.patienceSeconds
    monitor.lock()
    defer { monitor.unlock() }
    while !isAbandoned && MonotonicClock.seconds < deadline { _ = monitor.wait(milliseconds: 10) }
  }

  /// Locked by the caller.
  private func wait(_ other: ReadCancellation?) throws(UpsurgeError) {
    if isUnwanted(other) { throw .interrupted(name) }
    _ = monitor.wait(milliseconds: Self.lookMilliseconds)
  }

  private func isUnwanted(_ other: ReadCancellation?) -> Bool {
    isStopped || cancellation?.isRequested ?? false || other?.isRequested ?? false
  }
}
