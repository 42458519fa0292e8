/// Seconds since it was made, by the monotonic clock.
package struct Stopwatch: Sendable {
  private let start = ContinuousClock.now

  package init() {}

  package var seconds: Double {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
