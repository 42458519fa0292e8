import UpsurgeRecords

/// Finds the records that are not stored, as their row says the same (see `RowWalk`).
final class EqualRowsStage: WriterStage {
  unowned let writer: TableWriter
  /// nil where none may be left out.
  private var equalRecords: EqualRecords?

  init(_ writer: TableWriter) { self.writer = writer }

  var permits: StorePermits { .all }

  /// Finds out whether records may be left out.
  func didAdopt(leaving permits: StorePermits) throws(UpsurgeError) {
    let isPossible = permits.contains(.leavingOutEqual)
    equalRecords = isPossible ? try EqualRecords(plan, on: connection) : nil
    equalRecords?.seen = writer.stages.sweep?.seen
  }

  /// What would be told of left out rows has gone.
  func forgetSeen() { equalRecords?.seen = nil }

  /// Leaves out the records between two looks whose row says the same, and counts them.
  /// - Returns: the others, in the order of the input; nil where all are to be stored.
  func leaveOut(
    _ batch: borrowing Batch, _ records: Range<Int>
  ) throws(UpsurgeError) -> (order: RecordOrder, count: Int)? {
    guard let equalRecords = equalRecords(for: batch), records.count <= EqualRecords.recordLimit else {
      return nil
    }
    let (writer, guards) = (writer, writer.bound.guards)
    let count = try equalRecords.leaveOut(batch, records) { writer.verdict(batch, $0, guards) == .clean }
    if count == records.count { return nil }
    countEqual(records.count - count)
    return (RecordOrder(equalRecords.rest), count)
  }

  /// Leaves out records whose row says the same, of any number that are stored together, and counts them.
  /// - Parameter rest: the indexes of the others, in the order of the input.
  /// - Returns: how many those are; nil where all are to be stored, and `rest` is as it was.
  func leaveOut(
    _ batch: borrowing Batch, all records: Range<Int>, into rest: UnsafeMutablePointer<UInt32>
  ) throws(UpsurgeError) -> Int? {
    guard let equalRecords = equalRecords(for: batch) else { return nil }
    let (writer, guards) = (writer, writer.bound.guards)
    let count = try equalRecords.leaveOut(batch, all: records, into: rest) {
      writer.verdict(batch, $0, guards) == .clean
    }
    countEqual(records.count - count)
    return count
  }

  private func equalRecords(for batch: borrowing Batch) -> EqualRecords? {
    guard writer.stages.permitsNow.contains(.leavingOutEqual), !batch.hasAbsentCells,
      batch.columnCount >= writer.bound.plan.columns.count
    else { return nil }
    return equalRecords
  }

  private func countEqual(_ recordCount: Int) {
    writer.tally.countUnchanged(UInt64(recordCount))
    writer.statistics.equalRecordCount += recordCount
  }
}
