import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// Mirrors whose deliveries come over several connections.
@Suite(
  "Mirrors over several connections",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SeveralMirrorTests {
  let scratch = Scratch()
  let server: PostgresServer

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
  }

  private func table(_ name: String, _ text: String, connections: Int) -> MirrorTable {
    var table = MirrorTable(name: name, sources: [scratch.write(text, to: "\(name).csv")])
    table.options.rules.key = ["id"]
    (table.options.rejects.onError, table.options.rejects.target) = (.reject, .table)
    table.options.transaction.connections = connections
    table.options.transaction.commitEvery = .records(7)
    table.options.tuning.batchSizes.recordCount = 5
    return table
  }

  private func job(_ url: String, _ tables: [MirrorTable], _ atomicity: MirrorJob.Atomicity = .bounded)
    -> MirrorJob
  {
    var job = MirrorJob(database: url, tables: tables)
    job.atomicity = atomicity
    return job
  }

  private func words(_ summary: MirrorSummary) -> String {
    (summary.error ?? summary.tables.first?.failure)?.description ?? "no failure"
  }

  @Test(
    "Nights without a sweep leave what one connection leaves", arguments: [MirrorTable.Kind.snapshot, .delta])
  func nights(kind: MirrorTable.Kind) throws {
    let urls = [1: try server.freshDatabase(), 3: try server.freshDatabase()]
    for url in urls.values {
      try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 90), v text)", in: url)
    }
    var rejectedCount: UInt64 = 0
    for night in 0..<4 {
      let lines = (0..<120).map { record in
        let id = (record * 7 + night * 11) % 90
        return
          "\(id),\(record % 13 == 4 ? "95" : record % 17 == 2 ? "x" : "\(record % 60)"),night \(night / 2)\n"
      }
      var found: [Int: [String]] = [:]
      for (connections, url) in urls {
        var table = table("t", "id,n,v\n" + lines.joined(), connections: connections)
        table.kind = kind
        let summary = job(url, [table]).run()
        #expect([0, 2].contains(summary.exitCode), "night \(night), \(connections): \(words(summary))")
        rejectedCount += summary.ledger.rejected
        found[connections] =
          ["\(summary.exitCode) \(summary.ledger)"]
          + (try server.rows("SELECT * FROM t ORDER BY id", in: url))
          + (try server.rows(
            "SELECT record, line, code, raw, count FROM upsurge_rejects ORDER BY id", in: url))
      }
      #expect(found[1] == found[3], "night \(night)")
    }
    #expect(rejectedCount > 20)
    #expect(try server.rows("SELECT count(*) AS n FROM upsurge_connections", in: urls[3]!) == ["0"])
  }

  @Test("Tables that refer to each other come over several connections, parents first")
  func tables() throws {
    let url = try server.freshDatabase()
    try server.psql(
      "CREATE TABLE a (id bigint PRIMARY KEY); CREATE TABLE b (id bigint PRIMARY KEY, up bigint REFERENCES a)",
      in: url)
    let parents = "id\n" + (1...60).map { "\($0)\n" }.joined()
    let children = "id,up\n" + (1...60).map { "\($0),\(61 - $0)\n" }.joined()
    let summary = job(url, [table("b", children, connections: 4), table("a", parents, connections: 4)]).run()
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 120, "\(words(summary))")
    #expect(try server.rows("SELECT sum(up) AS n FROM b", in: url) == ["\(61 * 30)"])
  }

  @Test("A delivery that is one transaction refuses several connections, before any table is looked at")
  func refusals() throws {
    let url = try server.freshDatabase()
    for (atomicity, database) in [
      (MirrorJob.Atomicity.table, url), (.job, url), (.bounded, scratch.file("shop.db")),
    ] {
      let tables = [table("a", "id\n1\n", connections: 1), table("b", "id\n1\n", connections: 4)]
      let summary = job(database, tables, atomicity).run()
      #expect(
        summary.exitCode == 64 && words(summary).contains("table b: --connections 4"), "\(words(summary))")
      #expect(summary.tables.isEmpty)
    }
    #expect(
      try server.rows(
        "SELECT count(*) AS n FROM pg_class WHERE relname IN ('a', 'b') OR relname LIKE 'upsurge%'", in: url)
        == ["0"])
    let noting: [(String, (inout MirrorTable) -> Void)] = [
      ("owned-by", { ($0.ownedBy, $0.sweep) = ("crm", .hard) }), ("row-state", { $0.keepsRowState = true }),
      ("local-edits", { $0.localEdits = .keep }),
    ]
    for (key, change) in noting {
      var noted = table("t", "id\n1\n", connections: 4)
      change(&noted)
      for atomicity in [MirrorJob.Atomicity.table, .bounded] {
        let summary = job(url, [noted], atomicity).run()
        #expect(
          summary.exitCode == 64 && summary.error?.hint == "leave out --connections, or \(key)",
          "\(words(summary))"
        )
      }
      noted.options.transaction.connections = 1
      let bounded = job(url, [noted], .bounded).run()
      let first = key == "owned-by" ? "sweep" : key
      #expect(bounded.error?.hint == "leave out atomic, or \(first)", "\(words(bounded))")
    }
    #expect(try server.rows("SELECT to_regclass('t') IS NULL AS n", in: url) == ["true"])
    var swept = table("t", "id\n1\n", connections: 4)
    swept.sweep = .hard
    #expect(job(url, [swept]).run().exitCode == 64)
    #expect(job(url, [swept], .table).run().exitCode == 64)
    swept.options.transaction.connections = 1
    #expect(job(url, [swept], .table).run().exitCode == 0)
  }
}
