import TestSupport
import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

private func sequence(_ format: JSONFormat, _ path: [String] = []) -> JSONDialect {
  var dialect = JSONDialect(format: format, jsonPath: path)
  dialect.allowsSequence = true
  return dialect
}

/// Batches of every kind of cut.
private let drivers = [
  JSONBatchDriver(), JSONBatchDriver(pieces: [1], isEndLate: true), JSONBatchDriver(pieces: [3, 7, 1]),
  JSONBatchDriver(sizes: Batch.Sizes(arenaByteCount: 1, cellCount: 1, recordCount: 1), isEndLate: true),
  JSONBatchDriver(sizes: Batch.Sizes(arenaByteCount: 16, cellCount: 4, recordCount: 2)),
]

/// What all of the drivers make of a text, each also with a parser that is resumed at every batch.
private func parsed(_ text: String, _ dialect: JSONDialect) -> ParsedInput {
  let bytes = Array(text.utf8)
  let policy = JSONKeyPolicy(unknown: .add(.warn))
  let first = parse(bytes, dialect)
  for driver in drivers {
    #expect(parse(bytes, dialect, driver: driver) == first, "\(text) \(driver)")
    var parser = JSONParser(dialect: dialect, file: "t", columns: [], policy: policy)
    let resumed = driver.run(bytes, &parser) {
      JSONParser(dialect: dialect, file: "t", columns: $0, policy: policy)
    }
    #expect(resumed.records == first.records, "\(text) resumed, \(driver)")
    #expect(resumed.rejects == first.rejects && resumed.error?.message == first.error?.message)
  }
  return first
}

@Suite("JSON sequences")
struct JSONSequenceTests {
  static let sniffed: [(text: String, isWhole: Bool, format: JSONFormat?)] = [
    ("{\"a\":1}{\"a\":2}\n", true, .ndjson), ("{\"a\":1}{\"a\":2}", false, .json),
    ("{\"a\":1} {\"a\":2}\n{\"a\"", false, .ndjson), ("{\"a\":1}\n{\n\"a\":2}\n", true, .json),
    ("{\"a\":1}\n{\"a\":[2,\n3", false, .json), ("{\"a\":1}\n{\"a\":2\n", true, .ndjson),
    ("{\"a\":1}\n{\"a\":2,\n{\"a\":3}\n", true, .ndjson), ("[{\"a\":1}]\n[{\"a\":2}]", true, .json),
    ("[{\"a\":1}][{\"a\":2}]", true, .json), ("[]\n[{\"a\":1}]\n", true, .json),
    ("[]\n{\"a\":1}\n", true, .json), ("[{\"a\":1}]\n{\"a\":2}\n", true, .json),
    ("[\"a\"][1]", true, .ndjson), ("[1][2]\n", true, .ndjson), ("[1] [x\n", true, nil),
    ("[12:30] [info] up\n", true, nil), ("[1,{\"a\":2}]\n[2,{}]\n", true, .ndjson),
    ("\u{1E}{\"a\":1}\n\u{1E}{\"a\":2}\n", true, .ndjson), ("\u{1E}{\n\"a\":1}\n", true, .json),
    ("\u{1E}[{\"a\":1}]\n", true, .json), ("\u{1E}a,b\n", true, nil), ("\u{FEFF}{\"a\":1}\n", true, .ndjson),
  ]

  @Test("The sniffer knows them", arguments: sniffed.indices)
  func sniff(index: Int) {
    let (text, isWhole, format) = Self.sniffed[index]
    let found = Array(text.utf8).withUnsafeBufferPointer { JSONSniffer.sniff($0, isWhole: isWhole) }
    #expect(found == format, "\(text)")
  }

