/// Putting batches together, so that their records can be stored in another order than that of the input.
extension Batch {
  /// What was once a batch of its own.
  package struct Part: Sendable {
    /// Index of its first record.
    package var firstRecord: Int
    /// As `Batch.Origin.restart`.
    package var restart: Restart?
    package var warnings: WarningLog
  }

  /// Whether another batch can be appended: it goes on in the input where this one ends, and there is room.
  package func takes(_ next: borrowing Batch) -> Bool {
    if parts.isEmpty { return fits(next) }
    return fits(next) && next.columnCount == columnCount && next.origin.sourceIndex == origin.sourceIndex
      && next.origin.sourceOffset == origin.sourceOffset + UInt64(parsedByteCount)
      && next.firstNumber > lastNumber
  }

  private func fits(_ next: borrowing Batch) -> Bool {
    parsedByteCount + next.parsedByteCount <= arenaCapacity
      && spillByteCount + next.spillByteCount <= spillCapacity
      && recordCount + next.recordCount <= recordCapacity
      && (recordCount + next.recordCount) * next.columnCount <= cellCapacity
  }

  /// Number of the first record or reject.
  package var firstNumber: UInt64 {
    min(recordCount > 0 ? records[0].number : .max, rejects.first?.position.record ?? .max)
  }

  /// Number of the last record or reject; 0 without one.
  package var lastNumber: UInt64 {
    max(recordCount > 0 ? records[recordCount - 1].number : 0, rejects.last?.position.record ?? 0)
  }

  /// Copies the records, rejects and warnings of a batch after those that are here; `takes` must have said yes.
  package mutating func append(_ next: borrowing Batch) {
    precondition(takes(next), "the batches do not go together")
    if parts.isEmpty {
      begin(columnCount: next.columnCount)
      origin = next.origin
    }
    if filteredThrough != nil || next.filteredThrough != nil {
      filteredThrough = max(next.filteredThrough ?? next.lastNumber, filteredThrough ?? 0)
    }
    parts.append(Part(firstRecord: recordCount, restart: next.origin.restart, warnings: next.warnings))
    let (arenaShift, spillShift) = (UInt64(parsedByteCount), UInt64(spillByteCount))
    (arena + parsedByteCount).update(from: next.arena, count: next.parsedByteCount)
    (spill + spillByteCount).update(from: next.spill, count: next.spillByteCount)
    let cellCount = next.recordCount * next.columnCount
    let (from, to) = (next.cells, cells + recordCount * columnCount)
    for index in 0..<cellCount {
      var cell = from[index]
      if cell.kind == .text || cell.kind == .blob {
        cell.payload += cell.isInSpill ? spillShift : arenaShift
      }
      (to + index).initialize(to: cell)
    }
    for index in 0..<next.recordCount {
      var position = next.records[index]
      position.arenaOffset += UInt32(truncatingIfNeeded: arenaShift)
      (records + recordCount + index).initialize(to: position)
    }
    parsedByteCount += next.parsedByteCount
    arenaByteCount = parsedByteCount
    spillByteCount += next.spillByteCount
    recordCount += next.recordCount
    if next.hasAbsentCells { hasAbsentCells = true }
    rejects += next.rejects
    if !next.warnings.isEmpty { warnings.merge(next.warnings) }
  }

  /// Bytes of memory that text, cells and positions take.
  package var usedByteCount: Int {
    parsedByteCount + spillByteCount + recordCount * columnCount * MemoryLayout<Cell>.stride
      + recordCount * MemoryLayout<RecordPosition>.stride
  }
}
