extension LoadRun {
  /// Says what the run would do, and takes back what was made to find out.
  func explain(
    _ table: PreparedTable, names: [String], on connection: Connection
  ) throws(UpsurgeError) {
    let explanation = try Explanation(table, job: job, sourceNames: names)
    if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
    summary.withLock { $0.explanation = explanation.text }
  }
}
