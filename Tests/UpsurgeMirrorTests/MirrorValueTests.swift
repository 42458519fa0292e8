import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Feeds whose values are written in their own way.
@Suite("Mirrors with formats of values") struct MirrorValueTests {
  let scratch = Scratch()

  private func job(_ format: String, accepts: Bool = false) -> MirrorJob {
    var table = MirrorTable(name: "t", sources: [scratch.file("feed.csv")])
    table.sweep = .hard
    table.options.rules.key = ["id"]
    table.options.input.values.dates = ["day": format]
    var job = MirrorJob(database: scratch.file("a.db"), tables: [table])
    job.acceptsChanges = accepts
    return job
  }

  private func rows() throws -> [String] {
    try Database(scratch.file("a.db")).rows("SELECT * FROM t ORDER BY id LIMIT 2")
  }

  @Test("Another format is another feed: refused until it is accepted, and then all rows are read anew")
  func otherFormat() throws {
    let text = "id,day\n" + (1...30_000).map { "\($0),1/2/2024\n" }.joined()
    _ = scratch.write(text, to: "feed.csv")
    #expect(job("%d/%m/%Y").run().exitCode == 0)
    #expect(try rows() == ["1|'2024-02-01'", "2|'2024-02-01'"])
    // The same file again: nothing is read, as long as the format is the same.
    #expect(job("%d/%m/%Y").run().ledger.read == 0)
    let refused = job("%m/%d/%Y").run()
    #expect(refused.exitCode == 4)
    #expect(
      refused.tables[0].error?.message
        == "the feed of table t has changed: date day=%m/%d/%Y (was date day=%d/%m/%Y)",
      "\(refused.tables[0].error?.message ?? "")")
    #expect(try rows() == ["1|'2024-02-01'", "2|'2024-02-01'"])
    let accepted = job("%m/%d/%Y", accepts: true).run()
    #expect(
      accepted.exitCode == 0 && accepted.ledger.updated == 30_000,
      "\(accepted.tables[0].error?.message ?? "")")
    #expect(try rows() == ["1|'2024-01-02'", "2|'2024-01-02'"])
    // From now on it is the feed.
    _ = scratch.write(text + "30001,3/4/2024\n", to: "feed.csv")
    let next = job("%m/%d/%Y").run()
    #expect(
      next.exitCode == 0 && next.ledger.inserted == 1 && next.ledger.updated == 0 && next.ledger.swept == 0)
    #expect(try Database(scratch.file("a.db")).rows("SELECT day FROM t WHERE id = 30001") == ["'2024-03-04'"])
  }

  @Test("A value that does not fit is a reject as any other, also for the sweep")
  func misfit() throws {
    _ = scratch.write("id,day\n1,1/2/2024\n2,2/2/2024\n", to: "feed.csv")
    #expect(job("%d/%m/%Y").run().exitCode == 0)
    _ = scratch.write("id,day\n1,1/2/2024\n2,31/2/2024\n", to: "feed.csv")
    let summary = job("%d/%m/%Y").run()
    #expect(summary.ledger.rejected == 1)
    let plain = scratch.file("plain.csv")
    // As a record that is rejected for another reason.
    var table = MirrorTable(name: "u", sources: [plain])
    table.sweep = .hard
    table.options.rules.key = ["id"]
    _ = scratch.write("id,day\n1,x\n2,y\n", to: "plain.csv")
    #expect(MirrorJob(database: scratch.file("a.db"), tables: [table]).run().exitCode == 0)
    _ = scratch.write("id,day\n1,x\n2\n", to: "plain.csv")
    let other = MirrorJob(database: scratch.file("a.db"), tables: [table]).run()
    #expect(other.exitCode == summary.exitCode && other.ledger.swept == summary.ledger.swept)
  }
}
