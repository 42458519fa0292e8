import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Columns that leave a feed.
@Suite("Mirrors of a feed that loses columns") struct ColumnsGoneTests {
  let scratch = Scratch()

  private static let first = "id,tree,site\n1,alder,north\n2,birch,south\n"
  private static let second = "id,tree\n1,elm\n2,birch\n3,cedar\n"
  private static let jsonFirst = """
    {"id":1,"tree":"alder","site":"north"}
    {"id":2,"tree":"birch"}
    {"id":4,"tree":"yew","site":null}

    """
  private static let jsonSecond = #"{"id":1,"tree":"elm"}"# + "\n" + #"{"id":3,"tree":"cedar"}"# + "\n"

  private func job(_ source: String, sweep: RowSweep = .none) -> MirrorJob {
    var table = MirrorTable(name: "t", sources: [source])
    table.options.rules.key = ["id"]
    table.sweep = sweep
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func rows(_ columns: String = "id, tree, site") throws -> [String] {
    try Database(scratch.file("a.db")).rows("SELECT \(columns) FROM t ORDER BY id")
  }

  private func expectRefused(_ job: MirrorJob, _ column: String = "site", _ words: String = "") {
    let summary = job.run()
    #expect(summary.exitCode == 4, "\(words)")
    let message = summary.tables[0].failure?.message ?? ""
    #expect(message.contains("lacks") && message.contains(column), "\(words) \(message)")
    let hint = summary.tables[0].failure?.hint ?? ""
    #expect(hint.contains("--accept-change") && hint.contains("columns-gone"), "\(hint)")
  }

  static let forms: [(name: String, first: String, second: String)] = [
    ("feed.csv", first, second), ("feed.ndjson", jsonFirst, jsonSecond),
    (
      "feed.json", "[" + jsonFirst.split(separator: "\n").joined(separator: ",") + "]",
      "[" + jsonSecond.split(separator: "\n").joined(separator: ",") + "]"
    ),
  ]

  @Test(
    "A column that is gone is refused each time it comes, until it is accepted", arguments: forms,
    [MirrorJob.Atomicity.table, .bounded, .job])
  func refused(form: (name: String, first: String, second: String), atomicity: MirrorJob.Atomicity) throws {
    var job = job(scratch.write(form.first, to: form.name), sweep: .hard)
    job.atomicity = atomicity
    #expect(job.run().exitCode == 0)
    let before = try rows()
    _ = scratch.write(form.second, to: form.name)
    for night in 1...3 {
      expectRefused(job, "site", "\(form.name) \(night)")
      #expect(try Set(before).isSubset(of: rows()) || atomicity == .bounded)
    }
    job.acceptsChanges = true
    let accepted = job.run()
    #expect(accepted.exitCode == 0, "\(accepted.tables[0].failure?.description ?? "")")
    job.acceptsChanges = false
    #expect(try rows().contains("1|'elm'|'north'"))
    // It stays accepted.
    _ = scratch.write(form.second.replacingOccurrences(of: "cedar", with: "oak"), to: form.name)
    #expect(job.run().exitCode == 0)
    // The column comes back, and goes again.
    _ = scratch.write(form.first, to: form.name)
    #expect(job.run().exitCode == 0)
    _ = scratch.write(form.second, to: form.name)
    expectRefused(job)
  }

  @Test("What the job says becomes of them", arguments: forms, [MirrorTable.ColumnsGone.keep, .null])
  func policies(form: (name: String, first: String, second: String), policy: MirrorTable.ColumnsGone) throws {
    var job = job(scratch.write(form.first, to: form.name))
    job.tables[0].columnsGone = policy
    #expect(job.run().exitCode == 0)
    _ = scratch.write(form.second, to: form.name)
    let notes = RunNotes()
    let summary = job.run(note: { notes.add($0.text) })
    #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
    #expect(notes.all.contains { $0.contains("site") && $0.contains(policy == .keep ? "keep" : "NULL") })
    let rows = try rows()
    #expect(rows.first == (policy == .keep ? "1|'elm'|'north'" : "1|'elm'|NULL"))
    #expect(rows.contains("3|'cedar'|NULL"))
  }

  @Test("A column that is renamed is gone, too") func renamed() throws {
    var job = job(scratch.write(Self.first, to: "feed.csv"))
    job.tables[0].options.table.contract = .evolve
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,tree,place\n1,alder,north\n2,birch,south\n", to: "feed.csv")
    expectRefused(job)
    #expect(throws: (any Error).self) { try rows("place") }
  }

  @Test("Keys that only some records lack are there") func sparse() throws {
    let job = job(scratch.write(Self.jsonFirst, to: "feed.ndjson"))
    #expect(job.run().exitCode == 0)
    _ = scratch.write(Self.jsonSecond + #"{"id":9,"site":"west"}"# + "\n", to: "feed.ndjson")
    #expect(job.run().exitCode == 0)
  }

  @Test("JSON changes without a key are said, and taken") func delta() throws {
    var job = job(scratch.write(Self.jsonFirst, to: "1.ndjson"))
    job.tables[0].kind = .delta
    #expect(job.run().exitCode == 0)
    job.tables[0].sources = [Source(scratch.write(Self.jsonSecond, to: "1.ndjson"))]
    let notes = RunNotes()
    #expect(job.run(note: { notes.add($0.text) }).exitCode == 0)
    #expect(notes.all.contains { $0.contains("no record of this delivery has site") })
  }

  @Test("A job that leaves a column out, or fills it from another field, is refused until that is accepted")
  func edited() throws {
    let path = scratch.write(Self.first, to: "feed.csv")
    var job = job(path)
    func expectAccepted(_ words: String) {
      let refused = job.run()
      #expect(
        refused.exitCode == 4 && refused.tables[0].failure?.message.contains(words) == true,
        "\(refused.tables[0].failure?.message ?? "")")
      job.acceptsChanges = true
      #expect(job.run().exitCode == 0)
      job.acceptsChanges = false
      #expect(job.run().exitCode == 0)
    }
    #expect(job.run().exitCode == 0)
    job.tables[0].options.table.columns = ["id", "tree"]
    _ = scratch.write(Self.first + "5,oak,east\n", to: "feed.csv")
    expectAccepted("columns (leaves out site, where rows keep their values)")
    // What is not taken may go.
    _ = scratch.write(Self.second, to: "feed.csv")
    #expect(job.run().exitCode == 0)
    job.tables[0].options.table.columns = []
    #expect(job.run().exitCode == 0)
    job.tables[0].options.table.renames = ["tree": "site"]
    _ = scratch.write(Self.second + "7,ash\n", to: "feed.csv")
    expectAccepted("rename tree=site (was none)")
    #expect(try rows("site").last == "'ash'")
  }

  @Test("A column that a field of another name fills is not gone", arguments: [false, true])
  func filled(isJSON: Bool) throws {
    let name = isJSON ? "feed.ndjson" : "feed.csv"
    var job = job(
      scratch.write(isJSON ? #"{"id":1,"tree":"alder"}"# + "\n" : "id,tree\n1,alder\n2,birch\n", to: name))
    #expect(job.run().exitCode == 0)
    _ = scratch.write(isJSON ? #"{"nr":1,"tree":"elm"}"# + "\n" : "nr,tree\n1,elm\n2,birch\n", to: name)
    #expect(job.run().exitCode == 4)
    job.tables[0].options.table.renames = ["nr": "id"]
    let notes = RunNotes()
    let summary = job.run(note: { notes.add($0.text) })
    #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
    #expect(!notes.all.contains { $0.contains("no longer has") }, "\(notes.all)")
    #expect(try rows("id, tree").first == "1|'elm'")
  }

  @Test("Names that the job asks for and the feed has lost are refused") func asked() throws {
    var job = job(scratch.write(Self.first, to: "feed.csv"))
    job.tables[0].options.table.columns = ["id", "site"]
    #expect(job.run().exitCode == 0)
    _ = scratch.write(Self.second, to: "feed.csv")
    expectRefused(job)
    job.tables[0].columnsGone = .null
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
    #expect(try rows("id, site") == ["1|NULL", "2|NULL", "3|NULL"])
  }

  @Test("In a drop folder it is refused under any name, alone and among others", arguments: [false, true])
  func folder(isJSON: Bool) throws {
    let (first, second) = isJSON ? (Self.jsonFirst, Self.jsonSecond) : (Self.first, Self.second)
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    _ = scratch.write(first, to: "in/1")
    var job = job(scratch.file("in"))
    #expect(job.run().exitCode == 0)
    for number in 2...5 {
      _ = scratch.write(first.replacingOccurrences(of: "alder", with: "a\(number)"), to: "in/\(number)")
    }
    _ = scratch.write(second, to: "in/6")
    _ = scratch.write(first.replacingOccurrences(of: "alder", with: "a7"), to: "in/7")
    expectRefused(job)
    #expect(try rows().first == "1|'a5'|'north'")
    try FileManager.default.moveItem(atPath: scratch.file("in/6"), toPath: scratch.file("in/6b"))
    expectRefused(job)
    expectRefused(job)
    job.acceptsChanges = true
    #expect(job.run().exitCode == 0)
    #expect(try rows().first == "1|'a7'|'north'")
  }

  @Test("Parts that are known do not hide a column, nor make one up") func chunks() throws {
    func text(_ site: (Int) -> Bool, _ tree: String) -> String {
      (0..<600).map { id in
        #"{"id":\#(id),"tree":"\#(id < 300 ? "same" : tree)"\#(site(id) ? #","site":"s""# : "")}"# + "\n"
      }.joined()
    }
    var job = job(scratch.write(text({ $0 < 300 }, "a"), to: "feed.ndjson"), sweep: .hard)
    (job.tables[0].options.tuning.chunkSizes.usual, job.tables[0].options.tuning.chunkSizes.least) = (
      500, 100
    )
    #expect(job.run().exitCode == 0)
    // It is only in parts that are skipped.
    _ = scratch.write(text({ $0 < 300 }, "b"), to: "feed.ndjson")
    #expect(job.run().exitCode == 0)
    #expect(try rows("tree").last == "'b'")
    _ = scratch.write(text({ _ in false }, "b"), to: "feed.ndjson")
    expectRefused(job)
  }

  /// Ends a run behind a commit of a part of the delivery.
  /// - Returns: false where it was faster.
  private func interrupt(_ job: MirrorJob) -> Bool {
    let control = RunControl()
    let summary = job.run(control: control, tick: { if $0.records > 2_000 { control.cancel() } })
    return summary.exitCode == 130
      && summary.tables[0].loads.first.map { $0.progress.committedCount > 0 } == true
  }

  @Test("A run that goes on looks at all of the delivery") func resumed() throws {
    func text(_ count: Int, site: Bool, _ tree: String) -> String {
      (0..<count).map { #"{"id":\#($0),"tree":"\#(tree)"\#($0 < 10 && site ? #","site":"s""# : "")}"# + "\n" }
        .joined()
    }
    var job = job(scratch.write(text(100, site: true, "a"), to: "feed.ndjson"), sweep: .hard)
    job.atomicity = .bounded
    job.tables[0].options.transaction.commitEvery = .records(1_000)
    #expect(job.run().exitCode == 0)
    for tree in ["b", "c"] {
      let hasSite = tree == "b"
      _ = scratch.write(text(150_000, site: hasSite, tree), to: "feed.ndjson")
      guard interrupt(job) else { return }
      let summary = job.run()
      #expect(summary.exitCode == (hasSite ? 0 : 4), "\(summary.tables[0].failure?.description ?? "")")
      let ledger = summary.tables[0].ledger
      if hasSite {
        #expect(ledger.read == 150_000 && ledger.inserted == 149_900 && ledger.updated == 100, "\(ledger)")
      }
    }
    expectRefused(job)
    job.acceptsChanges = true
    #expect(job.run().exitCode == 0)
    #expect(try rows("count(*), count(site)") == ["150000|10"])
  }

  @Test("Rows of another database that lose a column") func database() throws {
    let source = scratch.file("source.db")
    try Database(source).rows("CREATE TABLE s(id, tree, site); INSERT INTO s VALUES (1, 'alder', 'north')")
    let job = job("sqlite:\(source)#s")
    #expect(job.run().exitCode == 0)
    try Database(source).rows("ALTER TABLE s DROP COLUMN site; UPDATE s SET tree = 'elm'")
    expectRefused(job)
    expectRefused(job)
  }

  @Test(
    "What is noted is read with care",
    arguments: ["{}", "[1", #"{"reading":"","columns":["id"],"delimiter":"\n"}"#])
  func hostile(text: String) throws {
    let job = job(scratch.write(Self.first, to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    let database = Database(scratch.file("a.db"))
    try database.rows("UPDATE upsurge_feeds SET shape = '\(text)'")
    let summary = job.run()
    #expect(summary.exitCode == 4 && summary.tables[0].failure?.message.contains("upsurge_feeds") == true)
  }

  @Test("A database of an earlier version has noted nothing") func earlier() throws {
    let job = job(scratch.write(Self.first, to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    try Database(scratch.file("a.db")).rows("ALTER TABLE upsurge_feeds DROP COLUMN shape")
    _ = scratch.write(Self.second, to: "feed.csv")
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id\n1\n", to: "feed.csv")
    expectRefused(job, "tree")
  }
}
