import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory of a batch, looked up once for all of its cells.
struct CellTexts {
  let cells: UnsafeMutablePointer<Cell>
  let columnCount: Int
  private let arena: UnsafeMutablePointer<UInt8>
  private let spill: UnsafeMutablePointer<UInt8>

  init(_ batch: borrowing Batch) {
    cells = batch.cells
    columnCount = batch.columnCount
    arena = batch.arena
    spill = batch.spill
  }

  @inline(__always)
  func bytes(of cell: Cell) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: (cell.isInSpill ? spill : arena) + Int(truncatingIfNeeded: cell.payload), count: Int(cell.byteCount))
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether a byte is 0.
  @inline(__always)
  var hasNul: Bool {
    guard let start = baseAddress else { return false }
    return memchr(start, 0, count) != nil
  }
}
