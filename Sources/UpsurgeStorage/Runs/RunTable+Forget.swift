import UpsurgeRecords

extension RunTable {
  /// What must be known of a run to forget it; its record need not be readable.
  struct Owner: Sendable {
    package var id: Int64
    /// As `RunOwner.text`.
    package var text: String
    /// The process that is at work on it.
    package var livePID: Int32?
  }

  /// - Returns: nil where there is no such run.
  static func owner(of id: Int64, on connection: Connection) throws(UpsurgeError) -> Owner? {
    try connection.reading { () throws(UpsurgeError) in
      guard try exists(connection) else { return nil }
      let statement = try connection.prepare("SELECT state, owner FROM main.upsurge_runs WHERE run = ?1")
      try statement.bind(id, at: 1)
      guard try statement.step() else { return nil }
      let isRunning = statement.text(at: 0) == RunRecord.State.running.rawValue
      let text = statement.text(at: 1) ?? ""
      return Owner(id: id, text: text, livePID: isRunning ? RunOwner.livePID(text) : nil)
    }
  }

  /// The error for a record that nobody can read.
  static func unreadable(_ id: Int64, because error: UpsurgeError, in connection: Connection) -> UpsurgeError
  {
    let database = connection.path.escapedForTerminal
    return UpsurgeError(
      .database, "run \(id) in the table upsurge_runs of \(database) is not what a run has written",
      snippet: error.snippet,
      hint:
        "`upsurge runs \(connection.path.quotedForShell) --forget \(id)` forgets that run: what it has committed stays, and the same "
        + "command loads from the first record")
  }
}

extension RunTable {
  /// Removes the record of a run; part of the transaction that is open.
  /// - Returns: false where there is no such run.
  /// - Throws: `guardRefused` where a process is at work on it.
  package static func forget(_ id: Int64, on connection: Connection) throws(UpsurgeError) -> Bool {
    guard let run = try owner(of: id, on: connection) else { return false }
    if let pid = run.livePID {
      throw UpsurgeError(
        .guardRefused, "run \(id) is at work: process \(pid)",
        hint: "wait until it has ended, or end it: kill \(pid)")
    }
    try RunKeeper.end([(run.id, run.text)], on: connection)
    return true
  }

  /// Removes the runs into a table that have not ended, or whose ledger may not have been seen, so that nothing goes on
  /// there; part of the transaction that is open. Past runs stay.
  /// - Throws: `guardRefused` where a process is at work on one.
  package static func forgetOpen(_ table: String, on connection: Connection) throws(UpsurgeError) {
    guard try exists(connection) else { return }
    for run in try open(connection, table: table) {
      guard let pid = run.livePID else { continue }
      throw UpsurgeError(
        .guardRefused, "run \(run.id) into table \(table.escapedForTerminal) is at work: process \(pid)",
        hint: "wait until it has ended, or end it: kill \(pid)")
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
