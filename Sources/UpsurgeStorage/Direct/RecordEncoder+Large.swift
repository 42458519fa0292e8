import UpsurgeRecords

/// Records that need overflow pages (https://www.sqlite.org/fileformat2.html#ovflpgs).
extension RecordEncoder {
  /// Makes the cell of a record, with what has no room in it on pages of its own.
  @inline(never)
  mutating func encodeLarge(
    _ source: BatchBytes, _ row: UnsafePointer<Cell>, rowid: Int64, file: PageFile
  ) throws(UpsurgeError) {
    let typesStart = types + 16
    var type = typesStart
    var bodyByteCount = 0
    for column in columns {
      let value = self.value(column, source, row, rowid: rowid)
      if value.hasBytes {
        type += Varint.write(RecordEncoder.serialType(value), to: type)
        bodyByteCount += Int(value.byteCount)
      } else {
        let number = number(value, column.storage)
        type += Varint.write(UInt64(number.type), to: type)
        bodyByteCount += number.byteCount
      }
    }
    let typeByteCount = type - typesStart
    let header = RecordEncoder.headerByteCount(typeByteCount)
    let byteCount = header + bodyByteCount
    let local = limits.local(byteCount)
    cell = memory
    var at = cell
    at += Varint.write(UInt64(byteCount), to: at)
    if hasRowid { at += Varint.write(UInt64(bitPattern: rowid), to: at) }
    cellByteCount = at - cell + local + (local < byteCount ? 4 : 0)
    var stream = PayloadStream(at, local: local, byteCount: byteCount, file: file)
    var word: UInt64 = 0
    try withUnsafeMutableBytes(of: &word) { (word) throws(UpsurgeError) in
      guard let start = word.baseAddress else { return }
      try stream.write(start, Varint.write(UInt64(header), to: start))
    }
    try stream.write(typesStart, typeByteCount)
    for column in columns {
      let value = self.value(column, source, row, rowid: rowid)
      if value.hasBytes {
        try stream.write(source.start(value), Int(value.byteCount))
      } else {
        let number = number(value, column.storage)
        var bits = number.bits.bigEndian
        try withUnsafeBytes(of: &bits) { (bits) throws(UpsurgeError) in
          guard let start = bits.baseAddress else { return }
          try stream.write(start, number.byteCount)
        }
      }
    }
    stream.end()
  }

  private func value(
    _ column: Column, _ source: BatchBytes, _ row: UnsafePointer<Cell>, rowid: Int64
  ) -> Cell {
    let index = Int(column.cellIndex)
    if index >= 0 { return index < source.cellCount ? row[index] : .null }
    return index == -1 ? .null : .integer(rowid)
  }

  private func number(_ value: Cell, _ storage: NumberStorage) -> StoredNumber {
    switch value.kind {
    case .integer: StoredNumber(Int64(bitPattern: value.payload), in: storage, sizes: sizes)
    case .real: StoredNumber(Double(bitPattern: value.payload), in: storage, sizes: sizes)
    default: StoredNumber(.nan, in: .plain, sizes: sizes)
    }
  }
}

/// Takes a record piece by piece: what goes into the cell first, the rest to a chain of overflow pages.
private struct PayloadStream {
  private var target: UnsafeMutableRawPointer
  /// Bytes that `target` still takes.
  private var room: Int
  /// Bytes of the record that are still to come.
  private var rest: Int
  /// Where the number of the first overflow page goes; nil once there is one.
  private var link: UnsafeMutableRawPointer?
  private let file: PageFile

  init(_ cell: UnsafeMutableRawPointer, local: Int, byteCount: Int, file: PageFile) {
    target = cell
    room = local
    rest = byteCount
    link = cell + local
    self.file = file
  }

  mutating func write(_ bytes: UnsafeRawPointer, _ byteCount: Int) throws(UpsurgeError) {
    var bytes = bytes
    var count = byteCount
    while count > 0 {
      if room == 0 { try beginPage() }
      let step = min(room, count)
      target.copyMemory(from: bytes, byteCount: step)
      target += step
      bytes += step
      count -= step
      room -= step
      rest -= step
    }
  }

  private mutating func beginPage() throws(UpsurgeError) {
    let (number, page) = try file.takePage()
    link?.storeBytes(of: number.bigEndian, as: UInt32.self)
    link = nil
    let byteCount = file.usableByteCount - 4
    // The rest of the chain follows at once, so the numbers are known.
    let next = rest > byteCount ? file.number(after: number) : 0
    page.storeBytes(of: next.bigEndian, as: UInt32.self)
    target = page + 4
    room = min(byteCount, rest)
    let end = 4 + room
    (page + end).initializeMemory(as: UInt8.self, repeating: 0, count: file.pageByteCount - end)
  }

  func end() { precondition(rest == 0, "a record is not as long as its header says") }
}
