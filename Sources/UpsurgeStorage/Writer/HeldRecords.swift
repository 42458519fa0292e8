import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Records that may have to be stored once more, because references of their transaction are open.
///
/// The records stand in a temporary database, which has a small cache and beyond that a file without a name: however many they
/// are, they take no memory. What is kept of a batch is a *slice*; a record is named by its *ordinal*, the number of its
/// slice and its place there.
final class HeldRecords {
  private let store: Connection
  private let insertSlice: Statement
  private let insertPiece: Statement
  private let insertReject: Statement
  private(set) var sliceCount = 0
  private var pieceCount: Int64 = 0
  /// The columns that the records of a slice speak of.
  private var columnSets: [[ColumnTarget]] = []

  private static let pieceByteCount = 1 << 20
  private static let cacheKibibytes = 512

  /// A place for records and for what else is to be kept as long as they are.
  /// - Parameter more: SQL of the tables for the latter.
  init(_ more: String) throws(UpsurgeError) {
    store = try Connection(path: "the temporary database", createIfMissing: true, isTemporary: true)
    try store.execute(
      """
      PRAGMA page_size=16384; PRAGMA temp_store=FILE; PRAGMA cache_size=-\(Self.cacheKibibytes);
      PRAGMA synchronous=OFF; BEGIN;
      CREATE TABLE slice(id INTEGER PRIMARY KEY, source, offset, records, width, columns, arena, spill, absent, pieces);
      CREATE TABLE piece(id INTEGER PRIMARY KEY, bytes);
      CREATE TABLE parsed(
        slice, number, code, file, record, line, byte, "column", reason, hint, raw, cut, PRIMARY KEY (slice, number)
      ) WITHOUT ROWID;
      \(more)
      """)
    insertSlice = try store.prepare("INSERT INTO slice VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
    insertPiece = try store.prepare("INSERT INTO piece VALUES(?1, ?2)")
    insertReject = try store.prepare(
      "INSERT INTO parsed VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")
  }

  /// Compiles a statement on what is kept with the records.
  func prepare(_ sql: String) throws(UpsurgeError) -> Statement { try store.prepare(sql, isPersistent: true) }

  /// Hands the records over to the calling thread.
  func moveToCurrentThread() { store.moveToCurrentThread() }

  /// Runs statements on what is kept with the records.
  func execute(_ sql: String) throws(UpsurgeError) { try store.execute(sql) }

  /// What a slice's columns are.
  func columns(of slice: Int) throws(UpsurgeError) -> [ColumnTarget] {
    let index = try store.integer("SELECT columns FROM slice WHERE id = \(slice)") ?? 0
    return columnSets[Int(index)]
  }

  func clear() throws(UpsurgeError) {
    if sliceCount == 0 { return }
    try store.execute("DELETE FROM slice; DELETE FROM piece; DELETE FROM parsed")
    (sliceCount, pieceCount, columnSets) = (0, 0, [])
  }

  // MARK: - Keeping

  /// Keeps a part of a batch as the next slice.
  func keep(
    _ batch: borrowing Batch, records: Range<Int>, rejects: Range<Int>, columns: [ColumnTarget]
  ) throws(UpsurgeError) {
    if records.isEmpty && rejects.isEmpty { return }
    if columnSets.last != columns { columnSets.append(columns) }
    let width = batch.columnCount
    let cells = UnsafeBufferPointer(
      start: batch.cells + records.lowerBound * width, count: records.count * width)
    let positions = UnsafeBufferPointer(start: batch.records + records.lowerBound, count: records.count)
    var (arena, spill) = (Extent(), Extent())
    for position in positions { arena.include(Int(position.arenaOffset), Int(position.byteCount)) }
    for cell in cells where (cell.kind == .text || cell.kind == .blob) && cell.byteCount > 0 {
      if cell.isInSpill {
        spill.include(Int(cell.payload), Int(cell.byteCount))
      } else {
        arena.include(Int(cell.payload), Int(cell.byteCount))
      }
    }
    let first = pieceCount
    try keep(UnsafeRawBufferPointer(positions))
    try keep(UnsafeRawBufferPointer(cells))
    try keep(UnsafeRawBufferPointer(start: batch.arena + arena.start, count: arena.count))
    try keep(UnsafeRawBufferPointer(start: batch.spill + spill.start, count: spill.count))
    let numbers = [
      sliceCount, batch.origin.sourceIndex, Int(batch.origin.sourceOffset), records.count, width,
      columnSets.count - 1,
      arena.start << 32 | arena.count, spill.start << 32 | spill.count, batch.hasAbsentCells ? 1 : 0,
      Int(first),
    ]
    for (index, number) in numbers.enumerated() { try insertSlice.bind(Int64(number), at: Int32(index + 1)) }
    _ = try insertSlice.step()
    insertSlice.reset()
    for index in rejects { try keep(batch.rejects[index], number: index - rejects.lowerBound) }
    sliceCount += 1
  }

  /// A range of bytes that grows.
  private struct Extent {
    private var lower = Int.max
    private var upper = 0
    var start: Int { min(lower, upper) }
    var count: Int { max(0, upper - lower) }

    mutating func include(_ offset: Int, _ byteCount: Int) {
      lower = min(lower, offset)
      upper = max(upper, offset + byteCount)
    }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) throws(UpsurgeError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceByteCount))
      try insertPiece.bind(pieceCount, at: 1)
      // In place: the binding is gone before the batch is.
      try store.check(sqlite3_bind_blob64(insertPiece.handle, 2, piece.baseAddress, UInt64(piece.count), nil))
      defer {
        insertPiece.reset()
        sqlite3_clear_bindings(insertPiece.handle)
      }
      _ = try insertPiece.step()
      pieceCount += 1
      rest = rest.dropFirst(piece.count)
    }
  }

  private func keep(_ reject: Reject, number: Int) throws(UpsurgeError) {
    func text(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }
    func integer(_ number: UInt64?) -> SQLValue { number.map { .integer(Int64(bitPattern: $0)) } ?? .null }
    let position = reject.position
    let values: [SQLValue] = [
      .integer(Int64(sliceCount)), .integer(Int64(number)), .text(reject.code.rawValue), .text(position.file),
      integer(position.record), integer(position.line), integer(position.byte), text(reject.column),
      .text(reject.said.stored), text(reject.remedy?.stored), .blob(reject.raw), .integer(reject.isRawCut ? 1 : 0),
    ]
    for (index, value) in values.enumerated() { try insertReject.bind(value, at: Int32(index + 1)) }
    defer { insertReject.reset() }
    _ = try insertReject.step()
  }

  // MARK: - Giving back

  /// A slice as a batch of its own.
  func slice(_ slice: Int) throws(UpsurgeError) -> Batch {
    let found = try store.prepare("SELECT * FROM slice WHERE id = \(slice)")
    guard try found.step() else { preconditionFailure("there is no slice \(slice)") }
    func number(_ column: Int32) -> Int { Int(found.integer(at: column)) }
    let (recordCount, width) = (number(3), number(4))
    let (arenaStart, arenaCount) = (number(6) >> 32, number(6) & 0xFFFF_FFFF)
    let (spillStart, spillCount) = (number(7) >> 32, number(7) & 0xFFFF_FFFF)
    var batch = Batch(
      sizes: .init(
        arenaByteCount: max(arenaCount, 1), cellCount: max(recordCount * width, 1),
        recordCount: max(recordCount, 1)))
    if spillCount > batch.spillCapacity {
      batch.growth.wantedSpillByteCount = spillCount
      batch.growSpill()
    }
    batch.begin(columnCount: width)
    batch.origin.sourceIndex = number(1)
    batch.origin.sourceOffset = UInt64(number(2)) + UInt64(arenaStart)
    batch.hasAbsentCells = number(8) != 0
    let pieces = try store.prepare("SELECT bytes FROM piece WHERE id >= \(number(9)) ORDER BY id")
    try give(pieces, to: batch.records, count: recordCount * MemoryLayout<RecordPosition>.stride)
    try give(pieces, to: batch.cells, count: recordCount * width * MemoryLayout<Cell>.stride)
    try give(pieces, to: batch.arena, count: arenaCount)
    try give(pieces, to: batch.spill, count: spillCount)
    for record in 0..<recordCount { batch.records[record].arenaOffset -= UInt32(arenaStart) }
    for index in 0..<recordCount * width {
      let cell = batch.cells[index]
      guard cell.kind == .text || cell.kind == .blob, cell.byteCount > 0 else { continue }
      batch.cells[index].payload -= UInt64(cell.isInSpill ? spillStart : arenaStart)
    }
    batch.arenaByteCount = arenaCount
    batch.parsedByteCount = arenaCount
    batch.spillByteCount = spillCount
    batch.recordCount = recordCount
    batch.rejects = try rejects(of: slice)
    return batch
  }

  private func give(
    _ pieces: Statement, to target: UnsafeMutableRawPointer, count: Int
  ) throws(UpsurgeError) {
    var done = 0
    while done < count {
      guard try pieces.step(), let bytes = sqlite3_column_blob(pieces.handle, 0) else {
        preconditionFailure("a slice has lost a piece")
      }
      let byteCount = Int(sqlite3_column_bytes(pieces.handle, 0))
      (target + done).copyMemory(from: bytes, byteCount: byteCount)
      done += byteCount
    }
  }

  private func rejects(of slice: Int) throws(UpsurgeError) -> [Reject] {
    let rows = try store.prepare("SELECT * FROM parsed WHERE slice = \(slice) ORDER BY number")
    var rejects: [Reject] = []
    while try rows.step() {
      func number(_ column: Int32) -> UInt64? {
        rows.isNull(at: column) ? nil : UInt64(bitPattern: rows.integer(at: column))
      }
      let position = Position(
        file: rows.text(at: 3) ?? "", record: number(4), line: number(5), byte: number(6))
      let raw = UnsafeBufferPointer(
        start: sqlite3_column_blob(rows.handle, 10)?.assumingMemoryBound(to: UInt8.self),
        count: Int(sqlite3_column_bytes(rows.handle, 10)))
      var reject = Reject(
        Reject.Code(rawValue: rows.text(at: 2) ?? ""), at: position, column: rows.text(at: 7),
        reason: rows.text(at: 8).flatMap { Wording(stored: $0) } ?? "", hint: rows.text(at: 9).flatMap { Wording(stored: $0) }, raw: raw)
      reject.isRawCut = rows.integer(at: 11) != 0
      rejects.append(reject)
    }
    return rejects
  }
}
