import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// The key of a plan as its index sorts it, for records that are to be stored in its order.
///
/// A key is looked at in *chunks* of 64 bits that compare as SQLite compares the values. NULL comes before numbers, text and
/// blobs. Numbers compare as doubles; text and blobs by seven bytes at a time, and by how many bytes there are.
///
///     bits 63, 62   0 NULL, 1 number, 2 text, 3 blob
///     number        the upper 62 bits of the double, made to compare as an integer
///     text, blob    seven bytes, zeros after the last one; 4 bits: bytes from here on, 8 for more than seven
///
/// Keys that are equal to SQLite have equal chunks, so a stable sort leaves records of one row in the order of the
/// input. The reverse need not hold (integers beyond 2^50): that costs a little of the order, which is only for speed.
struct SortKey {
  struct Part {
    var cellIndex: Int
    /// The kinds of cells whose value is stored as it is, one bit each; others may become equal to another value.
    var kinds: UInt8
  }

  let parts: [Part]
  /// The cells of the parts; kept, because batches share it.
  let cellIndexes: [Int]
  /// The key's columns, for people.
  let words: String

  /// So many chunks of a text are looked at.
  static let chunkLimit = 64

  /// nil where the order of records of different rows could be seen, or the key cannot be sorted here.
  init?(_ plan: UpsertPlan) {
    guard plan.sortObstacle == nil, let key = plan.key, let columns = key.columns else { return nil }
    var parts: [Part] = []
    for name in columns {
      guard let index = plan.schema.columnIndex(name),
        let slot = plan.slots.first(where: { $0.columnIndex == index })
      else { return nil }
      parts.append(Part(cellIndex: slot.cellIndex, kinds: Self.kinds(plan.schema, index)))
    }
    self.parts = parts
    cellIndexes = parts.map(\.cellIndex)
    words = columns.joined(separator: ", ").escapedForTerminal
  }

  private static func kinds(_ schema: TableSchema, _ column: Int) -> UInt8 {
    var kinds: [Cell.Kind] = [.null, .blob]
    switch schema.columns[column].affinity {
    case .none: kinds += [.integer, .real, .text]
    case .text: kinds += [.text]
    case .numeric, .integer, .real: kinds += [.integer, .real]
    }
    // An INTEGER PRIMARY KEY that is NULL gets its number when its turn comes.
    if schema.rowidAlias == column { kinds = [.integer, .real] }
    return kinds.reduce(0) { $0 | 1 << $1.rawValue }
  }

  /// Whether every record has a key that can be sorted.
  func fits(_ batch: borrowing Batch) -> Bool {
    let (cells, cellCount) = (batch.cells, batch.columnCount)
    for part in parts {
      guard part.cellIndex < cellCount else { return false }
      for record in 0..<batch.recordCount {
        let kind = cells[record * cellCount + part.cellIndex].kind
        if part.kinds & (1 << kind.rawValue) == 0 { return false }
      }
    }
    return true
  }

  /// Whether a record has a key that can be sorted: of the cells of `parts`, no other kinds than theirs.
  func fits(_ record: Int, of batch: borrowing Batch) -> Bool {
    for part in parts {
      let kind = batch.cells[record * batch.columnCount + part.cellIndex].kind
      if part.kinds & (1 << kind.rawValue) == 0 { return false }
    }
    return true
  }

  /// Whether the keys of a batch's first records clearly come in no order.
  func isUnordered(_ batch: borrowing Batch) -> Bool {
    let count = min(batch.recordCount, Self.sampleCount)
    guard count > 1, parts.allSatisfy({ $0.cellIndex < batch.columnCount }) else { return false }
    let chunks = KeyChunks(self, batch)
    var descents = 0
    for record in 1..<count where chunks.isLess(record, record - 1) { descents += 1 }
    return descents * Self.leastDescents >= count
  }

  private static let sampleCount = 256
  /// Of so many neighbours at least one must descend; of random keys every second does.
  private static let leastDescents = 6
}

/// The chunks of one batch's keys.
struct KeyChunks: KeyChunkSource {
  private let cells: UnsafeMutablePointer<Cell>
  private let cellCount: Int
  private let arena: UnsafeRawPointer
  private let spill: UnsafeRawPointer
  private let indexes: [Int]

  init(_ key: SortKey, _ batch: borrowing Batch) {
    cells = batch.cells
    cellCount = batch.columnCount
    arena = UnsafeRawPointer(batch.arena)
    spill = UnsafeRawPointer(batch.spill)
    indexes = key.cellIndexes
  }

  var partCount: Int { indexes.count }

  @inline(__always)
  func chunk(_ record: UInt32, part: Int, depth: Int) -> UInt64 {
    chunk(Int(record), cellIndex: indexes[part], depth: depth)
  }

  @inline(__always)
  func goesOn(behind chunk: UInt64, depth: Int) -> Bool {
    Self.goesOn(chunk) && depth + 1 < SortKey.chunkLimit
  }

  /// A chunk of a record's key; `depth` counts those of one part.
  @inline(__always)
  private func chunk(_ record: Int, cellIndex: Int, depth: Int) -> UInt64 {
    let cell = cells[record * cellCount + cellIndex]
    switch cell.kind {
    case .null, .absent: return 0
    case .integer: return Self.number(Double(Int64(bitPattern: cell.payload)))
    case .real: return Self.number(Double(bitPattern: cell.payload))
    case .text: return 2 << 62 | bytes(of: cell, depth: depth)
    case .blob: return 3 << 62 | bytes(of: cell, depth: depth)
    }
  }

  /// Whether the value goes on after this chunk.
  @inline(__always)
  static func goesOn(_ chunk: UInt64) -> Bool { chunk >> 63 == 1 && chunk & 15 == 8 }

  @inline(__always)
  static func number(_ value: Double) -> UInt64 { 1 << 62 | ordered(value) >> 2 }

  /// The bits of a double, made to compare as an integer; minus zero is zero.
  @inline(__always)
  static func ordered(_ value: Double) -> UInt64 {
    let bits = (value + 0).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  @inline(__always)
  private func bytes(of cell: Cell, depth: Int) -> UInt64 {
    let start = (cell.isInSpill ? spill : arena) + Int(truncatingIfNeeded: cell.payload)
    return Self.bytes(start, Int(cell.byteCount), depth: depth)
  }

  /// Seven bytes of a text or BLOB, and how many there are from there on, 8 for more than seven.
  @inline(__always)
  static func bytes(_ value: UnsafeRawPointer, _ byteCount: Int, depth: Int) -> UInt64 {
    let start = value + 7 * depth
    let count = byteCount - 7 * depth
    if count >= 8 {
      let word = UInt64(bigEndian: start.loadUnaligned(as: UInt64.self))
      return (word >> 8) << 4 | 8
    }
    var word: UInt64 = 0
    for index in 0..<count {
      word |= UInt64(start.load(fromByteOffset: index, as: UInt8.self)) << UInt64(48 - 8 * index)
    }
    return word << 4 | UInt64(count)
  }

  /// Whether one record's key comes before another one's.
  func isLess(_ left: Int, _ right: Int) -> Bool {
    for index in indexes {
      for depth in 0..<SortKey.chunkLimit {
        let (first, second) = (
          chunk(left, cellIndex: index, depth: depth), chunk(right, cellIndex: index, depth: depth)
        )
        if first != second { return first < second }
        if !Self.goesOn(first) { break }
      }
    }
    return false
  }
}
