import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// The log is brought into the database while the writer goes on.
@Suite struct CheckpointThreadTests {
  private static let columns = ["k", "n"]

  private func settings(_ generator: inout SeededGenerator) -> WriterSettings {
    var settings = WriterSettings()
    settings.log.limitByteCount = Int.random(in: 1...6, using: &generator) << 20
    settings.log.checkpointByteCount = settings.log.limitByteCount / Int.random(in: 4...40, using: &generator)
    settings.commitEvery.records = Int.random(in: 100...4000, using: &generator)
    settings.log.leastCheckpointBeside = 0
    settings.log.longestPauseSeconds = 0.01
    return settings
  }

  private func rows(_ count: Int, _ generator: inout SeededGenerator) -> [[Value]] {
    (0..<count).map { _ in
      [.integer(Int64.random(in: 0...5_000, using: &generator)), .text("\(generator.next()) fills a page")]
    }
  }

  /// What single records, one by one, would leave.
  private func expected(_ rows: [[Value]]) throws -> [[Value]] {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT)")
    var settings = WriterSettings()
    settings.statements.rowCount = 1
    _ = try load(connection, "t", Self.columns, rows, key: ["k"], settings: settings)
    return try connection.rows("SELECT * FROM t ORDER BY k")
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func theTableIsTheSameWhoeverReads(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT)")
    let hasReader = seed % 2 == 0
    let reader = hasReader ? try Connection(path: database.path, createIfMissing: false) : nil
    let rows = rows(10_000, &generator)
    var maker = BatchMaker(Self.columns)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let settings = settings(&generator)
    let writer = try TableWriter(
      connection: connection, plan: UpsertPlan(schema: schema, key: ["k"], columns: maker.columns),
      sourceNames: ["in.csv"], settings: settings)
    var counts: [Int64] = []
    for start in stride(from: 0, to: rows.count, by: 500) {
      var batch = maker.batch(Array(rows[start..<min(start + 500, rows.count)]))
      try writer.write(&batch)
      guard let reader else { continue }
      if !reader.isInAutocommit { try reader.execute("COMMIT") }
      if Bool.random(using: &generator) {
        try reader.execute("BEGIN")
        counts.append(try reader.integer("SELECT count(*) FROM t") ?? -1)
      }
    }
    if let reader, !reader.isInAutocommit { try reader.execute("COMMIT") }
    #expect(hasReader || writer.log.thread != nil, "nothing was done beside")
    #expect(counts == counts.sorted())
    try writer.finish()
    #expect(writer.log.thread == nil)
    #expect(database.walByteCount == 0)
    #expect(hasReader || writer.statistics.walBytesPeak <= settings.log.limitByteCount)
    #expect(try connection.rows("SELECT * FROM t ORDER BY k") == expected(rows))
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
  }

  @Test func whereItCannotBeDoneTheWriterDoesItAlone() throws {
    var generator = SeededGenerator(seed: 77)
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT)")
    let rows = rows(10_000, &generator)
    var maker = BatchMaker(Self.columns)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let writer = try TableWriter(
      connection: connection, plan: UpsertPlan(schema: schema, key: ["k"], columns: maker.columns),
      sourceNames: ["in.csv"], settings: settings(&generator))
    let thread = try CheckpointThread(path: "/dev/null/none", vfs: nil)
    thread.start()
    thread.wait()
    #expect(thread.lastResult?.hasFailed == true)
    writer.log.thread = thread
    for start in stride(from: 0, to: rows.count, by: 1000) {
      var batch = maker.batch(Array(rows[start..<start + 1000]))
      try writer.write(&batch)
    }
    try writer.finish()
    #expect(writer.statistics.checkpointCount > 1)
    #expect(try connection.rows("SELECT * FROM t ORDER BY k") == expected(rows))
  }

  @Test func aReaderThatStaysIsFoundAndNamed() throws {
    var generator = SeededGenerator(seed: 78)
    let database = TemporaryDatabase()
    let connection = try Connection(path: database.path, createIfMissing: true, busyTimeoutMilliseconds: 5)
    try connection.configure(durability: .normal, pageCacheByteCount: 1 << 19)
    try connection.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT)")
    let reader = try Connection(path: database.path, createIfMissing: false)
    try reader.execute("BEGIN; SELECT count(*) FROM t;")
    let rows = rows(40_000, &generator)
    var settings = settings(&generator)
    settings.log.limitByteCount = 1 << 20
    settings.log.checkpointByteCount = 1 << 18
    let (writer, _) = try load(
      connection, "t", Self.columns, rows, key: ["k"], cut: Cut(commitEvery: 1000), settings: settings)
    let pin = try #require(writer.statistics.logPin)
    #expect(pin.leftByteCount == database.walByteCount && pin.leftByteCount > 1 << 20)
    #expect(!writer.statistics.isCheckpointComplete)
    #expect(try reader.integer("SELECT count(*) FROM t") == 0)
  }

  @Test func anErrorAndARollbackEndTheThread() throws {
    var generator = SeededGenerator(seed: 79)
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(k INTEGER PRIMARY KEY, n TEXT CHECK (n <> 'bad'))")
    var maker = BatchMaker(Self.columns)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    for isError in [true, false] {
      let writer = try TableWriter(
        connection: connection, plan: UpsertPlan(schema: schema, key: ["k"], columns: maker.columns),
        sourceNames: ["in.csv"], settings: settings(&generator))
      for _ in 0..<12 {
        var batch = maker.batch(rows(2000, &generator))
        try writer.write(&batch)
      }
      #expect(writer.log.thread != nil)
      if isError {
        var batch = maker.batch([[1, "bad"]])
        #expect(throws: UpsurgeError.self) { try writer.write(&batch) }
      } else {
        writer.rollback()
      }
      #expect(writer.log.thread == nil)
    }
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
  }
}
