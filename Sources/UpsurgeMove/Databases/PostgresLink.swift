import UpsurgeInput
import UpsurgePostgres
import UpsurgeRecords

/// A connection of a move to a server, made when it is needed, and again where it has broken.
final class PostgresLink {
  let url: String
  let target: PostgresTarget
  let cancellation: ReadCancellation
  /// What each connection begins with; nil for nothing.
  private let beginning: String?
  private var connection: PostgresConnection?
  /// When it was used last.
  private var usedAt = 0.0

  /// A connection that was idle for so many seconds may be gone without a word.
  private static let idleSeconds = 30.0

  /// - Throws: `usage` for what is no URL of a database.
  init(_ url: String, beginning: String? = nil, _ cancellation: ReadCancellation) throws(UpsurgeError) {
    guard let target = PostgresTarget(url), ServerSource(url) == nil else {
      throw UpsurgeError(
        .usage, "\(SourceName.redactedURL(url)) is not the URL of a database",
        hint:
          "postgres://USER@HOST/DATABASE names it, without a table; \(.table, "NAME") moves only some of its tables"
      )
    }
    (self.url, self.target, self.beginning, self.cancellation) = (url, target, beginning, cancellation)
  }

  func rows(_ sql: String) throws(UpsurgeError) -> [[String?]] {
    try asking { (connection) throws(PostgresFailure) in
      let result = try connection.run(sql, [])
      return result.rows.map { row in (0..<result.columnCount).map { row.text($0) } }
    }
  }

  /// The rows of a SELECT, after a statement of the same transaction.
  func rows(_ sql: String, after statement: String) throws(UpsurgeError) -> [[String?]] {
    try asking { (connection) throws(PostgresFailure) in
      defer { connection.rollback() }
      try connection.run(Self.changing)
      try connection.run(statement)
      let result = try connection.run(sql, [])
      return result.rows.map { row in (0..<result.columnCount).map { row.text($0) } }
    }
  }

  /// Runs statements in one transaction.
  func change(_ statements: [String]) throws(UpsurgeError) {
    try asking { (connection) throws(PostgresFailure) in
      do throws(PostgresFailure) {
        try connection.run(Self.changing)
        for statement in statements { try connection.run(statement) }
        guard try connection.commit() else {
          throw PostgresFailure(.other, "the server has taken the transaction back")
        }
      } catch {
        connection.rollback()
        throw error
      }
    }
  }

  /// Runs statements and takes them back.
  /// - Returns: why the server has refused one; nil where it has not.
  func refusal(of statements: [String]) throws(UpsurgeError) -> String? {
    try asking { (connection) throws(PostgresFailure) in
      defer { connection.rollback() }
      try connection.run(Self.changing)
      for statement in statements {
        do throws(PostgresFailure) {
          try connection.run(statement)
        } catch {
          if !connection.isOpen || error.kind == .interrupted { throw error }
          return error.message
        }
      }
      return nil
    }
  }

  /// A move may build an index for hours. The server goes on a while with that of a move that was killed, and holds its locks.
  private static let changing = """
    BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '10min'; SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL standard_conforming_strings = on; SET LOCAL client_min_messages = warning
    """

  private func asking<Result>(
    _ body: (PostgresConnection) throws(PostgresFailure) -> Result
  ) throws(UpsurgeError) -> Result {
    defer { usedAt = MonotonicClock.seconds }
    do throws(PostgresFailure) {
      return try body(try connected())
    } catch {
      throw error.asError(on: target)
    }
  }

  private func connected() throws(PostgresFailure) -> PostgresConnection {
    if let connection, connection.isOpen {
      let isFresh = MonotonicClock.seconds - usedAt < Self.idleSeconds
      // What is read in one transaction cannot go on in another.
      if isFresh || beginning != nil || (try? connection.run("SELECT 1")) != nil { return connection }
    }
    let made = try PostgresConnection(to: target, cancellation: cancellation)
    if let beginning { try made.run(beginning) }
    connection = made
    return made
  }
}

extension PostgresLink {
  /// The URL with a query as the name of a source.
  func named(_ sql: String) -> String { url + (url.contains("?") ? "&" : "?") + "query=" + sql }
}
