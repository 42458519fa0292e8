import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// Finds the records of a plan that need not be stored, because their row says the same.
final class EqualRecords {
  /// Records that are looked at together.
  static let recordLimit = 256

  private let walk: RowWalk
  private let key: SortKey
  private let marks: UnsafeMutablePointer<RecordWindow.Mark>
  /// For the records of one look.
  let rest: UnsafeMutablePointer<UInt32>
  /// Is told the rows of records that are left out.
  var seen: SeenRows?
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
    return try leaveOut(batch, all: records, &pending, into: rest, isClean: isClean)
  }

  /// Leaves out records whose row says the same, of any number that are stored together.
  func leaveOut(
    _ batch: borrowing Batch, all records: Range<Int>, into rest: UnsafeMutablePointer<UInt32>,
    isClean: (Int) -> Bool
  ) throws(UpsurgeError) -> Int {
    var pending = PendingKeys(recordCount: records.count)
    return try leaveOut(batch, all: records, &pending, into: rest, isClean: isClean)
  }

  private func leaveOut(
    _ batch: borrowing Batch, all records: Range<Int>, _ pending: inout PendingKeys,
    into rest: UnsafeMutablePointer<UInt32>, isClean: (Int) -> Bool
  ) throws(UpsurgeError) -> Int {
    let chunks = KeyChunks(key, batch)
    // The keys of so many remaining records are pending ones; of the others nobody has asked yet.
    var (count, notedCount) = (0, 0)
    var start = records.lowerBound
    while start < records.upperBound {
      let end = min(records.upperBound, start + EqualRecords.recordLimit)
      var window = RecordWindow(start..<end, marks: marks)
      let hasEqual = try walk.mark(batch, &window) > 0
      for record in start..<end {
        if hasEqual, window.isEqual(record), isClean(record) {
          while notedCount < count {
            note(Int(rest[notedCount]), of: batch, chunks, in: &pending)
            notedCount += 1
          }
          if pending.isEmpty || !pending.mayContain(chunks.hash(record)) {
            try seen?.insert(walk.rowids[record - start])
            continue
          }
        }
        rest[count] = UInt32(truncatingIfNeeded: record)
        count += 1
      }
      start = end
    }
    return count
  }

  private func note(
    _ record: Int, of batch: borrowing Batch, _ chunks: KeyChunks, in pending: inout PendingKeys
  ) {
    // What a column makes of a value of another kind is not known here: `007` may be 7.
    if key.fits(record, of: batch) { pending.insert(chunks.hash(record)) } else { pending.insertUnknown() }
  }
}
