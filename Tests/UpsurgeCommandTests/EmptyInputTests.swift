import TestSupport
import Testing

/// An input without a record: nothing to do for a table that exists, and nothing to make a new one from.
@Suite struct EmptyInputTests {
  static let options: [[String]] = [
    [], ["--key", "id"], ["--key", "id", "--rename", "a=n"], ["--columns", "id,n"], ["--key", "id", "--delete-when", "n=x"],
    ["--key", "id", "--update-if", "excluded.n > t.n"], ["--mode", "insert"], ["--alter"], ["--contract", "quarantine"],
    ["--direct", "always"],
  ]

  @Test("A table that exists stays as it is", arguments: options, ["", "\n\n", "\u{FEFF}", "[]"])
  func existing(_ options: [String], _ text: String) throws {
    let scratch = Scratch()
    let database = Database(scratch.file("a.db"))
    try database.rows("CREATE TABLE t (id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (1, 'a')")
    let input = scratch.write(text, to: text == "[]" ? "in.json" : "in.csv")
    for source in [input, "-"] {
      let outcome = try Command.run(["load", scratch.file("a.db"), "t", source] + options, input: Array(text.utf8))
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(text == "[]" || outcome.talk.contains("is empty and left out"), "\(outcome.talk)")
      #expect(outcome.talk.contains("inserted 0 · updated 0 · unchanged 0 · rejected 0"), "\(outcome.talk)")
    }
    #expect(try database.rows("SELECT id, n FROM t") == ["1|'a'"])
  }

  @Test("A new table is not made", arguments: ["", "\n", "[]"])
  func new(_ text: String) throws {
    let scratch = Scratch()
    let outcome = try Command.run(["load", scratch.file("a.db"), "t", scratch.write(text, to: "in"), "--key", "id"])
    #expect(outcome.exitCode == 65, "\(outcome.talk)")
    #expect(outcome.talk.contains("nothing to make a table from"), "\(outcome.talk)")
  }

  @Test("A key that the table lacks is said all the same")
  func wrongKey() throws {
    let scratch = Scratch()
    try Database(scratch.file("a.db")).rows("CREATE TABLE t (id INTEGER PRIMARY KEY, n)")
    let outcome = try Command.run(["load", scratch.file("a.db"), "t", scratch.write("", to: "in.csv"), "--key", "nr"])
    #expect(outcome.exitCode == 64)
    #expect(outcome.talk.contains("the key column nr is not a column of table t"), "\(outcome.talk)")
  }
}
