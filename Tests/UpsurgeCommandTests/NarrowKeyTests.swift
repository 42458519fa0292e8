import TestSupport
import Testing

/// A key of too few columns takes many records for one row: then a run says how many it replaced.
@Suite("Keys that are too narrow", .serialized)
struct NarrowKeyTests {
  let scratch = Scratch()
  private var path: String { scratch.file("d.db") }

  private static let words = "replaced earlier ones of this run that have the same key"

  /// Records of so many groups, each one different.
  private func records(_ count: Int, groups: Int) -> String {
    "id,g\n" + (1...count).map { "\($0),g\($0 % groups)\n" }.joined()
  }

  private func load(_ text: String, _ arguments: [String], into table: String = "t") throws -> Command.Outcome
  {
    try Command.run(["load", path, table, scratch.write(text, to: "in.csv")] + arguments)
  }

  @Test(
    "The run that makes the table counts them",
    arguments: [[], ["--direct", "never"], ["--commit-every", "100"], ["--dry-run"]])
  func new(arguments: [String]) throws {
    let outcome = try load(records(1_000, groups: 3), ["--key", "g"] + arguments)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.talk.contains("warning: 997 of 1,000 records \(Self.words) (g);"), "\(outcome.talk)")
  }

  @Test("So does a run into a table that was there, empty or not")
  func existing() throws {
    try Database(path).rows(
      "CREATE TABLE t(id, g PRIMARY KEY); CREATE TABLE u(id, g PRIMARY KEY); INSERT INTO u VALUES (0, 'z')")
    for table in ["t", "u", "u"] {
      let outcome = try load(records(1_000, groups: 3), ["--key", "g"], into: table)
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(outcome.talk.contains("warning: at least 99"), "\(table): \(outcome.talk)")
      #expect(outcome.talk.contains(" of 1,000 records \(Self.words) (g);"), "\(table): \(outcome.talk)")
    }
  }

  @Test("A key that fits is not remarked on, nor is one whose rows every record changes")
  func wide() throws {
    for (index, first) in ["1", "2"].enumerated() {
      let text = "id,g\n" + (1...1_000).map { "\($0),\(first)\($0)\n" }.joined()
      let outcome = try load(text, ["--key", "id"])
      #expect(outcome.talk.contains(index == 0 ? "inserted 1,000" : "updated 1,000"), "\(outcome.talk)")
      #expect(!outcome.talk.contains(Self.words), "\(outcome.talk)")
    }
  }

  @Test(
    "Rules that gather many records in one row are no mistake",
    arguments: [
      ["--set", "id=sum"], ["--merge", "newer:id"], ["--merge", "coalesce"], ["--delete-when", "id=7"],
    ])
  func gathered(arguments: [String]) throws {
    let outcome = try load(records(1_000, groups: 3), ["--key", "g"] + arguments)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(!outcome.talk.contains(Self.words), "\(outcome.talk)")
  }

  @Test("Records that only repeat are unchanged, not replaced")
  func repeated() throws {
    let outcome = try load("id,g\n" + String(repeating: "1,x\n", count: 1_000), ["--key", "g"])
    #expect(outcome.talk.contains("unchanged 999"), "\(outcome.talk)")
    #expect(!outcome.talk.contains(Self.words), "\(outcome.talk)")
  }

  @Test("A table with that key says that another key needs another table")
  func anotherKey() throws {
    try Database(path).rows("CREATE TABLE t(g PRIMARY KEY, id)")
    let outcome = try load(records(10, groups: 3), ["--key", "id"])
    #expect(outcome.exitCode == 64)
    #expect(
      outcome.talk.contains("; where records share a PRIMARY KEY (g), load into another table"),
      "\(outcome.talk)")
  }
}
