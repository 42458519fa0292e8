import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The connection of a run to a server, made when it is needed, and what the server can do.
package final class ServerSession {
  package let target: PostgresTarget
  package let cancellation: ReadCancellation?
  private var connection: PostgresConnection?
  private var known: Capabilities?
  /// What the run needs, for the hint of what is refused.
  var rights = WantedRights()
  /// How long a server is waited for; not at all unless somebody says so.
  var patience = ServerPatience()
  /// Whether the server has answered: one that is away then may come back.
  private var hasAnswered = false
  /// Whether it was away then, so that a standby may be about to take over.
  private var hasBroken = false
  /// Whether it was waited for in vain.
  private var hasGivenUp = false

  /// - Throws: `usage` for what is no URL of PostgreSQL.
  package init(_ database: String, _ cancellation: ReadCancellation? = nil) throws(UpsurgeError) {
    guard let target = PostgresTarget(database) else {
      throw UpsurgeError(.usage, "the database is not a URL of PostgreSQL: postgres://USER@HOST/DATABASE")
    }
    if ServerSource(database) != nil {
      throw UpsurgeError(
        .usage, "\(SourceName.shown(database)) names rows, and stands where a database is named",
        hint: "name the table after the URL, without # or ?query=; a # of the database's own name is %23")
    }
    self.target = target
    self.cancellation = cancellation
    (patience.busySeconds, patience.connectSeconds) = (0, [])
  }

  /// Takes the place of a session whose connection has broken.
  func goOn() { (hasAnswered, hasBroken) = (true, true) }

  /// Calls what asks the server something, with its failures as errors of the engine. It may be called again, where the
  /// connection has broken.
  package func asking<Result>(
    _ body: (PostgresConnection) throws(PostgresFailure) -> Result
  ) throws(UpsurgeError) -> Result {
    var wait = ServerWait(patience, cancellation)
    var tries = 1
    while true {
      do throws(PostgresFailure) {
        let result = try body(try connected())
        (hasAnswered, hasGivenUp) = (true, false)
        return result
      } catch {
        do throws(PostgresFailure) {
          try getReady(after: error, &wait, &tries)
        } catch {
          throw self.error(of: error)
        }
      }
    }
  }

  /// Waits where another try is worth it.
  /// - Throws: the failure, where none is, and `interrupted`.
  private func getReady(
    after failure: PostgresFailure, _ wait: inout ServerWait, _ tries: inout Int
  ) throws(PostgresFailure) {
    switch failure.kind {
    case .connectionLost, .outcomeUnknown, .unreachable:
      hasBroken = true
      if failure.kind != .unreachable, tries < Self.mostTries, cancellation?.isRequested != true {
        // A server that restarts comes back.
        tries += 1
        usleep(200_000)
        return
      }
      if !hasAnswered || hasGivenUp { throw failure }
      do {
        try wait.wait(after: failure, isAtWork: false)
      } catch {
        hasGivenUp = error.kind != .interrupted
        throw error
      }
    case .readOnly:
      // Its host may be another server by now.
      connection = nil
      wait.hasBroken = hasBroken
      try wait.wait(after: failure, isAtWork: false)
    case .timedOut: try waitAsBusy(after: failure, &wait)
    // A lock was waited for already.
    case .retryTransaction where failure.sqlState != "55P03": try waitAsBusy(after: failure, &wait)
    default: throw failure
    }
  }

  private static let mostTries = 4

  private func waitAsBusy(after failure: PostgresFailure, _ wait: inout ServerWait) throws(PostgresFailure) {
    var busy = failure
    busy.kind = .retryTransaction
    do {
      try wait.wait(after: busy, isAtWork: false)
    } catch {
      throw error.kind == .retryTransaction ? failure : error
    }
  }

  /// A failure as the engine's error; where a right is missing, with the GRANT that gives it.
  func error(of failure: PostgresFailure) -> UpsurgeError {
    var error = failure.asError(on: target)
    guard failure.kind == .privilege else { return error }
    // On a connection of its own: that of the failure may be in a transaction that has failed.
    let hint = try? rights.hint(PostgresConnection(to: target, cancellation: cancellation))
    if let hint { error.remedy = hint }
    return error
  }

  /// The connection, where one is open.
  var openConnection: PostgresConnection? { connection.flatMap { $0.isOpen ? $0 : nil } }

  /// As `asking`, for what only reads: the catalogue's functions wait for the locks of a table, and this wait has an end.
  /// - Parameter lockTimeout: milliseconds.
  func reading<Result>(
    lockTimeout: Int, _ body: (PostgresConnection) throws(PostgresFailure) -> Result
  ) throws(UpsurgeError) -> Result {
    try asking { (connection) throws(PostgresFailure) in
      do throws(PostgresFailure) {
        try connection.run(
          "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = \(max(1, lockTimeout))")
        let result = try body(connection)
        connection.rollback()
        return result
      } catch {
        connection.rollback()
        throw error
      }
    }
  }

  /// The connection; a new one where the last one has broken.
  func connected() throws(PostgresFailure) -> PostgresConnection {
    if let connection, connection.isOpen { return connection }
    let made = try PostgresConnection(to: target, cancellation: cancellation)
    connection = made
    return made
  }

  /// Begins a transaction. The server may have ended a session that waited for its first records.
  /// - Returns: the server, too, where the settings ask for it.
  func begin(_ settings: TransactionSettings) throws(PostgresFailure) -> (PostgresConnection, server: String?)
  {
    let wasOpen = connection?.isOpen == true
    let first = try connected()
    do {
      return (first, try first.run(settings.beginSQL).last?.first?.text(0))
    } catch {
      guard wasOpen, error.kind == .connectionLost else { throw error }
    }
    let second = try connected()
    return (second, try second.run(settings.beginSQL).last?.first?.text(0))
  }

  /// What the server can do; asked once.
  /// - Throws: `usage` where no load can go there; `databaseBusy` for a standby that does not take over.
  package func capabilities() throws(UpsurgeError) -> Capabilities {
    if let known { return known }
    let found = try asking { (connection) throws(PostgresFailure) in
      let found = try Capabilities(of: connection)
      // It may take over.
      if found.isInRecovery { throw PostgresFailure(.readOnly, "the server is a standby") }
      return found
    }
    if let refusal = found.refusal {
      let hint: Wording? =
        found.isReadOnly
        ? "ALTER ROLE, ALTER DATABASE or the server's settings set it; or name a user who may write" : nil
      throw UpsurgeError(.usage, "\(target.shown): \(refusal)", hint: hint)
    }
    known = found
    return found
  }
}
