import CSQLite
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Waits for the locks of other connections: SQLite's busy handler (https://www.sqlite.org/c3ref/busy_handler.html).
///
/// Looks again after 1 ms, then ever later, at most 10 ms apart, so that a gap between another program's
/// transactions is met; SQLite's own handler looks 100 ms apart in the end. A cancellation ends the wait at once.
/// Belongs to the connection's thread.
package final class LockWait {
  /// How long to wait for one lock.
  private(set) var milliseconds: Int32
  /// How long to wait for one lock where waits are short.
  private var shortMilliseconds: Int32?
  private let isCancelled: @Sendable () -> Bool
  /// What is nearly done is finished.
  let grace: GracePeriod
  private var startSeconds = 0.0
  /// How long the last wait took, over all its looks; set to 0 by who wants to know.
  var waitedSeconds = 0.0

  private static let longestPauseMilliseconds = 10

  init(milliseconds: Int32, isCancelled: @escaping @Sendable () -> Bool) {
    self.milliseconds = milliseconds
    self.isCancelled = isCancelled
    grace = GracePeriod(isCancelled: isCancelled)
  }

  /// Whether the run was told to end, so that a lock which was not got is no failure.
  var isEnded: Bool { isCancelled() }

  /// Makes this the handler of a connection, which it must outlive.
  func install(on handle: OpaquePointer) {
    sqlite3_busy_handler(
      handle,
      { wait, count in
        guard let wait else { return 0 }
        return Unmanaged<LockWait>.fromOpaque(wait).takeUnretainedValue().waits(count) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Takes over what `PRAGMA busy_timeout` of a script has set, which put SQLite's handler in our place.
  func reinstall(on handle: OpaquePointer, milliseconds: Int64?) {
    if let milliseconds, milliseconds > 0 { self.milliseconds = Int32(clamping: milliseconds) }
    install(on: handle)
  }

  /// - Parameter count: how often SQLite has asked for this lock.
  /// - Returns: whether it is to try again.
  private func waits(_ count: Int32) -> Bool {
    let now = MonotonicClock.seconds
    if count == 0 { startSeconds = now }
    let rest = Double(min(shortMilliseconds ?? .max, milliseconds)) / 1000 - (now - startSeconds)
    if rest <= 0 || isCancelled() { return false }
    let pause = Double(min(Int(count) + 1, Self.longestPauseMilliseconds)) / 1000
    usleep(UInt32(min(pause, rest) * 1_000_000) + 1)
    waitedSeconds = MonotonicClock.seconds - startSeconds
    return true
  }

  /// Does what waits for a lock in short waits, and from its beginning each time: of two connections that wait for each
  /// other, none would ever get it.
  func inShortWaits<Result>(_ act: () throws(UpsurgeError) -> Result) throws(UpsurgeError) -> Result {
    let end = MonotonicClock.seconds + Double(milliseconds) / 1000
    defer { shortMilliseconds = nil }
    while true {
      shortMilliseconds = Int32.random(in: 10...60)
      do throws(UpsurgeError) {
        return try act()
      } catch {
        if error.code != .databaseBusy || MonotonicClock.seconds >= end || isCancelled() { throw error }
      }
      pause(seconds: Double.random(in: 0.001...0.02))
    }
  }

  /// Does what takes a lock at once or not at all.
  func withoutWaiting<Result>(_ act: () -> Result) -> Result {
    shortMilliseconds = 0
    defer { shortMilliseconds = nil }
    return act()
  }

  /// Sleeps, unless the run is told to end; outside of transactions.
  package func pause(seconds: Double) {
    let end = MonotonicClock.seconds + seconds
    while !isCancelled() {
      let rest = end - MonotonicClock.seconds
      if rest <= 0 { return }
      usleep(UInt32(min(rest, 0.02) * 1_000_000) + 1)
    }
  }
}
