import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Past runs go, the newest stay, and nothing else is touched.
@Suite("Retention of past runs") struct RunRetentionTests {
  let scratch = Scratch()

  private func job(keeping count: UInt64?) -> MirrorJob {
    let tables = ["Feed", "other"].map { name in
      var table = MirrorTable(name: name, sources: [scratch.file("\(name).csv")])
      table.options.rules.key = ["id"]
      table.options.rejects.onError = .reject
      table.unattended.keptRunCount = count
      return table
    }
    return MirrorJob(database: scratch.file("a.db"), tables: tables)
  }

  /// Brings a delivery that nobody has seen before.
  private func deliver(_ night: Int, to names: [String]) {
    for name in names { _ = scratch.write("id,v\n1,\(night)\n", to: "\(name).csv") }
  }

  @Test("The newest runs of each table stay", arguments: [1, 3, nil] as [UInt64?])
  func newest(count: UInt64?) throws {
    let job = job(keeping: count)
    for night in 1...7 {
      deliver(night, to: night > 5 ? ["Feed"] : ["Feed", "other"])
      #expect(job.run().exitCode == 0)
    }
    let database = Database(job.database)
    for (name, nights) in [("Feed", 7), ("other", 5)] {
      let kept = try database.rows(
        "SELECT progress ->> 'read', exit_code FROM upsurge_runs WHERE \"table\" = '\(name)' AND state = 'done'"
      )
      #expect(kept == Array(repeating: "1|0", count: min(Int(count ?? 100), nights)), "\(name)")
    }
    // They are the newest ones.
    let runs = try PastRun.all(database: job.database)
    #expect(
      runs.map(\.id).max()
        == (try database.rows("SELECT max(run) FROM upsurge_runs").first.flatMap { Int64($0) }))
    #expect(try database.rows("SELECT v FROM Feed") == ["7"])
  }

  @Test("What has not ended, was not seen or is of another table stays, as do records that wait")
  func others() throws {
    let job = job(keeping: 2)
    deliver(0, to: ["Feed", "other"])
    #expect(job.run().exitCode == 0)
    let database = Database(job.database)
    // Of jobs that are not this one: stopped, not seen, and of another table.
    for (state, table) in [("running", "feed"), ("complete", "feed"), ("done", "third")] {
      for _ in 1...3 {
        try database.rows(
          """
          INSERT INTO upsurge_runs SELECT NULL, '\(state)', '\(table)', replace(job, '"sources":["', '"sources":["/x'), files,
            'gone', started_at, updated_at, position, progress, NULL FROM upsurge_runs WHERE "table" = 'Feed' AND state = 'done' LIMIT 1
          """)
      }
    }
    var jobOfOne = job
    jobOfOne.tables.removeLast()
    jobOfOne.tables[0].options.rejects.target = .table
    for night in 1...4 {
      _ = scratch.write("id,v\n1,\(night)\n2\n", to: "Feed.csv")
      #expect(jobOfOne.run().exitCode == 2)
    }
    #expect(
      try database.rows(
        "SELECT lower(\"table\"), state, count(*) FROM upsurge_runs GROUP BY 1, 2 ORDER BY 1, 2") == [
          "'feed'|'complete'|3", "'feed'|'done'|2", "'feed'|'running'|3", "'other'|'done'|1",
          "'third'|'done'|3",
        ])
    // The same bad record each night.
    #expect(try database.rows("SELECT count, raw FROM upsurge_rejects") == ["4|'2'"])
  }

  @Test("A ledger that is shown after a kill is noted under the same rule")
  func unseen() throws {
    var job = job(keeping: 2)
    job.tables.removeLast()
    for night in 1...5 {
      deliver(night, to: ["Feed"])
      // Nobody sees it, as if the process had been killed in front of that.
      #expect(job.run(report: { _ in false }).ledger.read == 1)
      let again = job.run()
      #expect(again.ledger.read == 1 && again.exitCode == 0)
    }
    #expect(
      try Database(job.database).rows("SELECT state, count(*) FROM upsurge_runs GROUP BY 1") == ["'done'|2"])
  }
}
