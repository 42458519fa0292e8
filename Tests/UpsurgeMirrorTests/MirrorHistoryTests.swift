import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Real snapshots of successive days, as nightly runs.
@Suite("Mirrors of real snapshots") struct MirrorHistoryTests {
  let scratch = Scratch()

  @Test(
    "Every night's ledger is what has changed, and nothing else is written",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)),
    arguments: ["dotgov", "sp500"], [false, true])
  func nights(name: String, hasTriggers: Bool) throws {
    let history = try History(name, in: scratch)
    #expect(history.nights.count >= 30)
    let feed = scratch.file("feed.csv")
    var table = MirrorTable(name: "feed", sources: [feed])
    table.options.rules.key = [history.key]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    (table.options.tuning.chunkSizes.usual, table.options.tuning.chunkSizes.least) = (4_096, 1_024)
    var skippedCount: UInt64 = 0
    let job = MirrorJob(database: scratch.file("a.db"), tables: [table])
    for (number, night) in history.nights.enumerated() {
      try deliver(night.path, to: feed)
      let summary = job.run()
      let ledger = summary.ledger
      #expect(summary.exitCode == 0, "night \(number): \(summary.tables.first?.failure?.description ?? "")")
      #expect(ledger.read == night.rows && ledger.rejected == 0, "night \(number)")
      if number == 0 {
        #expect(ledger.inserted == night.rows)
        if hasTriggers { try log(on: job.database) }
        continue
      }
      #expect(
        [ledger.inserted, ledger.swept, ledger.updated, ledger.unchanged]
          == [night.added, night.deleted, night.changed, night.unchanged], "night \(number)")
      if hasTriggers {
        let found = try Database(job.database).rows("SELECT ifnull(sum(n), 0) FROM log; DELETE FROM log")
        #expect(found == ["\(ledger.inserted + ledger.swept + ledger.updated)"], "night \(number)")
      }
      skippedCount +=
        summary.tables[0].loads[0].metrics.settings.first { $0.name == "skipped_records" }?.value ?? 0
      // The same again is not read.
      let again = job.run()
      #expect(again.exitCode == 0 && again.tables[0].loads.isEmpty && again.tables[0].unchangedSince != nil)
    }
    #expect(skippedCount > 0)
    try expectEqual(job.database, to: history)
  }

  /// Counts what is written to the table.
  private func log(on database: String) throws {
    try Database(database).rows(
      "CREATE TABLE log(n)"
        + ["INSERT", "UPDATE", "DELETE"].map {
          ";CREATE TRIGGER on\($0) AFTER \($0) ON feed BEGIN INSERT INTO log VALUES (1); END"
        }.joined())
  }

  private func deliver(_ path: String, to feed: String) throws {
    try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: feed), options: .atomic)
  }

  /// The table is the one that the last file alone makes.
  private func expectEqual(_ database: String, to history: History) throws {
    guard let last = history.nights.last else { return }
    var options = LoadOptions()
    options.rules.key = [history.key]
    let fresh = scratch.file("fresh.db")
    #expect(
      LoadJob(database: fresh, table: "feed", sources: [last.path], options: options).run().exitCode == 0)
    let rows = "SELECT * FROM feed ORDER BY \"\(history.key)\""
    #expect(try Database(database).rows(rows) == Database(fresh).rows(rows))
  }
}
