import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Keeping the log within its limit.
///
/// A transaction's pages go to the log when it commits, or earlier when the page cache is full. After each commit
/// SQLite says how many frames the log holds; when they are enough, a passive checkpoint brings them into the
/// database, and the next transaction writes from the log's start again, unless somebody still reads from it. So
/// with more than half the limit a checkpoint waits for readers, up to the busy timeout, and makes sure of the
/// start. Much of the copying is done by a thread of its own while the writer goes on (see `CheckpointThread`). Within a
/// transaction the log grows by what SQLite has written plus, at most, what its cache holds; before
/// that passes the limit, the transaction ends early:
///
///     begun after <= 1/2      written before it is looked at <= 1/4     cache <= 1/4 (`Connection.configure`)
///
/// Where a reader stays longer, see `WriteAheadLog+Pin`.
final class WriteAheadLog {
  unowned let writer: TableWriter
  let connection: Connection
  private let isCancelled: @Sendable () -> Bool
  /// Bytes of a page of the database.
  private(set) var pageByteCount = 4096
  /// What SQLite's counter of written pages said before the first record.
  private var pagesBefore = 0
  /// Page-cache misses before the first record.
  private var pageMissesBefore = 0
  /// Transactions are looked at after so many records.
  private(set) var recordsBetweenLooks = 256
  /// Frames after which the next transaction writes.
  var frames = 0
  /// A log of so many bytes makes a checkpoint wait for readers below the limit.
  private var nextWaitByteCount = 0
  /// How long somebody has kept the log from being emptied.
  var watch = PinWatch()
  /// Pages that the last transaction has written.
  private(set) var lastPages = 0
  /// Pages of the database before the transaction that is open.
  var pageCount = 0
  /// Copies the log beside the writer; nil before it is first of use.
  var thread: CheckpointThread?
  /// Whether no thread can be had.
  private var hasNoThread = false
  /// Whether the page cache is small for the sake of large records.
  var hasSmallCache = false
  /// When others last had time to write.
  var turns = Turns()

  init(of writer: TableWriter) {
    self.writer = writer
    connection = writer.connection
    isCancelled = writer.settings.isCancelled
  }

  deinit { endBeside() }

  var frameByteCount: Int { pageByteCount + 24 }

  private var checkpointByteCount: Int {
    min(writer.settings.log.checkpointByteCount, writer.settings.log.limitByteCount / 4)
  }

  /// Whether what the transaction has written, and what its cache holds, may bring the log to its limit.
  var isNearLimit: Bool {
    let limit = writer.settings.log.limitByteCount - writer.settings.log.limitByteCount / 16
    let written = (pagesWritten - writer.transaction.startPages) * frameByteCount
    // Less is never worth a commit: a reader may pin the log beyond its limit for as long as it likes.
    if written * 4 <= limit { return false }
    let cached = min(connection.status(SQLITE_DBSTATUS_CACHE_USED), connection.pageCacheByteCount)
    return writer.transaction.startFrames * frameByteCount + written + cached > limit
  }

  /// Notes what a commit has written, and checkpoints when the log holds enough.
  /// - Parameter isEnd: whether the last checkpoint comes next.
  func govern(isEnd: Bool) throws(UpsurgeError) {
    let bytes = connection.notes.pointee.walFrames * frameByteCount
    frames = connection.notes.pointee.walFrames
    lastPages = pagesWritten - writer.transaction.startPages
    writer.statistics.walBytesPeak = max(writer.statistics.walBytesPeak, bytes)
    writer.statistics.pagesWritten = pagesWritten
    writer.statistics.walBytesWritten = pagesWritten * frameByteCount
    if isEnd || connection.durability == .off || checkpointsBeside(bytes) || bytes < checkpointByteCount {
      return
    }
    if isLeft { return }
    let isInDatabase = try checkpoint(SQLITE_CHECKPOINT_PASSIVE)
    if !isInDatabase && writer.settings.isCancelled() { return }
    notePin(isPinned: !isInDatabase, bytes)
    let limit = writer.settings.log.limitByteCount
    if bytes <= limit / 2 { return }
    if isInDatabase || bytes <= limit && bytes >= nextWaitByteCount {
      if !isInDatabase { nextWaitByteCount = bytes * 2 }
      if try empty(bytes) { return }
    }
    if bytes > limit { try waitForReader(bytes) }
  }

  /// Leaves the copying to the thread beside, as long as there is much to copy and room in the log.
  private func checkpointsBeside(_ bytes: Int) -> Bool {
    guard checkpointByteCount >= writer.settings.log.leastCheckpointBeside,
      bytes >= checkpointByteCount / 2, bytes <= writer.settings.log.limitByteCount / 2,
      let thread = threadBeside()
    else { return false }
    guard let result = thread.lastResult else { return true }
    if result.hasFailed || result.isPinned { return false }
    let rest = bytes - min(bytes, result.frameCount * frameByteCount)
    if bytes >= checkpointByteCount, rest <= bytes / 4 { return false }
    thread.start()
    writer.statistics.checkpointCount += 1
    return true
  }

