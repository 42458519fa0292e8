import TestSupport
import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

private func map(_ path: [String] = [], column: String = "id") -> JSONDialect {
  var dialect = JSONDialect(format: .json, jsonPath: path)
  dialect.mapColumn = column
  dialect.allowsSequence = true
  return dialect
}

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

@Suite("JSON maps of records")
struct JSONMapTests {
  @Test("Each value is a record, with its key, and its bytes are all of the member")
  func members() {
    let text = "{\"a\": {\"x\":1},\n \"b\\u00e9\" :{\"x\":2,\"y\":[3]} , \"\":{}}"
    let result = parsed(text, map())
    #expect(result.error == nil && result.rejects.isEmpty)
    #expect(
      result.records.map(\.values) == [
        ["x": .integer(1), "id": .text("a")], ["x": .integer(2), "y": .text("[3]"), "id": .text("bé")],
        ["id": .text("")],
      ])
    #expect(
      result.records.map { String(decoding: $0.raw, as: UTF8.self) } == [
        "\"a\": {\"x\":1}", "\"b\\u00e9\" :{\"x\":2,\"y\":[3]}", "\"\":{}",
      ])
    #expect(result.records.map(\.position.line) == [1, 2, 2])
    #expect(result.records.map(\.position.byte) == [1, 16, 45])
  }

  @Test("A path leads to it, and maps may follow one another")
  func path() {
    let result = parsed(
      "{\"n\":{\"a\":{}},\"data\":{\"items\":{\"a\":{\"x\":1},\"b\":{\"x\":2}}}}{\"data\":{\"items\":{\"c\":{\"x\":3}}}}",
      map(["data", "items"]))
    #expect(result.error == nil)
    #expect(result.records.map { $0.values["id"] } == [.text("a"), .text("b"), .text("c")])
    #expect(parsed("{}", map()).error == nil && parsed("{}", map()).records.isEmpty)
  }

  @Test("A value that is no object is a reject, and so is one with a fault")
  func rejects() {
    let result = parsed(
      "{\"a\":5,\"b\":{\"x\":1},\"c\":[1,2],\"d\":null,\"e\":{\"x\":\"\\ud800\"},\"f\":\"t\",\"g\":{\"x\":2}}",
      map())
    #expect(result.error == nil)
    #expect(result.records.map { $0.values["id"] } == [.text("b"), .text("g")])
    #expect(
      result.rejects.map(\.code.rawValue) == [
        "not-an-object", "not-an-object", "not-an-object", "lone-surrogate", "not-an-object",
      ])
    #expect(result.rejects.first.map { String(decoding: $0.raw, as: UTF8.self) } == "\"a\":5")
    #expect(result.records.last?.position.record == 7)
  }

  @Test(
    "A record that has the column itself ends the run",
    arguments: ["{\"a\":{\"x\":1},\"b\":{\"id\":2}}", "{\"b\":{\"ID\":2}}"])
  func collision(text: String) {
    let error = parsed(text, map()).error
    #expect(error?.message.contains("itself") == true && error?.hint?.contains("--json-map NAME") == true)
  }

  @Test(
    "What is no map is an error",
    arguments: [
      "[{\"a\":1}]", "{\"a\" {}}", "{\"a\":{\"x\":1}", "{\"a\":", "{\"a", "{\"a\":{},}",
      "{\"a\":{} \"b\":{}}", "5",
    ])
  func errors(text: String) {
    #expect(parsed(text, map()).error != nil, "\(text)")
  }

  @Test("Broken texts are the same for every cut") func mutations() {
    let text = Array(
      "{\"a\": {\"x\":1,\"y\":\"t\"},\n \"b\\u00e9\" :{\"x\":[2],\"y\":null} , \"\":{},\"c\":7,\"\\\"\":{\"z\":1e3}}"
        .utf8)
    var generator = SeededGenerator(seed: 15)
    for _ in 0..<400 {
      var bytes = text
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(text.randomElement(using: &generator) ?? 0x20, at: place)
        default: bytes[place] = Array("{}[]:,\"\\ 1\n\u{1E}".utf8).randomElement(using: &generator) ?? 0x20
        }
        if bytes.isEmpty { break }
      }
      _ = parsed(String(decoding: bytes, as: UTF8.self), map())
    }
  }

  @Test("It takes no more memory than a record") func large() {
    let text = "{" + (0..<3_000).map { "\"key \($0)\":{\"x\":\($0)}" }.joined(separator: ",") + "}"
    let driver = JSONBatchDriver(
      sizes: Batch.Sizes(arenaByteCount: 64, cellCount: 10, recordCount: 10), recordLimit: 64)
    let result = parse(Array(text.utf8), map(), driver: driver)
    #expect(result.error == nil && result.records.count == 3_000)
    #expect(result.records.last?.values == ["x": .integer(2_999), "id": .text("key 2999")])
  }
}
