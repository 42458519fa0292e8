import Upsurge
import UpsurgeRecords
import UpsurgeState

extension PostgresStore {
  // MARK: - What stands

  /// What the server has of a run whose connection has broken. A standby that took over may have less than was confirmed, so
  /// nothing is taken from this process's memory. Of the runs that began and committed nothing, each goes with the next start.
  func standing(
    of job: RunJob, owner: RunOwner, earlier: RunRecord?
  ) throws(UpsurgeError) -> RunRecord? {
    let open = try openRuns(of: job.table)
    let runs = runs(beside: try place(of: TableName(job.table)))
    var run = open.last { $0.owner == owner.text }
    if let own = run { run = try session.settled(own, runs, isOwn: true, lockTimeout: lockTimeout) }
    // Of one transaction for all, nothing stands before its end.
    if let own = run, options.transaction.isAtomic, own.state == .running {
      try forget(own, runs)
      run = nil
    }
    run = run ?? open.last { $0.id == earlier?.id && $0.owner == earlier?.owner }
    guard let found = run, found.state == .running, try isUnlogged(), try hasLostRows(of: found) else {
      return run
    }
    // A crash of the server has emptied the table: its run begins again.
    try forget(found, runs)
    return nil
  }

  private func isUnlogged() throws(UpsurgeError) -> Bool {
    let place = try place(of: name)
    return try session.reading(lockTimeout: lockTimeout) { (connection) throws(PostgresFailure) in
      try PostgresTable.read(schema: place.schema, name: place.name, connection)?.losesRowsInCrash ?? false
    }
  }

  private func forget(_ run: RunRecord, _ runs: PostgresRuns) throws(UpsurgeError) {
    try session.asking { (connection) throws(PostgresFailure) in
      _ = try runs.forget(run.id, owner: run.owner, connection)
    }
  }

  // MARK: - The end

  func ending(of run: RunRecord) -> RunEnding? {
    guard let place = try? place(of: TableName(run.job.table)) else { return nil }
    return ending(of: run.id, owner: run.owner, runs: runs(beside: place), server: nil)
  }

  /// What takes the mark of a run away, or makes it history.
  /// - Parameter server: the one that has confirmed the last commit, where that is known.
  func ending(of run: Int64, owner: String, runs: PostgresRuns, server: String?) -> RunEnding {
    RunEnding { [self] (exitCode) throws(UpsurgeError) in
      var isFirst = true
      try session.asking { (connection) throws(PostgresFailure) in
        let isFirstTry = isFirst
        isFirst = false
        let keptCode = options.transaction.keepsHistory ? exitCode : nil
        do throws(PostgresFailure) {
          if try runs.acknowledge(run, owner: owner, exitCode: keptCode, connection) {
            if keptCode != nil, let count = options.transaction.keptRunCount {
              try runs.prune(tableOf: run, keeping: count, connection)
            }
            return
          }
          if let standing = try runs.lock(run, connection) {
            // It is not complete, so its last commits are gone.
            if standing.owner == owner { throw PostgresFailure.lostCommits }
            return
          }
        } catch {
          guard error.sqlState == "42P01" else { throw error }
        }
        // An earlier try may have taken it away.
        if isFirstTry, let server, try server != self.server(connection) { throw PostgresFailure.lostCommits }
      }
    }
  }
}
