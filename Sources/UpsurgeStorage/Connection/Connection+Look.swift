import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Connection {
  /// Opens a database to look at it; nothing of it is changed.
  ///
  /// A read-only connection to a database in WAL mode makes the files `-wal` and `-shm` and cannot remove them again.
  /// So where there are none, which means that there is nothing to recover either, the connection is one that could
  /// write, is told not to, and takes them away when it closes.
  package static func looking(at path: String) throws(UpsurgeError) -> Connection {
    let hasRest = ["-wal", "-shm", "-journal"].contains { access(path + $0, F_OK) == 0 }
    if !hasRest {
      do throws(UpsurgeError) {
        let connection = try Connection(path: path, createIfMissing: false)
        try connection.execute("PRAGMA query_only=ON")
        return connection
      } catch {
        // Perhaps it may only be read.
      }
    }
    return try Connection(path: path, createIfMissing: false, isReadOnly: true)
  }
}
