import TestSupport
import Testing
import Upsurge

/// What SQLite says of a statement that nobody has written is told in the words of the task.
@Suite("Raw messages") struct RawWordsTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var schema: String
    var options: [String] = []
    var words: String
  }

  static let cases = [
    Case(
      testDescription: "a column for a virtual table", schema: "CREATE VIRTUAL TABLE t USING fts5(a)",
      options: ["--alter"], words: "the table is a virtual one, which takes no further columns"),
    Case(
      testDescription: "a trigger that names a table which is gone",
      schema: """
        CREATE TABLE t(a, b); CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO gone VALUES (new.a); END
        """, words: "names a table that is not there: main.gone"),
    Case(
      testDescription: "a view of a table that is gone",
      schema: """
        CREATE TABLE t(a, b); CREATE VIEW v AS SELECT * FROM gone;
        CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT a FROM v; END
        """, words: "names a table that is not there: main.gone"),
  ]

  @Test("What is said", arguments: cases)
  func said(_ given: Case) throws {
    let scratch = Scratch()
    try Database(scratch.file("a.db")).rows(given.schema)
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", scratch.write("a,b\n1,2\n", to: "in.csv")] + given.options)
    #expect(outcome.exitCode != 0)
    #expect(outcome.talk.contains(given.words), "\(outcome.talk)")
    #expect(!outcome.talk.contains("may not be altered"), "\(outcome.talk)")
  }
}
