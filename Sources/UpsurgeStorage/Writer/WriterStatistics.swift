import UpsurgeRecords
import UpsurgeState

/// Where a writer's time went, and what it wrote.
package struct WriterStatistics: Sendable {
  /// Binding and stepping, all that is not named below.
  package var storeSeconds = 0.0
  package var commitSeconds = 0.0
  package var checkpointSeconds = 0.0
  /// Time left to other programs.
  package var pauseSeconds = 0.0
  /// Sorting records by their key; part of `storeSeconds`.
  package var sortSeconds = 0.0
  /// Records that were stored in the order of their key, and the most of them at once.
  package var sortedRecordCount = 0
  package var mostSortedRecords = 0
  /// Records that were not stored because a row beside them said the same.
  package var equalRecordCount = 0
  package var commitCount = 0
  package var checkpointCount = 0
  /// Pages written to the WAL (to the database, where there is no WAL).
  package var pagesWritten = 0
  /// Pages that storing rows had to read because the page cache did not hold them.
  package var pagesRead = 0
  /// Bytes written to the WAL, frame headers included.
  package var walBytesWritten = 0
  /// The largest the WAL has been after a commit.
  package var walBytesPeak = 0
  /// Somebody kept the log from being emptied, past its limit or at the end.
  package var logPin: LogPin?
  /// Whether the last checkpoint brought the whole WAL into the database.
  package var isCheckpointComplete = true

  package init() {}

  var secondsElsewhere: Double { commitSeconds + checkpointSeconds + pauseSeconds }
}

/// What the transaction that is open holds so far.
struct OpenTransaction {
  var isOpen = false
  /// Whether the COMMIT has failed, and may have happened.
  var isInDoubt = false
  var recordCount = 0
  var byteCount = 0
  var startSeconds = 0.0
  /// Pages written before it began.
  var startPages = 0
  /// Frames in the WAL after which it writes.
  var startFrames = 0
  /// The last record whose outcome is in the ledger.
  var last: InputPlace.Record?

  mutating func note(_ batch: borrowing Batch, from start: Int, to end: Int) {
    recordCount += end - start
    let first = batch.records[start]
    let final = batch.records[end - 1]
    byteCount += Int(final.arenaOffset) + Int(final.byteCount) - Int(first.arenaOffset)
    last = InputPlace.Record(batch, record: end - 1)
  }

  /// Records of a batch that the filter has left out since the last one that was noted.
  /// - Parameters:
  ///   - number: of the last record that is stored now.
  ///   - count: how many are stored or rejected now.
  func filteredCount(of batch: borrowing Batch, through number: UInt64, besides count: Int) -> UInt64 {
    if batch.filteredThrough == nil { return 0 }
    let before = last?.sourceIndex == batch.origin.sourceIndex ? last?.number ?? 0 : 0
    let known = before + UInt64(count)
    return number > known ? number - known : 0
  }

  /// Goes on to the last record of a batch, which the filter has left out.
  /// - Returns: how many it has left out at the end.
  mutating func passFiltered(of batch: borrowing Batch) -> UInt64 {
    guard let through = batch.filteredThrough else { return 0 }
    let count = filteredCount(of: batch, through: through, besides: 0)
    if count == 0 { return 0 }
    if last?.sourceIndex == batch.origin.sourceIndex {
      last?.number = through
    } else {
      last = InputPlace.Record(sourceIndex: batch.origin.sourceIndex, filteredThrough: through)
    }
    return count
  }

  mutating func note(_ reject: Reject, sourceIndex: Int) {
    recordCount += 1
    byteCount += reject.raw.count
    last = InputPlace.Record(reject, sourceIndex: sourceIndex)
  }
}
