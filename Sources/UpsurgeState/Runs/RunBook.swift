import UpsurgeRecords
import UpsurgeSQLite

/// What keepers of runs that share a transaction know of `upsurge_runs`: as it is locked for others, each thing is looked up
/// once. Lives on the writer's thread.
package final class RunBook {
  /// Runs into the table that had not ended when the transaction began, by their sources.
  private var open: [[String]: [RunRecord]]?
  private var insertion: Statement?

  package init() {}

  /// Open runs of jobs with these sources.
  func open(
    _ connection: Connection, table: String, sources: [String]
  ) throws(UpsurgeError) -> [RunRecord] {
    if let open { return open[sources] ?? [] }
    let all = Dictionary(grouping: try RunTable.open(connection, table: table), by: \.job.sources)
    open = all
    return all[sources] ?? []
  }

  /// The statement that writes a new run; makes the table.
  func inserting(_ connection: Connection) throws(UpsurgeError) -> Statement {
    if let insertion { return insertion }
    let made = try RunTable.inserting(connection)
    insertion = made
    return made
  }
}

extension RunTable {
  /// The statement that writes a run; makes the table if it is missing.
  static func inserting(_ connection: Connection) throws(UpsurgeError) -> Statement {
    try layout.prepare(on: connection)
    return try connection.prepare(
      """
      INSERT INTO main.upsurge_runs
        (run, state, "table", job, files, owner, started_at, updated_at, position, progress)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?8, ?9)
      ON CONFLICT (run) DO UPDATE SET state = excluded.state, job = excluded.job, files = excluded.files,
        owner = excluded.owner, updated_at = excluded.updated_at, position = excluded.position,
        progress = excluded.progress
      """)
  }
}
