import CSQLite
import UpsurgeRecords
import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// When other programs last had time to write.
///
/// SQLite has no queue: who waits for the write lock looks again now and then, in the end every 100 ms
/// (`sqlite3_busy_timeout`), and goes away empty-handed when a transaction of ours is open at each of these moments.
/// So at times a gap must be longer than 100 ms. A checkpoint often is, as it needs no write lock. Where none was,
/// the writer sleeps, but only when another process has the database open. On Linux the list of its locks says so. It
/// sleeps 110 ms every three seconds, and every second while somebody else does write.
struct Turns {
  /// When the last transaction ended.
  var endSeconds = 0.0
  /// Whether that was because no records came: others have a gap then, however soon the next ones come.
  var hasBeenIdle = false
  /// When there was a gap that was long enough.
  fileprivate var gapSeconds = MonotonicClock.seconds
  fileprivate var lookSeconds = MonotonicClock.seconds
  fileprivate var versionStatement: Statement?
  fileprivate var version: Int64?
  /// When another connection was last seen to have committed.
  fileprivate var foreignCommitSeconds = -Double.infinity

  fileprivate static let neededSeconds = 0.11
  fileprivate static let idleInterval = 3.0
  fileprivate static let sharedInterval = 1.0
  /// So long a foreign commit is taken to announce others.
  fileprivate static let memorySeconds = 10.0
}

extension WriteAheadLog {
  /// Leaves others time to write when they had none for too long; between transactions.
  func giveWay() {
    if connection.isTrial || connection.durability == .off || !connection.isInAutocommit { return }
    let now = MonotonicClock.seconds
    let gap = now - turns.endSeconds
    if turns.endSeconds == 0 || gap >= Turns.neededSeconds { turns.gapSeconds = now }
    if turns.hasBeenIdle {
      turns.hasBeenIdle = false
      if gap < Turns.neededSeconds, connection.isOpenElsewhere { return pause(behind: gap, now) }
    }
    guard now - turns.gapSeconds >= Turns.sharedInterval, now - turns.lookSeconds >= Turns.sharedInterval
    else {
      return
    }
    turns.lookSeconds = now
    lookForForeignCommit(now)
    let isShared = now - turns.foreignCommitSeconds < Turns.memorySeconds
    guard isShared || now - turns.gapSeconds >= Turns.idleInterval && connection.isOpenElsewhere else {
      return
    }
    pause(behind: gap, now)
  }

  private func pause(behind gap: Double, _ now: Double) {
    connection.lockWait.pause(seconds: Turns.neededSeconds - gap)
    turns.gapSeconds = MonotonicClock.seconds
    turns.lookSeconds = turns.gapSeconds
    writer.statistics.pauseSeconds += turns.gapSeconds - now
  }

  private func lookForForeignCommit(_ now: Double) {
    if turns.versionStatement == nil {
      turns.versionStatement = try? connection.prepare("PRAGMA data_version")
    }
    guard let statement = turns.versionStatement, (try? statement.step()) == true else { return }
    let version = statement.integer(at: 0)
    statement.reset()
    if let before = turns.version, before != version { turns.foreignCommitSeconds = now }
    turns.version = version
  }
}

extension Connection {
  /// Whether another process has the database open, as far as that can be told: a process holds a shared lock on
  /// byte 128 of the WAL's index as long as it has (https://www.sqlite.org/walformat.html#wal_locks).
  /// Processes of other containers are not in the list. True where there is no list.
  var isOpenElsewhere: Bool {
    #if os(Linux)
      guard let path = filePath, access(path + "-shm", F_OK) == 0, access("/proc/locks", R_OK) == 0 else {
        return true
      }
      return LogHolder.process(LogHolder.openBytes, of: path + "-shm").map { $0 != getpid() } ?? false
    #else
      return true
    #endif
  }
}
