import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeStorage

/// Records that are left out because a row beside them says the same.
@Suite("Walking beside rows") struct WalkTests {
  // MARK: - The same as without

  @Test(
    "Whatever the next feed is, table and ledger are those of looking every key up",
    arguments: SeededGenerator.some(of: 300))
  func feeds(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let tables = [
      "CREATE TABLE t(k TEXT PRIMARY KEY, a, b REAL)", "CREATE TABLE t(k INTEGER PRIMARY KEY, a, b REAL)",
      "CREATE TABLE t(k TEXT, a, b INT, UNIQUE (k, a))",
      "CREATE TABLE t(k PRIMARY KEY, a TEXT, b BLOB) WITHOUT ROWID",
      "CREATE TABLE t(oid PRIMARY KEY, a UNIQUE, b)",
      "CREATE TABLE t(a, k TEXT NOT NULL PRIMARY KEY, b NOT NULL)",
    ]
    let table = tables[Int(seed % UInt64(tables.count))]
    let columns = table.contains("oid") ? ["oid", "a", "b"] : ["k", "a", "b"]
    let key = table.contains("(k, a)") ? ["k", "a"] : [columns[0]]
    let isNumber = table.contains("k INTEGER")
    let count = [5, 40, 300, 900].randomElement(using: &random) ?? 5
    let first = (0..<count).map { row($0, isNumber: isNumber, &random) }
    let cut = Cut(
      batchSize: [1, 7, 64, 500].randomElement(using: &random) ?? 7, rowsPerStatement: 8,
      commitEvery: [3, 50, 100_000].randomElement(using: &random) ?? 3,
      sortByteCount: Bool.random(using: &random) ? 1 << 20 : 0)
    let next = feed(after: first, isNumber: isNumber, &random)
    var found: [(String, [[Value]], Int)] = []
    for walks in [false, true] {
      let connection = try TemporaryDatabase().open(table)
      _ = try load(connection, "t", columns, first, key: key, cut: Cut())
      var settings = WriterSettings()
      settings.walksBesideRows = walks
      let (writer, rejects) = try load(connection, "t", columns, next, key: key, cut: cut, settings: settings)
      let rows = try connection.rows("SELECT * FROM t ORDER BY 1, 2, 3")
      let text = writer.ledger.text + rejects.map(\.line).joined(separator: "\n")
      found.append((text, rows, writer.statistics.equalRecordCount))
      #expect(writer.statistics.equalRecordCount <= Int(writer.ledger.unchanged))
    }
    #expect(found[0].0 == found[1].0, "seed \(seed): \(table), \(cut)")
    #expect(found[0].1 == found[1].1, "seed \(seed): \(table), \(cut)")
    #expect(found[0].2 == 0)
  }

  private func row(_ number: Int, isNumber: Bool, _ random: inout SeededGenerator) -> [Value] {
    let values: [Value] = [
      .null, .integer(Int64(number)), .real(Double(number) / 4), .text("v\(number)"), .text(""),
      .blob([1, 2]), .real(-0.0),
    ]
    let key: Value = isNumber ? .integer(Int64(number)) : .text("k\((number * 7_919) % 10_007)")
    return [
      key, values.randomElement(using: &random) ?? .null, values.randomElement(using: &random) ?? .null,
    ]
  }

  /// Rows as they were, changed, moved, gone, new, twice, and back to what they were.
  private func feed(after rows: [[Value]], isNumber: Bool, _ random: inout SeededGenerator) -> [[Value]] {
    var feed: [[Value]] = []
    let share = [0, 2, 10, 40].randomElement(using: &random) ?? 0
    for (number, row) in rows.enumerated() {
      if Int.random(in: 0..<100, using: &random) >= share {
        feed.append(row)
        continue
      }
      var changed = row
      changed[2] = .text("changed")
      switch Int.random(in: 0..<7, using: &random) {
      case 0: feed.append(changed)
      case 1: break
      case 2:
        feed +=
          (0..<Int.random(in: 1...60, using: &random)).map {
            self.row(20_000 + 100 * number + $0, isNumber: isNumber, &random)
          } + [row]
      case 3: feed += [changed, row]
      case 4: feed += [row, changed]
      case 5: feed.insert(row, at: max(0, feed.count - Int.random(in: 0...40, using: &random)))
      default: feed += [[.null, row[1], row[2]], row]
      }
    }
    if share == 40, Bool.random(using: &random) { feed.shuffle(using: &random) }
    return feed
  }

  // MARK: - What is found

