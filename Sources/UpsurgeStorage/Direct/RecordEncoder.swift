import UpsurgeRecords

/// Makes the cells of a tree's leaves out of the records of a batch
/// (https://www.sqlite.org/fileformat2.html#record_format).
///
///     | record size | rowid | header size, serial types | values |
///                                                       ^bodyStart
///
/// In one pass: the values are written from `bodyStart` on and the serial types beside, and then, as their number is
/// known, everything else is put in front, backwards. A record that needs overflow pages goes by `encodeLarge`.
struct RecordEncoder: ~Copyable {
  /// One value of the record.
  struct Column {
    /// The cell; negative for what is no cell.
    var cellIndex: Int32
    var storage: NumberStorage

    /// NULL: the INTEGER PRIMARY KEY, whose value is the rowid, and what no record speaks of.
    static let null = Column(cellIndex: -1, storage: .plain)
    /// The rowid, at the end of an index's entries.
    static let rowid = Column(cellIndex: -2, storage: .plain)
  }

  let columns: UnsafeMutableBufferPointer<Column>
  let limits: LocalLimits
  let hasRowid: Bool
  let sizes: UnsafeMutablePointer<UInt8>
  /// Serial types of the record at hand, with 16 bytes in front that mean nothing.
  let types: UnsafeMutableRawPointer
  let memory: UnsafeMutableRawPointer
  /// Bytes that are allocated for a record.
  let memoryByteCount: Int
  let bodyStart: UnsafeMutableRawPointer
  /// Texts end here at most.
  private let bodyEnd: UnsafeMutableRawPointer
  /// The cell that was made last.
  var cell: UnsafeMutableRawPointer
  var cellByteCount = 0

  /// What may be written after a value that is copied in steps of 16 bytes.
  private static let slack = 64

  /// - Parameter hasRowid: whether the rowid stands in the cell, as in a table's leaf.
  init(_ columns: [Column], limits: LocalLimits, hasRowid: Bool) {
    self.columns = .allocate(capacity: columns.count)
    _ = self.columns.initialize(from: columns)
    self.limits = limits
    self.hasRowid = hasRowid
    sizes = StoredNumber.makeSizes()
    types = .allocate(byteCount: 16 + 5 * columns.count + 16, alignment: 16)
    types.initializeMemory(as: UInt8.self, repeating: 0, count: 16)
    let front = 3 * Varint.byteLimit + 5 * columns.count + 16
    let body = limits.most + 8 * columns.count + RecordEncoder.slack
    memoryByteCount = front + body
    memory = .allocate(byteCount: memoryByteCount, alignment: 16)
    bodyStart = memory + front
    bodyEnd = bodyStart + limits.most
    cell = bodyStart
  }

  deinit {
    columns.deallocate()
    sizes.deallocate()
    types.deallocate()
    memory.deallocate()
  }

