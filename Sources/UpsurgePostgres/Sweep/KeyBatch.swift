import UpsurgeRecords

/// Keys that were noted of a delivery, as records that have nothing else.
struct KeyBatch: ~Copyable {
  private(set) var batch = Batch(sizes: Batch.Sizes(arenaByteCount: 256 << 10, cellCount: 32_768, recordCount: 16_384))
  private let columnCount: Int

  init(columnCount: Int) {
    self.columnCount = columnCount
    batch.begin(columnCount: columnCount)
  }

  /// The indexes of its records.
  var records: [Int32] { (0..<batch.recordCount).map { Int32(truncatingIfNeeded: $0) } }

  mutating func empty() {
    batch.reset()
    batch.begin(columnCount: columnCount)
  }

  /// Adds the key that a reader has in hand.
  /// - Returns: false where there is no room for it: it must be emptied first.
  mutating func add(_ key: RowKeys.Reader) -> Bool {
    var byteCount = 0
    for part in key.parts { byteCount += Self.range(of: part)?.count ?? 0 }
    if batch.arenaByteCount + byteCount > batch.arenaCapacity {
      if batch.recordCount > 0 { return false }
      batch.growArena(to: batch.arenaByteCount + byteCount)
    }
    guard batch.hasRoomForRecord else { return false }
    let row = batch.cells + batch.recordCount * columnCount
    for (index, part) in key.parts.enumerated() {
      (row + index).initialize(to: cell(part, of: key.bytes))
    }
    batch.recordCount += 1
    return true
  }

  private static func range(of part: RowKeys.Part) -> Range<Int>? {
    switch part {
    case .text(let range), .blob(let range): range
    case .null, .integer, .real: nil
    }
  }

  private mutating func cell(_ part: RowKeys.Part, of bytes: [UInt8]) -> Cell {
    switch part {
    case .null: return .null
    case .integer(let value): return .integer(value)
    case .real(let bits): return .real(Double(bitPattern: bits))
    case .text(let range), .blob(let range):
      let offset = batch.arenaByteCount
      bytes[range].withUnsafeBufferPointer { from in
        if let start = from.baseAddress { (batch.arena + offset).update(from: start, count: from.count) }
      }
      batch.arenaByteCount += range.count
      let kind: Cell.Kind = if case .blob = part { .blob } else { .text }
      return Cell(
        kind: kind, isInSpill: false, byteCount: UInt32(truncatingIfNeeded: range.count),
        payload: UInt64(truncatingIfNeeded: offset))
    }
  }
}
