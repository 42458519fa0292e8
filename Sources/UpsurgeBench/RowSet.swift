import UpsurgeRecords

/// Rows in memory, typed as they will be bound: what a benchmark writes without paying for reading and parsing.
///
///     cells   count x columnNames.count, row-major; a text's or blob's payload is its offset in `bytes`
package final class RowSet {
  package let columnNames: [String]
  private var cells: [Cell] = []
  private var bytes: [UInt8] = []
  /// Rows in the set.
  package private(set) var count = 0

  package init(columnNames: [String]) {
    precondition(!columnNames.isEmpty, "rows need a column")
    self.columnNames = columnNames
  }

  /// Bytes that the rows take.
  package var byteCount: Int { cells.count * MemoryLayout<Cell>.stride + bytes.count }

  /// Lends the cells and the bytes that they point into.
  func withMemory(
    _ body: (UnsafeBufferPointer<Cell>, UnsafeBufferPointer<UInt8>) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) {
    try cells.withUnsafeBufferPointer { cells throws(UpsurgeError) in
      try bytes.withUnsafeBufferPointer { bytes throws(UpsurgeError) in try body(cells, bytes) }
    }
  }

  /// Copies the records of a batch, in their order; columns that a record does not speak of are NULL.
  package func append(_ batch: borrowing Batch) {
    precondition(batch.columnCount <= columnNames.count, "a batch has more columns than the rows")
    for record in 0..<batch.recordCount {
      let row = batch.cells + record * batch.columnCount
      for column in columnNames.indices {
        cells.append(column < batch.columnCount ? copy(row[column], batch) : .null)
      }
    }
    count += batch.recordCount
  }

  private func copy(_ cell: Cell, _ batch: borrowing Batch) -> Cell {
    switch cell.kind {
    case .absent: return .null
    case .null, .integer, .real: return cell
    case .text, .blob:
      let start = (cell.isInSpill ? batch.spill : batch.arena) + Int(truncatingIfNeeded: cell.payload)
      let offset = bytes.count
      bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: Int(cell.byteCount)))
      return Cell(kind: cell.kind, isInSpill: false, byteCount: cell.byteCount, payload: UInt64(offset))
    }
  }
}
