import CSQLite
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Takes lines on the thread of the test.
private final class Said: @unchecked Sendable {
  // Sendable because one thread uses it.
  var lines: [String] = []
}

@Suite struct WALTests {
  private func rows(_ count: Int) -> [[Value]] {
    (0..<count).map { [.integer(Int64($0 * 7919 % 100_003)), .text("name \($0)"), .real(Double($0) / 4)] }
  }

  @Test(arguments: [
    "CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT, x REAL)", "CREATE TABLE t(k, n TEXT, x, PRIMARY KEY (k))",
    "CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT UNIQUE, x REAL)",
    "CREATE TABLE t(k INT PRIMARY KEY, n TEXT, x REAL) WITHOUT ROWID",
    "CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT, x REAL) STRICT",
    "CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT, x REAL, g AS (x * 2) STORED)",
    "CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT, x REAL); CREATE TRIGGER a AFTER UPDATE ON t BEGIN SELECT 1; END",
  ]) func identicalDataWritesNoFrame(_ table: String) throws {
    let database = TemporaryDatabase()
    let keeper = try database.open(table)  // Keeps the WAL file alive.
    for turn in 0..<3 {
      let before = database.walByteCount
      let connection = try Connection(path: database.path, createIfMissing: false)
      try connection.configure(durability: .full, pageCacheByteCount: 1 << 20)
      #expect(database.walByteCount == before, "configure wrote frames")
      let (writer, _) = try load(
        connection, "t", ["k", "n", "x"], rows(3000), key: ["k"], cut: Cut(commitEvery: 1000))
      if turn == 0 {
        #expect(writer.ledger.text == "read 3000 inserted 3000")
        #expect(writer.statistics.pagesWritten > 0)
        #expect(writer.statistics.walBytesPeak > 0)
        #expect(database.walByteCount == 0, "finish truncates the WAL")
      } else {
        #expect(writer.ledger.text == "read 3000 unchanged 3000")
        #expect(writer.statistics.pagesWritten == 0)
        #expect(database.walByteCount == before)
      }
    }
    #expect(try keeper.integer("SELECT count(*) FROM t") == 3000)
  }

