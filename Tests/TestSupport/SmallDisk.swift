#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file system in memory with little room, mounted in a folder until it goes away. Needs the right to mount.
package final class SmallDisk {
  /// The folder.
  package let path: String

  /// Why tests that need one are skipped.
  package static let skipNote = "needs Linux and the right to mount a tmpfs (root)"

  /// Whether one can be had here; tried once.
  package static let isPossible: Bool = {
    let scratch = Scratch()
    return SmallDisk(in: scratch, size: "1m") != nil
  }()

  /// Mounts one; nil where that is not allowed.
  /// - Parameter size: as `mount` takes it, such as 3m.
  package init?(in scratch: Scratch, size: String) {
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

  /// The path of a file in it.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Makes room.
  package func grow(to size: String) -> Bool {
    #if os(Linux)
      return mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=" + size) == 0
    #else
      return false
    #endif
  }
}
