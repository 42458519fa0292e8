import CSQLite
import UpsurgeRecords

/// Records that are gathered to be stored in the order of their key (see `Gathering`).
extension TableWriter {
  /// Whether records wait to be stored, or memory is held for them.
  package var isGathering: Bool { gathering.run != nil }

  /// The columns by whose values records are sorted where they come in no order; nil where they never are.
  package var sortKeyWords: String? { gathering.key?.words }

  /// Finds out whether the order of records could be seen, for a plan that begins.
  func beginGathering() {
    let sorting = settings.sorting
    let isPossible =
      sorting.byteCount > 0 && observer == nil && references == nil && !settings.isDryRun
      && !settings.quarantinesUnknown
      && !settings.replaysKept && settings.commitEverySeconds == nil && pieceLimit >= sorting.fewestRecords
      && plan.homelessCells.isEmpty
    gathering.key = isPossible ? SortKey(plan) : nil
  }

  /// Records of a transaction at most.
  private var pieceLimit: Int {
    settings.commitsOnce ? .max : settings.sorting.recordLimit ?? settings.commitEveryRecords
  }

  /// Copies a batch whose records are to be sorted; stores what was gathered before where it does not go with it.
  /// - Returns: false for a batch that is to be stored as it is.
  func gather(_ batch: borrowing Batch) throws(UpsurgeError) -> Bool {
    guard let key = gathering.key else { return false }
    if batch.permittedByteCount > 0 {
      // Large records need the memory.
      try storeWaiting()
      releaseGathering()
      gathering.key = nil
      return false
    }
    guard batch.newColumns.isEmpty, batch.columnCount <= plan.columns.count, key.fits(batch) else {
      return false
    }
    let mostBytes = settings.commitEveryBytes ?? .max
    if let run = gathering.run, !run.isEmpty {
      if run.take(batch, mostBytes: mostBytes) { return true }
      try storeWaiting()
    }
    guard !isGatheringPaused, !settlesKept, isBehindCommitted(batch), canTakeBack,
      settings.sorting.isForced || key.isUnordered(batch)
    else {
      releaseGathering()
      return false
    }
    guard let run = try runOfMemory() else { return false }
    return run.take(batch, mostBytes: mostBytes)
  }

