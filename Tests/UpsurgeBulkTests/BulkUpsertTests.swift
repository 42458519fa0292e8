import Foundation
import TestSupport
import Testing
import UpsurgeBulk
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

/// RETURNING in bulk, judged by single statements of the same values.
@Suite("Bulk upsert")
struct BulkUpsertTests {
  let scratch = Scratch()
  private var path: String { scratch.file("app.db") }

  private func prepare(_ sql: String) throws { try Database(path).rows("PRAGMA journal_mode=WAL; \(sql)") }

  @Test("The example of the documentation")
  func example() throws {
    try prepare("CREATE TABLE players(id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER)")
    let upsert = try BulkUpsert(
      database: path, table: "players", columns: ["name", "score"],
      rules: UpsertRules(target: .columns(["name"])), returning: ["id"])
    try upsert.append([.text("Arthur"), .integer(1000)])
    try upsert.append([.text("Barbara"), .null])
    var said: [String] = []
    for row in try upsert.takeReturned() {
      said.append("\(row.record) \(row.outcome) \(row.values ?? [])")
    }
    let ledger = try upsert.finish()
    #expect(said.count == 2 && said[0].hasPrefix("1 inserted") && said[1].hasPrefix("2 inserted"), "\(said)")
    #expect(ledger.inserted == 2 && ledger.updated == 0 && ledger.unchanged == 0)
    #expect(try Database(path).rows("SELECT * FROM players") == ["1|'Arthur'|1000", "2|'Barbara'|NULL"])
  }

