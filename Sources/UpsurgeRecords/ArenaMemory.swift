#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory of arenas. What is large comes from the system and goes back to it at once when it is freed, which malloc
/// does not promise, so that `--memory` is what it says.
enum ArenaMemory {
  private static let largeByteCount = 1 << 20

  static func allocate(_ byteCount: Int) -> UnsafeMutablePointer<UInt8> {
    if byteCount < largeByteCount { return .allocate(capacity: byteCount) }
    let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard let memory, memory != MAP_FAILED else {
      preconditionFailure("the system has no \(byteCount) bytes for a record: give a smaller --memory")
    }
    return memory.assumingMemoryBound(to: UInt8.self)
  }

  static func deallocate(_ memory: UnsafeMutablePointer<UInt8>, _ byteCount: Int) {
    if byteCount < largeByteCount { return memory.deallocate() }
    munmap(memory, byteCount)
  }
}
