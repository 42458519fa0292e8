import Foundation
import TestSupport
import Testing
import Upsurge

/// Options that cannot do what they say are refused or spoken of, never passed over.
@Suite("Options that fit")
struct OptionFitTests {
  let scratch = Scratch()
  private var path: String { scratch.file("a.db") }

  private func prepare(_ sql: String) throws { try Database(path).rows(sql) }

  private func load(_ text: String, _ options: [String], table: String = "t") throws -> Command.Outcome {
    try Command.run(["load", path, table, "-", "--format", "csv"] + options, input: Array(text.utf8))
  }

  private static let withoutKey = "needs a key, and table t has no PRIMARY KEY in the input"

  @Test(
    "Rules without a key, or in a mode that asks none",
    arguments: [
      (["--set", "v=sum"], "--set \(withoutKey)"),
      (["--update-if", "excluded.v > v"], "--update-if \(withoutKey)"),
      (["--merge", "coalesce"], "--merge coalesce \(withoutKey)"),
      (["--merge", "newer:v"], "--merge newer:v \(withoutKey)"),
      (["--null-keys", "insert"], "--null-keys insert \(withoutKey)"),
      (["--mode", "ignore", "--set", "v=sum"], "mode ignore never changes a row: --set does not apply"),
      (
        ["--mode", "insert", "--merge", "keep"],
        "mode insert never changes a row: --merge keep does not apply"
      ),
      (
        ["--mode", "delete", "--key", "k", "--update-if", "1"],
        "mode delete changes no values: --update-if does not apply"
      ),
    ])
  func rulesThatDoNotApply(options: [String], message: String) throws {
    for setup in ["CREATE TABLE t(k, v)", "CREATE TABLE other(a)"] {
      for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
      try prepare(setup)
      let outcome = try load("k,v\n1,2\n", options)
      #expect(outcome.exitCode == 64 && outcome.talk.contains(message), "\(outcome.talk)")
      #expect(try Database(path).rows("SELECT count(*) FROM sqlite_schema") == ["1"], "nothing is made")
    }
  }

  @Test(
    "Rules that do apply pass, and so does an empty feed",
    arguments: [
      ["--key", "k", "--mode", "delete", "--merge", "newer:v"],
      ["--key", "k", "--mode", "ignore", "--merge", "newer:v", "--delete-when", "v=9"],
      ["--key", "k", "--merge", "keep", "--set", "v=sum", "--null-keys", "insert"],
    ])
  func rulesThatApply(options: [String]) throws {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, v INT)")
    let outcome = try load("k,v\n1,2\n", options)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let empty = try Command.run(["load", path, "t", "-", "--format", "ndjson", "--merge", "newer:v"])
    #expect(empty.exitCode == 0, "\(empty.talk)")
  }

  @Test("Options for new tables are spoken of where the table exists")
  func newTableOptions() throws {
    try prepare("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    let outcome = try load("k,v\n1,2\n", ["--strict", "--type", "v:TEXT", "--not-null", "v"])
    #expect(
      outcome.exitCode == 0
        && outcome.talk.contains("table t exists: --strict, --not-null, --type change nothing"),
      "\(outcome.talk)")
    let added = try load("k,w\n1,2\n", ["--alter", "--type", "w:TEXT"])
    #expect(added.exitCode == 0 && !added.talk.contains("change nothing"), "\(added.talk)")
    #expect(try Database(path).rows("SELECT w FROM t") == ["'2'"])
  }

  @Test("Modes for rows that exist make no table", arguments: ["update", "delete"])
  func noTable(mode: String) throws {
    let outcome = try load("k,v\n1,2\n", ["--key", "k", "--mode", mode], table: "nosuch")
    let work = mode == "update" ? "changes" : "deletes"
    let message = "there is no table nosuch; mode \(mode) only \(work) rows that exist"
    #expect(outcome.exitCode == 64 && outcome.talk.contains(message), "\(outcome.talk)")
    #expect(access(path, F_OK) != 0, "no file is left")
    try prepare("CREATE TABLE o(a)")
    let kept = try load(
      "k,v\n1,2\n", ["--key", "k", "--mode", mode, "--contract", "quarantine"], table: "nosuch")
    #expect(kept.exitCode == 2, "\(kept.talk)")
  }

  @Test("A new table gets the key that no PRIMARY KEY can be")
  func keyOfNewTable() throws {
    let text = "Email,active\nAnn@x,1\nBob@x,0\nann@x,2\n"
    for options in [["--key", "lower(Email)"], ["--key", "Email", "--key-where", "active = 1"]] {
      let refused = try load(text, options)
      #expect(
        refused.exitCode == 64 && refused.talk.contains("make the table first, or add --create-key"),
        "\(refused.talk)")
    }
    let made = try load(text, ["--key", "lower(Email)", "--create-key"])
    #expect(made.exitCode == 0 && made.talk.contains("inserted 2 · updated 1"), "\(made.talk)")
    #expect(made.talk.contains("\n);\nCREATE UNIQUE INDEX \"t_lower_Email__key\" ON \"t\" (lower(Email))"))
    let partial = try load(text, ["--key", "Email", "--key-where", "active = 1", "--create-key"], table: "u")
    #expect(partial.exitCode == 0 && partial.talk.contains("inserted 3"), "\(partial.talk)")
    #expect(
      try Database(path).rows("SELECT sql FROM sqlite_schema WHERE name = 'u_Email_key'")
        == ["'CREATE UNIQUE INDEX \"u_Email_key\" ON \"u\" (\"Email\") WHERE active = 1'"])
    let wrong = try load(text, ["--key", "lower(nope)", "--create-key"], table: "w")
    #expect(wrong.exitCode == 64 && wrong.talk.contains("no such column: nope"), "\(wrong.talk)")
    #expect(try Database(path).rows("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'w%'") == ["0"])
  }

  @Test("--create-key says what it made, under a name that is free")
  func createdKey() throws {
    try prepare("CREATE TABLE t(a, b); CREATE UNIQUE INDEX t_a_key ON t(a) WHERE b = 1")
    let outcome = try load("a,b\n1,2\n", ["--key", "a", "--key-where", "b = 2", "--create-key"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.talk.contains("made UNIQUE INDEX t_a_key_2 on t (a) WHERE b = 2"), "\(outcome.talk)")
  }

  @Test(
    "A view needs the triggers of the mode",
    arguments: [
      ("insert", "INSERT", nil), ("upsert", "INSERT", "UPDATE"), ("upsert", "UPDATE", "INSERT"),
      ("delete", "INSERT", "DELETE"), ("update", "UPDATE", nil),
    ] as [(String, String, String?)])
  func triggersOfViews(mode: String, event: String, missing: String?) throws {
    try prepare(
      """
      CREATE TABLE b(k INTEGER PRIMARY KEY, v); CREATE VIEW t AS SELECT k, v FROM b;
      CREATE TRIGGER "INSTEAD OF" /* INSTEAD OF DELETE */ INSTEAD OF \(event) ON t BEGIN SELECT 1; END
      """)
    let outcome = try load("k,v\n1,2\n", ["--key", "k", "--mode", mode])
    if let missing {
      let message = "view t has no INSTEAD OF \(missing) trigger, which mode \(mode) needs"
      #expect(outcome.exitCode == 64 && outcome.talk.contains(message), "\(outcome.talk)")
    } else {
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
    }
  }
}
