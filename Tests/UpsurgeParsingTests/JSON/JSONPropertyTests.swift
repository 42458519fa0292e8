import TestSupport
import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

/// Makes JSON that is hard on readers: every kind of value, escapes, odd white space, now and then broken.
struct RandomJSON {
  var random: SeededGenerator
  /// Whether keys of one object may be the same.
  var hasDuplicates = true

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }

  mutating func space(_ isLine: Bool) -> String {
    chance(70) ? "" : pick(isLine ? [" ", "\t", "  ", " \t "] : [" ", "\n", "\r\n", "\t", "\n\n  "])
  }

  mutating func string() -> String {
    let parts = [
      "a", "bc", "plain text of some length", "é", "日本", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u0041",
      "\\u00e9",
      "\\ud83d\\ude00", "\\u0000", "x\u{7F}", "\u{80}", "\u{FFFF}", "\u{10FFFF}", "007", "1.5", "{", "[", ",",
      ":",
    ]
    var text = ""
    for _ in 0..<Int.random(in: 0...(chance(5) ? 40 : 3), using: &random) { text += pick(parts) }
    if chance(1) { text += pick(["\\ud800", "\\udc00", "\\ud800\\u0041", "\\ud83d\\ud83d\\ude00"]) }
    return "\"\(text)\""
  }

  mutating func number() -> String {
    if chance(50) { return String(Int.random(in: -1000...1000, using: &random)) }
    return pick([
      "0", "-0", "1.5", "-0.25", "1e5", "1E-3", "0.1", "123456789012345678", "1234567890123456789", "1e400",
      "9223372036854775808", "-9223372036854775808", "0.30000000000000004", "12345678901234567890.5", "1e-7",
    ])
  }

  mutating func value(_ isLine: Bool, depth: Int) -> String {
    switch Int.random(in: 0..<(depth < 3 ? 20 : 16), using: &random) {
    case 0..<7: return string()
    case 7..<13: return number()
    case 13: return "null"
    case 14: return "true"
    case 15: return "false"
    case 16, 17: return object(isLine, depth: depth + 1)
    default: return array(isLine, depth: depth + 1)
    }
  }

  mutating func array(_ isLine: Bool, depth: Int, count: Int? = nil) -> String {
    var values: [String] = []
    for _ in 0..<(count ?? Int.random(in: 0...3, using: &random)) {
      values.append(space(isLine) + value(isLine, depth: depth) + space(isLine))
    }
    return "[" + (values.isEmpty ? space(isLine) : values.joined(separator: ",")) + "]"
  }

  mutating func object(_ isLine: Bool, depth: Int) -> String {
    var names = ["id", "name", "b", "c", "long key with spaces", "é", "k\\u0031", "q\\\"q", "n9", "n10"]
    if !chance(80) { names.shuffle(using: &random) }
    if hasDuplicates && chance(5) { names.insert(pick(["id", "NAME", "b", "k1"]), at: 2) }
    var members: [String] = []
    for name in names where chance(60) {
      members.append(
        space(isLine) + "\"\(name)\"" + space(isLine) + ":" + space(isLine) + value(isLine, depth: depth)
          + space(isLine))
    }
    return "{" + (members.isEmpty ? space(isLine) : members.joined(separator: ",")) + "}"
  }

  /// Changes a byte, takes one out, or puts one in.
  mutating func broken(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    let at = Int.random(in: 0..<max(bytes.count, 1), using: &random)
    let byte = pick(Array("{}[],:\"\\0e.- tx\u{01}".utf8) + [0xFF, 0xC3])
    if at >= bytes.count { return [byte] }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: bytes[at] = byte
    case 1: bytes.remove(at: at)
    default: bytes.insert(byte, at: at)
    }
    return bytes
  }
}

/// Drivers with small and odd batches.
private func oddDrivers(_ random: inout SeededGenerator, byteCount: Int) -> [JSONBatchDriver] {
  let split = Int.random(in: 0...max(byteCount, 1), using: &random)
  return [
    JSONBatchDriver(),
    JSONBatchDriver(isEndLate: true),
    JSONBatchDriver(sizes: Batch.Sizes(arenaByteCount: 1, cellCount: 1, recordCount: 1)),
    JSONBatchDriver(sizes: Batch.Sizes(arenaByteCount: 16, cellCount: 7, recordCount: 2), isEndLate: true),
    JSONBatchDriver(
      sizes: Batch.Sizes(arenaByteCount: 64, cellCount: 1_000, recordCount: 3), pieces: [5, 1, 17]),
    JSONBatchDriver(pieces: [split, .max]),
    JSONBatchDriver(sizes: Batch.Sizes(arenaByteCount: 4_096, cellCount: 100, recordCount: 100), pieces: [1]),
  ]
}

@Suite("JSON: random input against the oracle")
struct JSONPropertyTests {
  static func seed(_ name: String) -> UInt64 {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("JSONPropertyTests.\(name) seed \(seed)")
    return seed
  }

