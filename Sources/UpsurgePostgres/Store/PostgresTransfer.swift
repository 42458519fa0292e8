import Upsurge
import UpsurgeRecords
import UpsurgeState
import UpsurgeStorage

/// Makes failures of errors of ours, for who is there before the transactions.
private final class Refusals {
  weak var transactions: RunTransactions?

  func refuse(_ error: UpsurgeError) -> PostgresFailure {
    transactions?.refuse(error) ?? PostgresFailure(.other, error.message)
  }
}

/// Takes records into a table of PostgreSQL: each transaction stores a batch, the rejects and the place in the input together.
/// `GatheringTransfer` gives it large ones.
final class PostgresTransfer: StoreTransfer {
  let store: PostgresStore
  let table: TargetTable
  let context: StoreContext
  let transactions: RunTransactions
  let files: RunFiles
  let batches: BatchStore
  let kept: KeptRecords
  /// Is told each row that changes; nil where nobody asks for that.
  let told: ToldRows?
  /// The connections of a run that has several.
  let lanes: RunLanes?
  /// Removes what a snapshot no longer has; nil where the records are none.
  let snapshot: SnapshotSweep?
  var inputPlace = InputPlace()
  var last: InputPlace.Record?
  private var isDone = false
  var storeSeconds = 0.0

  var ledger = Ledger()
  var committedLedger = Ledger()
  var commitCount = 0
  var rejectsByReason: [Reject.Code: UInt64] = [:]
  var fatalReject: Reject?
  var hasMetTombstone = false
  var lastCommitted: Position?
  private(set) var mustBeginAgain = false
  var committedRejects: [Reject.Code: UInt64] = [:]
  /// Of a run that keeps none.
  var firstRejects = FirstRejects()
  /// When the run would have begun, had it not been interrupted.
  private let beganAt: Double

  init(
    _ store: PostgresStore, _ table: TargetTable, _ input: LoadInput, _ beginning: Beginning,
    _ context: StoreContext
  ) throws(UpsurgeError) {
    var table = table
    (self.store, self.context, files) = (store, context, beginning.files)
    let options = context.options
    store.noteRights(for: table)
    kept = try KeptRecords(store, table, context, resumed: beginning.resumption)
    let changes = try ChangeFile.make(options.output, resumed: beginning.resumption, note: context.note)
    let refusals = Refusals()
    told = changes.map { ToldRows($0, refuse: refusals.refuse) }
    // Judged before the run is written down: a run that never begins leaves no row.
    snapshot = try store.snapshotSweep(of: table, beginning.source, told, context)
    let setting = try store.laneSetting(of: table, beginning, context)
    transactions = try store.transactions(for: &table, input, beginning, context, over: setting)
    refusals.transactions = transactions
    snapshot?.rowNotes?.run = transactions.delivery.flatMap { Int64($0) }
    lanes = try store.lanes(of: table, transactions, beginning, isSeveral: setting != nil)
    self.table = table
    batches = BatchStore(
      table, store.capabilities, walks: options.tuning.walks, told: told,
      shownName: store.noteName(of: table.name))
    beganAt = MonotonicClock.seconds - (beginning.resumption?.progress.seconds ?? 0)
    announce()
    guard let run = beginning.resumption else { return }
    (ledger, committedLedger) = (run.progress.ledger, run.progress.ledger)
    (rejectsByReason, committedRejects) = (run.progress.rejectsByReason, run.progress.rejectsByReason)
    hasMetTombstone = run.progress.hasMetTombstone
    if let lanes { try goOn(lanes) }
    lastCommitted = run.position.position.record == nil ? nil : run.position.position
    last = lastCommitted == nil ? nil : InputPlace.Record(run.position)
    inputPlace.goOn(run.position, run.progress.warnings)
  }

  var options: LoadOptions { context.options }

  /// Where each row that changes is told; nil where nobody asks for that.
  var changes: ChangeFile? { told?.file }

  // MARK: What became of the records

  var rejects: (any RejectSink)? { kept.file }
  var hasCommittedAll: Bool { ledger == committedLedger && ledger.read > 0 }
  var isInTransaction: Bool { transactions.isOpen }

  // MARK: Batches

  /// Adds columns that records of the next batch speak of for the first time.
  func add(_ columns: [ColumnTarget]) {
    batches.add(columns)
    lanes?.add(columns)
  }

  /// How the next batches are encoded, as far as that is known.
  var recipe: RowRecipe? { lanes?.walk?.recipe ?? batches.recipe }

