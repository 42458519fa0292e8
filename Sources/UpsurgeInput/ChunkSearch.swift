import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds the chunks of the last delivery in the bytes of the next one, and delivers what stands between them.
///
///     known   A B C D            stream   A B' C X D
///     read    (nothing), skip -> A        read  B', skip -> C        read  X, skip -> D
///
/// A chunk is looked for wherever a line begins, by the hash of its first bytes; a hash of all of it shows whether it is
/// the one. Whether a record begins there, the parser knows: it must be done with the bytes before it. Chunks are
/// only found in their order; one that has moved to the front is new. The result does not depend on how the bytes come.
///
/// Where the first MiB has no known chunk, the search ends: a delivery that has changed everywhere costs what it did before.
package final class ChunkSearch {
  package typealias Read = (UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int

  private let known: [SnapshotChunk]
  private let sizes: SnapshotChunk.Sizes
  /// The chunks by their heads.
  private var indexes: [UInt64: Int] = [:]
  /// How often bytes with a chunk's head were not that chunk.
  private var mistakes: [UInt8]
  private let memory: UnsafeMutableRawBufferPointer

  // memory   | delivered | in no chunk | unknown | free |
  //                      ^start        ^clear    ^end
  private var start = 0
  private var clear = 0
  private var end = 0
  /// The chunk that begins at `clear`.
  private var match: Int?
  /// Whether a line begins at `clear` at which nothing was looked for.
  private var isAtLineStart = true
  /// Whether the source has no more bytes.
  private var isAtEnd = false
  /// Whether no more chunks are looked for.
  package private(set) var isOff: Bool
  /// Chunks before this one are past.
  private var nextIndex = 0
  private var deliveredByteCount = 0
  /// Whether a chunk was found.
  package private(set) var hasFound = false
  /// Offset in the stream of the next byte that is delivered.
  package private(set) var offset: UInt64

  private static let memoryByteCount = 1 << 20
  /// Bytes that are looked through at a time.
  private static let strideByteCount = 32 << 10
  private static let mistakeLimit = 4

  /// - Parameters:
  ///   - known: the chunks of the last delivery, in their order.
  ///   - offset: of the first byte that is read.
  package init(_ known: [SnapshotChunk], sizes: SnapshotChunk.Sizes = SnapshotChunk.Sizes(), offset: UInt64) {
    precondition(sizes.most <= Self.memoryByteCount / 4, "the largest chunk must fit the memory")
    self.known = known
    self.sizes = sizes
    self.offset = offset
    mistakes = Array(repeating: 0, count: known.count)
    for (index, chunk) in known.enumerated() where chunk.hash != nil {
      indexes[chunk.head] = indexes[chunk.head] ?? index
    }
    isOff = indexes.isEmpty
    memory = .allocate(byteCount: Self.memoryByteCount, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// Whether all bytes were delivered or skipped.
  package var isEnded: Bool { isAtEnd && start == end && match == nil }

  /// Delivers bytes that stand in no known chunk.
  /// - Parameter source: as `ByteSource.read(into:)`.
  /// - Returns: 0 before a known chunk, which `skip` steps over, and at the end.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, from source: Read
  ) throws(UpsurgeError) -> Int {
    while true {
      if clear > start {
        let count = min(clear - start, buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[start..<start + count]))
        start += count
        offset += UInt64(count)
        deliveredByteCount += count
        return count
      }
      if match != nil || isAtEnd && start == end { return 0 }
      if isOff && start == end {
        let count = try source(buffer)
        offset += UInt64(count)
        isAtEnd = count == 0
        return count
      }
      try search(source)
    }
  }

  /// Steps over the known chunks that come next.
  /// - Returns: their indexes; none at the end, and where bytes come that stand in none.
  package func skip(from source: Read) throws(UpsurgeError) -> [Int] {
    var skipped: [Int] = []
    while let index = match {
      hasFound = true
      start += known[index].byteCount
      offset += UInt64(known[index].byteCount)
      clear = start
      skipped.append(index)
      nextIndex = index + 1
      match = try chunk(source)
      isAtLineStart = false
    }
    return skipped
  }

  /// Looks through the next bytes.
  private func search(_ source: Read) throws(UpsurgeError) {
    while clear - start < Self.strideByteCount {
      if isOff {
        clear = end
        return
      }
      if isAtLineStart {
        match = try chunk(source)
        isAtLineStart = false
        if match != nil { return }
      }
      if clear == end {
        try fill(1, source)
        if clear == end { return }
      }
      let unknown = memory.baseAddress.map { $0 + clear }
      guard let first = unknown, let found = memchr(first, 0x0A, end - clear) else {
        clear = end
        continue
      }
      clear += found - first + 1
      isAtLineStart = true
    }
  }

  /// The known chunk that begins at `clear`.
  private func chunk(_ source: Read) throws(UpsurgeError) -> Int? {
    if !hasFound && deliveredByteCount + clear - start >= sizes.patience { isOff = true }
    if isOff { return nil }
    try fill(SnapshotChunk.headByteCount, source)
    guard end - clear >= SnapshotChunk.headByteCount else { return nil }
    let head = ContentHash.hash(bytes(SnapshotChunk.headByteCount))
    var index = nextIndex
    if index >= known.count || known[index].head != head || known[index].hash == nil {
      guard let found = indexes[head], found >= nextIndex else { return nil }
      index = found
    }
    let chunk = known[index]
    if mistakes[index] >= Self.mistakeLimit { return nil }
    guard chunk.byteCount <= sizes.most else { return nil }
    try fill(chunk.byteCount, source)
    guard end - clear >= chunk.byteCount else { return nil }
    if ContentHash.pair(bytes(chunk.byteCount)) == chunk.hash { return index }
    mistakes[index] += 1
    return nil
  }

  private func bytes(_ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory[clear..<clear + count])
  }

  /// Reads until there are so many bytes from `clear` on, or the source ends.
  private func fill(_ count: Int, _ source: Read) throws(UpsurgeError) {
    while end - clear < count && !isAtEnd {
      if memory.count - clear < count || end == memory.count {
        let rest = UnsafeRawBufferPointer(rebasing: memory[start..<end])
        memory.copyMemory(from: rest)
        (clear, end, start) = (clear - start, end - start, 0)
      }
      let read = try source(UnsafeMutableRawBufferPointer(rebasing: memory[end...]))
      end += read
      isAtEnd = read == 0
    }
  }
}
