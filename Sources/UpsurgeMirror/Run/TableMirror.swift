import Upsurge
import UpsurgeInput
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// Brings one table in step with its feed.
struct TableMirror {
  let job: MirrorJob
  let table: MirrorTable
  let control: RunControl
  let note: @Sendable (RunNote) -> Void
  /// Is given what became of the table before that is noted; whether the table is tried again.
  var judge: (inout MirrorSummary.Table) -> Bool = { _ in false }
  /// The loads with which those of the table share a transaction; nil where each has its own.
  var group: LoadGroup?

  /// What has come of a table so far.
  struct Turn {
    var summary: MirrorSummary.Table
    var record: FeedRecord?
    /// What was known of the feed before this run.
    var former: FeedRecord?
    /// Loads that are still to be noted.
    var deliveries: [Delivery] = []

    /// Why the table is not in step, although nothing has come and nothing has failed.
    var leftover: UpsurgeError?

    /// The table's own deadline in seconds, where that has ended it.
    var timeLimit: Double?

    init(_ table: MirrorTable) {
      summary = MirrorSummary.Table(name: table.name)
      summary.isDelta = table.kind == .delta
    }

    /// Takes back that the feed is another one, where the run has failed and nothing of that feed was stored: the table still
    /// holds the former one.
    mutating func keepFormerFeed() {
      guard failure != nil, let former, record?.identity != former.identity,
        deliveries.allSatisfy({ $0.load.summary.progress.committedCount == 0 })
      else { return }
      record?.identity = former.identity
      record?.validators = former.validators
      record?.files = former.files
      record?.settings = former.settings
    }

    /// Whether it was told to end.
    var isInterrupted: Bool {
      summary.error?.code == .interrupted || deliveries.contains { $0.load.summary.signal != nil }
    }

    /// Why the table is not in step with its feed, as far as that is known; a guard that has spoken is no failure.
    var failure: UpsurgeError? {
      if let timeLimit {
        return Deadline.error(
          "table \(summary.name.escapedForTerminal)", seconds: timeLimit, hasCommitted: false)
      }
      return summary.error ?? deliveries.lazy.compactMap { $0.load.summary.error }.first
    }
  }

  /// A load, and what it was of.
  struct Delivery {
    var load: EndedLoad
    var sources: [Source]
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
    readLocked(&turn, &afterwards, tick)
  }

  /// Reads once more where a try has failed; deliveries that were stored before it stay stored.
  func readAgain(_ turn: inout Turn, _ afterwards: inout Afterwards, tick: (RunControl.Progress) -> Void) {
    turn.summary.error = nil
    for delivery in turn.deliveries where delivery.load.summary.error != nil {
      group?.forget(delivery.load)
    }
    turn.deliveries.removeAll { $0.load.summary.error != nil }
    readLocked(&turn, &afterwards, tick)
  }

