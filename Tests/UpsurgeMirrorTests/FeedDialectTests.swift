import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// Nights that would be read in another way than the last one.
@Suite("Mirrors of a feed that is written in another way") struct FeedDialectTests {
  let scratch = Scratch()

  private func job(_ source: String) -> MirrorJob {
    var table = MirrorTable(name: "t", sources: [source])
    table.options.rules.key = ["id"]
    table.sweep = .hard
    table.guards.maximumDeletes = .percent(100)
    table.guards.leastRatio = 0
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  private func rows(_ columns: String = "id, note") throws -> [String] {
    try Database(scratch.file("a.db")).rows("SELECT \(columns) FROM t ORDER BY id")
  }

  private static let first = "id,note,more\n1,a,x\n2,b,y\n3,c,z\n"

  private func expectRefused(_ job: MirrorJob, _ words: String) {
    let summary = job.run()
    let failure = summary.tables[0].failure
    #expect(
      summary.exitCode == 4 && failure?.message.contains(words) == true, "\(failure?.description ?? "none")")
    #expect(failure?.hint?.contains("--accept-change") == true)
  }

  @Test("Another delimiter is refused and said, until it is accepted or given")
  func delimiter() throws {
    let other = Self.first.replacingOccurrences(of: ",", with: ";").replacingOccurrences(
      of: "a;x", with: "q;x")
    var job = job(scratch.write(Self.first, to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    _ = scratch.write(other, to: "feed.csv")
    for _ in 0..<2 { expectRefused(job, "the delimiter was comma, and is semicolon now") }
    #expect(try rows() == ["1|'a'", "2|'b'", "3|'c'"])
    var given = job
    given.tables[0].options.input.csv.delimiter = [UInt8(ascii: ";")]
    given.dryRun = .count
    #expect(given.run().exitCode == 0)
    job.acceptsChanges = true
    #expect(job.run().exitCode == 0)
    #expect(try rows().first == "1|'q'")
    job.acceptsChanges = false
    _ = scratch.write(other + "4;d;w\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    _ = scratch.write(Self.first, to: "feed.csv")
    expectRefused(job, "the delimiter was semicolon, and is comma now")
  }

  @Test("A change that was accepted and then failed is not taken for the feed", arguments: ["source", "key"])
  func acceptedAndFailed(what: String) throws {
    let job = job(scratch.write(Self.first, to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    var mistyped = job
    if what == "key" {
      mistyped.tables[0].options.rules.key = ["idd"]
    } else {
      mistyped.tables[0].sources = [Source(scratch.file("fed.csv"))]
    }
    #expect(mistyped.run().exitCode == 4)
    mistyped.acceptsChanges = true
    for _ in 0..<2 {
      let failed = mistyped.run()
      #expect(failed.exitCode == (what == "key" ? 64 : 66), "\(failed.tables[0].failure?.description ?? "none")")
    }
    _ = scratch.write(Self.first + "4,d,w\n", to: "feed.csv")
    let mended = job.run()
    #expect(mended.exitCode == 0, "\(mended.tables[0].failure?.description ?? "none")")
    #expect(try rows().count == 4)
  }

  @Test("A night that only looks otherwise is read as before") func fits() throws {
    let job = job(scratch.write("id,note\n1,a\n2,b\n3,c\n", to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    // Semicolons would part more fields.
    _ = scratch.write("id,note\n1,a;b;c;d\n2,e;f;g;h\n3,i;j;k;l\n4,m;n;o;p\n", to: "feed.csv")
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
    #expect(try rows().first == "1|'a;b;c;d'")
  }

  static let places = (1..<40).map { "K\($0 + 100),shelf \($0)\n" }.joined()

  @Test(
    "Nothing is swept because it was read as a comment",
    arguments: ["# made on 2031-05-02\n", "# made on, by\n", "# a\n# b, c\n#\n", "## x\n"], [true, false])
  func comments(top: String, hasHashBefore: Bool) throws {
    let hash = "#40,shelf 40\n"
    let job = job(scratch.write("id,note\n" + Self.places + (hasHashBefore ? hash : ""), to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    _ = scratch.write(top + "id,note\n" + Self.places + hash, to: "feed.csv")
    for _ in 0..<2 {
      let summary = job.run()
      #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
      #expect(try rows().count == 40 && rows().first == "'#40'|'shelf 40'")
    }
  }

  @Test(
    "A feed that has always had comments on top does not take rows for more of them",
    arguments: ["# made\n", "# made\n# by hand\n"])
  func commentsFromTheStart(top: String) throws {
    let hash = "#40,shelf 40\n"
    let job = job(scratch.write(top + "id,note\n" + Self.places + hash, to: "feed.csv"))
    for night in 1...3 {
      let summary = job.run()
      #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
      #expect(try rows().count == 40 && rows().first == "'#40'|'shelf 40'", "\(top)")
      _ = scratch.write("# night \(night)\n" + top + "id,note\n" + Self.places + hash, to: "feed.csv")
    }
  }

  @Test("Quotes, escapes and header of a feed stay when a night has none of them")
  func marks() throws {
    let job = job(scratch.write("id,note\n1,'a,b'\n2,'c'\n3,'d'\n", to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    #expect(try rows().first == "1|'a,b'")
    _ = scratch.write("id,note\n1,a\n2,c\n3,d\n", to: "feed.csv")
    let notes = RunNotes()
    #expect(job.run(note: { notes.add($0.text) }).exitCode == 0)
    #expect(!notes.all.contains { $0.contains("looks otherwise") })
    _ = scratch.write("id,note\n1,'a,b'\n2,\"c\"\n3,'d'\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    #expect(try rows().first == "1|'a,b'")
  }

  @Test("A feed without a header whose night begins with words is read as before, and that is said")
  func noHeader() throws {
    var job = job(scratch.write("1,5\n2,6\n3,7\n", to: "feed.csv"))
    job.tables[0].options.rules.key = ["c1"]
    #expect(job.run().exitCode == 0)
    _ = scratch.write("x,y\n1,5\n2,6\n3,8\n", to: "feed.csv")
    let notes = RunNotes()
    let summary = job.run(note: { notes.add($0.text) })
    #expect(
      summary.exitCode == 4
        || notes.all.contains { $0.contains("it had no header, and looks as if it had one now") })
  }

  @Test("Comments in the middle are no reason to sweep") func scattered() throws {
    let job = job(scratch.write("id,note\n" + Self.places, to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,note\n" + Self.places + "# end of part\n#40,shelf 40\n# end\n", to: "feed.csv")
    let summary = job.run()
    #expect(summary.exitCode != 0)
    #expect(try rows().count >= 39)
  }

  @Test("A header that goes missing is refused") func header() throws {
    let job = job(scratch.write("id,note\n1,abc\n2,def\n3,ghi\n4,jkl\n", to: "feed.csv"))
    #expect(job.run().exitCode == 0)
    _ = scratch.write("1,abc\n2,def\n3,ghi\n4,other\n", to: "feed.csv")
    let summary = job.run()
    #expect(summary.exitCode == 4, "\(summary.tables[0].failure?.description ?? "")")
    #expect(try rows().last == "4|'jkl'")
  }

  @Test(
    "A first night with little to go by binds nobody",
    arguments: ["id;note\n", "id;note\n1;a\n", "id\n1\n2\n3\n"])
  func small(first: String) throws {
    var job = job(scratch.write(first, to: "feed.csv"))
    job.tables[0].options.table.contract = .evolve
    job.tables[0].guards.allowsEmpty = true
    job.tables[0].guards.leastRows = 0
    #expect(job.run().exitCode == 0)
    let names = first.contains("note") ? "id,note" : "id,more"
    _ = scratch.write("\(names)\n1,a\n2,b\n3,c\n", to: "feed.csv")
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(summary.tables[0].failure?.description ?? "")")
  }

  @Test("The encoding is the feed's, also on a night that is plain ASCII") func encoding() throws {
    func text(_ word: String) -> Data {
      "id,note\n1,\(word)\n2,b\n3,c\n".data(using: .windowsCP1252) ?? Data()
    }
    let path = scratch.file("feed.csv")
    try text("Müller über").write(to: URL(fileURLWithPath: path))
    let job = job(path)
    #expect(job.run().exitCode == 0)
    #expect(try rows().first == "1|'Müller über'")
    try text("plain").write(to: URL(fileURLWithPath: path))
    #expect(job.run().exitCode == 0)
    try Data("id,note\n1,Grün früh\n2,b\n3,c\n".utf8).write(to: URL(fileURLWithPath: path))
    expectRefused(job, "the encoding was windows-1252, and is utf-8 now")
    try text("Öl").write(to: URL(fileURLWithPath: path))
    #expect(job.run().exitCode == 0)
    #expect(try rows().first == "1|'Öl'")
  }

  @Test("JSON that becomes CSV is refused, and CSV that becomes JSON") func format() throws {
    let json = #"{"id":1,"note":"a"}"# + "\n" + #"{"id":2,"note":"b"}"# + "\n"
    let job = job(scratch.write(json, to: "feed"))
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,note\n1,x\n2,y\n", to: "feed")
    expectRefused(job, "it was JSON, and looks like CSV now")
    var other = MirrorJob(database: scratch.file("b.db"), tables: job.tables)
    _ = scratch.write("id,note\n1,x\n2,y\n3,z\n", to: "feed")
    #expect(other.run().exitCode == 0)
    _ = scratch.write(json, to: "feed")
    expectRefused(other, "it was CSV, and looks like ndjson now")
    other.acceptsChanges = true
    #expect(other.run().exitCode == 0)
  }
}
