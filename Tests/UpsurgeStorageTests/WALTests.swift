import CSQLite
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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
    settings.walLimitByteCount = 16 << 20
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
    settings.walLimitByteCount = 2 << 20
    let rows: [[Value]] = (0..<50_000).map {
      [.integer(Int64($0)), .text(String(repeating: "n", count: 100))]
    }
    let (writer, _) = try load(connection, "t", ["k", "n"], rows, settings: settings)
    #expect(!writer.statistics.isCheckpointComplete)
    #expect(writer.statistics.walBytesPeak > 2 << 20)
    #expect(writer.statistics.commitCount < 50, "\(writer.statistics.commitCount) commits")
    #expect(try reader.integer("SELECT count(*) FROM t") == 0)
    try reader.execute("COMMIT")
    #expect(try reader.integer("SELECT count(*) FROM t") == 50_000)
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
