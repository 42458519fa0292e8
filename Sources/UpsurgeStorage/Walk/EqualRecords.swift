import UpsurgeRecords

/// Tells the records of a plan that need not be stored, because their row says the same.
final class EqualRecords {
  /// Records that are looked at together.
  static let recordLimit = 256

  private let walk: RowWalk
  private let key: SortKey
  private let marks: UnsafeMutablePointer<RecordWindow.Mark>
  /// For the records of one look.
  let rest: UnsafeMutablePointer<UInt32>
  private var pending = PendingKeys(recordCount: recordLimit)

  /// nil where none may be left out.
  init?(_ plan: UpsertPlan, on connection: Connection) throws(UpsurgeError) {
    guard let walk = try RowWalk(plan, on: connection), let key = SortKey(plan) else { return nil }
    self.walk = walk
    self.key = key
    marks = .allocate(capacity: EqualRecords.recordLimit)
    rest = .allocate(capacity: EqualRecords.recordLimit)
  }

  deinit {
    marks.deallocate()
    rest.deallocate()
  }

  /// Leaves out records whose row says the same; no row may be written before those that remain are.
  /// - Parameters:
  ///   - records: at most `recordLimit`.
  ///   - isClean: whether nothing but its row speaks against storing a record.
  /// - Returns: how many remain in `rest`, in the order of the input.
  func leaveOut(
    _ batch: borrowing Batch, _ records: Range<Int>, isClean: (Int) -> Bool
  ) throws(UpsurgeError) -> Int {
    pending.removeAll()
    return try leaveOut(batch, records, &pending, into: rest, isClean: isClean)
  }

  /// The same for any number of records that are stored together.
  func leaveOut(
    _ batch: borrowing Batch, all records: Range<Int>, into rest: UnsafeMutablePointer<UInt32>,
    isClean: (Int) -> Bool
  ) throws(UpsurgeError) -> Int {
    var pending = PendingKeys(recordCount: records.count)
    var count = 0
    var record = records.lowerBound
    while record < records.upperBound {
      let end = min(records.upperBound, record + EqualRecords.recordLimit)
      count += try leaveOut(batch, record..<end, &pending, into: rest + count, isClean: isClean)
      record = end
    }
    return count
  }

  private func leaveOut(
    _ batch: borrowing Batch, _ records: Range<Int>, _ pending: inout PendingKeys,
    into rest: UnsafeMutablePointer<UInt32>, isClean: (Int) -> Bool
  ) throws(UpsurgeError) -> Int {
    var window = RecordWindow(records, marks: marks)
    let equalCount = try walk.mark(batch, &window)
    if equalCount == records.count && pending.isEmpty && records.allSatisfy(isClean) { return 0 }
    let chunks = KeyChunks(key, batch)
    var count = 0
    for record in records {
      if equalCount > 0, window.isEqual(record), isClean(record),
        pending.isEmpty || !pending.mayContain(chunks.hash(record))
      {
        continue
      }
      // What a column makes of a value of another kind is not known here: `007` may be 7.
      if key.fits(record, of: batch) { pending.insert(chunks.hash(record)) } else { pending.insertUnknown() }
      rest[count] = UInt32(truncatingIfNeeded: record)
      count += 1
    }
    return count
  }
}
