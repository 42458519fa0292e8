import Upsurge
import UpsurgeInput
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

/// What the job asks of a table's loads.
extension TableMirror {
  func load(
    _ sources: [Source], _ record: FeedRecord?, _ tick: (RunControl.Progress) -> Void,
    resume: ResumePolicy = .auto
  ) throws(UpsurgeError) -> EndedLoad {
    var load = LoadJob(
      database: job.database, table: table.name, sources: sources, options: try options(record, sources))
    load.options.transaction.resume = resume
    var end = load.runToEnd(control: control, in: group, note: note, tick: tick)
    // From its first record at most once, and then at most once with the columns that are gone.
    for _ in 0..<2 {
      guard prepareRereading(&load, behind: end) else { break }
      let first = end.summary
      group?.forget(end)
      end.acknowledge()
      end = load.runToEnd(control: control, in: group, note: note, tick: tick)
      end.countChanges(of: first)
    }
    return end
  }

  /// Whether a delivery whose columns were judged at its end is to be read once more.
  private func prepareRereading(_ load: inout LoadJob, behind end: EndedLoad) -> Bool {
    guard end.summary.signal == nil, end.summary.error?.code == .guardRefused, let feed = end.feed,
      end.summary.progress.repetition == nil || end.summary.progress.committedCount == 0,
      !load.sources.contains(where: \.isReadOnce)
    else { return false }
    switch feed.reread {
    case .none: return false
    case .all: break
    case .nulling(let columns): load.options.delivery.feed?.nulledColumns = columns
    }
    load.options.transaction.resume = .never
    return true
  }

  /// What is known of the feed, and what becomes of a delivery that is of another one.
  private func feedRules(_ record: FeedRecord?) -> FeedRules {
    var rules = FeedRules()
    rules.last = record?.shape
    rules.isDelta = table.kind == .delta
    switch table.columnsGone {
    case .refuse: rules.policy = .refuse
    case .keep: rules.policy = .keep
    case .null: rules.policy = .null
    }
    if job.acceptsChanges { rules.policy = .accept }
    return rules
  }

  func options(_ record: FeedRecord?, _ sources: [Source]) throws(UpsurgeError) -> LoadOptions {
    var options = job.options(of: table)
    if let record, sources.count == 1, !job.verifiesAll, record.validators != HTTPValidators(),
      try isThere(record)
    {
      options.environment.question.validators = record.validators
    }
    options.transaction.keepsHistory = job.dryRun == nil && options.transaction.durability != .off
    options.transaction.keptRunCount = table.unattended.keptRunCount
    options.transaction.isAtomic = job.atomicity != .bounded
    options.delivery.isRepeated = true
    // What is packed is stored by the time the first row could be seen.
    if table.sweep != .none { options.transaction.direct = .never }
    if group != nil {
      options.transaction.direct = .never
      // What is built anew would be so for each table that another one takes back.
      (options.indexes.upkeep, options.indexes.fullTextUpkeep) = (.keep, .keep)
      // A record whose parent comes later waits for it.
      options.table.foreignKeys = .auto
      options.delivery.rules.quarantinesOrphans = true
    }
    options.delivery.needsLineEnd = table.guards.needsLineEnd
    options.environment.databaseSnapshots = job.databaseSnapshots
    options.delivery.feed = feedRules(record)
    options.environment.question.headers = table.headers
    options.environment.question.mask = table.mask
    options.environment.question.environment = table.environment
    options.environment.question.foundFolders = foundFolders
    if table.hasRowState {
      options.transaction.direct = .never
      options.delivery.rules.rowState = try rowState()
    }
    guard table.kind == .snapshot else { return options }
    options.rules.needsRowids = true
    if case .soft(let column) = table.sweep { options.rules.softColumn = column }
    options.delivery.rules.snapshot = snapshotRules(record)
    // What was there before the transaction of a group shows the chunks of its only delivery.
    let isOnlyOne = group.map { $0.isOfOneTable && !takesEachOnce } ?? true
    let isOfChunks = table.sweep != .none && !table.hasRowState
    if isOfChunks, options.transaction.isAtomic, sources.count == 1, isOnlyOne {
      var isKnown = false
      if let record, !job.verifiesAll { isKnown = try isThere(record) }
      options.delivery.chunks = isKnown ? .use : .remember
    }
    return options
  }

  /// What a snapshot means for rows that it does not have, and what its guards let through.
  private func snapshotRules(_ record: FeedRecord?) -> SnapshotRules {
    var rules = SnapshotRules()
    rules.sweep = table.sweep
    rules.scope = table.scope
    rules.guards = table.guards
    rules.lastCount = record?.recordCount
    rules.owner = table.ownedBy ?? ""
    rules.acceptedDigest = job.acceptedDelivery
    rules.reading = Self.hash(optionWords)
    return rules
  }

  private func rowState() throws(UpsurgeError) -> RowStateRules {
    var rules = RowStateRules()
    rules.owner = table.ownedBy ?? ""
    rules.localEdits = table.localEdits
    // What stands in the place of secrets is in no name that is stored.
    if table.sources.contains(where: \.isReworded) {
      rules.source = table.sources.map(\.label).joined(separator: ", ")
    }
    if let state = try state() {
      rules.adoptsUnnamed = unnamed(among: try state.feeds(of: table.name)) != nil
    }
    return rules
  }

  // MARK: - What is compared with the last delivery

  /// The options by which deliveries are read and stored, as one text.
  private var optionWords: String {
    var load = LoadJob(database: job.database, table: table.name, sources: [], options: table.options)
    load.options.delivery.trailer = table.trailer
    return RunText.encode(load.runJob(initHash: nil))
  }

  private static func hash(_ text: String) -> String {
    String(Array(text.utf8).withUnsafeBytes { ContentHash.hash($0) }, radix: 16)
  }

  /// What decides, beside its content, how a delivery comes into the table: the table's options and columns. On a server also
  /// which table it is; nil where its rows may be lost.
  func settings() throws(UpsurgeError) -> String? {
    guard let state = try state(), let schema = try state.schema(of: table.name),
      let mark = try state.tableMark(of: table.name)
    else { return nil }
    let rowState =
      (table.hasRowState ? "row-state \(table.ownedBy ?? "")" : "")
      + (table.localEdits.map { " local-edits \($0.rawValue)" } ?? "")
    return Self.hash(
      optionWords + "\(table.sweep)" + (table.scope ?? "") + rowState
        + schema.columns.map { "\n\($0.name) \($0.declaredType)" }.joined() + mark)
  }
}
