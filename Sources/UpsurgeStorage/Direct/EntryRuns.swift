import UpsurgeRecords

/// Sorted runs of an index's entries in a file, and their merge.
///
///     file   | entry entry ... | entry entry ... |    each run in order; an entry begins with its size
///              run 0             run 1
struct EntryRuns: ~Copyable {
  private var file: SortFile?
  /// Where each run ends in the file.
  private var ends: [Int] = []

  /// The least memory for reading a run: no entry is half as long.
  /// - Parameter entryByteLimit: the longest record of an entry.
  static func bufferByteCount(entryByteLimit: Int) -> Int {
    max(16 << 10, 2 * (entryByteLimit + Varint.byteLimit))
  }

  var count: Int { ends.count }
  var byteCount: Int { file?.byteCount ?? 0 }

  /// Begins the next run.
  mutating func append(
    beside image: ImageFile, _ body: (SortFile) throws(UpsurgeError) -> Void
  ) throws(UpsurgeError) {
    let file: SortFile
    if let known = self.file { file = known } else { file = try SortFile(beside: image) }
    self.file = file
    try body(file)
    ends.append(file.byteCount)
  }

  /// Hands out the entries of all runs in order; those of equal keys by their runs.
  /// - Parameters:
  ///   - partCount: of the key.
  ///   - memory: at least `bufferByteCount` for each run.
  ///   - body: returns false to end it; an entry holds only until it returns.
  /// - Returns: false when `body` has ended it.
  func merge(
    partCount: Int, memory: UnsafeMutableRawPointer, _ memoryByteCount: Int,
    _ body: (UnsafeRawPointer, Int) throws(UpsurgeError) -> Bool
  ) throws(UpsurgeError) -> Bool {
    guard let file else { return true }
    let share = memoryByteCount / ends.count
    let heads = UnsafeMutableBufferPointer<Head>.allocate(capacity: ends.count)
    let heap = UnsafeMutableBufferPointer<Place>.allocate(capacity: ends.count)
    defer {
      heads.deallocate()
      heap.deallocate()
    }
    var placeCount = 0
    for run in ends.indices {
      let start = run == 0 ? 0 : ends[run - 1]
      heads.initializeElement(
        at: run,
        to: Head(buffer: memory + run * share, capacity: share, offset: start, rest: ends[run] - start))
      if try heads[run].next(file) {
        heap.initializeElement(at: placeCount, to: Place(chunk: heads[run].firstChunk, run: run))
        placeCount += 1
      }
    }
    for place in (0..<placeCount / 2).reversed() { sink(heap, placeCount, from: place, heads, partCount) }
    while placeCount > 0 {
      let run = heap[0].run
      if try !body(heads[run].entry, heads[run].entryByteCount) { return false }
      if try heads[run].next(file) {
        heap[0].chunk = heads[run].firstChunk
      } else {
        placeCount -= 1
        heap[0] = heap[placeCount]
      }
      sink(heap, placeCount, from: 0, heads, partCount)
    }
    return true
  }

  // MARK: - The heap of the runs' next entries

  private struct Place {
    /// The first chunk of the entry's key, which nearly always decides.
    var chunk: UInt64
    var run: Int
  }

  private func sink(
    _ heap: UnsafeMutableBufferPointer<Place>, _ count: Int, from start: Int,
    _ heads: UnsafeMutableBufferPointer<Head>, _ partCount: Int
  ) {
    if start >= count { return }
    let place = heap[start]
    var at = start
    while true {
      var child = 2 * at + 1
      if child >= count { break }
      if child + 1 < count, comesFirst(heap[child + 1], heap[child], heads, partCount) { child += 1 }
      if !comesFirst(heap[child], place, heads, partCount) { break }
      heap[at] = heap[child]
      at = child
    }
    heap[at] = place
  }

  @inline(__always)
  private func comesFirst(
    _ left: Place, _ right: Place, _ heads: UnsafeMutableBufferPointer<Head>, _ partCount: Int
  ) -> Bool {
    if left.chunk != right.chunk { return left.chunk < right.chunk }
    let order = EntryChunks.compare(heads[left.run].entry, heads[right.run].entry, partCount: partCount)
    return order != 0 ? order < 0 : left.run < right.run
  }

  /// The next entry of a run, and what has been read after it.
  private struct Head {
    let buffer: UnsafeMutableRawPointer
    let capacity: Int
    /// Where the file goes on after the buffer, and how much of the run is left there.
    var offset: Int
    var rest: Int
    /// Bytes in the buffer, and those that have been handed out.
    var filled = 0
    var used = 0
    var entryByteCount = 0

    init(buffer: UnsafeMutableRawPointer, capacity: Int, offset: Int, rest: Int) {
      self.buffer = buffer
      self.capacity = capacity
      self.offset = offset
      self.rest = rest
    }

    var entry: UnsafeRawPointer { UnsafeRawPointer(buffer + used) }
    var firstChunk: UInt64 { EntryChunks.chunk(of: entry, part: 0, depth: 0) }

    /// Goes to the next entry.
    /// - Returns: false after the last one.
    mutating func next(_ file: SortFile) throws(UpsurgeError) -> Bool {
      used += entryByteCount
      entryByteCount = 0
      if filled - used < capacity / 2 && rest > 0 {
        buffer.copyMemory(from: buffer + used, byteCount: filled - used)
        filled -= used
        used = 0
        let count = min(capacity - filled, rest)
        try file.read(buffer + filled, count, at: offset)
        filled += count
        offset += count
        rest -= count
      }
      if used == filled { return false }
      entryByteCount = EntryChunks.byteCount(of: entry)
      precondition(used + entryByteCount <= filled, "a run is not as it was written, or its buffer too short")
      return true
    }
  }
}
