import UpsurgePlan
import UpsurgeRecords

/// Packs records into the pages of a new table and its indexes; used by one thread.
///
///     layout of the table   ->   append batch by batch   ->   finish   ->   the file is a database again
///
/// Nobody may have the file open between `init` and `finish`. A batch is taken whole or not at all: the first batch with
/// a record whose outcome is not certain, or whose key does not come after all keys before it, ends it. What was taken
/// before stays, and after `finish` the rest can be stored through SQLite.
package struct DirectTable: ~Copyable {
  /// Rows that were taken.
  package private(set) var rowCount = 0
  /// Why the last batch was not taken.
  package private(set) var refusal: DirectRefusal?

  private let layout: DirectLayout
  private let file: PageFile
  /// Never another one; `var` for the compiler, as in `TreeBuilder`.
  private var trees: UnsafeMutableBufferPointer<DirectTree>
  private let guards: UnsafeMutableBufferPointer<DirectLayout.Guard>
  private var lastRowid: Int64?
  /// Whether no write has failed and the end is not written.
  private var isOpen = true

  /// - Parameters:
  ///   - image: the file that the table was made in; no connection to it is open.
  ///   - isSynced: as for `handOver`, so that the system can begin with it early.
  ///   - sortByteCount: memory for the entries of trees whose keys come in no order; 0 takes no such keys.
  /// - Throws: `database` when the file is not as SQLite made it; `cannotCreate`.
  package init(
    _ layout: DirectLayout, image: ImageFile, isSynced: Bool = true, sortByteCount: Int = 0
  ) throws(UpsurgeError) {
    let file = try PageFile(image, isSynced: isSynced)
    for tree in layout.trees where try !file.isEmptyRoot(tree.root) {
      throw UpsurgeError(
        .database,
        "the table \(layout.table.escapedForTerminal) of \(image.path.escapedForTerminal) has rows",
        hint: "another program must not touch the file; run again")
    }
    self.layout = layout
    self.file = file
    trees = .allocate(capacity: layout.trees.count)
    let share = sortByteCount / max(layout.trees.count(where: \.isIndex), 1)
    for (index, tree) in layout.trees.enumerated() {
      trees.initializeElement(at: index, to: DirectTree(tree, file: file, image: image, sortByteCount: share))
    }
    guards = .allocate(capacity: layout.guards.count)
    _ = guards.initialize(from: layout.guards)
  }

  deinit {
    trees.deinitialize()
    trees.deallocate()
    guards.deallocate()
  }

  /// Bytes that are allocated: the write buffer, and the pages of each tree that are being filled.
  package var memoryByteCount: Int {
    trees.indices.reduce(file.memoryByteCount) { $0 + trees[$1].memoryByteCount }
  }

  /// Whether the keys of an index come in no order and are sorted at the end.
  package var isSorting: Bool { trees.indices.contains { trees[$0].sortingByteCount != nil } }

  /// Bytes that are still to be written: entries in the end, and those in memory to the file in which they are sorted.
  package var waitingByteCount: Int {
    trees.indices.reduce(0) { $0 + (trees[$1].sortingByteCount ?? 0) + trees[$1].toSpillByteCount }
  }

  /// Bytes of entries that are sorted on disk in the end, as memory does not hold them.
  package var spilledByteCount: Int {
    trees.indices.reduce(0) {
      $0 + (trees[$1].spilledByteCount > 0 ? trees[$1].spilledByteCount + trees[$1].toSpillByteCount : 0)
    }
  }

  /// Takes the records of a batch, when every one of them can be taken.
  /// - Returns: false when nothing was taken; `refusal` says why.
  /// - Throws: `database` when the file cannot be written; it is worthless then.
  package mutating func append(_ batch: borrowing Batch) throws(UpsurgeError) -> Bool {
    precondition(isOpen, "the pages of the table are written, or could not be")
    let source = BatchBytes(batch)
    if batch.recordCount == 0 { return true }
    refusal = check(batch, source)
    if refusal != nil { return false }
    isOpen = false
    let rowidCell = layout.rowidCell
    for index in trees.indices {
      try trees[index].append(batch, source, rowidCell: rowidCell, rowCount: rowCount, file: file)
    }
    isOpen = true
    rowCount += batch.recordCount
    if let rowidCell {
      let last = (batch.recordCount - 1) * source.cellCount + rowidCell
      lastRowid = Int64(bitPattern: batch.cells[last].payload)
    }
    return true
  }

  /// Writes what is left: then the file is a database that SQLite may open.
  /// - Returns: false when a key turned out to come twice, which is known only now where keys had to be sorted on disk; the
  ///   file is worthless then.
  /// - Throws: `database` when the file cannot be written; it is worthless then.
  package mutating func finish() throws(UpsurgeError) -> Bool {
    precondition(isOpen, "the pages of the table are written, or could not be")
    isOpen = false
    for index in trees.indices where try !trees[index].finish() {
      refusal = DirectRefusal(record: 0, reason: .sameKey)
      return false
    }
    try file.finish()
    return true
  }

  // MARK: - What is certain

  private mutating func check(_ batch: borrowing Batch, _ source: BatchBytes) -> DirectRefusal? {
    if batch.arenaByteCount + batch.spillByteCount > layout.lengthLimit / 2 {
      return DirectRefusal(record: 0, reason: .size)
    }
    if let refusal = checkValues(batch, source) ?? checkRowids(batch, source) { return refusal }
    for index in trees.indices {
      if let refusal = trees[index].check(batch, source) { return refusal }
    }
    return nil
  }

  /// A decimal that is still a text becomes the float that SQLite would store.
  private func checkValues(_ batch: borrowing Batch, _ source: BatchBytes) -> DirectRefusal? {
    var row = batch.cells
    for record in 0..<batch.recordCount {
      for guarded in UnsafeBufferPointer(guards) {
        let index = Int(truncatingIfNeeded: guarded.cellIndex)
        let kind = index < source.cellCount ? row[index].kind : .absent
        if guarded.allowed & kindBit(kind) != 0 { continue }
        let isDoubtful = guarded.doubtful & kindBit(kind) != 0
        if isDoubtful && DirectTable.isCertain(row[index], source) { continue }
        if guarded.takesDecimals, index < source.cellCount, makeFloat(&row[index], source) { continue }
        return DirectRefusal(record: record, reason: .value(cell: index))
      }
      row += source.cellCount
    }
    return nil
  }

  /// Whether a text is surely no number, or a float no NaN.
  private static func isCertain(_ value: Cell, _ source: BatchBytes) -> Bool {
    if case .real = value.kind { return !Double(bitPattern: value.payload).isNaN }
    // Numbers begin with a digit, a sign, a point or a space; all of these come before the colon.
    return value.byteCount == 0 || source.start(value).load(as: UInt8.self) >= UInt8(ascii: ":")
  }

  private func makeFloat(_ cell: inout Cell, _ source: BatchBytes) -> Bool {
    guard case .text = cell.kind else { return false }
    let start = source.start(cell).assumingMemoryBound(to: UInt8.self)
    let text = UnsafeBufferPointer(start: start, count: Int(cell.byteCount))
    guard let value = DecimalText.exactReal(text) else { return false }
    cell = Cell(kind: .real, isInSpill: false, byteCount: 0, payload: value.bitPattern)
    return true
  }

  private func checkRowids(_ batch: borrowing Batch, _ source: BatchBytes) -> DirectRefusal? {
    guard let rowidCell = layout.rowidCell else { return nil }
    var cell = UnsafePointer(batch.cells) + rowidCell
    var record = 0
    var last: Int64
    if let lastRowid {
      last = lastRowid
    } else {
      if batch.recordCount == 0 { return nil }
      last = Int64(bitPattern: cell.pointee.payload)
      record = 1
      cell += source.cellCount
    }
    while record < batch.recordCount {
      let rowid = Int64(bitPattern: cell.pointee.payload)
      if rowid <= last {
        return DirectRefusal(record: record, reason: rowid == last ? .sameKey : .keyOrder)
      }
      last = rowid
      cell += source.cellCount
      record += 1
    }
    return nil
  }
}

/// Why a batch cannot be packed.
package struct DirectRefusal: Sendable, Equatable {
  package enum Reason: Sendable, Equatable {
    /// A key that comes before one that was there already.
    case keyOrder
    /// A key that was there already.
    case sameKey
    /// A value of which only SQLite knows what it makes, by its cell.
    case value(cell: Int)
    /// The batch is larger than SQLite may take a record to be, or a key that has to be sorted does not fit on a page.
    case size
    /// The keys to be sorted need more memory, also on disk.
    case memory
  }

  /// The first record of the batch that cannot be taken, by its index.
  package var record: Int
  package var reason: Reason
}
