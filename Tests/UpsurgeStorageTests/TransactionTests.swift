import CSQLite
import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// SQLite's length limit, for tests of records that are too large.
func setLimit(_ connection: Connection, length: Int32) -> Int32 {
  sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, length)
}

@Suite struct TransactionTests {
  private func writer(
    _ connection: Connection, _ maker: BatchMaker, commitEvery: Int, onError: ErrorPolicy = .stop,
    maximumRejects: UInt64? = nil, sink: Kept = Kept()
  ) throws -> TableWriter {
    guard let schema = try TableSchema.read(connection, table: "t") else { throw MissingTable() }
    var settings = WriterSettings()
    settings.commitEvery.records = commitEvery
    settings.onError = onError
    settings.maximumRejects = maximumRejects
    return try TableWriter(
      connection: connection, plan: UpsertPlan(schema: schema, columns: maker.columns),
      sourceNames: ["in.csv"],
      settings: settings
    ) { (reject) throws(UpsurgeError) in sink.rejects.append(reject) }
  }

  struct MissingTable: Error {}

  @Test func commitsFallExactlyInsideABatch() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    let reader = try Connection(path: database.path, createIfMissing: false)
    var maker = BatchMaker(["k", "v"])
    let writer = try writer(connection, maker, commitEvery: 70)
    var seen: [Int64] = []
    for start in stride(from: 0, to: 300, by: 50) {
      var batch = maker.batch((start..<start + 50).map { [.integer(Int64($0)), 1] })
      try writer.write(&batch)
      seen.append(try reader.integer("SELECT count(*) FROM t") ?? -1)
      #expect(writer.committedLedger.inserted == UInt64(seen.last ?? 0))
      #expect(writer.lastCommittedRecord?.position.record == (seen.last == 0 ? nil : UInt64(seen.last ?? 0)))
    }
    #expect(seen == [0, 70, 140, 140, 210, 280])
    #expect(writer.lastCommittedRecord?.position.line == 281)
    writer.rollback()
    #expect(writer.ledger == writer.committedLedger)
    #expect(writer.ledger.text == "read 280 inserted 280")
    #expect(try reader.integer("SELECT count(*) FROM t") == 280)
  }

  @Test("Bytes and time end a transaction behind the batch that reaches them")
  func commitsByBytesAndTime() throws {
    let rows = (0..<300).map { [Value.integer(Int64($0)), .text("a text of some length")] }
    func commits(_ change: (inout WriterSettings) -> Void) throws -> Int {
      let database = TemporaryDatabase()
      let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
      var settings = WriterSettings()
      change(&settings)
      var cut = Cut()
      (cut.batchSize, cut.commitEvery) = (10, .max)
      let writer = try load(connection, "t", ["k", "v"], rows, cut: cut, settings: settings).writer
      #expect(try connection.integer("SELECT count(*) FROM t") == 300)
      return writer.statistics.commitCount
    }
    #expect(try commits { _ in } == 1)
    #expect(try commits { $0.commitEvery.bytes = 1 } == 30)
    #expect(try commits { $0.commitEvery.bytes = 1 << 30 } == 1)
    let some = try commits { $0.commitEvery.bytes = 1_000 }
    #expect(some > 1 && some < 30)
    #expect(try commits { $0.commitEvery.seconds = 0 } == 30)
    #expect(try commits { $0.commitEvery.seconds = 3_600 } == 1)
  }

  @Test(arguments: [(0, 0), (9, 0), (10, 10), (25, 20), (69, 60)])
  func aStopKeepsWhatWasCommittedAndCountsTheRecord(_ bad: Int, _ kept: Int) throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v NOT NULL)")
    var maker = BatchMaker(["k", "v"])
    let sink = Kept()
    let writer = try writer(connection, maker, commitEvery: 10, sink: sink)
    var batch = maker.batch((0..<70).map { [.integer(Int64($0)), $0 == bad ? nil : 1] })
    #expect(throws: UpsurgeError.self) { try writer.write(&batch) }
    #expect(try connection.integer("SELECT count(*) FROM t") == Int64(kept))
    #expect(connection.isInAutocommit)
    #expect(writer.committedLedger.inserted == UInt64(kept))
    #expect(writer.ledger.read == UInt64(kept + 1))
    #expect(writer.ledger.rejected == 1)
    #expect(writer.ledger.isBalanced)
    // A run that goes on reads the record again, so it is told and not kept.
    #expect(sink.rejects.isEmpty)
    #expect(writer.fatalReject?.position.record == UInt64(bad + 1))
    #expect(writer.rejectsByReason == [.notNull: 1])
    #expect(throws: UpsurgeError.self) { try writer.write(&batch) }
  }

  @Test func theParsersRejectStopsInItsPlace() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v NOT NULL)")
    var maker = BatchMaker(["k", "v"])
    let sink = Kept()
    let writer = try writer(connection, maker, commitEvery: 5, sink: sink)
    // Record 8 is NULL in a NOT NULL column, record 7 did not parse: 7 comes first.
    var batch = maker.batch((0..<20).map { [.integer(Int64($0)), $0 == 7 ? nil : 1] }, rejecting: [6])
    do throws(UpsurgeError) {
      try writer.write(&batch)
      Issue.record("the run went on")
    } catch {
      #expect(error.message == "too few fields [ragged]")
      #expect(error.position?.record == 7)
    }
    #expect(try connection.integer("SELECT max(k) FROM t") == 4)
    #expect(sink.rejects.isEmpty && writer.fatalReject?.code == .ragged)
  }

  @Test func rejectsComeInInputOrder() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v NOT NULL)")
    let rows: [[Value]] = (0..<30).map { [.integer(Int64($0)), $0 % 4 == 0 ? nil : 1] }
    let (writer, rejects) = try load(connection, "t", ["k", "v"], rows, rejecting: [0, 1, 4, 17, 29])
    #expect(rejects.map(\.position.record) == [1, 2, 5, 9, 13, 17, 18, 21, 25, 29, 30])
    #expect(writer.ledger.text == "read 30 inserted 19 rejected 11")
    #expect(writer.rejectsByReason == [.ragged: 5, .notNull: 6])
    #expect(writer.lastCommittedRecord?.position.record == 30)
  }

  @Test func moreRejectsThanAllowedEndTheRun() throws {
    let database = TemporaryDatabase()
    let connection = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v NOT NULL)")
    var maker = BatchMaker(["k", "v"])
    let sink = Kept()
    let writer = try writer(
      connection, maker, commitEvery: 10, onError: .reject, maximumRejects: 3, sink: sink)
    var batch = maker.batch((0..<70).map { [.integer(Int64($0)), $0 % 8 == 0 ? nil : 1] })
    do throws(UpsurgeError) {
      try writer.write(&batch)
      Issue.record("the run went on")
    } catch {
      #expect(
        error.message == "more than 3 records were rejected (4 not-null); the last: "
          + "column v of table t is NOT NULL and the record has no value for it [not-null]")
      #expect(error.hint == "raise --max-rejects to allow more")
      #expect(error.position?.record == 25)
    }
    #expect(writer.ledger.text == "read 21 inserted 17 rejected 4")
    #expect(sink.rejects.map(\.position.record) == [1, 9, 17])
  }

  @Test func childrenLeftWithoutParentAreFoundAtTheCommit() throws {
    let database = TemporaryDatabase()
    let connection = try database.open(
      "CREATE TABLE t(k INTEGER PRIMARY KEY, v); INSERT INTO t VALUES(1, 'a'), (2, 'b');"
        + "CREATE TABLE c(id INTEGER PRIMARY KEY, t REFERENCES t(k) DEFERRABLE INITIALLY DEFERRED);"
        + "INSERT INTO c VALUES(20, 2);")
    do throws(UpsurgeError) {
      _ = try load(connection, "t", ["k"], [[1], [2]], key: ["k"], mode: .delete)
      Issue.record("the commit passed")
    } catch {
      #expect(
        error.description == """
          the transaction cannot be committed: rows of table t or of its children refer to rows that do not exist: \
          row 20 of c has no parent in t
            fix: load the referenced rows first; records that change or delete a row to which others refer are to \
          blame, too
          """)
      #expect(error.code == .badInput)
    }
    #expect(try connection.integer("SELECT count(*) FROM t") == 2)
  }

  @Test func anotherWriterInTheWay() throws {
    let database = TemporaryDatabase()
    let other = try database.open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    let connection = try Connection(path: database.path, createIfMissing: false, busyTimeoutMilliseconds: 30)
    try connection.configure(durability: .normal, pageCacheByteCount: 1 << 20)
    try other.execute("BEGIN IMMEDIATE")
    do throws(UpsurgeError) {
      _ = try load(connection, "t", ["k", "v"], [[1, 1]])
      Issue.record("the lock was ignored")
    } catch {
      #expect(
        error.description == """
          the database \(database.path) is in use by another program, and stayed so for 30 ms [SQLite code 5]
            here: BEGIN IMMEDIATE
            fix: --busy-timeout MS waits longer: so many milliseconds, 60000 for a minute
          """)
      #expect(error.code == .databaseBusy)
    }
    try other.execute("ROLLBACK")
    #expect(try load(connection, "t", ["k", "v"], [[1, 1]]).writer.ledger.text == "read 1 inserted 1")
  }
}