  private func threadBeside() -> CheckpointThread? {
    if thread == nil, !hasNoThread {
      thread = connection.filePath.flatMap { try? CheckpointThread(path: $0, vfs: connection.vfsName) }
      hasNoThread = thread == nil
    }
    return thread
  }

  /// Ends the thread beside, with its connection.
  func endBeside() {
    thread?.end(atOnce: isCancelled())
    thread = nil
    hasNoThread = true
  }

  /// Brings all of the log into the database, and has the next transaction begin at its start; gives the disk back
  /// what is beyond the limit. Waits for readers, up to the busy timeout.
  func empty(_ bytes: Int) throws(UpsurgeError) -> Bool {
    let isLarge = bytes > writer.settings.log.limitByteCount || writer.statistics.logPin != nil
    guard try checkpoint(isLarge ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART) else {
      return false
    }
    frames = 0
    nextWaitByteCount = 0
    watch.hasWarned = false
    notePin(isPinned: false, bytes)
    return true
  }

  /// Brings the log into the database; a reader or writer that is in the way is no error.
  /// - Returns: whether all of it is there.
  @discardableResult
  func checkpoint(_ mode: Int32) throws(UpsurgeError) -> Bool {
    if isLeft { return false }
    let start = MonotonicClock.seconds
    thread?.wait()
    writer.settings.log.checkpointing(connection.interrupter)
    defer { writer.settings.log.checkpointing(nil) }
    var frames: Int32 = 0
    var done: Int32 = 0
    let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", mode, &frames, &done)
    if code == SQLITE_INTERRUPT { connection.leaveLog() }
    if code != SQLITE_OK && code != SQLITE_INTERRUPT && ResultCode.primary(code) != SQLITE_BUSY {
      var error = connection.failure(code)
      error.said += ", while the write-ahead log was brought into it"
      throw error
    }
    writer.statistics.isCheckpointComplete = code == SQLITE_OK && frames == done
    // The next transaction begins the log anew.
    if writer.statistics.isCheckpointComplete { thread?.logDidRestart() }
    writer.statistics.checkpointCount += 1
    writer.statistics.checkpointSeconds += MonotonicClock.seconds - start
    return writer.statistics.isCheckpointComplete
  }

  /// Whether the log stays as it is, because the run was told to end and it is large. All that is committed is safe there;
  /// the next run brings it into the database.
  private var isLeft: Bool {
    guard writer.settings.isCancelled(),
      connection.notes.pointee.walFrames * frameByteCount > Self.quickLogByteCount
    else { return false }
    connection.leaveLog()
    return true
  }

  /// A log of so many bytes is in the database soon.
  private static let quickLogByteCount = 8 << 20

  /// The last checkpoint of a run: nothing of the log is left, unless somebody reads from it, or the run was told to end.
  func finish(isInterrupted: Bool) throws(UpsurgeError) {
    do throws(UpsurgeError) {
      if isLeft { return }
      let bytes = connection.notes.pointee.walFrames * frameByteCount
      let isEmpty = try checkpoint(SQLITE_CHECKPOINT_TRUNCATE)
      if !isEmpty && writer.settings.isCancelled() { return }
      notePin(isPinned: !isEmpty, bytes)
      if !isEmpty { noteRest() }
    } catch {
      var error = error
      error.said +=
        " (\(isInterrupted ? "what was read is" : "all rows are") committed, and stays in the log until the next checkpoint)"
      throw error
    }
  }

  /// Begins to listen to commits and remembers the page count before the first record.
  func begin() throws(UpsurgeError) {
    pageByteCount = Int(try connection.integer("PRAGMA page_size") ?? 4096)
    pagesBefore = connection.status(SQLITE_DBSTATUS_CACHE_WRITE)
    pageMissesBefore = connection.status(SQLITE_DBSTATUS_CACHE_MISS)
    connection.noteWALFrames()
    let indexes = try connection.prepare("SELECT count(*) FROM pragma_index_list(?1, 'main')")
    try indexes.bind(writer.plan.schema.name, at: 1)
    let indexCount = try indexes.step() ? Int(indexes.integer(at: 0)) : 0
    // A sixteenth of the limit is left for what records between two looks write: a page of each tree, and another
    // where it splits.
    let most = writer.settings.log.limitByteCount / 16 / (pageByteCount * 2 * (1 + indexCount))
    recordsBetweenLooks = max(1, min(256, most))
  }

  /// Pages that the cache did not hold.
  var pagesRead: Int { connection.status(SQLITE_DBSTATUS_CACHE_MISS) - pageMissesBefore }

  var pagesWritten: Int { connection.status(SQLITE_DBSTATUS_CACHE_WRITE) - pagesBefore }
}
