import Foundation
import TestSupport
import Testing
import Upsurge

/// What a replay needs beside the records: the folder of `--blob-folder`, tables of ours, a place for each record.
@Suite("What a replay needs")
struct ReplayNeedsTests {
  let scratch = Scratch()
  private var database: String { scratch.file("a.db") }

  @Test("Files that records name are those of the replay's own --blob-folder")
  func blobFolder() throws {
    for folder in ["files", "source"] { #expect(mkdir(scratch.file(folder), 0o700) == 0) }
    _ = scratch.write("RIGHT", to: "files/p.bin")
    _ = scratch.write("WRONG", to: "source/p.bin")
    let source = scratch.write("{\"id\":1,\"n\":\"bad\",\"b\":\"p.bin\"}\n", to: "source/b.ndjson")
    try Database(database).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, n TEXT CHECK (n <> 'bad'), b BLOB)")
    let rejects = scratch.file("bad.ndjson")
    let load = try Command.run(
      [scratch.path, database, source, rejects],
      script:
        #"cd "$1" && exec "$0" load "$2" t "$3" --blob file --blob-folder files --on-error reject --rejects "$4""#
    )
    #expect(load.exitCode == 2, "\(load.talk)")
    let mended = String(decoding: try readFile(rejects), as: UTF8.self).replacing(
      #"\"bad\""#, with: #"\"good\""#)
    _ = scratch.write(mended, to: "bad.ndjson")
    let replay = try Command.run(["replay", database, rejects, "--blob-folder", scratch.file("files")])
    #expect(replay.exitCode == 0, "\(replay.talk)")
    #expect(try Database(database).rows("SELECT id, CAST(b AS TEXT) FROM t") == ["1|'RIGHT'"])
  }

  @Test("Hand-made records without a place are told apart")
  func places() throws {
    let header =
      #"{"upsurge_rejects":1,"table":"t","rules":{"mode":"insert"},"contract":"freeze","format":"csv","#
      + #""dialect":{"delimiter":",","quote":"\""},"fields":["id","p"]}"#
    let lines = [
      #"{"raw":"1,99"}"#, #"{"record":0,"raw":"2,1"}"#, #"{"record":0,"line":0,"byte":0,"raw":"3,99"}"#,
    ]
    let file = scratch.write(([header] + lines).joined(separator: "\n") + "\n", to: "hand.ndjson")
    try Database(database).rows(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
      CREATE TABLE t(id INTEGER, p INTEGER REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)
      """)
    let summary = ReplayJob(database: database, file: file).run()
    #expect(
      summary.exitCode == 2 && summary.ledger.inserted == 1 && summary.ledger.rejected == 2, "\(summary)")
    #expect(try Database(database).rows("SELECT id FROM t") == ["2"])
    let left = String(decoding: try readFile(file), as: UTF8.self)
    #expect(left.contains("1,99") && left.contains("3,99") && !left.contains("2,1"), "\(left)")
  }

  @Test("A kept record that --memory has no room for stays, and the words say which would do")
  func tooLarge() throws {
    let long = String(repeating: "x", count: 3 << 20)
    let source = scratch.write(
      #"{"id":1,"a":"x"}"# + "\n" + #"{"id":2,"a":""# + long + "\"}\n" + #"{"id":3,"a":"y"}"#, to: "q.ndjson")
    try Database(database).rows("CREATE TABLE t(id INTEGER)")
    #expect(try Command.run(["load", database, "t", source, "--contract", "quarantine"]).exitCode == 2)
    try Database(database).rows("ALTER TABLE t ADD COLUMN a")
    let rejected = scratch.write("id,a\n4,x\n5\n6,y\n7\n", to: "r.csv")
    #expect(
      try Command.run(["load", database, "t", rejected, "--on-error", "reject", "--rejects", "table"])
        .exitCode == 2)
    try Database(database).rows(
      "UPDATE upsurge_rejects SET raw = '5,' || hex(zeroblob(1500000)) WHERE raw = '5'; UPDATE upsurge_rejects SET raw = '7,z' WHERE raw = '7'"
    )
    var options = ReplayOptions()
    options.memory = .mebibytes(16)
    let small = ReplayJob(database: database, options: options).run()
    #expect(small.exitCode == 2 && small.ledger.inserted == 3 && small.ledger.rejected == 2, "\(small)")
    #expect(small.rejects.map(\.code) == [.tooLarge] && small.rejects[0].reason.contains("--memory 25MiB"))
    #expect(small.tables[0].untried.map(\.reason).first?.contains("--memory 23MiB") == true, "\(small)")
    options.memory = .mebibytes(25)
    let large = ReplayJob(database: database, options: options).run()
    #expect(large.exitCode == 0, "\(large)")
    #expect(
      try Database(database).rows("SELECT id, length(a) FROM t ORDER BY id") == [
        "1|1", "2|\(3 << 20)", "3|1", "4|1", "5|3000000", "6|1", "7|1",
      ])
  }

  @Test("A view, and rejects without the table of their contexts, are refused in words")
  func ownTables() throws {
    let source = scratch.write("id,b\n1,x\n2\n", to: "a.csv")
    let load = ["load", database, "t", source, "--on-error", "reject", "--rejects", "table"]
    let (replay, other) = (["replay", database], ["load", database, "t2", source, "--on-error", "reject"])
    try Database(database).rows("CREATE VIEW upsurge_rejects AS SELECT 1 AS id")
    for words in [load, replay] {
      let refused = try Command.run(words)
      #expect(refused.exitCode == 4 && refused.talk.contains("a view upsurge_rejects"), "\(refused.talk)")
    }
    try Database(database).rows("DROP VIEW upsurge_rejects")
    #expect(try Command.run(load).exitCode == 2)
    try Database(database).rows("DROP TABLE upsurge_reject_contexts")
    for words in [other + ["--rejects", "table"], replay] {
      let refused = try Command.run(words)
      #expect(
        refused.exitCode == 4 && refused.talk.contains("the table upsurge_reject_contexts is gone"),
        "\(refused.talk)")
    }
  }
}
