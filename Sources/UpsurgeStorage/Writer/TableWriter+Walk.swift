import UpsurgeRecords

/// Records that are not stored, as their row says the same (see `RowWalk`).
extension TableWriter {
  /// Finds out whether records may be left out, for a plan that begins.
  func beginWalking() throws(UpsurgeError) {
    let isPossible =
      settings.walksBesideRows && !settings.sorting.isTableNew && stages.permits.contains(.leavingOutEqual) && references == nil
      && !settings.replaysKept && settings.rowState == nil
    equalRecords = isPossible ? try EqualRecords(plan, on: connection) : nil
    equalRecords?.seen = seen
  }

  /// Stores records in the order of the input, but those whose row says the same.
  func storeOthers(_ batch: borrowing Batch, from start: Int, to end: Int) throws(UpsurgeError) {
    guard let equalRecords = equalRecords(for: batch), end - start <= EqualRecords.recordLimit else {
      return try storeSeen(batch, in: .input, from: start, to: end)
    }
    let guards = bound.guards
    let count = try equalRecords.leaveOut(batch, start..<end) { verdict(batch, $0, guards) == .clean }
    if count == end - start { return try storeSeen(batch, in: .input, from: start, to: end) }
    countEqual(end - start - count)
    if count > 0 { try storeSeen(batch, in: RecordOrder(equalRecords.rest), from: 0, to: count) }
  }

  /// Counts the records of a piece whose row says the same.
  /// - Parameter rest: the indexes of the others, in the order of the input.
  /// - Returns: how many those are.
  func leaveOutEqual(
    _ batch: borrowing Batch, _ records: Range<Int>, into rest: UnsafeMutablePointer<UInt32>
  ) throws(UpsurgeError) -> Int {
    guard let equalRecords = equalRecords(for: batch) else {
      for (place, record) in records.enumerated() { rest[place] = UInt32(record) }
      return records.count
    }
    let guards = bound.guards
    let count = try equalRecords.leaveOut(batch, all: records, into: rest) {
      verdict(batch, $0, guards) == .clean
    }
    countEqual(records.count - count)
    return count
  }

  private func equalRecords(for batch: borrowing Batch) -> EqualRecords? {
    settlesKept || batch.hasAbsentCells || batch.columnCount < plan.columns.count ? nil : equalRecords
  }

  private func countEqual(_ recordCount: Int) {
    tally.countUnchanged(UInt64(recordCount))
    statistics.equalRecordCount += recordCount
  }
}
