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
  /// The loads with which those of the table share a transaction; nil where each has its own.
  var group: LoadGroup?

  /// What has come of a table so far.
  struct Turn {
    var summary: MirrorSummary.Table
    var record: FeedRecord?
    /// Loads that are still to be noted.
    var deliveries: [Delivery] = []

    init(_ table: MirrorTable) { summary = MirrorSummary.Table(name: table.name) }

    /// Why the table is not in step with its feed, as far as that is known; a guard that has spoken is no failure.
    var failure: UpsurgeError? { summary.error ?? deliveries.lazy.compactMap { $0.load.summary.error }.first }
  }

  /// A load, and what it was of.
  struct Delivery {
    var load: EndedLoad
    var names: [String]
    /// Of streams, nil.
    var files: [DeliveredFile]?
    /// Whether the file is never taken again.
    var isTakenOnce = false

    var isWhole: Bool { load.summary.isWhole && load.summary.guardRefusal == nil }
  }

  /// Brings the table in step, in transactions of its own.
  /// - Parameter afterwards: gets what is to be done when the ledgers were seen.
  func run(_ afterwards: inout Afterwards, tick: (RunControl.Progress) -> Void) -> MirrorSummary.Table {
    var turn = Turn(table)
    read(&turn, &afterwards, tick: tick)
    end(&turn, &afterwards)
    return turn.summary
  }

  /// Loads what the feed has.
  func read(_ turn: inout Turn, _ afterwards: inout Afterwards, tick: (RunControl.Progress) -> Void) {
    do throws(UpsurgeError) {
      if job.dryRun == nil, let lock = try lock() { afterwards.locks.append(lock) }
    } catch {
      // The one that is at work notes how it goes.
      turn.summary.error = error
      return
    }
    let identity = FeedIdentity(table)
    do throws(UpsurgeError) {
      let known = try known()
      turn.record = known
      if let known { try check(known.identity, identity) }
      try checkOwners()
      turn.record = known ?? newRecord
      turn.record?.identity = identity
      if let known, known.identity.sources != identity.sources {
        // What the former source has said of its delivery means nothing to this one.
        turn.record?.validators = HTTPValidators()
        turn.record?.files = []
      } else if let known, !identity.changedHeaders(from: known.identity).isEmpty {
        // To who asks now, the server may deliver other rows.
        turn.record?.validators = HTTPValidators()
      }
      if takesEachOnce {
        try takeAll(&turn, &afterwards, tick)
      } else {
        try takeLast(&turn, tick)
      }
    } catch {
      turn.summary.error = error
      if turn.record == nil, error.code != .usage {
        turn.record = newRecord
      }
    }
  }

  private var newRecord: FeedRecord {
    FeedRecord(table: table.name, ownedBy: table.ownedBy ?? "", identity: FeedIdentity(table))
  }

  /// Reads nothing, as another table has failed.
  func leaveOut(_ turn: inout Turn, because error: UpsurgeError) {
    turn.summary.error = error
    turn.record = (try? known()) ?? newRecord
  }

  /// Notes what has come of the loads.
  func end(_ turn: inout Turn, _ afterwards: inout Afterwards) {
    for delivery in turn.deliveries {
      do throws(UpsurgeError) {
        try take(delivery, &turn, &afterwards)
      } catch {
        turn.summary.error = turn.summary.error ?? error
      }
    }
    if turn.summary.unchangedSince != nil, turn.summary.replayed.read > 0, hasNothingLeft() {
      turn.summary.hadRejects = false
    }
    let isTriedAgain = judge(&turn.summary)
    if let record = turn.record, job.dryRun == nil {
      keep(record, turn.summary, isTriedAgain: isTriedAgain, &afterwards)
    }
  }

  /// Held as long as the table is at work, so that two runs do not take the same files.
  private func lock() throws(UpsurgeError) -> JobLock? {
    let mark = RunJob(table: table.name, sources: ["upsurge mirror"], options: [])
    return try JobLock.take(mark, database: SourceName.place(of: job.database))
  }

  func note(
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
    let rowState = table.hasRowState ? "row-state \(table.ownedBy ?? "")" : ""
    let text =
      RunText.encode(load.runJob(initHash: nil)) + "\(table.sweep)" + (table.scope ?? "") + rowState
      + schema.columns.map { "\n\($0.name) \($0.declaredType)" }.joined()
    return String(Array(text.utf8).withUnsafeBytes { ContentHash.hash($0) }, radix: 16)
  }

  func connection() throws(UpsurgeError) -> Connection {
    try Connection(
      path: job.database, createIfMissing: false, busyTimeoutMilliseconds: table.options.busyTimeout)
  }

  /// What earlier runs have noted of the feed.
  func known() throws(UpsurgeError) -> FeedRecord? {
    guard let connection = try lookingConnection() else { return nil }
    if let record = try FeedTable.read(table.name, ownedBy: table.ownedBy ?? "", on: connection) {
      return record
    }
    var record = try unnamed(on: connection)
    record?.ownedBy = table.ownedBy ?? ""
    return record
  }

  /// What is known of the same feed from before it had a name.
  private func unnamed(on connection: Connection) throws(UpsurgeError) -> FeedRecord? {
    guard table.ownedBy != nil, let record = try FeedTable.read(table.name, ownedBy: "", on: connection),
      FeedIdentity(table).changes(from: record.identity).isEmpty
    else { return nil }
    return record
  }

  /// - Throws: `guardRefused` where a sweep would take away what feeds with a name deliver.
  private func checkOwners() throws(UpsurgeError) {
    guard table.ownedBy == nil, table.sweep != .none, let connection = try lookingConnection() else { return }
    let owners = try RowStateTable.owners(of: table.name, on: connection)
    if owners.isEmpty { return }
    let (name, names) = (table.name.escapedForTerminal, owners.joined(separator: ", ").escapedForTerminal)
    throw UpsurgeError(
      .guardRefused,
      "rows of table \(name) are owned by \(names), and a sweep without owned-by is about all rows",
      hint:
        "give this feed a name, owned-by: NAME, so that it sweeps only its own rows; where \(names) is no more, "
        + "delete its rows of upsurge_rows")
  }

  /// nil where there is no database yet.
  func lookingConnection() throws(UpsurgeError) -> Connection? {
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
          + (table.ownedBy == nil
            ? "" : ", unless it goes by another key: then nothing is this feed's until it is delivered")
    )
  }

  /// What the files of a delivery are; nil where one is none that can be read twice.
  func look(
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
  func mayBeThere(_ record: FeedRecord, _ names: [String]) -> Bool {
    if job.verifiesAll || record.files.count != names.count { return false }
    return zip(record.files, names).allSatisfy { $0.byteCount == DeliveredFile.Stamp(path: $1)?.byteCount }
  }

  /// Whether a delivery is the last one, and what that has brought is still there as far as can be seen at once.
  func isThere(_ record: FeedRecord, _ files: [DeliveredFile]) throws(UpsurgeError) -> Bool {
    guard !job.verifiesAll, !record.files.isEmpty, record.files.count == files.count,
      zip(record.files, files).allSatisfy({ $0.hasContent(of: $1) })
    else { return false }
    return try isThere(record)
  }

  func isThere(_ record: FeedRecord) throws(UpsurgeError) -> Bool {
    guard let connection = try lookingConnection(),
      let schema = try TableSchema.read(connection, table: table.name)
    else { return false }
    // One whose ledger was not shown shows it now.
    if try !RunTable.open(connection, table: table.name).isEmpty { return false }
    if try settings() != record.settings { return false }
    if record.recordCount == 0 { return true }
    return try connection.integer("SELECT 1 FROM main.\(SQLName.quote(schema.name)) LIMIT 1") != nil
  }

  func load(
    _ names: [String], _ record: FeedRecord?, _ tick: (RunControl.Progress) -> Void,
    resume: ResumePolicy = .auto
  ) throws(UpsurgeError) -> EndedLoad {
    var load = LoadJob(
      database: job.database, table: table.name, sources: names, options: try options(record, names))
    load.options.resume = resume
    return load.runToEnd(control: control, in: group, note: note, tick: tick)
  }

  private func options(_ record: FeedRecord?, _ names: [String]) throws(UpsurgeError) -> LoadOptions {
    var options = job.options(of: table)
    if let record, names.count == 1, !job.verifiesAll, try isThere(record) {
      options.question.validators = record.validators
    }
    options.keepsHistory = job.dryRun == nil && options.durability != .off
    options.keptRunCount = table.unattended.keptRunCount
    options.isAtomic = job.atomicity != .bounded
    options.isRepeated = true
    // What is packed is stored by the time the first row could be seen.
    if table.sweep != .none { options.direct = .never }
    if group != nil {
      options.direct = .never
      // What is built anew would be so for each table that another one takes back.
      (options.indexUpkeep, options.fullTextUpkeep) = (.keep, .keep)
      // A record whose parent comes later waits for it.
      options.foreignKeys = .auto
      options.quarantinesOrphans = true
    }
    options.needsLineEnd = table.guards.needsLineEnd
    options.question.headers = table.headers
    if table.hasRowState {
      options.direct = .never
      options.rowState = try rowState()
    }
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
    if table.sweep != .none, !table.hasRowState, options.isAtomic, names.count == 1 {
      var isKnown = false
      if let record, !job.verifiesAll { isKnown = try isThere(record) }
      options.chunks = isKnown ? .use : .remember
    }
    return options
  }

  private func rowState() throws(UpsurgeError) -> RowStateRules {
    var rules = RowStateRules()
    rules.owner = table.ownedBy ?? ""
    // What stands in the place of secrets is in no name that is stored.
    if table.shownSources != table.sources { rules.source = table.shownSources.joined(separator: ", ") }
    if let connection = try lookingConnection() { rules.adoptsUnnamed = try unnamed(on: connection) != nil }
    return rules
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

  /// Notes how it went, for the next run and for whoever watches; where there is no database, at the end of the run.
  private func keep(
    _ record: FeedRecord, _ summary: MirrorSummary.Table, isTriedAgain: Bool, _ afterwards: inout Afterwards
  ) {
    var record = record
    record.exitCode = summary.exitCode
    record.message = summary.failure?.message
    let isGood = summary.exitCode == 0 || summary.exitCode == 2
    record.failureCount = isGood ? 0 : record.failureCount + (isTriedAgain ? 0 : 1)
    guard job.databaseIsThere else {
      if !isGood { afterwards.failures.append((record, table.options.busyTimeout)) }
      return
    }
    do throws(UpsurgeError) {
      let connection = try connection()
      record.checkedAt = try RunKeeper.now(connection)
      if isGood {
        record.goodAt = record.checkedAt
        if !summary.loads.isEmpty { record.deliveredAt = record.checkedAt }
      }
      try FeedTable.write(record, on: connection)
    } catch {
      // What was read of files that are taken once is noted beside this.
      let isReadAgain = !takesEachOnce && summary.loads.contains { $0.isWhole && $0.guardRefusal == nil }
      note(.unnoted(table.name, error, isReadAgain ? "the next one reads everything" : nil))
    }
  }
}

extension RunNote {
  /// Says that nobody will see how a run went.
  /// - Parameter consequence: what else comes of it.
  static func unnoted(_ table: String, _ error: UpsurgeError, _ consequence: String?) -> RunNote {
    RunNote(
      .warning,
      "how this run of table \(table.escapedForTerminal) went could not be noted (\(error.message)); "
        + (consequence ?? "upsurge status tells of the one before it"))
  }
}
