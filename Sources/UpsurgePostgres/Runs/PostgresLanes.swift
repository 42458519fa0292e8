import UpsurgeRecords

/// The table of the connections of runs that have several, in the schema of the runs. It has a row for each. That says whose it is, how
/// far it has come, and what it has stored since the run's own position was written down.
///
/// A connection locks its own row first in each transaction, so that connections never wait for one another. A process that takes a run
/// over changes the owner of all rows, and waits for what is being stored. Where a run is forgotten, its rows go with it.
package struct PostgresLanes: Sendable {
  package static let name = "upsurge_connections"

  let runs: PostgresRuns

  init(_ runs: PostgresRuns) { self.runs = runs }

  var quotedName: String { "\(runs.schema.quotedForPostgres).\(Self.name.quotedForPostgres)" }

  private static let columns = ["run", "connection", "owner", "position", "progress"]

  /// Where a connection stands, as texts that are not yet read.
  struct Row: Sendable, Equatable {
    var lane: Int
    var owner: String
    var position: String
    var progress: String
  }

  static func fault(_ text: String) -> UpsurgeError {
    UpsurgeError(
      .database, "the table \(name) holds what no run has written",
      snippet: String(text.prefix(120)).escapedForTerminal)
  }

  /// Makes the table if it is missing, in a separate transaction: some servers commit whatever is open before they make one.
  /// - Returns: whether it is ours; a table of that name may be someone else's.
  func make(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    // Who may not make tables may use one that is there.
    if try isOurs(connection) { return true }
    try connection.makeTable(
      """
      CREATE TABLE IF NOT EXISTS \(quotedName) (run bigint NOT NULL REFERENCES \(runs.quotedName) ON DELETE CASCADE,
        connection integer NOT NULL, owner text NOT NULL, position text NOT NULL, progress text NOT NULL,
        PRIMARY KEY (run, connection))
      """)
    return try isOurs(connection)
  }

  /// Whether there is a table of that name, and it has the columns of ours.
  func isOurs(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    try connection.hasTable(quotedName, columns: Self.columns)
  }

  /// Whether there is a table of ours that this user may read.
  func isReadable(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
    guard try isOurs(connection) else { return false }
    return try connection.run("SELECT has_table_privilege(to_regclass($1), 'SELECT')", [.text(quotedName)])
      .first?.flag(0)
      ?? false
  }

  /// Notes the connections of a run that begins; part of the transaction that is open.
  func begin(
    _ run: Int64, count: Int, owner: String, _ connection: PostgresConnection
  ) throws(PostgresFailure) {
    try connection.run(
      "INSERT INTO \(quotedName) SELECT $1, lane, $2, $3, $4 FROM generate_series(0, $5::int - 1) AS lane",
      [
        .integer(run), .text(owner), .text(LaneMark(seal: 0).text), .text(LaneProgress().text),
        .integer(Int64(count)),
      ])
  }

  /// Makes the connections of a run those of another process; part of the transaction that takes the run over. What is being stored
  /// over one of them is waited for.
  /// - Returns: where they stand.
  func takeOver(
    _ run: Int64, to owner: String, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> [Row] {
    try connection.run("UPDATE \(quotedName) SET owner = $2 WHERE run = $1", [.integer(run), .text(owner)])
    return try all(of: run, connection)
  }

  /// Waits for what is being stored over the connections of a run.
  func settle(_ run: Int64, _ connection: PostgresConnection) throws(PostgresFailure) {
    guard try isReadable(connection) else { return }
    try connection.run("SELECT FROM \(quotedName) WHERE run = $1 FOR UPDATE", [.integer(run)])
  }

  /// Where the connections of a run stand, in their order.
  func all(of run: Int64, _ connection: PostgresConnection) throws(PostgresFailure) -> [Row] {
    try connection.run(
      "SELECT connection, owner, position, progress FROM \(quotedName) WHERE run = $1 ORDER BY connection",
      [.integer(run)]
    ).rows.map { row in
      Row(
        lane: Int(row.integer(0) ?? 0), owner: row.text(1) ?? "", position: row.text(2) ?? "",
        progress: row.text(3) ?? "")
    }
  }

  /// The positions of the connections of a run, in their order.
  func positions(of run: Int64, _ connection: PostgresConnection) throws(PostgresFailure) -> [String] {
    try connection.run(
      "SELECT position FROM \(quotedName) WHERE run = $1 ORDER BY connection", [.integer(run)]
    ).rows.map { $0.text(0) ?? "" }
  }

  /// Forgets the connections of a run that is complete; part of the transaction that is open.
  func remove(_ run: Int64, _ connection: PostgresConnection) throws(PostgresFailure) {
    try connection.run("DELETE FROM \(quotedName) WHERE run = $1", [.integer(run)])
  }
}

/// The row of one connection of a run.
struct LaneRow: FenceRow {
  let lanes: PostgresLanes
  let run: Int64
  let lane: Int
  let owner: String

  var loss: String { "another process has taken up the run, or it was forgotten" }

  private var key: [PostgresParameter] { [.integer(run), .integer(Int64(lane))] }

  func lock(_ connection: PostgresConnection) throws(PostgresFailure) -> PostgresRuns.Standing? {
    let row = try connection.run(
      "SELECT owner, position, progress FROM \(lanes.quotedName) WHERE run = $1 AND connection = $2 FOR UPDATE",
      key
    ).first
    return row.map {
      PostgresRuns.Standing(owner: $0.text(0) ?? "", position: $0.text(1) ?? "", progress: $0.text(2) ?? "")
    }
  }

  func advance(
    to standing: PostgresRuns.Standing, isComplete: Bool, _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool {
    try connection.run(
      "UPDATE \(lanes.quotedName) SET position = $3, progress = $4 WHERE run = $1 AND connection = $2 AND owner = $5",
      key + [.text(standing.position), .text(standing.progress), .text(standing.owner)]
    ).affectedCount == 1
  }
}
