import TestSupport
import Testing

/// A blank line of a spreadsheet is a record without a key, which SQLite numbers anew in each run.
@Suite("Records without their key", .serialized)
struct NumberedKeyTests {
  let scratch = Scratch()
  private var path: String { scratch.file("d.db") }

  private static let text = "id,a,b\n1,x,y\n,,\n5,z,w\n,,\n7,v,u\n"
  private static let words =
    "2 records without a key stored as a new row, as by each run (--null-keys reject rejects such records)"

  private func load(_ arguments: [String], text: String = text) throws -> Command.Outcome {
    try Command.run(["load", path, "t", scratch.write(text, to: "in.csv"), "--key", "id"] + arguments)
  }

  @Test("Each run counts them, and says where the first one is")
  func counted() throws {
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)")
    for run in 1...2 {
      let outcome = try load(["--summary", "-"])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(outcome.talk.contains("warning: \(Self.words), first at "), "\(outcome.talk)")
      #expect(outcome.talk.contains("/in.csv, line 3, record 2"), "\(outcome.talk)")
      #expect(outcome.output.contains("numbered-key"))
      #expect(try Database(path).rows("SELECT count(*) FROM t WHERE a IS NULL") == ["\(run * 2)"])
    }
  }

  @Test(
    "So does a run that makes the table, in any order of its keys", arguments: [[], ["--direct", "never"]])
  func new(arguments: [String]) throws {
    let keys = (1...500).map { "\(($0 * 7_919) % 1_009 + 10),x,y\n" }.joined()
    let outcome = try load(arguments, text: "id,a,b\n" + keys + ",,\n" + keys + ",,\n1,x,y\n")
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.talk.contains("warning: \(Self.words)"), "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT count(*) FROM t WHERE a IS NULL") == ["2"])
  }

  @Test("The option that the warning names rejects them, and the other one says that they are wanted")
  func policies() throws {
    let rejected = try load(["--null-keys", "reject", "--on-error", "reject"])
    #expect(rejected.exitCode == 2 && rejected.talk.contains("rejected: 2 null-key"), "\(rejected.talk)")
    #expect(!rejected.talk.contains("without a key"), "\(rejected.talk)")
    let wanted = try load(["--null-keys", "insert"])
    #expect(wanted.exitCode == 0 && !wanted.talk.contains("without a key"), "\(wanted.talk)")
    #expect(try Database(path).rows("SELECT count(*) FROM t WHERE a IS NULL") == ["2"])
  }

  @Test("Records that are only inserted get their numbers as ever")
  func inserted() throws {
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)")
    let outcome = try load(["--mode", "insert"])
    #expect(outcome.exitCode == 0 && !outcome.talk.contains("without a key"), "\(outcome.talk)")
  }
}
