import Foundation
import TestSupport
import Testing
import Upsurge

/// With `--log json` everything on standard error is a JSON object a line.
@Suite("JSON log") struct JSONLogTests {
  private let scratch = Scratch()

  private func lines(_ talk: String) throws -> [[String: Any]] {
    try talk.split(separator: "\n").map { line in
      let json = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return try #require(json, "no JSON: \(line)")
    }
  }

  @Test("What a command says, too")
  func command() throws {
    let job = scratch.write(
      """
      tables:
        t: { source: "exec:echo one >&2; printf 'two\\\\nthree' >&2; printf 'id,v\\\\n1,a\\\\n'", key: id }
      """, to: "job.yaml")
    let outcome = try Command.run(["mirror", scratch.file("a.db"), job, "--log", "json"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let said = try lines(outcome.talk).filter { $0["event"] as? String == "command" }
    #expect(said.map { $0["message"] as? String } == ["one", "two", "three"], "\(outcome.talk)")
    let plain = try Command.run(["mirror", scratch.file("b.db"), job])
    #expect(plain.talk.contains("one\ntwo\nthree"), "\(plain.talk)")
  }

  @Test(
    "Usage errors",
    arguments: [
      ["mirror", "a.db", "--log", "json", "--nonsense"], ["mirror", "--log=json"],
      ["mirror", "a.db", "--log", "json", "nowhere.yaml"],
      ["mirror", "a.db", "b.yaml", "--log", "json", "--dry-run=what"],
      ["mirror", "a.db", "b.yaml", "--log", "json", "--verify", "--atomic", "table", "--atomic", "job"],
    ])
  func usage(arguments: [String]) throws {
    let outcome = try Command.run(
      arguments.map { $0.hasSuffix(".db") || $0.hasSuffix(".yaml") ? scratch.file($0) : $0 })
    #expect([64, 66].contains(outcome.exitCode), "\(outcome.talk)")
    let lines = try lines(outcome.talk)
    #expect(!lines.isEmpty && lines.allSatisfy { $0["level"] as? String == "error" }, "\(outcome.talk)")
  }
}
