#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which file a path leads to, by device and inode; of a file that is not there yet, those of its folder, and its name.
struct FileNode: Equatable {
  private let device: UInt64
  private let inode: UInt64
  private var name: String?

  /// nil where there is something else than a regular file, or no folder.
  init?(_ path: String) {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    } else {
      var folder = "."
      var last = path[...]
      if let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
        folder = cut == path.startIndex ? "/" : String(path[..<cut])
        last = path[path.utf8.index(after: cut)...]
      }
      guard !last.isEmpty, stat(folder, &status) == 0 else { return nil }
      name = String(last)
    }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// What is open already; nil where it is something else than a regular file.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }
}