  /// Stores a batch whose records were encoded before, where they were.
  func write(_ batch: inout Batch, _ ahead: AheadRows?) throws(UpsurgeError) {
    batches.ahead = ahead
    lanes?.walk?.ahead = ahead
    defer {
      batches.ahead = nil
      lanes?.walk?.ahead = nil
    }
    try store(&batch)
  }

  func write(_ batch: inout Batch) throws(UpsurgeError) { try store(&batch) }

  func commitWhileIdle() throws(UpsurgeError) {}

  /// Stores a batch and commits it with its place, unless all of the run is one transaction. Bad records may make several of one.
  private func store(_ batch: inout Batch) throws(UpsurgeError) {
    let watch = MonotonicClock.seconds
    defer { storeSeconds += MonotonicClock.seconds - watch }
    if let lanes { return try storeRound(&batch, over: lanes) }
    var place = inputPlace
    place.begin(batch)
    var first = try place.firstNew(of: batch, sourceNames: context.sourceNames)
    var parts = BatchParts(
      first.record..<batch.recordCount, store.capabilities, isWhole: !transactions.commitsParts)
    while first.record < batch.recordCount || first.reject < batch.rejects.count {
      // Rejects of the parser may stand alone.
      let next = parts.next ?? BatchPart(records: batch.recordCount..<batch.recordCount, savepoints: .none)
      var part = RunPart(self, next, firstReject: first.reject)
      guard try store(&part, of: &batch, place, &parts) else { continue }
      if !next.records.isEmpty { parts.stored(upTo: part.nextRecord) }
      first = (part.nextRecord, part.nextReject)
    }
    place.prove(batch, recordCount: batch.recordCount)
    place.allWarnings.merge(batch.warnings)
    inputPlace = place
    try storeChunks()
  }

  /// Stores a part of a batch.
  /// - Parameter place: where the batch begins.
  /// - Returns: false where it was rolled back because of a record, which `parts` knows then.
  private func store(
    _ part: inout RunPart, of batch: inout Batch, _ place: InputPlace, _ parts: inout BatchParts
  ) throws(UpsurgeError) -> Bool {
    var (placed, end) = (place, last)
    do throws(UpsurgeError) {
      try withUnsafeMutablePointer(to: &batch) { (batch) throws(UpsurgeError) in
        try transactions.store { (connection) throws(PostgresFailure) in
          try part.store(batch.pointee, on: connection)
          placed = place
          placed.prove(batch.pointee, recordCount: part.nextRecord)
          end = Self.last(of: batch.pointee, part.nextRecord, part.nextReject) ?? last
          let position = placed.position(of: end, sourceNames: context.sourceNames)
          return state(position, part.ledger, part.rejectsByReason, placed, part.hasMetTombstone)
        }
      }
    } catch {
      guard let failure = part.failure, (try? parts.failed(failure)) != nil else { throw error }
      if transactions.commitsParts { changes?.didRollBack() }
      batches.forget()
      return false
    }
    (ledger, rejectsByReason, last, inputPlace) = (part.ledger, part.rejectsByReason, end, placed)
    (firstRejects, hasMetTombstone) = (part.firstRejects, part.hasMetTombstone)
    if transactions.commitsParts { try didCommit() }
    return true
  }

  /// The last one of a batch's first records and rejects.
  static func last(
    of batch: borrowing Batch, _ recordCount: Int, _ rejectCount: Int
  ) -> InputPlace.Record? {
    let record = recordCount > 0 ? InputPlace.Record(batch, record: recordCount - 1) : nil
    if rejectCount == 0 { return record }
    let rejected = InputPlace.Record(batch.rejects[rejectCount - 1], sourceIndex: batch.origin.sourceIndex)
    return (rejected.number ?? 0) > (record?.number ?? 0) ? rejected : record
  }

  /// What the run's row says after a commit.
  func state(
    _ position: RunPosition, _ ledger: Ledger, _ rejects: [Reject.Code: UInt64], _ place: InputPlace,
    _ hasMetTombstone: Bool, isWhole: Bool = false
  ) -> RunState {
    var position = position
    position.madeTable = table.making != nil
    position.lanes = lanes?.position
    position.outputLengths = kept.earlierPosition.rejectsLengths(
      with: kept.file?.length, in: options.rejects.target?.place)
    if let changes, let length = changes.length { position.outputLengths[changes.option] = length }
    var progress = RunProgress()
    (progress.ledger, progress.rejectsByReason) = (ledger, rejects)
    progress.warnings = isWhole ? place.allWarnings : place.warnings
    progress.hasMetTombstone = hasMetTombstone
    progress.guardRefusal = snapshot?.refusal.map { RunProgress.GuardRefusal($0) }
    progress.localEdits = snapshot?.localEdits ?? LocalEditCounts()
    progress.seconds = MonotonicClock.seconds - beganAt
    return RunState(position: position, progress: progress)
  }

