extension LoadGroup {
  /// A table of the group, and what is known of it beside its loads.
  package typealias Table = OrphanRecords.Table

  /// What was done after the loads.
  package struct Outcome {
    /// Why nothing of the group is committed; nil where all is.
    package var error: UpsurgeError?
    /// What became of records that earlier runs had put into the quarantine, by table.
    package var replayed: [String: Ledger] = [:]
  }

  /// Stores what waits for other records, sweeps, and commits; the loads' summaries are whole then.
  /// - Parameters:
  ///   - tables: those to which others refer first; the tables of one list refer to each other in a circle.
  ///   - failure: why nothing of the group is to be committed.
  package func finish(_ tables: [[Table]], failure: UpsurgeError?) -> Outcome {
    var outcome = Outcome()
    do throws(UpsurgeError) {
      if let failure = failure ?? fault { throw failure }
      if control.cancellationSignal != nil { throw UpsurgeError(.interrupted, "interrupted") }
      if try hasWork() {
        let connection = try openedConnection()
        // What is written from here on would be committed by itself: that runs are complete, for one.
        if connection.hasLostShared { throw connection.lostShared() }
        for part in parts { part.writer.moveToCurrentThread() }
        control.note(stage: .finishing, work: "storing and removing rows of all tables")
        try storeOrphans(tables.flatMap { $0 }, &outcome)
        for circle in tables.reversed() { try sweep(circle) }
        if connection.hasLostShared { throw connection.lostShared() }
        control.note(stage: .finishing, work: "writing to disk")
        for part in parts { try part.writing.transfer.prepareSharedCommit() }
        try commit(hasStored: !outcome.replayed.isEmpty)
      } else {
        end()
      }
    } catch {
      takeBack(because: error)
      outcome = Outcome(error: error)
    }
    tellAll()
    return outcome
  }

