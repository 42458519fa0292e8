import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// New tables that the server, a record or another run is against.
@Suite(
  "New tables on a server",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresNewTableTests {
  private func key(_ options: inout LoadOptions) { options.rules.key = ["id"] }

  @Test("A key that is too large for an index makes a bad record, not a failure at the end")
  func largeKey() throws {
    let scenario = try KindScenario()
    // Letters that do not repeat, as the server compresses what it can.
    var state: UInt64 = 1
    let large = String((0..<9_000).map { _ -> Character in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Character(Unicode.Scalar(UInt8(97 + (state >> 33) % 26)))
    })
    let summary = scenario.load("id,v\na,1\n\(large),2\nb,3\n", key)
    #expect(KindScenario.counts(summary) == [2, 0, 0, 0, 0, 1])
    #expect(try scenario.rows("SELECT * FROM t ORDER BY 1") == ["'a'|1", "'b'|3"])
  }

  @Test("A type that no key can have is refused before there are rows")
  func keyType() throws {
    let scenario = try KindScenario()
    let summary = scenario.load("id,v\n1,1\n") {
      key(&$0)
      $0.table.types = ["id": "JSON"]
    }
    #expect(summary.error?.message.contains("[42704]") == true && summary.ledger.read == 0)
    #expect(try scenario.rows("SELECT count(*) AS n FROM pg_class WHERE relname IN ('t', 'upsurge_new_t')") == ["0"])
  }

  @Test("Keys that only a table that is there can have are no reason to make one without", arguments: [0, 1, 2])
  func missingKey(kind: Int) throws {
    let scenario = try KindScenario()
    let targets = [.index("t_pkey"), .any, .firstOf([.columns(["id"]), .columns(["v"])])] as [ConflictTarget]
    let refused = scenario.load("id,v\n1,1\n") { $0.rules.target = targets[kind] }
    #expect(refused.exitCode == 64 && refused.error?.hint == "--key COLS names the columns of its key")
    #expect(try scenario.rows("SELECT to_regclass('t') IS NULL AS n") == ["true"])
    #expect(KindScenario.counts(scenario.load("id,v\n1,1\n", key)) == [1, 0, 0, 0, 0, 0])
  }

  @Test("Names of system columns are refused with the way to another one")
  func systemColumns() throws {
    let scenario = try KindScenario()
    let refused = scenario.load("id,ctid\n1,2\n", key)
    #expect(refused.exitCode == 65 && refused.ledger.read == 0)
    #expect(refused.error?.hint == "--rename OLD=NEW gives it another name; --columns A,B leaves it out")
    #expect(KindScenario.counts(scenario.load("id,ctid\n1,2\n") { key(&$0); $0.table.renames = ["ctid": "place"] }) == [1, 0, 0, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load("id,oid\n1,2\n", table: "u", key)) == [1, 0, 0, 0, 0, 0])
  }

  @Test("Tables of the most columns take records, and bad ones are found")
  func manyColumns() throws {
    let scenario = try KindScenario()
    let names = ["id"] + (2...1_600).map { "c\($0)" }
    let few = String(repeating: ",", count: 1_599)
    // So many numbers are larger than a page.
    let all = (2...1_600).map { ",\(Int.max - $0)" }.joined()
    let text = names.joined(separator: ",") + "\n1\(few)\n2\(all)\n3\(few)\n"
    let types: (inout LoadOptions) -> Void = {
      key(&$0)
      $0.table.types = Dictionary(names.map { ($0, "BIGINT") }) { first, _ in first }
    }
    #expect(KindScenario.counts(scenario.load(text, types)) == [2, 0, 0, 0, 0, 1])
    #expect(KindScenario.counts(scenario.load(text, types)) == [0, 0, 2, 0, 0, 1])
  }

  @Test("A run fills no table of the same name that another run has made")
  func fence() throws {
    let scenario = try KindScenario()
    let small: (inout LoadOptions) -> Void = {
      key(&$0)
      $0.rejects.onError = .stop
      $0.transaction.commitEvery = 100
      $0.tuning.batchSizes.recordCount = 100
    }
    let text = "id,n\n" + (1...500).map { "\($0),\($0)\n" }.joined() + "501,x,y\n502,1\n"
    #expect(scenario.load(text, small).progress.committedCount > 0)
    let mark = try scenario.rows("SELECT obj_description('upsurge_new_t'::regclass) AS d")
    let run = try scenario.rows("SELECT run FROM upsurge_runs")
    #expect(mark == ["'upsurge fills this table in run \(run.first ?? "")'"])
    // What another process does that begins at the same moment.
    try scenario.server.psql(
      "DROP TABLE upsurge_new_t; CREATE TABLE upsurge_new_t (id bigint NOT NULL, n bigint); COMMENT ON TABLE upsurge_new_t IS 'upsurge fills this table in run 99'; INSERT INTO upsurge_new_t VALUES (9, 9)",
      in: scenario.url)
    let other = scenario.load(text) {
      small(&$0)
      $0.rejects.onError = .reject
    }
    #expect(other.error?.message.contains("another run makes the table") == true)
    #expect(try scenario.rows("SELECT * FROM upsurge_new_t") == ["9|9"])
  }

  @Test("A load that makes the table anew says which rows of a stopped run go, once", arguments: [false, true])
  func rowsOfAStoppedRun(isAtomic: Bool) throws {
    let scenario = try KindScenario()
    let bad = "id,n\n" + (1...500).map { "\($0),\($0)\n" }.joined() + "501,x,y\n"
    let stopped = scenario.load(bad, "old.csv") {
      key(&$0)
      $0.rejects.onError = .stop
      $0.transaction.commitEvery = 100
      $0.tuning.batchSizes.recordCount = 100
    }
    let count = stopped.progress.committedCount
    let run = try scenario.rows("SELECT run FROM upsurge_runs").first ?? ""
    try #require(stopped.exitCode == 3 && count > 0)
    let notes = RunNotes()
    for _ in 1...2 {
      var options = LoadOptions()
      key(&options)
      options.transaction.isAtomic = isAtomic
      let job = LoadJob(
        database: scenario.url, table: "t", sources: [scenario.scratch.write("id,n\n7,1\n", to: "new.csv")],
        options: options)
      #expect(job.run(note: { notes.add($0.text) }).error == nil)
    }
    let lost = notes.all.filter { $0.contains("drops that table") }
    #expect(lost.count == 1 && lost[0].hasPrefix("run \(run) from "))
    #expect(
      lost[0].hasSuffix(
        "old.csv stopped before its new table was complete: this load drops that table, with \(count) rows, and forgets the run"))
    #expect(try scenario.rows("SELECT * FROM t") == ["7|1"])
    #expect(try scenario.rows("SELECT count(*) AS n FROM upsurge_runs") == ["0"])
  }
}