  private func didCommit() throws(UpsurgeError) {
    commitCount += 1
    (committedLedger, committedRejects) = (ledger, rejectsByReason)
    batches.didCommit()
    lastCommitted = last.map { inputPlace.position(of: $0, sourceNames: context.sourceNames).position }
    try kept.file?.didCommit()
    try changes?.didCommit()
  }

  // MARK: The end

  /// Whether several connections have committed what is not written down yet.
  var canSeal: Bool { lanes.map { $0.canSeal && !$0.hasFailed } ?? false }

  func settle() throws(UpsurgeError) {
    if let lanes { try sealLast(lanes, isWhole: false) }
  }

  func sweep() throws(UpsurgeError) {
    guard let snapshot, !transactions.commitsParts else { return }
    try transactions.perform { (connection) throws(PostgresFailure) in try judge(snapshot, connection) }
    ledger.swept += snapshot.sweptCount
  }

  private func judge(_ snapshot: SnapshotSweep, _ connection: PostgresConnection) throws(PostgresFailure) {
    let transactions = transactions
    if told != nil || snapshot.rowNotes != nil {
      // A delivery without records has not met the table yet.
      try batches.look(connection)
      told?.end(of: context.sourceNames.last ?? "")
    }
    snapshot.rowNotes?.written = batches.writtenNames
    try snapshot.end(ledger, connection) { transactions.refuse($0) }
  }

  func finish(isInterrupted: Bool) throws(UpsurgeError) {
    context.willFinish()
    if let lanes { try sealLast(lanes, isWhole: !isInterrupted) }
    if !isInterrupted, table.making != nil {
      context.willBuild("the key and indexes of \(table.name.shown.escapedForTerminal)")
    }
    let ending = try transactions.finish(isInterrupted: isInterrupted, endState) {
      [self] (connection) throws(PostgresFailure) -> NewTableWriter.Ending in
      try checkRows(connection)
      if let snapshot, transactions.commitsParts { try judge(snapshot, connection) }
      try lanes?.remove(connection)
      let ending = try batches.finishNewTable(connection)
      if ending == .complete { try snapshot?.remember(ledger, connection) }
      try bringChangesToDisk()
      return ending
    }
    if ending == .keyComesTwice {
      mustBeginAgain = true
      throw UpsurgeError(.database, "a key comes twice in the new table")
    }
    isDone = true
    if options.output.dryRun == nil { try didCommit() } else { try changes?.didCommit() }
  }

  /// What is told of the last transaction must be there when it is committed.
  private func bringChangesToDisk() throws(PostgresFailure) {
    if options.output.dryRun != nil { return }
    do throws(UpsurgeError) {
      try changes?.willCommit()
    } catch {
      throw transactions.refuse(error)
    }
  }

  /// Where the run stands when all of it is stored.
  private func endState() -> RunState {
    let position = inputPlace.position(of: last, sourceNames: context.sourceNames)
    return state(position, ledger, rejectsByReason, inputPlace, hasMetTombstone, isWhole: true)
  }

  func countSkipped() {
    ledger.read += skippedRecordCount
    ledger.unchanged += skippedRecordCount
  }

  func rollback() {
    if isDone { return }
    isDone = true
    sealAfterError()
    transactions.rollback()
    // A trial's rejects stay. The run that goes on cuts off what does not stand, as after a kill.
    if options.output.dryRun == nil, !transactions.mayStand { kept.file?.didRollBack() }
    if let changes { rollBack(changes) }
    (ledger, rejectsByReason) = (committedLedger, committedRejects)
  }

  /// Of a COMMIT that may stand, the run that goes on knows how much of a file stays.
  private func rollBack(_ changes: ChangeFile) {
    if !transactions.mayStand { return changes.didRollBack() }
    if changes.length != nil || options.output.dryRun != nil { return }
    context.note(
      RunNote(
        .warning,
        "nobody has answered the last COMMIT: should it stand, what it has changed is not in the output of \(.changes)")
    )
  }

  var ending: RunEnding? { transactions.ending }
}
