import Foundation
import Synchronization
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Deliveries that come back behind one of which only a part is in the table.
@Suite("Mirrors behind a delivery that was refused") struct RefusedDeliveryTests {
  let scratch = Scratch()

  private static let rows = (0..<600).map { "\($0)|'value \($0)'" }
  private static let good = "id,v\n" + (0..<600).map { "\($0),value \($0)\n" }.joined()
  /// Half of the records are gone, the others changed, and one is new: the rows that are gone stay.
  private static let refused = "id,v\n" + (0..<300).map { "\($0),other\n" }.joined() + "9000,new\n"

  private func job(_ source: String) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [source])
    table.options.rules.key = ["id"]
    table.sweep = .hard
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func rows() throws -> [String] {
    try Database(scratch.file("a.db")).rows("SELECT id, v FROM feed ORDER BY id")
  }

  /// Whether a run has brought the table back to the good delivery.
  private func expectMended(_ summary: MirrorSummary, _ words: String = "") throws {
    let failure = summary.tables[0].failure?.description ?? ""
    #expect(summary.exitCode == 0, "\(words) \(failure)")
    #expect(summary.ledger.updated == 300 && summary.ledger.swept == 1, "\(words)")
    #expect(try rows() == Self.rows, "\(words)")
  }

  private func expectUnchanged(_ job: MirrorJob) {
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.tables[0].loads.isEmpty)
  }

  @Test(
    "A file that comes back is read, and the table is what it says",
    arguments: [MirrorJob.Atomicity.table, .bounded, .job], [false, true])
  func file(atomicity: MirrorJob.Atomicity, isChunked: Bool) throws {
    var job = job(scratch.write(Self.good, to: "feed.csv"))
    job.atomicity = atomicity
    if isChunked {
      (job.tables[0].options.tuning.chunkSizes.usual, job.tables[0].options.tuning.chunkSizes.least) = (
        500, 100
      )
    }
    #expect(job.run().exitCode == 0)
    expectUnchanged(job)
    _ = scratch.write(Self.refused, to: "feed.csv")
    #expect(job.run().exitCode == 4)
    #expect(try rows().count == 601)
    _ = scratch.write(Self.good, to: "feed.csv")
    // A trial forgets nothing.
    job.dryRun = .count
    #expect(job.run().ledger.updated == 300)
    job.dryRun = nil
    try expectMended(job.run())
    expectUnchanged(job)
  }

  @Test("One that was refused and has left nothing is forgotten")
  func nothing() throws {
    let job = job(scratch.write(Self.good, to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,v\n", to: "feed.csv")
    #expect(job.run().exitCode == 4)
    _ = scratch.write(Self.good, to: "feed.csv")
    expectUnchanged(job)
    #expect(try rows() == Self.rows)
  }

  @Test("A server is not asked whether what it had before has changed")
  func url() throws {
    let version = Atomic<Int>(1)
    let server = try HTTPTestServer { request in
      let isGood = version.load(ordering: .relaxed) == 1
      let tag = isGood ? "\"good\"" : "\"refused\""
      if request.headers["if-none-match"] == tag {
        return HTTPTestServer.status("304 Not Modified", ["ETag: \(tag)"])
      }
      return HTTPTestServer.whole(Array((isGood ? Self.good : Self.refused).utf8), headers: ["ETag: \(tag)"])
    }
    let job = job(server.url())
    #expect(job.run().exitCode == 0)
    expectUnchanged(job)
    version.store(2, ordering: .relaxed)
    #expect(job.run().exitCode == 4)
    version.store(1, ordering: .relaxed)
    try expectMended(job.run())
    expectUnchanged(job)
  }

  @Test(
    "Of a folder, the last file is taken again when the refused one is gone, as long as it is there",
    arguments: [false, true])
  func folder(isDeleted: Bool) throws {
    try FileManager.default.createDirectory(atPath: scratch.file("drop"), withIntermediateDirectories: true)
    var job = job(scratch.file("drop"))
    job.tables[0].folder.done = isDeleted ? .delete : .leave
    _ = scratch.write(Self.good, to: "drop/1.csv")
    #expect(job.run().exitCode == 0)
    let refused = scratch.write(Self.refused, to: "drop/2.csv")
    for _ in 0..<2 { #expect(job.run().exitCode == 4) }
    unlink(refused)
    if isDeleted {
      for _ in 0..<2 {
        let nobody = job.run()
        #expect(nobody.exitCode == 4 && nobody.tables[0].loads.isEmpty)
        let message = nobody.tables[0].failure?.message ?? ""
        #expect(
          message.hasPrefix("table feed holds records of ") && message.contains("/drop/2.csv, which was")
            && message.hasSuffix("/drop/1.csv, which would be taken again"), "\(message)")
      }
      let state = "SELECT failures, exit_code FROM upsurge_feeds"
      #expect(try Database(job.database).rows(state) == ["4|4"])
      _ = scratch.write(Self.good, to: "drop/3.csv")
    }
    try expectMended(job.run())
    expectUnchanged(job)
  }

  @Test("So it is behind one that failed behind a commit, also where its run was forgotten")
  func failed() throws {
    var job = job(scratch.write(Self.good, to: "feed.csv"))
    job.atomicity = .bounded
    job.tables[0].options.transaction.commitEvery = .records(100)
    job.tables[0].options.rejects.onError = .stop
    #expect(job.run().exitCode == 0)
    let lines = (0..<600).map { $0 == 450 ? "\($0),one,too many\n" : "\($0),other\n" }
    _ = scratch.write("id,v\n" + lines.joined(), to: "feed.csv")
    #expect(job.run().exitCode == 3)
    let database = Database(job.database)
    #expect(try database.rows("SELECT count(*) >= 300 FROM feed WHERE v = 'other'") == ["1"])
    try database.rows("DELETE FROM upsurge_runs")
    _ = scratch.write(Self.good, to: "feed.csv")
    let mended = job.run()
    #expect(mended.exitCode == 0 && mended.ledger.updated >= 300, "\(mended.exitCode)")
    #expect(try rows() == Self.rows)
    expectUnchanged(job)
  }

  @Test("So it is where the refusal could not be noted")
  func unnoted() throws {
    let job = job(scratch.write(Self.good, to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    let database = Database(job.database)
    try database.rows(
      "CREATE TRIGGER no BEFORE UPDATE ON upsurge_feeds BEGIN SELECT RAISE(ABORT, 'not now'); END")
    _ = scratch.write(Self.refused, to: "feed.csv")
    let notes = RunNotes()
    #expect(job.run(note: { notes.add($0.text) }).exitCode == 4)
    #expect(notes.all.contains { $0.contains("could not be noted") }, "\(notes.all)")
    try database.rows("DROP TRIGGER no")
    _ = scratch.write(Self.good, to: "feed.csv")
    try expectMended(job.run())
    expectUnchanged(job)
  }

  @Test("A table of feeds that an earlier version has made gets what it lacks")
  func earlierVersion() throws {
    let job = job(scratch.write(Self.good, to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    let database = Database(job.database)
    try database.rows("ALTER TABLE upsurge_feeds DROP COLUMN disturbed_by")
    expectUnchanged(job)
    _ = scratch.write(Self.refused, to: "feed.csv")
    #expect(job.run().exitCode == 4)
    #expect(
      try database.rows("SELECT disturbed_by LIKE '%/feed.csv' FROM upsurge_feeds") == ["1"])
    _ = scratch.write(Self.good, to: "feed.csv")
    try expectMended(job.run())
    #expect(try database.rows("SELECT disturbed_by IS NULL FROM upsurge_feeds") == ["1"])
  }
}
