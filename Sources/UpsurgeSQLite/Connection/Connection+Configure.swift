import CSQLite
import UpsurgeRecords

/// How much a crash may take with it.
public enum Durability: String, Sendable, CaseIterable {
  /// Every commit is on the disk before the next begins (`synchronous=FULL`).
  case full
  /// A power loss may take the last commits, never the consistency (`synchronous=NORMAL`).
  case normal
  /// No journal at all: for new files only, which are worthless after a crash or a rollback.
  case off
}

extension Connection {
  /// Prepares the connection for writing: WAL, our own checkpoints, caches, foreign keys on.
  ///
  /// Writes nothing to a database that is in WAL mode already. An existing database with a rollback journal
  /// is switched to WAL, which `didSwitchToWAL` says, and switched back when the connection closes and has committed
  /// nothing. In a trial the journal stays as it is.
  /// - Parameters:
  ///   - pageCacheByteCount: upper bound of SQLite's page cache.
  ///   - newDatabasePageSize: page size of a database that has no page yet; a power of two, 512...65536.
  ///   - defersForeignKeys: whether records may have to be taken back at the end of a transaction.
  /// - Throws: `usage` for `off` on an existing database; `databaseBusy`; `database`.
  package func configure(
    durability: Durability, pageCacheByteCount: Int, newDatabasePageSize: Int = 16384,
    defersForeignKeys: Bool = false
  ) throws(UpsurgeError) {
    if durability == .off && !isNewDatabase {
      throw UpsurgeError(
        .usage, "\(.durability, "off") is for new files only, and \(path.escapedForTerminal) exists",
        hint: "\(.durability, "normal") keeps what is there safe")
    }
    if isNewDatabase { try execute("PRAGMA page_size=\(newDatabasePageSize)") }
    // Statement journals stay in memory; they are a few pages. A sort would too: nothing here sorts. What takes records
    // back at the end of a transaction is a savepoint, whose journal may hold every page: that goes to a file. This
    // cannot be changed later, as SQLite then forgets what is in `temp`.
    var mayHold = defersForeignKeys
    if !mayHold { mayHold = try hasDeferredForeignKeys }
    try execute(
      """
      PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-\(max(pageCacheByteCount >> 10, 64));
      PRAGMA temp_store=\(mayHold ? "FILE" : "MEMORY"); PRAGMA secure_delete=OFF; PRAGMA foreign_keys=ON;
      """)
    if isTrial {
      try execute("PRAGMA synchronous=NORMAL")
    } else if durability == .off {
      try doWithoutJournal()
    } else {
      try switchToWAL()
      try execute("PRAGMA synchronous=\(durability == .full ? "FULL" : "NORMAL")")
    }
    if durability != .off {
      noteWALFrames()
      if foundLog { try rememberLog() }
    }
    isConfigured = true
    self.durability = isTrial ? .normal : durability
    self.pageCacheByteCount = pageCacheByteCount
  }

  /// Whether any table may have a foreign key that is looked at when the transaction ends.
  private var hasDeferredForeignKeys: Bool {
    get throws(UpsurgeError) {
      try integer("SELECT 1 FROM main.sqlite_schema WHERE sql LIKE '%INITIALLY%DEFERRED%' LIMIT 1") != nil
    }
  }

  /// Holds the file alone to the end: nothing protects what another program would read or write meanwhile.
  /// - Throws: `databaseBusy` when another program was faster with the new file.
  private func doWithoutJournal() throws(UpsurgeError) {
    // In memory, so that no journal file stays: a connection that locks for good would keep it.
    try execute("PRAGMA journal_mode=MEMORY; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
    if try integer("SELECT count(*) FROM sqlite_schema") != 0 {
      throw UpsurgeError(
        .databaseBusy, "another program has just made the database \(path.escapedForTerminal)",
        hint: "run again; \(.durability, "off") is for new files only")
    }
    try undefended("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")
    let mode = try text("PRAGMA journal_mode") ?? ""
    if mode != "off" && mode != "memory" {
      throw UpsurgeError(
        .database, "the database \(path.escapedForTerminal) keeps its journal (\(mode))",
        hint: "leave out \(.durability, "off")")
    }
  }

  private func switchToWAL() throws(UpsurgeError) {
    if try text("PRAGMA journal_mode") == "wal" { return }
    let before = foundFile ? OpenFile(handle, SQLITE_FCNTL_FILE_POINTER)?.header() : nil
    let after = try lockWait.inShortWaits { () throws(UpsurgeError) in
      // To the end: the file's header is committed after the row that says the mode.
      let statement = try prepare("PRAGMA journal_mode=WAL")
      var after = ""
      while try statement.step() { after = statement.text(at: 0) ?? "" }
      return after
    }
    if after != "wal" && after != "memory" {
      throw UpsurgeError(
        .database, "the database \(path.escapedForTerminal) stays in journal mode \(after) instead of WAL",
        hint: "WAL needs a local file system with shared memory")
    }
    didSwitchToWAL = !isNewDatabase && after == "wal"
    if after == "wal", let before { try remember(before) }
  }
}
