import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A database file that tables move into.
final class SQLiteTarget: MoveTarget {
  let database: String
  private let busyTimeout: Int32
  private let recordByteLimit: Int
  private let interruption: Interruption

  init(_ path: String, busyTimeout: Int32, recordByteLimit: Int, _ interruption: Interruption) {
    (database, self.busyTimeout, self.recordByteLimit) = (path, busyTimeout, recordByteLimit)
    self.interruption = interruption
  }

  var shown: String { database.escapedForTerminal }

  func loadName(of table: String) -> String { table }

  func quotedName(of table: String) -> String { "main.\(table.quotedAsName)" }

  func takenNames(besides tables: [String]) throws(UpsurgeError) -> [String] {
    // To look at a file makes it.
    if access(database, F_OK) != 0 { return [] }
    return try rows("SELECT name, tbl_name FROM main.sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
      .namesThatBelong(toNoneOf: tables)
  }

  func rows(_ sql: String) throws(UpsurgeError) -> [[String?]] { try connected().allRows(sql) }

  func lines(_ sql: String, to send: ([UInt8]) -> Bool) throws(UpsurgeError) {
    let connection = try connected()
    let text = try RowText(sql, on: connection, valueByteLimit: recordByteLimit)
    try text.write(to: send)
  }

  func settledCount(of table: String) throws(UpsurgeError) -> UInt64 {
    try rows("SELECT count(*) FROM \(quotedName(of: table))")[0][0].flatMap { UInt64($0) } ?? 0
  }

  func change(_ statements: [String]) throws(UpsurgeError) {
    let connection = try connected()
    // What is made in another order than foreign keys would have it is checked at the end of the move.
    try connection.execute("PRAGMA foreign_keys=OFF")
    try connection.writing { () throws(UpsurgeError) in
      for statement in statements { try connection.execute(statement) }
    }
  }

  func refusal(of statements: [String]) throws(UpsurgeError) -> String? {
    let scratch = try Connection(path: "a scratch database", createIfMissing: true, isTemporary: true)
    return try scratch.withoutQuotedStrings { () throws(UpsurgeError) in
      for statement in statements {
        do throws(UpsurgeError) {
          try scratch.execute(statement)
        } catch {
          return error.message
        }
      }
      return nil
    }
  }

  private func connected() throws(UpsurgeError) -> Connection {
    let connection = try Connection(
      path: database, createIfMissing: true, busyTimeoutMilliseconds: busyTimeout,
      isCancelled: { [interruption] in interruption.server.isRequested })
    interruption.follow(connection)
    return connection
  }
}
