import TestSupport
import Testing

/// The same file once more, without a key: its rows are there twice, which a run says where the history knows the file.
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

  @Test("Without the history nobody knows")
  func unknown() throws {
    for _ in 0..<2 { #expect(try !load("in.csv", []).talk.contains("before, by run")) }
    #expect(try count() == ["2000"])
  }
}
