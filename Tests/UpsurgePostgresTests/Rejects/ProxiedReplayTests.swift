import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Loads that keep rejects, and replays, whose connections break in a COMMIT: nothing is lost or doubled.
@Suite(
  "Rejects whose connections break",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ProxiedReplayTests {
  let scratch = Scratch()
  let database: ProxiedDatabase

  init() throws {
    PostgresStores.register()
    database = try ProxiedDatabase()
    // Without a key, so that what is stored twice is there twice.
    try database.direct.run("CREATE TABLE t (id int, n int CONSTRAINT small CHECK (n < 90))")
  }

  private static let ids = Array(1...120)

  /// Every third record is a reject, as long as the constraint is there.
  private func load(_ target: RejectsTarget) -> RunSummary {
    var options = LoadOptions()
    (options.rejects.onError, options.rejects.target) = (.reject, target)
    (options.transaction.commitEvery, options.tuning.batchSizes.recordCount) = (40, 20)
    let text = "id,n\n" + Self.ids.map { "\($0),\($0 % 3 == 0 ? 95 : 1)\n" }.joined()
    return LoadJob(
      database: database.proxy.url(database: database.direct.database), table: "t",
      sources: [scratch.write(text, to: "feed.csv")], options: options
    ).run()
  }

  private func replay(file: String? = nil) -> ReplaySummary {
    var options = ReplayOptions()
    options.commitEvery = 10
    return ReplayJob(
      database: database.proxy.url(database: database.direct.database), file: file, options: options
    ).run()
  }

  private func ids(_ sql: String) throws -> [Int] {
    try database.direct.texts(sql).compactMap { $0.first.flatMap { $0 }.flatMap { Int($0) } }
  }

  private func expectCut() {
    let isCut = database.proxy.events.contains(where: \.isCut)
    #expect(isCut)
  }

  @Test(
    "A load stores its rows and keeps its rejects once",
    arguments: [ProxyFault.Moment.before, .after, .beforeAnswer])
  func load(moment: ProxyFault.Moment) throws {
    database.proxy.set([.cut(moment, .commit, at: 2)])
    let summary = load(.table)
    expectCut()
    #expect(summary.error == nil && summary.ledger.inserted == 80 && summary.ledger.rejected == 40)
    #expect(try ids("SELECT id FROM t ORDER BY id") == Self.ids.filter { $0 % 3 != 0 })
    #expect(try ids("SELECT split_part(raw, ',', 1) FROM upsurge_rejects ORDER BY id") == Self.ids.filter { $0 % 3 == 0 })
  }

  @Test(
    "A replay of the table stores each record once",
    arguments: [ProxyFault.Moment.before, .after, .beforeAnswer])
  func table(moment: ProxyFault.Moment) throws {
    #expect(load(.table).ledger.rejected == 40)
    try database.direct.run("ALTER TABLE t DROP CONSTRAINT small; UPDATE upsurge_rejects SET raw = 'x,x' WHERE raw LIKE '60,%'")
    database.proxy.set([.cut(moment, .commit, at: 2)])
    let summary = replay()
    expectCut()
    #expect(summary.error == nil && summary.ledger.inserted == 39 && summary.ledger.rejected == 1)
    #expect(try ids("SELECT id FROM t ORDER BY id") == Self.ids.filter { $0 != 60 })
    #expect(try database.direct.texts("SELECT raw FROM upsurge_rejects") == [["x,x"]])
  }

  @Test(
    "A replay of a file stores each record once",
    arguments: [ProxyFault.Moment.before, .after, .beforeAnswer])
  func file(moment: ProxyFault.Moment) throws {
    let file = scratch.file("bad.ndjson")
    #expect(load(.file(file)).ledger.rejected == 40)
    try database.direct.run("ALTER TABLE t DROP CONSTRAINT small")
    database.proxy.set([.cut(moment, .commit, at: 2)])
    let summary = replay(file: file)
    expectCut()
    #expect(summary.error == nil && summary.ledger.inserted == 40 && summary.exitCode == 0)
    #expect(try ids("SELECT id FROM t ORDER BY id") == Self.ids)
  }

  @Test("A replay that two processes make at once stores each record once")
  func twice() throws {
    #expect(load(.table).ledger.rejected == 40)
    try database.direct.run("ALTER TABLE t DROP CONSTRAINT small")
    let other = Guarded<ReplaySummary?>(nil)
    let url = database.proxy.url(database: database.direct.database)
    let thread = try WorkerThread {
      var options = ReplayOptions()
      options.commitEvery = 10
      let summary = ReplayJob(database: url, options: options).run()
      other.withLock { $0 = summary }
    }
    let own = replay()
    thread.join()
    let summary = try #require(other.withLock { $0 })
    #expect(own.error == nil && summary.error == nil)
    #expect(own.ledger.inserted + summary.ledger.inserted == 40)
    #expect(try ids("SELECT id FROM t ORDER BY id") == Self.ids)
    #expect(try ids("SELECT id FROM upsurge_rejects") == [])
  }
}
