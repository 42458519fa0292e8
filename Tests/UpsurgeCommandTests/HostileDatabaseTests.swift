import Foundation
import TestSupport
import Testing
import Upsurge

/// Databases and files of rejects that somebody else has made: what they say opens no file and runs no SQL of theirs.
@Suite("What a database says does nothing of its own", .serialized)
struct HostileDatabaseTests {
  let scratch = Scratch()

  private func replay(_ words: [String], file: String?) throws -> Command.Outcome {
    try Command.run(["replay", scratch.file("a.db")] + (file.map { [$0] } ?? []) + words)
  }

  /// Replaces a text in what is kept: in the file of rejects, or in the tables.
  private func forge(_ old: String, _ new: String, file: String?) throws {
    if let file {
      let text = String(decoding: try readFile(file), as: UTF8.self)
      #expect(text.contains(old), "\(text)")
      let next = text.replacing(old, with: new)
      _ = FileManager.default.createFile(atPath: file, contents: Data(next.utf8))
      return
    }
    let quoted = { (text: String) in "'" + text.replacing("'", with: "''") + "'" }
    try Database(scratch.file("a.db")).rows(
      """
      UPDATE upsurge_reject_contexts SET context = replace(context, \(quoted(old)), \(quoted(new)));
      UPDATE upsurge_rejects SET raw = replace(raw, \(quoted(old)), \(quoted(new)))
      """)
  }