  /// Whether a piece can be taken back when it turns out to be too large for the log: together with a table that is new
  /// it can, by a savepoint; other changes of the schema that wait for their commit would make that one journal pages.
  private var canTakeBack: Bool {
    connection.isInAutocommit || transaction.isOpen && transaction.recordCount > 0
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
  package func storeGathered(isLast: Bool = true) throws(UpsurgeError) {
    if isDone || gathering.run == nil { return }
    let start = beginStoring()
    defer { endStoring(start) }
    do throws(UpsurgeError) { try storeWaiting() } catch { throw fail(error) }
    if isLast { releaseGathering() }
  }

  /// Forgets what was gathered, and the memory.
  func forgetGathered() {
    gathering.refusals = nil
    releaseGathering()
  }

  private func releaseGathering() {
    if gathering.run == nil { return }
    clearBindings()
    gathering.run = nil
    _ = settings.sorting.holdsMemory(false)
  }

  /// Stores the gathered records, sorted where that pays.
  func storeWaiting() throws(UpsurgeError) {
    guard let run = gathering.run, !run.isEmpty else { return }
    begin(run.batch)
    if try paysToSort(run.batch) {
      try storePieces(run)
    } else {
      try store(run.batch)
    }
    end(run.batch)
    try commitIfDue()
    clearBindings()
    run.removeAll()
  }

  private func paysToSort(_ batch: borrowing Batch) throws(UpsurgeError) -> Bool {
    guard gathering.key != nil, batch.recordCount >= settings.sorting.fewestRecords else { return false }
    let pageCount = Int(try connection.integer("PRAGMA main.page_count") ?? 0)
    return pageCount * pageByteCount + batch.parsedByteCount
      > settings.sorting.fewestBytes ?? connection.pageCacheByteCount / 2
  }

  // MARK: - Pieces

  private func storePieces(_ run: Gathering.Run) throws(UpsurgeError) {
    var (record, reject) = (0, 0)
    let (recordCount, rejectCount) = (run.batch.recordCount, run.batch.rejects.count)
    while record < recordCount || reject < rejectCount {
      if gathering.pieceLimit < settings.sorting.fewestRecords {
        // A sort of so few gains nothing, and the log has no room for more.
        gathering.key = nil
        return try store(run.batch, record..<recordCount, rejects: reject..<rejectCount)
      }
      let most = min(pieceLimit, gathering.pieceLimit)
      var end = most < recordCount - record ? record + most : recordCount
      var rejectEnd = run.batch.rejectCount(before: end)
      if most < end - record + rejectEnd - reject {
        end = max(record + 1, end - (rejectEnd - reject))
        rejectEnd = run.batch.rejectCount(before: end)
      }
      if try storePiece(run.batch, record..<end, rejects: reject..<rejectEnd) {
        (record, reject) = (end, rejectEnd)
      }
    }
  }

  /// Stores records in the order of their key, in a transaction of their own where there may be several.
  /// - Returns: false when they are too many for the log's limit; then nothing has happened, and `pieceLimit` is lower.
  private func storePiece(
    _ batch: borrowing Batch, _ records: Range<Int>, rejects: Range<Int>
  ) throws(UpsurgeError) -> Bool {
    if commitsPieces {
      if transaction.isOpen && transaction.recordCount > 0 { try commitStored() }
      try makeRoomInLog()
    }
    let isPending = commitsPieces && !connection.isInAutocommit
    try begin()
    if settlesKept || records.count < 2 {
      try store(batch, records, rejects: rejects)
      return true
    }
    if isPending { try connection.execute("SAVEPOINT \(Self.pieceSavepoint)") }
    let before = ledger
    gathering.refusals = SortedRefusals()
    let firstBad = rejects.isEmpty ? nil : batch.rejects[rejects.lowerBound].position.record
    if let share = try storeSorted(batch, records, firstBad: firstBad ?? .max) {
      gathering.refusals = nil
      try takeBackPiece(isPending: isPending)
      ledger = before
      gathering.pieceLimit = Int(Double(records.count) * share * 0.8)
      return false
    }
    try giveRefusals(of: batch, rejects: rejects)
    if isPending { try connection.execute("RELEASE \(Self.pieceSavepoint)") }
    note(batch, records, rejects: rejects)
    if commitsPieces { try commit(batch, recordCount: records.upperBound) }
    return true
  }

  private static let pieceSavepoint = "upsurge_piece"

  /// Empties a log that holds much, so that the piece has all of its limit.
  private func makeRoomInLog() throws(UpsurgeError) {
    let bytes = log.frames * frameByteCount
    if bytes <= settings.walLimitByteCount / 8 { return }
    if try checkpoint(SQLITE_CHECKPOINT_PASSIVE) { _ = try empty(bytes) }
  }

  /// - Returns: nil when all are stored; else the share that was before the log had no more room.
  private func storeSorted(
    _ batch: borrowing Batch, _ records: Range<Int>, firstBad: UInt64
  ) throws(UpsurgeError) -> Double? {
    guard let key = gathering.key else { preconditionFailure("there is no key to sort by") }
    let start = MonotonicClock.seconds
    let byteCount = records.count * MemoryLayout<UInt32>.stride
    let memory = ArenaMemory.allocate(byteCount)
    defer { ArenaMemory.deallocate(memory, byteCount) }
    let order = UnsafeMutableRawPointer(memory).bindMemory(to: UInt32.self, capacity: records.count)
    KeySorter.sort(records, of: batch, by: key, into: order)
    statistics.sortSeconds += MonotonicClock.seconds - start
    // Where the first bad record ends the run, what is behind it in the input need not be stored.
    var last = settings.onError == .stop ? firstBad : .max
    var count = Self.leaveOut(behind: last, batch, order, 0..<records.count)
    var place = 0
    while place < count {
      let end = min(count, place + recordsBetweenLooks)
      try storeRun(batch, in: RecordOrder(order), from: place, to: end)
      place = end
      if settings.onError == .stop, let first = gathering.refusals?.first, first < last {
        last = first
        count = Self.leaveOut(behind: last, batch, order, place..<count)
      }
      if place < count && commitsPieces && isLogNearLimit { return Double(place) / Double(records.count) }
    }
    statistics.sortedRecordCount += records.count
    statistics.mostSortedRecords = max(statistics.mostSortedRecords, records.count)
    return nil
  }

  /// Takes the records behind one of the input out of the order.
  /// - Returns: where the order ends then.
  private static func leaveOut(
    behind number: UInt64, _ batch: borrowing Batch, _ order: UnsafeMutablePointer<UInt32>,
    _ places: Range<Int>
  ) -> Int {
    if number == .max { return places.upperBound }
    var end = places.lowerBound
    for place in places where batch.records[Int(order[place])].number < number {
      order[end] = order[place]
      end += 1
    }
    return end
  }

  private func takeBackPiece(isPending: Bool) throws(UpsurgeError) {
    if isPending {
      try connection.execute("ROLLBACK TO \(Self.pieceSavepoint); RELEASE \(Self.pieceSavepoint)")
      // The log goes on where it was then.
      transaction.startPages = pagesWritten
      return
    }
    try connection.execute("ROLLBACK")
    transaction.isOpen = false
    transactionObserver?.didRollBack()
  }

  /// Gives away what was refused and what the parser has rejected, in the order of the input.
  private func giveRefusals(of batch: borrowing Batch, rejects: Range<Int>) throws(UpsurgeError) {
    guard var refusals = gathering.refusals else { return }
    gathering.refusals = nil
    refusals.sort()
    var next = rejects.lowerBound
    for index in 0..<refusals.count {
      let refused = refusals.reject(index, of: batch, file: sourceName(batch.sourceIndex))
      let number = refused.position.record ?? 0
      while next < rejects.upperBound, batch.rejects[next].position.record ?? 0 < number {
        try take(batch.rejects[next], in: batch)
        next += 1
      }
      try reject(refused, in: batch)
    }
    for index in next..<rejects.upperBound { try take(batch.rejects[index], in: batch) }
  }

  /// Notes where a piece ends in the input.
  private func note(_ batch: borrowing Batch, _ records: Range<Int>, rejects: Range<Int>) {
    if !records.isEmpty { transaction.note(batch, from: records.lowerBound, to: records.upperBound) }
    guard let lastReject = rejects.last else { return }
    let last = transaction.last
    for index in rejects { transaction.note(batch.rejects[index], sourceIndex: batch.sourceIndex) }
    let number = records.isEmpty ? 0 : batch.records[records.upperBound - 1].number
    if number > batch.rejects[lastReject].position.record ?? 0 { transaction.last = last }
  }
}

extension Batch {
  /// How many rejects stand in front of a record; all of them behind the last one.
  fileprivate func rejectCount(before record: Int) -> Int {
    if record >= recordCount { return rejects.count }
    let number = records[record].number
    return rejects.firstIndex { ($0.position.record ?? 0) > number } ?? rejects.count
  }
}
