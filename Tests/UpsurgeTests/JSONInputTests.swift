import TestSupport
import Testing
import Upsurge

/// JSON that is neither one document nor one value a line, loaded by the command.
@Suite("JSON as it comes")
struct JSONInputTests {
  let scratch = Scratch()

  /// Loads a text into `t` of the scratch database.
  private func load(_ text: String, _ arguments: [String] = [], to name: String = "in.json") throws
    -> Command.Outcome
  {
    try Command.run(["load", scratch.file("a.db"), "t", scratch.write(text, to: name)] + arguments)
  }

  private func rows(_ sql: String = "SELECT * FROM t ORDER BY rowid") throws -> [String] {
    try Database(scratch.file("a.db")).rows(sql)
  }

  @Test(
    "Values that follow one another are records",
    arguments: [
      "{\"id\":1,\"v\":\"a\"}{\"id\":2,\"v\":\"b\"}",
      "{\n\"id\":1,\n\"v\":\"a\"\n}\n{\"id\":2,\n\"v\":\"b\"}\n",
      "[{\"id\":1,\"v\":\"a\"}]\n[{\"id\":2,\"v\":\"b\"}]\n",
      "[][{\"id\":1,\"v\":\"a\"}] {\"id\":2,\"v\":\"b\"}",
      "\u{1E}{\"id\":1,\"v\":\"a\"}\n\u{1E}{\"id\":2,\"v\":\"b\"}\n",
      "{\"id\":1,\"v\":\"a\"}\n\u{FEFF}{\"id\":2,\"v\":\"b\"}",
      "\u{1E}{\n\"id\":1,\"v\":\"a\"}\n\u{1E}{\"id\":2,\n\"v\":\"b\"}\n",
    ])
  func sequences(text: String) throws {
    for arguments in [[], ["--format", "json"]] {
      let outcome = try load(text, arguments + ["--key", "id"])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try rows() == ["1|'a'", "2|'b'"])
    }
  }

  @Test("Arrays that follow a long one are read, too")
  func longArrays() throws {
    let array = "[" + (0..<60_000).map { "{\"id\":\($0),\"v\":\"some text\"}" }.joined(separator: ",\n") + "]"
    #expect(array.utf8.count > 1 << 20)
    #expect(try load(array + "\n" + array + "[{\"id\":-1}]").exitCode == 0)
    #expect(try rows("SELECT count(*), count(DISTINCT id), min(id) FROM t") == ["120001|60001|-1"])
  }
}
