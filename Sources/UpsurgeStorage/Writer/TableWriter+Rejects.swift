import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

extension TableWriter {
  /// Takes a record that the parser could not read.
  /// - Parameter isAgain: whether it comes once more, and is counted already.
  func take(_ reject: Reject, in batch: borrowing Batch, isAgain: Bool = false) throws(UpsurgeError) {
    try self.reject(reject, in: batch, by: isAgain ? .parserBefore : .parser)
  }

  /// Keeps a record that cannot be stored, or ends the run with it, as the settings say.
  func reject(
    _ reject: Reject, in batch: borrowing Batch, by origin: RejectOrigin = .table
  ) throws(UpsurgeError) {
    for stage in stages.list where stage.takes(reject) { return }
    for stage in stages.list { stage.willReject(reject, by: origin) }
    var reject = reject
    reject.sourceIndex = batch.origin.sourceIndex
    if settings.onError == .stop {
      tally.fatalReject = reject
      throw reject.asError
    }
    if stages.references?.countsRejectsOnly == true {
      tally.count(reject)
      for stage in stages.list { try stage.didRefuse(.rejected, at: reject.position) }
      return
    }
    if let most = settings.maximumRejects, ledger.rejected >= most {
      tally.fatalReject = reject
      var error = reject.asError
      error.said =
        "more than \(most) \(most == 1 ? "record was" : "records were") rejected (\(rejectWords)); "
        + "the last: \(saying: error.said)"
      error.remedy = settings.maximumRejectsHint
      throw error
    }
    tally.count(reject)
    try rejectSink(reject)
    for stage in stages.list { try stage.didRefuse(.rejected, at: reject.position) }
  }

  /// Rejected records by reason, those that are about to be rolled back and the one that ends the run included:
  /// `5 ragged, 1 unique`.
  package var rejectWords: String { rejectsByReason.words(with: fatalReject) }

  /// The reject for a record that SQLite refused.
  @inline(never)
  func refused(
    _ batch: borrowing Batch, _ record: Int, _ refusal: Refusal, isDelete: Bool = false
  ) -> Reject {
    let (code, column, reason, hint) = refusal.explained(plan, isDelete: isDelete)
    return Reject(
      code, at: batch.position(of: record, file: sourceName(batch.origin.sourceIndex)), column: column,
      reason: reason, hint: hint, raw: batch.rawBytes(of: record))
  }

  /// The reject for a record with NULL in its key.
  @inline(never)
  func nullKey(_ batch: borrowing Batch, _ record: Int) -> Reject {
    let row = batch.cells + record * batch.columnCount
    let cell = bound.guards.nullKeyCell(row, cellCount: batch.columnCount)
    let slot = plan.slots.first { $0.cellIndex == cell }
    let column =
      slot.map { plan.schema.columns[$0.columnIndex].name }
      ?? plan.key?.parts.map { $0.column ?? $0.expression ?? "" }.joined(separator: ", ")
    return Reject(
      .nullKey, at: batch.position(of: record, file: sourceName(batch.origin.sourceIndex)), column: column,
      reason: "the key column \(column?.escapedForTerminal ?? "") is NULL, so the record matches no row",
      raw: batch.rawBytes(of: record))
  }

  /// The error for a record whose failure took the whole transaction with it (a trigger's RAISE(ROLLBACK)).
  func lostTransaction(_ error: UpsurgeError, _ batch: borrowing Batch, _ record: Int) -> UpsurgeError {
    var error = error
    error.position = batch.position(of: record, file: sourceName(batch.origin.sourceIndex))
    if ResultCode.primary(error.underlyingCode ?? 0) == SQLITE_CONSTRAINT {
      error.code = .badInput
      error.said = "a trigger rolled the whole transaction back: \(saying: error.said)"
      error.hint = "RAISE(ABORT) in the trigger would refuse only the record"
    }
    return error
  }
}

/// Who could make no row of a record.
enum RejectOrigin {
  case table, parser
  /// The parser, and the record was counted when it came first.
  case parserBefore
}

extension [Reject.Code: UInt64] {
  /// Counts of rejected records in words, the most frequent reason first: `5 ragged, 1 unique`.
  /// - Parameter last: a reject that is not counted yet.
  package func words(with last: Reject?) -> String {
    var counts = self
    if let last { counts[last.code, default: 0] += 1 }
    return counts.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
      .map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ")
  }
}
