import UpsurgeRecords

/// The entries of an index whose keys come in no order, to be handed out sorted when all are there.
///
///     bytes     | entry | entry | entry | ...    as the leaves of the tree take them
///     offsets   0       ^       ^       ^
///
/// Entries that memory does not hold go to a file, run by run (`EntryRuns`). A key that comes twice is known at once as long
/// as half of the memory holds all keys' hashes (`KeySet`), and later only when the runs are merged.
final class EntrySorter {
  private let image: ImageFile
  private let columns: [RecordEncoder.Column]
  private let keyColumns: [RecordEncoder.Column]
  private let isUnique: Bool
  private let bytes: UnsafeMutablePointer<UInt8>
  private let byteLimit: Int
  private let offsets: UnsafeMutablePointer<UInt32>
  private let entryLimit: Int
  /// nil where equal keys are no conflict, or are found at the end.
  private var keys: KeySet?
  /// Entries in memory.
  private var count = 0
  private var runs = EntryRuns()
  /// The most bytes that the entries of the batch need that was looked at last.
  private var batchByteCount = 0

  private static let leastByteLimit = 1 << 20
  /// What an entry takes besides its bytes: its offset, and its place in the order while they are sorted.
  private static let byteCountPerEntry =
    MemoryLayout<UInt32>.stride + KeySorter<EntryChunks>.byteCountPerRecord

