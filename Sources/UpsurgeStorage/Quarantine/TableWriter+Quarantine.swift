import UpsurgeRecords

extension TableWriter {
  /// Kept records whose place a later record of the run took, those not yet committed included.
  package var supersededCount: UInt64 { keeping.supersededCount }

  /// Keeps a record for which the table has no place yet.
  func quarantine(_ batch: borrowing Batch, _ record: Int) throws(UpsurgeError) {
    count(.quarantined)
    let file = sourceName(batch.sourceIndex)
    if settings.replaysKept {
      stillKept.append(Int64(clamping: batch.records[record].number))
    } else {
      let row = batch.cells + record * batch.columnCount
      let homeless = plan.homelessCells.filter {
        $0 < batch.columnCount && row[$0].kind != .absent && row[$0].kind != .null
      }
      try keeping.keep(batch, record, homeless: homeless, file: file)
    }
    try observer?.observe(
      .quarantined, at: batch.position(of: record, file: file), before: nil, after: nil)
  }

  /// Whether each record must be looked at when it is stored, because kept records may be about its row.
  @inline(__always)
  var settlesKept: Bool { keeping.holdsRecords || settings.replaysKept }

  /// Takes away, in the transaction of a record that was stored, what was kept of its row; of a record that was kept
  /// itself, that and what arrived before it.
  func settle(_ outcome: Outcome, _ batch: borrowing Batch, _ record: Int) throws(UpsurgeError) {
    let isStored = [.inserted, .updated, .unchanged, .deleted].contains(outcome)
    if !settings.replaysKept {
      if isStored { try keeping.supersede(batch, record) }
      return
    }
    let id = Int64(clamping: batch.records[record].number)
    if isStored { try keeping.supersede(batch, record, before: id) }
    try keeping.release(id)
  }

  /// Looks for kept records in a transaction that has just begun.
  func lookForKept() throws(UpsurgeError) { try keeping.look() }

  /// Replaces the quarantine when the plan has changed.
  func adoptQuarantine() throws(UpsurgeError) {
    let next = Quarantine(plan, on: connection)
    next.takeOver(from: keeping)
    keeping = next
    if transaction.isOpen { try next.look() }
  }
}
