import Foundation
import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct ConnectionTests {
  private func failure(_ path: String, createIfMissing: Bool = true) -> UpsurgeError? {
    do throws(UpsurgeError) {
      _ = try Connection(path: path, createIfMissing: createIfMissing)
      return nil
    } catch {
      return error
    }
  }

  @Test func openingSaysWhatIsWrong() throws {
    let database = TemporaryDatabase()
    #expect(
      failure(database.path, createIfMissing: false)?.description == "there is no database \(database.path)")
    #expect(failure(database.path, createIfMissing: false)?.code == .unreadableInput)
    #expect(failure("")?.code == .usage)
    #expect(failure("/nowhere/at/all.db")?.code == .cannotCreate)
    #expect(failure("/nowhere/at/all.db")?.hint == "the folder must exist and be writable")
    #expect(failure("/tmp")?.code == .cannotCreate)
    let file = fopen(database.path, "w")
    fputs("year,name\n" + String(repeating: "1999,Anna\n", count: 100), file)
    fclose(file)
    #expect(failure(database.path)?.message == "\(database.path) is not an SQLite database [SQLite code 26]")
    #expect(failure(database.path)?.code == .database)
  }

  /// The files of a database as a program leaves them that is killed while it brings a transaction to the file.
  private func leaveHotJournal(of source: TemporaryDatabase, as target: TemporaryDatabase) throws {
    let writer = try Connection(path: source.path, createIfMissing: true)
    try writer.execute(
      """
      CREATE TABLE t(x); INSERT INTO t VALUES(1); PRAGMA cache_size=2; BEGIN;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
        INSERT INTO t SELECT randomblob(9000) FROM n;
      UPDATE t SET x = 2 WHERE x = 1
      """)
    for name in ["", "-journal"] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: source.path + name))
      try #require(bytes.count > 512)
      try bytes.write(to: URL(fileURLWithPath: target.path + name))
    }
    try writer.execute("ROLLBACK")
  }

  @Test(arguments: [false, true])
  func lookingRollsBackWhatAKilledProgramHasBegun(withEmptyLog: Bool) throws {
    let (source, database) = (TemporaryDatabase(), TemporaryDatabase())
    try leaveHotJournal(of: source, as: database)
    if withEmptyLog { try Data().write(to: URL(fileURLWithPath: database.path + "-wal")) }
    let looking = try Connection.looking(at: database.path)
    #expect(try looking.integer("SELECT count(*) FROM t WHERE x = 1") == 1)
    #expect(try looking.integer("SELECT count(*) FROM t") == 1)
    #expect(throws: UpsurgeError.self) { try looking.execute("DELETE FROM t") }
  }

  @Test func whoMayOnlyReadIsToldWhoCanRollBack() throws {
    let (source, database) = (TemporaryDatabase(), TemporaryDatabase())
    try leaveHotJournal(of: source, as: database)
    do throws(UpsurgeError) {
      _ = try Connection(path: database.path, createIfMissing: false, isReadOnly: true)
      Issue.record("it was opened")
    } catch {
      #expect(error.code == .cannotCreate)
      #expect(error.message.contains("in the middle of a transaction"))
      #expect(error.hint?.contains("let its owner open it once") == true)
    }
  }

  @Test func namesThatLookLikeURIsAreFiles() throws {
    let connection = try Connection(path: ":memory:", createIfMissing: true)
    try connection.execute("CREATE TABLE t(a)")
    #expect(failure("file:nowhere/x.db?mode=memory")?.code == .cannotCreate)
  }

  @Test func interruptEndsAStatement() throws {
    let connection = try TemporaryDatabase().open()
    let interrupter = connection.interrupter
    let pointer = Unmanaged.passRetained(interrupter).toOpaque()
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        usleep(50_000)
        guard let argument else { return nil }
        Unmanaged<Interrupter>.fromOpaque(argument).takeRetainedValue().interrupt()
        return nil
      }, pointer)
    do throws(UpsurgeError) {
      _ = try connection.integer(
        "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c")
      Issue.record("the statement ended by itself")
    } catch {
      #expect(error.code == .interrupted)
    }
    pthread_join(thread, nil)
    interrupter.interrupt()
  }
}
