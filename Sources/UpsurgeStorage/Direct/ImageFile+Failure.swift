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

  /// What the header of an image says until it is about to become the database (`application_id`): "upsr".
  static let mark: UInt32 = 0x7570_7372

  /// Whether a file is what `make` and SQLite leave when they are killed: empty, a database with our mark, or one that
  /// was about to be handed over, with the record of its run.
  static func isImage(_ descriptor: Int32) -> Bool {
    var start = [UInt8](repeating: 0, count: 65536)
    let count = pread(descriptor, &start, start.count, 0)
    // After a power loss its pages may be all zeros.
    if start[..<max(count, 0)].allSatisfy({ $0 == 0 }) { return true }
    guard count >= 512, start.starts(with: "SQLite format 3\0".utf8) else { return false }
    if start[68..<72].reduce(0, { $0 << 8 | UInt32($1) }) == mark { return true }
    let name = Array(RunTable.name.utf8)
    let schema = start[100..<count]
    return schema.indices.contains { schema[$0] == name[0] && schema[$0...].starts(with: name) }
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
