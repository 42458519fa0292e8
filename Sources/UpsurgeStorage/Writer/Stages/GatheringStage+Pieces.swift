import CSQLite
import UpsurgeRecords

/// Storing gathered records piece by piece (see `Gathering`).
extension GatheringStage {
  /// Stores gathered records in as many pieces as the bounds of a transaction ask for.
  func storePieces(_ run: Gathering.Run) throws(UpsurgeError) {
    var (record, reject) = (0, 0)
    let (recordCount, rejectCount) = (run.batch.recordCount, run.batch.rejects.count)
    while record < recordCount || reject < rejectCount {
      if gathering.pieceLimit < settings.sorting.fewestRecords {
        // A sort of so few gains nothing, and the log has no room for more.
        gathering.key = nil
        return try writer.store(run.batch, record..<recordCount, rejects: reject..<rejectCount)
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
      if writer.transaction.isOpen && writer.transaction.recordCount > 0 { try writer.commitStored() }
      try makeRoomInLog()
    }
    let isPending = commitsPieces && !connection.isInAutocommit
    try writer.begin()
    if !writer.stages.permitsNow.contains(.sorted) || records.count < 2 {
      try writer.store(batch, records, rejects: rejects)
      return true
    }
    if isPending { try connection.execute("SAVEPOINT \(Self.pieceSavepoint)") }
    let (before, equalBefore) = (writer.ledger, writer.statistics.equalRecordCount)
    gathering.refusals = SortedRefusals()
    let firstBad = rejects.isEmpty ? nil : batch.rejects[rejects.lowerBound].position.record
    if let share = try storeSorted(batch, records, firstBad: firstBad ?? .max) {
      gathering.refusals = nil
      try takeBackPiece(isPending: isPending)
      writer.tally.ledger = before
      writer.statistics.equalRecordCount = equalBefore
      gathering.pieceLimit = Int(Double(records.count) * share * 0.8)
      return false
    }
    try giveRefusals(of: batch, rejects: rejects)
    if isPending { try connection.execute("RELEASE \(Self.pieceSavepoint)") }
    note(batch, records, rejects: rejects)
    if commitsPieces { try writer.commit(batch, recordCount: records.upperBound) }
    return true
  }

  private static let pieceSavepoint = "upsurge_piece"

  /// Empties a log in which a piece may have too little room, if it is twice as large as the last one.
  private func makeRoomInLog() throws(UpsurgeError) {
    let bytes = writer.log.frames * writer.log.frameByteCount
    let limit = settings.log.limitByteCount
    if bytes <= limit / 8 || bytes + 2 * writer.log.lastPages * writer.log.frameByteCount <= limit / 2 {
      return
    }
    if try writer.log.checkpoint(SQLITE_CHECKPOINT_PASSIVE) { _ = try writer.log.empty(bytes) }
  }

  /// - Returns: nil when all are stored; else the share that was before the log had no more room.
  private func storeSorted(
    _ batch: borrowing Batch, _ records: Range<Int>, firstBad: UInt64
  ) throws(UpsurgeError) -> Double? {
    guard let key = gathering.key else { preconditionFailure("there is no key to sort by") }
    let byteCount = records.count * MemoryLayout<UInt32>.stride
    let memory = ArenaMemory.allocate(byteCount)
    defer { ArenaMemory.deallocate(memory, byteCount) }
    let order = UnsafeMutableRawPointer(memory).bindMemory(to: UInt32.self, capacity: records.count)
    let remaining = try leaveOutEqual(batch, records, into: order)
    let start = MonotonicClock.seconds
    guard KeySorter.sort(order, count: remaining, of: KeyChunks(key, batch), unless: { writer.grace.isOver })
    else {
      throw UpsurgeError(.interrupted, "interrupted")
    }
    writer.statistics.sortSeconds += MonotonicClock.seconds - start
    // Where the first bad record ends the run, later records of the input need not be stored.
    var last = settings.onError == .stop ? firstBad : .max
    var count = Self.leaveOut(behind: last, batch, order, 0..<remaining)
    var place = 0
    while place < count {
      try writer.grace.check()
      let end = min(count, place + writer.log.recordsBetweenLooks)
      gathering.seen &+= Self.look(at: batch, order, place..<end)
      try writer.storeSeen(batch, in: RecordOrder(order), from: place, to: end)
      place = end
      if settings.onError == .stop, let first = gathering.refusals?.first, first < last {
        last = first
        count = Self.leaveOut(behind: last, batch, order, place..<count)
      }
      if place < count && commitsPieces && writer.log.isNearLimit { return Double(place) / Double(remaining) }
    }
    writer.statistics.sortedRecordCount += remaining
    writer.statistics.mostSortedRecords = max(writer.statistics.mostSortedRecords, remaining)
    return nil
  }

  /// Puts the indexes of records into the order, but of those whose row says the same.
  private func leaveOutEqual(
    _ batch: borrowing Batch, _ records: Range<Int>, into order: UnsafeMutablePointer<UInt32>
  ) throws(UpsurgeError) -> Int {
    if let remaining = try writer.stages.equalRows?.leaveOut(batch, all: records, into: order) {
      return remaining
    }
    for (place, record) in records.enumerated() { order[place] = UInt32(record) }
    return records.count
  }

  /// Reads a byte of every 64 that the next records take, so that they are near when they are bound: one after the other
  /// they would be waited for, all together they come at once.
  /// - Returns: a sum of what was read, so that reading it cannot be left out.
  private static func look(
    at batch: borrowing Batch, _ order: UnsafeMutablePointer<UInt32>, _ places: Range<Int>
  ) -> UInt64 {
    let rowByteCount = batch.columnCount * MemoryLayout<Cell>.stride
    let (cells, records, arena) = (
      UnsafeRawPointer(batch.cells), batch.records, UnsafeRawPointer(batch.arena)
    )
    var sum: UInt64 = 0
    for place in places {
      let record = Int(order[place])
      sum &+= UInt64(records[record].byteCount)
      for offset in stride(from: 0, to: rowByteCount, by: lineByteCount) {
        sum &+= UInt64(cells.load(fromByteOffset: record * rowByteCount + offset, as: UInt8.self))
      }
    }
    for place in places {
      let position = records[Int(order[place])]
      for offset in stride(from: 0, to: min(Int(position.byteCount), 1 << 10), by: lineByteCount) {
        sum &+= UInt64(arena.load(fromByteOffset: Int(position.arenaOffset) + offset, as: UInt8.self))
      }
    }
    return sum
  }

  /// Bytes that come from memory at once.
  private static let lineByteCount = 64

  /// Takes the records after one of the input out of the order.
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
      writer.transaction.startPages = writer.log.pagesWritten
      return
    }
    try connection.execute("ROLLBACK")
    writer.transaction.isOpen = false
    for observer in writer.transactionObservers { observer.didRollBack() }
  }

  /// Gives away what was refused and what the parser has rejected, in the order of the input.
  private func giveRefusals(of batch: borrowing Batch, rejects: Range<Int>) throws(UpsurgeError) {
    guard var refusals = gathering.refusals else { return }
    gathering.refusals = nil
    refusals.sort()
    var next = rejects.lowerBound
    for index in 0..<refusals.count {
      let refused = refusals.reject(index, of: batch, file: writer.sourceName(batch.origin.sourceIndex))
      let number = refused.position.record ?? 0
      while next < rejects.upperBound, batch.rejects[next].position.record ?? 0 < number {
        try writer.take(batch.rejects[next], in: batch)
        next += 1
      }
      try writer.reject(refused, in: batch)
    }
    for index in next..<rejects.upperBound { try writer.take(batch.rejects[index], in: batch) }
  }

  /// Notes where a piece ends in the input.
  private func note(_ batch: borrowing Batch, _ records: Range<Int>, rejects: Range<Int>) {
    let lastRecord = records.isEmpty ? 0 : batch.records[records.upperBound - 1].number
    let through = max(lastRecord, rejects.last.map { batch.rejects[$0].position.record ?? 0 } ?? 0)
    writer.countFiltered(in: batch, through: through, besides: records.count + rejects.count)
    if !records.isEmpty { writer.transaction.note(batch, from: records.lowerBound, to: records.upperBound) }
    guard let lastReject = rejects.last else { return }
    let last = writer.transaction.last
    for index in rejects {
      writer.transaction.note(batch.rejects[index], sourceIndex: batch.origin.sourceIndex)
    }
    let number = records.isEmpty ? 0 : batch.records[records.upperBound - 1].number
    if number > batch.rejects[lastReject].position.record ?? 0 { writer.transaction.last = last }
  }
}

extension Batch {
  /// How many rejects stand before a record; all of them after the last one.
  fileprivate func rejectCount(before record: Int) -> Int {
    if record >= recordCount { return rejects.count }
    let number = records[record].number
    return rejects.firstIndex { ($0.position.record ?? 0) > number } ?? rejects.count
  }
}