  @Test("A torn record of a text sequence takes none of the next ones with it")
  func torn() {
    for (text, count) in [
      ("\u{1E}{\"a\":1}\n\u{1E}{\"a\":\u{1E}{\"a\":3}\n", 1), ("\u{1E}{\"a\":1}\u{1E}{\"a\u{1E}{\"a\":3}", 1),
      ("\u{1E}{\"a\":1}\u{1E}x\u{1E}y\u{1E}{\"a\":3}", 2),
    ] {
      let lines = parsed(text, sequence(.ndjson))
      #expect(lines.records.map { $0.values["a"] } == [RecordValue.integer(1), RecordValue.integer(3)], "\(text): \(lines.records)")
      #expect(lines.rejects.count == count && lines.error == nil, "\(text): \(lines.rejects)")
    }
  }

  static let good: [(text: String, format: JSONFormat, values: [Int64])] = [
    ("{\"a\":1}{\"a\":2}{\"a\":3}", .ndjson, [1, 2, 3]),
    ("{\"a\":1} \t{\"a\":2}\r\n{\"a\":3}", .ndjson, [1, 2, 3]),
    ("{\"a\":1}\n{\"a\":2}{\"a\":3}\n{\"a\":4}\n", .ndjson, [1, 2, 3, 4]),
    ("[\"a\"][1][2]\n[3]", .ndjson, [1, 2, 3]),
    ("\u{1E}{\"a\":1}\n\u{1E}{\"a\":2}\n", .ndjson, [1, 2]),
    ("\u{1E}{\"a\":1}\u{1E}\u{1E} {\"a\":2}\u{1E}", .ndjson, [1, 2]),
    ("{\"a\":1}\u{FEFF}{\"a\":2}\n\u{FEFF}{\"a\":3}\n", .ndjson, [1, 2, 3]),
    ("{\"a\":1}{\"a\":2}{\"a\":3}", .json, [1, 2, 3]), ("{\n\"a\":1\n}\n{\n\"a\":2\n}\n", .json, [1, 2]),
    ("[{\"a\":1},{\"a\":2}]\n[{\"a\":3}]\n", .json, [1, 2, 3]),
    ("[][]\n[{\"a\":1}] [ ]{\"a\":2}", .json, [1, 2]),
    ("[[\"a\"],[1]]\n[[\"a\"],[2]][[3]]", .json, [1, 2, 3]),
    ("\u{1E}[{\"a\":1}]\n\u{1E}\u{1E}{\"a\":2}", .json, [1, 2]),
    ("\u{FEFF}{\"a\":1}\n\u{FEFF}\u{FEFF}[{\"a\":2}]\u{FEFF}\n", .json, [1, 2]),
  ]

  @Test("Values need no line ends", arguments: good.indices)
  func values(index: Int) {
    let (text, format, values) = Self.good[index]
    let result = parsed(text, sequence(format))
    #expect(result.error == nil && result.rejects.isEmpty, "\(text): \(result.error?.description ?? "")")
    #expect(result.records.map(\.values) == values.map { ["a": .integer($0)] }, "\(text)")
  }

