import CSQLite
import SQLiteSupport
import Synchronization
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Waiting for other connections, and what they do to the file.
@Suite struct LockTests {
  /// Runs `body` on another thread after a while.
  private func later(_ milliseconds: UInt32, _ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Later(milliseconds: milliseconds, body: body)).toOpaque()
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let later = Unmanaged<Later>.fromOpaque(argument).takeRetainedValue()
        usleep(later.milliseconds * 1000)
        later.body()
        return nil
      }, box)
    pthread_detach(thread)
  }

  private final class Later: Sendable {
    let milliseconds: UInt32
    let body: @Sendable () -> Void
    init(milliseconds: UInt32, body: @escaping @Sendable () -> Void) {
      self.milliseconds = milliseconds
      self.body = body
    }
  }

  @Test func aLockIsWaitedForAndThenGivenUp() throws {
    let database = TemporaryDatabase()
    let holder = try database.open("CREATE TABLE t(a)")
    try holder.beginWriting()
    let waiting = try Connection(path: database.path, createIfMissing: false, busyTimeoutMilliseconds: 60)
    #expect {
      try waiting.beginWriting()
    } throws: { error in
      let error = error as? UpsurgeError
      return error?.code == .databaseBusy && error?.message.contains("stayed so for 60 ms") == true
    }
    try holder.execute("ROLLBACK")
    try waiting.beginWriting()
    try waiting.execute("INSERT INTO t VALUES (1); COMMIT")
    #expect(try holder.integer("SELECT count(*) FROM t") == 1)
  }

  @Test func connectionsThatMakeOneDatabaseDoNotBlockEachOther() throws {
    for round in 0..<60 {
      let database = TemporaryDatabase()
      let failures = Mutex<[String]>([])
      let open = Mutex(3)
      for number in 0..<3 {
        later(0) {
          do throws(UpsurgeError) {
            let connection = try Connection(
              path: database.path, createIfMissing: true, busyTimeoutMilliseconds: 20_000)
            try connection.configure(durability: .normal, pageCacheByteCount: 1 << 20)
            try connection.beginWriting()
            try connection.execute("CREATE TABLE t\(number)(a); COMMIT")
          } catch {
            failures.withLock { $0.append(error.description) }
          }
          open.withLock { $0 -= 1 }
        }
      }
      while open.withLock({ $0 }) > 0 { usleep(500) }
      #expect(failures.withLock { $0 } == [], "round \(round)")
      let connection = try Connection(path: database.path, createIfMissing: false)
      #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 3, "round \(round)")
    }
  }

  @Test func anEmptyDatabaseThatOthersHaveOpenIsNotRemoved() throws {
    for durability in [Durability.normal, .off] {
      let database = TemporaryDatabase()
      let first = try Connection(path: database.path, createIfMissing: true)
      try first.configure(durability: durability, pageCacheByteCount: 1 << 20)
      if durability == .normal {
        let other = try Connection(path: database.path, createIfMissing: true)
        try other.configure(durability: .normal, pageCacheByteCount: 1 << 20)
        first.discardNewFile()
        #expect(access(database.path, F_OK) == 0)
        try other.execute("CREATE TABLE t(a)")
        #expect(try other.integer("SELECT count(*) FROM sqlite_schema") == 1)
      } else {
        first.discardNewFile()
        #expect(access(database.path, F_OK) != 0)
      }
    }
    let database = TemporaryDatabase()
    let alone = try database.open()
    alone.discardNewFile()
    for suffix in ["", "-wal", "-shm", "-journal"] { #expect(access(database.path + suffix, F_OK) != 0) }
  }

  @Test func aCancellationEndsTheWait() throws {
    let database = TemporaryDatabase()
    let holder = try database.open("CREATE TABLE t(a)")
    try holder.beginWriting()
    let isCancelled = Flag()
    // Longer than any test may take: only the cancellation can end it.
    let waiting = try Connection(
      path: database.path, createIfMissing: false, busyTimeoutMilliseconds: 3_600_000,
      isCancelled: { isCancelled.isSet })
    later(50) { isCancelled.set() }
    #expect { try waiting.beginWriting() } throws: { ($0 as? UpsurgeError)?.code == .interrupted }
  }

  @Test func aScriptThatSetsTheTimeoutKeepsOurWayOfWaiting() throws {
    let database = TemporaryDatabase()
    let holder = try database.open("CREATE TABLE t(a)")
    try holder.beginWriting()
    let isCancelled = Flag()
    let waiting = try Connection(
      path: database.path, createIfMissing: false, busyTimeoutMilliseconds: 0,
      isCancelled: { isCancelled.isSet })
    try waiting.runScript("PRAGMA busy_timeout=3600000", name: "init.sql")
    #expect(waiting.busyTimeoutMilliseconds == 3_600_000)
    later(50) { isCancelled.set() }
    #expect { try waiting.beginWriting() } throws: { ($0 as? UpsurgeError)?.code == .interrupted }
  }

  @Test func aCancellationEndsTheBuildingOfAnIndex() throws {
    let isCancelled = Flag()
    let connection = try Connection(
      path: TemporaryDatabase().path, createIfMissing: true, isCancelled: { isCancelled.isSet })
    try connection.execute(
      """
      CREATE TABLE t(a); INSERT INTO t
        WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < 100000) SELECT x FROM c
      """)
    isCancelled.set()
    #expect {
      try connection.interruptible { () throws(UpsurgeError) in
        try connection.execute("CREATE INDEX i ON t(a)")
      }
    } throws: { ($0 as? UpsurgeError)?.code == .interrupted }
    // Afterwards statements run to their end again.
    #expect(try connection.integer("SELECT count(*) FROM t") == 100_000)
  }

  @Test("A file that was deleted or replaced is not written to", arguments: [false, true])
  func moved(isReplaced: Bool) throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(a)")
    unlink(database.path)
    if isReplaced { fclose(fopen(database.path, "w")) }
    #expect {
      try connection.beginWriting()
    } throws: { error in
      (error as? UpsurgeError)?.message
        == "the database \(database.path) was deleted, moved or replaced by another program while it was open"
    }
    #expect(connection.isInAutocommit)
  }

  @Test func lookingLeavesNoFiles() throws {
    let database = TemporaryDatabase()
    do { _ = try database.open("CREATE TABLE t(a)") }
    do {
      let connection = try Connection.looking(at: database.path)
      #expect(try connection.integer("SELECT count(*) FROM t") == 0)
      #expect(throws: UpsurgeError.self) { try connection.execute("INSERT INTO t VALUES (1)") }
    }
    for suffix in ["-wal", "-shm", "-journal"] { #expect(access(database.path + suffix, F_OK) != 0) }
  }
}

private final class Flag: Sendable {
  private let value = Atomic<Bool>(false)
  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
