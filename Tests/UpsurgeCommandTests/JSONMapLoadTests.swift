import Foundation
import TestSupport
import Testing
import Upsurge

/// JSON documents whose records are values of an object, loaded by the command.
@Suite("Maps of records") struct JSONMapLoadTests {
  let scratch = Scratch()

  private func load(_ text: String, _ arguments: [String] = []) throws -> Command.Outcome {
    try Command.run(["load", scratch.file("a.db"), "t", scratch.write(text, to: "in.json")] + arguments)
  }

  private func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  @Test("The keys are a column like any other") func key() throws {
    let text = "{\"a\": {\"x\": 1, \"sub\": {\"n\": 1}}, \"b\": {\"x\": 2}}"
    let outcome = try load(text, ["--json-map", "id", "--key", "id", "--flatten"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try rows("SELECT id, x, sub_n FROM t") == ["'a'|1|1", "'b'|2|NULL"])
    // Renamed, left out, and into a column of numbers.
    #expect(
      try load("{\"7\":{\"x\":1}}", ["--json-map", "k", "--rename", "k=id", "--key", "id"]).exitCode == 0)
    #expect(try rows("SELECT id FROM t WHERE id = '7'") == ["'7'"])
    #expect(try load("{\"7\":{\"x\":5}}", ["--json-map", "k", "--columns", "x"]).exitCode != 64)
    let wrong = try load(text, ["--json-map", "id", "--format", "ndjson"])
    #expect(wrong.exitCode == 64 && wrong.talk.contains("--json-map"), "\(wrong.talk)")
  }

  static let maps: [(text: String, options: String)] = [
    ("{\"a\":{\"id\":1,\"v\":2},\"b\":{\"id\":2,\"v\":3}}", "--json-map key"),
    ("{\n \"a\":{\"id\":1},\n \"b\":{\"id\":2}\n}\n", "--json-map key"),
    ("{\"key\":{\"id\":1,\"key\":2},\"b\":{\"id\":2,\"key\":4}}", "--json-map name"),
    ("{\"data\":{\"a\":{\"id\":1},\"b\":{\"id\":2}}}", "--json-path data --json-map key"),
    ("{\"r\":{\"d\":{\"a\":{\"id\":1},\"b\":{\"id\":2}}}}", "--json-path r.d --json-map key"),
    ("{\"a\":{\"id\":1,\"tags\":[{\"n\":1}]},\"b\":{\"id\":2,\"tags\":[{\"n\":2}]}}", "--json-map key"),
    (
      "{\"meta\":{\"n\":2},\"d\":{\"a\":{\"id\":1,\"v\":1},\"b\":{\"id\":2,\"v\":2}}}",
      "--json-path d --json-map key"
    ),
  ]

  @Test("A document that is a map is refused with the options that would do", arguments: maps.indices)
  func hint(index: Int) throws {
    let (text, options) = Self.maps[index]
    let outcome = try load(text)
    #expect(outcome.exitCode == 65, "\(text): \(outcome.talk)")
    #expect(outcome.talk.contains("fix: \(options) reads its records"), "\(outcome.talk)")
    let followed = try load(text, options.split(separator: " ").map(String.init))
    #expect(followed.exitCode == 0, "\(followed.talk)")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["1", "2"])
  }

  @Test(
    "Objects in a record are no map",
    arguments: [
      "{\"id\":1,\"a\":{\"x\":1},\"b\":{\"x\":2}}", "{\"a\":{\"x\":1}}", "{\"a\":{\"x\":1},\"b\":{\"y\":2}}",
      "{\"a\":{},\"b\":{}}", "{\"a\":{\"x\":1},\"b\":{\"x\":2}}\n{\"a\":{\"x\":3},\"b\":{\"x\":4}}\n",
      "[{\"a\":{\"x\":1},\"b\":{\"x\":2}}]", "{\"a\":{\"x\":1},\"b\":{\"x\":2},\"c\":null}",
    ])
  func record(text: String) throws {
    let outcome = try load(text)
    #expect(outcome.exitCode == 0, "\(text): \(outcome.talk)")
    #expect(!outcome.talk.contains("--json-map"))
  }

  @Test("Rejects keep their keys, and can be tried again") func replay() throws {
    _ = try rows("CREATE TABLE t(id TEXT PRIMARY KEY, x INTEGER CHECK (x < 10))")
    let text = "{\"a\": {\"x\": 1},\n\"b\": {\"x\": 11},\n\"c\": 5,\n\"d\": {\n\"x\": 12}}"
    let outcome = try load(
      text, ["--json-map", "id", "--key", "id", "--on-error", "reject", "--rejects", "table"])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(try rows("SELECT raw FROM upsurge_rejects ORDER BY record").count == 3)
    _ = try rows("UPDATE upsurge_rejects SET raw = replace(replace(raw, '11', '3'), '12', '4')")
    _ = try rows("UPDATE upsurge_rejects SET raw = '\"c\": {\"x\": 5}' WHERE raw LIKE '%c%'")
    let replayed = try Command.run(["replay", scratch.file("a.db")])
    #expect(replayed.exitCode == 0, "\(replayed.talk)")
    #expect(try rows("SELECT id, x FROM t ORDER BY id") == ["'a'|1", "'b'|3", "'c'|5", "'d'|4"])
  }

  @Test("A large map comes whole, also through a pipe and with small memory") func large() throws {
    let text =
      "{"
      + (0..<60_000).map { "\"key \($0)\": {\"x\": \($0), \"t\": \"some more text\"}" }.joined(
        separator: ",\n") + "}"
    let path = scratch.write(text, to: "in.json")
    for source in [path, "exec:cat \(path)"] {
      let outcome = try Command.run([
        "load", scratch.file("a.db"), "t", source, "--json-map", "id", "--key", "id", "--memory", "16MiB",
      ])
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try rows("SELECT count(*), sum(x), min(id) FROM t") == ["60000|1799970000|'key 0'"])
    }
  }

  @Test("A job file says it, too") func job() throws {
    _ = scratch.write("{\"data\":{\"a\":{\"x\":1},\"b\":{\"x\":2}}}", to: "in.json")
    let job = scratch.write(
      "tables:\n  t:\n    source: in.json\n    json-path: data\n    json-map: id\n    key: [id]\n    sweep: hard\n",
      to: "job.yaml")
    let outcome = try Command.run(["mirror", scratch.file("a.db"), job])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try rows("SELECT id, x FROM t") == ["'a'|1", "'b'|2"])
  }
}