  @Test("A plan says what would be done, and does nothing")
  func plan() throws {
    try prepare("CREATE TABLE players(id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER)")
    let before = try readFile(path)
    let plan = try UpsertPlan(
      database: path, table: "players", columns: ["name", "score"],
      rules: UpsertRules(target: .columns(["name"]), merge: Merge(.coalesce)))
    #expect(plan.mode == .upsert)
    #expect(plan.keys == ["UNIQUE (name)"])
    #expect(
      try plan.statements() == [
        """
        INSERT INTO "players" ("name", "score") VALUES (?1, ?2)
        ON CONFLICT ("name") DO UPDATE SET "score" = CASE WHEN excluded."score" IS NULL THEN "players"."score" \
        ELSE excluded."score" END
        WHERE ((excluded."score" IS NOT NULL AND ("players"."score" IS NOT excluded."score")))
        """
      ])
    #expect(try readFile(path) == before)
    do throws(UpsurgeError) {
      _ = try UpsertPlan(database: path, table: "players", columns: ["nobody"])
      Issue.record("the plan was made")
    } catch {
      #expect(error.code == .guardRefused && error.message == "table players has no column nobody")
    }
  }

  @Test("Every outcome is returned, in order, with the row as it is")
  func outcomes() throws {
    try prepare(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT UNIQUE COLLATE NOCASE, v CHECK (v <> 'no'), at INT, gone,
        double AS (at * 2));
      INSERT INTO t(id, k, v, at) VALUES (10, 'a', 'old', 5), (20, 'b', 'same', 5), (30, 'c', 'x', 5), (40, 'd', 'y', 5);
      """)
    var rules = UpsertRules(target: .columns(["k"]))
    rules.merge.newer = Merge.Newer(column: "at")
    rules.tombstone = Tombstone(column: "gone", value: "1")
    let upsert = try BulkUpsert(
      database: path, table: "t", columns: ["k", "v", "at", "gone"], rules: rules,
      returning: ["id", "V", "double", "rowid"])
    try upsert.append([.text("A"), .text("new"), .integer(6), nil])
    try upsert.append([.text("b"), .text("same"), .integer(5), nil])
    try upsert.append([.text("c"), .text("older"), .integer(4), nil])
    try upsert.append([.text("d"), nil, .integer(9), .integer(1)])
    try upsert.append([.text("e"), .text("no"), .integer(1), nil])
    try upsert.append([.null, .text("x"), .integer(1), nil])
    try upsert.append([.text("zz"), nil, nil, .integer(1)])
    try upsert.append([.text("f"), .blob([1, 2]), .integer(7), nil])
    let rows = try upsert.takeReturned()
    #expect(rows.map(\.record) == Array(1...8))
    #expect(
      rows.map(\.outcome) == [
        .updated, .unchanged, .stale, .deleted, .rejected, .rejected, .ignored, .inserted,
      ])
    #expect(rows[0].values == [.integer(10), .text("new"), .integer(12), .integer(10)])
    #expect(rows[1].values == [.integer(20), .text("same"), .integer(10), .integer(20)])
    #expect(rows[2].values == [.integer(30), .text("x"), .integer(10), .integer(30)])
    #expect(rows[3].values == [.integer(40), .text("y"), .integer(10), .integer(40)])
    #expect(rows[4].values == nil && rows[4].reject?.code == .check)
    #expect(rows[5].values == nil && rows[5].reject?.code == .nullKey)
    #expect(rows[5].reject?.position.record == 6)
    #expect(rows[6].values == nil && rows[6].reject == nil)
    #expect(rows[7].values == [.integer(31), .blob([1, 2]), .integer(14), .integer(31)])
    #expect(try upsert.takeReturned().isEmpty)
    let ledger = try upsert.finish()
    #expect(ledger.read == 8 && ledger.isBalanced)
  }

  @Test("Many records in many batches come back in order and equal the table", arguments: [1, 7, 100_000])
  func many(commitEvery: Int) throws {
    try prepare("CREATE TABLE t(id INTEGER PRIMARY KEY, k INT UNIQUE, v TEXT)")
    var settings = BulkUpsert.Settings()
    settings.commitEvery = commitEvery
    let count = commitEvery == 1 ? 500 : 40_000
    let upsert = try BulkUpsert(
      database: path, table: "t", columns: ["k", "v"], rules: UpsertRules(target: .columns(["k"])),
      returning: ["id", "k", "v"], settings: settings)
    var expected: [String] = []
    var returned: [BulkUpsert.Returned] = []
    for index in 0..<count {
      let key = index * 7919 % 9_973
      try upsert.append([.integer(Int64(key)), .text("value \(index) of \(key)")])
      expected.append("\(key) value \(index) of \(key)")
      if index % 5_000 == 4_999 { returned += try upsert.takeReturned() }
    }
    returned += try upsert.takeReturned()
    let ledger = try upsert.finish()
    let texts = returned.map { row in
      guard case .integer(let key) = row.values?[1], case .text(let text) = row.values?[2] else { return "" }
      return "\(key) \(text)"
    }
    #expect(texts.count == count && zip(texts, expected).allSatisfy(==))
    #expect(ledger.inserted == UInt64(min(count, 9_973)) && ledger.read == UInt64(count))
    #expect(
      try Database(path).rows("SELECT count(*), sum(id = rowid) FROM t") == [
        "\(ledger.inserted)|\(ledger.inserted)"
      ])
  }

  @Test("Without returning, nothing is returned, and the table is the same")
  func silent() throws {
    try prepare("CREATE TABLE t(k PRIMARY KEY, a, b REAL)")
    let upsert = try BulkUpsert(database: path, table: "t", columns: ["k", "a", "b"])
    for index in 0..<100_000 {
      try upsert.append([.integer(Int64(index % 60_000)), .text("x\(index)"), .real(Double(index) / 4)])
    }
    #expect(try upsert.takeReturned().isEmpty)
    let ledger = try upsert.finish()
    #expect(ledger.inserted == 60_000 && ledger.updated == 40_000)
    #expect(try Database(path).rows("SELECT * FROM t WHERE k = 7") == ["7|'x60007'|15001.75"])
  }

  @Test("Records of every size: empty, larger than a batch, and larger than allowed")
  func sizes() throws {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    var settings = BulkUpsert.Settings()
    settings.memory = .mebibytes(16)
    let upsert = try BulkUpsert(
      database: path, table: "t", columns: ["k", "v"], returning: [], settings: settings)
    let sizes = [0, 1, 256 << 10, (256 << 10) + 1, 3 << 20, 4 << 20, (4 << 20) + 1, 5]
    for (index, size) in sizes.enumerated() {
      let value: SQLValue =
        index % 2 == 0
        ? .text(String(repeating: "x", count: size)) : .blob([UInt8](repeating: 7, count: size))
      try upsert.append([.integer(Int64(index)), value])
    }
    let rows = try upsert.takeReturned()
    #expect(rows.map(\.outcome) == sizes.map { $0 <= 4 << 20 ? .inserted : .rejected })
    #expect(rows[0].values == [] && rows[6].values == nil && rows[6].reject?.code == .tooLarge)
    _ = try upsert.finish()
    #expect(
      try Database(path).rows("SELECT length(v) FROM t") == sizes.filter { $0 <= 4 << 20 }.map { "\($0)" })
  }

  @Test("What is not finished is rolled back, and a stop ends it")
  func endings() throws {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, v NOT NULL)")
    do {
      let upsert = try BulkUpsert(database: path, table: "t", columns: ["k", "v"], returning: ["v"])
      try upsert.append([.integer(1), .text("kept")])
      try upsert.commit()
      try upsert.append([.integer(2), .text("lost")])
      #expect(try upsert.takeReturned().count == 2)
    }
    #expect(try Database(path).rows("SELECT k FROM t") == ["1"])
    var settings = BulkUpsert.Settings()
    settings.onError = .stop
    let upsert = try BulkUpsert(database: path, table: "t", columns: ["k", "v"], settings: settings)
    try upsert.append([.integer(3), .text("x")])
    try upsert.append([.integer(4), .null])
    #expect(throws: UpsurgeError.self) { try upsert.finish() }
    #expect(throws: UpsurgeError.self) { try upsert.append([.integer(5), .text("x")]) }
    #expect(try Database(path).rows("SELECT k FROM t") == ["1"])
  }

  @Test("A record whose deferred foreign key finds no parent is returned as rejected, once")
  func deferredReferences() throws {
    try prepare(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
      CREATE TABLE t(k INTEGER PRIMARY KEY, p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
      """)
    let upsert = try BulkUpsert(database: path, table: "t", columns: ["k", "p"], returning: ["p"])
    for (key, parent) in [(1, 1), (2, 7), (3, 1)] {
      try upsert.append([.integer(Int64(key)), .integer(Int64(parent))])
    }
    try upsert.commit()
    let rows = try upsert.takeReturned()
    #expect(rows.map(\.outcome) == [.inserted, .rejected, .inserted])
    #expect(rows[1].values == nil && rows[1].reject?.code == .foreignKey)
    #expect(try upsert.finish().rejected == 1)
  }

  @Test("Calls from several threads, one at a time")
  func threads() throws {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    // Sendable because the threads are waited for, one after the other.
    final class Box: @unchecked Sendable {
      let upsert: BulkUpsert
      init(_ upsert: BulkUpsert) { self.upsert = upsert }
    }
    let box = Box(try BulkUpsert(database: path, table: "t", columns: ["k", "v"], returning: ["k"]))
    for index in 0..<4 {
      let thread = Thread {
        try? box.upsert.append([.integer(Int64(index)), .text("x")])
        _ = try? box.upsert.takeReturned()
      }
      thread.start()
      while !thread.isFinished { usleep(1_000) }
    }
    #expect(try box.upsert.finish().inserted == 4)
  }

  @Test(
    "What does not fit is said",
    arguments: [
      ("nope.db", "t", ["k"], ["k"], "there is no database"),
      ("app.db", "nope", ["k"], ["k"], "has no table nope"),
      ("app.db", "t", ["nope"], ["k"], "table t has no column nope"),
      ("app.db", "t", ["k"], ["nope"], "nope cannot be returned: table t has no such column"),
      ("app.db", "w", ["k"], ["rowid"], "rowid cannot be returned"),
    ] as [(String, String, [String], [String], String)])
  func misfits(database: String, table: String, columns: [String], returning: [String], expected: String)
    throws
  {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, v); CREATE TABLE w(k PRIMARY KEY) WITHOUT ROWID")
    do throws(UpsurgeError) {
      _ = try BulkUpsert(
        database: scratch.file(database), table: table, columns: columns, returning: returning)
      Issue.record("it was taken")
    } catch {
      #expect(error.message.contains(expected), "\(error)")
    }
    let upsert = try BulkUpsert(database: path, table: "t", columns: ["k", "v"])
    #expect(throws: UpsurgeError.self) { try upsert.append([.integer(1)]) }
  }
}
