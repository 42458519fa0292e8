import UpsurgeRecords

/// Records that are held after a savepoint, because references are open, and stored once more.
extension ReferenceStage {
  /// Sets the savepoint anew before a record that follows a reject that was given away.
  func holdAgain(_ batch: borrowing Batch, from record: Int) throws(UpsurgeError) {
    if hold.isBehind { try willStore(batch, from: record, reject: hold.nextReject) }
  }

  /// Sets the savepoint anew before a record when nothing before it can be to blame for what is open.
  func willStore(_ batch: borrowing Batch, from record: Int, reject: Int) throws(UpsurgeError) {
    if references == nil { return }
    if hold.pass == .first { hold.nextReject = reject }
    guard hold.pass == .first, let references, !references.isAnyOpen else { return }
    if hold.hasRejects {
      try willLeave(batch, before: record, reject: reject)
      try settle(isLast: false)
    }
    if hold.isSet {
      try connection.execute("RELEASE \(RecordHold.savepoint)")
      try dropHeld()
    }
    try connection.execute("SAVEPOINT \(RecordHold.savepoint)")
    for stage in writer.stages.list { stage.didHold() }
    hold.isSet = true
    hold.nextReject = reject
    hold.start = (record, reject)
    hold.ledger = writer.ledger
    hold.rejectsByReason = writer.rejectsByReason
  }

  /// Keeps what is held of a batch, which goes away or on after a commit.
  func willLeave(_ batch: borrowing Batch, before record: Int, reject: Int) throws(UpsurgeError) {
    guard let references, hold.isSet, references.isAnyOpen || hold.hasRejects else { return }
    let held = try heldRecords()
    try held.keep(
      batch, records: hold.start.record..<record, rejects: hold.start.reject..<reject, columns: plan.columns)
    hold.start = (record, reject)
    hold.slice = held.sliceCount
  }

  /// The next batch begins with its first record.
  func didStoreBatch() { hold.start = (0, 0) }

  /// The savepoint has gone with the transaction, or its part.
  func didEndPart() throws(UpsurgeError) {
    if hold.isSet { try dropHeld() }
  }

  func didRollBack() {
    hold = RecordHold()
    (held, referenceSetters) = (nil, nil)
  }

  /// Notes a change of the table that is to be made once more with the records.
  func didAddColumn(_ sql: String) {
    if hold.isSet { hold.addedColumns.append(sql) }
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
    for sql in hold.addedColumns { try connection.execute(sql) }
    let filtered = writer.ledger.filtered - hold.ledger.filtered
    writer.tally.ledger = hold.ledger
    writer.tally.ledger.countFiltered(filtered)
    writer.tally.rejectsByReason = hold.rejectsByReason
    for stage in writer.stages.list { try stage.didTakeBack() }
    try referenceSetters?.forgetRows()
    (hold.hasSetters, hold.hasMoved, hold.isPlain, hold.hasRejects) = (false, false, true, false)
    hold.pass = pass
    for slice in 0..<held.sliceCount {
      let of = try held.columns(of: slice)
      if of != plan.columns { try writer.adopt(of, at: nil) }
      let batch = try held.slice(slice)
      hold.slice = slice
      hold.start = (0, 0)
      try store(held: batch)
      writer.clearBindings()
    }
    if columns != plan.columns { try writer.adopt(columns, at: nil) }
    hold.pass = .first
  }

  /// Stores a slice, in the order of the input.
  private func store(held batch: borrowing Batch) throws(UpsurgeError) {
    let setters = try setters()
    var (record, reject) = (0, 0)
    let end = hold.ordinal(of: batch.recordCount)
    var culprit = try setters.culprit(from: hold.ordinal(of: 0))
    for stage in writer.stages.list { stage.willRepeat(batch) }
    while record < batch.recordCount || reject < batch.rejects.count {
      let number = reject < batch.rejects.count ? batch.rejects[reject].position.record ?? 0 : .max
      if record == batch.recordCount || batch.records[record].number >= number {
        try writer.take(batch.rejects[reject], in: batch, isAgain: true)
        reject += 1
        continue
      }
      if let found = culprit, found.ordinal == hold.ordinal(of: record) {
        if settings.delivery.quarantinesOrphans, let quarantine = writer.stages.quarantine {
          let words = try quarantine.orphanWords(batch, record, key: found.key)
          try writer.quarantine(batch, record, waitingFor: words)
        } else {
          try writer.reject(missingParent(batch, record, found.key), in: batch)
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
      try writer.storeSeen(batch, in: .input, from: record, to: next)
      record = next
    }
  }
}
