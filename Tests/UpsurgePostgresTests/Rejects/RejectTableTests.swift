import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// `--rejects table` on a server keeps what it keeps in SQLite.
@Suite(
  "The table of rejects of PostgreSQL",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct RejectTableTests {
  let stores: TwoStores

  init() throws {
    stores = try TwoStores(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 90)) STRICT",
      server: "CREATE TABLE t (id bigint PRIMARY KEY, n bigint NOT NULL CHECK (n < 90))")
  }

  @Test("Ledger, rows and rejects are those of SQLite, in the order of the input")
  func equal() throws {
    let path = stores.scratch.write(
      "id,n\n1,1\n2,x\n3\n4,\n5,95\n6,6\n\"7\tq\",7,7\n8,8\n9,a\\tb\n", to: "feed.csv")
    let expected = try stores.load(path, .sqlite)
    #expect(expected.rejects.count == 6 && expected.exitCode == 2)
    #expect(try stores.load(path, .postgres) == expected)
    // Another load adds its own.
    let more = stores.scratch.write("id,n\n11,1\n12,y\n", to: "more.csv")
    let both = try stores.load(more, .sqlite)
    #expect(both.rejects.count == 7)
    #expect(try stores.load(more, .postgres) == both)
    let contexts = "SELECT count(*) AS n FROM upsurge_reject_contexts"
    let expectedCount = try stores.rows(contexts, .sqlite)
    #expect(try stores.rows(contexts, .postgres) == expectedCount)
  }

  @Test("A reject says why, and how its record was read")
  func words() throws {
    let path = stores.scratch.write("id,n\n1,x\n", to: "feed.csv")
    _ = try stores.load(path, .postgres)
    let rows = try stores.rows(
      """
      SELECT "column", reason LIKE '%22P02%' AS says, raw_cut, raw_bytes IS NULL AS is_text, context LIKE '{"upsurge_rejects":1,"table":"t"%' AS read
      FROM (SELECT r."column", r.reason, r.raw_cut, r.raw_bytes, c.context FROM upsurge_rejects r JOIN upsurge_reject_contexts c ON c.id = r.context) AS q
      """, .postgres)
    #expect(rows == ["'n'|true|false|true|true"])
  }

  @Test("Bytes that are no text stand beside a text that shows them")
  func bytes() throws {
    let raw = Array("1,".utf8) + [0xFF, 0x00] + Array("x".utf8)
    let path = stores.scratch.write(Array("id,n\n".utf8) + raw + [0x0A], to: "feed.csv")
    let result = try stores.load(path, .postgres) { $0.input.encoding = .utf8 }
    #expect(result.ledger.rejected == 1)
    #expect(
      try stores.rows("SELECT encode(raw_bytes, 'hex') AS b, raw FROM upsurge_rejects", .postgres)
        == ["'312cff0078'|'1,\u{FFFD}\u{FFFD}x'"])
  }

  @Test("Nothing of it stays where the transaction does not: trials, one transaction that fails")
  func rolledBack() throws {
    let path = stores.scratch.write("id,n\n1,x\n2,2\n3\n", to: "feed.csv")
    var options = LoadOptions()
    (options.rejects.onError, options.rejects.target) = (.reject, .table)
    func load() -> RunSummary {
      LoadJob(database: stores.url, table: "t", sources: [path], options: options).run()
    }
    options.output.dryRun = .count
    #expect(load().ledger.rejected == 2)
    #expect(try stores.rows("SELECT to_regclass('upsurge_rejects') IS NULL AS n", .postgres) == ["true"])
    options.output.dryRun = nil
    (options.transaction.isAtomic, options.rejects.limit) = (true, .count(1))
    #expect(load().error?.code == .badInput)
    #expect(try stores.rows("SELECT count(*) AS n FROM upsurge_rejects", .postgres) == ["0"])
    options.rejects.limit = nil
    #expect(load().error == nil)
    #expect(try stores.rows("SELECT count(*) AS n FROM upsurge_rejects", .postgres) == ["2"])
  }

  @Test("A run that ends part way keeps the rejects of what is committed, and resumes without another copy")
  func resumes() throws {
    let path = stores.scratch.write(
      "id,n\n" + (1...400).map { $0 % 50 == 0 ? "\($0),x\n" : "\($0),1\n" }.joined(), to: "feed.csv")
    for store in TwoStores.Store.allCases {
      let ended = try stores.load(path, store) {
        ($0.transaction.commitEvery, $0.tuning.batchSizes.recordCount) = (100, 20)
        $0.rejects.limit = .count(5)
      }
      #expect(ended.exitCode != 0 && ended.exitCode != 2 && !ended.rejects.isEmpty, "\(store)")
      let again = try stores.load(path, store) { $0.transaction.commitEvery = 100 }
      #expect(again.ledger.rejected == 8 && again.rejects.count == 8 && again.exitCode == 2, "\(store)")
      #expect(Set(again.rejects).count == 8, "\(store)")
    }
  }

  @Test("A new table in which a key comes twice keeps each reject once")
  func keyTwice() throws {
    let path = stores.scratch.write("id,n\n1,1\n,5\n1,2\n", to: "feed.csv")
    var options = LoadOptions()
    (options.rejects.onError, options.rejects.target, options.rules.key) = (.reject, .table, ["id"])
    let summary = LoadJob(database: stores.url, table: "made", sources: [path], options: options).run()
    #expect(summary.error == nil && summary.ledger.rejected == 1)
    #expect(try stores.rows("SELECT raw FROM upsurge_rejects", .postgres) == ["',5'"])
    #expect(try stores.rows("SELECT * FROM made", .postgres) == ["1|2"])
  }

  @Test("A table of that name that is someone else's, or newer, is left alone")
  func foreign() throws {
    let path = stores.scratch.write("id,n\n1,x\n", to: "feed.csv")
    func load() -> RunSummary {
      var options = LoadOptions()
      (options.rejects.onError, options.rejects.target) = (.reject, .table)
      return LoadJob(database: stores.url, table: "t", sources: [path], options: options).run()
    }
    try stores.server.psql("CREATE TABLE upsurge_rejects (a int)", in: stores.url)
    let refused = load()
    #expect(refused.error?.code == .guardRefused && refused.exitCode == 4)
    #expect(refused.error?.hint?.hasPrefix("rename that table; ") == true)
    try stores.server.psql("ALTER TABLE upsurge_rejects RENAME TO mine", in: stores.url)
    #expect(load().ledger.rejected == 1)
    try stores.server.psql("COMMENT ON TABLE upsurge_rejects IS 'upsurge layout 2'", in: stores.url)
    let newer = load()
    #expect(newer.error?.code == .guardRefused)
    #expect(
      newer.error?.message.contains("upsurge_rejects of layout 2, which a newer upsurge has made") == true)
    #expect(ReplayJob(database: stores.url).run().error?.code == .guardRefused)
    try stores.server.psql(
      "COMMENT ON TABLE upsurge_rejects IS 'upsurge layout 1'; DROP TABLE upsurge_reject_contexts",
      in: stores.url)
    #expect(load().error?.message.contains("upsurge_reject_contexts is gone") == true)
  }

  @Test("It is beside the table that the records were for")
  func schemas() throws {
    try stores.server.psql(
      "CREATE SCHEMA sales; CREATE TABLE sales.t (id bigint PRIMARY KEY)", in: stores.url)
    var options = LoadOptions()
    (options.rejects.onError, options.rejects.target) = (.reject, .table)
    let path = stores.scratch.write("id\n1\nx\n", to: "feed.csv")
    let summary = LoadJob(database: stores.url, table: "sales.t", sources: [path], options: options).run()
    #expect(summary.ledger.rejected == 1)
    #expect(
      try stores.rows("SELECT \"table\", raw FROM sales.upsurge_rejects", .postgres) == ["'sales.t'|'x'"])
    try stores.server.psql("UPDATE sales.upsurge_rejects SET raw = '7'", in: stores.url)
    #expect(ReplayJob(database: stores.url).run().ledger.inserted == 1)
    #expect(try stores.rows("SELECT id FROM sales.t ORDER BY id", .postgres) == ["1", "7"])
  }
}
