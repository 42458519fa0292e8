import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// `local-edits` where a run is broken off, a scope, a folder or a schema has a word in it.
@Suite("Corners of edited rows") struct LocalEditCornerTests {
  let scratch = Scratch()

  private func job(_ edits: LocalEdits, _ kind: MirrorTable.Kind, source: String = "feed.csv") -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file(source)])
    table.kind = kind
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.options.rejects.target = .table
    table.sweep = kind == .snapshot ? .hard : .none
    table.localEdits = edits
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  /// An empty folder for files to be dropped in.
  private func folder() throws -> String {
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    return scratch.file("in") + "/"
  }

  private var plain: Database { Database(scratch.file("a.db")) }

  private func message(_ summary: MirrorSummary) -> String {
    (summary.error ?? summary.tables.first?.failure)?.description ?? ""
  }

  @Test("A run that goes on takes its own deletions for no edits")
  func ownTombstones() throws {
    var job = job(.keep, .delta)
    job.tables[0].options.rules.tombstone = Tombstone(column: "op", value: "D")
    job.atomicity = .bounded
    job.tables[0].options.transaction.commitEvery = .records(1)
    job.tables[0].options.rejects.onError = .stop
    try plain.rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, v CHECK (v <> 'bad'))")
    _ = scratch.write("id,v,op\n5,e,U\n6,f,U\n8,h,U\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    try plain.rows("DELETE FROM feed WHERE id = 8")
    _ = scratch.write(
      "id,v,op\n5,,D\n6,F,U\n7,new,U\n7,,D\n99,bad,U\n5,again,U\n7,again,U\n8,H,U\n", to: "feed.csv")
    let stopped = job.run()
    #expect(stopped.exitCode == 3, "\(message(stopped))")
    #expect(try plain.rows("SELECT id FROM feed") == ["6"])
    job.tables[0].options.rejects.onError = .reject
    let rest = job.run()
    #expect(rest.tables[0].localEdits.kept == 1, "\(message(rest))")
    #expect(try plain.rows("SELECT id, v FROM feed") == ["5|'again'", "6|'F'", "7|'again'"])
    _ = scratch.write("id,v,op\n5,once more,U\n", to: "feed.csv")
    #expect(job.run().ledger.updated == 1)
  }

  @Test("What a trigger has made of rows in an earlier part of a run is no edit in the rest")
  func triggerBetweenParts() throws {
    var job = job(.keep, .delta)
    job.atomicity = .bounded
    job.tables[0].options.transaction.commitEvery = .records(1)
    job.tables[0].options.rejects.onError = .stop
    try plain.rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, v CHECK (v <> 'bad'))")
    try plain.rows(
      "CREATE TRIGGER more AFTER INSERT ON feed WHEN new.id > 1 BEGIN UPDATE feed SET v = v || '!' WHERE id = 1; END"
    )
    _ = scratch.write("id,v\n1,a\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,v\n2,b\n3,c\n99,bad\n1,A\n", to: "feed.csv")
    let stopped = job.run()
    #expect(stopped.exitCode == 3, "\(message(stopped))")
    #expect(try plain.rows("SELECT v FROM feed WHERE id = 1") == ["'a!!'"])
    job.tables[0].options.rejects.onError = .reject
    #expect(job.run().tables[0].localEdits.kept == 0)
    #expect(try plain.rows("SELECT v FROM feed WHERE id = 1") == ["'A'"])
  }

  @Test(
    "A row that somebody has put out of the scope is passed over, or brought back",
    arguments: LocalEdits.allCases)
  func scope(edits: LocalEdits) throws {
    var job = job(edits, .snapshot)
    job.tables[0].scope = "tenant = 7"
    try plain.rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, tenant INT, v)")
    try plain.rows("INSERT INTO feed VALUES (100, 9, 'of others')")
    _ = scratch.write("id,tenant,v\n1,7,a\n2,7,b\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    try plain.rows("UPDATE feed SET tenant = 8 WHERE id = 1")
    _ = scratch.write("id,tenant,v\n1,7,a\n2,7,B\n", to: "feed.csv")
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(message(summary))")
    let tenant = edits == .keep ? 8 : 7
    #expect(
      try plain.rows("SELECT id, tenant, v FROM feed") == ["1|\(tenant)|'a'", "2|7|'B'", "100|9|'of others'"])
    // What is nobody's edit is refused as ever.
    _ = scratch.write("id,tenant,v\n1,7,a\n2,7,B\n100,7,mine\n", to: "feed.csv")
    #expect(job.run().exitCode == 4)
    #expect(try plain.rows("SELECT v FROM feed WHERE id = 100") == ["'of others'"])
  }

  @Test("Where a column is gone, nobody knows which rows were edited, and nothing is stored")
  func missingColumn() throws {
    var job = job(.keep, .snapshot)
    job.tables[0].columnsGone = .keep
    _ = scratch.write("id,v,w\n1,a,x\n2,b,y\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    try plain.rows("UPDATE feed SET v = 'mine' WHERE id = 1; ALTER TABLE feed DROP COLUMN w")
    _ = scratch.write("id,v\n1,A\n2,B\n", to: "feed.csv")
    let refused = job.run()
    #expect(
      refused.exitCode == 4 && message(refused).contains("has no column w any more"), "\(message(refused))")
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'mine'", "2|'b'"])
    job.tables[0].localEdits = nil
    #expect(job.run().exitCode == 0)
    job.tables[0].localEdits = .keep
    _ = scratch.write("id,v\n1,AA\n2,B\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    try plain.rows("UPDATE feed SET v = 'mine' WHERE id = 1")
    _ = scratch.write("id,v\n1,AAA\n2,BB\n", to: "feed.csv")
    #expect(job.run().tables[0].localEdits.kept == 1)
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'mine'", "2|'BB'"])
  }

  @Test("What the feed has written while nobody noted it is no edit")
  func withoutNotes() throws {
    var job = job(.keep, .snapshot)
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    job.tables[0].localEdits = nil
    _ = scratch.write("id,v\n1,A\n2,b\n", to: "feed.csv")
    #expect(job.run().exitCode == 0)
    job.tables[0].localEdits = .keep
    _ = scratch.write("id,v\n1,AA\n2,B\n", to: "feed.csv")
    #expect(job.run().ledger.updated == 2)
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'AA'", "2|'B'"])
  }

  @Test("A record that says nothing of the edited column, or just what it was edited to, brings nothing back")
  func nothingBroughtBack() throws {
    let job = job(.repair, .snapshot, source: "feed.ndjson")
    try plain.rows("CREATE TABLE feed(id INTEGER PRIMARY KEY, v, w)")
    let lines =
      "{\"id\":1,\"v\":\"a\",\"w\":1}\n{\"id\":2,\"v\":\"b\",\"w\":1}\n{\"id\":3,\"v\":\"c\",\"w\":1}\n"
    _ = scratch.write(lines, to: "feed.ndjson")
    #expect(job.run().exitCode == 0)
    try plain.rows("UPDATE feed SET v = 'mine'")
    _ = scratch.write(
      "{\"id\":1,\"w\":1}\n{\"id\":2,\"v\":\"mine\",\"w\":1}\n{\"id\":3,\"v\":\"C\",\"w\":1}\n{\"id\":3,\"v\":\"C\",\"w\":1}\n",
      to: "feed.ndjson")
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.tables[0].localEdits.repaired == 1, "\(message(summary))")
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'mine'", "2|'mine'", "3|'C'"])
  }

  @Test("The file of a folder that was taken last brings rows back, whatever its name")
  func lastFile() throws {
    var job = job(.repair, .snapshot, source: "in/*.csv")
    job.tables[0].sources = [Source(try folder())]
    _ = scratch.write("id,v\n1,old\n", to: "in/b.csv")
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,v\n1,new\n", to: "in/a.csv")
    #expect(job.run().exitCode == 0)
    try plain.rows("UPDATE feed SET v = 'mine'")
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.tables[0].localEdits.repaired == 1, "\(message(summary))")
    #expect(try plain.rows("SELECT id, v FROM feed") == ["1|'new'"])
    #expect(job.run().tables[0].unchangedSince != nil)
  }

  @Test("Files of a delta that pass over rows of their own count all of them")
  func keptByFiles() throws {
    var job = job(.keep, .delta)
    job.tables[0].sources = [Source(try folder())]
    _ = scratch.write("id,v\n1,a\n2,b\n3,c\n", to: "in/1.csv")
    #expect(job.run().exitCode == 0)
    try plain.rows("UPDATE feed SET v = 'mine'")
    for id in 1...3 { _ = scratch.write("id,v\n\(id),new\n", to: "in/\(id + 1).csv") }
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.ledger.ignored == 3 && summary.tables[0].localEdits.kept == 3)
  }
}
