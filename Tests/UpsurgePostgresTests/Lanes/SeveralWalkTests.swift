import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Loads over several connections of what the table has already.
@Suite(
  "Rows that are the same, over several connections",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SeveralWalkTests {
  let scratch = Scratch()
  let database: ProxiedDatabase

  init() throws {
    PostgresStores.register()
    database = try ProxiedDatabase()
  }

  /// Loads records into a table of 2,000 rows, and counts how often a connection has noted how far it has come.
  private func load(
    _ text: String, connections: Int, _ change: (inout LoadOptions) -> Void = { _ in }
  ) throws -> (summary: RunSummary, rows: [[String?]], markCount: Int) {
    try database.direct.run(
      """
      SET client_min_messages = warning; DROP TABLE IF EXISTS t;
      CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 90), a text);
      INSERT INTO t SELECT i, i % 50, 'name ' || i FROM generate_series(1, 2000) i
      """)
    database.proxy.set([])
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.connections = connections
    options.transaction.commitEvery = .records(100)
    options.tuning.batchSizes.recordCount = 100
    change(&options)
    let source = scratch.write("id,n,a\n" + text, to: "feed.csv")
    let url = database.proxy.url(database: database.direct.database)
    let summary = LoadJob(database: url, table: "t", sources: [source], options: options).run()
    let markCount = database.proxy.events.count { event in
      if case .asked(_, let sql) = event {
        sql.contains("\"upsurge_connections\" SET position")
      } else {
        false
      }
    }
    return (summary, try database.direct.texts("SELECT * FROM t ORDER BY id"), markCount)
  }

  private func line(_ id: Int, _ n: Int? = nil) -> String { "\(id),\(n ?? id % 50),name \(id)\n" }

  @Test("No connection stores what the table has already")
  func unchanged() throws {
    let (summary, rows, markCount) = try load((1...2_000).map { line($0) }.joined(), connections: 4)
    #expect(summary.error == nil && summary.ledger.unchanged == 2_000, "\(summary.error?.description ?? "")")
    #expect(rows.count == 2_000 && markCount == 0)
  }

  @Test("What differs goes over the connection of its key, and after it what says the key again")
  func changed() throws {
    // The row of 1200 is changed, and changed back: that its last record is the same as its row says nothing.
    let others = [777: [5], 1_200: [0, 9, 0], 1_500: [95], 2_000: [0, 1]]
    let text = (1...2_000).map { id in
      others[id].map { $0.map { line(id, $0) }.joined() } ?? line(id)
    }.joined()
    let keep = { (options: inout LoadOptions) in
      (options.rejects.onError, options.rejects.path) = (.reject, scratch.file("bad"))
    }
    let one = try load(text, connections: 1, keep)
    unlink(scratch.file("bad"))
    let several = try load(text, connections: 4, keep)
    #expect(one.summary.error == nil && several.summary.error == nil)
    #expect(several.rows == one.rows && several.summary.ledger == one.summary.ledger)
    #expect(several.summary.ledger.updated == 4 && several.summary.ledger.rejected == 1)
    #expect((1...6).contains(several.markCount), "\(several.markCount) marks")
  }

  @Test(
    "A run that was cut off among such rows resumes with the ledger of one that was not", arguments: 1...8)
  func cut(commit: Int) throws {
    let text = (1...2_000).map { line($0, $0 % 5 == 0 ? 3 : nil) }.joined()
    func run(_ faults: [ProxyFault]) throws -> (RunSummary, [[String?]]) {
      var all: RunSummary?
      let first = try load(text, connections: 4) {
        $0.tuning.connectSeconds = []
        database.proxy.set(faults)
      }
      all = first.summary
      database.proxy.set([])
      for _ in 0..<5 where all?.error != nil {
        try database.settle()
        var options = LoadOptions()
        options.rules.key = ["id"]
        options.transaction.commitEvery = .records(70)
        let url = database.proxy.url(database: database.direct.database)
        all = LoadJob(database: url, table: "t", sources: [scratch.file("feed.csv")], options: options).run()
      }
      return (try #require(all), try database.direct.texts("SELECT * FROM t ORDER BY id"))
    }
    let undisturbed = try run([])
    let (summary, rows) = try run([.cut(.beforeAnswer, .commit, at: commit)])
    #expect(summary.error == nil, "\(summary.error?.description ?? "")")
    #expect(summary.ledger == undisturbed.0.ledger && rows == undisturbed.1)
    #expect(summary.ledger.updated + summary.ledger.unchanged == 2_000 && summary.ledger.updated > 300)
  }
}
