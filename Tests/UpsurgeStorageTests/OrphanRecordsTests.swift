import Foundation
import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite
@testable import UpsurgeState
@testable import UpsurgeStorage

/// Records that wait in the quarantine for the rows they refer to, and what is stored of them in the end.
@Suite("Orphans") struct OrphanRecordsTests {
  /// Loads records, of which those without a parent wait.
  private func deliver(
    _ connection: Connection, _ table: String, _ columns: [String], _ rows: [[Value]], key: [String] = ["id"]
  ) throws {
    var settings = WriterSettings()
    settings.delivery.quarantinesOrphans = true
    settings.commitsOnce = true
    _ = try load(connection, table, columns, rows, key: key, settings: settings)
  }

  private func waiting(_ connection: Connection, _ names: [String]) throws -> OrphanRecords {
    try OrphanRecords(connection, tables: names.map { OrphanRecords.Table(name: $0) }) { _ in false }
  }

  private func kept(_ connection: Connection, _ table: String) throws -> Int64 {
    try connection.integer("SELECT count(*) FROM upsurge_quarantine WHERE \"table\" = '\(table)'") ?? 0
  }

  enum Chain: String {
    case rowids = "CREATE TABLE node(id INTEGER PRIMARY KEY, up INTEGER REFERENCES node(id))"
    case withoutRowids = "CREATE TABLE node(id TEXT PRIMARY KEY, up TEXT REFERENCES node(id)) WITHOUT ROWID"
    case otherColumn =
      "CREATE TABLE node(n INTEGER PRIMARY KEY, id TEXT COLLATE NOCASE UNIQUE, up TEXT REFERENCES node(id))"
    case deferred =
      "CREATE TABLE node(id INTEGER PRIMARY KEY, up INTEGER REFERENCES node(id) DEFERRABLE INITIALLY DEFERRED)"
  }

  @Test(
    "A chain without an end costs two rounds, and keeps nothing else from being stored",
    arguments: [
      (Chain.rowids, 0, 5_000), (.rowids, -1, 600), (.rowids, 1, 600), (.withoutRowids, 0, 600),
      (.otherColumn, 1, 600), (.deferred, -1, 600),
    ])
  func chain(schema: Chain, order: Int, length: Int64) throws {
    let connection = try TemporaryDatabase().open(
      "\(schema.rawValue); CREATE TABLE parent(id INTEGER PRIMARY KEY); "
        + "CREATE TABLE child(id INTEGER PRIMARY KEY, p INTEGER REFERENCES parent)")
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var chain: [[Value]] = (0..<length).map { [.integer($0), .integer($0 + 1)] }
    if schema == .withoutRowids || schema == .otherColumn {
      chain = (0..<length).map { [.text("n\($0)"), .text("n\($0 + 1)")] }
    }
    if order < 0 { chain.reverse() }
    if order == 0 { chain.shuffle(using: &random) }
    try deliver(connection, "child", ["id", "p"], (0..<100).map { [.integer($0), .integer($0)] })
    try deliver(connection, "node", ["id", "up"], chain)
    try connection.execute(
      "WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO parent SELECT i FROM n")
    let waiting = try waiting(connection, ["parent", "child", "node"])
    #expect(try waiting.store())
    #expect(waiting.roundCount == 2, "seed \(seed)")
    #expect(try connection.integer("SELECT count(*) FROM child") == 100)
    #expect(try kept(connection, "child") == 0)
    #expect(try connection.integer("SELECT count(*) FROM node") == 0)
    #expect(try kept(connection, "node") == length)
    // The end that it has waited for.
    try connection.execute(
      "INSERT INTO node(id) VALUES('\(schema == .rowids || schema == .deferred ? "" : "n")\(length)')")
    let healed = try self.waiting(connection, ["parent", "child", "node"])
    #expect(try healed.store())
    #expect(healed.roundCount == 1)
    #expect(try connection.integer("SELECT count(*) FROM node") == length + 1)
    #expect(try kept(connection, "node") == 0)
    #expect(try connection.rows("PRAGMA foreign_key_check").isEmpty)
  }

  // MARK: - The largest set that can be stored

  private struct Record: Hashable {
    var id: Int64
    var a: Int64?
    var b: Int64?
    var values: [Value] { [.integer(id), a.map { .integer($0) } ?? .null, b.map { .integer($0) } ?? .null] }
  }

