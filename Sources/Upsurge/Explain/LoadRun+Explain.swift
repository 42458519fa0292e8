extension LoadRun {
  /// Says what the run would do, and takes back what was made to find out.
  func explain(
    _ table: PreparedTable, upkeep: TableUpkeep, names: [String], on connection: Connection
  ) throws(UpsurgeError) {
    var explanation = try Explanation(table, job: job, sourceNames: names)
    for decision in upkeep.decisions {
      explanation.lines.append(
        Explanation.Line(
          decision.kind == .index ? "index" : "FTS5 table", decision.name,
          because: "\(decision.upkeep == .keep ? "kept up with every row" : "built after the rows"), "
            + decision.reason))
    }
    if !connection.isInAutocommit { try connection.execute("ROLLBACK") }
    summary.withLock { $0.explanation = explanation.text }
  }
}
