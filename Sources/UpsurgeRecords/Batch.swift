/// The records handed from the parsing thread to the writer thread at once.
///
///     arena    | record | record | ... | record | unparsed tail | free |
///              0                                ^parsedByteCount ^arenaByteCount   ^arenaCapacity
///     spill    | unescaped text | free |
///     cells    recordCount x columnCount, row-major; cell (r, c) is cells[r * columnCount + c]
///     records  one RecordPosition a record
///
/// The source (or the decompressor) writes straight into the arena; the parser finds records there and makes
/// cells that point into it; the writer binds them in place. The arena's bytes are never changed after they
/// are written, so a record's raw bytes can always be shown; what must be unescaped or decoded goes to the spill.
/// That never needs more room than the arena, but for what is longer than its text (a file's bytes, surplus fields
/// as JSON): for those the parser asks with `growth.wantedSpillByteCount`.
///
/// Invariants: `parsedByteCount <= arenaByteCount <= arenaCapacity`, `parsedByteCount` is a record border,
/// and every text cell lies within `arena[0..<parsedByteCount]` or `spill[0..<spillByteCount]`.
package struct Batch: ~Copyable, @unchecked Sendable {
  // Sendable because it owns its memory and is only ever moved from thread to thread, never shared.

  /// The source's decoded bytes.
  package private(set) var arena: UnsafeMutablePointer<UInt8>
  package private(set) var arenaCapacity: Int
  /// Bytes that the source has written.
  package var arenaByteCount = 0
  /// Bytes that the parser is done with.
  package var parsedByteCount = 0

  /// Text that had to be unescaped; as large as the arena or larger (untouched pages cost nothing).
  package private(set) var spill: UnsafeMutablePointer<UInt8>
  package private(set) var spillCapacity: Int
  package var spillByteCount = 0

  /// Row-major cells; room for `cellCapacity`.
  package private(set) var cells: UnsafeMutablePointer<Cell>
  package private(set) var cellCapacity: Int
  /// Cells a record: the number of columns known when the batch was begun.
  package internal(set) var columnCount = 0

  package private(set) var records: UnsafeMutablePointer<RecordPosition>
  package private(set) var recordCapacity: Int
  package var recordCount = 0

  package var origin = Origin()
  /// Whether any cell is `.absent` (only JSON records leave columns out).
  package var hasAbsentCells = false
  /// Set by the parser when the next record needs a new batch (a column appeared).
  package var isClosed = false
  package var growth = Growth()
  /// Records that could not be parsed, in input order; they are part of `read`.
  package var rejects: [Reject] = []
  private var rejectedByteCount = 0
  package var warnings = WarningLog()
  /// Columns that records of this batch speak of for the first time; already part of `columnCount`.
  package var newColumns: [ColumnTarget] = []
  /// The names that a line of their own gives to the elements of array records; empty for all other records.
  package var elementNames: [String] = []

  /// The batches that this one was put together from; empty for one that comes from a parser.
  package internal(set) var parts: [Part] = []

  private let layout: Layout

  /// Where the records come from.
  package struct Origin: Sendable {
    /// Which source of the run.
    package var sourceIndex = 0
    /// Offset of `arena[0]` in the decoded stream, in bytes.
    package var sourceOffset: UInt64 = 0
    /// Where reading can begin again before the batch; nil where the parser was inside something.
    package var restart: Restart?
  }

  /// How much larger than its first sizes the batch is to be.
  package struct Growth: Sendable {
    /// Set by the parser when the first record needs a larger spill; the caller gives it and parses again.
    package var wantedSpillByteCount = 0
    /// The part of it that is for the record itself, not for the later ones.
    package var wantedRecordByteCount = 0
    /// What the pool has allowed the batch to be larger than standard.
    package var permittedByteCount = 0
  }

  /// The memory that the batch has when it is empty.
  private struct Layout {
    let sizes: Sizes
    /// Whether cells and positions lie in memory that was reserved.
    let isReserved: Bool
  }

  /// How large the parts of a batch are.
  package struct Sizes: Sendable {
    package var arenaByteCount: Int
    /// What the spill has more than the arena, where values become longer than they are written.
    package var extraSpillByteCount = 0
    package var cellCount: Int
    package var recordCount: Int

    /// 256 KiB of input, 65,536 cells (1 MiB), 32,768 records (768 KiB): fits a second-level cache.
    package static let standard = Sizes(
      arenaByteCount: 256 << 10, cellCount: 64 << 10, recordCount: 32 << 10)

    package init(arenaByteCount: Int, cellCount: Int, recordCount: Int) {
      precondition(arenaByteCount > 0 && cellCount > 0 && recordCount > 0, "a batch needs room")
      self.arenaByteCount = arenaByteCount
      self.cellCount = cellCount
      self.recordCount = recordCount
    }

    fileprivate var spillByteCount: Int { arenaByteCount + extraSpillByteCount }
  }

  package init(sizes: Sizes = .standard) {
    layout = Layout(sizes: sizes, isReserved: false)
    arenaCapacity = sizes.arenaByteCount
    arena = ArenaMemory.allocate(sizes.arenaByteCount)
    spill = ArenaMemory.allocate(sizes.spillByteCount)
    spillCapacity = sizes.spillByteCount
    cellCapacity = sizes.cellCount
    cells = .allocate(capacity: sizes.cellCount)
    recordCapacity = sizes.recordCount
    records = .allocate(capacity: sizes.recordCount)
  }

  /// A batch for others to be appended to, whose parts take memory only where they are touched.
  /// - Parameter byteCount: of each part, at least 1 MiB.
  /// - Returns: nil where the system has no room for them.
  package static func reserved(byteCount: Int) -> Batch? {
    var parts: [UnsafeMutablePointer<UInt8>] = []
    for _ in 0..<4 {
      guard let part = ArenaMemory.reserve(byteCount) else {
        for part in parts { ArenaMemory.deallocate(part, byteCount) }
        return nil
      }
      parts.append(part)
    }
    return Batch(parts, byteCount: byteCount)
  }

  private init(_ parts: [UnsafeMutablePointer<UInt8>], byteCount: Int) {
    arena = parts[0]
    arenaCapacity = byteCount
    spill = parts[1]
    spillCapacity = byteCount
    cellCapacity = byteCount / MemoryLayout<Cell>.stride
    cells = UnsafeMutableRawPointer(parts[2]).bindMemory(to: Cell.self, capacity: cellCapacity)
    recordCapacity = byteCount / MemoryLayout<RecordPosition>.stride
    records = UnsafeMutableRawPointer(parts[3]).bindMemory(to: RecordPosition.self, capacity: recordCapacity)
    layout = Layout(
      sizes: Sizes(arenaByteCount: byteCount, cellCount: cellCapacity, recordCount: recordCapacity),
      isReserved: true)
  }

  deinit {
    ArenaMemory.deallocate(arena, arenaCapacity)
    ArenaMemory.deallocate(spill, spillCapacity)
    if layout.isReserved {
      for part in [UnsafeMutableRawPointer(cells), UnsafeMutableRawPointer(records)] {
        ArenaMemory.deallocate(part.assumingMemoryBound(to: UInt8.self), layout.sizes.arenaByteCount)
      }
    } else {
      cells.deallocate()
      records.deallocate()
    }
  }

  /// Makes the batch empty, with its first sizes, for the next records.
  package mutating func reset() {
    let sizes = layout.sizes
    if arenaCapacity != sizes.arenaByteCount { replaceArena(capacity: sizes.arenaByteCount) }
    if spillCapacity != sizes.spillByteCount { replaceSpill(capacity: sizes.spillByteCount) }
    if cellCapacity > sizes.cellCount { replaceCells(capacity: sizes.cellCount) }
    growth.wantedSpillByteCount = 0
    growth.wantedRecordByteCount = 0
    arenaByteCount = 0
    parsedByteCount = 0
    origin.sourceOffset = 0
    spillByteCount = 0
    columnCount = 0
    recordCount = 0
    origin.sourceIndex = 0
    if origin.restart != nil { origin.restart = nil }
    hasAbsentCells = false
    isClosed = false
    if !rejects.isEmpty { rejects = [] }
    rejectedByteCount = 0
    if !warnings.isEmpty { warnings = WarningLog() }
    if !newColumns.isEmpty { newColumns = [] }
    if !elementNames.isEmpty { elementNames = [] }
    if !parts.isEmpty { parts = [] }
  }

  /// Makes a reserved batch empty, and lets go of the memory that its parts have touched.
  package mutating func discard() {
    precondition(layout.isReserved, "only what is reserved can be touched anew")
    reset()
    for part in [arena, spill] { ArenaMemory.discard(part, layout.sizes.arenaByteCount) }
    ArenaMemory.discard(cells, layout.sizes.arenaByteCount)
    ArenaMemory.discard(records, layout.sizes.arenaByteCount)
  }

  /// Bytes of text that the batch has room for.
  package var textCapacity: Int { arenaCapacity + spillCapacity }

  /// Sets the cells a record, before the first record; makes room for one record at least.
  package mutating func begin(columnCount: Int) {
    precondition(recordCount == 0, "the columns of a batch are set before its first record")
    self.columnCount = columnCount
    if columnCount > cellCapacity { replaceCells(capacity: columnCount) }
  }

  /// Whether there is room for one more record.
  @inlinable package var hasRoomForRecord: Bool {
    recordCount < recordCapacity && (recordCount + 1) * columnCount <= cellCapacity && !isClosed
  }

  /// Whether the batch holds nothing worth handing on.
  package var isEmpty: Bool {
    recordCount == 0 && rejects.isEmpty && warnings.isEmpty && newColumns.isEmpty
  }

  /// Enlarges the arena for a record that does not fit; keeps its bytes. Only before the first record.
  package mutating func growArena(to capacity: Int) {
    precondition(recordCount == 0 && capacity > arenaCapacity, "only an empty batch grows")
    let old = arena
    arena = ArenaMemory.allocate(capacity)
    ArenaMemory.move(old, count: arenaByteCount, to: arena, fromCapacity: arenaCapacity)
    ArenaMemory.deallocate(old, arenaCapacity)
    arenaCapacity = capacity
    if spillCapacity < capacity { replaceSpill(capacity: capacity) }
    spillByteCount = 0
  }

  /// Enlarges the spill as the parser has asked. Only before the first record.
  package mutating func growSpill() {
    precondition(recordCount == 0 && growth.wantedSpillByteCount > spillCapacity, "only an empty batch grows")
    replaceSpill(capacity: growth.wantedSpillByteCount)
    spillByteCount = 0
    growth.wantedSpillByteCount = 0
    growth.wantedRecordByteCount = 0
  }

  /// Takes over the unparsed tail of the batch before it; grows just enough when the tail is larger than the arena.
  package mutating func takeTail(of previous: inout Batch) {
    let count = previous.arenaByteCount - previous.parsedByteCount
    if count >= arenaCapacity { growArena(to: count + 1) }
    ArenaMemory.move(
      previous.arena + previous.parsedByteCount, count: count, to: arena, fromCapacity: previous.arenaCapacity
    )
    arenaByteCount = count
    origin.sourceOffset = previous.origin.sourceOffset + UInt64(previous.parsedByteCount)
    previous.arenaByteCount = previous.parsedByteCount
  }

  /// The part of the arena that the source may write to next.
  package var freeArena: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: arena + arenaByteCount, count: arenaCapacity - arenaByteCount)
  }

  /// Takes a record that cannot be stored. A batch with many of them, or with much of their text, is closed, so that
  /// bad input cannot fill the memory.
  package mutating func take(_ reject: Reject) {
    rejectedByteCount += reject.raw.count
    rejects.append(reject)
    if rejects.count >= Batch.rejectLimit || rejectedByteCount >= Batch.rejectedByteLimit { isClosed = true }
  }

  /// Rejects of one batch at most.
  package static let rejectLimit = 4096
  /// Bytes that the rejects of one batch hold, but for the last one.
  package static let rejectedByteLimit = 512 << 10

  /// Leaves out the records after the one with this number, rejected ones too.
  /// - Returns: the number of the last one that stays; 0 without one.
  package mutating func trim(toRecord limit: UInt64) -> UInt64 {
    while recordCount > 0 && records[recordCount - 1].number > limit { recordCount -= 1 }
    while let number = rejects.last?.position.record, number > limit { rejects.removeLast() }
    return max(recordCount > 0 ? records[recordCount - 1].number : 0, rejects.last?.position.record ?? 0)
  }

  /// Makes cells NULL that no record speaks of, in some columns.
  package mutating func makeNull(where slots: [Int]) {
    for record in 0..<recordCount {
      for slot in slots where slot < columnCount && cells[record * columnCount + slot].kind == .absent {
        cells[record * columnCount + slot] = .null
      }
    }
  }

  /// A record's bytes as they stood in the input.
  package func rawBytes(of record: Int) -> UnsafeBufferPointer<UInt8> {
    let position = records[record]
    return UnsafeBufferPointer(start: arena + Int(position.arenaOffset), count: Int(position.byteCount))
  }

  /// Where a record stands in the input.
  package func position(of record: Int, file: String) -> Position {
    let position = records[record]
    return Position(
      file: file, record: position.number, line: position.line,
      byte: origin.sourceOffset + UInt64(position.arenaOffset))
  }

  /// The bytes of a text or blob cell; valid until the batch is reset or grows.
  @inlinable package func bytes(of cell: Cell) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: (cell.isInSpill ? spill : arena) + Int(truncatingIfNeeded: cell.payload),
      count: Int(cell.byteCount))
  }

  /// Appends bytes to the spill, after those of the records, and makes room for them where it lacks.
  /// - Returns: their offset.
  package mutating func append(text bytes: [UInt8]) -> Int {
    let offset = spillByteCount
    if spillCapacity - offset < bytes.count {
      let (old, capacity) = (spill, spillCapacity)
      spillCapacity = offset + bytes.count
      spill = ArenaMemory.allocate(spillCapacity)
      spill.update(from: old, count: offset)
      ArenaMemory.deallocate(old, capacity)
    }
    (spill + offset).update(from: bytes, count: bytes.count)
    spillByteCount += bytes.count
    return offset
  }

  private mutating func replaceCells(capacity: Int) {
    precondition(!layout.isReserved, "what is reserved never grows")
    cells.deallocate()
    cells = .allocate(capacity: capacity)
    cellCapacity = capacity
  }

  private mutating func replaceArena(capacity: Int) {
    ArenaMemory.deallocate(arena, arenaCapacity)
    arena = ArenaMemory.allocate(capacity)
    arenaCapacity = capacity
  }

  private mutating func replaceSpill(capacity: Int) {
    ArenaMemory.deallocate(spill, spillCapacity)
    spill = ArenaMemory.allocate(capacity)
    spillCapacity = capacity
  }
}

/// Where a record of a batch stands, 24 bytes.
@frozen
package struct RecordPosition: Sendable {
  /// Offset of the record's first byte in the arena.
  package var arenaOffset: UInt32
  /// Length of the record in bytes, without its line end.
  package var byteCount: UInt32
  /// Physical line on which the record starts, from 1.
  package var line: UInt64
  /// Number of the record in its file, from 1; rejected records count.
  package var number: UInt64

  @inlinable
  package init(arenaOffset: Int, byteCount: Int, line: UInt64, number: UInt64) {
    self.arenaOffset = UInt32(truncatingIfNeeded: arenaOffset)
    self.byteCount = UInt32(truncatingIfNeeded: byteCount)
    self.line = line
    self.number = number
  }
}
