import CScan
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite
@testable import UpsurgeStorage

/// Tables packed by us are what SQLite makes of the same records.
@Suite struct DirectTableTests {
  /// Every affinity, with values at each border of what is stored in how many bytes.
  @Test(arguments: ["INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB", ""]) func valuesAreStoredAsSQLiteDoes(
    _ type: String
  ) throws {
    var values: [Value] = [nil, "", "n/a", "é", .blob([]), .blob([0, 255])]
    if type != "TEXT" {
      for bits in 0..<63 {
        for near in -2...2 {
          values.append(.integer((1 << Int64(bits)) + Int64(near)))
          values.append(.integer(-(1 << Int64(bits)) + Int64(near)))
          values.append(.real(Double((1 << Int64(bits)) + Int64(near))))
          values.append(.real(-Double((1 << Int64(bits)) + Int64(near))))
        }
      }
      values += [.integer(.max), .integer(.min), .integer(.min + 1)]
      let reals: [Double] = [
        0, -0.0, 0.5, -0.5, 1.5, 1e15, 1e18, 0x1p62, 0x1p63, -0x1p63, 0x1p64, 1e300, .infinity, -.infinity,
        .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 140_737_488_355_327, 140_737_488_355_328,
        -140_737_488_355_328, -140_737_488_355_329, 0x1p63.nextDown, (-0x1p63).nextUp,
      ]
      values += reals.map { .real($0) }
    }
    let rows = values.map { [$0] }
    let count = try Packing("CREATE TABLE t(a \(type))", ["a"]).check(rows)
    #expect(count == rows.count)
  }

  /// Decimals that come as texts, as from a program that does not know the column: those that SQLite reads right.
  @Test(arguments: [
    "a REAL", "a INTEGER", "a NUMERIC", "a REAL) STRICT --", "a REAL NOT NULL", "a REAL UNIQUE",
  ])
  func decimalsAreWhatSQLiteMakesOfThem(column: String) throws {
    var random = SeededGenerator(seed: 5)
    var texts: [Double: String] = [:]
    for _ in 0..<20_000 {
      let places = Int.random(in: 1...9, using: &random)
      let digits = Int64.random(in: -99_999_999...99_999_999, using: &random)
      let fraction = String(digits.magnitude % 1_000_000_000)
      let text =
        "\(digits / 1_000).\(String(repeating: "0", count: max(0, places - fraction.count)))\(fraction)"
      var bits: UInt64 = 0
      let found = Array(text.utf8).withUnsafeBufferPointer {
        upsurge_number_scan($0.baseAddress, $0.count, &bits)
      }
      if Int(found) == UPSURGE_NUMBER_REAL, bits % 16 == 7 { texts[Double(text) ?? 0] = text }
    }
    let rows = texts.sorted { $0.key < $1.key }.map { [Value.text($0.value)] }
    #expect(rows.count > 300)
    var packing = Packing("CREATE TABLE t(\(column)\n)".replacingEnd(column), ["a"])
    packing.sortByteCount = 1 << 20
    #expect(try packing.check(rows) == rows.count)
  }

  /// What STRICT tables take, with the absence of values.
  @Test func strictTables() throws {
    let create = "CREATE TABLE t(i INTEGER, n INT, r REAL, s TEXT, b BLOB, a ANY) STRICT"
    let rows: [[Value]] = [
      [1, 2, 3, "4", .blob([5]), "6"], [nil, nil, nil, nil, nil, nil], [0, -1, 2.5, "", .blob([]), 7],
      [.integer(.max), .integer(.min), .integer(.max), "x", .blob([0]), 1.0],
      [.absent, .absent, -0.0, .absent, .absent, .blob([1])], [1, 1, .real(.nan), "1", .absent, "007"],
    ]
    #expect(try Packing(create, ["i", "n", "r", "s", "b", "a"]).check(rows) == rows.count)
  }

