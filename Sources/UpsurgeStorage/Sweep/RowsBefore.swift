import CSQLite
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Looks rows up as the last commit has left them; lives on the writer's thread.
final class RowsBefore {
  /// Finds a live row, and says whether it was the feed's own; nil where there is no table yet.
  private var statement: Statement?
  private let identityCount: Int

  /// - Parameters:
  ///   - identity: the columns that tell a row, as `UpsertPlan.identityColumns` has them.
  ///   - live: SQL that is true of the rows that the feed is about.
  ///   - rowState: what the feed notes of its rows; nil where it sweeps those of others, too.
  /// - Throws: where the database cannot be opened once more, or the scope asks for what only its own connection has.
  init(
    _ schema: TableSchema, _ identity: [Int], live: String, rowState: RowStateKeeper?, of connection: Connection
  ) throws(UpsurgeError) {
    identityCount = identity.count
    guard let path = sqlite3_db_filename(connection.handle, "main").map({ String(cString: $0) }),
      !path.isEmpty
    else {
      throw UpsurgeError(.database, "a database in memory cannot be opened a second time")
    }
    let looking = try Connection.looking(at: path)
    guard try TableSchema.read(looking, table: schema.name) != nil else { return }
    var conditions: [String] = []
    for (place, column) in identity.enumerated() {
      conditions.append("\(try schema.terms([column])) = ?\(place + 1)")
    }
    var isOwned = "1"
    if let rowState { isOwned = try RowStateTable.layout.find(on: looking).map(rowState.ownTerm(in:)) ?? "0" }
    statement = try looking.prepare(
      """
      SELECT \(isOwned) FROM main.\(try SQLName.quote(schema.name))
      WHERE \(conditions.joined(separator: " AND ")) AND (\(live))
      """, isPersistent: true)
  }

  /// - Parameter bind: binds what identifies the row.
  func holds(_ bind: (Statement) throws(UpsurgeError) -> Void) throws(UpsurgeError) -> Bool {
    guard let statement else { return false }
    defer { statement.reset() }
    try bind(statement)
    return try statement.step()
  }

  func holds(_ rowid: Int64) throws(UpsurgeError) -> Bool {
    try holds { (statement) throws(UpsurgeError) in try statement.bind(rowid, at: 1) }
  }

  func holds(rowOf handle: OpaquePointer) throws(UpsurgeError) -> Bool {
    try holds { [identityCount] (statement) in statement.bind(rowOf: handle, count: identityCount) }
  }

  /// Whether the row was there, and an accepted delivery had made it the feed's.
  func isOwned(rowOf handle: OpaquePointer) throws(UpsurgeError) -> Bool {
    guard let statement else { return false }
    defer { statement.reset() }
    statement.bind(rowOf: handle, count: identityCount)
    return try statement.step() && statement.integer(at: 0) != 0
  }
}
