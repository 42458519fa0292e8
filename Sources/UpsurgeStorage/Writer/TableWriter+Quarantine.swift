import UpsurgeRecords

extension TableWriter {
  /// Kept records whose place a later record of the run took, those not yet committed included.
  package var supersededCount: UInt64 { earlier.supersededCount + keeping.supersededCount }

  /// Whether any record is kept for the table now, of this run or an earlier one.
  package func keepsRecords() throws(UpsurgeError) -> Bool { try keeping.keepsAny() }

  /// Keeps a record for which the table has no place yet.
  /// - Parameter parent: what it refers to that is not there; nil where the table lacks columns of it.
  func quarantine(
    _ batch: borrowing Batch, _ record: Int, waitingFor parent: String? = nil
  ) throws(UpsurgeError) {
    count(.quarantined)
    let file = sourceName(batch.sourceIndex)
    if settings.replaysKept {
      stillKept.append(Int64(clamping: batch.records[record].number))
    } else {
      let row = batch.cells + record * batch.columnCount
      let homeless = plan.homelessCells.filter {
        $0 < batch.columnCount && row[$0].kind != .absent && row[$0].kind != .null
      }
      try keeping.keep(batch, record, homeless: homeless, file: file, waitingFor: parent)
    }
    let position = batch.position(of: record, file: file)
    for stage in stages.list { try stage.didRefuse(.quarantined, at: position) }
  }

  /// Whether each record must be looked at when it is stored, because kept records may be about its row.
  @inline(__always)
  var settlesKept: Bool { keeping.holdsRecords || settings.replaysKept }

  /// Takes away, in the transaction of a record that was stored, what was kept of its row; of a record that was kept
  /// itself, that and what arrived before it.
  ///
  /// Where foreign keys are looked at when the transaction ends, the record may still be taken back: then this waits.
  /// - Parameter isDelete: whether the record takes its row away; then it need not have been there.
  func settle(
    _ outcome: Outcome, _ batch: borrowing Batch, _ record: Int, isDelete: Bool
  ) throws(UpsurgeError) {
    let isStored =
      [.inserted, .updated, .unchanged, .deleted].contains(outcome) || (isDelete && outcome == .ignored)
    let id = settings.replaysKept ? Int64(clamping: batch.records[record].number) : nil
    let settlement = try keeping.settlement(batch, record, isStored: isStored, isDelete: isDelete, id: id)
    guard let settlement else { return }
    if stages.permits.contains(.storingForGood) {
      try keeping.apply(settlement)
    } else {
      let position = batch.position(of: record, file: sourceName(batch.sourceIndex))
      settlements[position] = settlement
    }
  }

  /// Leaves what is kept as it is for a record that is taken back.
  func forgetSettlement(at position: Position) { settlements[position] = nil }

  /// Does what waited for the end of the transaction.
  func applySettlements() throws(UpsurgeError) {
    if settlements.isEmpty { return }
    for settlement in settlements.values { try keeping.apply(settlement) }
    settlements.removeAll(keepingCapacity: true)
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
