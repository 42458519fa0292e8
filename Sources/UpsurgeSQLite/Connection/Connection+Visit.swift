import CSQLite
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a database that may belong to somebody else, and leaves no file beside it.
///
/// A reader of a database in WAL mode makes `-wal` and `-shm` where there are none. Made by somebody who may not write the
/// database, they keep its owner from writing it. So who may not write the file or its folder reads
///
/// - a database with a log through the log's index, which must be there;
/// - one without a log as it lies there, and once more where it has changed meanwhile.
extension Connection {
  /// - Throws: `unreadableInput` where the database is not there or cannot be read, `databaseBusy`, and what `body` throws.
  package static func visiting<Result>(
    _ path: String, _ body: (Connection) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    do throws(UpsurgeError) {
      if access(path, F_OK) == 0, access(path, R_OK) != 0 { throw unreadable(path, errno) }
      guard isForeign(path) else { return try body(looking(at: path)) }
      return try visitingForeign(path, body)
    } catch {
      throw error.isOfReading ? unreadable(path, error) : error
    }
  }

  private static func isForeign(_ path: String) -> Bool {
    guard access(path, F_OK) == 0 else { return false }
    return access(path, W_OK) != 0 || access(folder(of: path), W_OK | X_OK) != 0
  }

  private static func visitingForeign<Result>(
    _ path: String, _ body: (Connection) throws(UpsurgeError) -> Result
  ) throws(UpsurgeError) -> Result {
    for _ in 0..<visitLimit {
      if needsLog(path) {
        guard access(path + "-wal", R_OK) == 0, access(path + "-shm", R_OK) == 0 else {
          throw needsOwner(path)
        }
        return try body(Connection(path: path, createIfMissing: false, isReadOnly: true))
      }
      guard isInWALMode(path) else {
        return try body(Connection(path: path, createIfMissing: false, isReadOnly: true))
      }
      let before = VisitStamp(path)
      do throws(UpsurgeError) {
        let result = try body(Connection(path: path, createIfMissing: false, isImmutable: true))
        if VisitStamp(path) == before { return result }
      } catch {
        if VisitStamp(path) == before { throw error }
      }
    }
    throw UpsurgeError(
      .databaseBusy,
      "the database \(path.escapedForTerminal) is being written, and could not be read in between",
      hint: "run it again, or as the database's owner")
  }

  private static let visitLimit = 10

  /// Whether something may be in the log that is not in the file, or a program is at work that has both files.
  private static func needsLog(_ path: String) -> Bool {
    var status = stat()
    guard stat(path + "-wal", &status) == 0 else { return false }
    return status.st_size > 0 || access(path + "-shm", F_OK) == 0
  }

  /// Whether the header says so (https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
  private static func isInWALMode(_ path: String) -> Bool {
    guard let file = fopen(path, "r") else { return false }
    defer { fclose(file) }
    var header = [UInt8](repeating: 0, count: 20)
    return fread(&header, 1, header.count, file) == header.count && header[18] == 2
  }

  private static func needsOwner(_ path: String) -> UpsurgeError {
    UpsurgeError(
      .unreadableInput,
      "cannot read the database \(path.escapedForTerminal): its newest rows are in the log beside it, which only its owner "
        + "can read now",
      hint: "run this as the database's owner, or let its owner open it once")
  }

  private static func unreadable(_ path: String, _ code: Int32) -> UpsurgeError {
    UpsurgeError(
      .unreadableInput,
      "cannot read the database \(path.escapedForTerminal): \(String(cString: strerror(code)))",
      hint: "its owner can give you the right to read it", underlyingCode: code)
  }

  private static func unreadable(_ path: String, _ error: UpsurgeError) -> UpsurgeError {
    var error = error
    error.code = .unreadableInput
    return error
  }

  private static func folder(of path: String) -> String {
    guard let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return cut == path.startIndex ? "/" : String(path[..<cut])
  }
}

extension UpsurgeError {
  /// Whether SQLite could not read the file at all.
  fileprivate var isOfReading: Bool {
    guard code == .cannotCreate || code == .database, let underlyingCode else { return false }
    return [SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_IOERR, SQLITE_NOTADB].contains(
      ResultCode.primary(underlyingCode))
  }
}

/// What shows that a file was written: its size, its number and its time, which is older than a clock's tick.
private struct VisitStamp: Equatable {
  private var size: Int64 = -1
  private var inode: UInt64 = 0
  private var seconds = 0
  private var nanoseconds = 0

  init(_ path: String) {
    var status = stat()
    for _ in 0..<20 {
      guard stat(path, &status) == 0 else { return }
      #if canImport(Darwin)
        let modified = status.st_mtimespec
      #else
        let modified = status.st_mtim
      #endif
      (size, inode) = (Int64(status.st_size), UInt64(status.st_ino))
      (seconds, nanoseconds) = (modified.tv_sec, modified.tv_nsec)
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      // Two writes within one tick have one time.
      if (now.tv_sec - seconds) * 1_000_000_000 + (now.tv_nsec - nanoseconds) > 20_000_000 { return }
      usleep(10_000)
    }
  }
}
