import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Drop folders of snapshots, whose rows other tables of the same transaction refer to.
@Suite("Drop folders of tables that others refer to") struct MirrorGroupFolderTests {
  let scratch = Scratch()

  private func job(_ atomic: MirrorJob.Atomicity = .table) -> MirrorJob {
    let tables = ["child", "parent"].map { name in
      var table = MirrorTable(
        name: name, sources: [name == "parent" ? scratch.file("drop") : scratch.file("child.csv")])
      table.options.rules.key = ["id"]
      table.options.rejects.onError = .reject
      table.sweep = .hard
      table.folder.done = .delete
      table.guards.maximumDeletes = .percent(100)
      table.guards.leastRatio = 0
      return table
    }
    var job = MirrorJob(database: scratch.file("a.db"), tables: tables)
    job.atomicity = atomic
    return job
  }

  private func drop(_ number: Int, _ lines: [String]) throws {
    try FileManager.default.createDirectory(atPath: scratch.file("drop"), withIntermediateDirectories: true)
    let text = (["id,c,v"] + lines).joined(separator: "\n") + "\n"
    _ = scratch.write(text, to: "drop/\(100 + number).csv")
  }

  private func create(isCircle: Bool = false) throws -> Database {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      """
      CREATE TABLE parent(id INTEGER PRIMARY KEY, c INTEGER \(isCircle ? "REFERENCES child(id)" : ""), v INTEGER);
      CREATE TABLE child(id INTEGER PRIMARY KEY, p INTEGER REFERENCES parent(id));
      """)
    return database
  }

  @Test(
    "Rows are gone that the last file does not have, whatever the files before it lack",
    arguments: [false, true], [MirrorJob.Atomicity.table, .job])
  func nights(isCircle: Bool, atomic: MirrorJob.Atomicity) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let job = job(atomic)
    let database = try create(isCircle: isCircle)
    for night in 0..<8 {
      let children = (0..<20).filter { _ in Bool.random(using: &random) } + [50 + night]
      var last: [String] = []
      var ids: [Int] = []
      for file in 0..<Int.random(in: 1...3, using: &random) {
        ids = (0..<30).filter { _ in Int.random(in: 0..<3, using: &random) > 0 } + [60 + night]
        last = ids.map { id in
          // Rows with an even number are referred to, the others refer.
          let child = isCircle && !id.isMultiple(of: 2) ? "\(children[id % children.count])" : ""
          return "\(id),\(child),\(Int.random(in: 0..<2, using: &random))"
        }
        try drop(night * 10 + file, last.shuffled(using: &random))
      }
      let referred = ids.filter { $0.isMultiple(of: 2) }
      let orphans = Int.random(in: 0..<3, using: &random)
      let lines =
        children.map { "\($0),\(referred.randomElement(using: &random).map { "\($0)" } ?? "")" }
        + (0..<orphans).map { "\(800 + $0),999" }
      _ = scratch.write(
        "id,p\n" + lines.shuffled(using: &random).joined(separator: "\n") + "\n", to: "child.csv")
      let words = "seed \(seed), night \(night)"
      let run = job.run()
      // In a circle, records of files in between may wait in vain.
      let code: Int32 = isCircle && run.exitCode == 2 || orphans > 0 ? 2 : 0
      #expect(run.exitCode == code, "\(words): \(run.tables.map { $0.failure?.description })")
      #expect(run.tables.allSatisfy { $0.ledger.isBalanced }, "\(words)")
      #expect(try database.rows("PRAGMA foreign_key_check").isEmpty, "\(words)")
      let parents = try database.rows("SELECT id, c, v FROM parent ORDER BY id")
        .map { $0.replacingOccurrences(of: "|NULL", with: "|").replacingOccurrences(of: "|", with: ",") }
      #expect(parents == last, "\(words)")
      let found = try database.rows("SELECT id FROM child ORDER BY id")
      #expect(found == children.sorted().map { "\($0)" }, "\(words)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("drop")).isEmpty, "\(words)")
    }
  }

  /// So many rows, the first ones of them new.
  private func lines(from first: Int, _ count: Int = 100) -> [String] {
    (first..<first + count).map { "\($0),,1" }
  }

  @Test("max-delete is of the rows that the file before has left")
  func limits() throws {
    var job = job()
    job.tables[1].guards.maximumDeletes = .percent(10)
    let database = try create()
    _ = scratch.write("id,p\n1,299\n", to: "child.csv")
    try drop(0, lines(from: 200))
    #expect(job.run().exitCode == 0)
    // Each takes 8 of 100 rows away, all of them 24.
    for file in 1...3 { try drop(file, lines(from: 200 + 8 * file)) }
    let run = job.run()
    #expect(run.exitCode == 0, "\(run.tables.map { $0.failure?.description })")
    let swept = run.tables.first { $0.name == "parent" }?.loads.map(\.ledger.swept)
    #expect(swept == [0, 0, 24])
    #expect(try database.rows("SELECT count(*), min(id) FROM parent") == ["100|224"])
    // The second takes too many.
    try drop(4, lines(from: 226))
    try drop(5, lines(from: 250))
    try drop(6, lines(from: 228))
    let refused = job.run()
    let parent = try #require(refused.tables.first { $0.name == "parent" })
    #expect(refused.exitCode == 4 && parent.loads.count == 2, "\(parent.loads.count)")
    #expect(
      parent.failure?.message.contains("24 of 100 rows of table parent are not in the delivery") == true,
      "\(parent.failure?.message ?? "")")
    // What the first does not have goes all the same.
    #expect(parent.loads.map(\.ledger.swept) == [2, 0])
    #expect(try database.rows("SELECT count(*), min(id) FROM parent") == ["124|226"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("drop")).count == 2)
  }

  @Test("A file that fails leaves the sweep of the one in front of it")
  func failure() throws {
    let job = job()
    let database = try create()
    _ = scratch.write("id,p\n1,209\n", to: "child.csv")
    try drop(0, lines(from: 200, 10))
    #expect(job.run().exitCode == 0)
    try drop(1, lines(from: 205, 10))
    _ = scratch.write("id,c,v\n1,,1\n2,", to: "drop/102.csv")
    let run = job.run()
    #expect(run.exitCode != 0)
    #expect(try database.rows("SELECT count(*), min(id) FROM parent") == ["10|205"])
    let next = try FileManager.default.contentsOfDirectory(atPath: scratch.file("drop"))
    #expect(next == ["102.csv"])
  }

  @Test(
    "A sweep that one file takes over from the one before it, and that is refused, is told of the one before it"
  )
  func refusedForBefore() throws {
    var job = job()
    // Rows of the child stay, and refer to the parent's.
    job.tables[0].sweep = .none
    job.tables[1].guards.leastRows = 5
    let database = try create()
    _ = scratch.write("id,p\n1,203\n", to: "child.csv")
    try drop(0, lines(from: 200, 10))
    #expect(job.run().exitCode == 0)
    // The first is taken for whole, the second is not; the row to which the child refers is in neither.
    try drop(1, lines(from: 204, 10))
    try drop(2, lines(from: 206, 2))
    let run = job.run()
    let parent = try #require(run.tables.first { $0.name == "parent" })
    #expect(parent.loads.map(\.exitCode) == [4, 4] && parent.loads.map(\.ledger.swept) == [0, 0])
    #expect(
      parent.failure?.message
        == "nothing is swept from table parent: rows of child refer to rows that are not in the delivery",
      "\(parent.failure?.message ?? "")")
    #expect(parent.loads[1].guardRefusal?.message.contains("min-rows") == true)
    #expect(try database.rows("SELECT count(*), min(id) FROM parent") == ["14|200"])
    // Both wait for the next night.
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("drop")).count == 2)
    #expect(try database.rows("SELECT failures FROM upsurge_feeds WHERE \"table\" = 'parent'") == ["1"])
  }
}
