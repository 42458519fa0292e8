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
  /// Is given what became of the table in front of that being noted; whether the table is tried again.
  var judge: (inout MirrorSummary.Table) -> Bool = { _ in false }

  /// - Parameter afterwards: gets what is to be done when the ledgers were seen.
  func run(_ afterwards: inout Afterwards, tick: (RunControl.Progress) -> Void) -> MirrorSummary.Table {
    var summary = MirrorSummary.Table(name: table.name)
    do throws(UpsurgeError) {
      if job.dryRun == nil, let lock = try lock() { afterwards.locks.append(lock) }
    } catch {
      // The one that is at work notes how it goes.
      summary.error = error
      return summary
    }
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
    let isTriedAgain = judge(&summary)
    if let record, job.dryRun == nil { keep(record, summary, isTriedAgain: isTriedAgain) }
    return summary
  }

  /// Held as long as the table is at work, so that two runs do not take the same files.
  private func lock() throws(UpsurgeError) -> JobLock? {
    let mark = RunJob(table: table.name, sources: ["upsurge mirror"], options: [])
    return try JobLock.take(mark, database: SourceName.place(of: job.database))
  }

  /// Whether a file is a delivery of its own, and never taken again: of a delta, whose files would set rows back.
  private var takesEachOnce: Bool {
    let isFiles = !table.sources.contains { SourceName.isStandardInput($0) || SourceName.isFeed($0) }
    return table.kind == .delta && isFiles || table.sources.contains(where: FolderListing.isFolder)
  }

  /// Takes what stands there, unless it is what was taken last.
  private func takeLast(
    _ record: inout FeedRecord, _ summary: inout MirrorSummary.Table, _ afterwards: inout Afterwards,
    _ tick: (RunControl.Progress) -> Void
  ) throws(UpsurgeError) {
    let names = try SourceList.expand(table.sources)
    var files: [DeliveredFile]?
    var looking: BackgroundLook?
    defer { looking?.wait() }
    if mayBeThere(record, names) {
      files = try look(at: names, known: record.files)
      if let files, try isThere(record, files) { return noteUnchanged(record, &summary) }
    } else {
      looking = try BackgroundLook(names, control: control)
    }
    var end = try load(names, record, tick)
    var load = end.summary
    if load.resumedCount > 0, load.isWhole, load.guardRefusal != nil {
      // It went on behind a commit. All of it is read once more, to see which rows are gone; the ledger stays that of
      // the records.
      end.acknowledge()
      end = try self.load(names, record, tick, resume: .never)
      load.guardRefusal = end.summary.guardRefusal
      load.error = end.summary.error
      load.signal = end.summary.signal
      load.ledger.swept += end.summary.ledger.swept
    }
    afterwards.loads.append(end)
    if load.response?.isNotModified == true { return noteUnchanged(record, &summary) }
    summary.loads.append(load)
    guard load.isWhole, load.guardRefusal == nil else { return }
    files = looking?.files() ?? files
    let isStill = zip(names, files ?? []).allSatisfy { $1.isStill(atPath: $0) }
    try note(load, isStill ? files ?? [] : [], in: &record)
    record.validators = names.count == 1 ? load.response?.validators ?? HTTPValidators() : HTTPValidators()
  }

  private func noteUnchanged(_ record: FeedRecord, _ summary: inout MirrorSummary.Table) {
    summary.unchangedSince = record.deliveredAt ?? record.checkedAt
    summary.hadRejects = record.exitCode == 2
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
      if control.cancellationSignal != nil {
        throw UpsurgeError(.interrupted, "interrupted in front of \(SourceName.shown(path))")
      }
      let file = try delivered(path, known: taken)
      // One whose ledger was not shown shows it now.
      if !isTaken(file, taken, last: record.files.first) || unseen.contains(file.name) {
        let end = try load([path], record, tick)
        let load = end.summary
        summary.loads.append(load)
        guard load.isWhole, load.guardRefusal == nil, job.dryRun == nil else {
          afterwards.loads.append(end)
          if load.isWhole, load.guardRefusal == nil { continue }
          return
        }
        // Its mark stays until the file is noted, so that it is not loaded again.
        guard try delivered(path, known: []).hasContent(of: file) else {
          throw UpsurgeError(
            .badInput, "\(SourceName.shown(path)) was changed while it was loaded",
            hint: "write it under a name that ends with .tmp, and rename it")
        }
        try TakenFiles.add(file, of: table.name, on: connection())
        try note(load, [file], in: &record)
        taken.append(file)
        afterwards.add(end)
      }
      afterwards.files.append((path, file, table.folder.done))
    }
    if summary.loads.isEmpty { noteUnchanged(record, &summary) }
  }

  private func delivered(_ path: String, known: [DeliveredFile]) throws(UpsurgeError) -> DeliveredFile {
    let file = try DeliveredFile.look(at: path, known: known) { control.cancellationSignal != nil }
    if let file { return file }
    throw UpsurgeError(
      .unreadableInput, "\(SourceName.shown(path)) is no regular file, or changes while it is read",
      hint: "write it under a name that ends with .tmp, and rename it")
  }

  /// Whether a file was taken before. Changes that come again would set rows back; a snapshot that comes again behind
  /// another one is the truth again.
  private func isTaken(_ file: DeliveredFile, _ taken: [DeliveredFile], last: DeliveredFile?) -> Bool {
    if table.kind == .delta { return taken.contains { $0.hasContent(of: file) } }
    return last.map { $0.hasContent(of: file) } ?? false
      || taken.contains {
        $0.name == file.name && $0.stamp.modified == file.stamp.modified && $0.hasContent(of: file)
      }
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

  private func note(
    _ load: RunSummary, _ files: [DeliveredFile], in record: inout FeedRecord
  ) throws(UpsurgeError) {
    warnOfRoundCount(load.ledger.read, last: record.recordCount)
    record.recordCount = load.ledger.read
    record.files = files
    record.settings = try settings()
  }

  /// What decides, beside its content, how a delivery comes into the table: the table's options and columns.
  private func settings() throws(UpsurgeError) -> String? {
    guard let connection = try lookingConnection(),
      let schema = try TableSchema.read(connection, table: table.name)
    else { return nil }
    let load = LoadJob(database: job.database, table: table.name, sources: [], options: table.options)
    let text =
      RunText.encode(load.runJob(initHash: nil)) + "\(table.sweep)" + (table.scope ?? "")
      + schema.columns.map { "\n\($0.name) \($0.declaredType)" }.joined()
    return String(Array(text.utf8).withUnsafeBytes { ContentHash.hash($0) }, radix: 16)
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

  /// Whether the sizes of files allow that they are the last delivery; else they are not.
  private func mayBeThere(_ record: FeedRecord, _ names: [String]) -> Bool {
    if job.verifiesAll || record.files.count != names.count { return false }
    return zip(record.files, names).allSatisfy { $0.byteCount == DeliveredFile.Stamp(path: $1)?.byteCount }
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
    if try settings() != record.settings { return false }
    if record.recordCount == 0 { return true }
    return try connection.integer("SELECT 1 FROM main.\(SQLName.quote(schema.name)) LIMIT 1") != nil
  }

  private func load(
    _ names: [String], _ record: FeedRecord?, _ tick: (RunControl.Progress) -> Void,
    resume: ResumePolicy = .auto
  ) throws(UpsurgeError) -> EndedLoad {
    var load = LoadJob(
      database: job.database, table: table.name, sources: names, options: try options(record, names))
    load.options.resume = resume
    return load.runToEnd(control: control, note: note, tick: tick)
  }

  private func options(_ record: FeedRecord?, _ names: [String]) throws(UpsurgeError) -> LoadOptions {
    var options = table.options
    if let record, names.count == 1, !job.verifiesAll, try isThere(record) {
      options.question.validators = record.validators
    }
    options.dryRun = job.dryRun ?? options.dryRun
    options.keepsHistory = job.dryRun == nil && options.durability != .off
    options.keptRunCount = table.unattended.keptRunCount
    options.isAtomic = job.atomicity != .bounded
    options.isRepeated = true
    // What is packed is stored by the time the first row could be seen.
    if table.sweep != .none { options.direct = .never }
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
    if table.sweep != .none, options.isAtomic, names.count == 1 {
      var isKnown = false
      if let record, !job.verifiesAll { isKnown = try isThere(record) }
      options.chunks = isKnown ? .use : .remember
    }
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
  private func keep(_ record: FeedRecord, _ summary: MirrorSummary.Table, isTriedAgain: Bool) {
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
      } else if !isTriedAgain {
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
