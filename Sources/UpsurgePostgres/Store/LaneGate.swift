import UpsurgeRecords

/// Where the connections of a run meet before they commit the records of a round.
///
///     connections   store … arrive | COMMIT        they wait here for the slowest one
///     the run       seal … awaitAll, judge, open   what was committed before is written down, and the rejects of all are counted
///
/// So what ends a run, a reject or a failure, rolls back the round of all connections. Only a connection that breaks in its COMMIT can
/// leave some of them further than others.
///
/// A connection may wait for a lock of one that waits here, which the server does not notice: a function in a CHECK takes one, or a
/// cascade reaches a row twice. Those that wait are sent back once. If that does not help, the gate is free: each commits as soon as it
/// has stored its records. One that was kept waiting nevertheless is tried again when no other one is at work.
final class LaneGate: @unchecked Sendable {
  // Sendable because all that changes is only touched while `monitor` is locked.

  private enum State { case closed, open, shut }

  private let monitor = Monitor()
  private let count: Int
  private var arrived: Set<Int> = []
  private var state = State.closed
  private var isSealed = false
  private var retreats = 0
  private var letsAllCommit: Bool
  /// Connections that wait until no other one is at work.
  private var queued: Set<Int> = []

  /// - Parameters:
  ///   - count: how many connections store records.
  ///   - isFree: whether each commits as soon as it can.
  init(count: Int, isFree: Bool = false) { (self.count, letsAllCommit) = (count, isFree) }

  /// Whether connections commit without waiting for one another.
  var isFree: Bool {
    monitor.lock()
    defer { monitor.unlock() }
    return letsAllCommit
  }

  /// How often those that waited were sent back.
  var retreatCount: Int {
    monitor.lock()
    defer { monitor.unlock() }
    return retreats
  }

  // MARK: - For connections

  /// Waits until all connections have stored their records, and they may be committed.
  /// - Parameter endsRun: whether a reject of this connection ends the run, so that it never commits by itself.
  /// - Throws: `retryTransaction` where the transaction must be made again; `other` where nothing is to be committed.
  func arrive(_ lane: Int, endsRun: Bool = false) throws(PostgresFailure) {
    monitor.lock()
    defer { monitor.unlock() }
    arrived.insert(lane)
    monitor.notifyAll()
    let before = retreats
    while state == .closed, retreats == before, !(letsAllCommit && (isSealed || endsRun)) {
      monitor.wait()
    }
    switch state {
    case .open: return
    case .shut: throw .roundEnded
    case .closed where letsAllCommit && endsRun: throw .rejectEndsRun
    case .closed where letsAllCommit && isSealed: arrived.insert(lane)
    case .closed: throw .sentBack
    }
  }

  /// Waits until what was committed in the round before is written down.
  /// - Throws: `other` where nothing is to be committed.
  func awaitSeal() throws(PostgresFailure) {
    monitor.lock()
    defer { monitor.unlock() }
    while !isSealed, state != .shut { monitor.wait() }
    if state == .shut { throw .roundEnded }
  }

  /// Has those that wait make their transactions again: somebody else may wait for a lock of theirs who holds one of this connection.
  /// - Parameter isAgain: whether that was tried, and did not help. Those that wait commit then.
  func sendBack(isAgain: Bool = false) {
    monitor.lock()
    defer { monitor.unlock() }
    guard state == .closed, !letsAllCommit else { return }
    if isAgain {
      letsAllCommit = true
    } else {
      retreats += 1
      arrived = []
    }
    monitor.notifyAll()
  }

  /// Waits, with no transaction open, until all others have stored their records or wait here, too. The gate must be free.
  func awaitTurn(_ lane: Int) {
    monitor.lock()
    defer { monitor.unlock() }
    queued.insert(lane)
    monitor.notifyAll()
    while state == .closed, count - arrived.count - queued.count > 0 { monitor.wait() }
    queued.remove(lane)
  }

  // MARK: - For the run

  /// What was committed in the round before is written down.
  func noteSealed() {
    monitor.lock()
    isSealed = true
    monitor.notifyAll()
    monitor.unlock()
  }

  /// Waits until all have stored their records.
  /// - Returns: false where one of them cannot.
  func awaitAll() -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    while arrived.count < count, state == .closed { monitor.wait() }
    return state == .closed
  }

  /// Lets all commit.
  func open() { end(.open) }

  /// Lets none commit that has not begun to; also for a connection that has failed.
  func shut() { end(.shut) }

  private func end(_ new: State) {
    monitor.lock()
    if state == .closed { state = new }
    monitor.notifyAll()
    monitor.unlock()
  }
}

extension PostgresFailure {
  /// Another connection, or a record, has ended the round.
  static var roundEnded: PostgresFailure {
    PostgresFailure(.other, "the records of another connection were not stored")
  }

  /// A reject of a connection ends the run, while others may have committed.
  static var rejectEndsRun: PostgresFailure { PostgresFailure(.other, "a record ends the run") }
}
