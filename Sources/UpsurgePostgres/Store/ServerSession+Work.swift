import Upsurge
import UpsurgeRecords
import UpsurgeState

/// What a database knows of runs and replays.
extension ServerSession {
  /// Says that tables of a name may not be read, where there are some: without the right they seem not to be there.
  /// - Parameter mark: what their comments begin with; empty for any.
  /// - Throws: `database`, with the GRANT that gives the right.
  func refuseUnread(_ name: String, mark: String) throws(UpsurgeError) {
    let schemas = try asking { (connection) throws(PostgresFailure) in
      try connection.run(
        """
        SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname = $1 AND c.relkind = 'r' AND starts_with(coalesce(obj_description(c.oid, 'pg_class'), ''), $2)
          AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE')) ORDER BY 1
        """, [.text(name), .text(mark)]
      ).rows.compactMap { $0.text(0) }
    }
    guard let first = schemas.first else { return }
    for schema in schemas { rights.add(schema, name, ["SELECT"], isMade: false) }
    throw error(
      of: PostgresFailure(
        .privilege, "permission denied: \(first).\(name) may not be read by this user", sqlState: "42501"))
  }

  /// The runs that the database knows of, those of all schemas.
  func runs() throws(UpsurgeError) -> [RunRecord] {
    try asking { (connection) throws(PostgresFailure) in
      var records: [PostgresRuns.Row] = []
      for runs in try PostgresRuns.found(connection) { records += try runs.all(connection) }
      return records
    }.map { (row) throws(UpsurgeError) in try RunRecord(row) }
  }

  /// The runs without those that have ended and committed nothing, which leave nothing to resume.
  /// - Parameter lockTimeout: milliseconds that a COMMIT is waited for.
  func knownRuns(lockTimeout: Int) throws(UpsurgeError) -> [RunRecord] {
    let tables = try asking { (connection) throws(PostgresFailure) in
      var tables: [(PostgresRuns, [PostgresRuns.Row])] = []
      for runs in try PostgresRuns.found(connection) { tables.append((runs, try runs.all(connection))) }
      return tables
    }
    var known: [RunRecord] = []
    for (runs, rows) in tables {
      for row in rows {
        var run: RunRecord? = try RunRecord(row)
        if let found = run {
          // What cannot be waited for is taken as it stands: it has more ahead of it then.
          do { run = try settled(found, runs, lockTimeout: lockTimeout) } catch {}
        }
        guard let run, run.state != .running || run.livePID != nil || run.progress.ledger.read > 0 else {
          continue
        }
        known.append(run)
      }
    }
    return known
  }

  /// What stands of a run whose process has ended: the server may still be at its last COMMIT, which is waited for.
  /// - Parameter isOwn: whether it is this process's, whose connection has broken.
  /// - Returns: nil where it was forgotten.
  func settled(
    _ run: RunRecord, _ runs: PostgresRuns, isOwn: Bool = false, lockTimeout: Int
  ) throws(UpsurgeError) -> RunRecord? {
    guard run.state == .running, isOwn || run.livePID == nil else { return run }
    let rows = try reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      _ = try runs.lock(run.id, connection)
      if run.position.lanes != nil { try PostgresLanes(runs).settle(run.id, connection) }
      return try runs.all(connection)
    }
    return try rows.first { $0.run == run.id }.map { (row) throws(UpsurgeError) in try RunRecord(row) }
  }

  /// The marks of replays that are on their way, or whose ledger nobody has seen. The last COMMIT of one whose process has ended is
  /// waited for.
  /// - Throws: `guardRefused` where a table of the name of ours is not ours.
  func replayMarks(lockTimeout: Int) throws(UpsurgeError) -> [ReplayMark] {
    let text = ServerText(encoding: try capabilities().encoding)
    let (look, replays) = try asking { (connection) throws(PostgresFailure) in
      let replays = try PostgresReplays.found(connection)
      return (try replays.look(connection), replays)
    }
    switch look {
    case .nothing: return []
    case .refused(let error): throw error
    case .ours:
      try reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
        try replays.awaitEnded(connection)
      }
      return try asking { (connection) throws(PostgresFailure) in try replays.marks(text, connection) }
    }
  }
}
