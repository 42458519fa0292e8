#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory of arenas. What is large comes from the system and goes back to it at once when it is freed, which malloc
/// does not promise, so that `--memory` is what it says.
package enum ArenaMemory {
  private static let largeByteCount = 1 << 20

  /// Memory for so many bytes, which `deallocate` takes back.
  package static func allocate(_ byteCount: Int) -> UnsafeMutablePointer<UInt8> {
    if byteCount < largeByteCount { return .allocate(capacity: byteCount) }
    let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard let memory, memory != MAP_FAILED else {
      preconditionFailure("the system has no \(byteCount) bytes for a record: give a smaller bound of memory")
    }
    return memory.assumingMemoryBound(to: UInt8.self)
  }

  /// Memory that takes room only where it is touched, up to a bound that its owner keeps; always from the system.
  /// - Returns: nil where the system has no such range of addresses.
  package static func reserve(_ byteCount: Int) -> UnsafeMutablePointer<UInt8>? {
    precondition(byteCount >= largeByteCount, "what is small need not be reserved")
    #if os(Linux)
      let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    #else
      let flags = MAP_PRIVATE | MAP_ANON
    #endif
    let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
    guard let memory, memory != MAP_FAILED else { return nil }
    #if os(Linux)
      // Text and cells that are visited in another order than theirs would miss the address cache at every step.
      if byteCount >= hugePageLimit { madvise(memory, byteCount, MADV_HUGEPAGE) }
    #endif
    return memory.assumingMemoryBound(to: UInt8.self)
  }

  /// Less is not worth large pages, of which the last one is only in part used.
  private static let hugePageLimit = 16 << 20

  /// Copies bytes from memory that is not needed any more and gives large parts of it back on the way, so that both
  /// together take little more than one of them.
  static func move(
    _ from: UnsafeMutablePointer<UInt8>, count: Int, to target: UnsafeMutablePointer<UInt8>, fromCapacity: Int
  ) {
    if fromCapacity < largeByteCount || count < largeByteCount {
      return target.update(from: from, count: count)
    }
    let pageByteCount = Int(sysconf(Int32(_SC_PAGESIZE)))
    var done = 0
    while done < count {
      let step = min(largeByteCount, count - done)
      (target + done).update(from: from + done, count: step)
      // Whole pages only: what stands around the bytes is not ours to give.
      let start = (Int(bitPattern: from + done) + pageByteCount - 1) / pageByteCount * pageByteCount
      let end = Int(bitPattern: from + done + step) / pageByteCount * pageByteCount
      if end > start { madvise(UnsafeMutableRawPointer(bitPattern: start), end - start, MADV_DONTNEED) }
      done += step
    }
  }

  /// Empties memory that `reserve` has given for so many bytes: what was touched takes room no more.
  static func discard(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    madvise(memory, byteCount, MADV_DONTNEED)
  }

  /// Gives memory back that `allocate` or `reserve` has given for so many bytes.
  package static func deallocate(_ memory: UnsafeMutablePointer<UInt8>, _ byteCount: Int) {
    if byteCount < largeByteCount { return memory.deallocate() }
    munmap(memory, byteCount)
  }
}
