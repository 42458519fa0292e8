import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

/// Brings the log into the database beside the writer, through a connection of its own.
///
/// A passive checkpoint copies what was committed when it began, whatever is appended meanwhile. The log begins anew only
/// where all of it was copied, so now and then the writer copies the rest itself; little is left by then.
final class CheckpointThread: @unchecked Sendable {
  // Sendable because every stored property but `thread`, which only the owner uses, is touched while `monitor` is locked.

  private let monitor = Monitor()
  private var isAsked = false
  private var isEnding = false
  private var result = Result()
  private var thread: WorkerThread?
  /// Ends the round that is on its way.
  private var interrupter: Interrupter?

  /// What came of the rounds so far.
  struct Result {
    /// Frames from the log's start on that are in the database.
    var frameCount = 0
    /// Whether a reader kept frames of the last round from it.
    var isPinned = false
    /// Whether it cannot be done here; the writer will find out why.
    var hasFailed = false
  }

  /// - Parameter path: of a database in WAL mode.
  /// - Throws: `database` when the system has no thread left.
  init(path: String, vfs: String?) throws(UpsurgeError) {
    thread = try WorkerThread { [self] in
      WorkerThread.blockSignals()
      work(path, vfs)
    }
  }

  /// What is known so far; nil while a round is on its way.
  var lastResult: Result? {
    monitor.lock()
    defer { monitor.unlock() }
    return isAsked ? nil : result
  }

  /// Begins a round, and waits for nothing.
  func start() {
    monitor.lock()
    defer { monitor.unlock() }
    isAsked = true
    monitor.notifyAll()
  }

  /// Waits for the round that is on its way.
  func wait() {
    monitor.lock()
    defer { monitor.unlock() }
    while isAsked { monitor.wait() }
  }

  /// Says that the log begins anew.
  func logDidRestart() {
    monitor.lock()
    defer { monitor.unlock() }
    result.frameCount = 0
    result.isPinned = false
  }

  /// Waits for the round that is on its way, closes the connection and ends the thread.
  /// - Parameter atOnce: gives up the round.
  func end(atOnce: Bool = false) {
    monitor.lock()
    isEnding = true
    if atOnce { interrupter?.interrupt() }
    monitor.notifyAll()
    monitor.unlock()
    thread?.join()
    thread = nil
  }

  private func work(_ path: String, _ vfs: String?) {
    var connection: Connection?
    while waitForRound() {
      do throws(UpsurgeError) {
        if connection == nil {
          connection = try Connection(
            path: path, createIfMissing: false, busyTimeoutMilliseconds: 0, vfs: vfs)
        }
        connection.map(note)
        try connection.map { (connection) throws(UpsurgeError) in try bringIn(connection) }
      } catch {
        monitor.lock()
        result.hasFailed = true
        monitor.unlock()
      }
      monitor.lock()
      isAsked = false
      monitor.notifyAll()
      monitor.unlock()
    }
  }

  private func note(_ connection: Connection) {
    monitor.lock()
    defer { monitor.unlock() }
    interrupter = connection.interrupter
  }

  /// - Returns: false when no round is to come.
  private func waitForRound() -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    while !isAsked && !isEnding { monitor.wait() }
    return isAsked
  }

  private func bringIn(_ connection: Connection) throws(UpsurgeError) {
    var (frames, done): (Int32, Int32) = (0, 0)
    let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &done)
    // Another program's checkpoint does the same work.
    if ResultCode.primary(code) != SQLITE_BUSY { try connection.check(code) }
    monitor.lock()
    defer { monitor.unlock() }
    result.frameCount = Int(max(done, 0))
    result.isPinned = done < frames
  }
}
