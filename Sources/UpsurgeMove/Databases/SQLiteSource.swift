import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite

/// A database file that is moved: one read transaction from the first look to the last digest.
final class SQLiteSource: MoveSource {
  let path: String
  private let snapshots: DatabaseSnapshots
  private let recordByteLimit: Int
  private let interruption: Interruption

  /// The name under which the snapshot is held.
  private static let reader = "move"

  /// - Parameter recordByteLimit: larger rows are refused.
  init(_ path: String, recordByteLimit: Int, _ interruption: Interruption) {
    self.path = path
    self.recordByteLimit = recordByteLimit
    self.interruption = interruption
    let source = Source("sqlite:\(path)#move")
    // Named twice, so that the state is kept from one load to the next.
    snapshots = DatabaseSnapshots(tables: [(name: Self.reader, sources: [source, source])], target: "")
  }

  deinit { snapshots.end(Self.reader) }

  var shown: String { path.escapedForTerminal }

  var place: String { SourceName.place(of: path) }

  func share(with options: inout LoadOptions) { options.environment.databaseSnapshots = snapshots }

  func source(_ sql: String) -> Source { Source("sqlite:\(path)?query=\(sql)") }

  func shape() throws(UpsurgeError) -> DatabaseShape {
    try reading { (connection) throws(UpsurgeError) in try SQLiteShapeReader(connection).shape() }
  }

  func rows(_ sql: String) throws(UpsurgeError) -> [[String?]] {
    try reading { (connection) throws(UpsurgeError) in try connection.allRows(sql) }
  }

  func lines(_ sql: String, to send: ([UInt8]) -> Bool) throws(UpsurgeError) {
    try reading { (connection) throws(UpsurgeError) in
      try RowText(sql, on: connection, valueByteLimit: recordByteLimit).write(to: send)
    }
  }

  private func reading<Result>(
    _ body: (Connection) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    guard let connection = try snapshots.take(path) else { preconditionFailure("the database is shared") }
    defer { snapshots.giveBack(connection, path) }
    interruption.follow(connection)
    if connection.isInAutocommit { try connection.execute("BEGIN") }
    return try body(connection)
  }
}

extension Connection {
  /// All rows of a SELECT, as text.
  func allRows(_ sql: String) throws(UpsurgeError) -> [[String?]] {
    let statement = try prepare(sql)
    var rows: [[String?]] = []
    while try statement.step() {
      rows.append((0..<statement.columnCount).map { statement.text(at: $0) })
    }
    return rows
  }
}
