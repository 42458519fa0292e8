import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension ImageFile {
  /// What SQLite may put beside a database.
  static let sideSuffixes = ["-journal", "-wal", "-shm"]

  /// Whether a name leads to an open file, and not by a symbolic link.
  static func leads(_ path: String, to descriptor: Int32) -> Bool {
    var (named, open) = (stat(), stat())
    return lstat(path, &named) == 0 && fstat(descriptor, &open) == 0 && named.st_ino == open.st_ino
      && named.st_dev == open.st_dev
  }

  /// Whether two names lead to one file.
  static func isSame(_ path: String, _ other: stat) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_ino == other.st_ino && status.st_dev == other.st_dev
  }

  static func remove(_ path: String) {
    unlink(path)
    for side in sideSuffixes { unlink(path + side) }
  }

  /// What the system refused to do with the file.
  func failure(_ act: String, _ code: Int32) -> UpsurgeError {
    let hasRoom = code != ENOSPC && code != EDQUOT
    let name = path.escapedForTerminal
    let words = "\(String(cString: strerror(code))), system error \(code)"
    return UpsurgeError(
      .database,
      hasRoom
        ? "\(act) \(name), which is to become the database, failed (\(words)); nothing is stored"
        : "there is no room left for \(name), which is to become the database (\(words)); nothing is stored",
      hint: hasRoom
        ? "see what the system's log says of the disk and its file system, then run again"
        : "make room where the database lies, then run again",
      underlyingCode: code)
  }

  static func cannotCreate(_ path: String, _ database: String, _ code: Int32) -> UpsurgeError {
    UpsurgeError(
      .cannotCreate,
      "cannot make \(path.escapedForTerminal), in which the database is prepared: "
        + String(cString: strerror(code)),
      hint: code == ENOSPC || code == EDQUOT
        ? "make room where the database lies, then run again"
        : "the folder of \(database.escapedForTerminal) must exist and be writable",
      underlyingCode: code)
  }

  static func busy(_ path: String, _ database: String) -> UpsurgeError {
    UpsurgeError(
      .databaseBusy,
      "another process is making the database \(database.escapedForTerminal): it writes "
        + path.escapedForTerminal,
      hint: "wait until it has ended, then run again")
  }

  static func inTheWay(_ path: String, _ database: String) -> UpsurgeError {
    UpsurgeError(
      .cannotCreate,
      "\(path.escapedForTerminal) is in the way: \(database.escapedForTerminal) is to be prepared there",
      hint: "move it elsewhere; it is no database that an earlier run has left")
  }
}
