import CSQLite
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Connection {
  /// Removes the database file, when it was empty as this connection opened it and no table was ever committed.
  ///
  /// Done under the write lock, so that nothing another process has stored can go with it, and only where no other has
  /// the file open in WAL mode: only who is alone can leave that. Nobody is waited for. What is open is rolled back. The
  /// connection is of no use afterwards.
  package func discardNewFile() {
    guard isNewDatabase, !isTrial, path != ":memory:" else { return }
    if !isInAutocommit { try? execute("ROLLBACK") }
    let isAlone = lockWait.withoutWaiting { (try? text("PRAGMA journal_mode=DELETE")) == "delete" }
    guard isAlone, lockWait.withoutWaiting({ (try? execute("BEGIN EXCLUSIVE")) != nil }) else { return }
    let tableCount = (try? integer("SELECT count(*) FROM sqlite_schema")) ?? nil
    // Without a journal nothing was rolled back, and the file is worthless.
    if tableCount == 0 || durability == .off {
      // The file itself, where the path is a symbolic link to it; never one that took its place.
      let file = sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path
      // The name itself goes last: as soon as it is free, another run may make it, and have files beside it.
      if !hasMoved { for suffix in ["-wal", "-shm", "-journal", ""] { unlink(file + suffix) } }
    }
    try? execute("ROLLBACK")
  }
}
