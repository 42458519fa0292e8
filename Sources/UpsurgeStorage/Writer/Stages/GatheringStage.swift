import CSQLite
import UpsurgeRecords

/// Puts records together that are stored in the order of their key (see `Gathering`).
final class GatheringStage: WriterStage {
  unowned let writer: TableWriter
  var gathering = Gathering()
  /// Whether records are stored as they come for the time being.
  var isPaused = false

  init(_ writer: TableWriter) { self.writer = writer }

  var permits: StorePermits { .all }

  /// Finds out whether the order of records could be seen.
  func didAdopt(leaving permits: StorePermits) {
    let isPossible =
      permits.contains(.sorted) && !settings.isDryRun && settings.commitEvery.seconds == nil
      && pieceLimit >= settings.sorting.fewestRecords
    gathering.key = isPossible ? SortKey(plan) : nil
  }

  /// Records of a transaction at most.
  var pieceLimit: Int {
    settings.commitsOnce ? .max : settings.sorting.recordLimit ?? settings.commitEvery.records
  }

  /// Copies a batch whose records are to be sorted; stores what was gathered before where it does not go with it.
  /// - Returns: false for a batch that is to be stored as it is.
  func gather(_ batch: borrowing Batch) throws(UpsurgeError) -> Bool {
    guard let key = gathering.key else { return false }
    if batch.growth.permittedByteCount > 0 {
      // Large records need the memory.
      try storeGathered()
      releaseGathering()
      gathering.key = nil
      return false
    }
    guard batch.newColumns.isEmpty, batch.columnCount <= plan.columns.count, key.fits(batch) else {
      return false
    }
    if let run = gathering.run, !run.isEmpty {
      if run.take(batch, mostBytes: gathering.mostBytes) { return true }
      try storeGathered()
    }
    guard !isPaused, writer.stages.permitsNow.contains(.sorted), writer.isBehindCommitted(batch), canTakeBack,
      settings.sorting.isForced || key.isUnordered(batch)
    else {
      releaseGathering()
      return false
    }
    guard let run = try runOfMemory() else { return false }
    gathering.mostBytes = min(
      settings.commitEvery.bytes ?? .max, max(Gathering.worthBytes, try databaseByteCount / 2))
    return run.take(batch, mostBytes: gathering.mostBytes)
  }

  private var databaseByteCount: Int {
    get throws(UpsurgeError) {
      Int(try connection.integer("PRAGMA main.page_count") ?? 0) * writer.log.pageByteCount
    }
  }

  /// Whether a piece can be taken back when it turns out to be too large for the log. Together with a table that is new it
  /// can, by a savepoint. Other changes of the schema that wait for their commit would make that one journal pages.
  private var canTakeBack: Bool {
    connection.isInAutocommit || writer.transaction.isOpen && writer.transaction.recordCount > 0
      || settings.sorting.isTableNew || !commitsPieces
  }

  /// Whether each piece is a transaction of its own.
  var commitsPieces: Bool { !settings.commitsOnce && connection.durability != .off }

  private func runOfMemory() throws(UpsurgeError) -> Gathering.Run? {
    if let run = gathering.run { return run }
    if !settings.sorting.holdsMemory(true) { return nil }
    gathering.run = Gathering.Run(byteLimit: settings.sorting.byteCount)
    if gathering.run == nil {
      _ = settings.sorting.holdsMemory(false)
      gathering.key = nil
    }
    return gathering.run
  }

  /// Stores what was gathered.
  /// - Parameter isLast: whether the memory is given back, as no more is expected soon.
  /// - Throws: as `write`; the writer is done then.
  func storeAll(isLast: Bool) throws(UpsurgeError) {
    if writer.isDone || gathering.run == nil { return }
    let start = writer.beginStoring()
    defer { writer.endStoring(start) }
    do throws(UpsurgeError) { try storeGathered() } catch { throw writer.fail(error) }
    if isLast { releaseGathering() }
  }

  /// Keeps what was refused until its place in the input has come.
  func takes(_ reject: Reject) -> Bool {
    if gathering.refusals == nil { return false }
    gathering.refusals?.note(reject)
    return true
  }

  /// Forgets what was gathered, and the memory.
  func didRollBack() {
    gathering.refusals = nil
    releaseGathering()
  }

  private func releaseGathering() {
    if gathering.run == nil { return }
    writer.clearBindings()
    gathering.run = nil
    _ = settings.sorting.holdsMemory(false)
  }

  /// Stores the gathered records, sorted where that pays.
  func storeGathered() throws(UpsurgeError) {
    guard let run = gathering.run, !run.isEmpty else { return }
    writer.begin(run.batch)
    if try paysToSort(run.batch) {
      try storePieces(run)
    } else {
      try writer.store(run.batch, 0..<run.batch.recordCount, rejects: 0..<run.batch.rejects.count)
    }
    writer.end(run.batch)
    try writer.commitIfDue()
    writer.clearBindings()
    run.removeAll()
  }

  private func paysToSort(_ batch: borrowing Batch) throws(UpsurgeError) -> Bool {
    guard gathering.key != nil, batch.recordCount >= settings.sorting.fewestRecords else { return false }
    return try databaseByteCount + batch.parsedByteCount
      > settings.sorting.fewestBytes ?? connection.pageCacheByteCount / 2
  }
}
