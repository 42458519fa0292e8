#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file beside a file of rejects into which goes what is left of it, until it takes its place.
///
/// Until the first mark that names it is committed its first byte is `#` (see `RejectFile`): one that a killed replay
/// has left so is nobody's, as all that it holds stands in the file of rejects itself.
final class RejectFileRewrite {
  /// The path of the file whose place it will take.
  let target: String
  let path: String
  /// What was written, in lines.
  private(set) var written = ChainedBytes()
  /// The context of the last record that was written.
  var context: String?

  /// How many records an earlier replay has kept.
  private(set) var keptRecordCount: UInt64 = 0

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// Whether a mark names the file.
  private var isConfirmed = false
  /// Whether the file has its name, and that is on the disk.
  private var isInFolder = false
  /// The name that it has before, where it must have one.
  private var firstPath: String?

  /// Where what is left of a file of rejects is written.
  static func path(of target: String) -> String { target + ".replay" }

  /// Makes the file anew, or goes on after what an earlier replay has kept in it. A new file gets its name with the
  /// first `sync`.
  /// - Throws: `cannotCreate`, also for a file of that name that nobody knows of; `guardRefused` when what was kept is
  ///   not there any more.
  init(target: String, mode: mode_t, continuing kept: ChainedBytes?) throws(UpsurgeError) {
    self.target = target
    path = Self.path(of: target)
    var status = stat()
    guard let kept else {
      if lstat(path, &status) == 0 {
        guard Self.isLeftBehind(path) else { throw Self.inTheWay(path) }
        unlink(path)
      }
      (descriptor, firstPath) = Self.unnamedFile(beside: path)
      if descriptor < 0 { throw Self.failure("cannot create a file beside", target, errno) }
      fchmod(descriptor, mode)
      return
    }
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    isInFolder = true
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size >= kept.byteCount, try hash(through: kept.byteCount) == kept
    else {
      throw UpsurgeError(
        .guardRefused,
        "an earlier replay of \(target.escapedForTerminal) was cut short, and \(path.escapedForTerminal), where it kept "
          + "the records that were rejected again, is gone or changed",
        hint: "put that file back; without it nobody knows which records of the first part are not stored")
    }
    written = kept
    try cut(to: kept)
    try confirm()
  }

  /// Whether a file is what a replay has left that was killed before its first mark was committed.
  private static func isLeftBehind(_ path: String) -> Bool {
    guard isRegularFile(path), let reader = try? RejectFileReader(path: path) else { return false }
    return (try? reader.next()) != nil && reader.isUnconfirmed
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if let firstPath { unlink(firstPath) }
  }

  private static func inTheWay(_ path: String) -> UpsurgeError {
    UpsurgeError(
      .cannotCreate,
      "\(path.escapedForTerminal) is in the way: what is left of the rejects goes there, and no replay of this database "
        + "has written it",
      hint: "if a replay into another database was cut short, end that one first; else move the file away")
  }

  /// A file without a name, or where the system cannot make one, with a name that nobody else has.
  private static func unnamedFile(beside path: String) -> (descriptor: Int32, path: String?) {
    #if os(Linux)
      // O_TMPFILE, a macro that Swift does not see. Its name is given through /proc.
      let flags = O_RDWR | O_CLOEXEC | O_DIRECTORY | 0o20000000
      let descriptor = open(folder(of: path), flags, 0o600)
      if descriptor >= 0 && access("/proc/self/fd/\(descriptor)", F_OK) == 0 { return (descriptor, nil) }
      if descriptor >= 0 { close(descriptor) }
    #endif
    var template = Array((path + "-XXXXXX").utf8CString)
    let named = mkstemp(&template)
    if named >= 0 { _ = fcntl(named, F_SETFD, FD_CLOEXEC) }
    return (named, String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  /// Gives the file its name, unless another one has it.
  private func takeName() throws(UpsurgeError) {
    let code =
      if let firstPath { link(firstPath, path) } else {
        linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
      }
    if code != 0 { throw errno == EEXIST ? Self.inTheWay(path) : Self.failure("cannot create", path, errno) }
    if let firstPath { unlink(firstPath) }
    firstPath = nil
    let folderCode = syncFolder(of: path)
    if folderCode != 0 { throw Self.failure("cannot write the folder of", path, folderCode) }
    isInFolder = true
  }

  /// Appends a line with its end, or a piece of a long one.
  func append(_ bytes: [UInt8]) throws(UpsurgeError) {
    let isFirst = written.byteCount == 0 && !bytes.isEmpty
    written.append(bytes)
    buffer += bytes
    if isFirst && !isConfirmed { buffer[buffer.count - bytes.count] = RejectFile.unconfirmed }
    if buffer.count >= 64 << 10 { try flush() }
  }

  /// Brings what was appended to the disk.
  func sync() throws(UpsurgeError) {
    try flush()
    if fsync(descriptor) != 0 { throw Self.failure("cannot write", path, errno) }
    if !isInFolder { try takeName() }
  }

  /// Says that a mark names the file.
  func confirm() throws(UpsurgeError) {
    if isConfirmed { return }
    isConfirmed = true
    if written.byteCount == 0 { return }
    try flush()
    var byte = RejectFile.confirmed
    if pwrite(descriptor, &byte, 1, 0) != 1 { throw Self.failure("cannot write", path, errno) }
  }

  /// Forgets what stands after a place.
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
    try confirm()
    try sync()
    if rename(path, target) != 0 {
      throw Self.failure("cannot rename to \(target.escapedForTerminal)", path, errno)
    }
    let code = syncFolder(of: target)
    if code != 0 { throw Self.failure("cannot write the folder of", target, code) }
  }

  /// Removes the file: nothing of it is needed.
  func remove() { if isInFolder { unlink(path) } }

  private func flush() throws(UpsurgeError) {
    let code = writeAll(buffer[...], to: descriptor)
    if code != 0 { throw Self.failure("cannot write", path, code) }
    buffer.removeAll(keepingCapacity: true)
  }

  /// What the first bytes of the file come to; counts the records in them.
  private func hash(through byteCount: UInt64) throws(UpsurgeError) -> ChainedBytes {
    let reader = try RejectFileReader(path: path, locks: false)
    let mark = Array("{\"\(RejectContext.key)\":".utf8)
    while reader.place.byteCount < byteCount, let piece = try reader.next() {
      if piece.isEnd && !(piece.isStart && piece.bytes.starts(with: mark)) { keptRecordCount += 1 }
    }
    return reader.place
  }

  private static func failure(_ what: String, _ path: String, _ code: Int32) -> UpsurgeError {
    UpsurgeError(
      .cannotCreate, "\(what) \(path.escapedForTerminal): \(String(cString: strerror(code)))",
      hint:
        "what is left of the rejects is written beside the file: its folder needs room and the right to write",
      underlyingCode: code)
  }
}
