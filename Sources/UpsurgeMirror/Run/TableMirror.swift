import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeStorage

/// Brings one table in step with its feed.
struct TableMirror {
  let job: MirrorJob
  let table: MirrorTable
  let control: RunControl
  let note: @Sendable (RunNote) -> Void

  /// - Parameter afterwards: gets what is to be done when the ledgers were seen.
  func run(_ afterwards: inout Afterwards, tick: (RunControl.Progress) -> Void) -> MirrorSummary.Table {
    var summary = MirrorSummary.Table(name: table.name)
    let identity = FeedIdentity(table)
    var record: FeedRecord?
    do throws(UpsurgeError) {
      record = try known()
      if let record { try check(record.identity, identity) }
      var next = record ?? FeedRecord(table: table.name, identity: identity)
      next.identity = identity
      defer { record = next }
      if takesEachOnce {
        try takeAll(&next, &summary, &afterwards, tick)
      } else {
        try takeLast(&next, &summary, &afterwards, tick)
      }
    } catch {
      summary.error = error
      if record == nil, error.code != .usage { record = FeedRecord(table: table.name, identity: identity) }
    }
    if let record, job.dryRun == nil { keep(record, summary) }
    return summary
  }

  /// Whether a file is a delivery of its own, and never taken again: of a delta, whose files would set rows back.
  private var takesEachOnce: Bool {
    table.kind == .delta && !table.sources.contains(where: SourceName.isStandardInput)
      || table.sources.contains(where: FolderListing.isFolder)
  }

  /// Takes what stands there, unless it is what was taken last.
  private func takeLast(
    _ record: inout FeedRecord, _ summary: inout MirrorSummary.Table, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) {
    let names = try SourceList.expand(table.sources)
    let files = try look(at: names, known: record.files)
    if let files, try isThere(record, files) {
      summary.unchangedSince = record.deliveredAt
      return
    }
    var load = try load(names, record, &afterwards, tick)
    if load.resumedCount > 0, load.isWhole, load.guardRefusal != nil {
      // It went on behind a commit. All of it is read once more, to see which rows are gone.
      load.guardRefusal = nil
      summary.loads.append(load)
      load = try self.load(names, record, &afterwards, tick, resume: .never)
    }
    if load.response?.isNotModified == true {
      summary.unchangedSince = record.deliveredAt
      return
    }
    summary.loads.append(load)
    guard load.isWhole, load.guardRefusal == nil else { return }
    note(load, in: &record)
    let isStill = zip(names, files ?? []).allSatisfy { $1.isStill(atPath: $0) }
    record.files = isStill ? files ?? [] : []
    record.validators = names.count == 1 ? load.response?.validators ?? HTTPValidators() : HTTPValidators()
  }

  /// Takes each file that was not taken before, in order, up to the first that fails: those behind it must not overtake
  /// it.
  private func takeAll(
    _ record: inout FeedRecord, _ summary: inout MirrorSummary.Table, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) {
    var (taken, unseen): ([DeliveredFile], Set<String>) = ([], [])
    if let connection = try lookingConnection() {
      taken = try TakenFiles.all(of: table.name, on: connection)
      unseen = Set(try RunTable.open(connection, table: table.name).flatMap(\.job.sources))
    }
    for path in try paths() {
      if control.cancellationSignal != nil { return }
      let file = try DeliveredFile.look(at: path, known: taken) { control.cancellationSignal != nil }
      guard let file else {
        throw UpsurgeError(
          .unreadableInput, "\(SourceName.shown(path)) is no regular file, or changes while it is read",
          hint: "write it under a name that ends with .tmp, and rename it")
      }
      // One whose ledger was not shown shows it now.
      if !taken.contains(where: { $0.hasContent(of: file) }) || unseen.contains(file.name) {
        let load = try load([path], record, &afterwards, tick)
        summary.loads.append(load)
        guard load.isWhole, load.guardRefusal == nil else { return }
        note(load, in: &record)
        if job.dryRun != nil { continue }
        guard file.isStill(atPath: path) else {
          throw UpsurgeError(
            .badInput, "\(SourceName.shown(path)) was changed while it was loaded",
            hint: "write it under a name that ends with .tmp, and rename it; the next run takes it again")
        }
        taken.append(file)
        try TakenFiles.add(file, of: table.name, on: connection())
      }
      if job.dryRun == nil { afterwards.files.append((path, table.folder.done)) }
    }
    if summary.loads.isEmpty { summary.unchangedSince = record.deliveredAt }
  }

  /// The files of a delta or a drop folder, in order.
  private func paths() throws(UpsurgeError) -> [String] {
    var paths: [String] = []
    for source in table.sources {
      if FolderListing.isFolder(source) {
        paths += try FolderListing.files(in: source, order: table.folder.order)
      } else {
        paths += try SourceList.expand([source])
      }
    }
    return paths
  }

  private func note(_ load: RunSummary, in record: inout FeedRecord) {
    warnOfRoundCount(load.ledger.read, last: record.recordCount)
    record.recordCount = load.ledger.read
  }

  private func connection() throws(UpsurgeError) -> Connection {
    try Connection(
      path: job.database, createIfMissing: false, busyTimeoutMilliseconds: table.options.busyTimeout)
  }

  /// What earlier runs have noted of the feed.
  private func known() throws(UpsurgeError) -> FeedRecord? {
    guard let connection = try lookingConnection() else { return nil }
    return try FeedTable.read(table.name, on: connection)
  }

