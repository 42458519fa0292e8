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
    ProcessInfo.processInfo.environment["UPSURGE_NIGHTS"].flatMap { Int($0) } ?? 8

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
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var kills = 0
    for (number, night) in history.nights.prefix(Self.nightLimit).enumerated() {
      try Data(contentsOf: URL(fileURLWithPath: night.path)).write(
        to: URL(fileURLWithPath: feed), options: .atomic)
      let words = "seed \(seed), night \(number)"
      for _ in 0..<3 {
        let child = try Command.start(["mirror", database, job, "--summary", scratch.file("summary.json")])
        usleep(UInt32.random(in: 1_000...400_000, using: &random))
        child.send(signal: SIGKILL)
        let outcome = try child.finish()
        if outcome.exitCode == 0 { break }
        #expect(outcome.exitCode == 1_000 + SIGKILL, "\(words): \(outcome.talk)")
        kills += 1
        // Either all of the night or nothing of it, where it is one transaction.
        if access(database, F_OK) == 0, atomic == "table",
          try !Database(database).rows("SELECT 1 FROM sqlite_schema WHERE name = 'feed'").isEmpty
        {
          let count = try Database(database).rows("SELECT count(*) FROM feed")
          let before = number == 0 ? 0 : history.nights[number - 1].rows
          #expect(count == ["\(before)"] || count == ["\(night.rows)"], "\(words)")
        }
        try? FileManager.default.removeItem(atPath: scratch.file("summary.json"))
      }
      if !FileManager.default.fileExists(atPath: scratch.file("summary.json")) {
        let last = try Command.run(["mirror", database, job, "--summary", scratch.file("summary.json")])
        #expect(last.exitCode == 0, "\(words): \(last.talk)")
      }
      let ledger = try ledger()
      let expected =
        number == 0
        ? [night.rows, night.rows, 0, 0, 0]
        : [night.rows, night.added ?? 0, night.deleted ?? 0, night.changed ?? 0, night.unchanged ?? 0]
      #expect(ledger == expected, "\(words), after \(kills) kills")
      try? FileManager.default.removeItem(atPath: scratch.file("summary.json"))
    }
    #expect(kills > 0)
    let rows = try Database(database).rows("SELECT count(*) FROM feed")
    #expect(
      rows == ["\(history.nights[min(Self.nightLimit, history.nights.count) - 1].rows)"], "seed \(seed)")
  }

  /// read, inserted, swept, updated, unchanged.
  private func ledger() throws -> [UInt64] {
    let data = Data(try readFile(scratch.file("summary.json")))
    let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    let ledger = json?["ledger"] as? [String: Any] ?? [:]
    return ["read", "inserted", "swept", "updated", "unchanged"].map {
      (ledger[$0] as? NSNumber)?.uint64Value ?? .max
    }
  }
}