  @Test("What finds a parent in the end is stored, all else waits", arguments: 0..<seedCount)
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let suffix = seed % 2 == 0 ? "" : "WITHOUT ROWID"
    // Behind a trigger anything may be.
    let hasTrigger = seed % 4 > 1
    // Each table refers to itself and to the other one.
    let names = ["s", "t"]
    let setup = zip(names, names.reversed()).map { name, other in
      """
      CREATE TABLE \(name)(id INTEGER PRIMARY KEY, a INTEGER REFERENCES \(name)(id), b INTEGER REFERENCES \(other)(id))
        \(suffix);
      \(hasTrigger ? "CREATE TRIGGER r_\(name) AFTER INSERT ON \(name) BEGIN SELECT 1; END;" : "")
      """
    }
    let rows = names.map { "INSERT INTO \($0) VALUES(-1, NULL, NULL);" }
    let connection = try TemporaryDatabase().open((setup + rows).joined())
    let count = Int64([12, 60, 300].randomElement(using: &random) ?? 12)
    var delivered: [[Record]] = [[], []]
    for table in 0..<2 {
      for id in 0..<count where Int.random(in: 0..<20, using: &random) > 0 {
        func reference() -> Int64? {
          switch Int.random(in: 0..<8, using: &random) {
          case 0...3: nil
          case 4: -1
          // Long chains.
          case 5, 6: id + 1
          default: Int64.random(in: 0..<count, using: &random)
          }
        }
        delivered[table].append(Record(id: id, a: reference(), b: reference()))
      }
      delivered[table].shuffle(using: &random)
    }
    for (table, name) in names.enumerated() {
      try deliver(connection, name, ["id", "a", "b"], delivered[table].map(\.values))
    }
    let waiting = try waiting(connection, names)
    _ = try waiting.store()
    let expected = settled(delivered)
    for (table, name) in names.enumerated() {
      let stored = try connection.rows("SELECT id FROM \(name) WHERE id >= 0 ORDER BY 1").map { $0[0] }
      #expect(stored == expected[table].sorted().map { .integer($0) }, "seed \(seed), \(name)")
      let left = Set(delivered[table].map(\.id)).subtracting(expected[table])
      #expect(try keptIDs(connection, name) == left, "seed \(seed), \(name)")
    }
    #expect(try connection.rows("PRAGMA foreign_key_check").isEmpty, "seed \(seed)")
    #expect(waiting.roundCount <= (hasTrigger ? 10 : 2), "seed \(seed)")
  }

  private func keptIDs(_ connection: Connection, _ table: String) throws -> Set<Int64> {
    guard try QuarantineTable.exists(connection) else { return [] }
    let sql = "SELECT json_extract(record, '$.id') FROM upsurge_quarantine WHERE \"table\" = '\(table)'"
    return Set(
      try connection.rows(sql).compactMap { row in
        if case .integer(let id) = row[0] { return id }
        return nil
      })
  }

  /// The ids of the largest set of which each record finds its parents.
  private func settled(_ delivered: [[Record]]) -> [Set<Int64>] {
    var open = delivered.map { Set($0) }
    while true {
      let ids = open.map { Set($0.map(\.id)).union([-1]) }
      let next = open.enumerated().map { table, records in
        records.filter { record in
          (record.a.map { ids[table].contains($0) } ?? true)
            && (record.b.map { ids[1 - table].contains($0) } ?? true)
        }
      }
      if next == open { return open.map { Set($0.map(\.id)) } }
      open = next
    }
  }

  // MARK: - What others are in the way of

  @Test("A record that only a refused one was in the way of is stored, and so is what refers to its row")
  func inTheWay() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, code TEXT UNIQUE, up TEXT REFERENCES t(code)); "
        + "CREATE TABLE gate(id INTEGER PRIMARY KEY); "
        + "CREATE TABLE u(id INTEGER PRIMARY KEY, code TEXT UNIQUE, g REFERENCES gate, up TEXT REFERENCES u(code))"
    )
    // Both give the code `x`; the first never finds its gate.
    try deliver(
      connection, "u", ["id", "code", "g", "up"],
      [
        [.integer(1), .text("x"), .integer(9), .null], [.integer(2), .text("x"), .integer(1), .null],
        [.integer(3), .text("y"), .integer(1), .text("x")],
      ])
    try connection.execute("INSERT INTO gate VALUES(1)")
    let waiting = try waiting(connection, ["gate", "t", "u"])
    #expect(try waiting.store())
    #expect(try connection.rows("SELECT id FROM u ORDER BY 1") == [[2], [3]])
    #expect(try kept(connection, "u") == 1)
  }

  @Test("A record that takes from a row what it refers to waits alone")
  func mover() throws {
    let connection = try TemporaryDatabase().open(
      "CREATE TABLE gate(id INTEGER PRIMARY KEY); "
        + "CREATE TABLE p(id INTEGER UNIQUE, code TEXT PRIMARY KEY, g REFERENCES gate); "
        + "CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id)); "
        + "INSERT INTO p VALUES(1, 'x', NULL); INSERT INTO c VALUES(1, 1);")
    // Its gate comes, and its row is to have another id, to which nothing refers.
    try deliver(
      connection, "p", ["id", "code", "g"], [[.integer(2), .text("x"), .integer(1)]], key: ["code"])
    try deliver(connection, "c", ["id", "p"], [[.integer(7), .integer(70)]])
    #expect(try kept(connection, "p") == 1)
    #expect(try kept(connection, "c") == 1)
    try connection.execute("INSERT INTO gate VALUES(1); INSERT INTO p VALUES(70, 'y', NULL)")
    let waiting = try waiting(connection, ["gate", "p", "c"])
    #expect(try waiting.store())
    #expect(try connection.rows("SELECT id, p FROM c ORDER BY 1") == [[1, 1], [7, 70]])
    #expect(try connection.rows("SELECT id FROM p ORDER BY 1") == [[1], [70]])
    #expect(try kept(connection, "p") == 1)
    #expect(try kept(connection, "c") == 0)
    #expect(try connection.rows("PRAGMA foreign_key_check").isEmpty)
  }
}

/// More by `UPSURGE_ORPHAN_SEEDS`.
private let seedCount: UInt64 =
  ProcessInfo.processInfo.environment["UPSURGE_ORPHAN_SEEDS"].flatMap { UInt64($0) } ?? 16
