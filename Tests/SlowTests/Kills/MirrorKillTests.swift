import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Nightly runs that are killed at any moment and started again.
@Suite("Mirrors that are killed", .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)))
struct MirrorKillTests {
  let scratch = Scratch()

  /// So many nights of each history; all of them with `UPSURGE_NIGHTS`.
  private static let nightLimit =
    ProcessInfo.processInfo.environment["UPSURGE_NIGHTS"].flatMap { Int($0) } ?? 5

  @Test(
    "Tables and ledgers are those of nights that nobody disturbed", arguments: ["dotgov", "sp500"],
    ["table", "bounded"])
  func nights(name: String, atomic: String) throws {
    let history = try History(name, in: scratch)
    let feed = scratch.file("feed.csv")
    let database = scratch.file("a.db")
    let job = scratch.write(
      """
      defaults: { rejects: table }
      atomic: \(atomic)
      tables:
        feed:
          source: feed.csv
          key: ["\(history.key)"]
          kind: snapshot
          sweep: hard
      """, to: "job.yaml")
    let undisturbed = scratch.file("undisturbed.db")
    let rows = "SELECT * FROM feed ORDER BY \"\(history.key)\""
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var kills = 0
    var before: [String] = []
    for (number, night) in history.nights.enumerated() where number < Self.nightLimit || kills == 0 {
      try Data(contentsOf: URL(fileURLWithPath: night.path)).write(
        to: URL(fileURLWithPath: feed), options: .atomic)
      let words = "seed \(seed), night \(number)"
      let length = try Command.length(of: ["mirror", undisturbed, job])
      let expectedRows = try Database(undisturbed).rows(rows)
      #expect(expectedRows.count == Int(night.rows), "\(words)")
      var isOver = false
      for _ in 0..<3 where !isOver {
        let child = try Command.start(["mirror", database, job])
        usleep(UInt32.random(in: 1_000...length, using: &random))
        child.send(signal: SIGKILL)
        let outcome = try child.finish()
        isOver = outcome.exitCode == 0
        #expect(isOver || outcome.exitCode == 1_000 + SIGKILL, "\(words): \(outcome.talk)")
        kills += isOver ? 0 : 1
        // Either all of the night or nothing of it, where it is one transaction.
        if access(database, F_OK) == 0, atomic == "table",
          try !Database(database).rows("SELECT 1 FROM sqlite_schema WHERE name = 'feed'").isEmpty
        {
          let found = try Database(database).rows(rows)
          let isWhole = found == before || found == expectedRows
          #expect(isWhole, "\(words): \(found.count) rows")
        }
      }
      if !isOver {
        let last = try Command.run(["mirror", database, job])
        #expect(last.exitCode == 0, "\(words): \(last.talk)")
      }
      // One that is killed behind its commit has said nothing, and the next one finds nothing to do.
      let runs = try ledgers(database)
      #expect(runs.count == number + 1, "\(words)")
      let ledger = ["read", "inserted", "swept", "updated", "unchanged"].map {
        runs.last?[$0].map(UInt64.init) ?? .max
      }
      let expected =
        number == 0
        ? [night.rows, night.rows, 0, 0, 0]
        : [night.rows, night.added ?? 0, night.deleted ?? 0, night.changed ?? 0, night.unchanged ?? 0]
      #expect(ledger == expected, "\(words), after \(kills) kills")
      let isEqual = try Database(database).rows(rows) == expectedRows
      #expect(isEqual, "\(words), after \(kills) kills")
      before = expectedRows
    }
    #expect(kills > 0)
  }
}
