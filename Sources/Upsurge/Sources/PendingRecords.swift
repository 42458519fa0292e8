/// Records that were parsed and wait for the next batch, which begins with their bytes.
struct PendingRecords {
  private var cells: [Cell] = []
  private var records: ArraySlice<RecordPosition> = []
  private var rejects: [Reject] = []
  private var spill: [UInt8] = []
  private var width = 0
  /// Offset in the stream of the arena that the records were in.
  private var sourceOffset: UInt64 = 0
  /// How far that arena was parsed.
  private var end = 0

  var isEmpty: Bool { records.isEmpty }

  /// Bytes of text that are not in the arena.
  var spillByteCount: Int { spill.count }

  /// Copies records of a batch, and the rejects among and after them.
  /// - Parameter spillByteCount: how much of the spill their text may lie in.
  mutating func take(_ batch: borrowing Batch, records taken: Range<Int>, width: Int, spillByteCount: Int) {
    let first = batch.records[taken.lowerBound].number
    self.width = width
    sourceOffset = batch.origin.sourceOffset
    end = batch.parsedByteCount
    records = (taken.map { batch.records[$0] })[...]
    rejects = batch.rejects.filter { ($0.position.record ?? 0) > first }
    cells = (taken.lowerBound * width..<taken.upperBound * width).map { batch.cells[$0] }
    let start = cells.reduce(spillByteCount) { start, cell in
      cell.isInSpill && (cell.kind == .text || cell.kind == .blob) ? min(start, Int(cell.payload)) : start
    }
    spill = Array(UnsafeBufferPointer(start: batch.spill + start, count: spillByteCount - start))
    for index in cells.indices
    where cells[index].isInSpill && (cells[index].kind == .text || cells[index].kind == .blob) {
      cells[index].payload -= UInt64(start)
    }
  }

  /// Puts as many of the records into a batch as it has room for, as if they had just been parsed.
  /// - Parameter width: the cells of a record now.
  /// - Returns: false where the batch needs a larger spill first, which it asks for.
  mutating func giveBack(to batch: inout Batch, width: Int) -> Bool {
    if spill.count > batch.spillCapacity {
      batch.growth.wantedSpillByteCount = spill.count
      batch.growth.wantedRecordByteCount = 0
      return false
    }
    let shift = Int(batch.origin.sourceOffset - sourceOffset)
    // It may be the batch that they were taken from, with more room now.
    batch.isClosed = false
    batch.begin(columnCount: width)
    batch.spill.update(from: spill, count: spill.count)
    batch.spillByteCount = spill.count
    let before = records.startIndex
    while let next = records.first, batch.hasRoomForRecord {
      let row = batch.cells + batch.recordCount * width
      row.update(repeating: .absent, count: width)
      let start = (records.startIndex) * self.width
      for index in 0..<self.width {
        var cell = cells[start + index]
        if !cell.isInSpill && (cell.kind == .text || cell.kind == .blob) { cell.payload -= UInt64(shift) }
        row[index] = cell
        if cell.kind == .absent { batch.hasAbsentCells = true }
      }
      batch.records[batch.recordCount] = moved(next, by: shift)
      batch.recordCount += 1
      records = records.dropFirst()
    }
    precondition(records.startIndex > before, "a batch has room for one record")
    let following = records.first
    let number = following?.number ?? .max
    for reject in rejects where (reject.position.record ?? 0) < number { batch.take(reject) }
    rejects.removeAll { ($0.position.record ?? 0) < number }
    batch.parsedByteCount = (following.map { Int($0.arenaOffset) } ?? end) - shift
    if following == nil { self = PendingRecords() }
    return true
  }

  /// Gives up on the first record, whose values are too large for any batch.
  mutating func rejectFirst(in batch: inout Batch, file: String, limit: Int) {
    guard let first = records.first else { return }
    let shift = Int(batch.origin.sourceOffset - sourceOffset)
    let start = batch.arena + (Int(first.arenaOffset) - shift)
    batch.take(
      Reject(
        .tooLarge,
        at: Position(
          file: file, record: first.number, line: first.line,
          byte: batch.origin.sourceOffset + UInt64(Int(first.arenaOffset) - shift)),
        reason: "the record's values are larger than the \(limit) bytes of a quarter of \(.memory)",
        raw: UnsafeBufferPointer(start: start, count: Int(first.byteCount))))
    records = records.dropFirst()
    let following = records.first
    let number = following?.number ?? .max
    for reject in rejects where (reject.position.record ?? 0) < number { batch.take(reject) }
    rejects.removeAll { ($0.position.record ?? 0) < number }
    batch.parsedByteCount = (following.map { Int($0.arenaOffset) } ?? end) - shift
    if following == nil { self = PendingRecords() }
  }

  private func moved(_ position: RecordPosition, by shift: Int) -> RecordPosition {
    RecordPosition(
      arenaOffset: Int(position.arenaOffset) - shift, byteCount: Int(position.byteCount), line: position.line,
      number: position.number)
  }
}
