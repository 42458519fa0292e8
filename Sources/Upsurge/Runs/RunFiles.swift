import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files of a run, each with its identity as soon as it was opened; shared by its threads.
final class RunFiles: Sendable {
  private let files: Mutex<[RunFile]>

  init(_ names: [String]) { files = Mutex(names.map { RunFile(name: $0, identity: nil) }) }

  /// Takes over what an earlier part of the run knew of the files that are done.
  func goOn(_ earlier: [RunFile]) { files.withLock { $0 = earlier } }

  func note(_ source: PreparedSource, index: Int) {
    let identity = Self.identity_(of: source.opened.name)
    files.withLock { $0[index].identity = identity }
  }

  var all: [RunFile] { files.withLock { $0 } }

  /// Whether a file is still the one that was read.
  static func isSame(_ name: String, _ identity: FileIdentity) throws(UpsurgeError) -> Bool {
    guard let now = identity_(of: name), now.byteCount == identity.byteCount else { return false }
    return now.modificationTime == identity.modificationTime || now.headHash == identity.headHash
  }

  static func identity_(of name: String) -> FileIdentity? {
    let d = open(name, O_RDONLY)
    if d < 0 { return nil }
    defer { close(d) }
    var st = stat()
    guard fstat(d, &st) == 0, st.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: FileIdentity.headByteCount)
    let count = pread(d, &bytes, bytes.count, 0)
    return FileIdentity(
      byteCount: UInt64(st.st_size),
      modificationTime: Int64(st.st_mtim.tv_sec) * 1_000_000_000 + Int64(st.st_mtim.tv_nsec),
      headHash: bytes.withUnsafeBytes {
        ContentHash.hash(UnsafeRawBufferPointer(rebasing: $0[..<max(count, 0)]))
      })
  }
}
