import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

private func document(_ path: String = "") -> JSONDialect {
  JSONDialect(format: .json, jsonPath: (try? JSONPath.parse(path)) ?? ["?"])
}

@Suite("JSON documents")
struct JSONDocumentTests {
  static let good: [(text: String, path: String, count: Int)] = [
    ("[]", "", 0), (" [ ] \n", "", 0), ("[{\"a\":1}]", "", 1), ("{\"a\":1}", "", 1), (" {\"a\":1} \n", "", 1),
    ("[{\"a\":1},\n{\"a\":2}]", "", 2), ("{\"d\":[{\"a\":1},{\"a\":2}]}", "d", 2),
    ("{\"x\":{\"d\":[{}]},\"d\":[{\"a\":1}],\"y\":[{\"d\":1}]}", "d", 1),
    ("{\"m\":{\"n\":[{\"a\":1}],\"z\":\"\\n\"},\"n\":null}", "m.n", 1),
    ("{\"a.b\":{\"c\\\"\":[{\"a\":1},{}]}}", "\"a.b\".\"c\\\"\"", 2),
    ("{\"\\u0064\":[{\"a\":1}]}", "$.d", 1), ("[[\"a\"],[1],[2]]", "", 2), ("{\"d\":[[\"a\"],[1]]}", "d", 1),
    ("{\"d\":{\"d\":[{}]}}", "d.d", 1),
  ]

  @Test("where the records are", arguments: good.indices)
  func records(index: Int) {
    let (text, path, count) = Self.good[index]
    for driver in [
      JSONBatchDriver(), JSONBatchDriver(sizes: Batch.Sizes(arenaByteCount: 1, cellCount: 1, recordCount: 1)),
    ] {
      let parsed = parse(text, document(path), driver: driver)
      #expect(parsed.error == nil && parsed.rejects.isEmpty && parsed.records.count == count, "\(text)")
    }
  }

  static let bad: [(text: String, path: String, message: String, line: UInt64, byte: UInt64)] = [
    ("", "", "the input is empty", 1, 0), (" \n ", "", "the input is empty", 1, 0),
    ("[{\"a\":1}", "", "the document ends before it is complete (1 open brackets)", 1, 8),
    ("[{\"a\":1},]", "", "the document is not JSON: expected a value, found `]`", 1, 9),
    (
      "[{\"a\":1}]\n x", "", "the document is not JSON: expected nothing more after the value, found `x`", 2,
      11
    ),
    (
      "{\"a\":1}\n{\"a\":2}", "",
      "the document is not JSON: expected nothing more after the value, found `{`", 2, 8
    ),
    (
      "[{\"a\":1}\n{\"a\":2}]", "",
      "the document is not JSON: expected a comma or ] after a value, found `{`", 2, 9
    ),
    (
      "[{\"a\":1},\n\n{\"a\":tru}]", "", "the document is not JSON: expected true, false or null, found `}`",
      3, 19
    ),
    ("[{\"a\":", "", "the document is not JSON: the value is not complete, found the end", 1, 6),
    ("7", "", "the document is a number, not an array of records", 1, 0),
    ("x", "", "the document is not JSON: expected a value, found `x`", 1, 0),
    ("{\"d\":7}", "d", "the value at d is a number, not an array of records", 1, 5),
    ("{\"d\":{}}", "d", "the value at d is an object, not an array of records", 1, 5),
    ("{\"d\":[]}", "d.e", "the value at d is an array, not an object", 1, 5),
    ("[]", "d", "the document is an array, not an object", 1, 0),
    ("{\"e\":[]}", "d", "the document has nothing at the JSON path d", 1, 8),
    ("{\"d\":[],\"d\":[]}", "d", "the key \"d\" of the JSON path stands twice in one object", 1, 8),
    ("{\"d\":[],\"e\":\n[1,}]}", "d", "the document is not JSON: expected a value, found `}`", 2, 16),
    (
      "{\"e\":\"\u{01}\",\"d\":[]}", "d",
      "the document is not JSON: a control character in a string must be escaped, found byte 0x01", 1, 6
    ),
  ]