  @Test("lines", arguments: [nil, "_"])
  func lines(flatten: String?) {
    let seed = Self.seed("lines")
    for round in 0..<60 as Range<UInt64> {
      var make = RandomJSON(random: SeededGenerator(seed: seed &+ round), hasDuplicates: flatten == nil)
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...12, using: &make.random) {
        let text = make.chance(95) ? make.object(true, depth: 0) : make.value(true, depth: 0)
        bytes += make.chance(8) ? make.broken(text) : Array((make.space(true) + text + make.space(true)).utf8)
        bytes += Array(make.pick(["\n", "\n", "\n", "\r\n", "\n\n"]).utf8)
      }
      if make.chance(50) && bytes.last == 0x0A { bytes.removeLast() }
      let duplicates = make.pick([JSONDialect.DuplicateKeys.lastWins, .reject])
      let dialect = JSONDialect(flattenSeparator: flatten, duplicateKeys: duplicates)
      let drivers = oddDrivers(&make.random, byteCount: bytes.count)
      expectOracle(bytes, dialect, drivers, "seed \(seed) round \(round)")
    }
  }

  @Test("documents", arguments: [[], ["data"], ["a", "data"]])
  func documents(path: [String]) {
    let seed = Self.seed("documents")
    for round in 0..<80 as Range<UInt64> {
      var make = RandomJSON(random: SeededGenerator(seed: seed &+ round))
      var records: [String] = []
      for _ in 0..<Int.random(in: 0...6, using: &make.random) {
        let text = make.chance(95) ? make.object(false, depth: 0) : make.value(false, depth: 1)
        records.append(make.space(false) + text + make.space(false))
      }
      var text = "[" + records.joined(separator: ",") + "]"
      for key in path.reversed() {
        text =
          "{\"x\":\(make.value(false, depth: 0)),\"\(key)\":\(text), \"y\" : \(make.value(false, depth: 0))}"
      }
      text = make.space(false) + text + make.space(false)
      let bytes = make.chance(25) ? make.broken(text) : Array(text.utf8)
      let dialect = JSONDialect(format: .json, jsonPath: path)
      expectOracle(
        bytes, dialect, oddDrivers(&make.random, byteCount: bytes.count), "seed \(seed) round \(round)")
    }
  }

  @Test("arrays behind a header", arguments: JSONFormat.allCases)
  func arrays(format: JSONFormat) {
    let seed = Self.seed("arrays")
    for round in 0..<40 as Range<UInt64> {
      var make = RandomJSON(random: SeededGenerator(seed: seed &+ round))
      let isLine = format == .ndjson
      var rows = ["[\"a\", \"b\",\"c\\u0031\"]"]
      for _ in 0..<Int.random(in: 0...8, using: &make.random) {
        let count = make.chance(90) ? 3 : Int.random(in: 0...5, using: &make.random)
        rows.append(
          make.chance(90)
            ? make.array(isLine, depth: 0, count: count) : make.value(isLine, depth: 0))
      }
      let text = isLine ? rows.joined(separator: "\n") + "\n" : "[" + rows.joined(separator: ",\n") + "]"
      let bytes = make.chance(15) ? make.broken(text) : Array(text.utf8)
      expectOracle(
        bytes, JSONDialect(format: format), oddDrivers(&make.random, byteCount: bytes.count),
        "seed \(seed) round \(round)")
    }
  }

  @Test("one input at every split point", arguments: JSONFormat.allCases)
  func everySplit(format: JSONFormat) {
    let records = [
      #"{"a":1,"b":"x\u00e9\ud83d\ude00","c":[1,{"d":null}],"a":-0.5e-3}"#, #"{"b":"日本","n":{"x":true}}"#,
      #"{"A":"q\"\\","z":false}"#, #"{"a":12345678901234567890,"b":tru}"#, #"{"c":"\ud800"}"#, #"{}"#,
    ]
    let good = records.filter { !$0.contains("tru}") }
    let text =
      format == .ndjson
      ? records.joined(separator: "\r\n")
      : #"{"skip": ["é", {"k": -1.5e+10}], "data":[\#(good.joined(separator: " ,\n"))] , "t":nullx }"#
        .replacing("nullx", with: "null")
    let bytes = Array(text.utf8)
    let dialect = JSONDialect(format: format, jsonPath: format == .json ? ["data"] : [])
    let drivers = (0...bytes.count).map { JSONBatchDriver(pieces: [$0, .max]) }
    expectOracle(bytes, dialect, [JSONBatchDriver()] + drivers, "split")
  }
}

@Suite("JSON: real files", .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)))
struct JSONFileTests {
  @Test("real NDJSON as the oracle reads it", arguments: ["bitly_usagov", "amazon_cellphones"])
  func files(name: String) throws {
    let bytes = try SharedData.bytes("ndjson/\(name).ndjson")
    let seed = JSONPropertyTests.seed("files")
    var random = SeededGenerator(seed: seed)
    let drivers = [
      JSONBatchDriver(), JSONBatchDriver(sizes: Batch.Sizes(arenaByteCount: 3_000, cellCount: 50, recordCount: 7)),
      JSONBatchDriver(pieces: [Int.random(in: 0..<bytes.count, using: &random), 100_000]),
    ]
    expectOracle(bytes, JSONDialect(), drivers, "\(name) seed \(seed)")
    let parsed = parse(bytes, JSONDialect())
    #expect(parsed.records.count == (name == "bitly_usagov" ? 3_560 : 792))
    #expect(parsed.rejects.isEmpty)
    #expect(parsed.columns.count == (name == "bitly_usagov" ? 18 : 9))
  }
}