  /// nil where there is no database yet.
  private func lookingConnection() throws(UpsurgeError) -> Connection? {
    if !job.databaseIsThere { return nil }
    return try Connection.looking(at: job.database)
  }

  /// - Throws: `guardRefused` where it is another feed than it was.
  private func check(_ last: FeedIdentity, _ now: FeedIdentity) throws(UpsurgeError) {
    let changes = now.changes(from: last)
    if changes.isEmpty || job.acceptsChanges { return }
    throw UpsurgeError(
      .guardRefused,
      "the feed of table \(table.name.escapedForTerminal) is not what it was: "
        + "\(changes.joined(separator: ", ").escapedForTerminal)",
      hint: table.sweep == .none
        ? "--accept-change goes on with it as it is now"
        : "--accept-change goes on with it as it is now; rows that the former feed has brought and this one does not are swept"
    )
  }

  /// What the files of a delivery are; nil where one is none that can be read twice.
  private func look(
    at names: [String], known: [DeliveredFile]
  ) throws(UpsurgeError) -> [DeliveredFile]? {
    var files: [DeliveredFile] = []
    for name in names {
      let file = try DeliveredFile.look(at: name, known: known) { control.cancellationSignal != nil }
      guard let file else { return nil }
      files.append(file)
    }
    return files
  }

  /// Whether a delivery is the last one, and what that has brought is still there as far as can be seen at once.
  private func isThere(_ record: FeedRecord, _ files: [DeliveredFile]) throws(UpsurgeError) -> Bool {
    guard !job.verifiesAll, !record.files.isEmpty, record.files.count == files.count,
      zip(record.files, files).allSatisfy({ $0.hasContent(of: $1) })
    else { return false }
    return try isThere(record)
  }

  private func isThere(_ record: FeedRecord) throws(UpsurgeError) -> Bool {
    guard let connection = try lookingConnection(),
      let schema = try TableSchema.read(connection, table: table.name)
    else { return false }
    // One whose ledger was not shown shows it now.
    if try !RunTable.open(connection, table: table.name).isEmpty { return false }
    if record.recordCount == 0 { return true }
    return try connection.integer("SELECT 1 FROM main.\(SQLName.quote(schema.name)) LIMIT 1") != nil
  }

  private func load(
    _ names: [String], _ record: FeedRecord?, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void, resume: ResumePolicy = .auto
  ) throws(UpsurgeError) -> RunSummary {
    var load = LoadJob(
      database: job.database, table: table.name, sources: names, options: try options(record, names))
    load.options.resume = resume
    let end = load.runToEnd(control: control, note: note, tick: tick)
    afterwards.loads.append(end)
    return end.summary
  }

  private func options(_ record: FeedRecord?, _ names: [String]) throws(UpsurgeError) -> LoadOptions {
    var options = table.options
    if let record, names.count == 1, !job.verifiesAll, try isThere(record) {
      options.question.validators = record.validators
    }
    options.dryRun = job.dryRun ?? options.dryRun
    options.keepsHistory = job.dryRun == nil && options.durability != .off
    options.isAtomic = job.atomicity != .bounded
    options.needsLineEnd = table.guards.needsLineEnd
    options.question.headers = table.headers
    guard table.kind == .snapshot else { return options }
    var rules = SnapshotRules()
    switch table.sweep {
    case .none: rules.sweep = .none
    case .hard: rules.sweep = .hard
    case .soft(let column):
      rules.sweep = .soft(column: column)
      options.rules.softColumn = column
    }
    rules.scope = table.scope
    rules.maximumDeletes = table.guards.maximumDeletes
    rules.leastRows = table.guards.leastRows
    rules.leastRatio = table.guards.leastRatio
    rules.allowsEmpty = table.guards.allowsEmpty
    rules.expectedCount = table.guards.expectedCount
    rules.suspiciousCounts = table.guards.suspiciousCounts
    rules.lastCount = record?.recordCount
    options.snapshot = rules
    return options
  }

  /// A source that cuts its answers off ends them at the same round number again and again.
  private func warnOfRoundCount(_ count: UInt64, last: UInt64?) {
    guard table.kind == .snapshot, count == last, count >= 100, count.isMultiple(of: 100) else { return }
    note(
      RunNote(
        .warning,
        "table \(table.name.escapedForTerminal): the delivery has exactly \(count) records again; if its source cuts it off "
          + "there, suspicious: [\(count)] in the guards keeps rows from being swept"))
  }

  /// Notes how it went, for the next run and for whoever watches.
  private func keep(_ record: FeedRecord, _ summary: MirrorSummary.Table) {
    var record = record
    do throws(UpsurgeError) {
      guard job.databaseIsThere else { return }
      let connection = try connection()
      record.checkedAt = try RunKeeper.now(connection)
      record.exitCode = summary.exitCode
      record.message = summary.failure?.message
      if summary.exitCode == 0 || summary.exitCode == 2 {
        record.goodAt = record.checkedAt
        if !summary.loads.isEmpty { record.deliveredAt = record.checkedAt }
        record.failureCount = 0
      } else {
        record.failureCount += 1
      }
      try FeedTable.write(record, on: connection)
    } catch {
      note(
        RunNote(
          .warning,
          "how this run of table \(table.name.escapedForTerminal) went could not be noted (\(error.message)); the next one "
            + "reads everything"))
    }
  }
}
