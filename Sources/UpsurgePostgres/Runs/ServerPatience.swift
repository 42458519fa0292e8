import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How long a server is waited for that is busy, away, or takes no rows.
package struct ServerPatience: Sendable {
  /// Seconds for what others hold up, and for a server that is read-only: `--busy-timeout`.
  package var busySeconds = 10.0
  /// Seconds before each attempt to connect again.
  package var connectSeconds: [Double] = [1, 2, 4, 8, 20, 60]

  package init() {}

  /// Seconds for a standby to take over, when the connection has broken.
  var takeoverSeconds: Double { max(busySeconds, connectSeconds.reduce(0, +)) }

  /// So often a connection may break at the same records: what ends it then is a limit, which ends it each time.
  var mostBreaks: Int { connectSeconds.count }
}

/// The attempts at one part of a run: says after each failure whether another one is worth it, and waits for it.
struct ServerWait {
  private let patience: ServerPatience
  private let cancellation: ReadCancellation?
  private let begun = SocketWait.now
  private var (busyCount, connectCount, breakCount) = (0, 0, 0)
  /// Whether the connection has broken, so that a standby may be about to take over.
  var hasBroken = false

  init(_ patience: ServerPatience, _ cancellation: ReadCancellation?) {
    (self.patience, self.cancellation) = (patience, cancellation)
  }

  /// Waits before another attempt.
  /// - Parameter isAtWork: whether it failed while records were stored, or committed.
  /// - Throws: what no other attempt repairs, and `interrupted`.
  mutating func wait(after failure: PostgresFailure, isAtWork: Bool) throws(PostgresFailure) {
    switch failure.kind {
    case .retryTransaction:
      // Who has sent the others back is the one that waits, and says when it has waited long enough.
      if failure != .sentBack, seconds > patience.busySeconds { throw failure }
      // Two that met once must not meet again.
      try pause(0.05 * Double(1 << min(busyCount, 6)) * Double.random(in: 0.5...1.5))
      busyCount += 1
    case .readOnly:
      if seconds > (hasBroken ? patience.takeoverSeconds : patience.busySeconds) { throw failure }
      try pause(0.1 * Double(1 << min(busyCount, 4)))
      busyCount += 1
    case .connectionLost, .outcomeUnknown, .unreachable:
      hasBroken = true
      if isAtWork, failure.kind != .unreachable { breakCount += 1 }
      if connectCount == patience.connectSeconds.count || breakCount >= max(patience.mostBreaks, 1) {
        throw breakCount > 1 ? failure.again : failure
      }
      try pause(patience.connectSeconds[connectCount])
      connectCount += 1
    default: throw failure
    }
  }

  private var seconds: Double { SocketWait.now - begun }

  private func pause(_ seconds: Double) throws(PostgresFailure) {
    let end = SocketWait.now + seconds
    while SocketWait.now < end {
      if cancellation?.isRequested == true {
        throw PostgresFailure(.interrupted, "interrupted while it waited for the server")
      }
      usleep(UInt32(max(1, min(100_000, (end - SocketWait.now) * 1e6))))
    }
  }
}

extension PostgresFailure {
  /// Another connection of the run was kept waiting, perhaps for a lock of this one.
  static var sentBack: PostgresFailure {
    PostgresFailure(.retryTransaction, "another connection of the run was kept waiting", sqlState: "40001")
  }

  /// What is said of a connection that has broken at the same records each time.
  fileprivate var again: PostgresFailure {
    if kind == .unreachable { return self }
    var failure = self
    failure.kind = .breaksAgain
    return failure
  }
}
