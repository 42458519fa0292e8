import UpsurgeRecords

/// Records that are held behind a savepoint, because references are open, and stored once more.
extension TableWriter {
  /// Sets the savepoint anew in front of a record when nothing before it can be to blame for what is open; called in
  /// front of records while references are tracked.
  func hold(_ batch: borrowing Batch, from record: Int, reject: Int) throws(UpsurgeError) {
    if hold.pass == .first { hold.nextReject = reject }
    guard hold.pass == .first, let references, !references.isAnyOpen else { return }
    if hold.hasRejects {
      try keepHeld(batch, before: record, reject: reject)
      try settleReferences()
    }
    if hold.isSet {
      try connection.execute("RELEASE \(RecordHold.savepoint)")
      try dropHeld()
    }
    try connection.execute("SAVEPOINT \(RecordHold.savepoint)")
    for stage in stages.list { stage.didHold() }
    hold.isSet = true
    hold.nextReject = reject
    hold.start = (record, reject)
    hold.ledger = ledger
    hold.rejectsByReason = rejectsByReason
    hold.supersededCount = keeping.supersededCount
    hold.stillKeptCount = stillKept.count
  }

  /// Keeps what is held of a batch, which goes away or on behind a commit.
  func keepHeld(_ batch: borrowing Batch, before record: Int, reject: Int) throws(UpsurgeError) {
    guard let references, hold.isSet, references.isAnyOpen || hold.hasRejects else { return }
    let held = try heldRecords()
    try held.keep(
      batch, records: hold.start.record..<record, rejects: hold.start.reject..<reject, columns: plan.columns)
    hold.start = (record, reject)
    hold.slice = held.sliceCount
  }

  /// Forgets what is held; the savepoint is gone.
  func dropHeld() throws(UpsurgeError) {
    hold = RecordHold()
    try held?.clear()
    try referenceSetters?.clear()
  }

  /// Whether rejects are only counted, because it is not known yet whether they are some.
  var countsRejectsOnly: Bool {
    guard let references, hold.isSet, !endsAtOpenReference else { return false }
    switch hold.pass {
    case .first: return hold.hasRejects || references.isAnyOpen
    case .trial: return true
    case .last: return false
    }
  }

  func heldRecords() throws(UpsurgeError) -> HeldRecords {
    if let held { return held }
    let made = try HeldRecords(ReferenceSetters.tables(identityCount: plan.identityColumns.count))
    held = made
    return made
  }

  func setters() throws(UpsurgeError) -> ReferenceSetters {
    if let referenceSetters { return referenceSetters }
    let made = try ReferenceSetters(heldRecords(), identityCount: plan.identityColumns.count)
    referenceSetters = made
    return made
  }

  // MARK: - Storing once more

  /// Rolls back to the savepoint and stores what is held, without the culprits.
  func storeHeld(_ pass: RecordHold.Pass) throws(UpsurgeError) {
    let held = try heldRecords()
    let columns = plan.columns
    try connection.execute("ROLLBACK TO \(RecordHold.savepoint)")
    for stage in stages.list { try stage.didTakeBack() }
    for sql in hold.addedColumns { try connection.execute(sql) }
    tally.ledger = hold.ledger
    tally.rejectsByReason = hold.rejectsByReason
    stillKept.removeSubrange(hold.stillKeptCount...)
    try keeping.begin(supersededCount: hold.supersededCount)
    try referenceSetters?.forgetRows()
    (hold.hasSetters, hold.hasMoved, hold.isPlain, hold.hasRejects) = (false, false, true, false)
    hold.pass = pass
    for slice in 0..<held.sliceCount {
      let of = try held.columns(of: slice)
      if of != plan.columns { try adopt(of, at: nil) }
      let batch = try held.slice(slice)
      hold.slice = slice
      hold.start = (0, 0)
      try store(held: batch)
      clearBindings()
    }
    if columns != plan.columns { try adopt(columns, at: nil) }
    hold.pass = .first
  }

  /// Stores a slice, in the order of the input.
  private func store(held batch: borrowing Batch) throws(UpsurgeError) {
    let setters = try setters()
    var (record, reject) = (0, 0)
    let end = hold.ordinal(of: batch.recordCount)
    var culprit = try setters.culprit(from: hold.ordinal(of: 0))
    if !settlements.isEmpty {
      for record in 0..<batch.recordCount {
        forgetSettlement(at: batch.position(of: record, file: sourceName(batch.sourceIndex)))
      }
    }
    while record < batch.recordCount || reject < batch.rejects.count {
      let number = reject < batch.rejects.count ? batch.rejects[reject].position.record ?? 0 : .max
      if record == batch.recordCount || batch.records[record].number >= number {
        try take(batch.rejects[reject], in: batch)
        reject += 1
        continue
      }
      if let found = culprit, found.ordinal == hold.ordinal(of: record) {
        if settings.quarantinesOrphans {
          try quarantine(batch, record, waitingFor: orphanWords(batch, record, key: found.key))
        } else {
          try self.reject(missingParent(batch, record, found.key), in: batch)
        }
        culprit = try setters.culprit(from: found.ordinal + 1)
        record += 1
        continue
      }
      var next = record + 1
      let limit = culprit.map { min($0.ordinal, end) } ?? end
      while next < batch.recordCount, batch.records[next].number < number, hold.ordinal(of: next) < limit {
        next += 1
      }
      try storeSeen(batch, in: .input, from: record, to: next)
      record = next
    }
  }
}
