import CSQLite
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One connection to an SQLite database; it and its statements are used by one thread at a time.
///
/// Debug builds check the thread. A connection made on one thread and used on another is handed over with
/// `moveToCurrentThread()`. Closed by `deinit`, when no statement of it is left.
package final class Connection {
  /// SQLite's handle; valid as long as the connection.
  package let handle: OpaquePointer
  /// The database file as the user named it.
  package let path: String
  /// The SQLite VFS that it was opened with; nil is the system's own.
  package let vfsName: String?
  /// How long SQLite waits for a lock held by another connection.
  package var busyTimeoutMilliseconds: Int32 { lockWait.milliseconds }
  /// Whether nothing may be left over: the journal mode stays, and a missing file is not made, a temporary database
  /// takes its place. Whoever writes rolls back.
  package let isTrial: Bool
  /// Whether the database had no page when it was opened.
  package let isNewDatabase: Bool
  /// Whether the file was there, empty or not, before the connection was opened.
  package let foundFile: Bool
  /// Whether `configure` took an existing database from a rollback journal to WAL.
  package internal(set) var didSwitchToWAL = false
  /// What the file held before `configure` switched it to WAL; nil where there is nothing to switch back.
  var headerBeforeWAL: HeaderBytes?
  /// `PRAGMA data_version` when `configure` had the database in WAL mode, and the bytes of its log: other commits show.
  var logBefore: (version: Int64, byteCount: Int64)?
  /// Whether a log lay beside the database when it was opened, with something in it.
  let foundLog: Bool
  /// Whether `configure` was called, from when on `notes` counts commits.
  var isConfigured = false
  /// What `configure` asked for.
  package var durability = Durability.normal
  /// Whether somebody else has opened it, has begun a transaction on it, and ends both.
  package let isBorrowed: Bool
  /// Why the schema is trusted; nil as long as it is not.
  var schemaTrust: SchemaTrust?
  /// What `configure` gave the page cache, an upper bound.
  package var pageCacheByteCount = 2 << 20
  /// What the writer's statements have counted; see `WriteNotes`.
  package let notes: UnsafeMutablePointer<WriteNotes>
  /// What `upsurge_is_synchronizing()` says; SQLite frees it with the handle.
  let synchronizingFlag: UnsafeMutablePointer<Bool>

  /// The transaction that loads share; nil where each has its own.
  package var shared: SharedTransaction?

  /// Distinguishes the connection from all others of the process; SQLite's handles have the addresses of earlier ones.
  let serial = Connection.serials.withLock { (count: inout Int) in
    count += 1
    return count
  }

  private static let serials = Guarded(0)

  /// How many `SeenRows` there were.
  package var seenCount = 0

  /// Waits for locks, and ends such waits.
  package let lockWait: LockWait

  private let guardedHandle: Interrupter
  private var owner = pthread_self()

  /// Opens a database file; nothing is written.
  /// - Parameter createIfMissing: whether a missing file is created (at the first write).
  /// - Parameter isReadOnly: whether nothing can be written, which needs no right to.
  /// - Parameter isImmutable: whether the file is read without locks and without a log; the caller looks whether it has
  ///   changed meanwhile.
  /// - Parameter isTrial: whether the database is only to be tried on; see `isTrial`.
  /// - Parameter isTemporary: whether it is a database in a file without a name that is gone with the connection; then
  ///   `path` is only what messages call it.
  /// - Parameter vfs: the name of a registered SQLite VFS; nil is the system's own.
  /// - Parameter isCancelled: is asked on the connection's thread while it waits for a lock; true ends the wait, with
  ///   the code `interrupted`.
  /// - Throws: `cannotCreate`, `unreadableInput` (missing, and not to be created), `databaseBusy`,
  ///   `database`.
  package init(
    path: String, createIfMissing: Bool, busyTimeoutMilliseconds: Int32 = 5000, isReadOnly: Bool = false,
    isImmutable: Bool = false, isTrial: Bool = false, isTemporary: Bool = false, vfs: String? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(UpsurgeError) {
    if path.isEmpty || path.utf8.contains(0) {
      throw UpsurgeError(.usage, "a database needs a file name")
    }
    if !isTemporary { try Connection.checkURL(path) }
    guard sqlite3_libversion_number() >= 3_037_000 else {
      throw UpsurgeError(
        .database, "SQLite \(String(cString: sqlite3_libversion())) is too old: 3.37 or newer is needed")
    }
    if !isTemporary { try Connection.checkFile(path, createIfMissing: createIfMissing) }
    foundFile = !isTemporary && access(path, F_OK) == 0
    let isStandIn = isTemporary || isTrial && !foundFile
    if isStandIn && !isTemporary { try Connection.checkFolder(of: path) }
    // SQLite's name for a temporary database on disk.
    let handle = try Connection.open(
      isStandIn ? "" : path, createIfMissing: createIfMissing, isReadOnly: isReadOnly || isImmutable,
      isImmutable: isImmutable, vfs: vfs)
    foundLog = !isReadOnly && !isImmutable && Connection.logByteCount(handle) > 0
    let wait = LockWait(milliseconds: busyTimeoutMilliseconds, isCancelled: isCancelled)
    wait.install(on: handle)
    do throws(UpsurgeError) {
      isNewDatabase =
        try Connection.pageCount(handle, path: path, wait: wait, isReadOnly: isReadOnly || isImmutable) == 0
      synchronizingFlag = try ApplicationFunction.register(on: handle)
      notes = try WriteNotes.register(on: handle)
    } catch {
      sqlite3_close_v2(handle)
      throw error
    }
    self.handle = handle
    self.path = path
    vfsName = vfs
    isBorrowed = false
    self.isTrial = isTrial
    lockWait = wait
    guardedHandle = Interrupter(handle)
  }

  /// Uses the connection of somebody else, on which a transaction is open: what is written is a part of that. Its settings,
  /// hooks and handlers stay as they are; functions and collations of the engine are added.
  /// - Throws: `usage` where no transaction is open, or another call is at work on it; `database`.
  package init(borrowing handle: OpaquePointer) throws(UpsurgeError) {
    if sqlite3_get_autocommit(handle) != 0 {
      throw UpsurgeError(.usage, "a transaction must be open on a connection that is lent to the engine")
    }
    let state = try BorrowedHandle.state(of: handle)
    try BorrowedHandle.lend(handle)
    self.handle = handle
    path = sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? ""
    vfsName = nil
    isTrial = false
    isNewDatabase = false
    foundFile = true
    foundLog = false
    isBorrowed = true
    (notes, synchronizingFlag) = (state.notes, state.synchronizingFlag)
    lockWait = LockWait(milliseconds: 0) { false }
    guardedHandle = Interrupter(handle)
    shared = SharedTransaction(hasBegun: true)
  }

  deinit {
    guardedHandle.close()
    if isBorrowed { return BorrowedHandle.giveBack(handle) }
    if !hasCommitted { leaveUntouched() }
    sqlite3_close_v2(handle)
    notes.deallocate()
  }

  /// Stops the statement that is running, from any thread; a write that is stopped is rolled back with its
  /// whole transaction. Harmless after the connection is gone.
  package var interrupter: Interrupter { guardedHandle }

  /// Hands the connection over to the calling thread; no other thread may use it from now on.
  package func moveToCurrentThread() { owner = pthread_self() }

  /// The most columns of a table.
  package var columnLimit: Int { Int(sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, -1)) }

  /// Whether no transaction is open; of loads that share one, whether none of them is at work in it.
  package var isInAutocommit: Bool {
    sqlite3_get_autocommit(handle) != 0 || shared.map { !$0.hasPart } ?? false
  }

  /// Debug builds: traps when called on another thread than the connection's.
  @inline(__always)
  package func checkThread() {
    assert(
      pthread_equal(owner, pthread_self()) != 0,
      "a connection was used on another thread than its own; hand it over with moveToCurrentThread()")
  }

  // MARK: - Statements

  /// Compiles one statement.
  package func prepare(_ sql: String, isPersistent: Bool = false) throws(UpsurgeError) -> Statement {
    guard let statement = try compile(sql, isPersistent: isPersistent) else {
      throw UpsurgeError(.usage, "there is no SQL statement in: \(sql)")
    }
    return Statement(statement, connection: self, sql: sql)
  }

  /// Runs one or more statements whose results do not matter.
  package func execute(_ sql: String) throws(UpsurgeError) { _ = try execute(sql, takesParameters: true) }

  /// Runs statements up to one that has parameters, where they are not taken: they would be NULL.
  /// - Returns: whether all were run.
  package func execute(_ sql: String, takesParameters: Bool) throws(UpsurgeError) -> Bool {
    let text = Array(sql.utf8CString)
    return try text.withUnsafeBufferPointer { (text) throws(UpsurgeError) in
      var rest = text.baseAddress
      while let start = rest, start.pointee != 0 {
        guard let statement = try compile(start, flags: 0, rest: &rest, sql: sql) else { continue }
        if !takesParameters && sqlite3_bind_parameter_count(statement) > 0 {
          sqlite3_finalize(statement)
          return false
        }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW { code = sqlite3_step(statement) }
        let ended = sqlite3_finalize(statement)
        try check(ended, sql: sql)
      }
      return true
    }
  }

  /// SQLite's own handle of a statement, which the caller finalizes; nil where the text holds none.
  package func compile(_ sql: String, isPersistent: Bool) throws(UpsurgeError) -> OpaquePointer? {
    let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let text = Array(sql.utf8CString)
    return try text.withUnsafeBufferPointer { (text) throws(UpsurgeError) in
      guard let start = text.baseAddress else { return nil }
      var rest: UnsafePointer<CChar>?
      return try compile(start, flags: flags, rest: &rest, sql: sql)
    }
  }

  /// Compiles the first statement of a text; where the schema must be trusted for that, it is from then on.
  private func compile(
    _ text: UnsafePointer<CChar>, flags: UInt32, rest: inout UnsafePointer<CChar>?, sql: String
  ) throws(UpsurgeError) -> OpaquePointer? {
    checkThread()
    var statement: OpaquePointer?
    var code = sqlite3_prepare_v3(handle, text, -1, flags, &statement, &rest)
    if code == SQLITE_ERROR, trustSchemaIfNeeded() {
      code = sqlite3_prepare_v3(handle, text, -1, flags, &statement, &rest)
      if code != SQLITE_OK {
        let error = failure(code, sql: sql)
        distrustSchema()
        throw error
      }
    }
    try check(code, sql: sql)
    return statement
  }

  /// The first column of the first row, as an integer; nil when there is no row or it is NULL.
  package func integer(_ sql: String) throws(UpsurgeError) -> Int64? {
    let statement = try prepare(sql)
    return try statement.step() && !statement.isNull(at: 0) ? statement.integer(at: 0) : nil
  }

  /// The first column of the first row, as text; nil when there is no row or it is NULL.
  package func text(_ sql: String) throws(UpsurgeError) -> String? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.text(at: 0) : nil
  }

  // MARK: - Opening

  private static func open(
    _ path: String, createIfMissing: Bool, isReadOnly: Bool, isImmutable: Bool = false, vfs: String?
  ) throws(UpsurgeError) -> OpaquePointer {
    // A build with SQLITE_USE_URI would take such a name for a URI.
    var name = path.hasPrefix("file:") ? "./" + path : path
    var flags = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
    if isImmutable {
      name = "file:\(uriPath(path))?immutable=1"
      flags |= SQLITE_OPEN_URI
    }
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    if createIfMissing { flags |= SQLITE_OPEN_CREATE }
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(name, &handle, flags, vfs)
    guard code == SQLITE_OK, let handle else {
      let error = Connection.failure(code, handle: handle, path: path, wait: nil, sql: nil)
      sqlite3_close_v2(handle)
      throw error
    }
    defend(handle)
    return handle
  }

  /// A path as a URI has it: all but letters, digits and `/` as `%` and two digits.
  private static func uriPath(_ path: String) -> String {
    path.utf8.reduce(into: "") { text, byte in
      let character = Character(UnicodeScalar(byte))
      let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "/._-".contains(character))
      let digits = String(byte, radix: 16)
      text += isPlain ? String(character) : "%" + (digits.count == 1 ? "0" : "") + digits
    }
  }

  /// Refuses what cannot be a database before SQLite opens it: a device or a pipe would be read from.
  private static func checkFile(_ path: String, createIfMissing: Bool) throws(UpsurgeError) {
    if createIfMissing && path == ":memory:" { return }
    var status = stat()
    // A name that cannot be looked up is SQLite's to complain of.
    guard path != ":memory:", stat(path, &status) == 0 else {
      if createIfMissing { return }
      throw UpsurgeError(.unreadableInput, "there is no database \(path.escapedForTerminal)")
    }
    if [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) { return }
    throw UpsurgeError(
      .cannotCreate, "\(path.escapedForTerminal) is no file but a device, pipe or socket",
      hint: "give the path of a database file")
  }

  /// Says what opening a new file would say, without making it.
  private static func checkFolder(of path: String) throws(UpsurgeError) {
    var folder = "."
    if let cut = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = cut == path.startIndex ? "/" : String(path[..<cut])
    }
    if access(folder, W_OK | X_OK) == 0 { return }
    throw Connection.failure(SQLITE_CANTOPEN, handle: nil, path: path, wait: nil, sql: nil)
  }

  /// Reads the header, so that a file that is no database is found at once.
  private static func pageCount(
    _ handle: OpaquePointer, path: String, wait: LockWait, isReadOnly: Bool
  ) throws(UpsurgeError) -> Int64 {
    var statement: OpaquePointer?
    var code = sqlite3_prepare_v2(handle, "PRAGMA page_count", -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    if code == SQLITE_OK { code = sqlite3_step(statement) }
    guard code == SQLITE_ROW else {
      throw Connection.failure(code, handle: handle, path: path, wait: wait, sql: nil)
    }
    if !isReadOnly && sqlite3_db_readonly(handle, "main") == 1 {
      throw UpsurgeError(
        .cannotCreate, "the database \(path.escapedForTerminal) is write-protected",
        hint: "give yourself the right to write the file and its folder")
    }
    return sqlite3_column_int64(statement, 0)
  }
}
