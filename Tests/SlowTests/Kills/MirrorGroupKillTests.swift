import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Jobs whose tables become visible at once, looked at while they run, and killed.
@Suite("Jobs of one transaction") struct MirrorGroupKillTests {
  let scratch = Scratch()

  /// Three tables of as many rows, the second one with references to the first.
  private static let rowCount = 20_000

  private func deliver(_ version: Int) throws {
    for name in ["one", "two", "three"] {
      var text = "id,v\n"
      for id in 0..<Self.rowCount { text += "\(id),\(version)\n" }
      try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.file("\(name).csv")), options: .atomic)
    }
  }

  private func writeJob(atomic: String = "job") throws -> String {
    try Database(scratch.file("a.db")).rows(
      """
      PRAGMA journal_mode=WAL;
      CREATE TABLE one(id INTEGER PRIMARY KEY, v INTEGER);
      CREATE TABLE two(id INTEGER PRIMARY KEY REFERENCES one(id), v INTEGER);
      CREATE TABLE three(id INTEGER PRIMARY KEY, v INTEGER);
      """)
    return scratch.write(
      """
      defaults: { rejects: table, key: [id], kind: snapshot, sweep: hard }
      atomic: \(atomic)
      tables:
        two: { source: two.csv }
        one: { source: one.csv }
        three: { source: three.csv }
      """, to: "job.yaml")
  }

  /// Of one moment: the versions of all rows, and how many there are.
  private static let state = """
    SELECT group_concat(DISTINCT v), count(*) FROM
      (SELECT v FROM one UNION ALL SELECT v FROM two UNION ALL SELECT v FROM three)
    """

  private func expected(_ version: Int) -> String { "'\(version)'|\(3 * Self.rowCount)" }

  @Test("Readers never see a mix of old and new")
  func readers() throws {
    let job = try writeJob()
    let database = scratch.file("a.db")
    try deliver(1)
    #expect(try Command.run(["mirror", database, job]).exitCode == 0)
    let reader = Database(database)
    #expect(try reader.rows(Self.state) == [expected(1)])
    for version in 2...3 {
      try deliver(version)
      let child = try Command.start(["mirror", database, job])
      var looks = 0
      while child.isRunning {
        let state = try reader.rows(Self.state)
        #expect(state == [expected(version - 1)] || state == [expected(version)])
        looks += 1
      }
      let outcome = try child.finish()
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(looks > 0)
      #expect(try reader.rows(Self.state) == [expected(version)])
    }
  }

  /// Of one moment and each table by itself: the versions of its rows, and how many there are.
  private static let tableStates = """
    SELECT group_concat(DISTINCT v), count(*) FROM one UNION ALL
    SELECT group_concat(DISTINCT v), count(*) FROM two UNION ALL
    SELECT group_concat(DISTINCT v), count(*) FROM three
    """

  @Test("With atomic: table, readers see all of the old or all of the new of each table")
  func readersOfTables() throws {
    let job = try writeJob(atomic: "table")
    let database = scratch.file("a.db")
    let expected = { (version: Int) in "'\(version)'|\(Self.rowCount)" }
    try deliver(1)
    #expect(try Command.run(["mirror", database, job]).exitCode == 0)
    let reader = Database(database)
    let names = ["one", "two", "three"]
    // Of which tables both were seen while a run was at work.
    var seen: Set<String> = []
    for version in 2...3 {
      try deliver(version)
      let child = try Command.start(["mirror", database, job])
      while child.isRunning {
        let states = try reader.rows(Self.tableStates)
        #expect(states.count == names.count)
        for (name, state) in zip(names, states) {
          #expect(state == expected(version - 1) || state == expected(version), "\(name): \(state)")
          if state == expected(version) { seen.insert(name) }
        }
        // Those that refer to each other are of one transaction.
        #expect(states[0] == states[1])
      }
      let outcome = try child.finish()
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try reader.rows(Self.tableStates) == names.map { _ in expected(version) })
    }
    // At least the first transaction was seen to be there while the next one was on its way.
    #expect(!seen.isEmpty)
  }

  @Test("Killed at any moment, a job leaves all of the old or all of the new, and ends as if it had not been")
  func killed() throws {
    let job = try writeJob()
    let database = scratch.file("a.db")
    try deliver(1)
    #expect(try Command.run(["mirror", database, job]).exitCode == 0)
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var kills = 0
    for version in 2...20 where version <= 7 || kills == 0 {
      try deliver(version)
      let length = try Command.length(of: ["mirror", scratch.file("timed.db"), job])
      var isOver = false
      for _ in 0..<3 where !isOver {
        let child = try Command.start(["mirror", database, job])
        usleep(UInt32.random(in: 1_000...length, using: &random))
        child.send(signal: SIGKILL)
        let outcome = try child.finish()
        let state = try Database(database).rows(Self.state)
        let words = "seed \(seed), version \(version): \(outcome.talk)"
        #expect(state == [expected(version - 1)] || state == [expected(version)], "\(words)")
        #expect(try Database(database).rows("PRAGMA foreign_key_check").isEmpty)
        isOver = outcome.exitCode == 0
        #expect(isOver || outcome.exitCode == 1_000 + SIGKILL, "\(words)")
        kills += isOver ? 0 : 1
      }
      if !isOver {
        let last = try Command.run(["mirror", database, job])
        #expect(last.exitCode == 0, "seed \(seed), version \(version): \(last.talk)")
      }
      // One that is killed behind its commit has said nothing, and the next one finds nothing to do.
      let ledgers = try ledgers(database).suffix(3)
      let count = Self.rowCount
      #expect(
        ledgers.map { [$0["read"], $0["updated"]] } == [[count, count], [count, count], [count, count]],
        "seed \(seed), version \(version), \(kills) kills")
      #expect(try Database(database).rows(Self.state) == [expected(version)])
    }
    #expect(kills > 0)
  }
}