  @Test("Positions are those of the values")
  func positions() {
    let lines = parsed("{\"a\":1}{\"a\":2}\n\u{FEFF}{\"a\":3} \u{1E}{\"a\":4}", sequence(.ndjson))
    #expect(
      lines.records.map(\.position.description) == [
        "t, line 1, record 1, byte 0", "t, line 1, record 2, byte 7", "t, line 2, record 3, byte 18",
        "t, line 2, record 4, byte 27",
      ])
    #expect(lines.warnings.entries.map(\.code) == [.byteOrderMark])
    #expect(lines.warnings.entries.first?.first.description == "t, line 2, byte 15")
    let documents = parsed("{\n\"a\":1}\n\n[{\"a\":2}][\n{\"a\":3}]", sequence(.json))
    #expect(
      documents.records.map(\.position.description) == [
        "t, line 1, record 1, byte 0", "t, line 4, record 2, byte 11", "t, line 5, record 3, byte 21",
      ])
  }

  @Test("A broken value on a line costs no good one in front of it")
  func broken() {
    let result = parsed(
      "{\"a\":1}{\"a\":x}\n{\"a\":2}7\n{\"a\":3}{\"a\":\"\\ud800\"}{\"a\":4}\n", sequence(.ndjson))
    #expect(result.records.map(\.values) == [["a": .integer(1)], ["a": .integer(3)], ["a": .integer(4)]])
    #expect(
      result.rejects.map { String(decoding: $0.raw, as: UTF8.self) } == [
        "{\"a\":x}", "{\"a\":2}7", "{\"a\":\"\\ud800\"}",
      ])
  }

  static let bad: [(text: String, path: [String], message: String)] = [
    ("{\"a\":1}\n{\"a\":", [], "the document is not JSON: the value is not complete, found the end"),
    ("[{\"a\":1}][{\"a\":2}", [], "the document ends before it is complete (1 open brackets)"),
    ("[{\"a\":1}]7", [], "the document is not JSON: expected nothing more after the value, found `7`"),
    ("[{\"a\":1}],[]", [], "the document is not JSON: expected nothing more after the value, found `,`"),
    (
      "[{\"a\":1}]\u{FF5B}", [],
      "the document is not JSON: expected nothing more after the value, found byte 0xEF"
    ),
    ("\u{1E}\n", [], "the input is empty"),
    ("\u{1E}7", [], "the document is a number, not an array of records"),
    ("{\"d\":[{\"a\":1}]}{\"e\":[]}", ["d"], "the document has nothing at the JSON path d"),
    ("{\"e\":[]}{\"d\":[]}", ["d"], "the document has nothing at the JSON path d"),
  ]

  @Test("What is no sequence is an error", arguments: bad.indices)
  func errors(index: Int) {
    let (text, path, message) = Self.bad[index]
    #expect(parsed(text, sequence(.json, path)).error?.message == message, "\(text)")
  }

  @Test("A path leads into each document")
  func path() {
    let result = parsed("{\"d\":[{\"a\":1}],\"n\":2}\n{\"n\":1,\"d\":[{\"a\":2}]}", sequence(.json, ["d"]))
    #expect(result.error == nil && result.records.map(\.values) == [["a": .integer(1)], ["a": .integer(2)]])
  }

  @Test("Where a cut is to be noticed, several documents end with a line end")
  func lineEnd() {
    var dialect = sequence(.json)
    dialect.needsLineEnd = true
    #expect(
      parsed("[{\"a\":1}]", dialect).error == nil && parsed("{\"a\":1}{\"a\":2}\n", dialect).error == nil)
    #expect(
      parsed("{\"a\":1}{\"a\":2}", dialect).error?.message
        == "the input has several JSON values and does not end with a line end; it may be cut")
  }

  @Test("A header that each array repeats is no record, and is counted")
  func headers() {
    let result = parsed("[[\"a\"],[1]]\n[[\"a\"],[2],[\"a\"]]", sequence(.json))
    #expect(result.records.map(\.values) == [["a": .integer(1)], ["a": .integer(2)], ["a": .text("a")]])
    #expect(result.warnings.entries.first { $0.code == .repeatedHeader }?.count == 1)
  }

  @Test("One line of many values takes no more memory than one of them", arguments: [JSONFormat.json])
  func memory(format: JSONFormat) {
    let text = (0..<20_000).map { "{\"a\":\($0)}" }.joined()
    let driver = JSONBatchDriver(
      sizes: Batch.Sizes(arenaByteCount: 64, cellCount: 10, recordCount: 10), recordLimit: 64)
    let result = parse(text, sequence(format), driver: driver)
    #expect(result.error == nil && result.rejects.isEmpty && result.records.count == 20_000)
  }

  @Test("Without the option a second value is none", arguments: JSONFormat.allCases)
  func strict(format: JSONFormat) {
    let result = parse("{\"a\":1}{\"a\":2}", JSONDialect(format: format))
    #expect(
      (result.error?.message ?? result.reasons.first)?.contains("expected nothing more after the value")
        == true)
  }
}
