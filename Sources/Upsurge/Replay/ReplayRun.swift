/// One replay: goes through the kept records in the order of arrival, a page at a time, each page in a transaction; then
/// through the rejected ones (`ReplayRun+Rejects`).
///
/// A page holds neighbours of one table with the same rules. The writer takes its records out of the quarantine as
/// it stores them; what is still there afterwards was rejected or has no place.
struct ReplayRun {
  let job: ReplayJob
  let control: RunControl
  let note: @Sendable (RunNote) -> Void
  var summary: ReplaySummary
  private var rejectCounts: [Reject.Code: UInt64] = [:]
  /// Forgets the ledger that is kept for the next replay, once this one's was seen.
  var ending: (() throws(UpsurgeError) -> Void)?

  /// So many rejects are shown.
  private static let shownRejectLimit = 100
  /// So many reasons to wait are told apart.
  private static let reasonLimit = 100

  init(job: ReplayJob, control: RunControl, note: @escaping @Sendable (RunNote) -> Void) {
    self.job = job
    self.control = control
    self.note = note
    summary = ReplaySummary(database: SourceName.redacted(job.database), file: job.file)
  }

  /// - Throws: `unreadableInput` when there is no database; what writing throws.
  mutating func replayAll() throws(UpsurgeError) {
    defer { summary.rejectsByReason = RunSummary.sorted(rejectCounts) }
    try job.options.validate()
    if let provider = StoreRegistry.provider(of: job.database) { return try replayAll(by: provider) }
    let options = job.options
    let connection = try Connection(
      path: job.database, createIfMissing: false, busyTimeoutMilliseconds: options.busyTimeout,
      vfs: options.vfsName, isCancelled: { [control] in control.cancellationSignal != nil })
    let store = SQLiteReplay(connection)
    // Before anything is written, so that a file that cannot be read costs nothing.
    if job.file == nil, try !QuarantineTable.exists(connection), try keepsNothing(store) { return }
    control.note(stage: .replaying)
    if let file = job.file { try RejectFileReader.check(file) }
    try connection.configure(
      durability: options.durability, pageCacheByteCount: options.memory.byteCount / 4)
    defer { connection.noteSwitchToWAL(of: job.database, note) }
    if let file = job.file {
      try replay(file: file, on: store)
    } else {
      let total = try QuarantineTable.exists(connection) ? QuarantineTable.count(connection) : 0
      try replayKept(on: store, others: total) { (run, keeper) throws(UpsurgeError) in
        try run.replayQuarantine(on: connection, keeper: keeper)
      }
    }
    // Another program that reads may keep the log; the rows are committed all the same.
    control.note(stage: .finishing)
    if connection.hasCommitted { try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
  }

  /// Tries what a server keeps, or the records of a file in it.
  private mutating func replayAll(by provider: any StoreProvider) throws(UpsurgeError) {
    guard let provider = provider as? any ReplayProvider else {
      throw UpsurgeError(.usage, "no record can be tried again in \(provider.name)")
    }
    if let file = job.file { try RejectFileReader.check(file) }
    let store = try provider.replay(
      for: job, ReadCancellation(asking: { [control] in control.cancellationSignal != nil }), note: note)
    if job.file == nil, try keepsNothing(store) { return }
    control.note(stage: .replaying)
    if let file = job.file { return try replay(file: file, on: store) }
    try replayKept(on: store)
  }

  /// Says so where there is nothing to try again.
  private func keepsNothing(_ store: any ReplayStore) throws(UpsurgeError) -> Bool {
    guard try store.shelves().isEmpty, try !store.marks().contains(where: \.isUnseen) else { return false }
    note(RunNote(.info, "no record is kept in \(summary.database)"))
    return true
  }

  /// Tries what the database keeps.
  /// - Parameters:
  ///   - others: how many records there are besides the rejects.
  ///   - replayOthers: tries them.
  private mutating func replayKept(
    on store: any ReplayStore, others: UInt64 = 0,
    _ replayOthers: (inout ReplayRun, ReplayKeeper) throws(UpsurgeError) -> Void = { _, _ in }
  ) throws(UpsurgeError) {
    let keeper = ReplayKeeper(store)
    try keeper.takeOver()
    goOn(after: keeper.progress)
    ending = { () throws(UpsurgeError) in try keeper.acknowledge() }
    let total = try store.shelves().reduce(summary.resumedCount + others) { $0 + $1.count }
    control.note(totalRecords: total)
    try replayOthers(&self, keeper)
    // What is rejected from now on is for the next replay.
    for shelf in try store.shelves() { try replayRejects(of: shelf, on: store, keeper: keeper) }
  }

  /// Begins with the ledger of an earlier replay that ended early, or whose ledger nobody has seen.
  mutating func goOn(after earlier: ReplayProgress) {
    summary.resumedCount = earlier.ledger.read
    if summary.resumedCount == 0 { return }
    for (name, progress) in earlier.tables {
      summary.tables[table(named: name)].ledger += progress.ledger
      rejectCounts.merge(progress.rejectsByReason, uniquingKeysWith: +)
      summary.warnings.merge(progress.warnings)
    }
  }

  private mutating func replayQuarantine(
    on connection: Connection, keeper: ReplayKeeper
  ) throws(UpsurgeError) {
    guard try QuarantineTable.exists(connection) else { return }
    // What is kept from now on is for the next replay.
    let lastID = try QuarantinedRecord.lastID(connection)
    var after: Int64 = 0
    while control.cancellationSignal == nil,
      let last = try replay(
        after: after, through: lastID, count: job.options.pageRecordLimit, on: connection, keeper: keeper)
    {
      after = last
      noteProgress()
    }
  }

  func noteProgress() {
    let ledger = summary.ledger
    control.note(records: ledger.read, rejects: ledger.rejected, stage: .replaying)
  }

  /// Replays the next page.
  /// - Returns: the id of its last record; nil without one.
  private mutating func replay(
    after: Int64, through: Int64, count: Int, on connection: Connection, keeper: ReplayKeeper
  ) throws(UpsurgeError) -> Int64? {
    try connection.beginWriting()
    var records: [QuarantinedRecord] = []
    do throws(UpsurgeError) {
      records = try QuarantinedRecord.page(
        connection, after: after, through: through, count: count,
        recordByteLimit: job.options.recordByteLimit)
      guard let last = records.last else {
        try connection.execute("ROLLBACK")
        return nil
      }
      if let byteCount = last.omittedByteCount {
        try connection.execute("ROLLBACK")
        take(ReplayPage(last, because: .tooLarge, job.options.tooLarge(byteCount).text))
        return last.id
      }
      var page = try ReplayPage(records, on: connection, options: job.options)
      try page.store(on: connection, keeper: keeper)
      take(page)
      return last.id
    } catch {
      if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
      guard error.code == .badInput, let last = records.last else { throw error }
      // The page cannot be committed: foreign keys are open, or a trigger rolled it back. One record is to blame.
      if records.count == 1 {
        take(ReplayPage(records[0], because: Reject.Code(rawValue: "transaction"), error.message))
      } else {
        for record in records {
          _ = try replay(
            after: record.id - 1, through: record.id, count: 1, on: connection, keeper: keeper)
        }
      }
      return last.id
    }
  }

  /// Adds what became of a page to the summary.
  private mutating func take(_ page: ReplayPage) {
    let index = table(named: page.table)
    summary.tables[index].ledger += page.ledger
    summary.bytesRead += page.byteCount
    for (reason, columns) in page.waiting { wait(reason, columns, table: index) }
    for reject in page.rejects { note(reject) }
    add(page.stages)
  }

  /// Adds what became of a page of rejects.
  mutating func take(_ page: RejectPage) {
    let index = table(named: page.table)
    summary.tables[index].ledger += page.ledger
    for (record, fate) in zip(page.records, page.fates) {
      summary.bytesRead += UInt64(record.raw.count)
      switch fate {
      case .gone: break
      case .rejected(let reject): note(reject)
      case .untried(let code, let reason):
        rejectCounts[code, default: 0] += 1
        summary.tables[index].note(untried: code, reason, at: record.position)
      }
    }
    summary.warnings.merge(page.warnings)
    add(page.stages)
    noteProgress()
  }

  /// The place of a table in the summary.
  private mutating func table(named name: String) -> Int {
    if let index = summary.tables.firstIndex(where: { SQLName.isSame($0.name, name) }) { return index }
    summary.tables.append(ReplaySummary.Table(name: name))
    return summary.tables.count - 1
  }

  private mutating func note(_ reject: Reject) {
    rejectCounts[reject.code, default: 0] += 1
    if summary.rejects.count < Self.shownRejectLimit { summary.rejects.append(reject) }
  }

  private mutating func add(_ stages: [(name: String, seconds: Double)]) {
    for (name, seconds) in stages {
      if let stage = summary.stages.firstIndex(where: { $0.name == name }) {
        summary.stages[stage].seconds += seconds
      } else {
        summary.stages.append((name, seconds))
      }
    }
  }

  private mutating func wait(_ reason: String, _ columns: [String], table: Int) {
    let known = summary.tables[table].waiting
    if let index = known.firstIndex(where: { $0.reason == reason }) {
      summary.tables[table].waiting[index].count += 1
    } else if known.count < Self.reasonLimit {
      summary.tables[table].waiting.append(.init(reason: reason, columns: columns, count: 1))
    } else if known.count == Self.reasonLimit {
      summary.tables[table].waiting.append(.init(reason: "other columns are missing", columns: [], count: 1))
    } else {
      summary.tables[table].waiting[known.count - 1].count += 1
    }
  }
}