  @Test func theLimitHoldsOnRandomKeys() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k TEXT PRIMARY KEY, n TEXT); CREATE INDEX i ON t(n)")
    var random = SeededGenerator(seed: 5)
    let rows: [[Value]] = (0..<60_000).map { _ in
      [.text("\(random.next())"), .text("\(random.next()) and some more text to fill the pages")]
    }
    var settings = WriterSettings()
    settings.log.limitByteCount = 16 << 20
    let (writer, _) = try load(connection, "t", ["k", "n"], rows, settings: settings)
    #expect(writer.ledger.text == "read 60000 inserted 60000")
    #expect(writer.statistics.walBytesPeak <= 16 << 20, "peak \(writer.statistics.walBytesPeak)")
    #expect(writer.statistics.commitCount > 1)
    #expect(writer.statistics.commitCount < 60, "\(writer.statistics.commitCount) commits")
    #expect(writer.statistics.checkpointCount > 1)
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
  }

  @Test func aReaderThatPinsTheWALStopsNothing() throws {
    let database = TemporaryDatabase()
    let connection = try Connection(path: database.path, createIfMissing: true, busyTimeoutMilliseconds: 20)
    try connection.configure(durability: .normal, pageCacheByteCount: 1 << 20)
    try connection.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT)")
    let reader = try Connection(path: database.path, createIfMissing: false)
    try reader.execute("BEGIN; SELECT count(*) FROM t;")
    var settings = WriterSettings()
    settings.log.limitByteCount = 2 << 20
    settings.log.longestPauseSeconds = 0.02
    let rows: [[Value]] = (0..<50_000).map {
      [.integer(Int64($0)), .text(String(repeating: "n", count: 100))]
    }
    let said = Said()
    settings.warn = { said.lines.append($0.text) }
    let (writer, _) = try load(connection, "t", ["k", "n"], rows, settings: settings)
    #expect(!writer.statistics.isCheckpointComplete)
    #expect(writer.statistics.walBytesPeak > 2 << 20)
    #expect(said.lines.count == 1, "\(said.lines)")
    #expect(said.lines.first?.contains("so the write-ahead log cannot be emptied: it has grown to") == true)
    #expect(said.lines.first?.contains("past the --wal-limit of 2 MiB") == true)
    let pin = try #require(writer.statistics.logPin)
    #if os(Linux)
      #expect(pin.holder == "another connection of this process")
    #endif
    #expect(pin.seconds > 0 && pin.pauseSeconds > 0)
    #expect(pin.peakByteCount >= 4 << 20)
    #expect(pin.leftByteCount == database.walByteCount)
    #expect(pin.leftByteCount <= pin.peakByteCount && pin.peakByteCount <= writer.statistics.walBytesPeak)
    #expect(writer.statistics.commitCount < 50, "\(writer.statistics.commitCount) commits")
    #expect(try reader.integer("SELECT count(*) FROM t") == 0)
    try reader.execute("COMMIT")
    #expect(try reader.integer("SELECT count(*) FROM t") == 50_000)
  }

  @Test func theLogIsCutBackWhenItsReaderEnds() throws {
    let database = TemporaryDatabase()
    let connection = try Connection(path: database.path, createIfMissing: true, busyTimeoutMilliseconds: 5)
    try connection.configure(durability: .normal, pageCacheByteCount: 1 << 19)
    try connection.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT)")
    let reader = try Connection(path: database.path, createIfMissing: false)
    try reader.execute("BEGIN; SELECT count(*) FROM t;")
    var settings = WriterSettings()
    settings.log.limitByteCount = 2 << 20
    settings.log.longestPauseSeconds = 0.01
    settings.commitEvery.records = 1000
    var maker = BatchMaker(["k", "n"])
    guard let schema = try TableSchema.read(connection, table: "t") else { return }
    let writer = try TableWriter(
      connection: connection, plan: UpsertPlan(schema: schema, columns: maker.columns),
      sourceNames: ["in.csv"], settings: settings)
    var most = 0
    for turn in 0..<60 {
      if turn == 40 { try reader.execute("COMMIT") }
      let rows: [[Value]] = (0..<1000).map { [.integer(Int64(turn * 1000 + $0)), .text("a name \($0)")] }
      var batch = maker.batch(rows)
      try writer.write(&batch)
      if turn < 40 { most = max(most, database.walByteCount) }
      if turn > 40 { #expect(database.walByteCount <= 2 << 20, "turn \(turn)") }
    }
    #expect(most > 2 << 20, "the reader did not pin the log")
    try writer.finish()
    #expect(database.walByteCount == 0)
    #expect(writer.statistics.logPin?.leftByteCount == 0)
    #expect(try connection.integer("SELECT count(*) FROM t") == 60_000)
  }

  @Test(.timeLimit(.minutes(2))) func aCancellationEndsTheWaitForAReader() throws {
    let database = TemporaryDatabase()
    let connection = try Connection(path: database.path, createIfMissing: true, busyTimeoutMilliseconds: 5)
    try connection.configure(durability: .normal, pageCacheByteCount: 1 << 19)
    try connection.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT)")
    let reader = try Connection(path: database.path, createIfMissing: false)
    try reader.execute("BEGIN; SELECT count(*) FROM t;")
    var settings = WriterSettings()
    settings.log.limitByteCount = 1 << 20
    settings.log.longestPauseSeconds = 1e6
    settings.isCancelled = { true }
    let rows: [[Value]] = (0..<50_000).map {
      [.integer(Int64($0)), .text(String(repeating: "n", count: 100))]
    }
    do throws(UpsurgeError) {
      let (writer, _) = try load(connection, "t", ["k", "n"], rows, settings: settings)
      #expect(writer.statistics.walBytesPeak > 1 << 20)
      #expect(database.walByteCount > 1 << 20)
    } catch {
      // Where the log is emptied, a cancellation ends that, too.
      #expect(error.code == .interrupted, "\(error)")
    }
    // It was not emptied; where the cancellation came just before the limit, it is a little smaller.
    #expect(database.walByteCount > 1 << 19)
  }

  @Test(arguments: [(4, 4096, 0), (4, 16384, 3), (4, 65536, 1), (8, 512, 2), (16, 16384, 3)])
  func theLimitHolds(_ mebibytes: Int, _ pageByteCount: Int, _ indexCount: Int) throws {
    let database = TemporaryDatabase()
    let connection = try Connection(path: database.path, createIfMissing: true)
    // As a load does: a quarter of the memory and of the limit.
    try connection.configure(
      durability: .normal, pageCacheByteCount: min(16 << 20, mebibytes << 18),
      newDatabasePageSize: pageByteCount)
    try connection.execute("CREATE TABLE t(k TEXT PRIMARY KEY, a TEXT, b TEXT, c TEXT)")
    for column in ["a", "b", "c"].prefix(indexCount) {
      try connection.execute("CREATE INDEX \(column)_index ON t(\(column))")
    }
    var random = SeededGenerator(seed: 11)
    let rows: [[Value]] = (0..<30_000).map { _ in
      (0..<4).map { _ in .text("\(random.next()) and some more text to fill pages") }
    }
    var settings = WriterSettings()
    settings.log.limitByteCount = mebibytes << 20
    let (writer, _) = try load(connection, "t", ["k", "a", "b", "c"], rows, settings: settings)
    #expect(writer.ledger.text == "read 30000 inserted 30000")
    #expect(writer.statistics.walBytesPeak <= mebibytes << 20, "peak \(writer.statistics.walBytesPeak)")
    #expect(writer.statistics.logPin == nil)
  }

  @Test func aDiskWithLittleRoomEndsTheRunAtACommit() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT)")
    var settings = WriterSettings()
    let asked = Said()
    settings.freeByteCount = { path in
      asked.lines.append(path)
      return asked.lines.count < 4 ? 1 << 40 : 7 << 10
    }
    let rows: [[Value]] = (0..<10_000).map { [.integer(Int64($0)), .text("a name \($0)")] }
    do throws(UpsurgeError) {
      _ = try load(connection, "t", ["k", "n"], rows, cut: Cut(commitEvery: 1000), settings: settings)
      Issue.record("the run went on")
    } catch {
      #expect(
        error.message.hasPrefix("the disk of \(database.path) has 7 KiB free, and the next transaction"))
      #expect(error.message.hasSuffix("the run ends at its last commit"))
      #expect(error.hint == "make room there, then run the same command again")
    }
    #expect(try connection.integer("SELECT count(*) FROM t") == 4000)
    #expect(connection.isInAutocommit)
  }

  @Test func aNewDatabaseGetsItsPageSizeAndAnOldOneKeepsIt() throws {
    let database = TemporaryDatabase()
    try database.open("CREATE TABLE t(a)").execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let again = try Connection(path: database.path, createIfMissing: false)
    #expect(!again.isNewDatabase)
    try again.configure(durability: .normal, pageCacheByteCount: 1 << 20, newDatabasePageSize: 4096)
    #expect(try again.integer("PRAGMA page_size") == 16384)
    #expect(!again.didSwitchToWAL)
  }

  @Test func aRollbackJournalDatabaseIsSwitchedAndSaysSo() throws {
    let database = TemporaryDatabase()
    do { try Connection(path: database.path, createIfMissing: true).execute("CREATE TABLE t(a)") }
    let connection = try database.open()
    #expect(connection.didSwitchToWAL)
    #expect(try connection.text("PRAGMA journal_mode") == "wal")
    #expect(try connection.integer("PRAGMA wal_autocheckpoint") == 0)
    #expect(try connection.integer("PRAGMA foreign_keys") == 1)
    #expect(try connection.integer("PRAGMA synchronous") == 1)
    #expect(try connection.integer("PRAGMA secure_delete") == 0)
  }

  @Test func durabilityOffIsForNewFiles() throws {
    let database = TemporaryDatabase()
    var connection: Connection! = try database.open(
      "CREATE TABLE t(k INTEGER PRIMARY KEY, v CHECK (v <> 3))", durability: .off)
    #expect(try connection.text("PRAGMA journal_mode") == "off")
    let rows: [[Value]] = (0..<500).map { [.integer(Int64($0)), .integer(Int64($0 % 10))] }
    do {
      let (writer, _) = try load(connection, "t", ["k", "v"], rows, cut: Cut(commitEvery: 100))
      #expect(writer.ledger.text == "read 500 inserted 450 rejected 50")
      #expect(writer.statistics.commitCount == 1)
    }
    #expect(try connection.integer("SELECT count(*) FROM t") == 450)
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
    // Nobody sees the file before it is whole.
    #expect {
      _ = try Connection(path: database.path, createIfMissing: false, busyTimeoutMilliseconds: 0)
    } throws: { ($0 as? UpsurgeError)?.code == .databaseBusy }
    connection = nil
    for suffix in ["-wal", "-shm", "-journal"] { #expect(access(database.path + suffix, F_OK) != 0) }
    let again = try Connection(path: database.path, createIfMissing: false)
    #expect {
      try again.configure(durability: .off, pageCacheByteCount: 1 << 20)
    } throws: { error in
      (error as? UpsurgeError)?.message
        == "--durability off is for new files only, and \(database.path) exists"
    }
  }
}
