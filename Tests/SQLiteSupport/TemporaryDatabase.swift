import Synchronization
import UpsurgeRecords
import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A database in a folder of its own that is gone when the tests end.
package struct TemporaryDatabase {
  package let path: String

  private static let folders: Mutex<[String]> = {
    atexit {
      for folder in TemporaryDatabase.folders.withLock({ $0 }) {
        for suffix in ["", "-wal", "-shm", "-journal", "-upsurge"] { unlink(folder + "/test.db" + suffix) }
        rmdir(folder)
      }
    }
    return Mutex([])
  }()

  package init() {
    var template = Array("/tmp/upsurge-storage-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { fatalError("no temporary folder") }
    let folder = String(cString: made)
    path = folder + "/test.db"
    TemporaryDatabase.folders.withLock { $0.append(folder) }
  }

  /// A configured connection.
  package func open(_ setup: String = "", durability: Durability = .normal) throws(UpsurgeError) -> Connection {
    let connection = try Connection(path: path, createIfMissing: true)
    try connection.configure(durability: durability, pageCacheByteCount: 4 << 20)
    if !setup.isEmpty { try connection.execute(setup) }
    return connection
  }

  /// Size of the WAL file; 0 when there is none.
  package var walByteCount: Int {
    var info = stat()
    return stat(path + "-wal", &info) == 0 ? Int(info.st_size) : 0
  }
}
