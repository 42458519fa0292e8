import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePlan
@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Records that are stored in the order of their key: nothing but the hidden rowid tells.
@Suite struct SortingTests {
  // MARK: - The order

  @Test("Sorted as SQLite sorts, and records of equal keys as they came", arguments: 0..<12 as Range<UInt64>)
  func equalsOrderBy(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE s(a, b); CREATE TABLE t(a, b, v, PRIMARY KEY (a, b)) WITHOUT ROWID")
    let count = [3, 20, 60, 700, 3_000][Int(seed % 5)]
    let rows = (0..<count).map { _ in [Self.value(&random), Self.value(&random)] }
    for row in rows { _ = try connection.rows("INSERT INTO s VALUES(?, ?)", row) }
    var maker = BatchMaker(["a", "b"])
    let batch = maker.batch(rows)
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    let key = try #require(SortKey(try UpsertPlan(schema: schema, key: ["a", "b"], columns: maker.columns)))
    let fits = key.fits(batch)
    #expect(fits)
    let start = count / 7
    let order = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
    defer { order.deallocate() }
    for record in start..<count { order[record - start] = UInt32(record) }
    KeySorter.sort(order, count: count - start, of: KeyChunks(key, batch))
    let expected = try connection.rows("SELECT rowid - 1 FROM s WHERE rowid > \(start) ORDER BY a, b, rowid")
    let actual = (0..<count - start).map { [Value.integer(Int64(order[$0]))] }
    #expect(actual == expected, "seed \(seed)")
  }

  private static func value(_ random: inout SeededGenerator) -> Value {
    let number = Int.random(in: -40...40, using: &random)
    switch Int.random(in: 0...9, using: &random) {
    case 0: return .null
    case 1: return .integer(Int64(number))
    case 2: return .real(Double(number) / 4)
    case 3: return .real(number < 0 ? -0.0 : 1e300)
    case 4: return .blob((0..<abs(number) % 17).map { _ in UInt8.random(in: 0...2, using: &random) })
    case 5: return .text(String(repeating: "a shared beginning ", count: 2) + "\(number)")
    case 6: return .text(String(repeating: "x", count: abs(number)))
    case 7: return .text(String(repeating: "\0", count: abs(number) % 9))
    case 8: return .text("é\(number % 3)")
    default: return .text("\(number * 77_777)")
    }
  }

