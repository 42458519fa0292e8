import Foundation
import TestSupport
import Testing
import Upsurge

/// `--dry-run`, `--changes` and `--explain` through the command: what is said, and that nothing is touched.
@Suite("Preview")
struct PreviewTests {
  let scratch = Scratch()
  private var path: String { scratch.file("a.db") }

  /// A table with values of every kind.
  private static let setup = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, n REAL, b BLOB);
    INSERT INTO t VALUES (1, 'one', 1.0, x'00ff'), (2, 'two', 2.5, NULL), (9007199254740993, 'big', -0.1, x'');
    """

  private func prepare(_ sql: String = setup, journal: String = "delete") throws {
    try Database(path).rows("PRAGMA journal_mode=\(journal); \(sql)")
  }

  private func load(_ text: String, _ options: [String]) throws -> Command.Outcome {
    try Command.run(["load", path, "t", "-", "--format", "csv"] + options, input: Array(text.utf8))
  }

  /// Every file of the database's folder with its bytes.
  private func files() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path) where name.hasPrefix("a.db")
    {
      files[name] = try readFile(scratch.file(name))
    }
    return files
  }

  private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

  // MARK: - Dry runs

  @Test("A dry run leaves every file as it was, whatever the journal", arguments: ["delete", "wal"])
  func untouched(journal: String) throws {
    try prepare(journal: journal)
    let before = try files()
    // Enough to spill the page cache, which writes to the database or its log before the end.
    let text =
      "id,name\n" + (1...60_000).map { "\($0),\(String(repeating: "x", count: 200))\($0)\n" }.joined()
    let outcome = try load(text, ["--key", "id", "--dry-run", "--memory", "16MiB"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.talk.contains("dry run: nothing is changed"))
    #expect(outcome.talk.contains("inserted 59,998") && outcome.talk.contains("updated 2"), "\(outcome.talk)")
    #expect(outcome.output.isEmpty)
    #expect(try files() == before)
    #expect(try Database(path).rows("PRAGMA journal_mode") == ["'\(journal)'"])
  }

  @Test("A dry run while another program reads leaves no growth of the log")
  func logOfOthers() throws {
    try prepare(journal: "wal")
    let other = Database(path)
    try other.rows("BEGIN; SELECT * FROM t")
    let text =
      "id,name\n" + (1...60_000).map { "\($0),\(String(repeating: "x", count: 200))\($0)\n" }.joined()
    let outcome = try load(text, ["--key", "id", "--dry-run", "--memory", "16MiB"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try files()["a.db-wal"]?.count == 0)
    #expect(try other.rows("SELECT count(*) FROM t") == ["3"])
  }

  @Test("A dry run makes no database, and --explain neither", arguments: [["--dry-run"], ["--explain"]])
  func noFile(option: [String]) throws {
    let outcome = try load("id,name\n1,x\n", ["--key", "id"] + option)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try files().isEmpty)
    let lost = try Command.run(["load", "/nowhere/a.db", "t", "-"] + option, input: Array("a\n1\n".utf8))
    #expect(lost.exitCode == 73)
  }

  @Test(
    "A dry run ends as the real run would, with nothing committed",
    arguments: [
      ("id,n\n1,2\n", [], 0),
      ("id,n\n1,2\n3\n", ["--on-error", "reject"], 2),
      ("id,n\n4,2\n5,1\n3\n", ["--commit-every", "1"], 65),
      ("id,n\n4,2\n3\n", ["--on-error", "reject", "--max-rejects", "10%"], 65),
      ("id,nope\n4,2\n", [], 4),
      ("id,n\n4,2\n", ["--key", "n"], 64),
    ] as [(String, [String], Int32)])
  func exitCodes(text: String, options: [String], expected: Int32) throws {
    try prepare()
    let before = try files()
    let rejects = scratch.file("rejects")
    let outcome = try load(text, options + ["--dry-run", "--rejects", rejects])
    #expect(outcome.exitCode == expected, "\(outcome.talk)")
    #expect(try files() == before)
    if text.contains("\n3\n") {
      #expect(String(decoding: try readFile(rejects), as: UTF8.self).contains("ragged"))
    }
  }

  @Test("A dry run finds foreign keys that only a commit would find")
  func deferredForeignKeys() throws {
    try prepare(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
      CREATE TABLE t(id INTEGER PRIMARY KEY, p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
      """)
    #expect(try load("id,p\n1,1\n", ["--dry-run"]).exitCode == 0)
    let refused = try load("id,p\n1,7\n", ["--dry-run"])
    #expect(refused.exitCode == 65)
    #expect(refused.talk.contains("which has no such row"), "\(refused.talk)")
  }

  @Test("A dry run brings back indexes, FTS5 tables, keys and foreign keys as they were")
  func surroundings() throws {
    try prepare(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
      CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, p REFERENCES p);
      CREATE INDEX t_name ON t(name);
      CREATE VIRTUAL TABLE f USING fts5(name, content='t', content_rowid='id');
      CREATE TRIGGER t_i AFTER INSERT ON t BEGIN INSERT INTO f(rowid, name) VALUES (new.id, new.name); END;
      CREATE TRIGGER t_d AFTER DELETE ON t BEGIN
        INSERT INTO f(f, rowid, name) VALUES ('delete', old.id, old.name); END;
      CREATE TRIGGER t_u AFTER UPDATE ON t BEGIN
        INSERT INTO f(f, rowid, name) VALUES ('delete', old.id, old.name);
        INSERT INTO f(rowid, name) VALUES (new.id, new.name); END;
      """)
    let before = try files()
    let text = "id,name,p\n" + (1...20_000).map { "\($0),name of \($0),\($0 == 9 ? 7 : 1)\n" }.joined()
    let outcome = try load(
      text,
      [
        "--dry-run", "--indexes", "defer", "--fts", "defer", "--index", "p", "--index", "name,p", "--key",
        "name",
        "--create-key", "--foreign-keys", "deferred", "--on-error", "reject", "--commit-every", "1000",
      ])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(
      outcome.talk.contains("inserted 19,999") && outcome.talk.contains("1 foreign-key"), "\(outcome.talk)")
    #expect(try files() == before)
    let explained = try load(
      text, ["--explain", "--indexes", "defer", "--fts", "defer", "--index", "p", "--key", "id"])
    #expect(explained.exitCode == 0, "\(explained.talk)")
    for part in [
      "t_p_idx built after the rows: the table lacks it", "t_name built after the rows: as asked for",
    ] {
      #expect(explained.output.contains(part), "\(explained.output)")
    }
    let keyed = try load(text, ["--explain", "--key", "name", "--create-key"])
    #expect(keyed.output.contains("new key:\n  CREATE UNIQUE INDEX"), "\(keyed.output) \(keyed.talk)")
    #expect(try files() == before)
  }

  @Test("What finds no parent at the commit is a reject also where changes and statements are written down")
  func deferredReferencesAndChanges() throws {
    let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, name, p REFERENCES p)"
    try prepare("CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1); \(table)")
    let copy = scratch.file("copy.db")
    try Database(copy).rows("CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1); \(table)")
    // Enough behind the orphans that what is taken back has left the buffers.
    let text =
      "id,name,p\n" + (1...4000).map { "\($0),\("name of \($0)"),\($0 % 1500 == 7 ? 7 : 1)\n" }.joined()
    let options = ["--key", "id", "--foreign-keys", "deferred", "--on-error", "reject"]
    let tried = try load(text, options + ["--dry-run=diff"])
    #expect(tried.exitCode == 2, "\(tried.talk)")
    #expect(tried.talk.contains("inserted 3,997") && tried.talk.contains("3 foreign-key"), "\(tried.talk)")
    let (changes, sql) = (scratch.file("changes"), scratch.file("sql"))
    let loaded = try load(
      text, options + ["--changes", changes, "--emit-sql", sql, "--commit-every", "3500"])
    #expect(loaded.exitCode == 2, "\(loaded.talk)")
    #expect(lines(tried.output).count == 3997)
    #expect(lines(tried.output) == lines(String(decoding: try readFile(changes), as: UTF8.self)))
    try Database(copy).rows(String(decoding: try readFile(sql), as: UTF8.self))
    let rows = try Database(path).rows("SELECT * FROM t ORDER BY id")
    #expect(rows.count == 3997)
    #expect(try Database(copy).rows("SELECT * FROM t ORDER BY id") == rows)
  }

  // MARK: - Changes

  private static let feed = "id,name,n\n1,one,1\n2,zwei,2.5\n9007199254740993,big,0.25\n5,\"a \"\"b\"\"\",\n"
  private static let changes = [
    #"{"op":"update","table":"t","key":{"id":2},"before":{"name":"two"},"after":{"name":"zwei"},"file":"-","record":2}"#,
    #"{"op":"update","table":"t","key":{"id":9007199254740993},"before":{"n":-0.1},"after":{"n":0.25},"file":"-","record":3}"#,
    #"{"op":"insert","table":"t","key":{"id":5},"after":{"id":5,"name":"a \"b\"","n":null,"b":null},"file":"-","record":4}"#,
  ]

  @Test("--dry-run=diff says on standard output what --changes says of the real run")
  func diff() throws {
    try prepare()
    let before = try files()
    let tried = try load(Self.feed, ["--key", "id", "--dry-run=diff"])
    #expect(tried.exitCode == 0, "\(tried.talk)")
    #expect(lines(tried.output) == Self.changes)
    #expect(try files() == before)
    let real = try load(Self.feed, ["--key", "id", "--changes", scratch.file("changes")])
    #expect(real.exitCode == 0 && real.output.isEmpty)
    #expect(lines(String(decoding: try readFile(scratch.file("changes")), as: UTF8.self)) == Self.changes)
    #expect(real.talk.contains("inserted 1 · updated 2 · unchanged 1"), "\(real.talk)")
    let again = try load(Self.feed, ["--key", "id", "--changes", "-"])
    #expect(again.output.isEmpty && again.exitCode == 0)
  }

  @Test("Values in changes read back as they are stored")
  func values() throws {
    try prepare("CREATE TABLE t(k, v)")
    let text =
      #"{"k":1,"v":1.0}"# + "\n" + #"{"k":9223372036854775807,"v":1e400}"# + "\n"
      + #"{"k":"\u0001","v":1e22}"#
    let outcome = try Command.run(
      ["load", path, "t", "-", "--changes", "-", "--on-error", "reject"], input: Array(text.utf8))
    let stored = try Database(path).rows("SELECT k, v FROM t")
    #expect(lines(outcome.output).count == stored.count)
    #expect(outcome.output.contains(#""after":{"k":1,"v":1.0}"#), "\(outcome.output)")
    #expect(outcome.output.contains(#""k":9223372036854775807"#))
    #expect(outcome.output.contains(#""k":"\u0001","v":1e+22"#))
    for line in lines(outcome.output) where !line.contains("9e999") {
      #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil, "\(line)")
    }
  }

  @Test("Lines of a transaction that is rolled back do not stay", arguments: ["FILE", "-"])
  func rolledBack(output: String) throws {
    try prepare()
    let target = output == "FILE" ? scratch.file("changes") : "-"
    let text = "id,name\n" + (10..<15).map { "\($0),x\n" }.joined() + "bad\n"
    let outcome = try load(text, ["--commit-every", "2", "--changes", target])
    #expect(outcome.exitCode == 3)
    let said = output == "FILE" ? String(decoding: try readFile(target), as: UTF8.self) : outcome.output
    #expect(lines(said).count == 4)
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["7"])
  }

  @Test("Keyless rows and rejects: every insert is told, no reject is")
  func keyless() throws {
    try prepare("CREATE TABLE t(a, b CHECK (b <> 'no'))")
    let outcome = try load("a,b\n1,x\n2,no\n1,x\n", ["--changes", "-", "--on-error", "reject"])
    #expect(outcome.exitCode == 2)
    #expect(
      lines(outcome.output) == [
        #"{"op":"insert","table":"t","key":{},"after":{"a":"1","b":"x"},"file":"-","record":1}"#,
        #"{"op":"insert","table":"t","key":{},"after":{"a":"1","b":"x"},"file":"-","record":3}"#,
      ])
  }

  @Test(
    "Outputs overwrite neither inputs nor the database, and share no standard output",
    arguments: [
      ["--changes", "IN"], ["--changes", "DB"], ["--emit-sql", "IN"], ["--emit-sql", "DB"],
      ["--changes", "NEW", "--emit-sql", "NEW"], ["--changes", "-", "--summary", "-"],
      ["--dry-run=diff", "--summary", "-"], ["--dry-run=diff", "--emit-sql", "-"],
    ])
  func outputs(words: [String]) throws {
    try prepare()
    let source = scratch.write("id\n1\n", to: "in.csv")
    let before = try files()
    let options = words.map {
      $0 == "IN" ? source : $0 == "DB" ? path : $0 == "NEW" ? scratch.file("new") : $0
    }
    let outcome = try Command.run(["load", path, "t", source] + options)
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    #expect(try files() == before)
    #expect(try readFile(source) == Array("id\n1\n".utf8))
  }
}

/// `--explain`: the decisions, the SQL, and nothing else.
@Suite("Explain")
struct ExplainTests {
  let scratch = Scratch()

  private func explain(_ setup: String, _ text: String, _ options: [String]) throws -> String {
    let path = scratch.file("a.db")
    if !setup.isEmpty { try Database(path).rows(setup) }
    let before = try? readFile(path)
    let outcome = try Command.run(
      ["load", path, "t", "-", "--explain"] + options, input: Array(text.utf8))
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect((try? readFile(path)) == before)
    return outcome.output
  }

  /// Titles and decisions without the spaces that put them in columns.
  private func squeezed(_ text: String) -> String {
    text.components(separatedBy: " ").filter { !$0.isEmpty }.joined(separator: " ")
  }

  @Test("A table that exists: key, rules, statement form and SQL, each with its reason")
  func existing() throws {
    let said = try explain(
      """
      CREATE TABLE p(id INTEGER PRIMARY KEY);
      CREATE TABLE t(id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE UNIQUE, hits INT, at TEXT, p REFERENCES p,
        note TEXT DEFAULT 'none', twice AS (hits * 2), gone);
      CREATE TRIGGER watch AFTER UPDATE ON t BEGIN SELECT 1; END;
      """, "id,email,hits,at,p,gone\n1,a@b,2,x,,0\n",
      [
        "--key", "email", "--set", "hits=sum", "--merge", "coalesce", "--merge", "newer:at", "--delete-when",
        "gone=1",
      ])
    for line in [
      "table          t: a table that exists",
      "mode           upsert: there is a key",
      "key            UNIQUE (email): it is the key of all rows on the columns of --key",
      "NULL in key    reject: NULL matches no row",
      "column         email: part of the key, never changed",
      "column         hits: sum of both",
      "column         at: coalesce",
      "column         note: not in the input; new rows get its default 'none', others keep it",
      "newer          at: a row changes only if the record's value is not less",
      "delete when    gone = 1: such records delete their row",
      "statements     one row a statement: the table has triggers (watch)",
      "foreign key    (p) to p: looked at as the schema says",
      "trigger        watch: runs",
      "commits        every 100000 records",
      "records that speak of every column:\n  INSERT INTO \"t\" (\"id\", \"email\", \"hits\", \"at\", \"p\", \"gone\")",
      "ON CONFLICT (\"email\") DO UPDATE SET",
      "records that are deletes:\n  DELETE FROM \"t\" WHERE \"t\".\"email\" = ?2",
    ] {
      #expect(squeezed(said).contains(squeezed(line)), "\(line) in:\n\(said)")
    }
    #expect(!said.contains("upsurge_note"))
  }

  @Test(
    "Why there is a key or none",
    arguments: [
      ("", ["--key", "a"], "key PRIMARY KEY (a): it is the key of all rows on the columns of --key"),
      ("", [], "key none: none was given, and the table has no primary key"),
      (
        "CREATE TABLE t(a INT PRIMARY KEY, b)", [],
        "key PRIMARY KEY (a): no key was given, and the input has all"
      ),
      (
        "CREATE TABLE t(a, b, c INTEGER PRIMARY KEY)", [],
        "key none: none was given, and the input lacks c of"
      ),
      (
        "CREATE TABLE t(a PRIMARY KEY, b)", ["--mode", "insert"], "key none: mode insert makes a row of every"
      ),
      (
        "CREATE TABLE t(a, b); CREATE UNIQUE INDEX live ON t(a) WHERE b = 1", ["--key", "a"],
        "it is the only key on the columns of --key, and counts for the rows of its WHERE"
      ),
      ("CREATE TABLE t(a UNIQUE, b UNIQUE)", ["--any-key"], "it decides where none before it matches a row"),
      ("CREATE TABLE t(a INTEGER PRIMARY KEY, b)", [], "NULL in key insert: an INTEGER PRIMARY KEY"),
      (
        "CREATE TABLE t(a, b)", ["--changes", "CHANGES"],
        "statements one row a statement: what becomes of each"
      ),
      (
        "CREATE TABLE t(a, b)", [],
        "statements many rows a statement: an insert that fails says how far it came"
      ),
    ] as [(String, [String], String)])
  func keys(setup: String, options: [String], expected: String) throws {
    let words = options.map { $0 == "CHANGES" ? scratch.file("changes") : $0 }
    let said = try explain(setup, "a,b\n1,2\n", words)
    #expect(squeezed(said).contains(expected), "\(said)")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("changes")))
  }
}
