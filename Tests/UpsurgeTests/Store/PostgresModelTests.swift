import PostgresSupport
import TestSupport
import Testing
import UpsurgePlan
import UpsurgePostgres
import UpsurgeRecords

@testable import Upsurge

/// The same feeds through SQLite and through PostgreSQL: ledger, rejects and rows are the same.
@Suite(
  "PostgreSQL as a store", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresModelTests {
  let scratch = Scratch()

  init() { PostgresStores.register() }

  static let seeds = 1...SeededGenerator.some(60, most: 3_000)

  @Test("Rows, ledger and rejects are those of SQLite", arguments: seeds)
  func equal(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let feed = StoreFeed(&random, hasMisfits: false)
    let url = try PostgresServer.shared().freshDatabase()
    for (night, text) in feed.texts.enumerated() {
      let source = scratch.write(text, to: "feed\(night).\(feed.format)")
      var (wantedFeed, gotFeed) = (feed, feed)
      wantedFeed.options.rejects.path = scratch.file("sqlite.ndjson")
      gotFeed.options.rejects.path = scratch.file("postgres.ndjson")
      let wanted = run(source, wantedFeed, night, database: scratch.file("a.db"))
      let got = run(source, gotFeed, night, database: url)
      #expect(got.error == nil && wanted.error == nil, "seed \(seed), night \(night): \(got.error?.message ?? "")")
      #expect(got.ledger == wanted.ledger, "seed \(seed), night \(night), \(feed.options.rules)")
      let places = try ["sqlite.ndjson", "postgres.ndjson"].map { try rejectPlaces(scratch.file($0)) }
      #expect(places[0] == places[1], "seed \(seed), night \(night)")
      let columns = try Database(scratch.file("a.db")).rows("SELECT name FROM pragma_table_info('t')").map {
        String($0.dropFirst().dropLast())
      }
      let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
      let wantedRows = try Database(scratch.file("a.db")).rows("SELECT \(list) FROM t")
      let gotRows = try PostgresServer.shared().rows("SELECT \(list) FROM t", in: url)
      #expect(gotRows.sorted() == wantedRows.sorted(), "seed \(seed), night \(night)")
    }
  }

  private func run(_ source: String, _ feed: StoreFeed, _ night: Int, database: String) -> RunSummary {
    var options = feed.options
    // There must be a table to be changed only.
    if night == 0, options.rules.mode == .update || options.rules.mode == .delete { options.rules.mode = nil }
    let summary = LoadJob(database: database, table: "t", sources: [source], options: options).run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  private func rejectPlaces(_ path: String) throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap { line in
      line.contains("\"upsurge_rejects\"")
        ? nil : line.split(separator: ",").first { $0.contains("\"record\"") }.map(String.init)
    }
  }
}
