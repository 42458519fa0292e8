import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Names of feeds in one table: what one may do to rows of another, and what is refused.
@Suite("Feeds that share a table") struct RowOwnerTests {
  let scratch = Scratch()
  private var database: String { scratch.file("a.db") }

  private func job(_ source: String, owner: String?, key: [String] = ["id"]) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file(source)])
    table.options.rules.key = key
    table.options.rejects.onError = .reject
    table.sweep = .hard
    table.ownedBy = owner
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: database, tables: [table])
  }

  private func message(_ summary: MirrorSummary) -> String {
    (summary.error ?? summary.tables.first?.failure)?.message ?? ""
  }

  @Test("Each feed has a record of its own, and neither is taken for the other")
  func records() throws {
    _ = scratch.write("id,v\n1,1\n2,1\n", to: "crm.csv")
    _ = scratch.write("id,v\n2,1\n3,1\n4,1\n", to: "erp.csv")
    for name in ["crm", "erp", "crm", "erp"] {
      let summary = job("\(name).csv", owner: name).run()
      #expect(summary.exitCode == 0, "\(message(summary))")
    }
    let plain = Database(database)
    #expect(
      try plain.rows("SELECT \"table\", owned_by, records FROM upsurge_feeds") == [
        "'feed'|'crm'|2", "'feed'|'erp'|3",
      ])
    let status = try FeedStatus.all(database: database)
    #expect(status.map(\.ownedBy) == ["crm", "erp"])
    #expect(
      MetricsText.text(MirrorSummary(database: database), status)
        .contains("upsurge_mirror_failures{table=\"feed\",owned_by=\"erp\"} 0\n"))
    // The row of both stays as long as one of them has it.
    _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
    #expect(job("crm.csv", owner: "crm").run().ledger.swept == 0)
    #expect(
      try plain.rows("SELECT owned_by, gone FROM upsurge_rows WHERE key = '2'") == ["'crm'|1", "'erp'|0"])
    _ = scratch.write("id,v\n3,1\n4,1\n", to: "erp.csv")
    #expect(job("erp.csv", owner: "erp").run().ledger.swept == 1)
    #expect(try plain.rows("SELECT id FROM feed") == ["1", "3", "4"])
    #expect(try plain.rows("SELECT key FROM upsurge_rows ORDER BY 1") == ["'1'", "'3'", "'4'"])
  }

  @Test("A sweep without a name is refused where feeds with names have rows, and another key is refused")
  func refusals() throws {
    _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
    #expect(job("crm.csv", owner: "crm").run().exitCode == 0)
    let plain = Database(database)
    try plain.rows("CREATE UNIQUE INDEX v ON feed(v)")
    _ = scratch.write("id,v\n9,9\n", to: "erp.csv")
    let unnamed = job("erp.csv", owner: nil).run()
    #expect(unnamed.exitCode == 4)
    #expect(
      message(unnamed).hasPrefix(
        "rows of table feed are owned by crm, and a sweep without owned-by is about all rows"))
    let otherKey = job("erp.csv", owner: "erp", key: ["v"]).run()
    #expect(otherKey.exitCode == 4)
    #expect(
      message(otherKey).hasPrefix(
        "feeds of table feed tell its rows by different columns: this one by v, crm by id"),
      "\(message(otherKey))")
    #expect(try plain.rows("SELECT id FROM feed") == ["1", "2"])
    // The feed's own notes of another key say nothing: keys of other columns may have the same text.
    var changed = job("crm.csv", owner: "crm", key: ["v"])
    changed.acceptsChanges = true
    _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
    let summary = changed.run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 0, "\(message(summary))")
    #expect(try plain.rows("SELECT key, key_columns FROM upsurge_rows") == ["'1'|'[\"v\"]'"])
  }

  @Test("A feed that gets a name keeps its rows, also where its first night under it fails")
  func adoptionBehindFailure() throws {
    _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
    var first = job("crm.csv", owner: nil)
    first.tables[0].keepsRowState = true
    #expect(first.run().exitCode == 0)
    unlink(scratch.file("crm.csv"))
    #expect(job("crm.csv", owner: "crm").run().exitCode == 66)
    _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
    let summary = job("crm.csv", owner: "crm").run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 1, "\(message(summary))")
    #expect(try Database(database).rows("SELECT id FROM feed") == ["1"])
  }

  @Test("A feed that sweeps nothing lets go of rows that its snapshot no longer has")
  func withoutSweep() throws {
    func other() -> MirrorSummary {
      var job = job("erp.csv", owner: nil)
      job.tables[0].keepsRowState = true
      job.tables[0].sweep = .none
      return job.run()
    }
    for name in ["crm", "erp"] { _ = scratch.write("id,v\n1,1\n2,1\n", to: name + ".csv") }
    #expect(job("crm.csv", owner: "crm").run().exitCode == 0)
    #expect(other().exitCode == 0)
    for name in ["crm", "erp"] { _ = scratch.write("id,v\n1,1\n", to: name + ".csv") }
    #expect(job("crm.csv", owner: "crm").run().ledger.swept == 0, "the other feed has it")
    #expect(other().exitCode == 0)
    _ = scratch.write("id,v\n1,2\n", to: "crm.csv")
    #expect(job("crm.csv", owner: "crm").run().ledger.swept == 1)
    #expect(try Database(database).rows("SELECT id FROM feed") == ["1"])
  }

  @Test("A row of which another feed delivers an older version stays")
  func older() throws {
    func run(_ name: String) -> MirrorSummary {
      var job = job(name + ".csv", owner: name)
      job.tables[0].options.rules.merge.newer = Merge.Newer(column: "v")
      return job.run()
    }
    _ = scratch.write("id,v\n1,5\n2,5\n", to: "crm.csv")
    _ = scratch.write("id,v\n1,1\n2,1\n", to: "erp.csv")
    #expect(run("crm").exitCode == 0)
    #expect(run("erp").ledger.stale == 2)
    _ = scratch.write("id,v\n1,6\n", to: "crm.csv")
    #expect(run("crm").ledger.swept == 0)
    _ = scratch.write("id,v\n1,2\n", to: "erp.csv")
    #expect(run("erp").ledger.swept == 0, "it never was what that one delivered")
    _ = scratch.write("id,v\n1,7\n", to: "crm.csv")
    #expect(run("crm").ledger.swept == 1)
    #expect(try Database(database).rows("SELECT id, v FROM feed") == ["1|7"])
  }

  @Test("A feed that gets a name keeps what is known of it")
  func adoption() throws {
    _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
    var first = job("crm.csv", owner: nil)
    first.tables[0].keepsRowState = true
    #expect(first.run().exitCode == 0)
    let plain = Database(database)
    try plain.rows("INSERT INTO feed VALUES (8, 8)")
    _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
    let summary = job("crm.csv", owner: "crm").run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 1, "\(message(summary))")
    #expect(try plain.rows("SELECT id FROM feed") == ["1", "8"])
    #expect(try plain.rows("SELECT owned_by FROM upsurge_feeds") == ["'crm'"])
    #expect(try plain.rows("SELECT owned_by, key FROM upsurge_rows") == ["'crm'|'1'"])
  }

  @Test("A feed that has delivered since it was looked at has to be looked at again")
  func forgetMeanwhile() throws {
    _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
    #expect(job("crm.csv", owner: "crm").run().exitCode == 0)
    let removal = try FeedRemoval(database: database, table: "feed")
    _ = scratch.write("id,v\n8,8\n", to: "erp.csv")
    #expect(job("erp.csv", owner: "erp").run().exitCode == 0)
    #expect {
      try removal.perform()
    } throws: {
      ($0 as? UpsurgeError)?.message
        == "nothing is forgotten: the feeds of table feed have changed since it was looked at"
    }
    #expect(try FeedRemoval(database: database, table: "feed").perform().rowCount == 3)
  }

  @Test("Only rows that feeds have delivered are forgotten")
  func forget() throws {
    _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
    #expect(job("crm.csv", owner: "crm").run().exitCode == 0)
    let plain = Database(database)
    try plain.rows("INSERT INTO feed VALUES (8, 8)")
    let removal = try FeedRemoval(database: database, table: "FEED")
    #expect(removal.rowCount == 2 && removal.owners == ["crm"])
    #expect(try removal.perform(isTrial: true).rowCount == 2)
    #expect(try plain.rows("SELECT count(*) FROM feed") == ["3"])
    #expect(try removal.perform().rowCount == 2)
    #expect(try plain.rows("SELECT id FROM feed") == ["8"])
    #expect(
      try plain.rows("SELECT name FROM sqlite_schema WHERE name IN ('upsurge_rows', 'upsurge_feeds')") == [])
  }

  @Test("Without a sweep, and of a delta, the state follows the rows")
  func stateAlone() throws {
    var job = job("crm.csv", owner: nil)
    job.tables[0].sweep = .none
    job.tables[0].keepsRowState = true
    job.tables[0].kind = .delta
    job.tables[0].options.rules.tombstone = Tombstone(column: "op", value: "D")
    _ = scratch.write("id,v,op\n1,1,U\n2,1,U\n3,1,U\n", to: "crm.csv")
    let first = job.run()
    #expect(first.exitCode == 0, "\(message(first))")
    _ = scratch.write("id,v,op\n2,2,U\n3,,D\n", to: "crm.csv")
    let second = job.run()
    #expect(second.exitCode == 0, "\(message(second))")
    let plain = Database(database)
    #expect(
      try plain.rows("SELECT key, owned_by, run, gone FROM upsurge_rows") == ["'1'|''|1|0", "'2'|''|2|0"])
    // Numbers of runs that are no more are not given again.
    try plain.rows("DELETE FROM upsurge_runs")
    _ = scratch.write("id,v,op\n1,3,U\n", to: "crm.csv")
    #expect(job.run().exitCode == 0)
    #expect(try plain.rows("SELECT key, run FROM upsurge_rows") == ["'1'|3", "'2'|2"])
    // A trial leaves nothing.
    let before = try plain.rows("SELECT * FROM upsurge_rows")
    _ = scratch.write("id,v,op\n7,3,U\n", to: "crm.csv")
    job.dryRun = .count
    #expect(job.run().ledger.inserted == 1)
    #expect(try plain.rows("SELECT * FROM upsurge_rows") == before)
  }

  @Test("Secrets of a source are in no name that is stored")
  func secrets() throws {
    let path = scratch.write("id,v\n1,1\n", to: "crm.csv")
    var job = job("crm.csv", owner: "crm")
    job.tables[0].sources = [Source(path, shown: "${env:PLACE}")]
    #expect(job.run().exitCode == 0)
    #expect(try Database(database).rows("SELECT source FROM upsurge_rows") == ["'${env:PLACE}'"])
    #expect(path.contains("crm.csv"))
  }

  @Test(
    "Killed at any moment, every row has its note and every note its row", arguments: ["table", "bounded"])
  func kill(atomic: String) throws {
    let path = scratch.write(
      """
      atomic: \(atomic)
      tables:
        feed: { source: crm.csv, key: id, sweep: hard, owned-by: crm, commit-every: 2000, guards: { max-delete: 50% } }
      """, to: "job.yaml")
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let plain = Database(database)
    var kills = 0
    for night in 0..<20 where night < 2 || kills == 0 {
      let ids = (0..<10_000).filter { ($0 + night) % 10 != 0 }
      _ = scratch.write("id,v\n" + ids.map { "\($0),\($0 % 7 == 0 ? night : 0)\n" }.joined(), to: "crm.csv")
      let length = try Command.length(of: ["mirror", scratch.file("timed.db"), path])
      for _ in 0..<2 {
        let child = try Command.start(["mirror", database, path])
        usleep(UInt32.random(in: 1_000...length, using: &random))
        child.send(signal: SIGKILL)
        if try child.finish().exitCode == 1_000 + SIGKILL { kills += 1 }
        try expectInStep(plain, "seed \(seed), night \(night)")
      }
      let last = try Command.run(["mirror", database, path])
      #expect(last.exitCode == 0, "seed \(seed), night \(night): \(last.talk)")
      try expectInStep(plain, "seed \(seed), night \(night)")
      #expect(try plain.rows("SELECT count(*) FROM feed") == ["\(ids.count)"], "seed \(seed), night \(night)")
      #expect(try plain.rows("SELECT sum(gone) FROM upsurge_rows") == ["0"], "seed \(seed), night \(night)")
    }
    #expect(kills > 0)
  }

  @Test("A run that is killed behind its first commit keeps the notes of the table that it has made")
  func killedInNewTable() throws {
    let count = 20_000
    _ = scratch.write("id,v\n" + (0..<count).map { "\($0),\($0)\n" }.joined(), to: "crm.csv")
    let path = scratch.write(
      """
      atomic: bounded
      tables: { feed: { source: crm.csv, key: id, sweep: hard, owned-by: crm, commit-every: 500 } }
      """, to: "job.yaml")
    let plain = Database(database)
    let child = try Command.start(["mirror", database, path])
    // The database that is being made may be locked, or not be there.
    while child.isRunning, (try? hasRows(plain)) != true { usleep(1_000) }
    child.send(signal: SIGKILL)
    #expect(try child.finish().exitCode == 1_000 + SIGKILL)
    #expect(try hasRows(plain))
    try expectInStep(plain, "killed")
    let last = try Command.run(["mirror", database, path])
    #expect(last.exitCode == 0 && last.talk.contains("goes on where a run"), "\(last.talk)")
    try expectInStep(plain, "ended")
    #expect(try plain.rows("SELECT count(*) FROM feed") == ["\(count)"])
  }

  private func hasRows(_ database: Database) throws -> Bool {
    if access(self.database, F_OK) != 0 { return false }
    if try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 'feed'").isEmpty { return false }
    return try database.rows("SELECT EXISTS(SELECT 1 FROM feed)") == ["1"]
  }

  private func expectInStep(_ database: Database, _ words: String) throws {
    if try database.rows("SELECT 1 FROM sqlite_schema WHERE name IN ('feed', 'upsurge_rows')").count < 2 {
      return
    }
    let equal = """
      SELECT (SELECT count(*) FROM feed), (SELECT count(*) FROM upsurge_rows), (SELECT count(*) FROM feed JOIN upsurge_rows
        ON "table" = 'feed' AND key = quote(id))
      """
    let counts = try database.rows(equal)[0].split(separator: "|")
    #expect(Set(counts).count == 1, "\(words): \(counts)")
  }
}
