import UpsurgeRecords

// What is done for each field. It stands here and not beside `Cell` because the compiler calls what another module has
// for its package, `@inlinable` or not (Swift 6.3.1), and two calls a field show.

extension UnsafeMutablePointer<Cell> {
  /// Makes the cell of text as ``Cell/text(offset:byteCount:isInSpill:)`` does.
  @inline(__always)
  func setText(offset: Int, byteCount: Int, isInSpill: Bool) {
    pointee.kind = .text
    pointee.isInSpill = isInSpill
    pointee.byteCount = UInt32(truncatingIfNeeded: byteCount)
    pointee.payload = UInt64(truncatingIfNeeded: offset)
  }

  /// Makes the cell of an integer or a double with these bits.
  @inline(__always)
  func setNumber(_ kind: Cell.Kind, bits: UInt64) {
    pointee.kind = kind
    pointee.isInSpill = false
    pointee.byteCount = 0
    pointee.payload = bits
  }
}

extension Cell {
  @inline(__always)
  var isReal: Bool {
    if case .real = kind { true } else { false }
  }
}

extension Affinity {
  /// Whether each number of the column is a double.
  @inline(__always)
  var isReal: Bool {
    if case .real = self { true } else { false }
  }
}