  @Test("A feed that comes again needs no key looked up", arguments: [0, 1 << 20])
  func again(sortByteCount: Int) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k TEXT PRIMARY KEY, v)")
    var rows = (0..<2_000).map { [Value.text("k\(($0 * 7_919) % 10_007)"), .integer(Int64($0))] }
    _ = try load(connection, "t", ["k", "v"], rows)
    var cut = Cut(batchSize: 300, sortByteCount: sortByteCount)
    let (same, _) = try load(connection, "t", ["k", "v"], rows, cut: cut)
    #expect(same.statistics.equalRecordCount == 2_000)
    #expect(same.ledger.text == "read 2000 unchanged 2000")
    for place in stride(from: 5, to: 2_000, by: 10) { rows[place][1] = .text("new") }
    rows.removeSubrange(1_000..<1_200)
    rows.insert(contentsOf: (0..<100).map { [.text("n\($0)"), .null] }, at: 500)
    cut.batchSize = 256
    let (other, _) = try load(connection, "t", ["k", "v"], rows, cut: cut)
    #expect(other.ledger.text == "read 1900 inserted 100 updated 180 unchanged 1620")
    #expect(other.statistics.equalRecordCount > 1_400)
  }

  @Test("A change that waits to be stored is not overlooked", arguments: [0, 1 << 20])
  func thereAndBack(sortByteCount: Int) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k TEXT PRIMARY KEY, v)")
    let rows = (0..<600).map { [Value.text("k\($0)"), .integer(Int64($0))] }
    _ = try load(connection, "t", ["k", "v"], rows)
    let changes = (0..<600).map { [rows[$0][0], Value.text("changed")] }
    // Each row is changed first, and then said to be what it was.
    let feed = stride(from: 0, to: 600, by: 20).flatMap { changes[$0..<$0 + 20] + rows[$0..<$0 + 20] }
    let (writer, _) = try load(
      connection, "t", ["k", "v"], feed, cut: Cut(batchSize: 400, sortByteCount: sortByteCount))
    #expect(writer.ledger.text == "read 1200 updated 1200")
    #expect(try connection.rows("SELECT k, v FROM t ORDER BY rowid") == rows)
  }

  @Test(
    "Where equal values may stand for another value, or more than the row counts, every record is stored",
    arguments: [
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v)", true),
      ("CREATE TABLE t(k INTEGER PRIMARY KEY, v)", false),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE INDEX i ON t(v)", true),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v) WITHOUT ROWID", false),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v CHECK (v > ''))", false),
      ("CREATE TABLE t(k TEXT PRIMARY KEY, v UNIQUE)", false),
      ("CREATE TABLE t(k TEXT PRIMARY KEY COLLATE NOCASE, v)", false),
      ("CREATE TABLE t(k TEXT COLLATE NOCASE, v); CREATE UNIQUE INDEX u ON t(k COLLATE BINARY)", true),
      (
        "CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE TRIGGER r AFTER UPDATE ON t BEGIN SELECT 1; END", false
      ),
      ("PRAGMA encoding='UTF-16'; CREATE TABLE t(k TEXT PRIMARY KEY, v)", false),
    ])
  func kinds(_ setup: String, _ isWalked: Bool) throws {
    let connection = try TemporaryDatabase().open(setup)
    let isNumber = setup.contains("k INTEGER")
    let rows = (0..<50).map { [isNumber ? Value.integer(Int64($0)) : .text("k\($0)"), .text("v\($0)")] }
    _ = try load(connection, "t", ["k", "v"], rows, key: ["k"])
    let (writer, _) = try load(connection, "t", ["k", "v"], rows, key: ["k"])
    #expect(writer.ledger.text == "read 50 unchanged 50")
    #expect(writer.statistics.equalRecordCount == (isWalked ? 50 : 0))
  }

  @Test(
    "A key that a column turns into another one is not overlooked",
    arguments: [
      ("k INT UNIQUE", Value.integer(7), Value.text("007")), ("k TEXT PRIMARY KEY", .text("1"), .integer(1)),
      ("k REAL UNIQUE", .real(2), .text("2e0")), ("k REAL UNIQUE", .real(2), .integer(2)),
    ])
  func otherSpelling(_ column: String, _ stored: Value, _ other: Value) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(\(column), v)")
    _ = try load(connection, "t", ["k", "v"], [[stored, .text("old")]], key: ["k"])
    let feed = [[other, .text("new")], [stored, .text("old")]]
    let (writer, _) = try load(connection, "t", ["k", "v"], feed, key: ["k"])
    #expect(writer.ledger.text == "read 2 updated 2")
    #expect(try connection.rows("SELECT k, v FROM t") == [[stored, .text("old")]])
  }

  @Test("A temporary table is not taken for one of the file that has its name")
  func temporaryTable() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(k TEXT, v); CREATE UNIQUE INDEX i ON t(k); INSERT INTO t VALUES('a', 'b'), ('c', 'd'); "
        + "CREATE TEMP TABLE t(k TEXT PRIMARY KEY, v)")
    let rows: [[Value]] = [["a", "b"], ["c", "d"]]
    _ = try load(connection, "t", ["k", "v"], rows)
    let (writer, _) = try load(connection, "t", ["k", "v"], rows)
    #expect(writer.ledger.text == "read 2 unchanged 2" && writer.statistics.equalRecordCount == 0)
    #expect(try connection.rows("SELECT k, v FROM temp.t") == rows)
  }

  @Test("A feed in another order soon goes without")
  func anotherOrder() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(k TEXT PRIMARY KEY, v)")
    var random = SeededGenerator(seed: 1)
    let rows = (0..<20_000).map { [Value.text("k\($0)"), .integer(Int64($0))] }
    _ = try load(connection, "t", ["k", "v"], rows)
    let (writer, _) = try load(connection, "t", ["k", "v"], rows.shuffled(using: &random))
    #expect(writer.ledger.text == "read 20000 unchanged 20000")
    #expect(writer.statistics.equalRecordCount < 200)
  }
}
