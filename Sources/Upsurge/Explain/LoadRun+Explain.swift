extension LoadRun {
  /// Says what the run would do, and takes back what was made to find out.
  func explain(
    _ table: PreparedTable, _ upkeep: [UpkeepDecision], names: [String], on connection: Connection
  ) throws(UpsurgeError) {
    var table = table
    try table.addColumns(on: connection)
    var explanation = try Explanation(table, job: job, sourceNames: names)
    explanation.lines += upkeep.map {
      Explanation.Line($0.kind.rawValue, "\($0.name) \($0.upkeep.words)", because: $0.reason)
    }
    if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
    summary.withLock { $0.explanation = explanation.text }
  }
}