  private func readLocked(
    _ turn: inout Turn, _ afterwards: inout Afterwards, _ tick: (RunControl.Progress) -> Void
  ) {
    let identity = FeedIdentity(table)
    do throws(UpsurgeError) {
      let known = try known()
      turn.record = known
      // As long as nothing of it was ever committed, there is nothing that another feed could take for gone.
      if let known, known.hasDelivered { try check(known, identity) }
      try checkOwners()
      turn.record = known ?? newRecord
      turn.former = known
      turn.record?.identity = identity
      if let known, known.identity.sources != identity.sources {
        // What the former source has said of its delivery means nothing to this one.
        turn.record?.validators = HTTPValidators()
        turn.record?.files = []
      } else if let known, !identity.changedHeaders(from: known.identity).isEmpty {
        // To who asks now, the server may deliver other rows.
        turn.record?.validators = HTTPValidators()
      }
      if let known, identity.hasOtherSecrets(than: known.identity) { forgetDelivery(&turn) }
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

  /// Where a secret of the source is another one, it may lead to other rows: nothing that was noted of the last delivery,
  /// its files or its chunks is taken for the same. That is no refusal, as a password is renewed from time to time.
  private func forgetDelivery(_ turn: inout Turn) {
    turn.record?.validators = HTTPValidators()
    turn.record?.files = []
    turn.record?.settings = nil
    note(
      RunNote(
        .warning,
        "table \(table.name.escapedForTerminal): the value of ${…} in its source has changed, so all of it is read; "
          + "if that is another feed and no new password, "
          + (table.sweep == .none
            ? "rows of the former one stay beside its own"
            : "rows of the former one are swept, as far as the guards allow")))
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
    if turn.summary.replayed.read > 0, hasNothingLeft() {
      turn.summary.hadRejects = false
      turn.record?.hasRejects = false
    }
    turn.summary.error = turn.summary.error ?? turn.leftover
    turn.summary.hide(table.mask)
    let isTriedAgain = judge(&turn.summary)
    turn.keepFormerFeed()
    guard let record = turn.record, job.dryRun == nil else { return }
    if !keep(record, turn.summary, isTriedAgain: isTriedAgain, &afterwards) {
      // The marks of its loads stay: they say that the table is no longer what the feed's record knows.
      afterwards.loads.removeAll { load in turn.deliveries.contains { $0.load === load } }
    }
  }

  /// Held as long as the table is at work, so that two runs do not take the same files.
  func lock() throws(UpsurgeError) -> JobLock? {
    let mark = RunJob(table: table.name, sources: [JobLock.mirror], options: [])
    return try JobLock.take(mark, database: job.load(of: table).databasePlace)
  }

  /// Notes a delivery as the last one.
  /// - Parameter isFirst: whether none was loaded before it in this run.
  func note(
    _ load: RunSummary, _ files: [DeliveredFile], in record: inout FeedRecord, isFirst: Bool
  ) throws(UpsurgeError) {
    noteCount(load, in: &record, isFirst: isFirst)
    record.files = files
    record.settings = try settings()
    record.disturbedBy = nil
  }

  /// Notes how many records the last delivery had, and whether any of them was rejected.
  func noteCount(_ load: RunSummary, in record: inout FeedRecord, isFirst: Bool) {
    warnOfRoundCount(load.ledger.wanted, last: record.recordCount)
    record.recordCount = load.ledger.wanted
    record.hasRejects = load.exitCode == 2 || !isFirst && record.hasRejects
  }

  /// The notes of the table, to be written.
  func writableState() throws(UpsurgeError) -> any MirrorState {
    if let server = try serverState() { return server }
    return try Connection(
      path: job.database, createIfMissing: false,
      busyTimeoutMilliseconds: table.options.transaction.busyTimeout)
  }

  /// The notes of the table; nil where there is no database yet.
  func state() throws(UpsurgeError) -> (any MirrorState)? {
    if let server = try serverState() { return server }
    return try lookingConnection()
  }

  private func serverState() throws(UpsurgeError) -> ServerState? {
    try (job.serverShelves ?? ServerShelves()).shelf(of: job.load(of: table)).map(ServerState.init)
  }

  /// What earlier runs have noted of the feed.
  func known() throws(UpsurgeError) -> FeedRecord? {
    guard let state = try state() else { return nil }
    let feeds = try state.feeds(of: table.name)
    if let record = feeds.first(where: { $0.ownedBy == table.ownedBy ?? "" }) { return record }
    var record = unnamed(among: feeds)
    record?.ownedBy = table.ownedBy ?? ""
    return record
  }

  /// What is known of the same feed from before it had a name.
  func unnamed(among feeds: [FeedRecord]) -> FeedRecord? {
    guard table.ownedBy != nil, let record = feeds.first(where: { $0.ownedBy.isEmpty }),
      FeedIdentity(table).changes(from: record.identity, fields: record.shape?.fields ?? []).isEmpty
    else { return nil }
    return record
  }

  /// - Throws: `guardRefused` where a sweep would take away what feeds with a name deliver.
  private func checkOwners() throws(UpsurgeError) {
    guard table.ownedBy == nil, table.sweep != .none, let owners = try state()?.rowOwners(of: table.name),
      !owners.isEmpty
    else { return }
    let (name, names) = (table.name.escapedForTerminal, owners.joined(separator: ", ").escapedForTerminal)
    throw UpsurgeError(
      .guardRefused,
      "rows of table \(name) are owned by \(names), and a sweep without owned-by is about all rows",
      hint:
        "give this feed a name, owned-by: NAME, so that it sweeps only its own rows; where \(names) is no more, "
        + "delete its rows of upsurge_rows")
  }

  /// nil where there is no database yet, or it is no file.
  func lookingConnection() throws(UpsurgeError) -> Connection? {
    if job.isOnServer || !job.databaseIsThere { return nil }
    return try Connection.looking(at: job.database)
  }

  /// - Throws: `guardRefused` where it is another feed than it was.
  private func check(_ last: FeedRecord, _ now: FeedIdentity) throws(UpsurgeError) {
    let changes = now.changes(from: last.identity, fields: last.shape?.fields ?? [])
    if changes.isEmpty || job.acceptsChanges { return }
    throw UpsurgeError(
      .guardRefused,
      "the feed of table \(table.name.escapedForTerminal) has changed: "
        + "\(changes.joined(separator: ", ").escapedForTerminal)",
      hint: table.sweep == .none
        ? "\(.acceptChange) goes on with it as it is now"
        : "\(.acceptChange) goes on with it as it is now; rows that the former feed has brought and this one does not are swept"
          + (table.ownedBy == nil
            ? "" : ", unless it goes by another key: then nothing is this feed's until it is delivered")
    )
  }

  /// What the files of a delivery are; nil where one cannot be read twice.
  func look(
    at sources: [Source], known: [DeliveredFile]
  ) throws(UpsurgeError) -> [DeliveredFile]? {
    var files: [DeliveredFile] = []
    for source in sources {
      guard let path = source.filePath else { return nil }
      let file = try DeliveredFile.look(at: path, known: KnownFiles(known)) {
        control.cancellationSignal != nil
      }
      guard let file else { return nil }
      files.append(file)
    }
    return files
  }

  /// Whether the sizes of files allow that they are the last delivery; else they are not.
  func mayBeThere(_ record: FeedRecord, _ sources: [Source]) -> Bool {
    if job.verifiesAll || record.disturbedBy != nil || record.files.count != sources.count { return false }
    return zip(record.files, sources).allSatisfy { $0.byteCount == DeliveredFile.Stamp($1)?.byteCount }
  }

  /// Whether a delivery is the last one, and what that has brought is still there as far as can be seen at once.
  func isThere(_ record: FeedRecord, _ files: [DeliveredFile]) throws(UpsurgeError) -> Bool {
    guard !job.verifiesAll, !record.files.isEmpty, record.files.count == files.count,
      zip(record.files, files).allSatisfy({ $0.hasContent(of: $1) })
    else { return false }
    return try isThere(record)
  }

  func isThere(_ record: FeedRecord) throws(UpsurgeError) -> Bool {
    if record.disturbedBy != nil { return false }
    guard let state = try state(), try state.schema(of: table.name) != nil else { return false }
    // One whose ledger was not shown shows it now.
    if try !state.openRuns(of: table.name).isEmpty { return false }
    guard let settings = try settings(), settings == record.settings else { return false }
    if try needsRepair() { return false }
    if record.recordCount == 0 || table.localEdits == .keep { return true }
    return try state.holdsRows(table.name)
  }

  /// Whether rows of the last delivery were edited here, and are to be brought back.
  func needsRepair() throws(UpsurgeError) -> Bool {
    guard table.localEdits == .repair, let state = try state() else { return false }
    return try state.holdsEdits(of: table.name, ownedBy: table.ownedBy ?? "")
  }
}
