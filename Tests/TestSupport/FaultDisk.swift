import CSQLite
import FaultVFS

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An SQLite VFS whose calls fail on demand; see `fault_vfs.h`. Outlives the connections that are opened with it.
public final class FaultDisk: @unchecked Sendable {
  // Sendable because the C side locks a mutex in every call.

  /// Kinds of calls.
  public struct Calls: OptionSet, Sendable, CustomStringConvertible {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let open = Calls(rawValue: 1 << 0)
    public static let read = Calls(rawValue: 1 << 1)
    public static let write = Calls(rawValue: 1 << 2)
    public static let sync = Calls(rawValue: 1 << 3)
    public static let truncate = Calls(rawValue: 1 << 4)
    public static let delete = Calls(rawValue: 1 << 5)
    public static let lock = Calls(rawValue: 1 << 6)
    public static let fileSize = Calls(rawValue: 1 << 7)
    public static let shmMap = Calls(rawValue: 1 << 8)
    public static let shmLock = Calls(rawValue: 1 << 9)
    public static let access = Calls(rawValue: 1 << 10)
    public static let unlock = Calls(rawValue: 1 << 11)
    public static let checkLock = Calls(rawValue: 1 << 12)
    public static let shmUnmap = Calls(rawValue: 1 << 13)
    /// What changes the disk.
    public static let changes: Calls = [.write, .sync, .truncate, .delete]

    private static let names = [
      "open", "read", "write", "sync", "truncate", "delete", "lock", "file-size", "shm-map", "shm-lock",
      "access",
      "unlock", "check-lock", "shm-unmap",
    ]

    public var description: String {
      Self.names.indices.filter { rawValue >> $0 & 1 == 1 }.map { Self.names[$0] }.joined(separator: "+")
    }
  }

  /// SQLite's extended result codes, whose macros Swift does not see.
  public enum Code {
    public static let read = SQLITE_IOERR | 1 << 8
    public static let write = SQLITE_IOERR | 3 << 8
    public static let sync = SQLITE_IOERR | 4 << 8
    public static let truncate = SQLITE_IOERR | 6 << 8
    public static let lock = SQLITE_IOERR | 15 << 8
    public static let shmLock = SQLITE_IOERR | 20 << 8
    public static let unlock = SQLITE_IOERR | 8 << 8
    public static let access = SQLITE_IOERR | 13 << 8
    public static let checkLock = SQLITE_IOERR | 14 << 8
  }

  private let handle: OpaquePointer

  public init() { handle = fault_vfs_new() }

  deinit { fault_vfs_free(handle) }

  /// The name that SQLite knows it by.
  public var name: String { String(cString: fault_vfs_name(handle)) }

  /// Calls so far.
  public func count(_ calls: Calls) -> Int { Int(fault_vfs_count(handle, calls.rawValue)) }

  /// Files by what they are; `other` are journals of transactions and statements, and temporary files.
  public enum File: Int32, Sendable { case database, log, other }

  /// Writes to files of one kind that have not failed, and their bytes.
  public func writeCount(_ file: File) -> Int { Int(fault_vfs_write_count(handle, file.rawValue)) }
  public func bytesWritten(_ file: File) -> Int { Int(fault_vfs_bytes_written(handle, file.rawValue)) }

  /// Counts the statements of connections that are opened from now on, PRAGMAs left out.
  public func countStatements() { fault_vfs_count_statements(handle) }
  public var statementCount: Int { Int(fault_vfs_statement_count(handle)) }
  /// Operations of SQLite's virtual machine in them.
  public var operationCount: Int { Int(fault_vfs_operation_count(handle)) }

  public var openFileCount: Int { Int(fault_vfs_open_count(handle)) }

  /// The nth call (from 1) of these kinds from now on fails; with `forGood` so do all that follow.
  public func fail(_ calls: Calls, nth: Int, code: Int32, errno: Int32 = EIO, forGood: Bool = false) {
    fault_vfs_fail(handle, calls.rawValue, UInt64(nth), code, errno, forGood)
  }

  /// Nothing fails any more.
  public func heal() {
    fault_vfs_fail(handle, 0, 0, 0, 0, false)
    fault_vfs_set_capacity(handle, 0)
  }

  /// What failed first since the last plan: `write a.db-wal`.
  public var failure: String? { fault_vfs_failure(handle).map { String(cString: $0) } }

  /// Room for all files together, in bytes.
  public func setCapacity(_ byteCount: Int) { fault_vfs_set_capacity(handle, UInt64(byteCount)) }

  /// The power fails at the nth call that changes the disk; to be said before a file is opened.
  public func losePower(atChange nth: Int) { fault_vfs_lose_power(handle, UInt64(nth)) }

  public var isDark: Bool { fault_vfs_is_dark(handle) }

  /// Makes the files what the disk could hold after the loss.
  /// - Returns: false when a file is still open or cannot be written.
  public func restorePower(seed: UInt64) -> Bool { fault_vfs_restore_power(handle, seed) }
}
