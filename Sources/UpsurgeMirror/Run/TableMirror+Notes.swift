import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeState

/// What is noted of a table's runs, for the next one and for whoever watches.
extension TableMirror {
  /// A source that cuts its answers off ends them at the same round number again and again.
  func warnOfRoundCount(_ count: UInt64, last: UInt64?) {
    guard table.kind == .snapshot, table.trailer?.hasCount != true, count == last, count >= 100,
      count.isMultiple(of: 100)
    else { return }
    note(
      RunNote(
        .warning,
        "table \(table.name.escapedForTerminal): the delivery has exactly \(count) records again; if its source cuts it off "
          + "there, suspicious: [\(count)] in the guards keeps rows from being swept"))
  }

  /// Says what a table holds when its feed has become another one, and a guard has refused the first delivery of that.
  func noteMixture(of load: RunSummary, _ former: FeedRecord?) {
    guard let former, former.hasDelivered, load.guardRefusal != nil, load.hasCommitted,
      !FeedIdentity(table).changes(from: former.identity, fields: former.shape?.fields ?? []).isEmpty
    else { return }
    let stored = load.ledger.inserted + load.ledger.updated
    note(
      RunNote(
        .warning,
        "table \(table.name.escapedForTerminal) holds rows of both feeds: none of the former one's has gone, and "
          + "\(Words.count(stored, "row")) of this delivery \(stored == 1 ? "was" : "were") stored"))
  }

  /// Notes how it went, for the next run and for whoever watches; where there is no database, at the end of the run.
  /// - Returns: false where that could not be.
  func keep(
    _ record: FeedRecord, _ summary: MirrorSummary.Table, isTriedAgain: Bool, _ afterwards: inout Afterwards
  ) -> Bool {
    var record = record
    let loss = summary.lossWords.map { job.file == nil ? $0.text : JobWording.ofJob($0) }
    // A delivery that is still the last one has lost what it had lost.
    let known = summary.loads.isEmpty && summary.exitCode == 2 && record.exitCode == 2 ? record.message : nil
    record.exitCode = summary.exitCode
    record.message = summary.failure?.message ?? loss ?? known
    if summary.hasCommittedDelivery { record.hasDelivered = true }
    let isGood = summary.exitCode == 0 || summary.exitCode == 2
    record.failureCount = isGood ? 0 : record.failureCount + (isTriedAgain ? 0 : 1)
    guard job.databaseIsThere else {
      if !isGood { afterwards.failures.append((record, table.options.transaction.busyTimeout)) }
      return true
    }
    do throws(UpsurgeError) {
      let state = try writableState()
      record.checkedAt = try state.now()
      if isGood {
        record.goodAt = record.checkedAt
        if !summary.loads.isEmpty { record.deliveredAt = record.checkedAt }
      }
      if !table.hasRowState, !summary.loads.isEmpty {
        try state.forgetContent(of: table.name, ownedBy: record.ownedBy)
      }
      try state.write(record)
      return true
    } catch {
      // What was read of files that are taken once is noted beside this.
      let isReadAgain = !takesEachOnce && summary.loads.contains { $0.isWhole && $0.guardRefusal == nil }
      note(
        .unnoted(
          table.name, error,
          isReadAgain ? "the next one prints its ledger again, or reads everything" : nil))
      return false
    }
  }

  /// Notes that the table holds something of a delivery that may not be stored to its end, before the run's own mark of it
  /// goes.
  func noteDisturbance(by delivery: String, _ record: inout FeedRecord) throws(UpsurgeError) {
    record.disturbedBy = delivery
    if record.files.isEmpty && record.validators == HTTPValidators() { return }
    try writableState().write(record)
  }

  /// Counts the last try as a run that did not go well: it was noted as one that another follows, and none does.
  func countFailure() {
    guard job.dryRun == nil, job.databaseIsThere else { return }
    do throws(UpsurgeError) {
      let state = try writableState()
      let owner = table.ownedBy ?? ""
      guard var record = try state.feeds(of: table.name).first(where: { $0.ownedBy == owner }) else { return }
      record.failureCount += 1
      try state.write(record)
    } catch {
      note(.unnoted(table.name, error, "upsurge status shows its last try"))
    }
  }
}

extension RunNote {
  /// Passes on what is said, without secrets.
  static func hiding(
    _ mask: SecretMask, from note: @escaping @Sendable (RunNote) -> Void
  ) -> @Sendable (RunNote) -> Void {
    if mask.isEmpty { return note }
    return { said in
      var said = said
      said.said = said.said.map(mask.masked)
      note(said)
    }
  }

  /// Says that nobody will see how a run went.
  /// - Parameter consequence: what else comes of it.
  static func unnoted(_ table: String, _ error: UpsurgeError, _ consequence: String?) -> RunNote {
    RunNote(
      .warning,
      "how this run of table \(table.escapedForTerminal) went could not be noted (\(error.message)); "
        + (consequence ?? "upsurge status shows the one before it"))
  }
}