  @Test(
    "Files that records name are read only in a folder that the caller gives", arguments: [false, true],
    ["here", "/secret", "../secret", "secret"])
  func blobs(isFile: Bool, path: String) throws {
    let database = Database(scratch.file("a.db"))
    let file = isFile ? scratch.file("bad.ndjson") : nil
    mkdir(scratch.file("in"), 0o700)
    _ = scratch.write("secret", to: "secret")
    let source = scratch.write("id,b\n1,here\n", to: "in/feed.csv")
    let load = try Command.run([
      "load", scratch.file("a.db"), "t", source, "--key", "id", "--blob", "file", "--type", "b:BLOB",
      "--on-error", "reject",
      "--rejects", file ?? "table", "--blob-folder", scratch.file("in"),
    ])
    #expect(load.exitCode == 2, "\(load.talk)")
    _ = scratch.write("fine", to: "in/here")
    if path != "here" {
      // Whatever is kept with them names another file, and the folder of it.
      try forge("1,here", "1," + (path == "/secret" ? scratch.file("secret") : path), file: file)
      try forge("\"blob_folder\":\"", "\"blob_folder\":\"\(scratch.path)\",\"was\":\"", file: file)
    }
    let outcome = try replay([], file: file)
    #expect(outcome.exitCode == 2)
    #expect(
      outcome.talk.contains(
        "not tried: 1, the records name files, which are read only in a folder that you give (upsurge replay "
          + "--blob-folder DIR, where their files lie), first at"), "\(outcome.talk)")
    let given = try replay(["--blob-folder", scratch.file("in")], file: file)
    #expect(given.exitCode == (path == "here" ? 0 : 2), "\(given.talk)")
    #expect(try database.rows("SELECT CAST(b AS TEXT) FROM t") == (path == "here" ? ["'fine'"] : []))
  }

  /// SQL that a record's rules hold, and what is said of it; nil where it is run.
  static let texts: [(sql: String, reason: String?)] = [
    ("a || excluded.a", nil),
    ("CASE WHEN a > excluded.a THEN upper(a) ELSE coalesce(excluded.a, a) END", nil),
    ("a IN ('x', 'y') AND NOT (a LIKE 'SELECT (%')", nil), ("max(length(\"a\"), round(2.5))", nil),
    ("(SELECT group_concat(x) FROM other)", "a subquery"), ("a IN other", "another table"),
    ("a IN pragma_database_list", "another table"), ("a IN (VALUES (1))", "a subquery"),
    ("EXISTS (WITH w AS (SELECT 1) SELECT 1)", "a subquery"),
    ("load_extension('evil.so')", "the function load_extension"),
    ("\"writefile\"('x', 'y')", "the function writefile"), ("[readfile] ('x')", "the function readfile"),
    ("fts3_tokenizer('simple')", "the function fts3_tokenizer"), ("a REGEXP 'x'", "the function regexp"),
    ("hex(zeroblob(1000000000))", "the function zeroblob"), ("eval('DROP TABLE other')", "the function eval"),
    ("/* x */ Load_Extension/**/('evil.so')", "the function Load_Extension"),
  ]

  @Test("SQL in kept rules only computes", arguments: texts.indices, ["table", "file", "quarantine"])
  func rules(index: Int, kind: String) throws {
    let (sql, reason) = Self.texts[index]
    let database = Database(scratch.file("a.db"))
    try database.rows(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER CHECK (b < 9)); CREATE TABLE other (x);
      INSERT INTO other VALUES ('secret'); INSERT INTO t VALUES (1, 'old', 1)
      """)
    let file = kind == "file" ? scratch.file("bad.ndjson") : nil
    let isKept = kind == "quarantine"
    let source = scratch.write(isKept ? "id,a,c\n1,new,7\n" : "id,a,b\n1,new,10\n", to: "feed.csv")
    let keeping =
      isKept ? ["--contract", "quarantine"] : ["--on-error", "reject", "--rejects", file ?? "table"]
    let load = try Command.run(
      ["load", scratch.file("a.db"), "t", source, "--key", "id", "--set", "a=a || excluded.a"] + keeping)
    #expect(load.exitCode == 2, "\(load.talk)")
    let quoted = String(
      decoding: try JSONSerialization.data(
        withJSONObject: sql, options: [.fragmentsAllowed, .withoutEscapingSlashes]),
      as: UTF8.self)
    if isKept {
      try database.rows(
        """
        ALTER TABLE t ADD COLUMN c; UPDATE upsurge_quarantine
        SET rules = replace(rules, '"a || excluded.a"', '\(quoted.replacing("'", with: "''"))')
        """)
    } else {
      try forge("\"a || excluded.a\"", quoted, file: file)
      try forge("1,new,10", "1,new,2", file: file)
    }
    let outcome = try replay([], file: file)
    #expect(outcome.exitCode == (reason == nil ? 0 : 2), "\(outcome.talk)")
    #expect(try database.rows("SELECT x FROM other") == ["'secret'"])
    guard let reason else { return #expect(try database.rows("SELECT a FROM t") != ["'old'"]) }
    #expect(try database.rows("SELECT a FROM t") == ["'old'"])
    #expect(
      outcome.talk.contains(
        "the rules that were kept with the records hold SQL with \(reason), which is not run when it comes from a database or "
          + "a file: \(sql) (upsurge replay --trust-rules runs it; use that only where you know who wrote the rules)"
      ),
      "\(outcome.talk)")
    guard sql.contains("group_concat") else { return }
    #expect(try replay(["--trust-rules"], file: file).exitCode == 0)
    #expect(try database.rows("SELECT a FROM t") == ["'secret'"])
  }

  @Test("The rule for all columns is a word, and no SQL", arguments: [false, true])
  func globalRule(isFile: Bool) throws {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER CHECK (b < 9)); CREATE TABLE other (x);
      INSERT INTO other VALUES ('secret'); INSERT INTO t VALUES (1, 'old', 1)
      """)
    let file = isFile ? scratch.file("bad.ndjson") : nil
    let source = scratch.write("id,a,b\n1,new,10\n", to: "feed.csv")
    let load = try Command.run([
      "load", scratch.file("a.db"), "t", source, "--key", "id", "--merge", "coalesce", "--on-error", "reject",
      "--rejects", file ?? "table",
    ])
    #expect(load.exitCode == 2, "\(load.talk)")
    try forge(#""merge":"coalesce""#, #""merge":{"sql":"(SELECT x FROM other)"}"#, file: file)
    try forge("1,new,10", "1,new,2", file: file)
    for words in [[], ["--trust-rules"]] {
      let outcome = try replay(words, file: file)
      #expect(outcome.exitCode != 0, "\(outcome.talk)")
      #expect(try database.rows("SELECT a, b FROM t") == ["'old'|1"])
    }
  }

  @Test(
    "Records go into no table of Upsurge's own", arguments: ["upsurge_reject_contexts", "UPSURGE_PENDING"],
    [false, true])
  func ownTables(table: String, isFile: Bool) throws {
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t (id INTEGER PRIMARY KEY, context TEXT CHECK (context <> 'new'))")
    let source = scratch.write("id,context\n1,new\n", to: "feed.csv")
    for target in ["table", scratch.file("bad.ndjson")] {
      let load = try Command.run([
        "load", scratch.file("a.db"), "t", source, "--on-error", "reject", "--rejects", target, "--mode",
        "ignore",
      ])
      #expect(load.exitCode == 2, "\(load.talk)")
    }
    try database.rows("CREATE TABLE IF NOT EXISTS \(table) (id INTEGER PRIMARY KEY, context TEXT)")
    let file = isFile ? scratch.file("bad.ndjson") : nil
    if isFile {
      try forge("\"table\":\"t\"", "\"table\":\"\(table)\"", file: file)
    } else {
      try database.rows("UPDATE upsurge_rejects SET \"table\" = '\(table)'")
    }
    let count = try database.rows("SELECT count(*) FROM \(table)")
    let outcome = try replay([], file: file)
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(
      outcome.talk.contains(
        "\(table) is a table of Upsurge's own, in which it keeps something beside the data"),
      "\(outcome.talk)")
    #expect(try database.rows("SELECT count(*) FROM \(table)") == count)
  }
}