  /// Records of which only SQLite knows what it makes end the packing.
  @Test(arguments: [
    ("a INTEGER", Value.text("12")), ("a INTEGER", " x"), ("a REAL", "-"), ("a NUMERIC", "1e5"),
    ("a TEXT", 1),
    ("a TEXT", 1.5), ("a NOT NULL", nil), ("a NOT NULL", .absent), ("a REAL NOT NULL", .real(.nan)),
    ("a DEFAULT 7", .absent), ("a INTEGER PRIMARY KEY", nil), ("a INTEGER PRIMARY KEY", 2.0),
    ("a INTEGER PRIMARY KEY", "2"), ("a INTEGER PRIMARY KEY", 1), ("a INTEGER PRIMARY KEY", 0),
    ("a UNIQUE", nil), ("a UNIQUE", 1), ("a UNIQUE", 1.0), ("a UNIQUE", 0.5), ("a PRIMARY KEY", .absent),
    ("a PRIMARY KEY", .real(.nan)), ("a INT PRIMARY KEY) WITHOUT ROWID --", 1),
    ("a INTEGER) STRICT --", "x"), ("a INTEGER) STRICT --", 1.0), ("a TEXT) STRICT --", 1),
    ("a BLOB) STRICT --", "x"),
  ]) func doubtfulRecordsAreLeftToSQLite(_ column: String, _ value: Value) throws {
    let create = "CREATE TABLE t(\(column)\n)".replacingEnd(column)
    let isText = column.contains("TEXT") || column.contains("BLOB")
    let first: Value = column.contains("BLOB") ? .blob([1]) : isText ? "a" : 1
    var packing = Packing(create, ["a"])
    packing.batchSize = 1
    let order = column.contains("WITHOUT") ? "a" : "rowid"
    #expect(try packing.check([[first], [value], [first]], order: order) == 1, "\(column) \(value)")
  }

  /// A batch is taken whole or not at all, and the reason is told.
  @Test func theReasonIsTold() throws {
    let packing = Packing("CREATE TABLE t(k INTEGER PRIMARY KEY, v INTEGER, s UNIQUE)", ["s", "k", "v"])
    let good: [[Value]] = [["a", 1, 1], ["b", 2, nil]]
    for (bad, refusal) in [
      ([["c", 3, 1], ["d", 3, 2]], DirectRefusal(record: 1, reason: .sameKey)),
      ([["c", 3, 1], ["d", 4, "5"]], DirectRefusal(record: 1, reason: .value(cell: 2))),
      ([["c", 2, 1], ["d", 4, 2]], DirectRefusal(record: 0, reason: .sameKey)),
      ([["c", 1, 1]], DirectRefusal(record: 0, reason: .keyOrder)),
      ([["b", 3, 1]], DirectRefusal(record: 0, reason: .sameKey)),
      ([["c", 3, 1], ["d", 4, 1], ["ca", 5, 1]], DirectRefusal(record: 2, reason: .keyOrder)),
    ] as [([[Value]], DirectRefusal)] {
      let database = TemporaryDatabase()
      let image = try ImageFile.make(for: database.path)
      var table = try DirectTable(packing.layout(image), image: image)
      var maker = BatchMaker(packing.columns)
      #expect(try table.append(maker.batch(good)))
      #expect(try !table.append(maker.batch(bad)))
      #expect(table.refusal == refusal)
      #expect(table.rowCount == 2)
      #expect(try table.append(maker.batch([["x", 9, 9]])))
      #expect(table.refusal == nil)
      #expect(try table.finish())
      try image.handOver(isSynced: false)
      let connection = try Connection(path: database.path, createIfMissing: false)
      #expect(try connection.rows("SELECT k, s FROM t") == [[1, "a"], [2, "b"], [9, "x"]])
    }
  }

