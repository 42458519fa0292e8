import Upsurge
import UpsurgeRecords
import UpsurgeState

/// How a run of several connections begins, or is taken over.
extension PostgresStore {
  /// Makes the connections of a run.
  /// - Throws: `database` where the server has no room for so many.
  func lanes(
    of table: TargetTable, _ transactions: RunTransactions, _ beginning: Beginning, isSeveral: Bool
  ) throws(UpsurgeError) -> RunLanes? {
    guard isSeveral, let transactions = transactions as? PartTransactions, let found = table.found,
      let division = try division(of: table)
    else { return nil }
    var settings = settings(for: table)
    // Somebody may wait for a lock of one connection and hold one that another connection wants, which the server does not notice. So
    // locks are given up several times, and by all connections.
    settings.lockTimeout = max(1, settings.lockTimeout / 4)
    let place = RunLane.Place(
      store: self, table: table, lanes: PostgresLanes(transactions.runs), begun: transactions.begun,
      earlierOwner: beginning.resumption?.owner, settings: settings)
    return try RunLanes(place, by: division, found: found)
  }

  /// Opens as many transactions as there will be at the same time, and ends them: a server or its pooler may have no room, and
  /// connections that wait for one another would wait for ever then.
  /// - Parameter isResumed: whether the run has so many connections already, and keeps them.
  /// - Throws: `database` where they cannot be open at the same time.
  func checkRoom(for count: Int, isResumed: Bool) throws(UpsurgeError) {
    let target = session.target
    // One more writes down where the run stands.
    let room = try session.asking {
      [session] (_) throws(PostgresFailure) -> (count: Int, failure: PostgresFailure)? in
      let attempt = OpenTransactions(target, session.cancellation)
      try attempt.open(count + 1)
      defer { attempt.end() }
      guard let failure = attempt.failure else { return nil }
      guard failure.isForWantOfRoom, attempt.count > 0 else { throw failure }
      return (attempt.count, failure)
    }
    guard let room else { return }
    throw UpsurgeError(
      .database,
      "\(place) has room for \(Words.count(UInt64(room.count), "transaction")) at the same time, and \(.connections, count) needs "
        + "\(count + 1): \(target.masked(room.failure.message).escapedForTerminal)",
      hint: isResumed
        ? "raise max_connections, or the size of the pool: a run that resumes keeps its number of connections"
        : "give \(.connections) one less than there is room for; or raise max_connections, or the size of the pool"
    )
  }

  /// Makes the run and the rows of its connections.
  func begin(
    _ run: PostgresRuns.NewRun, laneCount: Int, _ runs: PostgresRuns, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> PartTransactions.Begun {
    let server = try server(connection)
    let lanes = PostgresLanes(runs)
    do throws(PostgresFailure) {
      try connection.run("BEGIN")
      let number = try runs.begin(run, connection)
      try lanes.begin(number, count: laneCount, owner: run.owner, connection)
      let rows = try lanes.all(of: number, connection)
      if try !connection.commit() {
        throw PostgresFailure(.other, "the server has rolled the transaction back")
      }
      return PartTransactions.Begun(
        run: number, owner: run.owner, position: run.position, server: server, progress: run.progress,
        lanes: rows)
    } catch {
      connection.rollback()
      throw error
    }
  }

  /// Makes the rows of an earlier part's connections this process's, and waits for what is being stored over them.
  /// - Returns: nil where another process was faster.
  func takeOver(
    _ earlier: RunRecord, _ newRun: PostgresRuns.NewRun, _ runs: PostgresRuns,
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> PartTransactions.Begun? {
    let server = try server(connection)
    let lanes = PostgresLanes(runs)
    do throws(PostgresFailure) {
      try connection.run(
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = \(max(1, lockTimeout))")
      // A call whose answer was lost may have done it, so the row says whose the run is.
      _ = try runs.takeOver(earlier.id, from: earlier.owner, to: newRun.owner, connection)
      guard let standing = try runs.lock(earlier.id, connection), standing.owner == newRun.owner else {
        connection.rollback()
        return nil
      }
      let rows = try lanes.takeOver(earlier.id, to: newRun.owner, connection)
      if try !connection.commit() {
        throw PostgresFailure(.other, "the server has rolled the transaction back")
      }
      return PartTransactions.Begun(
        run: earlier.id, owner: newRun.owner, position: standing.position, server: server,
        progress: standing.progress, lanes: rows)
    } catch {
      connection.rollback()
      throw error
    }
  }

  /// Makes the table of connections where it is missing.
  /// - Throws: `guardRefused` where somebody else has one of its name.
  func makeLanes(_ runs: PostgresRuns) throws(UpsurgeError) {
    let isOurs = try session.asking { (connection) throws(PostgresFailure) in
      try PostgresLanes(runs).make(connection)
    }
    if isOurs { return }
    throw UpsurgeError(
      .guardRefused,
      "the schema \(runs.schema.escapedForTerminal) has a table \(PostgresLanes.name) that upsurge did not make",
      hint: "give that table another name: connections of runs are kept in one of this name")
  }
}

/// Transactions that are open at the same time, each begun by a thread of its own: a server that is far away is waited for once.
private final class OpenTransactions: @unchecked Sendable {
  // Sendable because all that changes is only touched while `monitor` is locked, or by the owner when no thread is left.

  private let target: PostgresTarget
  private let cancellation: ReadCancellation?
  private let monitor = Monitor()
  private var connections: [PostgresConnection] = []
  /// Why one of them could not be opened.
  private(set) var failure: PostgresFailure?

  init(_ target: PostgresTarget, _ cancellation: ReadCancellation?) {
    (self.target, self.cancellation) = (target, cancellation)
  }

  var count: Int { connections.count }

  /// - Throws: `resources` when the system has no thread left.
  func open(_ count: Int) throws(PostgresFailure) {
    var threads: [WorkerThread] = []
    defer { for thread in threads { thread.join() } }
    for _ in 0..<count {
      do throws(UpsurgeError) {
        threads.append(try WorkerThread { self.openOne() })
      } catch {
        throw PostgresFailure(.resources, error.message)
      }
    }
  }

  private func openOne() {
    do throws(PostgresFailure) {
      let connection = try PostgresConnection(to: target, cancellation: cancellation)
      try connection.run("BEGIN; SELECT 1")
      monitor.lock()
      connections.append(connection)
    } catch {
      monitor.lock()
      if failure?.isForWantOfRoom != true { failure = error }
    }
    monitor.unlock()
  }

  func end() { for connection in connections { connection.rollback() } }
}

extension PostgresFailure {
  /// Whether the server, or its pooler, takes no more connections or transactions at the same time.
  fileprivate var isForWantOfRoom: Bool {
    sqlState == "53300" || Self.wordsOfPoolers.contains { message.contains($0) }
  }

  /// What PgBouncer says of a pool that stays full, and of too many clients.
  private static let wordsOfPoolers = [
    "query_wait_timeout", "no more connections allowed", "too many connections",
  ]
}
