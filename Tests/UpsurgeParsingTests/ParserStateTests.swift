import TestSupport
import Testing
import UpsurgeParsing
import UpsurgeRecords

@Suite("ParserState: what cannot be understood is refused")
struct ParserStateTests {
  static let lines = JSONDialect(format: .ndjson)
  static let document = JSONDialect(format: .json, jsonPath: ["data"])
  static let whole =
    #"{"shape":"arrays","header":["a"],"left_out":["z"],"document":{"machine":[2,5,0,0,0,0,0,0,0],"open":"{[","#
    + #""matched":1,"found":true,"started":true,"records":2}}"#

  static func parser(_ dialect: JSONDialect) -> JSONParser {
    JSONParser(dialect: dialect, file: "f", columns: [], policy: JSONKeyPolicy(unknown: .add(.warn)))
  }

  @Test(
    "CSV",
    arguments: [
      "x", "{}", "[]", #"{"lines":-1,"headers":0}"#, #"{"lines":2,"headers":0}"#,
      #"{"lines":0,"headers":2}"#, #"{"lines":9223372036854775808,"headers":0}"#, #"{"shape":"objects"}"#,
    ])
  func refusesCSV(details: String) {
    var parser = CSVParser(dialect: CSVDialect(), file: "f", columns: [], slotOfField: [])
    let error = #expect(throws: UpsurgeError.self) {
      try parser.resume(from: ParserState(line: 7, recordCount: 6, details: details))
    }
    #expect(error?.code == .guardRefused)
  }

  @Test func saysWhatIsWrong() {
    var parser = CSVParser(dialect: CSVDialect(), file: "feed.csv", columns: [], slotOfField: [])
    let error = #expect(throws: UpsurgeError.self) {
      try parser.resume(from: ParserState(line: 7, recordCount: 6, details: "{\u{1B}"))
    }
    #expect(
      error?.description
        == "the place in feed.csv that an earlier run had reached cannot be understood\n  at feed.csv, line 7\n"
        + "  here: {\\x1B\n  fix: --resume never reads the input from its start; without a key, delete first what that run has stored"
    )
  }

  @Test(
    "JSON lines",
    arguments: [
      "x", "[]", #"{"shape":"circles"}"#, #"{"shape":"arrays"}"#, #"{"shape":"arrays","header":[]}"#,
      #"{"shape":"arrays","header":[1]}"#, #"{"shape":1}"#, #"{"left_out":{}}"#,
    ])
  func refusesLines(details: String) {
    var parser = Self.parser(Self.lines)
    let error = #expect(throws: UpsurgeError.self) {
      try parser.resume(from: ParserState(line: 7, recordCount: 6, details: details))
    }
    #expect(error?.code == .guardRefused)
  }

  @Test(
    "a place in a document",
    arguments: [
      ("[2,5", "[2,50"), ("\"open\":\"{[\"", "\"open\":\"{(\""), ("[2,5", "[5000,5"), ("[2,5", "[-2,5"),
      ("[2,5,0", "[2,5,2"),
      ("0,0]", "0]"), ("0,0]", "3,0]"), ("0,0]", "0,6]"), ("2,5,0,0,0,0,0,0,0", "2,10,0,0,0,0,0,0,4"),
      ("0,0]", "0,\"\"]"), ("\"records\":2", "\"records\":0"),
      ("\"matched\":1", "\"matched\":2"), ("true", "1"), ("\"found\":true,", ""),
      (",0,0,0,0]", ",256,0,0,0]"),
    ])
  func refusesPlaces(part: String, by other: String) throws {
    var parser = Self.parser(Self.document)
    try parser.resume(from: ParserState(details: Self.whole))
    #expect(parser.state?.details == Self.whole)
    let details = Self.whole.replacing(part, with: other)
    #expect(details != Self.whole)
    var second = Self.parser(Self.document)
    let error = #expect(throws: UpsurgeError.self) { try second.resume(from: ParserState(details: details)) }
    #expect(error?.code == .guardRefused, "\(details)")
  }

  @Test("whatever stands there, nothing traps", arguments: 1...20 as ClosedRange<UInt64>)
  func survivesGarbage(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var acceptedCount = 0
    for _ in 0..<100 {
      var details = Array(Self.whole.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let at = Int.random(in: 0..<details.count, using: &random)
        details[at] = Array("0123456789,{}[]\"-et".utf8).randomElement(using: &random)!
      }
      var parser = Self.parser(Self.document)
      let state = ParserState(
        line: 1, recordCount: 2, details: String(decoding: details, as: UTF8.self))
      guard (try? parser.resume(from: state)) != nil else { continue }
      acceptedCount += 1
      _ = parser.state
      var batch = Batch(sizes: Batch.Sizes(arenaByteCount: 64, cellCount: 8, recordCount: 8))
      for byte in Array(",[1],[\"é\"],{\"a\":\"\\u12\"}, true]}".utf8) {
        batch.arena[batch.arenaByteCount] = byte
        batch.arenaByteCount += 1
      }
      _ = try? parser.parse(&batch, isFinal: true)
    }
    #expect(acceptedCount > 0)
  }

  @Test("keys that are left out are counted once over all parts of a run")
  func countsLeftOutKeysOnce() throws {
    let policy = JSONKeyPolicy(unknown: .skip)
    var first = JSONParser(dialect: Self.lines, file: "f", columns: [], policy: policy)
    var batch = Self.batch(#"{"a": 1, "\u0061": 2, "b": 3}"# + "\n")
    try first.parse(&batch, isFinal: false)
    let counts = batch.warnings.entries.map { "\($0.column ?? "-") \($0.count)" }
    #expect(counts == ["a 1", "b 1"])
    let state = try #require(first.state)
    #expect(
      state == ParserState(line: 2, recordCount: 1, details: #"{"shape":"objects","left_out":["a","b"]}"#))
    var second = JSONParser(dialect: Self.lines, file: "f", columns: [], policy: policy)
    try second.resume(from: state)
    var rest = Self.batch(#"{"b": 1, "c": 2}"# + "\n")
    try second.parse(&rest, isFinal: true)
    let restCounts = rest.warnings.entries.map { "\($0.column ?? "-") \($0.count) \($0.first)" }
    #expect(restCounts == ["c 1 f, line 2, record 2, byte 0"])
  }

  private static func batch(_ text: String) -> Batch {
    var batch = Batch()
    for byte in text.utf8 {
      batch.arena[batch.arenaByteCount] = byte
      batch.arenaByteCount += 1
    }
    return batch
  }
}
