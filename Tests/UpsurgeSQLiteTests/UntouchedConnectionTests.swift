import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a connection that has committed nothing leaves of its switch to WAL.
@Suite("Connections that leave nothing")
struct UntouchedConnectionTests {
  private func bytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }

  private func made(_ setup: String = "") throws -> TemporaryDatabase {
    let database = TemporaryDatabase()
    let connection = try Connection(path: database.path, createIfMissing: true)
    try connection.execute(setup + "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    return database
  }

  @Test(arguments: [
    "", "PRAGMA page_size=512;", "PRAGMA page_size=65536;", "PRAGMA auto_vacuum=FULL;",
    "PRAGMA encoding='UTF-16';",
    "PRAGMA user_version=7; PRAGMA application_id=9;",
  ])
  func aRollbackIsAllThatHappened(_ setup: String) throws {
    let database = try made(setup)
    let before = bytes(database.path)
    do {
      let connection = try database.open()
      #expect(try connection.text("PRAGMA journal_mode") == "wal")
      try connection.execute("CREATE TEMP TABLE own(a); INSERT INTO temp.own VALUES (1)")
      try connection.beginWriting()
      try connection.execute("INSERT INTO t VALUES (2); CREATE TABLE u(a)")
      try connection.rollBackWriting()
    }
    #expect(bytes(database.path) == before)
    for suffix in ["-wal", "-shm", "-journal"] { #expect(access(database.path + suffix, F_OK) != 0) }
    #expect(
      try Connection(path: database.path, createIfMissing: false).text("PRAGMA integrity_check") == "ok")
  }

  @Test func aTransactionThatIsStillOpenIsTakenBack() throws {
    let database = try made()
    let before = bytes(database.path)
    do {
      let connection = try database.open()
      try connection.beginWriting()
      try connection.execute("INSERT INTO t VALUES (2)")
    }
    #expect(bytes(database.path) == before)
  }

  @Test(arguments: ["INSERT INTO t VALUES (2)", "CREATE TABLE u(a)", "PRAGMA user_version=3"])
  func aCommitStaysInWALMode(_ sql: String) throws {
    let database = try made()
    do { _ = try database.open(sql) }
    let again = try Connection(path: database.path, createIfMissing: false)
    #expect(try again.text("PRAGMA journal_mode") == "wal")
    #expect(try again.text("PRAGMA integrity_check") == "ok")
    let found = "SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM sqlite_schema) + user_version"
    #expect(try again.integer("\(found) FROM pragma_user_version") == (sql.hasSuffix("3") ? 5 : 3))
  }

  /// Both halves of what another connection may have done: it has committed, or is still there.
  @Test(arguments: [true, false]) func anotherConnectionKeepsWALMode(_ isClosed: Bool) throws {
    let database = try made()
    var other: Connection?
    do {
      let connection = try database.open()
      other = try Connection(path: database.path, createIfMissing: false)
      if isClosed {
        try other?.execute("INSERT INTO t VALUES (2)")
        other = nil
      } else {
        #expect(try other?.integer("SELECT count(*) FROM t") == 1)
      }
      #expect(!connection.hasCommitted)
    }
    let again = try Connection(path: database.path, createIfMissing: false)
    #expect(try again.text("PRAGMA journal_mode") == "wal")
    #expect(try again.integer("SELECT count(*) FROM t") == (isClosed ? 2 : 1))
    try again.execute("INSERT INTO t VALUES (3)")
    #expect(try again.text("PRAGMA integrity_check") == "ok")
    _ = other
  }

  /// A reader that knew the database before must see what is written after the counters went back.
  @Test func aReaderFromBeforeSeesWhatComesLater() throws {
    let database = try made()
    let reader = try Connection(path: database.path, createIfMissing: false)
    #expect(try reader.integer("SELECT count(*) FROM t") == 1)
    for round in 2...5 {
      do {
        let connection = try database.open()
        try connection.beginWriting()
        try connection.execute("INSERT INTO t VALUES (0)")
        try connection.rollBackWriting()
      }
      #expect(try reader.text("PRAGMA journal_mode") == "delete")
      do {
        try Connection(path: database.path, createIfMissing: false).execute("INSERT INTO t VALUES (\(round))")
      }
      #expect(try reader.integer("SELECT count(*) FROM t") == Int64(round))
    }
  }

  @Test func anEmptyFileStaysEmpty() throws {
    let database = TemporaryDatabase()
    fclose(fopen(database.path, "w"))
    do {
      let connection = try database.open()
      try connection.beginWriting()
      try connection.execute("CREATE TABLE t(a)")
      try connection.rollBackWriting()
    }
    #expect(access(database.path, F_OK) == 0)
    #expect(bytes(database.path) == [])
    do { _ = try database.open("CREATE TABLE t(a)") }
    #expect(
      try Connection(path: database.path, createIfMissing: false).integer("SELECT count(*) FROM t") == 0)
  }
}
