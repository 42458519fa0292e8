import CSQLite

/// Reads and writes the open file below SQLite, through its VFS. Opened a second time, the file would lose the locks
/// of the whole process when it is closed (https://www.sqlite.org/howtocorrupt.html, 2.2).
struct OpenFile {
  private let file: UnsafeMutablePointer<sqlite3_file>
  private let methods: sqlite3_io_methods

  /// - Parameter operation: `SQLITE_FCNTL_FILE_POINTER` for the database, `SQLITE_FCNTL_JOURNAL_POINTER` for its log.
  init?(_ handle: OpaquePointer, _ operation: Int32) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", operation, &file) == SQLITE_OK, let file,
      let methods = file.pointee.pMethods
    else { return nil }
    self.file = file
    self.methods = methods.pointee
  }

  /// nil where it cannot be told.
  var byteCount: Int64? {
    var count: sqlite3_int64 = 0
    return methods.xFileSize?(file, &count) == SQLITE_OK ? count : nil
  }

  /// What the database's file begins with; nil where it cannot be read.
  func header() -> HeaderBytes? {
    guard let byteCount else { return nil }
    if byteCount == 0 { return HeaderBytes(bytes: []) }
    var bytes = [UInt8](repeating: 0, count: HeaderBytes.byteCount)
    guard methods.xRead?(file, &bytes, Int32(bytes.count), 0) == SQLITE_OK else { return nil }
    return HeaderBytes(bytes: bytes)
  }

  /// Writes the header back; an empty one empties the file.
  func restore(_ header: HeaderBytes) {
    if header.bytes.isEmpty {
      truncate(to: 0)
    } else if methods.xWrite?(file, header.bytes, Int32(header.bytes.count), 0) == SQLITE_OK {
      _ = methods.xSync?(file, SQLITE_SYNC_NORMAL)
    }
  }

  func truncate(to byteCount: Int64) {
    if methods.xTruncate?(file, byteCount) == SQLITE_OK { _ = methods.xSync?(file, SQLITE_SYNC_NORMAL) }
  }
}
