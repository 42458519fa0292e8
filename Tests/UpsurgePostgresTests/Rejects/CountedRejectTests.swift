import PostgresSupport
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// Bad records that a snapshot brings to a server night after night.
@Suite(
  "Bad records that come each night",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct CountedRejectTests {
  private let stores: TwoStores

  init() throws {
    let ddl = "CREATE TABLE t (id bigint PRIMARY KEY, n integer"
    stores = try TwoStores("\(ddl)) STRICT".replacing("bigint", with: "INTEGER"), server: "\(ddl))")
  }

  private func night(
    _ text: String, in database: String? = nil, _ change: (inout MirrorTable) -> Void = { _ in }
  ) -> [MirrorSummary] {
    let feed = stores.scratch.write(text, to: "feed.csv")
    let databases = database.map { [$0] } ?? TwoStores.Store.allCases.map(stores.database)
    return databases.map { database in
      var table = MirrorTable(name: "t", sources: [feed])
      table.options.rules.key = ["id"]
      (table.options.rejects.onError, table.options.rejects.target) = (.reject, .table)
      table.sweep = .hard
      table.guards.maximumDeletes = .percent(100)
      change(&table)
      return MirrorJob(database: database, tables: [table]).run()
    }
  }

  private static let kept = "SELECT raw, count, line FROM upsurge_rejects ORDER BY id"

  /// Both stores keep the same rows.
  private func expectKept(_ rows: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
    for store in TwoStores.Store.allCases {
      #expect(try stores.rows(Self.kept, store) == rows, "\(store)", sourceLocation: sourceLocation)
    }
  }

  @Test(
    "A record is one row, which counts its deliveries; two equal lines are two rows",
    arguments: [RowSweep.hard, .none])
  func counted(sweep: RowSweep) throws {
    let texts = ["id,n\n1,5\n2,two\n2,two\n", "id,n\n1,6\n2,two\n2,two\n3,x\n", "id,n\n1,7\n9,9\n2,two\n"]
    let expected = [
      ["'2,two'|1|3", "'2,two'|1|4"], ["'2,two'|2|3", "'2,two'|2|4", "'3,x'|1|5"],
      ["'2,two'|3|4", "'2,two'|2|4", "'3,x'|1|5"],
    ]
    for (text, rows) in zip(texts, expected) {
      let done = night(text) { $0.sweep = sweep }
      #expect(done.allSatisfy { $0.exitCode == 2 })
      try expectKept(rows)
    }
    // A replay takes them out, and what comes again begins anew.
    try stores.change(
      "UPDATE upsurge_rejects SET raw = '4,4' WHERE raw = '3,x'; DELETE FROM upsurge_rejects WHERE raw <> '4,4'"
    )
    for store in TwoStores.Store.allCases {
      #expect(try stores.replay(store).summary.ledger.inserted == 1, "\(store)")
    }
    _ = night("id,n\n1,8\n2,two\n") { $0.sweep = sweep }
    try expectKept(["'2,two'|1|3"])
  }

  @Test("Transactions of a few records count as one delivery")
  func parts() throws {
    let lines = (0..<40).map { $0 % 3 == 0 ? "\($0),bad\n" : "\($0),\($0)\n" }.joined()
    for count in 1...3 {
      let feed = stores.scratch.write("id,n\n\(lines)\(100 + count),1\n", to: "feed.csv")
      var table = MirrorTable(name: "t", sources: [feed])
      table.options.rules.key = ["id"]
      (table.options.rejects.onError, table.options.rejects.target) = (.reject, .table)
      table.options.transaction.commitEvery = .records(3)
      var job = MirrorJob(database: stores.url, tables: [table])
      job.atomicity = .bounded
      #expect(job.run().exitCode == 2)
      #expect(
        try stores.rows(
          "SELECT count(*) AS n, min(count) AS least, max(count) AS most FROM upsurge_rejects", .postgres)
          == ["14|\(count)|\(count)"])
    }
  }

  @Test("A table of an earlier version gets the columns, and a role that may only insert keeps records anew")
  func earlierAndPoor() throws {
    #expect(night("id,n\n1,x\n").allSatisfy { $0.exitCode == 2 })
    try stores.server.psql(
      "ALTER TABLE upsurge_rejects DROP COLUMN count, DROP COLUMN last_at, DROP COLUMN raw_hash, DROP COLUMN delivery",
      in: stores.url)
    for text in ["id,n\n1,x\n2,2\n", "id,n\n1,x\n3,3\n"] {
      #expect(night(text, in: stores.url)[0].exitCode == 2)
    }
    #expect(
      try stores.rows("SELECT raw, count FROM upsurge_rejects ORDER BY id", .postgres) == [
        "'1,x'|1", "'1,x'|2",
      ])
    let role = "poor_\(UInt32.random(in: 0 ..< .max))"
    try stores.server.psql(
      """
      CREATE ROLE \(role) LOGIN; GRANT CREATE ON SCHEMA public TO \(role); GRANT ALL ON ALL TABLES IN SCHEMA public TO \(role);
      GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO \(role); REVOKE SELECT, UPDATE ON upsurge_rejects FROM \(role)
      """, in: stores.url)
    let poor = stores.url.replacing("user=\(PostgresServer.user)", with: "user=\(role)")
    #expect(night("id,n\n1,x\n4,4\n", in: poor)[0].exitCode == 2)
    #expect(
      try stores.rows("SELECT raw, count FROM upsurge_rejects ORDER BY id", .postgres) == [
        "'1,x'|1", "'1,x'|2", "'1,x'|1",
      ])
  }
}
