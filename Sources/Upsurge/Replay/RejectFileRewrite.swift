#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file beside a file of rejects into which goes what is left of it, until it takes its place.
final class RejectFileRewrite {
  /// The path of the file whose place it will take.
  let target: String
  let path: String
  /// What was written, in lines.
  private(set) var written = ChainedBytes()
  /// The context of the last record that was written.
  var context: String?

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var isInFolder = false

  /// Where what is left of a file of rejects is written.
  static func path(of target: String) -> String { target + ".replay" }

  /// Makes the file anew, or goes on behind what an earlier replay has kept in it.
  /// - Throws: `cannotCreate`; `guardRefused` when what was kept is not there any more.
  init(target: String, mode: mode_t, continuing kept: ChainedBytes?) throws(UpsurgeError) {
    self.target = target
    path = Self.path(of: target)
    var flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    if kept == nil { flags |= O_TRUNC }
    descriptor = open(path, flags, 0o600)
    if descriptor < 0 { throw Self.failure("cannot create", path, errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw UpsurgeError(
        .cannotCreate,
        "\(path.escapedForTerminal) is in the way: what is left of the rejects is written there",
        hint: "move it away")
    }
    fchmod(descriptor, mode)
    guard let kept, kept.byteCount > 0 else {
      ftruncate(descriptor, 0)
      return
    }
    guard status.st_size >= kept.byteCount, try hash(through: kept.byteCount) == kept else {
      throw UpsurgeError(
        .guardRefused,
        "an earlier replay of \(target.escapedForTerminal) was cut short, and \(path.escapedForTerminal), where it kept "
          + "the records that were rejected again, is gone or changed",
        hint: "put that file back; without it nobody knows which records of the first part are not stored")
    }
    written = kept
    try cut(to: kept)
  }

  deinit { close(descriptor) }

  /// Appends a line with its end, or a piece of a long one.
  func append(_ bytes: [UInt8]) throws(UpsurgeError) {
    written.append(bytes)
    buffer += bytes
    if buffer.count >= 64 << 10 { try flush() }
  }

  /// Brings what was appended to the disk.
  func sync() throws(UpsurgeError) {
    try flush()
    if fsync(descriptor) != 0 { throw Self.failure("cannot write", path, errno) }
    // Nor may its name be lost.
    if !isInFolder { try Self.syncFolder(of: path) }
    isInFolder = true
  }

  /// Forgets what stands behind a place.
  func cut(to place: ChainedBytes) throws(UpsurgeError) {
    try flush()
    guard ftruncate(descriptor, off_t(place.byteCount)) == 0,
      lseek(descriptor, off_t(place.byteCount), SEEK_SET) >= 0
    else { throw Self.failure("cannot write", path, errno) }
    written = place
    context = nil
  }

  /// Puts the file in the place of the one that was replayed; on the disk when this returns.
  func takePlace() throws(UpsurgeError) {
    try sync()
    if rename(path, target) != 0 {
      throw Self.failure("cannot rename to \(target.escapedForTerminal)", path, errno)
    }
    try Self.syncFolder(of: target)
  }

  /// Removes the file: nothing of it is needed.
  func remove() { unlink(path) }

  private func flush() throws(UpsurgeError) {
    var rest = buffer[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { throw Self.failure("cannot write", path, errno) }
      rest = rest.dropFirst(count)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// What the first bytes of the file come to.
  private func hash(through byteCount: UInt64) throws(UpsurgeError) -> ChainedBytes {
    let reader = try RejectFileReader(path: path)
    while reader.place.byteCount < byteCount, try reader.next() != nil {}
    return reader.place
  }

  static func syncFolder(of path: String) throws(UpsurgeError) {
    var folder = "."
    if let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = cut == path.startIndex ? "/" : String(path[..<cut])
    }
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    if descriptor < 0 { throw failure("cannot open", folder, errno) }
    defer { close(descriptor) }
    // Some file systems cannot; they order the rename themselves.
    if fsync(descriptor) != 0 && errno != EINVAL { throw failure("cannot write", folder, errno) }
  }

  private static func failure(_ what: String, _ path: String, _ code: Int32) -> UpsurgeError {
    UpsurgeError(
      .cannotCreate, "\(what) \(path.escapedForTerminal): \(String(cString: strerror(code)))",
      hint:
        "what is left of the rejects is written beside the file: its folder needs room and the right to write",
      underlyingCode: code)
  }
}