  @Test("Keys in order, nearly so, or all one are not gathered")
  func looksForOrder() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var maker = BatchMaker(["k", "v"])
    let key = try #require(SortKey(try UpsertPlan(schema: schema, columns: maker.columns)))
    var random = SeededGenerator(seed: 5)
    let ways: [(Bool, (Int) -> Int)] = [
      (false, { $0 }), (false, { _ in 7 }), (false, { $0 % 20 == 0 ? $0 - 30 : $0 }),
      (true, { 1_000 - $0 }), (true, { _ in Int.random(in: 0...1_000, using: &random) }),
    ]
    for (isUnordered, key_) in ways {
      let rows = (0..<300).map { [Value.integer(Int64(key_($0))), Value.null] }
      let batch = maker.batch(rows)
      let found = key.isUnordered(batch)
      #expect(found == isUnordered)
    }
  }

  // MARK: - When

  @Test(
    "Where the order could be seen, records are stored as they come",
    arguments: [
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v)", true),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v) WITHOUT ROWID", true),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE INDEX i ON t(v)", true),
      (
        "CREATE TABLE t(k TEXT PRIMARY KEY, v REFERENCES p(id)); CREATE TABLE p(id INTEGER PRIMARY KEY)", true
      ),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v UNIQUE)", false),
      ("CREATE TABLE t(k TEXT PRIMARY KEY COLLATE NOCASE, v)", false),
      ("CREATE TABLE t(k TEXT PRIMARY KEY ON CONFLICT IGNORE, v)", false),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v DEFAULT (last_insert_rowid()))", false),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v REFERENCES t(k))", false),
      ("CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT UNIQUE, v)", false),
      (
        "CREATE TABLE t(k TEXT PRIMARY KEY, v REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED); "
          + "CREATE TABLE p(id INTEGER PRIMARY KEY)", false
      ),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE VIRTUAL TABLE f USING fts5(v, content='t')", false),
      (
        "CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE TABLE log(k); "
          + "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.k); END", false
      ),
      (
        "CREATE TABLE t(k TEXT PRIMARY KEY, v); "
          + "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END", false
      ),
    ])
  func obstacles(_ setup: String, _ isSorted: Bool) throws {
    let connection = try TemporaryDatabase().open(setup)
    let rows = [5, 3, 9, 1].map { [Value.text("k\($0)"), Value.null] }
    let (writer, _) = try load(
      connection, "t", ["k", "v"], rows, key: ["k"], cut: Cut(batchSize: 2, sortByteCount: 1 << 20))
    #expect(writer.statistics.sortedRecordCount == (isSorted ? 4 : 0))
    #expect(writer.ledger.text == "read 4 inserted 4")
    if !setup.contains("WITHOUT") {
      let keys = try connection.rows("SELECT k FROM t ORDER BY rowid").map(\.[0])
      #expect(keys == (isSorted ? ["k1", "k3", "k5", "k9"] : ["k5", "k3", "k9", "k1"]))
    }
  }

  @Test(
    "Rules whose SQL looks beyond the row keep the order",
    arguments: [
      ("v + excluded.v", true), ("(SELECT count(*) FROM t)", false), ("total_changes()", false),
      ("max(v, excluded.v)", true),
    ])
  func expressions(_ sql: String, _ isSorted: Bool) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k TEXT PRIMARY KEY, v)")
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    var rules = UpsertRules(target: .columns(["k"]))
    rules.merge.columns["v"] = .expression(sql)
    let plan = try UpsertPlan(schema: schema, rules: rules, columns: BatchMaker(["k", "v"]).columns)
    #expect((plan.sortObstacle == nil) == isSorted)
  }

  @Test("Keys that a column would change, and keys that get their number, keep the order")
  func kindsOfKeys() throws {
    let cases: [(String, [Value], Bool)] = [
      ("TEXT PRIMARY KEY", [5], false), ("INT PRIMARY KEY", ["5"], false),
      ("INTEGER PRIMARY KEY", [nil], false), ("TEXT PRIMARY KEY", [nil], true),
      ("INTEGER PRIMARY KEY", [5], true), ("REAL PRIMARY KEY", [5], true), ("PRIMARY KEY", ["5"], true),
    ]
    for (type, row, isSorted) in cases {
      let connection = try TemporaryDatabase().open("CREATE TABLE t(k \(type), v)")
      let rows = (0..<4).map { _ in row + [1] }
      let (writer, _) = try load(
        connection, "t", ["k", "v"], rows, cut: Cut(sortByteCount: 1 << 20))
      #expect(writer.statistics.sortedRecordCount == (isSorted ? 4 : 0), "\(type) \(row)")
    }
  }

  // MARK: - Bad records

  /// Keys in no order; those of the numbers in `bad` break a CHECK.
  private func rows(_ count: Int, bad: Set<Int>) -> [[Value]] {
    (0..<count).map { [.text("k\(($0 * 7919) % 1_009)"), .integer(bad.contains($0) ? -1 : Int64($0))] }
  }

  private let checked = "CREATE TABLE t(k TEXT PRIMARY KEY, v CHECK (v >= 0))"

  @Test("The first bad record of the input ends the run", arguments: [3, 9, 1_000])
  func stop(batchSize: Int) throws {
    let cases: [(Set<Int>, Set<Int>, Int, Int)] = [
      ([88, 31, 60], [], 31, 20), ([88, 60], [45], 45, 40), ([88], [99, 98], 88, 80), ([5], [], 5, 0),
    ]
    for (bad, ragged, first, kept) in cases {
      let connection = try TemporaryDatabase().open(checked)
      var maker = BatchMaker(["k", "v"])
      let schema = try #require(try TableSchema.read(connection, table: "t"))
      var settings = WriterSettings()
      Cut(commitEvery: 20, sortByteCount: 1 << 20).apply(to: &settings)
      let writer = try TableWriter(
        connection: connection, plan: UpsertPlan(schema: schema, columns: maker.columns),
        sourceNames: ["in.csv"], settings: settings)
      let rows = rows(100, bad: bad)
      var thrown: UpsurgeError?
      do throws(UpsurgeError) {
        for start in stride(from: 0, to: rows.count, by: batchSize) {
          let end = min(start + batchSize, rows.count)
          var batch = maker.batch(
            Array(rows[start..<end]),
            rejecting: Set(ragged.filter { start..<end ~= $0 }.map { $0 - start }))
          try writer.write(&batch)
        }
        try writer.finish()
      } catch { thrown = error }
      #expect(thrown?.position?.record == UInt64(first + 1))
      #expect(writer.fatalReject?.position.record == UInt64(first + 1))
      #expect(writer.ledger.read == UInt64(kept + 1) && writer.ledger.rejected == 1)
      #expect(try connection.integer("SELECT count(*) FROM t") == Int64(kept))
      #expect(writer.lastCommittedRecord?.position.record == (kept == 0 ? nil : UInt64(kept)))
    }
  }

  private let badRows: Set = [3, 50, 17, 99, 64]

  @Test("Rejects come in the order of the input, with their bytes")
  func rejects() throws {
    let connection = try TemporaryDatabase().open(checked)
    let (writer, rejects) = try load(
      connection, "t", ["k", "v"], rows(100, bad: badRows), cut: Cut(batchSize: 8, sortByteCount: 1 << 20),
      rejecting: [51, 4])
    #expect(rejects.map { $0.position.record ?? 0 } == [4, 5, 18, 51, 52, 65, 100])
    #expect(rejects.map { $0.position.line ?? 0 } == [5, 6, 19, 52, 53, 66, 101])
    #expect(rejects[2].raw == Array("k426,-1".utf8))
    #expect(rejects.map(\.code) == [.check, .ragged, .check, .check, .ragged, .check, .check])
    #expect(writer.ledger.text == "read 100 inserted 93 rejected 7")
  }

  @Test("Rejects are counted in the order of the input", arguments: [(4, 52), (5, 65), (6, 100)])
  func mostRejects(_ most: UInt64, _ record: UInt64) throws {
    var settings = WriterSettings()
    settings.maximumRejects = most
    let connection = try TemporaryDatabase().open(checked)
    var thrown: UpsurgeError?
    do throws(UpsurgeError) {
      _ = try load(
        connection, "t", ["k", "v"], rows(100, bad: badRows), cut: Cut(batchSize: 8, sortByteCount: 1 << 20),
        settings: settings, rejecting: [51, 4])
    } catch { thrown = error }
    #expect(thrown?.position?.record == record)
    #expect(thrown?.message.hasPrefix("more than \(most) records were rejected") == true)
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }

  // MARK: - Room

  @Test("The log keeps within its limit: pieces that are too large are taken back and made smaller")
  func logLimit() throws {
    for isNew in [true, false] {
      let database = TemporaryDatabase()
      let connection = try database.open()
      if isNew { try connection.execute("BEGIN") }
      try connection.execute("CREATE TABLE t(k TEXT PRIMARY KEY, v)")
      var settings = WriterSettings()
      settings.log.limitByteCount = 8 << 20
      settings.sorting.isTableNew = isNew
      settings.sorting.recordLimit = .max
      let text = String(repeating: "v", count: 900)
      let rows = (0..<12_000).map { [Value.text("k\(($0 * 7919) % 11_003)"), .text("\($0) \(text)")] }
      let (writer, _) = try load(
        connection, "t", ["k", "v"], rows, cut: Cut(sortByteCount: 64 << 20), settings: settings)
      #expect(writer.ledger.text == "read 12000 inserted 11003 updated 997")
      #expect(writer.statistics.walBytesPeak <= 8 << 20, "\(writer.statistics.walBytesPeak)")
      #expect(database.walByteCount <= 8 << 20)
      let most = writer.statistics.mostSortedRecords
      #expect(most > 256 && most < 8_000, "\(most)")
      let whole = "SELECT count(*) FROM t WHERE k = 'k' || ((CAST(v AS INT) * 7919) % 11003)"
      #expect(try connection.integer(whole) == 11_003)
      #expect(try connection.integer(whole + " AND CAST(v AS INT) >= 11003") == 997)
      #expect(try connection.text("PRAGMA integrity_check") == "ok")
    }
  }

  @Test("Pieces end where a transaction may hold no more records")
  func commits() throws {
    let connection = try TemporaryDatabase().open(checked)
    let (writer, _) = try load(
      connection, "t", ["k", "v"], rows(1_000, bad: []), cut: Cut(commitEvery: 150, sortByteCount: 1 << 20))
    #expect(writer.statistics.commitCount == 7)
    #expect(writer.statistics.mostSortedRecords == 150)
    #expect(writer.ledger.text == "read 1000 inserted 1000")
  }
}
