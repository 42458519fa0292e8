import CSQLite
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

/// The instrument itself: it fails what it is told to, and loses what was not synced, nothing else.
@Suite struct FaultDiskTests {
  private func open(_ database: TemporaryDatabase, _ disk: FaultDisk, synchronous: String) throws
    -> Connection
  {
    let connection = try Connection(
      path: database.path, createIfMissing: true, busyTimeoutMilliseconds: 50, vfs: disk.name)
    try connection.execute(
      "PRAGMA page_size=512; PRAGMA journal_mode=WAL; PRAGMA synchronous=\(synchronous)")
    return connection
  }

  @Test func theNthCallFailsOnceAndHalfOfItsBytesAreWritten() throws {
    let (database, disk) = (TemporaryDatabase(), FaultDisk())
    let connection = try open(database, disk, synchronous: "FULL")
    try connection.execute("CREATE TABLE t(a)")
    disk.fail(.write, nth: 2, code: SQLITE_FULL)
    #expect(throws: UpsurgeError.self) { try connection.execute("INSERT INTO t VALUES (zeroblob(900))") }
    #expect(disk.failure == "write test.db-wal")
    try connection.execute("INSERT INTO t VALUES (1)")
    disk.fail(.sync, nth: 1, code: FaultDisk.Code.sync, forGood: true)
    for _ in 0..<2 {
      #expect(throws: UpsurgeError.self) { try connection.execute("INSERT INTO t VALUES (2)") }
    }
    disk.heal()
    try connection.execute("INSERT INTO t VALUES (3)")
    #expect(try connection.text("SELECT group_concat(a) FROM t") == "1,3")
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
  }

  @Test func sharedMemoryAndLocksAreThoseOfThePlainFile() throws {
    let (database, disk) = (TemporaryDatabase(), FaultDisk())
    let writer = try open(database, disk, synchronous: "NORMAL")
    try writer.execute("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    let reader = try Connection(path: database.path, createIfMissing: false, busyTimeoutMilliseconds: 1)
    try reader.execute("BEGIN; SELECT * FROM t")
    try writer.execute("INSERT INTO t VALUES (2)")
    #expect(try reader.integer("SELECT count(*) FROM t") == 1)
    try reader.execute("COMMIT")
    #expect(try reader.integer("SELECT count(*) FROM t") == 2)
    try writer.execute("BEGIN IMMEDIATE")
    #expect(throws: UpsurgeError.self) { try reader.execute("INSERT INTO t VALUES (3)") }
    #expect(disk.count(.shmLock) > 0)
    #expect(disk.count(.shmMap) > 0)
    #expect(disk.openFileCount == 2)
  }

  @Test func aDiskOfSoManyBytesIsFullUntilThereIsRoom() throws {
    let (database, disk) = (TemporaryDatabase(), FaultDisk())
    let connection = try open(database, disk, synchronous: "NORMAL")
    try connection.execute("CREATE TABLE t(a)")
    disk.setCapacity(40_000)
    #expect(throws: UpsurgeError.self) { try connection.execute("INSERT INTO t VALUES (zeroblob(100000))") }
    #expect(disk.failure == "full at write test.db-wal")
    disk.setCapacity(400_000)
    try connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
  }

  /// Commits a row at a time until the power fails.
  /// - Returns: what was committed; and what is found afterwards, nil for a database that is damaged.
  private func cut(
    synchronous: String, change: Int, seed: UInt64
  ) throws -> (committed: Int64, found: Int64?, isDark: Bool) {
    let (database, disk) = (TemporaryDatabase(), FaultDisk())
    disk.losePower(atChange: change)
    var committed: Int64 = 0
    do {
      let connection = try open(database, disk, synchronous: synchronous)
      try connection.execute("PRAGMA wal_autocheckpoint=20; CREATE TABLE t(a, b)")
      for number in 1...Int64(60) {
        try connection.execute("INSERT INTO t VALUES (\(number), zeroblob(\(200 * (number % 7))))")
        committed = number
      }
    } catch { #expect(disk.isDark) }
    let isDark = disk.isDark
    #expect(disk.restorePower(seed: seed))
    do {
      let connection = try Connection(path: database.path, createIfMissing: true)
      guard try connection.text("PRAGMA integrity_check") == "ok" else { return (committed, nil, isDark) }
      if try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 { return (committed, 0, isDark) }
      let isPrefix = try connection.integer("SELECT count(*) = ifnull(max(a), 0) FROM t") == 1
      return (committed, isPrefix ? try connection.integer("SELECT count(*) FROM t") : nil, isDark)
    } catch { return (committed, nil, isDark) }
  }

  @Test func whatSQLiteHasSyncedSurvivesAPowerLoss() throws {
    var darkCount = 0
    var lost: Int64 = 0
    for seed in UInt64(0)..<60 {
      var random = SeededGenerator(seed: seed)
      let change = Int.random(in: 1...900, using: &random)
      let full = try cut(synchronous: "FULL", change: change, seed: seed)
      let found = try #require(full.found, "seed \(seed): damaged")
      #expect(found == full.committed || found == full.committed + 1, "seed \(seed)")
      let normal = try cut(synchronous: "NORMAL", change: change, seed: seed)
      let kept = try #require(normal.found, "seed \(seed): damaged")
      #expect(kept <= normal.committed + 1, "seed \(seed)")
      lost += max(0, normal.committed - kept)
      darkCount += full.isDark ? 1 : 0
    }
    #expect(darkCount > 20, "the power hardly ever failed: \(darkCount)")
    #expect(lost > 0, "no commit was lost without a sync")
  }

  @Test func withoutSyncsAPowerLossDamages() throws {
    let damaged = try (UInt64(0)..<40).count { seed in
      try cut(synchronous: "OFF", change: 300, seed: seed).found == nil
    }
    #expect(damaged > 0)
  }
}
