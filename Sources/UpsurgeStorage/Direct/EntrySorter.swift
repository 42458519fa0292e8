import UpsurgeRecords

/// The entries of an index whose keys come in no order: kept in memory, and sorted when all are there.
///
///     bytes     | entry | entry | entry | ...    as the leaves of the tree take them
///     offsets   0       ^       ^       ^
///
/// Takes an entry only when no earlier one can have its key (see `KeySet`), so what was taken is never a conflict.
final class EntrySorter {
  private let columns: [RecordEncoder.Column]
  private let keyColumns: [RecordEncoder.Column]
  private let bytes: UnsafeMutablePointer<UInt8>
  private let byteLimit: Int
  private let offsets: UnsafeMutablePointer<UInt32>
  private let entryLimit: Int
  private var keys: KeySet?
  private(set) var count = 0

  private static let leastByteLimit = 4 << 20
  /// What an entry takes besides its bytes: its offset, its place in the order while they are sorted, and its key's hash.
  private static let byteCountPerEntry = 2 * MemoryLayout<UInt32>.stride + 32 + KeySet.byteCountPerKey

  /// - Parameters:
  ///   - columns: those of an entry.
  ///   - keyCount: the first so many are the key.
  ///   - isUnique: whether equal keys are a conflict.
  ///   - byteLimit: the most memory.
  /// - Returns: nil where that is too little to be worth it, or the system has none.
  init?(_ columns: some Collection<RecordEncoder.Column>, keyCount: Int, isUnique: Bool, byteLimit: Int) {
    let limit = min(byteLimit, Int(UInt32.max))
    if limit < EntrySorter.leastByteLimit { return nil }
    let entryLimit = max(limit / EntrySorter.byteCountPerEntry, (1 << 20) / MemoryLayout<UInt32>.stride)
    guard let bytes = ArenaMemory.reserve(limit) else { return nil }
    guard let offsets = ArenaMemory.reserve(entryLimit * MemoryLayout<UInt32>.stride) else {
      ArenaMemory.deallocate(bytes, limit)
      return nil
    }
    self.columns = Array(columns)
    keyColumns = Array(columns.prefix(keyCount))
    self.bytes = bytes
    self.byteLimit = limit
    self.offsets = UnsafeMutableRawPointer(offsets).bindMemory(to: UInt32.self, capacity: entryLimit)
    self.entryLimit = entryLimit
    self.offsets[0] = 0
    keys = isUnique ? KeySet() : nil
  }

  deinit {
    ArenaMemory.deallocate(bytes, byteLimit)
    UnsafeMutableRawPointer(offsets).withMemoryRebound(to: UInt8.self, capacity: 1) {
      ArenaMemory.deallocate($0, entryLimit * MemoryLayout<UInt32>.stride)
    }
  }

  /// Bytes of the entries.
  var entriesByteCount: Int { Int(offsets[count]) }

  /// Bytes that are in use, those of the sort to come included.
  var memoryByteCount: Int { Int(offsets[count]) + count * EntrySorter.byteCountPerEntry }

  /// Looks at the entries of a batch before they are taken; each batch once.
  /// - Parameter entryByteLimit: the longest entry that lies on its page.
  /// - Returns: why they cannot be; nil when they can.
  func refusal(
    _ batch: borrowing Batch, _ source: BatchBytes, entryByteLimit: Int
  ) -> DirectRefusal? {
    var row = UnsafePointer(batch.cells)
    var byteCount = 0
    for record in 0..<batch.recordCount {
      let most = entryByteCount(row, source)
      if most > entryByteLimit { return DirectRefusal(record: record, reason: .size) }
      byteCount += most
      row += source.cellCount
    }
    let needed = memoryByteCount + byteCount + batch.recordCount * EntrySorter.byteCountPerEntry
    if needed > byteLimit || count + batch.recordCount >= entryLimit {
      return DirectRefusal(record: 0, reason: .memory)
    }
    guard keys != nil else { return nil }
    row = UnsafePointer(batch.cells)
    for record in 0..<batch.recordCount {
      if keys?.insert(KeySet.hash(row, source, keyColumns)) != true {
        return DirectRefusal(record: record, reason: .sameKey)
      }
      row += source.cellCount
    }
    return nil
  }

  /// The most bytes that an entry of this record has.
  private func entryByteCount(_ row: UnsafePointer<Cell>, _ source: BatchBytes) -> Int {
    // Sizes, the rowid and its type.
    var count = 3 * Varint.byteLimit + 10
    for column in columns {
      let index = Int(column.cellIndex)
      let isText = index >= 0 && index < source.cellCount && row[index].hasBytes
      // The type, and the value.
      count += 5 + (isText ? Int(row[index].byteCount) : 8)
    }
    return count
  }

  /// Takes an entry; there is room for it.
  func append(_ entry: UnsafeRawPointer, _ byteCount: Int) {
    let start = Int(offsets[count])
    precondition(start + byteCount <= byteLimit && count + 1 < entryLimit, "there is no room for the entry")
    UnsafeMutableRawPointer(bytes + start).copyMemory(from: entry, byteCount: byteCount)
    count += 1
    offsets[count] = UInt32(start + byteCount)
  }

  /// Hands out the entries in the order of the index; those of equal keys as they came.
  func forEachSorted(_ body: (UnsafeRawPointer, Int) throws(UpsurgeError) -> Void) throws(UpsurgeError) {
    keys = nil
    let orderByteCount = max(count, 1) * MemoryLayout<UInt32>.stride
    let memory = ArenaMemory.allocate(orderByteCount)
    defer { ArenaMemory.deallocate(memory, orderByteCount) }
    let order = UnsafeMutableRawPointer(memory).bindMemory(to: UInt32.self, capacity: max(count, 1))
    for place in 0..<count { order[place] = UInt32(truncatingIfNeeded: place) }
    let chunks = EntryChunks(bytes: bytes, offsets: offsets, partCount: keyColumns.count)
    KeySorter.sort(order, count: count, of: chunks)
    for place in 0..<count {
      let entry = Int(order[place])
      let start = Int(offsets[entry])
      try body(bytes + start, Int(offsets[entry + 1]) - start)
    }
  }
}
