import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// The JSON Schema and the reader know the same keys, and judge jobs alike.
@Suite("The schema of job files")
struct JobSchemaTests {
  let scratch = Scratch()

  private func keys(_ path: String...) throws -> Set<String> {
    var value = try JSONSerialization.jsonObject(with: Data(JobSchema.text.utf8))
    for key in path { value = try #require((value as? [String: Any])?[key], "\(key)") }
    return Set(try #require(value as? [String: Any]).keys)
  }

  /// What the reader says of a key with a value of no kind that any key takes.
  private func complaint(_ text: String) throws -> String {
    let error = #expect(throws: UpsurgeError.self, "\(text)") {
      try JobFileReader(file: "job.yaml").read(Array(text.utf8), database: "a.db")
    }
    return error?.message ?? ""
  }

  @Test("Every key of the schema is known to the reader, and every key of the reader is in the schema")
  func keys() throws {
    let known = try self.keys("$defs", "table", "properties")
    for key in known {
      let complaint = try self.complaint("tables: {t: {\"\(key)\": [[{a: b}]]}}")
      #expect(!complaint.contains("not known"), "\(key): \(complaint)")
      #expect(complaint.hasPrefix("tables.t.\(key)") || key == "headers", "\(complaint)")
    }
    #expect(known.subtracting(["source"]) == (try keys("$defs", "defaults", "properties")))
    let ofReader =
      OptionCatalogue.keys.filter { $0.group == nil }.map(\.key) + JobSettings.ownKeys + JobSettings.groups
    #expect(known == Set(ofReader) && known.count == ofReader.count)
    for group in JobSettings.groups {
      let known = try self.keys("$defs", group, "properties")
      #expect(known == Set(OptionCatalogue.keys.filter { $0.group == group }.map(\.key)) && !known.isEmpty)
    }
    let top = try self.keys("properties")
    for key in top { #expect(!(try complaint("{\"\(key)\": 7}")).contains("the key"), "\(key)") }
    #expect(top == ["atomic", "deadline", "defaults", "tables"])
  }

  @Test("Every option of load is a key, or refused with a reason")
  func options() throws {
    let dump = try JSONSerialization.jsonObject(with: Data(LoadCommand._dumpHelp().utf8)) as? [String: Any]
    let arguments = try #require((dump?["command"] as? [String: Any])?["arguments"] as? [[String: Any]])
    let names = arguments.filter {
      $0["kind"] as? String != "positional" && $0["shouldDisplay"] as? Bool == true
    }
    .compactMap { ($0["preferredName"] as? [String: Any])?["name"] as? String }
    #expect(names.count > 60)
    let keys = OptionCatalogue.byKey(group: nil)
    for name in names where !name.hasPrefix("help") {
      #expect((keys[name] == nil) == (RefusedKey.reason(name) != nil), "\(name)")
    }
  }

  private static let good = [
    #"{"tables": {"t": {"source": "a.csv"}}}"#,
    #"{"deadline": "2h", "tables": {"t": {"source": "a", "deadline": "90min", "retries": 3, "retry-after": "1m", "keep-runs": "all", "keep-files": 9, "keep-rejects": 10, "keep-quarantine": "all"}}}"#,
    #"{"atomic": "job", "defaults": {"rejects": "table", "guards": {"min-rows": 5}}, "tables": {"t": {"source": ["a", "b"], "key": ["id"], "sweep": "hard", "scope": "a = 1", "guards": {"max-delete": "10%", "allow-empty": true}}}}"#,
    #"{"tables": {"t": {"source": "https://a/b", "headers": {"A": "b"}, "key": "a,b", "sweep": {"soft": "gone"}, "kind": "snapshot"}}}"#,
    #"{"tables": {"t": {"source": "in/", "folder": {"order": "time", "done": {"move": "done"}}, "null": ["-", "NA"], "flatten": true, "index": [["a", "b"], "c"], "type": {"a": "TEXT"}, "delete-when": {"op": null}, "merge": ["keep", "newer:a"]}}}"#,
    #"{"tables": {"t": {"source": "a", "flatten": ".", "delete-when": "op=D", "commit-every": 1000, "memory": "64MiB", "strict": false, "set": {"n": "sum"}, "default": {"n": 0}}}}"#,
    #"{"tables": {"t": {"source": "a", "null": {"kind": "A", "n": ["-", "NA"]}, "bool": {"flag": "ja/nein", "b": true}}}}"#,
    #"{"tables": {"t": {"source": "a", "null": "A", "bool": ["flag=ja/nein", "b"]}}}"#,
  ]

  private static let bad = [
    #"{}"#, #"[]"#, #"{"tables": {}}"#, #"{"tables": {"t": {}}}"#, #"{"tables": {"t": {"source": []}}}"#,
    #"{"tables": {"t": {"source": "a", "sweeep": "hard"}}}"#,
    #"{"tables": {"t": {"source": "a", "sweep": "hrad"}}}"#,
    #"{"tables": {"t": {"source": "a", "strict": "yes"}}}"#,
    #"{"tables": {"t": {"source": "a", "guards": {"x": 1}}}}"#,
    #"{"defaults": {"source": "a"}, "tables": {"t": {"source": "a"}}}"#,
    #"{"deadline": "soon", "tables": {"t": {"source": "a"}}}"#,
    #"{"atomic": "all", "tables": {"t": {"source": "a"}}}"#,
    #"{"tables": {"t": {"source": "a", "atomic": true}}}"#,
    #"{"tables": {"t": {"source": "a", "rename": ["a"]}}}"#,
    #"{"tables": {"t": {"source": "a", "null": {}}}}"#,
    #"{"tables": {"t": {"source": "a", "null": {"a": []}}}}"#,
    #"{"tables": {"t": {"source": "a", "bool": {"a": {"b": "c"}}}}}"#,
    #"{"tables": {"t": {"source": "a", "folder": {"done": {"copy": "x"}}}}}"#,
    #"{"tables": {"": {"source": "a"}}}"#,
    #"{"tables": {"t": {"source": "a", "key": []}}}"#,
    #"{"tables": {"t": {"source": "a", "delete-when": {"a": 1, "b": 2}}}}"#,
  ]

  @Test("The reader takes the good jobs and none of the bad ones")
  func reader() throws {
    for text in Self.good {
      #expect(throws: Never.self, "\(text)") {
        try JobFileReader(file: "job.json").read(Array(text.utf8), database: "a.db")
      }
    }
    for text in Self.bad { _ = try complaint(text) }
  }

  private static let hasValidator =
    (try? Command.run([], script: "python3 -c 'import jsonschema; jsonschema.Draft202012Validator'").exitCode)
    == 0

  @Test(
    "So does a validator of JSON Schema",
    .enabled(if: hasValidator, "needs python3 with jsonschema (pip install jsonschema), which is not here"))
  func validator() throws {
    let program = """
      import json, sys, jsonschema
      schema = json.load(open(sys.argv[1]))
      jsonschema.Draft202012Validator.check_schema(schema)
      validator = jsonschema.Draft202012Validator(schema)
      for line in open(sys.argv[2]): print(validator.is_valid(json.loads(line)))
      """
    let schema = scratch.write(JobSchema.text, to: "schema.json")
    let jobs = scratch.write((Self.good + Self.bad).map { $0 + "\n" }.joined(), to: "jobs.ndjson")
    let outcome = try Command.run(
      [scratch.write(program, to: "validate.py"), schema, jobs], script: "exec python3 \"$1\" \"$2\" \"$3\"")
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let expected = Self.good.map { _ in "True" } + Self.bad.map { _ in "False" }
    #expect(outcome.output.split(separator: "\n").map(String.init) == expected)
  }
}
