import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What does not fit in memory while an index is sorted: a file beside the image without a name, so that it is gone with
/// the process; used by one thread.
final class SortFile {
  private let path: String
  private let grace: GracePeriod?
  private let descriptor: Int32
  private(set) var byteCount = 0

  /// What follows the image's name, until the name is taken away.
  static let suffix = "-sort"
  /// Bytes that are written at once.
  static let bufferByteCount = 1 << 20

  /// - Throws: `database` when the file cannot be made.
  init(beside image: ImageFile) throws(UpsurgeError) {
    path = image.path + SortFile.suffix
    grace = image.grace
    SortFile.removeLeft(path)
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw SortFile.failure("making", path, errno) }
    unlink(path)
  }

  deinit { close(descriptor) }

  /// Removes what a kill between the file's making and the end of its name has left, which is empty; what has bytes is
  /// somebody else's. Nobody else makes such a file meanwhile, as the image is locked.
  private static func removeLeft(_ path: String) {
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 { unlink(path) }
  }

  /// - Throws: `database` when there is no room, or the disk fails; `interrupted`.
  func append(_ bytes: UnsafeRawPointer, _ count: Int) throws(UpsurgeError) {
    try grace?.check()
    var done = 0
    while done < count {
      let written = pwrite(descriptor, bytes + done, count - done, off_t(byteCount + done))
      if written < 0 && errno == EINTR { continue }
      if written <= 0 { throw SortFile.failure("writing", path, written < 0 ? errno : EIO) }
      done += written
    }
    byteCount += count
  }

  /// Reads bytes that were appended.
  func read(_ target: UnsafeMutableRawPointer, _ count: Int, at offset: Int) throws(UpsurgeError) {
    var done = 0
    while done < count {
      let taken = pread(descriptor, target + done, count - done, off_t(offset + done))
      if taken < 0 && errno == EINTR { continue }
      if taken <= 0 { throw SortFile.failure("reading", path, taken < 0 ? errno : EIO) }
      done += taken
    }
  }

  private static func failure(_ act: String, _ path: String, _ code: Int32) -> UpsurgeError {
    UpsurgeError(
      .database,
      "\(act) \(path.escapedForTerminal), in which keys are sorted, failed (\(String(cString: strerror(code))),"
        + " system error \(code))",
      hint: code == EEXIST
        ? "move it elsewhere; it is no file of an earlier run"
        : "make room where the database lies, or give more \(.memory)", underlyingCode: code)
  }
}
