import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite

extension MirrorJob {
  /// Brings every table in step with its feed, as far as the feeds and their guards allow; blocks the calling thread.
  ///
  /// A table that fails does not keep the others from their turn.
  /// - Parameters:
  ///   - control: shows the progress of the table at work to, and takes a cancellation from, any thread.
  ///   - note: is told what people want to know, on any thread.
  ///   - tick: is called on the calling thread about ten times a second.
  ///   - tableDone: is given what became of each table as soon as it is known.
  ///   - report: is given the summary at the end, before the runs are forgotten: when the process ends before that, the
  ///     same job reports their ledgers again instead of loading twice. False says that nobody has seen it.
  public func run(
    control: RunControl = RunControl(),
    note: @escaping @Sendable (RunNote) -> Void = { _ in },
    tick: (RunControl.Progress) -> Void = { _ in },
    tableDone: (MirrorSummary.Table) -> Void = { _ in },
    report: (MirrorSummary) -> Bool = { _ in true }
  ) -> MirrorSummary {
    let start = MonotonicClock.seconds
    let note = wording(RunNote.hiding(SecretMask(tables.map(\.mask)), from: note))
    var summary = MirrorSummary(database: shownDatabase)
    summary.place = database
    var afterwards = Afterwards()
    var job = self
    job.end = deadline.map { start + $0 }
    let shelves = ServerShelves()
    job.serverShelves = shelves
    job.databaseSnapshots = DatabaseSnapshots(
      tables: tables.map { ($0.name, $0.sources) }, target: database)
    var clock: Deadline?
    do throws(UpsurgeError) {
      try validate()
      try checkKeptRows()
      clock = try deadline.map { (seconds) throws(UpsurgeError) in
        try Deadline(seconds: seconds, control: control)
      }
      for group in try isOnServer ? serverGroups(shelves, note) : groups(note) {
        if control.cancellationSignal != nil { break }
        let done = job.run(group, &afterwards, control: control, note: note, tick: tick)
        summary.tables += done
        for table in done { tableDone(table) }
      }
    } catch {
      summary.error = file == nil ? error : error.ofJob
    }
    clock?.stop()
    afterwards.noteFailures(in: job, note)
    if control.takeExpiry(), summary.tables.count < tables.count {
      let seconds = deadline ?? 0
      summary.error = Deadline.error(
        "the job", seconds: seconds, hasCommitted: summary.tables.contains(where: \.hasCommitted))
    }
    summary.signal = control.cancellationSignal
    warnIfNothingWasAccepted(summary, note)
    summary.seconds = MonotonicClock.seconds - start
    if report(summary) { afterwards.perform(note) }
    return summary
  }

  /// Brings the tables of a group in step, and removes of their history what is kept no longer.
  private func run(
    _ group: TableGroup, _ afterwards: inout Afterwards, control: RunControl,
    note: @escaping @Sendable (RunNote) -> Void,
    tick: (RunControl.Progress) -> Void
  ) -> [MirrorSummary.Table] {
    let done: [MirrorSummary.Table]
    if group.tables.count > 1, isOnServer {
      done = runOneByOne(group, &afterwards, control: control, note: note, tick: tick)
    } else if group.tables.count > 1 {
      let mirror = GroupMirror(job: self, group: group, control: control, note: note)
      done = mirror.run(&afterwards, tick: tick)
    } else {
      let mirror = TableAttempts(
        job: self, table: group.tables[0], group: sharesTransaction(group) ? group : nil, control: control,
        note: note)
      done = [mirror.run(&afterwards, tick: tick)]
    }
    for table in group.tables { databaseSnapshots?.end(table.name) }
    if dryRun == nil, !isOnServer {
      let retention = Retention(database: database, note: note)
      for (table, result) in zip(group.tables, done) where table.name == result.name {
        retention.apply(to: table, after: result)
      }
    }
    return file == nil ? done : done.map(\.ofJob)
  }

  private func warnIfNothingWasAccepted(_ summary: MirrorSummary, _ note: (RunNote) -> Void) {
    guard let digest = acceptedDelivery,
      !summary.tables.contains(where: { $0.loads.contains(where: \.acceptance.isByDigest) })
    else { return }
    // Whose delivery no guard has judged may be the table that it is about.
    if let table = summary.tables.first(where: { $0.error != nil || $0.loads.contains { $0.error != nil } }) {
      return note(
        RunNote(
          .warning,
          "\(.acceptDelivery, digest.escapedForTerminal) has accepted nothing: table \(table.name.escapedForTerminal) "
            + "was stopped before its delivery was judged"))
    }
    note(
      RunNote(
        .warning,
        "\(.acceptDelivery, digest.escapedForTerminal): no delivery of this run was refused under that digest; it is good for "
          + "the one delivery whose refusal printed it, until another one is accepted"))
  }

