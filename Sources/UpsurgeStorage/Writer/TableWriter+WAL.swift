import CSQLite
import UpsurgeRecords

/// Keeping the WAL within its limit.
///
/// A transaction's pages go to the WAL when it commits, or earlier when the page cache is full. After each
/// commit SQLite tells how many frames the WAL holds; when they are enough, a passive checkpoint brings them
/// into the database, and the next transaction writes from the WAL's start again. Within a transaction its
/// growth is what SQLite has written plus, at most, what its cache holds; before that passes the limit, the
/// transaction ends early. Where a reader pins the WAL, waiting for it is tried each time the WAL has
/// doubled.
extension TableWriter {
  private var frameByteCount: Int { pageByteCount + 24 }

  private var checkpointByteCount: Int {
    min(settings.checkpointByteCount, settings.walLimitByteCount / 4)
  }

  /// Whether the transaction has all the records it may have, or the WAL all its bytes.
  var isCommitDue: Bool {
    if connection.durability == .off || settings.commitsOnce || !transaction.isOpen { return false }
    return transaction.recordCount >= settings.commitEveryRecords || isWALNearLimit
  }

  /// Commits at a batch border when bytes or seconds say so.
  func commitIfDue() throws(UpsurgeError) {
    if connection.durability == .off || settings.commitsOnce || !transaction.isOpen { return }
    if let most = settings.commitEveryBytes, transaction.byteCount >= most { return try commit() }
    if let most = settings.commitEverySeconds, MonotonicClock.seconds - transaction.startSeconds >= most {
      try commit()
    }
  }

  private var isWALNearLimit: Bool {
    let limit = settings.walLimitByteCount - settings.walLimitByteCount / 16
    let written = (pagesWritten - transaction.startPages) * frameByteCount
    // Less is never worth a commit: a reader may pin the WAL beyond its limit for as long as it likes.
    if written * 4 <= limit { return false }
    let cached = min(connection.status(SQLITE_DBSTATUS_CACHE_USED), connection.pageCacheByteCount)
    return transaction.startFrames * frameByteCount + written + cached > limit
  }

  /// Notes what a commit has written, and checkpoints when the WAL holds enough.
  func governWAL() throws(UpsurgeError) {
    let bytes = connection.notes.pointee.walFrames * frameByteCount
    statistics.walBytesPeak = max(statistics.walBytesPeak, bytes)
    statistics.pagesWritten = pagesWritten
    statistics.walBytesWritten = pagesWritten * frameByteCount
    if connection.durability == .off || bytes < checkpointByteCount { return }
    let isPinned = bytes > settings.walLimitByteCount / 2 && bytes >= nextWaitByteCount
    if isPinned { nextWaitByteCount = bytes * 2 }
    try checkpoint(isPinned ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE)
  }

  /// Brings the WAL into the database; a reader that is in the way is no error.
  func checkpoint(_ mode: Int32) throws(UpsurgeError) {
    let start = MonotonicClock.seconds
    var frames: Int32 = 0
    var done: Int32 = 0
    let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, &frames, &done)
    if ResultCode.primary(code) != SQLITE_BUSY { try connection.check(code, sql: "checkpoint") }
    statistics.isCheckpointComplete = ResultCode.primary(code) != SQLITE_BUSY && frames == done
    statistics.checkpointCount += 1
    statistics.checkpointSeconds += MonotonicClock.seconds - start
  }

  /// Begins to listen to commits and remembers the page count before the first record.
  func beginStatistics() throws(UpsurgeError) {
    pageByteCount = Int(try connection.integer("PRAGMA page_size") ?? 4096)
    pagesBefore = connection.status(SQLITE_DBSTATUS_CACHE_WRITE)
    sqlite3_wal_hook(
      connection.handle,
      { notes, _, _, frames in
        notes?.assumingMemoryBound(to: WriteNotes.self).pointee.walFrames = Int(frames)
        return SQLITE_OK
      }, connection.notes)
  }

  var pagesWritten: Int { connection.status(SQLITE_DBSTATUS_CACHE_WRITE) - pagesBefore }
}

extension Connection {
  /// A counter of `sqlite3_db_status`.
  func status(_ counter: Int32) -> Int {
    var current: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(handle, counter, &current, &highest, 0)
    return Int(UInt32(bitPattern: current))
  }
}
