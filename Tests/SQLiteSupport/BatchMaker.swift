import UpsurgeRecords

/// Makes batches out of values: each record's raw bytes are its values joined by commas, as a CSV would be.
package struct BatchMaker {
  package var columns: [ColumnTarget]
  /// Number of the next record, and its line.
  package var number: UInt64 = 1
  package var sourceOffset: UInt64 = 0
  package var sizes = Batch.Sizes(arenaByteCount: 1 << 20, cellCount: 1 << 16, recordCount: 1 << 14)

  package init(_ names: [String]) {
    columns = names.map { ColumnTarget(name: $0, affinity: .none, spellingPolicy: .warn) }
  }

  /// One batch that holds these rows; texts lie in the arena, every second one in the spill.
  package mutating func batch(_ rows: [[Value]], rejecting rejected: Set<Int> = []) -> Batch {
    var batch = Batch(sizes: sizes)
    batch.origin.sourceOffset = sourceOffset
    batch.begin(columnCount: columns.count)
    for (index, row) in rows.enumerated() {
      precondition(row.count == columns.count, "a row has another number of values")
      if rejected.contains(index) {
        let raw = Array("bad \(index)".utf8)
        batch.rejects.append(
          raw.withUnsafeBufferPointer {
            Reject(
              .ragged,
              at: Position(
                file: "in.csv", record: number, line: number + 1,
                byte: batch.origin.sourceOffset + UInt64(batch.arenaByteCount)),
              reason: "too few fields", raw: $0)
          })
        number += 1
        continue
      }
      append(row, to: &batch)
    }
    batch.parsedByteCount = batch.arenaByteCount
    sourceOffset += UInt64(batch.arenaByteCount)
    return batch
  }

  private mutating func append(_ row: [Value], to batch: inout Batch) {
    let start = batch.arenaByteCount
    for (index, value) in row.enumerated() {
      if index > 0 { write([UInt8(ascii: ",")], to: &batch) }
      let at = batch.recordCount * columns.count + index
      var cell: Cell
      switch value {
      case .absent:
        cell = .absent
        batch.hasAbsentCells = true
      case .null: cell = .null
      case .integer(let number):
        cell = .integer(number)
        write(Array("\(number)".utf8), to: &batch)
      case .real(let number):
        cell = .real(number)
        write(Array("\(number)".utf8), to: &batch)
      case .text(let text):
        cell = place(Array(text.utf8), in: &batch, isInSpill: (at + batch.recordCount) % 2 == 1)
      case .blob(let bytes):
        cell = place(bytes, in: &batch, isInSpill: false)
        cell.kind = .blob
      }
      (batch.cells + at).initialize(to: cell)
    }
    let count = batch.arenaByteCount - start
    (batch.records + batch.recordCount).initialize(
      to: RecordPosition(arenaOffset: start, byteCount: count, line: number + 1, number: number))
    batch.recordCount += 1
    number += 1
    write([0x0A], to: &batch)
  }

  private func place(_ bytes: [UInt8], in batch: inout Batch, isInSpill: Bool) -> Cell {
    let offset = isInSpill ? batch.spillByteCount : batch.arenaByteCount
    write(bytes, to: &batch)
    if isInSpill {
      (batch.spill + offset).update(from: bytes, count: bytes.count)
      batch.spillByteCount += bytes.count
    }
    return .text(offset: offset, byteCount: bytes.count, isInSpill: isInSpill)
  }

  private func write(_ bytes: [UInt8], to batch: inout Batch) {
    precondition(batch.arenaByteCount + bytes.count <= batch.arenaCapacity, "give the test a larger arena")
    (batch.arena + batch.arenaByteCount).update(from: bytes, count: bytes.count)
    batch.arenaByteCount += bytes.count
  }
}
