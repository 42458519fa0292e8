import TestSupport
import Testing

/// The same file once more, without a key: its rows are there twice. A run says so where the history knows the file, or the rows
/// are those before them.
@Suite("Files that are loaded again", .serialized)
struct RepeatedFileTests {
  let scratch = Scratch()
  private var path: String { scratch.file("d.db") }

  private static let text = "id,a\n" + (1...1_000).map { "\($0),x\n" }.joined()

  private func load(_ file: String, _ arguments: [String], text: String = text) throws -> Command.Outcome {
    let outcome = try Command.run(["load", path, "t", scratch.write(text, to: file)] + arguments)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    return outcome
  }

  private func count() throws -> [String] { try Database(path).rows("SELECT count(*) FROM t") }

  @Test("It is said, under its name and another one, and also of a dry run")
  func said() throws {
    #expect(try !load("in.csv", ["--history"]).talk.contains("before, by run"))
    let words = " was loaded into table t before, by run 1 of "
    for (file, arguments) in [("in.csv", ["--dry-run"]), ("copy.csv", []), ("in.csv", [])] {
      let outcome = try load(file, arguments)
      #expect(outcome.talk.contains("/in.csv\(words)"), "\(outcome.talk)")
      #expect(
        outcome.talk.contains(": its records are stored, as rows of their own, a second time\n"),
        "\(outcome.talk)")
    }
    #expect(try count() == ["3000"])
  }

  @Test("Other content, a key, another table and an empty one are not remarked on")
  func unsaid() throws {
    _ = try load("in.csv", ["--history"])
    let other = try load("in.csv", ["--history"], text: Self.text + "1001,y\n")
    #expect(!other.talk.contains("before, by run"), "\(other.talk)")
    try Database(path).rows("DELETE FROM t")
    let emptied = try load("in.csv", [])
    #expect(!emptied.talk.contains("before, by run"), "\(emptied.talk)")
    try Database(path).rows("CREATE UNIQUE INDEX i ON t(id)")
    let keyed = try load("in.csv", ["--key", "id"])
    #expect(!keyed.talk.contains("before, by run"), "\(keyed.talk)")
  }

  @Test("What a rule adds up is said to be added")
  func added() throws {
    let options = ["--key", "id", "--set", "n=sum", "--history"]
    _ = try load("in.csv", options, text: "id,n\n1,2\n")
    let again = try load("in.csv", options, text: "id,n\n1,2\n")
    #expect(again.talk.contains(": its records are added, a second time\n"), "\(again.talk)")
  }

  @Test("Without the history nobody knows the file, but the rows say it, and what helps is true")
  func unknown() throws {
    #expect(try !load("in.csv", []).talk.contains("before"))
    let trial = try load("in.csv", ["--dry-run"])
    #expect(
      trial.talk.contains("\(Self.had("1,000 rows", " (64 of them were compared)"))--key COLS with --create-key stores "),
      "\(trial.talk)")
    let again = try load("in.csv", [])
    #expect(!again.talk.contains("before, by run"))
    let undo = "DELETE FROM \"t\" WHERE rowid > 1000"
    #expect(
      again.talk.contains(
        "\(Self.had("1,000 rows", " (64 of them were compared)"))\(undo) takes this load back, and --key COLS with --create-key stores "),
      "\(again.talk)")
    #expect(try count() == ["2000"])
    try Database(path).rows(undo)
    let keyed = try load("in.csv", ["--key", "id", "--create-key"])
    #expect(keyed.talk.contains("unchanged 1,000") && !keyed.talk.contains("of this load before"), "\(keyed.talk)")
    #expect(try count() == ["1000"])
  }

  private static func had(_ rows: String, _ compared: String = "") -> String {
    "warning: table t had the \(rows) of this load before\(compared), as without a key each load adds all of its records; "
  }

  @Test("So they do where others have come between, where fields are empty, and of JSON")
  func laterRows() throws {
    let (first, second) = ("id,a\n1,\n2,x\n3,\n", "id,a\n4,y\n5,y\n")
    for text in [first, second] { #expect(try !load("in.csv", [], text: text).talk.contains("before")) }
    let again = try load("in.csv", [], text: first)
    #expect(again.talk.contains(Self.had("3 rows") + "DELETE FROM \"t\" WHERE rowid > 5 "), "\(again.talk)")
    let next = try load("in.json", [], text: #"[{"id":1},{"id":2,"a":"x"},{"id":3}]"#)
    #expect(next.talk.contains(Self.had("3 rows") + "DELETE FROM \"t\" WHERE rowid > 8 "), "\(next.talk)")
  }

  @Test(
    "One row, another value and more rows than there were are not remarked on; the last ones once more are",
    arguments: [
      ("id,a\n1,x\n", false), ("id,a\n1,x\n2,x\n3,y\n", false), ("id,a\n1,x\n2,x\n3,x\n4,x\n", false),
      ("id,a\n2,x\n3,x\n", true),
    ])
  func others(text: String, isSaid: Bool) throws {
    _ = try load("in.csv", [], text: "id,a\n1,x\n2,x\n3,x\n")
    let outcome = try load("other.csv", [], text: text)
    #expect(outcome.talk.contains("of this load before") == isSaid, "\(outcome.talk)")
  }

  @Test("Columns that the file lacks may differ, and the rowid has a name that no column has taken")
  func otherTables() throws {
    try Database(path).rows("CREATE TABLE t(id, a, rowid TEXT DEFAULT 'n', made DEFAULT (random()))")
    _ = try load("in.csv", [])
    let again = try load("in.csv", [])
    #expect(again.talk.contains("DELETE FROM \"t\" WHERE _rowid_ > 1000 takes"), "\(again.talk)")
    #expect(try Database(path).rows("SELECT count(DISTINCT made) FROM t") == ["2000"])
  }
}