  /// - Parameters:
  ///   - columns: those of an entry.
  ///   - keyCount: the first so many are the key.
  ///   - isUnique: whether equal keys are a conflict.
  ///   - byteLimit: the most memory.
  ///   - image: beside it lies what memory does not hold.
  /// - Returns: nil where the memory is too little to be worth it, or the system has none.
  init?(
    _ columns: some Collection<RecordEncoder.Column>, keyCount: Int, isUnique: Bool, byteLimit: Int,
    image: ImageFile
  ) {
    let limit = min(byteLimit, Int(UInt32.max))
    if limit < EntrySorter.leastByteLimit { return nil }
    let entryLimit = max(limit / EntrySorter.byteCountPerEntry, (1 << 20) / MemoryLayout<UInt32>.stride)
    guard let bytes = ArenaMemory.reserve(limit) else { return nil }
    guard let offsets = ArenaMemory.reserve(entryLimit * MemoryLayout<UInt32>.stride) else {
      ArenaMemory.deallocate(bytes, limit)
      return nil
    }
    self.image = image
    self.columns = Array(columns)
    keyColumns = Array(columns.prefix(keyCount))
    self.isUnique = isUnique
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

  /// Bytes of the entries, those in the file included.
  var entriesByteCount: Int { runs.byteCount + Int(offsets[count]) }

  /// Bytes of those in the file.
  var spilledByteCount: Int { runs.byteCount }

  /// Bytes of those in memory that go to the file: all of them as soon as there is one, or memory is nearly full.
  var toSpillByteCount: Int {
    runs.count > 0 || memoryByteCount > byteLimit / 4 * 3 ? Int(offsets[count]) : 0
  }

  /// Bytes that are in use, those of the sort to come included.
  var memoryByteCount: Int {
    Int(offsets[count]) + count * EntrySorter.byteCountPerEntry + (keys?.memoryByteCount ?? 0)
  }

  /// Looks at the entries of a batch before they are taken; each batch once.
  /// - Parameter entryByteLimit: the longest entry that lies on its page.
  /// - Returns: why they cannot be; nil when they can.
  func refusal(
    _ batch: borrowing Batch, _ source: BatchBytes, entryByteLimit: Int
  ) -> DirectRefusal? {
    var row = UnsafePointer(batch.cells)
    batchByteCount = 0
    for record in 0..<batch.recordCount {
      let most = entryByteCount(row, source)
      if most > entryByteLimit { return DirectRefusal(record: record, reason: .size) }
      batchByteCount += most
      row += source.cellCount
    }
    let half = byteLimit / 2
    let batchMemory = batchByteCount + batch.recordCount * EntrySorter.byteCountPerEntry
    let runLimit = byteLimit / EntryRuns.bufferByteCount(entryByteLimit: entryByteLimit)
    if batchMemory > half || batch.recordCount >= entryLimit
      || runs.count + 1 >= runLimit && !hasRoom(for: batch.recordCount)
    {
      return DirectRefusal(record: 0, reason: .memory)
    }
    if let most = keys?.memoryByteCount(adding: batch.recordCount), most > half { keys = nil }
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

  /// Whether memory holds the entries of a batch besides those that it has.
  private func hasRoom(for recordCount: Int) -> Bool {
    let needed = memoryByteCount + batchByteCount + recordCount * EntrySorter.byteCountPerEntry
    return needed <= byteLimit && count + recordCount < entryLimit
  }

  /// Makes room for the entries of the batch that was looked at last.
  /// - Throws: `database` when the file cannot be written.
  func makeRoom(for recordCount: Int) throws(UpsurgeError) {
    if !hasRoom(for: recordCount) { try endRun() }
  }

  /// Takes an entry; there is room for it.
  func append(_ entry: UnsafeRawPointer, _ byteCount: Int) {
    let start = Int(offsets[count])
    precondition(start + byteCount <= byteLimit && count + 1 < entryLimit, "there is no room for the entry")
    UnsafeMutableRawPointer(bytes + start).copyMemory(from: entry, byteCount: byteCount)
    count += 1
    offsets[count] = UInt32(start + byteCount)
  }

  /// Hands out all entries in the order of the index; those of equal keys as they came.
  /// - Returns: false when a key came twice that must not.
  /// - Throws: `database` when the file cannot be written or read, and what `body` throws.
  func forEachSorted(_ body: (UnsafeRawPointer, Int) throws(UpsurgeError) -> Void) throws(UpsurgeError)
    -> Bool
  {
    let mayRepeat = isUnique && keys == nil
    keys = nil
    var last = LastEntry()
    let take = { (entry: UnsafeRawPointer, byteCount: Int) throws(UpsurgeError) -> Bool in
      if mayRepeat {
        if last.hasKey(of: entry, partCount: self.keyColumns.count) { return false }
        last.keep(entry, byteCount)
      }
      try body(entry, byteCount)
      return true
    }
    if runs.count == 0 { return try sortMemory(take) }
    if count > 0 { try endRun() }
    return try runs.merge(partCount: keyColumns.count, memory: bytes, byteLimit, take)
  }

  /// Moves the entries in memory to the file, sorted.
  private func endRun() throws(UpsurgeError) {
    // The bytes lie in memory in another order; they are put together where nothing else is written meanwhile.
    let capacity = SortFile.bufferByteCount
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 4096)
    defer { buffer.deallocate() }
    try runs.append(beside: image) { (file) throws(UpsurgeError) in
      var filled = 0
      _ = try sortMemory { (entry, byteCount) throws(UpsurgeError) in
        if filled + byteCount > capacity {
          try file.append(buffer, filled)
          filled = 0
        }
        (buffer + filled).copyMemory(from: entry, byteCount: byteCount)
        filled += byteCount
        return true
      }
      try file.append(buffer, filled)
    }
    count = 0
  }

  /// Hands out the entries in memory in order, until `body` returns false.
  private func sortMemory(
    _ body: (UnsafeRawPointer, Int) throws(UpsurgeError) -> Bool
  ) throws(UpsurgeError) -> Bool {
    let orderByteCount = max(count, 1) * MemoryLayout<UInt32>.stride
    let memory = ArenaMemory.allocate(orderByteCount)
    defer { ArenaMemory.deallocate(memory, orderByteCount) }
    let order = UnsafeMutableRawPointer(memory).bindMemory(to: UInt32.self, capacity: max(count, 1))
    for place in 0..<count { order[place] = UInt32(truncatingIfNeeded: place) }
    let chunks = EntryChunks(bytes: bytes, offsets: offsets, partCount: keyColumns.count)
    let grace = image.grace
    guard KeySorter.sort(order, count: count, of: chunks, unless: { grace?.isOver ?? false }) else {
      throw UpsurgeError(.interrupted, "interrupted")
    }
    for place in 0..<count {
      let entry = Int(order[place])
      let start = Int(offsets[entry])
      if try !body(bytes + start, Int(offsets[entry + 1]) - start) { return false }
    }
    return true
  }
}

/// A copy of the entry that was handed out last.
private struct LastEntry: ~Copyable {
  private var bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 8)
  private var isKept = false

  deinit { bytes.deallocate() }

  func hasKey(of entry: UnsafeRawPointer, partCount: Int) -> Bool {
    guard isKept, let start = bytes.baseAddress else { return false }
    return EntryChunks.compare(start, entry, partCount: partCount) == 0
  }

  mutating func keep(_ entry: UnsafeRawPointer, _ byteCount: Int) {
    if byteCount > bytes.count {
      bytes.deallocate()
      bytes = .allocate(byteCount: 2 * byteCount, alignment: 8)
    }
    bytes.copyMemory(from: UnsafeRawBufferPointer(start: entry, count: byteCount))
    isKept = true
  }
}
