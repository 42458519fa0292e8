import UpsurgeRecords

/// One tree of a table: its entries come in batches.
///
/// Entries of an index are packed as they come while their keys ascend. Where the first batch shows that they come in no
/// order, they are sorted at the end.
struct DirectTree: ~Copyable {
  private var order: KeyOrder
  private var encoder: RecordEncoder
  private var builder: TreeBuilder
  /// What sorts the entries; nil where they are packed as they come.
  private var sorter: EntrySorter?
  private let isUnique: Bool
  private let keyCount: Int
  /// Memory for the entries, and beside what the others lie.
  private let sortByteCount: Int
  private let image: ImageFile
  private var hasBegun = false

  init(_ tree: DirectLayout.Tree, file: PageFile, image: ImageFile, sortByteCount: Int) {
    order = KeyOrder(tree.columns[..<tree.keyCount], isUnique: tree.isUnique)
    builder = TreeBuilder(isIndex: tree.isIndex, root: tree.root, file: file)
    encoder = RecordEncoder(tree.columns, limits: builder.limits, hasRowid: !tree.isIndex)
    isUnique = tree.isUnique
    keyCount = tree.keyCount
    self.sortByteCount = sortByteCount
    self.image = image
  }

  /// Without the key that is kept, which is as long as keys are.
  var memoryByteCount: Int {
    builder.memoryByteCount + encoder.memoryByteCount + (sorter?.memoryByteCount ?? 0)
  }

  /// Bytes of the entries that are sorted at the end; nil where they are packed as they come.
  var sortingByteCount: Int? { sorter?.entriesByteCount }

  /// Of these, bytes that memory did not hold.
  var spilledByteCount: Int { sorter?.spilledByteCount ?? 0 }

  /// Bytes that will go to the file in which they are sorted.
  var toSpillByteCount: Int { sorter?.toSpillByteCount ?? 0 }

  /// Looks at the keys of a batch that has records, before it is appended; each batch once.
  /// - Returns: why they cannot be taken; nil when they can.
  mutating func check(_ batch: borrowing Batch, _ source: BatchBytes) -> DirectRefusal? {
    let fault = sorter == nil ? order.firstFault(batch, source) : nil
    if !hasBegun {
      hasBegun = true
      if let fault, !fault.isEqual, builder.isIndex, sortByteCount > 0 {
        sorter = EntrySorter(
          encoder.columns, keyCount: keyCount, isUnique: isUnique, byteLimit: sortByteCount, image: image)
      }
    }
    if let sorter { return sorter.refusal(batch, source, entryByteLimit: encoder.limits.most) }
    return fault.map { DirectRefusal(record: $0.record, reason: $0.isEqual ? .sameKey : .keyOrder) }
  }

  /// - Parameter rowCount: the rows before the batch.
  mutating func append(
    _ batch: borrowing Batch, _ source: BatchBytes, rowidCell: Int?, rowCount: Int, file: PageFile
  ) throws(UpsurgeError) {
    try sorter?.makeRoom(for: batch.recordCount)
    var row = UnsafePointer(batch.cells)
    for record in 0..<batch.recordCount {
      var rowid = Int64(rowCount + record + 1)
      if let rowidCell { rowid = Int64(bitPattern: row[rowidCell].payload) }
      if !encoder.encode(source, row, rowid: rowid) {
        try encoder.encodeLarge(source, row, rowid: rowid, file: file)
      }
      if let sorter {
        sorter.append(encoder.cell, encoder.cellByteCount)
      } else if builder.isIndex {
        try builder.append(entry: encoder.cell, encoder.cellByteCount)
      } else {
        try builder.append(row: encoder.cell, encoder.cellByteCount, rowid: rowid)
      }
      row += source.cellCount
    }
    if sorter == nil { order.keepLast(batch, source) }
  }

  /// Writes what is left.
  /// - Returns: false when a key came twice; the tree is worthless then.
  mutating func finish() throws(UpsurgeError) -> Bool {
    if let sorter {
      self.sorter = nil
      let isWhole = try sorter.forEachSorted { (entry, byteCount) throws(UpsurgeError) in
        try builder.append(entry: entry, byteCount)
      }
      if !isWhole { return false }
    }
    try builder.finish()
    return true
  }
}
