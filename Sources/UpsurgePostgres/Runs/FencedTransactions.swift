import UpsurgeRecords

/// The transactions of one run or replay, each of which stands alone: it locks a row, looks whose it is and where the run stands,
/// stores records, and writes down the new position with them.
///
///     perform("100", to: "200") { connection in … }
///
/// A transaction that met a deadlock is tried again. A connection that broke is made again, and the position says whether a
/// COMMIT that nobody answered stands. So each part is stored once, whatever breaks.
package final class FencedTransactions {
  package typealias Patience = ServerPatience

  private let target: PostgresTarget
  private let row: any FenceRow
  private let settings: TransactionSettings
  private let patience: Patience
  private let cancellation: ReadCancellation?
  /// Whose the run was before; a server that has lost commits may say so.
  private let earlierOwner: String?
  /// The server that had the run's row last, as `TransactionSettings.server` says it.
  package private(set) var lastServer: String?
  private var connection: PostgresConnection?
  /// What `pg_stat_activity` shows.
  private let applicationName: String
  /// How often a connection was made.
  package private(set) var connectionCount = 0
  /// How often a COMMIT that nobody had answered was found to stand.
  package private(set) var foundCommitCount = 0
  /// Commits; tests put connections in it that break.
  var commit: (PostgresConnection) throws(PostgresFailure) -> Bool = { connection throws(PostgresFailure) in
    try connection.commit()
  }
  /// Is told why a transaction has failed, when it is rolled back and before it is tried again. Says whether nothing is to be held
  /// against it, so that it may be tried as long as at first.
  var didFail: (PostgresFailure) -> Bool = { _ in false }

  /// - Parameters:
  ///   - row: what is locked, and says where the work stands.
  ///   - earlierOwner: what the row has called the process whose run goes on.
  ///   - server: the one that has the row.
  package init(
    to target: PostgresTarget, row: any FenceRow, earlierOwner: String? = nil, server: String? = nil,
    settings: TransactionSettings = TransactionSettings(), patience: Patience = Patience(),
    cancellation: ReadCancellation? = nil, applicationName: String = "upsurge"
  ) {
    self.applicationName = applicationName
    (self.target, self.row, self.earlierOwner, lastServer) = (target, row, earlierOwner, server)
    (self.settings, self.patience, self.cancellation) = (settings, patience, cancellation)
  }

  /// - Parameters:
  ///   - owner: what the run's row calls this process.
  ///   - earlierOwner: what it has called the process whose run goes on.
  ///   - server: the one that has the row.
  package convenience init(
    to target: PostgresTarget, runs: PostgresRuns, run: Int64, owner: String, earlierOwner: String? = nil,
    server: String? = nil,
    settings: TransactionSettings = TransactionSettings(), patience: Patience = Patience(),
    cancellation: ReadCancellation? = nil
  ) {
    self.init(
      to: target, row: RunRow(runs: runs, run: run, owner: owner), earlierOwner: earlierOwner, server: server,
      settings: settings, patience: patience, cancellation: cancellation)
  }

  /// Stores a part of the run whose end is known before.
  /// - Parameters:
  ///   - before: the position that the part begins at.
  ///   - after: the position after it, which must be another one.
  ///   - body: stores the records. It may be called again, when nothing of its call before stands.
  /// - Returns: what the call gave whose transaction stands.
  /// - Throws: `takenOver`; what no second attempt repairs.
  package func perform<Result>(
    _ before: String, to after: PostgresRuns.Standing,
    _ body: (PostgresConnection) throws(PostgresFailure) -> Result
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
    _ before: String, isLast: Bool = false,
    _ body: (PostgresConnection) throws(PostgresFailure) -> (Result, PostgresRuns.Standing)
  ) throws(PostgresFailure) -> Result {
    var pending: (result: Result, position: String)?
    var wait = ServerWait(patience, cancellation)
    while true {
      var isAtWork = false
      do throws(PostgresFailure) {
        let connection = try connect()
        let server = try connection.run(settings.beginSQL).last?.first?.text(0)
        let standing = try lock(connection, server)
        if let pending, standing?.owner == row.owner,
          isLast ? standing?.isComplete == true : standing?.position == pending.position
        {
          foundCommitCount += 1
          connection.rollback()
          return pending.result
        }
        guard let standing, standing.owner == row.owner, standing.position == before else {
          throw moved(standing, server)
        }
        // Now it is sure that nothing of the attempts so far stands.
        pending = nil
        (lastServer, isAtWork) = (server, true)
        let (result, after) = try body(connection)
        precondition(isLast || before != after.position, "a part that moves nothing cannot be told from none")
        guard try row.advance(to: after, isComplete: isLast, connection) else { throw takenOver }
        pending = (result, after.position)
        if try commit(connection) { return result }
        throw PostgresFailure(.other, "the server has rolled the transaction back")
      } catch {
        if [.connectionLost, .outcomeUnknown, .unreachable, .readOnly].contains(error.kind) {
          // Its host may be another server by now.
          connection = nil
        } else {
          connection?.rollback()
        }
        if didFail(error) { wait = ServerWait(patience, cancellation) }
        do throws(PostgresFailure) {
          try wait.wait(after: error, isAtWork: isAtWork)
        } catch {
          throw pending == nil ? error : error.leavingOpen
        }
      }
    }
  }

  /// Locks the row. A server that has lost commits may not even have its table.
  private func lock(_ connection: PostgresConnection, _ server: String?) throws(PostgresFailure)
    -> PostgresRuns.Standing?
  {
    do {
      return try row.lock(connection)
    } catch {
      throw error.sqlState == "42P01" && isAnother(server) ? .lostCommits : error
    }
  }

  private func isAnother(_ server: String?) -> Bool {
    server != nil && lastServer != nil && server != lastServer
  }

  /// What it means that the row is not as this process has left it: where it is this process's, or where another server
  /// says what was before, commits were lost.
  private func moved(_ standing: PostgresRuns.Standing?, _ server: String?) -> PostgresFailure {
    guard let standing else { return isAnother(server) ? .lostCommits : takenOver }
    if standing.owner == row.owner { return .lostCommits }
    return standing.owner == earlierOwner && isAnother(server) ? .lostCommits : takenOver
  }

  private var takenOver: PostgresFailure { PostgresFailure(.takenOver, row.loss) }

  private func connect() throws(PostgresFailure) -> PostgresConnection {
    if let connection, connection.isOpen { return connection }
    let made = try PostgresConnection(
      to: target, cancellation: cancellation, applicationName: applicationName)
    connectionCount += 1
    connection = made
    return made
  }
}

extension PostgresFailure {
  /// The run's row says another process.
  static var takenOver: PostgresFailure {
    PostgresFailure(.takenOver, "another process has taken up the run, or it was forgotten")
  }

  /// The server stands before what it had confirmed.
  static var lostCommits: PostgresFailure {
    PostgresFailure(.commitsLost, "has lost commits that it had confirmed, as a standby may that takes over")
  }

  /// This failure after a COMMIT that nobody has answered.
  fileprivate var leavingOpen: PostgresFailure {
    guard [.connectionLost, .outcomeUnknown, .unreachable, .readOnly, .breaksAgain].contains(kind) else {
      return self
    }
    var failure = self
    failure.message += "; whether the last COMMIT stands is not known, and the same command finds out"
    return failure
  }
}
