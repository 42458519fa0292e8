import Foundation

/// Two servers, of which the second follows the first: what one commits the other has a moment later, as it is with
/// asynchronous streaming replication. A test ends the first, and the second takes over.
public final class ServerPair {
  /// Whether the first of the installations can copy a server.
  public static var isPresent: Bool {
    PostgresServer.installed().first.map {
      FileManager.default.isExecutableFile(atPath: $0.folder + "/pg_basebackup")
    } ?? false
  }
  public static let skipNote =
    "PostgreSQL's server or pg_basebackup is not installed (apt-get install postgresql-15)"

  public let primary: PostgresServer
  public let standby: PostgresServer

  public init() throws {
    primary = try PostgresServer.alone()
    standby = try primary.standby()
  }

  /// A URL that names both, by TCP.
  /// - Parameter parameters: with `&` between them.
  public func url(database: String, parameters: String = "target_session_attrs=read-write") -> String {
    primary.url(database: database, parameters: parameters).replacingOccurrences(
      of: ":\(primary.port)/", with: ":\(primary.port),127.0.0.1:\(standby.port)/")
  }

  /// Makes a database that both have.
  /// - Returns: its name.
  public func freshDatabase() throws -> String {
    let name = "pair_\(UInt32.random(in: 0...UInt32.max))"
    try primary.psql("CREATE DATABASE \(name)", in: primary.socketURL())
    try catchUp()
    return name
  }

  /// Waits until the second has all that the first has committed.
  public func catchUp() throws {
    let end = try primary.psql("SELECT pg_current_wal_flush_lsn()", in: primary.socketURL())
    try wait("the standby does not catch up") {
      try standby.psql("SELECT pg_last_wal_replay_lsn() >= '\(end)'", in: standby.socketURL()) == "t"
    }
  }

  /// The second gets nothing more: what the first commits from now on is lost when that ends.
  public func holdBack() throws {
    try standby.psql("ALTER SYSTEM SET primary_conninfo = ''", in: standby.socketURL())
    try standby.psql("SELECT pg_reload_conf()", in: standby.socketURL())
    try wait("the standby goes on following") {
      try primary.psql("SELECT count(*) FROM pg_stat_replication", in: primary.socketURL()) == "0"
    }
  }

  /// Ends the first.
  public func end() throws { try primary.end() }

  /// Has the second take rows.
  public func promote() throws {
    guard try standby.psql("SELECT pg_promote()", in: standby.socketURL()) == "t" else {
      throw PostgresServer.Failure(description: "the standby does not take over")
    }
  }

  private func wait(_ problem: String, until isDone: () throws -> Bool) throws {
    for _ in 0..<1_500 {
      if try isDone() { return }
      usleep(20_000)
    }
    throw PostgresServer.Failure(description: problem)
  }
}
