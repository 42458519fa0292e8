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
  }

  /// Calls what asks the server something, with its failures as errors of the engine. It may be called again, where the
  /// connection has broken.
  package func asking<Result>(
    _ body: (PostgresConnection) throws(PostgresFailure) -> Result
  ) throws(UpsurgeError) -> Result {
    var tries = 1
    while true {
      do throws(PostgresFailure) {
        return try body(try connected())
      } catch {
        // A server that restarts comes back.
        guard error.kind == .connectionLost, tries < Self.mostTries, cancellation?.isRequested != true else {
          throw self.error(of: error)
        }
        tries += 1
        usleep(200_000)
      }
    }
  }

  private static let mostTries = 4

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

  /// What the server can do; asked once.
  /// - Throws: `usage` where no load can go there.
  package func capabilities() throws(UpsurgeError) -> Capabilities {
    if let known { return known }
    let found = try asking { (connection) throws(PostgresFailure) in try Capabilities(of: connection) }
    if let refusal = found.refusal {
      throw UpsurgeError(.usage, "\(target.shown): \(refusal)")
    }
    known = found
    return found
  }
}
