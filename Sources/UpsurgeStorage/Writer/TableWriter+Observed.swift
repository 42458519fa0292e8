import UpsurgeRecords

extension TableWriter {
  /// Tells the observer of the plan that the next records are stored by.
  func beginObserving() throws(UpsurgeError) {
    guard let observer else { return }
    try observer.begin(plan)
    rowLookup =
      observer.wantedRows == .none
      ? nil : try RowLookup(connection: connection, plan: plan, terms: observer.terms(of: plan.schema))
  }

  /// Stores one record by itself and tells the observer what became of it; rejects are told where they are made.
  func storeObserved(
    _ batch: borrowing Batch, _ record: Int, _ shape: ShapeStatements, _ observer: any RecordObserver
  ) throws(UpsurgeError) {
    if let refusal = try observer.refusal(of: record, in: batch) { return try reject(refusal) }
    let before = observer.wantedRows == .beforeAndAfter ? try rowLookup?.row(batch, record) : nil
    let ledgerBefore = ledger
    try storeAlone(batch, record, shape)
    guard let outcome = ledger.onlyOutcome(since: ledgerBefore), outcome != .rejected else { return }
    var after: [SQLValue]?
    if outcome == .inserted {
      after = try rowLookup?.insertedRow(batch, record)
    } else if outcome != .deleted {
      after = try rowLookup?.row(batch, record)
    }
    try observer.observe(
      outcome, at: batch.position(of: record, file: sourceName(batch.sourceIndex)), before: before,
      after: after)
  }
}

extension Ledger {
  /// What became of the one record that was counted since `earlier`.
  package func onlyOutcome(since earlier: Ledger) -> Outcome? {
    if inserted > earlier.inserted { return .inserted }
    if updated > earlier.updated { return .updated }
    if unchanged > earlier.unchanged { return .unchanged }
    if stale > earlier.stale { return .stale }
    if ignored > earlier.ignored { return .ignored }
    if deleted > earlier.deleted { return .deleted }
    if rejected > earlier.rejected { return .rejected }
    return quarantined > earlier.quarantined ? .quarantined : nil
  }
}