  /// Judges the sweep of the last delivery of a table, as another one follows, which takes it over: by then rows of tables
  /// that are read later may refer to others. Rows that are only marked are marked at once.
  package func closeDelivery(of table: String) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      for part in parts where part.isOf(table) && part.sweepsLater {
        let connection = try openedConnection()
        part.writer.moveToCurrentThread()
        let options = part.run.job.options
        // The state of rows is that of the delivery which was stored last, so it is brought in step with each.
        if options.delivery.rules.snapshot?.sweep == .hard && options.delivery.rules.rowState == nil {
          try connection.beginWriting()
          try part.writer.judgeSweep()
          try connection.commitWriting()
        } else {
          try sweepNow(part)
        }
        part.run.summary.withLock { $0.note(part.writer) }
        tell([part.run])
      }
    } catch {
      fault = error
      throw error
    }
  }

  private func sweepNow(_ part: Part) throws(UpsurgeError) {
    try part.sweepNow(on: openedConnection())
  }

  /// Whether anything was loaded, or records wait for others.
  private func hasWork() throws(UpsurgeError) -> Bool {
    if !parts.isEmpty { return true }
    if connection?.hasLostShared == true { return true }
    guard let looking = try? Connection.looking(at: database) else { return false }
    return try QuarantineTable.holdsOrphans(looking)
  }

  /// Tries the records that wait in the quarantine for the rows they refer to.
  private func storeOrphans(_ tables: [Table], _ outcome: inout Outcome) throws(UpsurgeError) {
    let connection = try openedConnection()
    guard try QuarantineTable.holdsOrphans(connection) else { return }
    let parts = self.parts
    let waiting = try OrphanRecords(connection, tables: marked(tables)) { record in
      // What a delivery that is the whole truth no longer has is not stored any more.
      guard let last = parts.last(where: { $0.isOf(record.table) && $0.sweepsLater }) else { return false }
      return record.id <= last.lastQuarantined && last.writer.hasReplaced(record)
    }
    guard try waiting.store() else { return }
    var replayed: [String: Ledger] = [:]
    var passedOver: [String: UInt64] = [:]
    var updates: [String: [Statement]] = [:]
    try waiting.visit { (stored) throws(UpsurgeError) in
      if let part = parts.last(where: { $0.isOf(stored.table) && $0.lastQuarantined < stored.id }) {
        return try part.writer.noteStored(stored.outcome, row: stored.row)
      }
      replayed[stored.table, default: Ledger()].count(stored.outcome)
      if stored.isPassedOver { passedOver[stored.table, default: 0] += 1 }
      guard let row = stored.row else { return }
      if updates[stored.table] == nil {
        updates[stored.table] = try RowStateTable.contentUpdates(of: stored.table, on: connection)
      }
      for update in updates[stored.table] ?? [] {
        for (place, value) in row.enumerated() { try update.bind(value, at: Int32(place + 1)) }
        _ = try update.step()
        update.reset()
      }
    }
    outcome.replayed = replayed
    for (table, ledger) in replayed.sorted(by: { $0.key < $1.key }) {
      noteOrphans(table, ledger, passedOver: passedOver[table] ?? 0)
    }
  }

  /// The tables, with what this transaction's loads know of them.
  private func marked(_ tables: [Table]) -> [Table] {
    tables.map { table in
      var table = table
      table.hasMarkedEdits = parts.contains { $0.isOf(table.name) && $0.writer.hasMarkedEdits }
      return table
    }
  }

  /// Says what became of records of earlier runs.
  private func noteOrphans(_ table: String, _ ledger: Ledger, passedOver: UInt64) {
    let start = "table \(table.escapedForTerminal): "
    func waited(_ count: UInt64) -> String {
      "\(count) record\(count == 1 ? "" : "s") of earlier runs waited for other rows, and \(count == 1 ? "is" : "are")"
    }
    let stored = ledger.read - passedOver
    if stored > 0 { note(RunNote(.info, "\(start)\(waited(stored)) stored now")) }
    if passedOver == 0 { return }
    note(
      RunNote(
        .info,
        "\(start)\(waited(passedOver)) ignored now: \(passedOver == 1 ? "its row was" : "their rows were") edited or deleted "
          + "here, and \(passedOver == 1 ? "stays" : "stay") so (local-edits: keep)"))
  }

  /// Sweeps tables that refer to each other: all of their rows that are gone, or, where rows that stay refer to them,
  /// none.
  private func sweep(_ circle: [Table]) throws(UpsurgeError) {
    let swept = parts.filter { part in part.sweepsLater && circle.contains { part.isOf($0.name) } }
    if swept.isEmpty { return }
    let connection = try openedConnection()
    try connection.beginWriting()
    // A row that is marked is still there for those that refer to it.
    let deleted =
      circle.count == 1 ? [] : swept.filter { $0.run.job.options.delivery.rules.snapshot?.sweep == .hard }
    for part in swept where !deleted.contains(where: { $0.run === part.run }) {
      try part.sweep(leavesOpen: false)
    }
    try delete(deleted, on: connection)
    for part in swept { try part.writer.forgetOrphans(through: part.lastQuarantined) }
    try connection.commitWriting()
  }

  private func delete(_ swept: [Part], on connection: Connection) throws(UpsurgeError) {
    if swept.isEmpty { return }
    try connection.execute("SAVEPOINT upsurge_circle")
    try connection.deferringReferences { () throws(UpsurgeError) in
      for part in swept { try part.sweep(leavesOpen: true) }
      if !connection.hasOpenReferences { return }
      try connection.execute("ROLLBACK TO upsurge_circle")
      for part in swept { try part.writer.refuseSweep() }
    }
    try connection.execute("RELEASE upsurge_circle")
  }

  /// Commits all parts, which are prepared for that.
  /// - Parameters:
  ///   - hasStored: whether anything was stored that is no part.
  ///   - beforeCommit: does what is to be committed with them.
  func commit(
    hasStored: Bool = false, with beforeCommit: (Connection) throws(UpsurgeError) -> Void = { _ in }
  ) throws(UpsurgeError) {
    let connection = try openedConnection()
    try beforeCommit(connection)
    if options.output.isTrial || parts.isEmpty && !hasStored {
      connection.rollBackShared()
    } else {
      try connection.commitShared()
      connection.noteSwitchToWAL(of: database, note)
    }
    for (index, part) in parts.enumerated() {
      do throws(UpsurgeError) {
        try part.writing.finishShared(isLast: index == parts.count - 1)
      } catch {
        // What is committed is; so is what its files tell of.
        part.run.fail(options.output.isTrial ? error : error.behindTheLastRecord)
      }
      part.writing.record(in: part.run.summary)
      parts[index].ending = part.writing.transfer.ending
    }
  }

  /// Takes everything back.
  private func takeBack(because error: UpsurgeError) {
    connection?.moveToCurrentThread()
    connection?.rollBackShared()
    for part in parts {
      part.writer.moveToCurrentThread()
      part.writing.abandon()
      part.writing.record(in: part.run.summary)
      if error.code == .interrupted, let signal = control.cancellationSignal {
        part.run.summary.withLock { $0.signal = signal }
      } else {
        part.run.fail(error)
      }
    }
    discardNewFile()
  }

  /// Ends the group where there was nothing to do.
  private func end() {
    connection?.moveToCurrentThread()
    connection?.rollBackShared()
    discardNewFile()
  }
}

extension LoadGroup {
  /// Removes the file that the group has made; one that was there and empty is empty again when it is closed.
  fileprivate func discardNewFile() {
    guard !options.output.isTrial, let connection, !connection.foundFile else { return }
    connection.discardNewFile()
  }
}

extension LoadGroup.Part {
  var writer: TableWriter { writing.transfer.writer }

  /// The last record that was in the quarantine before.
  var lastQuarantined: Int64 { writing.transfer.lastQuarantined }

  /// The name of its table.
  var name: String { writing.transfer.table.facts.name }

  func isOf(_ table: String) -> Bool { SQLName.isSame(name, table) }

  /// Whether rows that are gone go when all loads are stored.
  var sweepsLater: Bool { !writing.hasSwept }

  /// Sweeps as a part of the transaction, unless something speaks against it.
  func sweepNow(on connection: Connection) throws(UpsurgeError) {
    try connection.beginWriting()
    try sweep(leavesOpen: false)
    try writer.forgetOrphans(through: lastQuarantined)
    try connection.commitWriting()
    writing.hasSwept = true
  }

  /// Sweeps, unless something speaks against it.
  func sweep(leavesOpen: Bool) throws(UpsurgeError) {
    writing.transfer.connection.isSynchronizing = run.job.options.table.triggers == .guarded
    try writer.sweep(leavesOpen: leavesOpen)
  }
}
