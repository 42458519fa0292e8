import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Waits for a socket, and looks ten times a second whether the wait is to end.
struct SocketWait {
  enum Outcome {
    case ready(isReadable: Bool)
    case timedOut
    case cancelled
    case failed(Int32)
  }

  var descriptor: Int32
  var reads = true
  var writes = false

  /// - Parameter deadline: seconds of the monotonic clock; nil waits for ever.
  func callAsFunction(_ cancellation: ReadCancellation?, until deadline: Double? = nil) -> Outcome {
    var waited = pollfd(fd: descriptor, events: 0, revents: 0)
    if reads { waited.events |= Int16(POLLIN) }
    if writes { waited.events |= Int16(POLLOUT) }
    while true {
      let count = poll(&waited, 1, 100)
      // A socket that has failed is readable: libpq finds out why.
      if count > 0 { return .ready(isReadable: Int32(waited.revents) & ~POLLOUT != 0) }
      if count < 0 && errno != EINTR { return .failed(errno) }
      if cancellation?.isRequested == true { return .cancelled }
      if let deadline, Self.now >= deadline { return .timedOut }
    }
  }

  /// Seconds of the monotonic clock.
  static var now: Double { MonotonicClock.seconds }
}
