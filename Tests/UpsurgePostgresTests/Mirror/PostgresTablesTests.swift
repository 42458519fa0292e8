import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// Jobs of several tables of a server that refer to each other.
@Suite(
  "Mirrors in PostgreSQL of several tables",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresTablesTests {
  private let scratch = Scratch()
  private let server: PostgresServer
  private let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  /// Three tables, each of which refers to the one before it; the job names the last one first.
  private func makeTables(_ action: String = "") throws {
    try server.psql(
      """
      CREATE TABLE a (id bigint PRIMARY KEY, v text);
      CREATE TABLE b (id bigint PRIMARY KEY, up bigint REFERENCES a \(action), v text);
      CREATE TABLE c (id bigint PRIMARY KEY, up bigint REFERENCES b \(action), v text)
      """, in: url)
  }

  private func job(_ texts: [String: String], _ change: (inout MirrorTable) -> Void = { _ in }) -> MirrorJob {
    let tables = texts.keys.sorted(by: >).map { name in
      var table = MirrorTable(name: name, sources: [scratch.write(texts[name]!, to: "\(name).csv")])
      table.options.rules.key = ["id"]
      table.options.rejects.onError = .reject
      table.sweep = .hard
      table.guards.maximumDeletes = .percent(70)
      change(&table)
      return table
    }
    return MirrorJob(database: url, tables: tables)
  }

  private func texts(_ ids: [Int]) -> [String: String] {
    [
      "a": "id,v\n" + ids.map { "\($0),a\($0)\n" }.joined(),
      "b": "id,up,v\n" + ids.map { "\($0),\($0),b\($0)\n" }.joined(),
      "c": "id,up,v\n" + ids.map { "\($0),\($0),c\($0)\n" }.joined(),
    ]
  }

  private func ids(_ table: String) throws -> [String] {
    try server.rows("SELECT id FROM \(table) ORDER BY id", in: url)
  }

  private func words(_ summary: MirrorSummary) -> String {
    let failures = [summary.error].compactMap { $0 } + summary.tables.compactMap(\.failure)
    return "exit \(summary.exitCode), " + failures.map(\.description).joined(separator: "; ")
  }

  @Test("Parents come first, and rows go when those that refer to them have gone")
  func order() throws {
    try makeTables()
    let notes = Guarded<[String]>([])
    let first = job(texts([1, 2, 3, 4])).run(note: { note in notes.withLock { $0.append(note.text) } })
    #expect(first.exitCode == 0 && first.ledger.inserted == 12, "\(words(first))")
    #expect(
      notes.withLock { $0 }.contains { $0.contains("stored one by one: each is a transaction on PostgreSQL") }
    )
    #expect(first.tables.map(\.name) == ["a", "b", "c"])
    let second = job(texts([3, 4, 5])).run()
    #expect(second.exitCode == 0, "\(words(second))")
    for table in second.tables {
      var expected = Ledger()
      (expected.read, expected.inserted, expected.unchanged, expected.swept) = (3, 1, 2, 2)
      #expect(table.ledger == expected && table.loads.count == 1, "\(table.name): \(table.ledger)")
    }
    for name in ["a", "b", "c"] { #expect(try ids(name) == ["3", "4", "5"]) }
    let status = try FeedStatus.all(database: url)
    #expect(status.count == 3 && status.allSatisfy { $0.isGood(maximumAge: nil) })
    #expect(try server.rows("SELECT count(*) AS n FROM upsurge_refusals", in: url) == ["0"])
    let third = job(texts([3, 4, 5])).run()
    #expect(third.exitCode == 0 && third.tables.allSatisfy { $0.unchangedSince != nil }, "\(words(third))")
  }

  @Test("Rows go with their parents where the schema says so")
  func cascades() throws {
    try makeTables("ON DELETE CASCADE")
    #expect(job(texts([1, 2, 3, 4])).run().exitCode == 0)
    let second = job(texts([2, 3, 4])).run()
    #expect(second.exitCode == 0, "\(words(second))")
    for name in ["a", "b", "c"] { #expect(try ids(name) == ["2", "3", "4"]) }
  }

  @Test("A record without its parent is rejected by the name of the key")
  func orphans() throws {
    try makeTables()
    var feeds = texts([1, 2])
    feeds["b"]! += "3,30,orphan\n"
    let summary = job(feeds).run()
    #expect(summary.exitCode == 2 && summary.ledger.rejected == 1, "\(words(summary))")
    #expect(summary.tables[1].loads[0].lostRejects?.first?.reason.contains("b_up_fkey") == true)
    #expect(try ids("b") == ["1", "2"])
    feeds["a"]! += "30,late\n"
    let second = job(feeds) { $0.options.rejects.target = .table }.run()
    #expect(second.exitCode == 0 && second.ledger.rejected == 0, "\(words(second))")
    #expect(try ids("b") == ["1", "2", "3"])
  }

  @Test("Rows that a table outside of the job refers to stay")
  func outside() throws {
    try makeTables()
    #expect(job(texts([1, 2, 3, 4])).run().exitCode == 0)
    try server.psql("CREATE TABLE d (b bigint REFERENCES b); INSERT INTO d VALUES (1)", in: url)
    let second = job(texts([2, 3, 4])).run()
    #expect(second.exitCode == 4, "\(words(second))")
    // All tables are named whose rows may refer to them.
    #expect(
      words(second).contains(
        "nothing is swept from table b: rows of c, d refer to rows that are not in the delivery"))
    #expect(try ids("a") == ["1", "2", "3", "4"])
    #expect(try ids("c") == ["2", "3", "4"])
    try server.psql("DELETE FROM d", in: url)
    #expect(job(texts([2, 3, 4])).run().exitCode == 0)
    for name in ["a", "b", "c"] { #expect(try ids(name) == ["2", "3", "4"]) }
  }

  @Test("A guard of a parent keeps its rows, whatever became of the others")
  func guards() throws {
    try makeTables()
    #expect(job(texts([1, 2, 3, 4])).run().exitCode == 0)
    let second = job(texts([2, 3, 4])) { if $0.name == "a" { $0.guards.maximumDeletes = .count(0) } }.run()
    #expect(second.exitCode == 4 && second.ledger.swept == 2, "\(words(second))")
    #expect(try ids("a") == ["1", "2", "3", "4"])
    #expect(try ids("b") == ["2", "3", "4"])
  }

  @Test("Circles, trials of several tables and one transaction for all are refused before anything is read")
  func refusals() throws {
    try makeTables()
    var trial = job(texts([1]))
    trial.dryRun = .count
    var (whole, changes) = (job(texts([1])), trial)
    (whole.atomicity, changes.dryRun) = (.job, .diff)
    let refused = [
      (trial, "each would be tried alone"), (whole, "each table is a transaction there"),
      (changes, "each would be tried alone"),
    ]
    for (job, words) in refused {
      let summary = job.run()
      #expect(
        summary.exitCode == 64 && summary.error?.message.contains(words) == true, "\(self.words(summary))")
    }
    try server.psql("ALTER TABLE a ADD COLUMN down bigint REFERENCES c", in: url)
    let circle = job(texts([1])).run()
    #expect(
      circle.exitCode == 64 && words(circle).contains("refer to each other in a circle"), "\(words(circle))")
    #expect(throws: UpsurgeError.self) { try job(texts([1])).check() }
    #expect(try ids("a").isEmpty)
  }

  // MARK: - Both stores

  static let seeds = SeededGenerator.some(of: 200 as UInt64)

  @Test("Nights of parents and children are the same on SQLite and on a server", arguments: Self.seeds)
  func nights(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try makeTables()
    let path = scratch.file("\(seed).db")
    try Database(path).rows(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT);
      CREATE TABLE b (id INTEGER PRIMARY KEY, up INTEGER REFERENCES a, v TEXT);
      CREATE TABLE c (id INTEGER PRIMARY KEY, up INTEGER REFERENCES b, v TEXT)
      """)
    for night in 0..<5 {
      var feeds: [String: String] = [:]
      var parents: [Int] = []
      for (depth, name) in ["a", "b", "c"].enumerated() {
        let ids = (1...12).filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        let rows = ids.map { id in
          let up = depth == 0 ? "" : (parents.randomElement(using: &random).map(String.init) ?? "") + ","
          return "\(id),\(up)\(name)\(Int.random(in: 0..<2, using: &random))\n"
        }
        feeds[name] = (depth == 0 ? "id,v\n" : "id,up,v\n") + rows.joined()
        parents = ids
      }
      var job = job(feeds) { $0.guards.maximumDeletes = .percent(100) }
      var results: [[String]] = []
      for database in [path, url] {
        job.database = database
        let summary = job.run()
        var found = ["exit \(summary.exitCode)"] + summary.tables.map { "\($0.name) \($0.ledger)" }
        for name in ["a", "b", "c"] {
          let sql = "SELECT * FROM \(name) ORDER BY id"
          found += try database == path ? Database(path).rows(sql) : server.rows(sql, in: url)
        }
        results.append(found)
      }
      #expect(results[0] == results[1], "seed \(seed), night \(night)")
    }
  }
}
