/// One typed value of one record, as it travels from the parser to the writer.
///
///     byte  0       1          2..3   4..7        8..15
///           kind    isInSpill  -      byteCount   payload
///
/// `payload` holds the integer, the double's bits, or the offset of the first byte of a text or blob in
/// its batch's arena (in its spill when `isInSpill`). 16 bytes; a cell owns nothing.
@frozen
package struct Cell: Sendable {
  /// What a cell holds. `absent` means that the record does not speak of the column at all.
  @frozen
  package enum Kind: UInt8, Sendable {
    case absent, null, integer, real, text, blob
  }

  package var kind: Kind
  /// Whether text lies in the batch's spill (unescaped by the parser) rather than in its arena.
  package var isInSpill: Bool
  /// Length of a text or blob in bytes; 0 for other kinds.
  package var byteCount: UInt32
  /// Integer bits, double bits, or offset of the text's first byte.
  package var payload: UInt64

  @inlinable
  package init(kind: Kind, isInSpill: Bool, byteCount: UInt32, payload: UInt64) {
    self.kind = kind
    self.isInSpill = isInSpill
    self.byteCount = byteCount
    self.payload = payload
  }

  @inlinable package static var absent: Cell {
    Cell(kind: .absent, isInSpill: false, byteCount: 0, payload: 0)
  }

  @inlinable package static var null: Cell {
    Cell(kind: .null, isInSpill: false, byteCount: 0, payload: 0)
  }

  @inlinable package static func integer(_ value: Int64) -> Cell {
    Cell(kind: .integer, isInSpill: false, byteCount: 0, payload: UInt64(bitPattern: value))
  }

  @inlinable package static func real(_ value: Double) -> Cell {
    Cell(kind: .real, isInSpill: false, byteCount: 0, payload: value.bitPattern)
  }

  /// Bytes that start at `offset` of the spill, where what is decoded goes.
  @inlinable package static func blob(offset: Int, byteCount: Int) -> Cell {
    Cell(
      kind: .blob, isInSpill: true, byteCount: UInt32(truncatingIfNeeded: byteCount),
      payload: UInt64(truncatingIfNeeded: offset))
  }

  /// Text of `byteCount` bytes that starts at `offset` of the arena, or of the spill.
  @inlinable package static func text(offset: Int, byteCount: Int, isInSpill: Bool = false) -> Cell {
    Cell(
      kind: .text, isInSpill: isInSpill, byteCount: UInt32(truncatingIfNeeded: byteCount),
      payload: UInt64(truncatingIfNeeded: offset))
  }
}