  /// Makes the cell of a record.
  /// - Returns: false when the record needs overflow pages; nothing is made then.
  @inline(__always)
  mutating func encode(_ source: BatchBytes, _ row: UnsafePointer<Cell>, rowid: Int64) -> Bool {
    let sizes = UnsafePointer(self.sizes)
    let (bodyStart, bodyEnd) = (self.bodyStart, self.bodyEnd)
    let typesStart = types + 16
    var type = typesStart
    var body = bodyStart
    let absent = Cell.absent
    for column in UnsafeBufferPointer(columns) {
      let index = Int(truncatingIfNeeded: column.cellIndex)
      var value = absent
      if index >= 0 {
        if index < source.cellCount { value = row[index] }
      } else if index == -2 {
        value = .integer(rowid)
      }
      switch value.kind {
      case .text:
        guard source.append(value, serialType: 13, &type, &body, end: bodyEnd) else { return false }
      case .blob:
        guard source.append(value, serialType: 12, &type, &body, end: bodyEnd) else { return false }
      case .integer:
        StoredNumber(Int64(bitPattern: value.payload), in: column.storage, sizes: sizes).append(&type, &body)
      case .real:
        StoredNumber(Double(bitPattern: value.payload), in: column.storage, sizes: sizes).append(&type, &body)
      case .null, .absent:
        type.storeBytes(of: 0, as: UInt8.self)
        type += 1
      }
    }
    let typeByteCount = type - typesStart
    let header = RecordEncoder.headerByteCount(typeByteCount)
    let byteCount = header &+ (body - bodyStart)
    if byteCount > limits.most { return false }
    if typeByteCount <= 16 {
      // What stands before the types goes where nothing is yet.
      (bodyStart - 16).storeBytes(
        of: (type - 16).loadUnaligned(as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
    } else {
      (bodyStart - typeByteCount).copyMemory(from: typesStart, byteCount: typeByteCount)
    }
    var start = Varint.write(UInt64(truncatingIfNeeded: header), endingAt: bodyStart - typeByteCount)
    if hasRowid { start = Varint.write(UInt64(bitPattern: rowid), endingAt: start) }
    start = Varint.write(UInt64(truncatingIfNeeded: byteCount), endingAt: start)
    cell = start
    cellByteCount = body - start
    return true
  }

  /// The serial type of a text or BLOB.
  @inline(__always)
  static func serialType(_ value: Cell) -> UInt64 {
    if case .text = value.kind { return UInt64(value.byteCount) &* 2 &+ 13 }
    return UInt64(value.byteCount) &* 2 &+ 12
  }

  /// Bytes of a record's header, its own size included.
  @inline(__always)
  static func headerByteCount(_ typeByteCount: Int) -> Int {
    if typeByteCount <= 126 { return typeByteCount + 1 }
    let count = typeByteCount + Varint.byteCount(UInt64(typeByteCount))
    // The size itself may need one more byte to be told.
    return typeByteCount + Varint.byteCount(UInt64(count))
  }
}

/// Where the texts of a batch lie, and how many cells its records have.
struct BatchBytes {
  let arena: UnsafeRawPointer
  let spill: UnsafeRawPointer
  let arenaCapacity: Int
  let spillCapacity: Int
  let cellCount: Int

  @inline(__always)
  init(_ batch: borrowing Batch) {
    arena = UnsafeRawPointer(batch.arena)
    spill = UnsafeRawPointer(batch.spill)
    arenaCapacity = batch.arenaCapacity
    spillCapacity = batch.spillCapacity
    cellCount = batch.columnCount
  }

  /// Texts that lie in one piece of memory.
  init(_ bytes: UnsafeRawBufferPointer, none: UnsafeRawPointer, cellCount: Int) {
    arena = bytes.baseAddress ?? none
    spill = arena
    arenaCapacity = bytes.count
    spillCapacity = bytes.count
    self.cellCount = cellCount
  }

  /// The first byte of a text or BLOB.
  @inline(__always)
  func start(_ value: Cell) -> UnsafeRawPointer {
    (value.isInSpill ? spill : arena) + Int(truncatingIfNeeded: value.payload)
  }

  /// Adds a text or BLOB to a record.
  /// - Parameter serialType: that of an empty one.
  /// - Returns: false when it would go beyond `end`.
  @inline(__always)
  func append(
    _ value: Cell, serialType: UInt64, _ type: inout UnsafeMutableRawPointer,
    _ body: inout UnsafeMutableRawPointer, end: UnsafeMutableRawPointer
  ) -> Bool {
    let count = Int(truncatingIfNeeded: value.byteCount)
    if count > end - body { return false }
    type += Varint.write(UInt64(truncatingIfNeeded: count) &* 2 &+ serialType, to: type)
    copy(value, count, to: body)
    body += count
    return true
  }

  /// Copies a text or BLOB; up to 31 bytes after it may be written.
  @inline(__always)
  private func copy(_ value: Cell, _ count: Int, to target: UnsafeMutableRawPointer) {
    let offset = Int(truncatingIfNeeded: value.payload)
    let start = (value.isInSpill ? spill : arena) + offset
    // Short texts in one step, where the memory goes on after them.
    if count <= 32 && offset &+ 32 <= (value.isInSpill ? spillCapacity : arenaCapacity) {
      target.storeBytes(of: start.loadUnaligned(as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
      if count > 16 {
        (target + 16).storeBytes(
          of: (start + 16).loadUnaligned(as: SIMD2<UInt64>.self), as: SIMD2<UInt64>.self)
      }
    } else {
      target.copyMemory(from: start, byteCount: count)
    }
  }
}
