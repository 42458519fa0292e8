import UpsurgeStorage

/// Records that cannot be shaped, and why.
extension RecordShaper {
  /// Two fields of a record that mean one column.
  func collision(_ slot: Int) -> RecordProblem? {
    RecordProblem(
      code: .duplicateKey, column: columns[slot].name,
      reason: "two different keys mean the column \(columns[slot].name.escapedForTerminal)",
      hint: "\(.rename, "OLD=NEW") gives one of them another name")
  }

  func failed(_ record: Int, _ batch: borrowing Batch) -> RecordOutcome {
    if sql.sql.isCancelled {
      sql.sql.reset()
      return .cancelled
    }
    guard let start = values.baseAddress else { return .cancelled }
    let (column, message) = sql.sql.failure(start, batch)
    let what: Wording = column.map { "\(.let, $0.escapedForTerminal)" } ?? "\(.where)"
    let problem = RecordProblem(
      code: .expression, column: column,
      reason: "the SQL of \(saying: what) fails: \(message.escapedForTerminal)", hint: nil)
    return .refused(reject(problem, record, batch))
  }

  func reject(_ problem: RecordProblem, _ record: Int, _ batch: borrowing Batch) -> Reject {
    Reject(
      problem.code, at: batch.position(of: record, file: file), column: problem.column,
      reason: problem.reason,
      hint: problem.hint, raw: batch.rawBytes(of: record))
  }
}