  /// What is not a plain table is left to SQLite altogether.
  @Test(arguments: [
    ("CREATE TABLE t(a, b CHECK (b > 0))", "has a CHECK"),
    ("CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b)", "counts its rows by AUTOINCREMENT"),
    ("CREATE TABLE t(a, b, c AS (a + b))", "computes the column c"),
    ("CREATE TABLE t(a, b, c DEFAULT 3)", "has a default for the column c, which the input lacks"),
    ("CREATE TABLE t(a, b, c NOT NULL)", "needs the column c, which the input lacks"),
    ("CREATE TABLE t(a, b, c INTEGER PRIMARY KEY)", "needs the column c, which the input lacks"),
    ("CREATE TABLE t(a, b, c, UNIQUE (a, c))", "has a key on a column that the input lacks"),
    ("CREATE TABLE t(a, b REFERENCES t(a))", "has foreign keys"),
    ("CREATE TABLE t(a, b); CREATE TABLE u(x REFERENCES t(a))", "has foreign keys"),
    ("CREATE TABLE t(a COLLATE NOCASE PRIMARY KEY, b)", "has a key with the collation NOCASE"),
    ("CREATE TABLE t(a, b, PRIMARY KEY (a DESC))", "has a key in descending order"),
    ("CREATE TABLE t(a, b); CREATE INDEX i ON t(a) WHERE b", "has a partial index or one on an expression"),
    ("CREATE TABLE t(a, b); CREATE INDEX i ON t(a + b)", "has a partial index or one on an expression"),
    ("CREATE TABLE t(a PRIMARY KEY, b UNIQUE) WITHOUT ROWID", "is WITHOUT ROWID and has another index"),
    ("CREATE TABLE t(a, b); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END", "has triggers"),
    ("CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2)", "has rows"),
    ("CREATE VIEW t AS SELECT 1 AS a, 2 AS b", "does not hold its rows itself"),
    ("PRAGMA encoding='UTF-16le'; CREATE TABLE t(a, b)", "is in a database whose text is not UTF-8"),
  ]) func otherTablesAreNotPacked(_ create: String, _ reason: String) throws {
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    let packing = Packing(create, ["a", "b"])
    do {
      _ = try packing.layout(image)
      Issue.record("\(create) is packed")
    } catch let error as Packing.Unsupported {
      #expect(error.description == reason)
    }
  }

  /// Columns that the input lacks, in another order than the table's, and records with fewer cells than columns.
  @Test func columnsGoWhereTheyBelong() throws {
    let create = "CREATE TABLE t(a TEXT, b INTEGER PRIMARY KEY, c REAL, d, e)"
    let rows: [[Value]] = (0..<2000).map { number in
      [
        .integer(Int64(number) * 3 - 500), .text("d\(number)"),
        number % 7 == 0 ? .absent : .text("a\(number)"),
      ]
    }
    let packing = Packing(create, ["b", "d", "a"])
    #expect(try packing.check(rows) == rows.count)
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    var table = try DirectTable(packing.layout(image), image: image)
    var narrow = BatchMaker(["b", "d"])
    #expect(try table.append(narrow.batch([[1, "x"], [2, nil]])))
    #expect(try table.finish())
    try image.handOver(isSynced: true)
    let connection = try Connection(path: database.path, createIfMissing: false)
    #expect(try connection.rows("SELECT * FROM t") == [[nil, 1, nil, "x", nil], [nil, 2, nil, nil, nil]])
  }

  /// The header's size takes two bytes from 127 serial types on; two thousand of them need overflow pages themselves.
  @Test(arguments: [1, 2, 15, 16, 17, 124, 125, 126, 127, 128, 129, 1000, 2000]) func manyColumns(
    _ count: Int
  ) throws {
    let names = (0..<count).map { "c\($0)" }
    let create = "CREATE TABLE t(\(names.joined(separator: ", ")))"
    var random = SeededGenerator(seed: UInt64(count))
    let rows: [[Value]] = (0..<6).map { row in
      names.map { _ in row == 0 ? nil : row == 1 ? 1 : row == 2 ? "x" : ValueMaker.any(&random, longest: 80) }
    }
    for pageByteCount in [512, 16384] {
      #expect(try Packing(create, names, pageByteCount: pageByteCount).check(rows) == rows.count)
    }
  }

  @Test func theSmallestAndTheLargestRowids() throws {
    let keys: [Int64] = [.min, .min + 1, -1 << 56, -1, 0, 1, 127, 128, 1 << 35, 1 << 56, .max - 1, .max]
    let packing = Packing("CREATE TABLE t(k INTEGER PRIMARY KEY, v)", ["k", "v"], pageByteCount: 512)
    let rows = keys.map { [Value.integer($0), .text(String(repeating: "v", count: 300))] }
    #expect(try packing.check(rows) == rows.count)
  }
}

extension String {
  /// A column that ends the table itself (`) STRICT --`) hides the end that follows it.
  func replacingEnd(_ column: String) -> String {
    guard column.contains("--"), let cut = firstIndex(of: "\n") else { return self }
    return String(self[..<cut])
  }
}
