import CSQLite
import UpsurgeRecords
import UpsurgeSQLite
import UpsurgeState

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension ImageFile {
  /// Makes the file the database, in one step; the `ImageFile` is of no use afterwards.
  ///
  /// By a rename that replaces nothing or, where the file system has none, by a second name and the removal of the first.
  /// Where the name is taken by an empty file, or SQLite's files of an older database lie there, which it would take for
  /// this one's, SQLite itself copies the pages in one transaction.
  /// - Parameters:
  ///   - isSynced: whether the database must survive a power loss.
  ///   - busyTimeoutMilliseconds: how long an empty database that another process has open is waited for.
  ///   - isCancelled: is asked during that wait; true ends it.
  ///   - ways: not all only in tests, which want a file system that has no such rename or no links.
  /// - Throws: `databaseBusy` when another program has made the database meanwhile, `cannotCreate`, `database`: nothing is
  ///   stored, but for a folder that cannot be brought to the disk, as the message says.
  package func handOver(
    isSynced: Bool, busyTimeoutMilliseconds: Int32 = 5000,
    isCancelled: @escaping @Sendable () -> Bool = { false }, by ways: [HandOverWay] = HandOverWay.allCases
  ) throws(UpsurgeError) {
    guard descriptor >= 0, ImageFile.leads(path, to: descriptor) else {
      throw UpsurgeError(
        .database, "\(path.escapedForTerminal) was deleted, moved or replaced by another program",
        hint: "nothing is stored; run again")
    }
    for side in ImageFile.sideSuffixes where DiskSpace.size(of: path + side) > 0 {
      throw UpsurgeError(
        .database, "\(path.escapedForTerminal) is still in use: there is \((path + side).escapedForTerminal)",
        hint: "nothing is stored; run again")
    }
    try checkTimeToSync()
    if isSynced { try sync() }
    if try !publish(ways) {
      let target = try Connection(
        path: database, createIfMissing: true, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        isCancelled: isCancelled)
      try copy(into: target, isSynced: isSynced)
      ImageFile.remove(path)
    }
    letGo()
    if isSynced { try syncFolder() }
  }

  /// Bringing a large file to the disk may take long, and nothing ends it.
  private func checkTimeToSync() throws(UpsurgeError) {
    guard let grace, grace.hasBegun else { return }
    try grace.check()
    if DiskSpace.size(of: path) > Self.quickByteCount { throw UpsurgeError(.interrupted, "interrupted") }
  }

  /// A file of so many bytes is on the disk soon.
  private static let quickByteCount = 32 << 20

  /// Gives the file the database's name.
  /// - Returns: false when it must be copied instead.
  private func publish(_ ways: [HandOverWay]) throws(UpsurgeError) -> Bool {
    // An old journal would be played back into the new database.
    for side in ImageFile.sideSuffixes where access(database + side, F_OK) == 0 { return false }
    if ways.contains(.rename) {
      if upsurge_rename_new(path, database) == 0 { return true }
      if errno == EEXIST { return false }
    }
    if ways.contains(.link), link(path, database) == 0 {
      unlink(path)
      return true
    }
    return false
  }

  /// Copies the pages into a database that is empty.
  private func copy(into target: Connection, isSynced: Bool) throws(UpsurgeError) {
    if !target.isNewDatabase { throw taken() }
    try target.execute(
      "PRAGMA synchronous=\(isSynced ? "FULL" : "OFF"); PRAGMA cache_size=-2048; PRAGMA secure_delete=OFF")
    let source = try connect()
    guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
      throw target.failure(sqlite3_errcode(target.handle))
    }
    // The first step takes the lock, for itself alone; what is there then stays until the end.
    var code = sqlite3_backup_step(backup, 1)
    let isTaken = DiskSpace.size(of: target.fileName) > 0
    if code == SQLITE_OK && !isTaken { code = sqlite3_backup_step(backup, -1) }
    let ended = sqlite3_backup_finish(backup)
    if isTaken && (code == SQLITE_OK || code == SQLITE_DONE) { throw taken() }
    if code == SQLITE_DONE && ended == SQLITE_OK { return }
    let error = target.failure(ended != SQLITE_OK ? ended : code)
    target.discardNewFile()
    throw error
  }

  private func taken() -> UpsurgeError {
    UpsurgeError(
      .databaseBusy, "another program has made the database \(database.escapedForTerminal) meanwhile",
      hint: "nothing is stored; run again, and the records go into what it has made")
  }

  private func syncFolder() throws(UpsurgeError) {
    var folder = "."
    if let cut = database.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = cut == database.startIndex ? "/" : String(database[..<cut])
    }
    let opened = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    // A folder that cannot be read, or a file system that cannot: SQLite leaves it at that, too.
    if opened < 0 { return }
    defer { close(opened) }
    if fsync(opened) == 0 || errno == EINVAL { return }
    throw UpsurgeError(
      .database,
      "the database \(database.escapedForTerminal) is made, but its folder could not be brought to the disk: "
        + String(cString: strerror(errno)),
      hint: "all rows are stored; after a power loss look whether the file is there", underlyingCode: errno)
  }
}

/// How a file can take the database's name.
package enum HandOverWay: CaseIterable, Sendable {
  /// renameat2(2) with RENAME_NOREPLACE, renamex_np(2) with RENAME_EXCL.
  case rename
  /// link(2), then unlink(2).
  case link
}

extension Connection {
  /// The most bytes of a text, BLOB or record.
  var lengthLimit: Int { Int(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1)) }

  /// The file itself, where the path is a symbolic link to it.
  var fileName: String { sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path }
}
