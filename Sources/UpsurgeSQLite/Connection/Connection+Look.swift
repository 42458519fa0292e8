import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Connection {
  /// Opens a database to look at it; nothing of it is changed, but what a killed program has begun is rolled back.
  ///
  /// A read-only connection to a database in WAL mode makes the files `-wal` and `-shm` and cannot remove them again.
  /// So where there are none, the connection is one that could write, is told not to, and takes them away when it closes.
  /// It is also the only one that can roll back.
  package static func looking(at path: String) throws(UpsurgeError) -> Connection {
    let hasLog = ["-wal", "-shm"].contains { access(path + $0, F_OK) == 0 }
    if !hasLog {
      do throws(UpsurgeError) { return try asking(path) } catch {
        // A lock has been waited for; with all else, perhaps it may only be read.
        if error.code == .databaseBusy { throw error }
      }
    }
    do throws(UpsurgeError) {
      return try Connection(path: path, createIfMissing: false, isReadOnly: true)
    } catch {
      guard hasLog, error.underlyingCode == ResultCode.readOnlyRollback,
        let connection = try? asking(path)
      else { throw error }
      return connection
    }
  }

  private static func asking(_ path: String) throws(UpsurgeError) -> Connection {
    let connection = try Connection(path: path, createIfMissing: false)
    try connection.execute("PRAGMA query_only=ON")
    return connection
  }
}