  /// - Throws: `usage` for what cannot be.
  func validate() throws(UpsurgeError) {
    if tables.isEmpty {
      throw UpsurgeError(.usage, "the job has no table", hint: "tables: names them, each with its source")
    }
    var names: Set<String> = []
    for table in tables where !names.insert(SQLName.folded(table.name)).inserted {
      throw UpsurgeError(
        .usage, "the job names table \(table.name.escapedForTerminal) twice", hint: "give it one feed")
    }
    for table in tables { try table.validate() }
    try checkServer()
    if atomicity == .job && tables.count > 1, let reason = LoadGroup.unfit(tables.map(\.options)) {
      throw UpsurgeError(
        .usage, "atomic: job makes one transaction of all tables, and \(reason)",
        hint: "atomic: table makes each table visible at once")
    }
  }

  /// The tables that become visible at once, those to which others refer first.
  private func groups(_ note: (RunNote) -> Void) throws(UpsurgeError) -> [TableGroup] {
    let connection = databaseIsThere ? try? Connection.looking(at: database) : nil
    var found: [TableGroup] = []
    for group in try TableGroup.groups(of: tables, on: connection, isOne: atomicity != .table) {
      let reason = atomicity == .table ? LoadGroup.unfit(group.tables.map(\.options)) : nil
      if group.tables.count > 1, let reason {
        let names = group.tables.map(\.name).joined(separator: ", ").escapedForTerminal
        note(
          RunNote(
            .warning,
            "the tables \(names) refer to each other, and are stored one by one all the same: \(reason)"))
      }
      if reason == nil && atomicity != .bounded {
        found.append(group)
      } else {
        found += group.tables.map { TableGroup(circles: [[$0]], hasReferences: false) }
      }
    }
    return found
  }

  /// Whether records of a table may wait for others, so that its loads share a transaction with those that wait.
  private func sharesTransaction(_ group: TableGroup) -> Bool { atomicity != .bounded && group.hasReferences }
}

extension MirrorTable {
  /// Whether anything is noted of each row.
  var hasRowState: Bool { keepsRowState || ownedBy != nil || localEdits != nil }

  private func validateLocalEdits() throws(UpsurgeError) {
    guard let fault = repairFault else { return }
    throw UpsurgeError(
      .usage, "table \(name.escapedForTerminal): local-edits: repair: \(fault.message)", hint: fault.hint)
  }

  /// Why rows of the table cannot be brought back to what their feed says; nil where they can, or need not.
  package var repairFault: (message: String, hint: String)? {
    if localEdits != .repair { return nil }
    if kind == .delta {
      return (
        "a delta does not say again what a row was, so that no row can be brought back",
        "write kind: snapshot, or local-edits: keep"
      )
    }
    let merge = options.rules.merge
    if merge.rule != .replace || !merge.columns.isEmpty || merge.condition != nil || merge.newer != nil {
      return (
        "a merge rule that looks at the row would take the edit for the feed's own",
        "leave out merge, set and update-if, or write local-edits: keep"
      )
    }
    return nil
  }

  private func validateRowState() throws(UpsurgeError) {
    let shown = name.escapedForTerminal
    if let ownedBy, ownedBy.isEmpty || ownedBy.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw UpsurgeError(
        .usage, "table \(shown): owned-by takes a name without control characters", hint: "owned-by: crm")
    }
    if ownedBy != nil, sweep == .none {
      throw UpsurgeError(
        .usage, "table \(shown): owned-by says which rows may be swept, and nothing is",
        hint: "sweep: hard, or row-state: true in its place")
    }
    if hasRowState, let mode = options.rules.mode, mode != .upsert {
      throw UpsurgeError(
        .usage,
        "table \(shown): row-state notes rows of records that are upserted, not those of mode \(mode.rawValue)",
        hint: "leave out mode, or row-state and owned-by")
    }
    if hasRowState, options.transaction.durability == .off {
      throw UpsurgeError(
        .usage, "table \(shown): durability: off keeps no runs that row-state could name",
        hint: "leave out durability: off")
    }
  }

  fileprivate func validate() throws(UpsurgeError) {
    let shown = name.escapedForTerminal
    if sources.isEmpty {
      throw UpsurgeError(
        .usage, "table \(shown) has no source", hint: "source: names a file, glob, folder or URL")
    }
    if case .file(let path)? = options.rejects.target,
      sources.contains(where: \.isFolder) || kind == .delta
    {
      throw UpsurgeError(
        .usage,
        "table \(shown): each file of a folder or delta is a load of its own, and would begin \(path.escapedForTerminal) anew",
        hint: "rejects: table keeps those of all of them")
    }
    try validateRowState()
    try validateLocalEdits()
    if sweep != .none {
      if kind == .delta {
        throw UpsurgeError(
          .usage, "table \(shown): a delta holds only changes, so what it does not have is not gone",
          hint: "kind: snapshot, or leave out sweep")
      }
      if options.rules.mode == .insert || options.rules.mode == .delete {
        throw UpsurgeError(
          .usage, "table \(shown): mode \(options.rules.mode?.rawValue ?? "") cannot be swept",
          hint: "leave out mode: with a key it is upsert")
      }
    } else if scope != nil {
      throw UpsurgeError(
        .usage, "table \(shown): scope says which rows may be swept, and nothing is",
        hint: "sweep: hard, or leave out scope")
    }
  }
}
