import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file system in memory with little room, mounted in a folder until it goes away. Needs the right to mount.
final class SmallDisk {
  let path: String

  static let skipNote = "needs Linux and the right to mount a tmpfs (root)"

  /// Whether one can be had here; tried once.
  static let isPossible: Bool = {
    let scratch = Scratch()
    return SmallDisk(in: scratch, size: "1m") != nil
  }()

  init?(in scratch: Scratch, size: String) {
    path = scratch.file("small")
    #if os(Linux)
      mkdir(path, 0o700)
      guard mount("tmpfs", path, "tmpfs", 0, "size=" + size) == 0 else { return nil }
    #else
      return nil
    #endif
  }

  deinit {
    #if os(Linux)
      umount2(path, Int32(MNT_DETACH))
    #endif
  }

  func file(_ name: String) -> String { path + "/" + name }

  /// Makes room.
  func grow(to size: String) -> Bool {
    #if os(Linux)
      return mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=" + size) == 0
    #else
      return false
    #endif
  }
}
