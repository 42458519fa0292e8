import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Says whether the keys of records ascend as SQLite orders them under BINARY: NULL, then numbers by value, then texts
/// and then BLOBs byte by byte (https://www.sqlite.org/datatype3.html#sort_order).
struct KeyOrder: ~Copyable {
  private let columns: UnsafeMutableBufferPointer<RecordEncoder.Column>
  private let isUnique: Bool
  /// The key of the last record that was taken, in cells as wide as a record.
  private var lastRow: UnsafeMutableBufferPointer<Cell>
  private var lastBytes: UnsafeMutableRawBufferPointer
  private var hasLast = false

  /// - Parameter isUnique: whether two equal keys are none in order.
  init(_ columns: some Collection<RecordEncoder.Column>, isUnique: Bool) {
    self.columns = .allocate(capacity: columns.count)
    _ = self.columns.initialize(from: columns)
    self.isUnique = isUnique
    lastRow = .allocate(capacity: Int(columns.map(\.cellIndex).max() ?? 0) + 1)
    lastRow.initialize(repeating: .null)
    lastBytes = .allocate(byteCount: 256, alignment: 1)
  }

  deinit {
    columns.deallocate()
    lastRow.deallocate()
    lastBytes.deallocate()
  }

  /// The first record of a batch whose key does not come after the one before it, and whether the two are equal.
  func firstFault(_ batch: borrowing Batch, _ source: BatchBytes) -> (record: Int, isEqual: Bool)? {
    if columns.isEmpty || batch.recordCount == 0 { return nil }
    var last = UnsafePointer(batch.cells)
    if hasLast, let kept = lastRow.baseAddress {
      let order = compare(kept, keptBytes, last, source)
      if order > 0 || (order == 0 && isUnique) { return (0, order == 0) }
    }
    for record in 1..<max(batch.recordCount, 1) {
      let next = last + source.cellCount
      let order = compare(last, source, next, source)
      if order > 0 || (order == 0 && isUnique) { return (record, order == 0) }
      last = next
    }
    return nil
  }

  /// Keeps the key of a batch's last record.
  mutating func keepLast(_ batch: borrowing Batch, _ source: BatchBytes) {
    if columns.isEmpty || batch.recordCount == 0 { return }
    let row = UnsafePointer(batch.cells) + (batch.recordCount - 1) * source.cellCount
    var byteCount = 0
    for column in columns { byteCount += Int(cell(column, row, source).byteCount) }
    if byteCount > lastBytes.count {
      lastBytes.deallocate()
      lastBytes = .allocate(byteCount: 2 * byteCount, alignment: 1)
    }
    var offset = 0
    for column in columns {
      var value = cell(column, row, source)
      if value.hasBytes {
        let count = Int(value.byteCount)
        if let start = lastBytes.baseAddress {
          (start + offset).copyMemory(from: source.start(value), byteCount: count)
        }
        value.payload = UInt64(offset)
        value.isInSpill = false
        offset += count
      }
      lastRow[Int(column.cellIndex)] = value
    }
    hasLast = true
  }

  private var keptBytes: BatchBytes {
    BatchBytes(
      UnsafeRawBufferPointer(lastBytes), none: UnsafeRawPointer(columns.baseAddress!),
      cellCount: lastRow.count)
  }

  @inline(__always)
  private func cell(
    _ column: RecordEncoder.Column, _ row: UnsafePointer<Cell>, _ source: BatchBytes
  ) -> Cell {
    let index = Int(column.cellIndex)
    return index < source.cellCount ? row[index] : .null
  }

  /// Less than 0 where the first comes first.
  @inline(__always)
  private func compare(
    _ first: UnsafePointer<Cell>, _ firstBytes: BatchBytes, _ second: UnsafePointer<Cell>,
    _ secondBytes: BatchBytes
  ) -> Int {
    for column in columns {
      let left = cell(column, first, firstBytes)
      let right = cell(column, second, secondBytes)
      let order: Int
      switch (left.kind, right.kind) {
      case (.integer, .integer):
        // A REAL column may make one float of two integers.
        if case .real = column.storage {
          order = KeyOrder.compareKinds(left, right, column.storage)
        } else {
          let (left, right) = (Int64(bitPattern: left.payload), Int64(bitPattern: right.payload))
          order = left < right ? -1 : left > right ? 1 : 0
        }
      case (.text, .text), (.blob, .blob):
        let (leftCount, rightCount) = (Int(left.byteCount), Int(right.byteCount))
        let same = Int(
          memcmp(firstBytes.start(left), secondBytes.start(right), min(leftCount, rightCount)))
        order = same != 0 ? same : leftCount - rightCount
      default:
        order = KeyOrder.compareKinds(left, right, column.storage)
      }
      if order != 0 { return order }
    }
    return 0
  }

  /// Values of different kinds, or numbers of which one is a float.
  @inline(never)
  private static func compareKinds(_ left: Cell, _ right: Cell, _ storage: NumberStorage) -> Int {
    let (leftRank, rightRank) = (rank(left), rank(right))
    if leftRank != rightRank || leftRank == 0 { return leftRank - rightRank }
    if case .real = storage {
      let (left, right) = (real(left), real(right))
      return left < right ? -1 : left > right ? 1 : 0
    }
    switch (left.kind, right.kind) {
    case (.integer, .real): return compare(Int64(bitPattern: left.payload), Double(bitPattern: right.payload))
    case (.real, .integer):
      return -compare(Int64(bitPattern: right.payload), Double(bitPattern: left.payload))
    default:
      let (left, right) = (Double(bitPattern: left.payload), Double(bitPattern: right.payload))
      return left < right ? -1 : left > right ? 1 : 0
    }
  }

  private static func rank(_ value: Cell) -> Int {
    switch value.kind {
    case .absent, .null: 0
    case .integer: 1
    case .real: Double(bitPattern: value.payload).isNaN ? 0 : 1
    case .text: 2
    case .blob: 3
    }
  }

  private static func real(_ value: Cell) -> Double {
    if case .real = value.kind { return Double(bitPattern: value.payload) }
    return Double(Int64(bitPattern: value.payload))
  }

  /// An integer and a float, by their exact values.
  private static func compare(_ integer: Int64, _ real: Double) -> Int {
    if real >= 0x1p63 { return -1 }
    if real < -0x1p63 { return 1 }
    let whole = Int64(real)
    if integer != whole { return integer < whole ? -1 : 1 }
    let rounded = Double(integer)
    return rounded < real ? -1 : rounded > real ? 1 : 0
  }
}
