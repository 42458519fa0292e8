import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// What a load must not do in silence.
@Suite(
  "Traps of loads into PostgreSQL",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresTrapTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  private func load(
    _ text: String, _ name: String = "feed.csv", table: String = "t",
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rules.key = ["id"]
    change(&options)
    return LoadJob(database: url, table: table, sources: [scratch.write(text, to: name)], options: options)
      .run()
  }

  private func rows(_ sql: String) throws -> [String] { try server.rows(sql, in: url) }

  @Test("Records of several kinds keep their order where there is a second unique key")
  func secondKey() throws {
    try server.psql(
      "CREATE TABLE t (id int PRIMARY KEY, u text UNIQUE, c int); INSERT INTO t VALUES (1, 'a', 0)", in: url)
    let text =
      #"{"id":9,"u":"z","c":1}"# + "\n" + #"{"id":1,"u":"b"}"# + "\n" + #"{"id":2,"u":"a","c":2}"# + "\n"
    let summary = load(text, "feed.ndjson") { $0.rejects.onError = .reject }
    #expect(summary.ledger.inserted == 2 && summary.ledger.updated == 1 && summary.ledger.rejected == 0)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["1|'b'|0", "2|'a'|2", "9|'z'|1"])
  }

  @Test("SQL for a column that the records lack changes it")
  func setOfOtherColumn() throws {
    try server.psql(
      "CREATE TABLE t (id int PRIMARY KEY, v int, seen text); INSERT INTO t VALUES (1, 1, 'old')", in: url)
    let summary = load("id,v\n1,2\n2,2\n") {
      $0.rules.merge.columns = ["seen": .expression("'v' || excluded.v")]
    }
    #expect(summary.error == nil && summary.ledger.updated == 1 && summary.ledger.inserted == 1)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["1|2|'v2'", "2|2|NULL"])
  }

  @Test("A table of somebody else under the engine's own name is never dropped")
  func ownName() throws {
    try server.psql(
      "CREATE TABLE upsurge_new_t (precious int); INSERT INTO upsurge_new_t VALUES (7)", in: url)
    #expect(load("id,v\n1,2\n").error?.code == .guardRefused)
    #expect(try rows("SELECT * FROM upsurge_new_t") == ["7"])
    try server.psql("ALTER TABLE upsurge_new_t RENAME TO mine", in: url)
    #expect(load("id,v\n1,2\n").ledger.inserted == 1)
    #expect(try rows("SELECT obj_description('t'::regclass) IS NULL AS n") == ["true"])
  }

  @Test("A table that somebody makes while a run fills one of that name is not resumed into")
  func madeMeanwhile() throws {
    let text = "id,n\n" + (1...500).map { "\($0),\($0)\n" }.joined() + "501,x,y\n502,1\n"
    let small: (inout LoadOptions) -> Void = {
      $0.transaction.commitEvery = 100
      $0.tuning.batchSizes.recordCount = 100
    }
    #expect(load(text, "feed.csv", small).progress.committedCount > 0)
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint)", in: url)
    let rejecting: (inout LoadOptions) -> Void = {
      small(&$0)
      $0.rejects.onError = .reject
    }
    let refused = load(text, "feed.csv", rejecting)
    #expect(refused.error?.code == .guardRefused)
    #expect(refused.error?.hint == "without public.t the run resumes; without upsurge_new_t it begins again, in public.t")
    try server.psql("DROP TABLE t", in: url)
    #expect(load(text, "feed.csv", rejecting).error == nil)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["501"])
  }

  @Test("The commit with the first delete says that there was one")
  func firstDelete() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n int); INSERT INTO t VALUES (1, 1)", in: url)
    let tombstone: (inout LoadOptions) -> Void = {
      $0.transaction.commitEvery = 2
      $0.tuning.batchSizes.recordCount = 2
      $0.rules.tombstone = Tombstone(column: "gone", value: "1")
    }
    let text = "id,n,gone\n1,,1\n2,2,0\n3,x,0\n4,4,0\n"
    #expect(load(text, "feed.csv", tombstone).error?.code == .badInput)
    #expect(try rows("SELECT progress::jsonb -> 'met_tombstone' AS met FROM upsurge_runs") == ["true"])
    let notes = RunNotes()
    var options = LoadOptions()
    options.rules.key = ["id"]
    tombstone(&options)
    options.rejects.onError = .reject
    let again = LoadJob(database: url, table: "t", sources: [scratch.file("feed.csv")], options: options)
      .run(note: { notes.add($0.text) })
    #expect(again.error == nil && again.ledger.deleted == 1 && again.ledger.rejected == 1)
    #expect(!notes.all.contains { $0.contains("no record had") }, "\(notes.all)")
  }

  @Test("A name that a sequence has is refused before anything is read")
  func takenName() throws {
    try server.psql("CREATE SEQUENCE t", in: url)
    let summary = load("id,v\n1,2\n")
    #expect(summary.error?.code == .guardRefused && summary.ledger.read == 0)
    #expect(try rows("SELECT count(*) AS n FROM pg_class WHERE relname LIKE 'upsurge_new%'") == ["0"])
  }

  @Test(
    "No wait for locks is no wait, and --create-key waits as long as batches do", arguments: [true, false])
  func locks(createsKey: Bool) throws {
    try server.psql("CREATE TABLE t (id int\(createsKey ? "" : " PRIMARY KEY"), v int)", in: url)
    let other = try Server.connect(url)
    try other.run("BEGIN; LOCK TABLE t IN ROW EXCLUSIVE MODE\(createsKey ? "" : "; LOCK TABLE t")")
    let summary = load("id,v\n1,2\n") {
      $0.transaction.busyTimeout = 0
      $0.indexes.createsKey = createsKey
    }
    #expect(summary.error?.message.contains("55P03") == true)
    other.rollback()
  }
}
