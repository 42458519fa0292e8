import UpsurgeRecords
import UpsurgeSQLite

extension RunTable {
  /// The error for a record that nobody can read.
  static func unreadable(_ id: Int64, because error: UpsurgeError, in connection: Connection) -> UpsurgeError
  {
    let database = connection.path.escapedForTerminal
    return UpsurgeError(
      .database, "run \(id) in the table upsurge_runs of \(database) is not what a run has written",
      snippet: error.snippet,
      hint:
        "`\(command: "upsurge runs \(connection.path.quotedForShell) \(.forget, id)")` forgets that run: what it has committed stays, and the same "
        + "command loads from the first record")
  }
}

extension RunTable {
  /// Removes the record of a run, which need not be readable; part of the transaction that is open.
  /// - Returns: false where there is no such run.
  /// - Throws: `guardRefused` where a process is at work on it.
  package static func forget(_ id: Int64, on connection: Connection) throws(UpsurgeError) -> Bool {
    guard try exists(connection) else { return false }
    let statement = try connection.prepare("SELECT state, owner FROM main.upsurge_runs WHERE run = ?1")
    try statement.bind(id, at: 1)
    guard try statement.step() else { return false }
    let isRunning = statement.text(at: 0) == RunRecord.State.running.rawValue
    let owner = statement.text(at: 1) ?? ""
    statement.reset()
    if isRunning, let pid = RunOwner.livePID(owner) { throw isAtWork("run \(id)", pid: pid) }
    try RunKeeper.end([(id, owner)], on: connection)
    return true
  }

  /// The refusal of what would take a run's ground away.
  /// - Parameter run: `run 7`, and what it loads into.
  static func isAtWork(_ run: String, pid: Int32) -> UpsurgeError {
    UpsurgeError(
      .guardRefused, "\(run) is at work: process \(pid)",
      hint: "wait until it has ended, or end it: kill \(pid)")
  }

  /// Removes the runs into a table that have not ended, or whose ledger may not have been seen, so that nothing goes on
  /// there; part of the transaction that is open. Past runs stay.
  /// - Throws: `guardRefused` where a process is at work on one.
  package static func forgetOpen(_ table: String, on connection: Connection) throws(UpsurgeError) {
    guard try exists(connection) else { return }
    for run in try open(connection, table: table) {
      guard let pid = run.livePID else { continue }
      throw isAtWork("run \(run.id) into table \(table.escapedForTerminal)", pid: pid)
    }
    let statement = try connection.prepare(
      "DELETE FROM main.upsurge_runs WHERE state IN ('running', 'complete') AND \"table\" = ?1")
    try statement.bind(table, at: 1)
    _ = try statement.step()
    if try connection.integer("SELECT 1 FROM main.upsurge_runs LIMIT 1") == nil {
      try connection.execute("DROP TABLE main.upsurge_runs")
    }
  }
}
