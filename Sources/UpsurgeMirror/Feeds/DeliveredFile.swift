import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What distinguishes the content of a file from any other: its size and a hash of all its bytes. The times and the number of the
/// file only save the hashing.
struct DeliveredFile: Sendable, Equatable {
  /// The path from the root without links.
  var name: String
  var byteCount: UInt64
  var hash: UInt64
  /// When, where and as what the file stood there: of two equal ones the content is the same.
  var stamp: Stamp

  struct Stamp: Sendable, Equatable {
    /// Nanoseconds since 1970: of the content, and of the file itself, which no program can set back.
    var modified: Int64
    var changed: Int64
    var inode: UInt64
    var byteCount: UInt64
  }

  /// The path of its folder, with a slash at its end.
  var folder: Substring { name.lastIndex(of: "/").map { name[...$0] } ?? "" }

  func hasContent(of other: DeliveredFile) -> Bool { byteCount == other.byteCount && hash == other.hash }

  /// Looks at a file; reads it, unless it is one of the known ones as it was.
  /// - Parameter isFound: whether it was found in a folder, so that a link is not followed.
  /// - Returns: nil for what is no regular file, and for one that changes meanwhile.
  /// - Throws: `unreadableInput`, `interrupted`.
  static func look(
    at path: String, isFound: Bool = false, known: KnownFiles, isCancelled: () -> Bool
  ) throws(UpsurgeError) -> DeliveredFile? {
    guard let stamp = Stamp(path: path, followsLinks: !isFound) else { return nil }
    let name = SourceName.place(of: path)
    if let same = known.named(name).first(where: { $0.stamp == stamp }) { return same }
    let file = isFound ? try FileSource(found: path) : try FileSource(Source(file: path))
    var hash = ContentHash.Stream()
    // The kernel copies to memory that lies a few bytes after the start of a page at half the speed on some processors.
    let byteCount = Int(min(stamp.byteCount + 1, 1 << 20))
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)
    defer { memory.deallocate() }
    while true {
      if isCancelled() {
        throw UpsurgeError(.interrupted, "reading \(SourceName.shown(path)) was interrupted")
      }
      let count = try file.read(into: memory)
      if count == 0 { break }
      hash.add(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
    guard Stamp(path: path, followsLinks: !isFound) == stamp else { return nil }
    return DeliveredFile(name: name, byteCount: stamp.byteCount, hash: hash.value, stamp: stamp)
  }

  /// Whether the file stands there as it did.
  func isStill(atPath path: String) -> Bool { Stamp(path: path) == stamp }
}

extension DeliveredFile.Stamp {
  /// nil for what is no regular file, or no longer there.
  init?(_ source: Source) {
    guard let path = source.filePath else { return nil }
    self.init(path: path)
  }

  /// For a member of an archive, that of the archive; nil for what is no regular file, or no longer there.
  init?(path: String, followsLinks: Bool = true) {
    let path = ArchivePath(path)?.archive ?? path
    var info = stat()
    guard !Source(path).isStandardInput, (followsLinks ? stat(path, &info) : lstat(path, &info)) == 0,
      info.st_mode & S_IFMT == S_IFREG
    else {
      return nil
    }
    #if canImport(Darwin)
      let (modification, change) = (info.st_mtimespec, info.st_ctimespec)
    #else
      let (modification, change) = (info.st_mtim, info.st_ctim)
    #endif
    self.init(
      // Times beyond 2262 are told from others all the same.
      modified: Int64(modification.tv_sec) &* 1_000_000_000 &+ Int64(modification.tv_nsec),
      changed: Int64(change.tv_sec) &* 1_000_000_000 &+ Int64(change.tv_nsec), inode: UInt64(info.st_ino),
      byteCount: UInt64(max(info.st_size, 0)))
  }
}
