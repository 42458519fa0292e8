import UpsurgeRecords

/// Where the connections of a run meet before they commit the records of a round.
///
///     connections   store … arrive | COMMIT        they wait here for the slowest one
///     the run       seal … awaitAll, judge, open   what was committed before is written down, and the rejects of all are counted
///
/// So what ends a run, a reject or a failure, rolls back the round of all connections. Only a connection that breaks in its COMMIT can
/// leave some of them further than others.
final class LaneGate: @unchecked Sendable {
  // Sendable because all that changes is only touched while `monitor` is locked.

  private enum State { case closed, open, shut }

  private let monitor = Monitor()
  private let count: Int
  private var arrived: Set<Int> = []
  private var state = State.closed
  private var isSealed = false
  /// How often those that waited were sent back.
  private var turn = 0

  /// - Parameter count: how many connections store records.
  init(count: Int) { self.count = count }

  // MARK: - For connections

  /// Waits until all connections have stored their records, and they may be committed.
  /// - Throws: `retryTransaction` where the transaction must be made again; `other` where nothing is to be committed.
  func arrive(_ lane: Int) throws(PostgresFailure) {
    monitor.lock()
    defer { monitor.unlock() }
    arrived.insert(lane)
    monitor.notifyAll()
    let turn = turn
    while state == .closed, self.turn == turn { monitor.wait() }
    switch state {
    case .open: return
    case .shut: throw .roundEnded
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
  func sendBack() {
    monitor.lock()
    defer { monitor.unlock() }
    guard state == .closed else { return }
    turn += 1
    arrived = []
    monitor.notifyAll()
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
}
