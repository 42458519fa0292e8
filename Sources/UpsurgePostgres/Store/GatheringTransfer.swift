import Upsurge
import UpsurgeRecords
import UpsurgeState

/// Gathers batches for another transfer, which stores them on a thread of its own while the next ones are gathered and encoded.
///
///     write, write, …     | gathered, encoded | gathered, encoded |
///     StoringThread                           | BEGIN … COMMIT    | BEGIN … COMMIT |
///
/// Errors of what is stored are thrown with a later batch. What is asked of it is as it was after the last batch that is known to
/// be stored.
final class GatheringTransfer: StoreTransfer {
  private let transfer: PostgresTransfer
  private let thread: StoringThread
  private let interval: GatherInterval
  /// Of each of the two.
  private let byteLimit: Int
  /// Batches that wait for others.
  private var gathered: GatheredBatch
  /// What the thread stores, or an empty one.
  private var stored: GatheredBatch
  /// Whether the thread stores, or has stored since somebody asked.
  private var isStoring = false
  private var seen: Seen
  private var isDone = false
  private var storeSeconds = 0.0

  /// What the other one has said when the thread did nothing.
  private struct Seen {
    let ledger, committedLedger: Ledger
    let commitCount: Int
    let rejectsByReason: [Reject.Code: UInt64]
    let fatalReject: Reject?
    let hasMetTombstone, isInTransaction: Bool
    let lastCommitted: Position?
    let place: InputPlace
    let recipe: RowRecipe?

    init(_ transfer: PostgresTransfer) {
      (ledger, committedLedger) = (transfer.ledger, transfer.committedLedger)
      (commitCount, rejectsByReason) = (transfer.commitCount, transfer.rejectsByReason)
      (fatalReject, hasMetTombstone) = (transfer.fatalReject, transfer.hasMetTombstone)
      (isInTransaction, lastCommitted) = (transfer.isInTransaction, transfer.lastCommitted)
      (place, recipe) = (transfer.inputPlace, transfer.recipe)
    }
  }

  init(_ transfer: PostgresTransfer, _ context: StoreContext) {
    self.transfer = transfer
    thread = StoringThread { (gathered) throws(UpsurgeError) in
      try gathered.empty { (batch, ahead) throws(UpsurgeError) in try transfer.write(&batch, ahead) }
    }
    let options = context.options.transaction
    interval = GatherInterval(options, connectionCount: transfer.lanes?.count ?? 1)
    // Two are gathered, and each is encoded besides.
    byteLimit = options.memory.byteCount / 6
    (gathered, stored) = (GatheredBatch(byteLimit: byteLimit), GatheredBatch(byteLimit: byteLimit))
    seen = Seen(transfer)
  }

  deinit { thread.end() }

  // MARK: What became of the records

  var ledger: Ledger { seen.ledger }
  var committedLedger: Ledger { seen.committedLedger }
  var commitCount: Int { seen.commitCount }
  var rejectsByReason: [Reject.Code: UInt64] { seen.rejectsByReason }
  var fatalReject: Reject? { seen.fatalReject }
  var hasMetTombstone: Bool { seen.hasMetTombstone }
  var lastCommitted: Position? { seen.lastCommitted }
  var hasCommittedAll: Bool { ledger == committedLedger && ledger.read > 0 }
  var isInTransaction: Bool { seen.isInTransaction }
  var isResumable: Bool { transfer.isResumable }
  var rejects: (any RejectSink)? { transfer.rejects }

  // MARK: Batches

  func write(_ batch: inout Batch) throws(UpsurgeError) {
    if !batch.newColumns.isEmpty {
      try storeAll()
      transfer.add(batch.newColumns)
    }
    if gathers(batch) {
      if interval.isOver(gathered) { try storeBeside() }
      return
    }
    try storeBeside()
    if gathers(batch) { return }
    // It goes together with no other one, or that is only known when those before it are stored.
    try storeAll()
    if gathers(batch) { return }
    if batch.usedByteCount > byteLimit {
      gathered.letGo()
      stored.letGo()
    }
    let start = MonotonicClock.seconds
    defer { noteStored(since: start) }
    try transfer.write(&batch)
  }

  private func gathers(_ batch: borrowing Batch) -> Bool {
    seen.place.isBehindCommitted(batch) && gathered.take(batch)
  }

  var isGathering: Bool { isStoring || !gathered.isEmpty || transfer.canSeal }

  /// Has the thread store what was gathered, when it has stored what it has.
  private func storeBeside() throws(UpsurgeError) {
    if gathered.isEmpty { return }
    gathered.encode(by: seen.recipe)
    try awaitStored()
    swap(&gathered, &stored)
    try thread.begin(stored)
    isStoring = true
    interval.begin()
  }

  func awaitStored() throws(UpsurgeError) {
    if !isStoring { return }
    let start = MonotonicClock.seconds
    defer { noteStored(since: start) }
    isStoring = false
    try thread.finish()
  }

  /// Stores what waits, as no other records come now, and writes down what several connections have committed.
  func storeGathered() throws(UpsurgeError) {
    try storeAll()
    try transfer.settle()
    seen = Seen(transfer)
  }

  private func storeAll() throws(UpsurgeError) {
    try awaitStored()
    if gathered.isEmpty { return }
    let start = MonotonicClock.seconds
    defer { noteStored(since: start) }
    try gathered.empty { (batch, ahead) throws(UpsurgeError) in try transfer.write(&batch, ahead) }
    interval.begin()
  }

  /// Notes what became of records that were stored here, or waited for.
  private func noteStored(since start: Double) {
    storeSeconds += MonotonicClock.seconds - start
    seen = Seen(transfer)
  }

  func commitWhileIdle() throws(UpsurgeError) { try storeGathered() }

  // MARK: The end

  func settle() throws(UpsurgeError) { try storeGathered() }

  func sweep() throws(UpsurgeError) {
    defer { seen = Seen(transfer) }
    try transfer.sweep()
  }

  func finish(isInterrupted: Bool) throws(UpsurgeError) {
    try storeAll()
    defer { seen = Seen(transfer) }
    try transfer.finish(isInterrupted: isInterrupted)
    isDone = true
    thread.end()
  }

  func rollback() {
    if isDone { return }
    isDone = true
    // The first error is the one to tell.
    try? awaitStored()
    thread.end()
    transfer.rollback()
    seen = Seen(transfer)
  }

  var mustBeginAgain: Bool { transfer.mustBeginAgain }

  var setUpSeconds: Double { transfer.setUpSeconds }

  var rowLimit: UInt64? { transfer.rowLimit }

  func record(in summary: inout RunSummary) {
    // What the thread has stored while others were at work has cost no time.
    transfer.storeSeconds = storeSeconds
    transfer.record(in: &summary)
  }

  var ending: RunEnding? { transfer.ending }

  // MARK: Parts of a delivery that are known

  var chunks: DeliveryChunks? { transfer.chunks }

  var skippedRecordCount: UInt64 { transfer.skippedRecordCount }

  func countSkipped() {
    transfer.countSkipped()
    seen = Seen(transfer)
  }
}
