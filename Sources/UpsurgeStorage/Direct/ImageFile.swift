import CSQLite
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file beside a database that does not exist yet, in which it is made: `DB-upsurge`.
///
/// It is locked (flock) as long as it is used, and gone when the process ends without `handOver`; where the process was
/// killed, the next run removes it. It is never opened to be cut or written over: a kill may have left it as a second
/// name of the database itself.
///
///     make -> connect: CREATE TABLE, close -> DirectTable -> connect: more rows, close -> handOver
package final class ImageFile {
  /// The database as the user named it.
  package let database: String
  /// The database's path as the system takes it, ended by a zero.
  private let databaseBytes: ContiguousArray<CChar>
  /// The file's own name.
  package let path: String
  /// Ends the making of the database, when the run was told to end.
  package var grace: GracePeriod?
  /// -1 when the file has been handed over or is gone.
  private(set) var descriptor: Int32

  /// What follows the name of the database.
  package static let suffix = "-upsurge"

  init(database: String, path: String, descriptor: Int32) {
    self.database = database
    databaseBytes = database.utf8CString
    self.path = path
    self.descriptor = descriptor
  }

  deinit { discard() }

  /// Makes the file; one that a killed run has left is removed.
  /// - Throws: `databaseBusy` when another process makes the same database; `cannotCreate`.
  package static func make(for database: String) throws(UpsurgeError) -> ImageFile {
    let path = database + suffix
    // Others may make and remove the name meanwhile, but not for long.
    for _ in 0..<100 {
      let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
      if descriptor < 0 {
        if errno != EEXIST { throw cannotCreate(path, database, errno) }
        try removeStale(for: database)
        continue
      }
      let code = lock(descriptor, path)
      if code != 0 && code != EWOULDBLOCK {
        unlink(path)
        close(descriptor)
        throw cannotCreate(path, database, code)
      }
      // Somebody may have taken it for stale before it was locked; once it is locked nobody does.
      if code == 0 && leads(path, to: descriptor) {
        for side in sideSuffixes { unlink(path + side) }
        return ImageFile(database: database, path: path, descriptor: descriptor)
      }
      close(descriptor)
    }
    throw busy(path, database)
  }

  /// Locks a file that was made just now: who has its lock takes it for stale, and removes it and lets go at once.
  /// - Returns: 0, or errno.
  private static func lock(_ descriptor: Int32, _ path: String) -> Int32 {
    for _ in 0..<1_000 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return 0 }
      if errno != EWOULDBLOCK { return errno }
      if !leads(path, to: descriptor) { break }
      usleep(1_000)
    }
    return EWOULDBLOCK
  }

  /// Removes what a killed run has left; does nothing where there is nothing.
  /// - Throws: `databaseBusy` when another process uses it; `cannotCreate` when it is not one of ours.
  package static func removeStale(for database: String) throws(UpsurgeError) {
    let path = database + suffix
    var status = stat()
    if lstat(path, &status) != 0 { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw inTheWay(path, database) }
    // A second name of the database, which must not be opened: closing it would let go of SQLite's locks.
    if isSame(database, status) { return remove(path) }
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 {
      if errno == ENOENT { return }
      throw cannotCreate(path, database, errno)
    }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK { throw busy(path, database) }
    guard leads(path, to: descriptor) else { return }
    guard isImage(descriptor, of: database) else { throw inTheWay(path, database) }
    remove(path)
  }

  /// A connection to the file; no other program knows of it, so there is no journal. It must be closed before pages are
  /// appended and before `handOver`.
  package func connect(
    pageByteCount: Int = 16384, pageCacheByteCount: Int = 2 << 20, vfs: String = "unix-none"
  ) throws(UpsurgeError) -> Connection {
    // Without locks of SQLite's: macOS and network file systems take them and flock for the same.
    let connection = try Connection(path: path, createIfMissing: false, vfs: vfs)
    try connection.beginImage(
      of: database, pageByteCount: pageByteCount, pageCacheByteCount: pageCacheByteCount)
    return connection
  }

  /// Whether the file has become the database, or is gone.
  package var hasEnded: Bool { descriptor < 0 }

  /// Whether another program has made the database meanwhile; an empty file does not count.
  package var isTaken: Bool {
    databaseBytes.withUnsafeBufferPointer { DiskSpace.size(of: $0.baseAddress) > 0 }
  }

  /// What the file's disk has free, in bytes; nil when that is not known.
  package var freeByteCount: Int? { DiskSpace.free(ofFile: descriptor) }

  /// Removes the file, unless it has become the database.
  package func discard() {
    if descriptor < 0 { return }
    if ImageFile.leads(path, to: descriptor) { ImageFile.remove(path) }
    letGo()
  }

  /// Forgets the file. It is closed before anybody opens the database: closing it later would let go of SQLite's locks
  /// on what is then the same file.
  func letGo() {
    close(descriptor)
    descriptor = -1
  }

  // MARK: - Bytes

  /// Bytes of the file.
  func byteCount() throws(UpsurgeError) -> Int {
    var status = stat()
    if fstat(descriptor, &status) != 0 { throw failure("reading", errno) }
    return Int(status.st_size)
  }

  func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int) throws(UpsurgeError) {
    var done = 0
    while done < target.count {
      let count = pread(descriptor, target.baseAddress! + done, target.count - done, off_t(offset + done))
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw failure("reading", errno) }
      // What is not there is no header.
      if count == 0 { return target[done...].copyBytes(from: repeatElement(0, count: target.count - done)) }
      done += count
    }
  }

  func write(_ bytes: UnsafeRawPointer, _ byteCount: Int, at offset: Int) throws(UpsurgeError) {
    var done = 0
    while done < byteCount {
      let count = pwrite(descriptor, bytes + done, byteCount - done, off_t(offset + done))
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { throw failure("writing", count < 0 ? errno : EIO) }
      done += count
    }
  }

  /// Brings all bytes to the disk.
  func sync() throws(UpsurgeError) {
    if fsync(descriptor) != 0 { throw failure("bringing to the disk", errno) }
  }
}
