/// Distinguishes a cancellation that has just come from one that must be obeyed now.
///
/// What is nearly done when a run is told to end is finished: records that are parsed are stored and committed. What takes
/// longer than a moment is given up. Belongs to one thread.
package final class GracePeriod {
  private let isCancelled: @Sendable () -> Bool
  private var firstSeen: Double?

  /// With what was at work when it came and the last commit, less than half a second.
  package static let seconds = 0.15

  /// - Parameter isCancelled: whether the run was told to end.
  package init(isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }

  /// Whether the run was told to end.
  package var hasBegun: Bool { isCancelled() }

  /// Whether it was told so long ago that nothing more is to be begun. The time counts from when this was first asked.
  package var isOver: Bool {
    guard isCancelled() else {
      // A job goes on with its next table where only one's time was over.
      firstSeen = nil
      return false
    }
    let now = MonotonicClock.seconds
    guard let firstSeen else {
      firstSeen = now
      return false
    }
    return now - firstSeen >= Self.seconds
  }

  /// - Throws: `interrupted` once the period is over.
  package func check() throws(UpsurgeError) {
    if isOver { throw UpsurgeError(.interrupted, "interrupted") }
  }
}
