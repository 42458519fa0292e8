extension LoadRun {
  /// What the run would do; takes back what was made to find out.
  func explanation(
    of table: PreparedTable, _ upkeep: [UpkeepDecision], names: [String], on connection: Connection
  ) throws(UpsurgeError) -> String {
    var table = table
    try table.addColumns(on: connection)
    var explanation = try Explanation(table, job: job, sourceNames: names)
    explanation.lines += upkeep.map {
      Explanation.Line($0.kind.rawValue, "\($0.name) \($0.upkeep.words)", because: $0.reason)
    }
    if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
    return explanation.text
  }
}
