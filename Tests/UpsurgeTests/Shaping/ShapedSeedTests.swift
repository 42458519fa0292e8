import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Computed columns and a filter make the rows that one statement makes of a staging table.
@Suite("Computed columns by chance")
struct ShapedSeedTests {
  let scratch = Scratch()

  private static let content =
    "SELECT * FROM t ORDER BY id; SELECT "
    + ShapedFeed.stored.map { "typeof(\"\($0.replacing("\"", with: "\"\""))\")" }.joined(separator: ", ")
    + " FROM t ORDER BY id"

  private func rows(_ database: String) throws -> [String] {
    try Database(scratch.file(database)).rows(Self.content)
  }

  private func load(
    _ text: String, _ feed: ShapedFeed, into database: String, _ change: (inout LoadOptions) -> Void
  ) -> RunSummary {
    var options = LoadOptions()
    options.rejects.onError = .reject
    options.rejects.target = .table
    if feed.isCSV {
      options.input.csv.delimiter = [UInt8(ascii: ",")]
      options.input.csv.headerLineCount = 1
    }
    feed.apply(to: &options)
    change(&options)
    let source = scratch.write(text, to: feed.isCSV ? "in.csv" : "in.ndjson")
    let summary = LoadJob(database: scratch.file(database), table: "t", sources: [source], options: options)
      .run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  @Test(
    "A load makes the rows of INSERT … SELECT … WHERE", arguments: SeededGenerator.some(of: UInt64(200)),
    [true, false])
  func chance(seed: UInt64, isCSV: Bool) throws {
    var feed = ShapedFeed(seed: seed, isCSV: isCSV)
    let records = (1...150).map { feed.record($0) }
    let text = feed.text(records)
    let filtered = try feed.store(records, in: Database(scratch.file("expected.db")))
    let expected = try rows("expected.db")
    let note = Comment("seed \(seed), \(feed.computed), where \(feed.filter ?? "-")")
    for index in 0..<3 {
      let name = "\(index).db"
      try Database(scratch.file(name)).rows(ShapedFeed.table)
      let summary = load(text, feed, into: name) {
        if index > 0 { $0.tuning.batchSizes = Self.sizes(&feed.random) }
        if index == 2 { $0.rules.key = ["id"] }
      }
      #expect(summary.error == nil, note)
      #expect(
        summary.ledger.filtered == UInt64(filtered) && summary.ledger.inserted == UInt64(150 - filtered), note
      )
      #expect(try rows(name) == expected, note)
    }
  }

  @Test(
    "The last commit of a run that stops is where it goes on, filtered records and all",
    arguments: SeededGenerator.some(of: UInt64(80)))
  func resume(seed: UInt64) throws {
    var feed = ShapedFeed(seed: seed, isCSV: true)
    let records = (1...120).map { feed.record($0) }
    // A record that is one field short ends the first run.
    let stop = Int.random(in: 1...100, using: &feed.random)
    var lines = feed.text(records).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines[stop] = String(lines[stop].prefix { $0 != "," })
    var good = records
    good.remove(at: stop - 1)
    let filtered = try feed.store(good, in: Database(scratch.file("expected.db")))
    let note = Comment("seed \(seed), \(feed.computed), where \(feed.filter ?? "-")")
    try Database(scratch.file("a.db")).rows(ShapedFeed.table)
    let sizes = Self.sizes(&feed.random)
    let every = Int.random(in: 1...20, using: &feed.random)
    let text = lines.joined(separator: "\n")
    func run(_ policy: ErrorPolicy) -> RunSummary {
      load(text, feed, into: "a.db") {
        $0.rejects.onError = policy
        $0.rejects.target = nil
        $0.rules.mode = .insert
        $0.tuning.batchSizes = sizes
        $0.transaction.commitEvery = .records(every)
      }
    }
    let first = run(.stop)
    #expect(first.error != nil, note)
    #expect(run(.stop).ledger == first.ledger, note)
    let last = run(.reject)
    #expect(last.error == nil && last.ledger.read == 120 && last.ledger.rejected == 1, note)
    #expect(last.ledger.filtered == UInt64(filtered), note)
    #expect(try rows("a.db") == rows("expected.db"), note)
  }

  private static func sizes(_ random: inout SeededGenerator) -> Batch.Sizes {
    Batch.Sizes(
      arenaByteCount: Int.random(in: 1...500, using: &random),
      cellCount: Int.random(in: 1...80, using: &random),
      recordCount: Int.random(in: 1...20, using: &random))
  }
}
