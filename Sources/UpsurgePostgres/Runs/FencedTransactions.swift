import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The transactions of one run or replay, each of which stands alone: it locks a row, looks whose it is and where the run stands,
/// stores records, and writes down the new position with them.
///
///     perform("100", to: "200") { connection in … }
///
/// A transaction that met a deadlock is tried again. A connection that broke is made again, and the position says whether a
/// COMMIT that nobody answered stands. So each part is stored once, whatever breaks.
package final class FencedTransactions {
  /// How often and how long it is tried.
  package struct Patience: Sendable {
    /// Seconds for what others hold up: `--busy-timeout`.
    package var busySeconds = 10.0
    /// Seconds before each attempt to connect again.
    package var connectSeconds: [Double] = [1, 2, 4, 8, 20, 60]

    package init() {}
  }

  private let target: PostgresTarget
  private let row: any FenceRow
  private let settings: TransactionSettings
  private let patience: Patience
  private let cancellation: ReadCancellation?
  private var connection: PostgresConnection?
  /// How often a connection was made.
  package private(set) var connectionCount = 0
  /// How often a COMMIT that nobody had answered was found to stand.
  package private(set) var foundCommitCount = 0
  /// Commits; tests put connections in it that break.
  var commit: (PostgresConnection) throws(PostgresFailure) -> Bool = { connection throws(PostgresFailure) in try connection.commit() }

  /// - Parameter row: what is locked, and says where the work stands.
  package init(
    to target: PostgresTarget, row: any FenceRow, settings: TransactionSettings = TransactionSettings(),
    patience: Patience = Patience(), cancellation: ReadCancellation? = nil
  ) {
    (self.target, self.row) = (target, row)
    (self.settings, self.patience, self.cancellation) = (settings, patience, cancellation)
  }

  /// - Parameter owner: what the run's row calls this process.
  package convenience init(
    to target: PostgresTarget, runs: PostgresRuns, run: Int64, owner: String, settings: TransactionSettings = TransactionSettings(),
    patience: Patience = Patience(), cancellation: ReadCancellation? = nil
  ) {
    self.init(
      to: target, row: RunRow(runs: runs, run: run, owner: owner), settings: settings, patience: patience,
      cancellation: cancellation)
  }

  /// Stores a part of the run whose end is known before.
  /// - Parameters:
  ///   - before: the position that the part begins at.
  ///   - after: the position after it, which must be another one.
  ///   - body: stores the records. It may be called again, when nothing of its call before stands.
  /// - Returns: what the call gave whose transaction stands.
  /// - Throws: `takenOver`; what no second attempt repairs.
  package func perform<Result>(
    _ before: String, to after: PostgresRuns.Standing, _ body: (PostgresConnection) throws(PostgresFailure) -> Result
  ) throws(PostgresFailure) -> Result {
    try perform(before) { (connection) throws(PostgresFailure) in (try body(connection), after) }
  }

  /// Stores a part of the run.
  /// - Parameters:
  ///   - before: the position that the part begins at.
  ///   - isLast: whether the run is complete then.
  ///   - body: stores the records, and says where the run stands then, which must be another position unless it is complete. It may be
  ///     called again, when nothing of its call before stands.
  package func perform<Result>(
    _ before: String, isLast: Bool = false, _ body: (PostgresConnection) throws(PostgresFailure) -> (Result, PostgresRuns.Standing)
  ) throws(PostgresFailure) -> Result {
    var pending: (result: Result, position: String)?
    var (waits, attempts) = (0, 0)
    let begun = SocketWait.now
    while true {
      do throws(PostgresFailure) {
        let connection = try connect()
        try connection.run(settings.beginSQL)
        guard let standing = try row.lock(connection), standing.owner == row.owner else { throw takenOver }
        if let pending, isLast ? standing.isComplete : standing.position == pending.position {
          foundCommitCount += 1
          connection.rollback()
          return pending.result
        }
        if standing.position != before { throw takenOver }
        // Now it is sure that nothing of the attempts so far stands.
        pending = nil
        let (result, after) = try body(connection)
        precondition(isLast || before != after.position, "a part that moves nothing cannot be told from none")
        guard try row.advance(to: after, isComplete: isLast, connection) else { throw takenOver }
        pending = (result, after.position)
        if try commit(connection) { return result }
        throw PostgresFailure(.other, "the server has rolled the transaction back")
      } catch {
        try recover(from: error, since: begun, &waits, &attempts)
      }
    }
  }

  /// Gets ready for another attempt, or throws.
  private func recover(
    from failure: PostgresFailure, since begun: Double, _ waits: inout Int, _ attempts: inout Int
  ) throws(PostgresFailure) {
    switch failure.kind {
    case .retryTransaction:
      connection?.rollback()
      if SocketWait.now - begun > patience.busySeconds { throw failure }
      // Two that met once must not meet again.
      try pause(0.05 * Double(1 << min(waits, 6)) * Double.random(in: 0.5...1.5))
      waits += 1
    case .connectionLost, .outcomeUnknown, .unreachable:
      connection = nil
      if attempts == patience.connectSeconds.count { throw failure }
      try pause(patience.connectSeconds[attempts])
      attempts += 1
    default:
      connection?.rollback()
      throw failure
    }
  }

  private func connect() throws(PostgresFailure) -> PostgresConnection {
    if let connection, connection.isOpen { return connection }
    let made = try PostgresConnection(to: target, cancellation: cancellation)
    connectionCount += 1
    connection = made
    return made
  }

  private var takenOver: PostgresFailure { PostgresFailure(.takenOver, row.loss) }

  private func pause(_ seconds: Double) throws(PostgresFailure) {
    let end = SocketWait.now + seconds
    while SocketWait.now < end {
      if cancellation?.isRequested == true { throw PostgresFailure(.interrupted, "interrupted while it waited for the server") }
      usleep(UInt32(max(1, min(100_000, (end - SocketWait.now) * 1e6))))
    }
  }
}
