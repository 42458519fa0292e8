import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Computed columns and a filter of a feed, and what becomes of rows when they change.
@Suite("Mirrors of a feed whose records are shaped") struct ShapedMirrorTests {
  let scratch = Scratch()

  private func job(_ text: String, where filter: String?, lets: [(String, String)] = []) -> MirrorJob {
    var table = MirrorTable(name: "t", sources: [scratch.write(text, to: "feed.csv")])
    table.options.rules.key = ["id"]
    table.options.input.filter = filter
    table.options.table.computedColumns = lets.map { LoadOptions.ComputedColumn($0, $1) }
    table.sweep = .hard
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func rows() throws -> [String] {
    try Database(scratch.file("a.db")).rows("SELECT * FROM t ORDER BY id")
  }

  private static let feed = "id,kind\n1,A\n2,B\n3,A\n4,B\n"

  @Test("Rows that only the filter leaves out are swept when it is confirmed, and no sooner")
  func filter() throws {
    #expect(job(Self.feed, where: nil).run().exitCode == 0)
    for _ in 1...2 {
      let refused = job(Self.feed, where: "kind = 'A'").run()
      #expect(refused.exitCode == 4)
      #expect(
        refused.tables[0].failure?.message.contains("where kind = 'A' (was none)") == true,
        "\(refused.tables[0].failure?.message ?? "")")
      #expect(refused.tables[0].failure?.hint?.contains("--accept-change") == true)
      #expect(try rows() == ["1|'A'", "2|'B'", "3|'A'", "4|'B'"])
    }
    var confirmed = job(Self.feed, where: "kind = 'A'")
    confirmed.acceptsChanges = true
    let summary = confirmed.run()
    #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
    #expect(summary.tables[0].ledger.filtered == 2 && summary.tables[0].ledger.swept == 2)
    #expect(try rows() == ["1|'A'", "3|'A'"])
    // The same SQL is the feed's own from now on.
    let next = job(Self.feed + "5,A\n6,B\n", where: "kind = 'A'").run()
    #expect(next.exitCode == 0 && next.tables[0].ledger.inserted == 1)
    #expect(
      job(Self.feed, where: nil).run().tables[0].failure?.message.contains("where none (was kind = 'A')")
        == true)
    #expect(try rows() == ["1|'A'", "3|'A'", "5|'A'"])
  }

  @Test("Other SQL of a computed column is another feed, also where the file is the same")
  func computed() throws {
    #expect(job(Self.feed, where: nil, lets: [("n", "id * 2")]).run().exitCode == 0)
    #expect(job(Self.feed, where: nil, lets: [("n", "id * 2")]).run().exitCode == 0)
    var other = job(Self.feed, where: nil, lets: [("n", "id * 3")])
    #expect(other.run().exitCode == 4)
    #expect(try rows()[0] == "1|'A'|2")
    other.acceptsChanges = true
    #expect(other.run().exitCode == 0)
    #expect(try rows()[0] == "1|'A'|3")
  }

  @Test("Guards count the records that are left")
  func guards() throws {
    var job = job(Self.feed, where: "kind = 'A'")
    job.tables[0].guards.leastRows = 3
    let summary = job.run()
    #expect(summary.exitCode == 4)
    #expect(
      summary.tables[0].failure?.message.contains("2 records") == true,
      "\(summary.tables[0].failure?.message ?? "")")
    var all = self.job(Self.feed, where: "kind IN ('A', 'B')")
    all.tables[0].guards.leastRows = 3
    all.acceptsChanges = true
    #expect(all.run().exitCode == 0)
  }

  @Test("A delivery of which the filter leaves nothing is refused, and the counts are said")
  func nothing() throws {
    #expect(job(Self.feed, where: "kind = 'A'").run().exitCode == 0)
    let refused = job("id,kind\n5,B\n6,B\n", where: "kind = 'A'").run()
    let message = refused.tables[0].failure?.message ?? ""
    #expect(refused.exitCode == 4 && message.contains("2 of 2 were filtered"), "\(message)")
    #expect(try rows() == ["1|'A'", "3|'A'"])
  }

  @Test("What each refusal of another filter says works by itself, and what the table holds is said")
  func steps() throws {
    let text = "id,kind\n" + (1...100).map { "\($0),\($0 <= 90 ? "A" : "B")\n" }.joined()
    func job(_ kind: String) -> MirrorJob {
      var job = self.job(text, where: "kind = '\(kind)'")
      job.tables[0].guards.maximumDeletes = .percent(10)
      return job
    }
    #expect(job("A").run().exitCode == 0)
    #expect(job("B").run().tables[0].failure?.hint?.contains("--accept-change") == true)
    #expect(try rows().count == 90, "nothing was stored")
    var accepting = job("B")
    accepting.acceptsChanges = true
    let notes = RunNotes()
    let refused = accepting.run(note: { notes.add($0.text) })
    #expect(refused.exitCode == 4 && refused.ledger.swept == 0)
    #expect(
      notes.all.contains {
        $0.contains(
          "table t holds rows of both feeds: none of the former one's has gone, and 10 rows of this delivery were stored"
        )
      },
      "\(notes.all)")
    let digest = try #require(refused.tables[0].loads.last?.acceptance.refusedDigest)
    #expect(refused.tables[0].failure?.hint?.contains("--accept-delivery \(digest) lets this one") == true)
    var accepted = job("B")
    accepted.acceptedDelivery = digest
    #expect(accepted.run().exitCode == 0)
    #expect(try Database(scratch.file("a.db")).rows("SELECT kind, count(*) FROM t GROUP BY 1") == ["'B'|10"])
  }

  @Test("A digest that no guard was asked about is not said to be unknown") func unjudged() throws {
    #expect(job(Self.feed, where: nil).run().exitCode == 0)
    var other = job(Self.feed, where: "kind = 'A'")
    other.acceptedDelivery = "0123456789abcdef"
    let notes = RunNotes()
    #expect(other.run(note: { notes.add($0.text) }).exitCode == 4)
    #expect(
      notes.all.contains {
        $0.contains("has accepted nothing: table t was stopped before its delivery was judged")
      }, "\(notes.all)")
    #expect(!notes.all.contains { $0.contains("no delivery of this run") })
  }

  @Test("Texts that are NULL, and fields that are left out, make another feed of it", arguments: [0, 1, 2])
  func others(change: Int) throws {
    #expect(job(Self.feed, where: nil).run().exitCode == 0)
    var other = job(Self.feed, where: nil)
    switch change {
    case 0: other.tables[0].options.input.csv.nullSpellings = [Array("A".utf8)]
    case 1: other.tables[0].options.table.columns = ["id"]
    default: other.tables[0].options.input.csv.quotedEmpty = .text
    }
    for _ in 1...2 { #expect(other.run().exitCode == 4) }
    #expect(try rows() == ["1|'A'", "2|'B'", "3|'A'", "4|'B'"])
    other.acceptsChanges = true
    #expect(other.run().exitCode == 0)
    other.acceptsChanges = false
    #expect(other.run().exitCode == 0)
    #expect(try rows()[0] == (change == 0 ? "1|NULL" : "1|'A'"))
    // An earlier version has noted nothing of this: its feed goes on.
    try Database(scratch.file("a.db")).rows("UPDATE upsurge_feeds SET feed = json_remove(feed, '$.records')")
    var third = job(Self.feed + "5,A\n", where: nil)
    third.tables[0].options.table.columns = ["id"]
    #expect(third.run().exitCode == 0)
  }
}
