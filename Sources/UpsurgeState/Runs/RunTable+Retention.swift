import UpsurgeRecords
import UpsurgeSQLite

extension RunTable {
  /// Removes the oldest past runs of a table and keeps the newest so many; part of the transaction that is open. Runs that
  /// have not ended, or whose ledger may not have been seen, stay and do not count.
  /// - Parameter run: a run of the table.
  static func prune(
    tableOf run: Int64, keeping count: UInt64, on connection: Connection
  ) throws(UpsurgeError) {
    let past = "state = 'done' AND \"table\" = (SELECT \"table\" FROM main.upsurge_runs WHERE run = ?1)"
    let statement = try connection.prepare(
      """
      DELETE FROM main.upsurge_runs WHERE \(past) AND run NOT IN
        (SELECT run FROM main.upsurge_runs WHERE \(past) ORDER BY run DESC LIMIT ?2)
      """)
    try statement.bind(run, at: 1)
    try statement.bind(Int64(clamping: count), at: 2)
    _ = try statement.step()
  }
}
