import Foundation
import TestSupport
import Testing
import Upsurge

/// What a person who uses the command for the first time is told.
@Suite("Words for operators")
struct OperatorWordsTests {
  let scratch = Scratch()
  private var path: String { scratch.file("a.db") }

  private func prepare(_ sql: String) throws { try Database(path).rows(sql) }

  private func load(_ text: String, _ options: [String], format: String = "csv") throws -> Command.Outcome {
    try Command.run(["load", path, "t", "-", "--format", format] + options, input: Array(text.utf8))
  }

  @Test(
    "A delete that other rows forbid names them",
    arguments: [["--mode", "delete"], ["--delete-when", "op=D"]])
  func referencedRow(options: [String]) throws {
    try prepare(
      """
      CREATE TABLE t(id INTEGER PRIMARY KEY, up REFERENCES t, op);
      CREATE TABLE line(id INTEGER PRIMARY KEY, prod REFERENCES t);
      CREATE TABLE tag(of REFERENCES t ON DELETE CASCADE);
      INSERT INTO t VALUES (1, NULL, NULL); INSERT INTO line VALUES (7, 1)
      """)
    let outcome = try load("id,op\n1,D\n", ["--key", "id"] + options)
    #expect(outcome.exitCode == 65, "\(outcome.talk)")
    #expect(
      outcome.talk.contains("rows of line refer to this row by (prod), or rows of t"), "\(outcome.talk)")
    #expect(outcome.talk.contains("delete those first") && !outcome.talk.contains("tag"), "\(outcome.talk)")
    let plan = try load("id,op\n1,D\n", ["--key", "id", "--explain"] + options)
    #expect(
      plan.output.contains("rows of tag go too (ON DELETE CASCADE), and are not counted"), "\(plan.output)")
    let child = try load("id,up\n5,6\n6,\n", ["--key", "id"])
    #expect(
      child.talk.contains("load the referenced rows first; --foreign-keys deferred lets"), "\(child.talk)")
    let deferred = try load("id,up\n5,6\n6,\n", ["--key", "id", "--foreign-keys", "deferred"])
    #expect(deferred.exitCode == 0, "\(deferred.talk)")
  }

  @Test(
    "A run that stopped part way says what running it again would do",
    arguments: [
      ("CREATE TABLE t(id, n INT)", [], "would store these 2 records twice"),
      (
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT)", ["--set", "n=sum"], "would add these 2 records twice"
      ),
      (
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT)", ["--set", "n=n + 1"],
        "would add these 2 records twice"
      ),
      ("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT)", ["--set", "n=excluded.n"], nil),
      ("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT)", ["--set", "n=max"], nil),
      ("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT)", ["--mode", "insert"], nil),
    ] as [(String, [String], String?)])
  func runningAgain(table: String, options: [String], words: String?) throws {
    try prepare(table)
    let outcome = try load("id,n\n1,1\n2,2\n3\n", ["--commit-every", "2"] + options)
    #expect(outcome.exitCode == 3, "\(outcome.talk)")
    if let words {
      #expect(outcome.talk.contains("running it again \(words); --atomic makes a run all or nothing"), "\(outcome.talk)")
    } else {
      #expect(!outcome.talk.contains("running it again"), "\(outcome.talk)")
    }
  }

  @Test("A partial key says what becomes of records outside it")
  func partialKey() throws {
    try prepare("CREATE TABLE t(e, active INT); CREATE UNIQUE INDEX k ON t(e) WHERE active = 1")
    let words = "records outside active = 1 match no row and are inserted anew by every run"
    let options = ["--key", "e", "--key-where", "active = 1"]
    let plan = try load("e,active\na,1\nb,0\n", options + ["--explain"])
    #expect(plan.output.contains(words), "\(plan.output)")
    for _ in 1...2 {
      let outcome = try load("e,active\na,1\nb,0\n", options)
      #expect(outcome.exitCode == 0 && outcome.talk.contains(words), "\(outcome.talk)")
    }
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["3"])
    #expect(try !load("e,active\na,1\n", ["--mode", "update"] + options).talk.contains(words))
  }

  @Test(
    "A rule that cannot be names its option",
    arguments: [
      (["--set", "v=avg"], ["--set v: no such column: avg", "replace, coalesce, keep, min, max, sum"]),
      (["--set", "v=nosuch(v)"], ["--set v: no such function: nosuch"]),
      (["--set", "v=excluded.visit + 1"], ["--set v: excluded.visit is no column", "are: id, v, w"]),
      (["--update-if", "excluded.x > v"], ["--update-if: excluded.x is no column", "are: id, v, w"]),
      (["--update-if", "sum(v) > 1"], ["--update-if: misuse of aggregate"]),
      (["--set", "id=max"], ["belongs to the key", "fix: leave out --set id"]),
      (["--set", "w=max"], ["add it to the input, or give SQL such as w=w + 1"]),
    ])
  func brokenRules(options: [String], parts: [String]) throws {
    try prepare("CREATE TABLE t(id INTEGER PRIMARY KEY, v INT, w INT)")
    let outcome = try load("id,v\n1,2\n", options)
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    for part in parts { #expect(outcome.talk.contains(part), "\(outcome.talk)") }
  }

  @Test("The words of --set are known in any case")
  func ruleWords() throws {
    try prepare("CREATE TABLE t(id INTEGER PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 5)")
    let outcome = try load("id,v\n1,2\n", ["--set", "v=SUM"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT v FROM t") == ["7"])
  }

  @Test("--delete-when: the column is named before the table's columns are")
  func tombstoneColumn() throws {
    try prepare("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
    let misspelt = try load("id,v,op\n1,2,D\n", ["--delete-when", "opp=D"])
    #expect(
      misspelt.exitCode == 64 && misspelt.talk.contains("--delete-when names the column opp"),
      "\(misspelt.talk)")
    let leftOut = try load("id,v,op\n1,2,D\n", ["--delete-when", "op=D", "--columns", "id,v"])
    #expect(
      leftOut.exitCode == 64 && leftOut.talk.contains("--columns leaves out the column op"),
      "\(leftOut.talk)")
    let none = try load("id,v,op\n1,2,delete\n", ["--delete-when", "op=DELETE"])
    #expect(none.exitCode == 0 && none.talk.contains("no record had op = DELETE"), "\(none.talk)")
    let some = try load("id,v,op\n1,2,DELETE\n", ["--delete-when", "op=DELETE"])
    #expect(some.talk.contains("deleted 1") && !some.talk.contains("no record had"), "\(some.talk)")
  }

  @Test("A delete needs its key alone", arguments: ["csv", "ndjson"], [[], ["--alter"]])
  func deleteWithMoreFields(format: String, options: [String]) throws {
    try prepare("CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 2), (3, 4)")
    let text = format == "csv" ? "id,reason,v\n1,gone,9\n" : #"{"id":1,"reason":"gone","v":9}"#
    let outcome = try load(text, ["--mode", "delete"] + options, format: format)
    #expect(outcome.exitCode == 0 && outcome.talk.contains("deleted 1"), "\(outcome.talk)")
    if format == "csv" { #expect(outcome.talk.contains("1 field is not needed to delete: reason")) }
    #expect(try Database(path).rows("SELECT * FROM t") == ["3|4"])
  }

  @Test("--explain tells what new rows get, and what is added")
  func explainedColumns() throws {
    try prepare("CREATE TABLE t(id INTEGER PRIMARY KEY, k UNIQUE, d DEFAULT 5, n NOT NULL, o)")
    let plan = try load("k,nw\na,x\n", ["--key", "k", "--alter", "--explain"]).output
    for part in [
      "id: not in the input; new rows get a number", "d: not in the input; new rows get its default 5",
      "n: not in the input; it is NOT NULL without a default", "o: not in the input; new rows get NULL",
      "nw: added, TEXT", "new column:\n  ALTER TABLE \"t\" ADD COLUMN \"nw\" TEXT;",
      "\"nw\" = excluded.\"nw\"",
      "upsert: there is a key",
    ] {
      #expect(plan.contains(part), "\(plan)")
    }
    #expect(try Database(path).rows("SELECT count(*) FROM pragma_table_info('t')") == ["5"])
    let update = try load("k\na\n", ["--key", "k", "--mode", "update", "--explain"]).output
    #expect(!update.contains("not in the input"), "\(update)")
  }

  @Test("NOT NULL in an upsert names the mode that inserts nothing")
  func notNull() throws {
    try prepare("CREATE TABLE t(id INTEGER PRIMARY KEY, n NOT NULL)")
    let outcome = try load("id\n1\n", [])
    #expect(
      outcome.exitCode == 65 && outcome.talk.contains("--mode update changes only rows that exist"),
      "\(outcome.talk)")
  }
}