  @Test("what cannot be read on is an error with its place", arguments: bad.indices)
  func errors(index: Int) {
    let (text, path, message, line, byte) = Self.bad[index]
    for driver in [
      JSONBatchDriver(), JSONBatchDriver(isEndLate: true),
      JSONBatchDriver(sizes: Batch.Sizes(arenaByteCount: 1, cellCount: 1, recordCount: 1), isEndLate: true),
    ] {
      let error = parse(text, document(path), driver: driver).error
      #expect(error?.code == .badInput)
      #expect(error?.message == message, "\(text)")
      #expect(error?.position?.line == line && error?.position?.byte == byte, "\(error?.description ?? text)")
    }
  }

  @Test("values that are no records are rejects, and the document goes on")
  func rejects() {
    let bytes =
      Array("[{\"a\":1}, 7, \"x\", [1], {\"a\":\"\\ud800\"}, {\"a\":\"".utf8) + [0xFF]
      + Array("\"},\n{\"a\":2}]".utf8)
    let parsed = parse(bytes, document())
    #expect(
      parsed.rejects.map(\.code) == [.notAnObject, .notAnObject, .notAnObject, .loneSurrogate, .invalidUTF8])
    #expect(parsed.records.count == 2 && parsed.error == nil)
    #expect(parsed.records.last?.position.description == "t, line 2, record 7, byte 50")
    #expect(
      parsed.rejects.map { String(decoding: $0.raw, as: UTF8.self) }.prefix(3) == ["7", "\"x\"", "[1]"])
  }

  @Test("what stands beside the path may be larger than the arena")
  func largeAside() {
    let junk = "[" + (0..<20_000).map { "{\"k\":[\($0),\"é\\n\"]}" }.joined(separator: ",") + "]"
    let long = "\"" + String(repeating: "y", count: 100_000) + "\""
    let text = "{\"junk\":\(junk),\"long\":\(long),\"d\":[{\"a\":1}],\"more\":{\"d\":\(junk)}}"
    let driver = JSONBatchDriver(
      sizes: Batch.Sizes(arenaByteCount: 64, cellCount: 10, recordCount: 10), recordLimit: 64)
    let parsed = parse(text, document("d"), driver: driver)
    #expect(parsed.records.map(\.values) == [["a": .integer(1)]] && parsed.error == nil)
  }

  @Test("a record larger than memory ends the run and says what helps")
  func tooLarge() {
    let driver = JSONBatchDriver(
      sizes: Batch.Sizes(arenaByteCount: 1024, cellCount: 10, recordCount: 10), recordLimit: 1 << 20)
    let long = "{\"a\":\"" + String(repeating: "x", count: 3 << 20) + "\"}"
    let error = parse("[{\"a\":1},\n\(long)]", document(), driver: driver).error
    #expect(
      error?.description
        == "a record of the document has more bytes than the 1048576 that memory allows [too-large]\n"
        + "  at t, line 2, record 2, byte 10\n  fix: --memory 8MiB gives more room")
    let whole = parse("{\"d\":[\(long)]}", document(), driver: driver).error
    #expect(whole?.hint?.hasPrefix("--json-path KEY reads the array inside the document") == true)
  }

  @Test("depth counts the brackets around the records")
  func depth() {
    let dialect = JSONDialect(format: .json, jsonPath: ["d"], maximumDepth: 4)
    #expect(parse("{\"d\":[{\"a\":[]}]}", dialect).records.count == 1)
    #expect(
      parse("{\"d\":[{\"a\":[[]]}]}", dialect).error?.message
        == "the document is not JSON: brackets are nested deeper than the limit of 1024, found `[`")
    #expect(parse("{\"e\":[[[[]]]]}", dialect).error != nil)
  }
}

@Suite("JSON paths")
struct JSONPathTests {
  @Test(
    "paths that can be read",
    arguments: [
      ("", []), ("$", []), ("a", ["a"]), ("a.b", ["a", "b"]), ("$.a", ["a"]), ("\"a.b\".c", ["a.b", "c"]),
      ("\"\"", [""]), ("\"q\\\"\\\\\"", ["q\"\\"]), ("$a", ["$a"]), ("é.日", ["é", "日"]),
    ] as [(String, [String])])
  func good(text: String, keys: [String]) throws { #expect(try JSONPath.parse(text) == keys) }

  @Test(
    "paths that cannot",
    arguments: [".", "a.", ".a", "a..b", "\"a", "\"a\"b", "a[0]", "a\"b\"", "$.", "\"a\\"])
  func bad(text: String) {
    #expect { try JSONPath.parse(text) } throws: { error in
      (error as? UpsurgeError)?.code == .usage
        && (error as? UpsurgeError)?.hint?.contains("--json-path") == true
    }
  }
}
