import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

private let lines = JSONDialect()

@Suite("NDJSON")
struct JSONLinesTests {
  @Test("records, kinds and positions")
  func records() {
    let parsed = parse(
      "{\"a\":1,\"b\":\"x\",\"c\":true}\r\n\n  \n {\"b\":null,\"d\":[1, 2],\"e\":{\"f\":1.50}} \n{}", lines)
    #expect(parsed.error == nil && parsed.rejects.isEmpty)
    #expect(
      parsed.records.map(\.values) == [
        ["a": .integer(1), "b": .text("x"), "c": .integer(1)],
        ["b": .null, "d": .text("[1, 2]"), "e": .text("{\"f\":1.50}")], [:],
      ])
    #expect(
      parsed.records.map(\.position.description) == [
        "t, line 1, record 1, byte 0", "t, line 4, record 2, byte 31", "t, line 5, record 3, byte 69",
      ])
    #expect(parsed.warnings.entries.map(\.code) == [.blankLine])
    #expect(parsed.warnings.entries.first?.count == 2)
    #expect(parsed.columns.map(\.affinity) == [.integer, .text, .integer, .text, .text])
  }

  static let faults: [(line: String, code: Reject.Code, reason: String)] = [
    (
      "{\"a\":01}", .jsonSyntax,
      "expected a digit of a JSON number (no leading zeros), found `1` at byte 6 of the record"
    ),
    ("{\"a\":1}x", .jsonSyntax, "expected nothing more after the value, found `x` at byte 7 of the record"),
    ("{\"a\":1} {}", .jsonSyntax, "expected nothing more after the value, found `{` at byte 8 of the record"),
    ("{\"a\":1,}", .jsonSyntax, "expected a key in double quotes, found `}` at byte 7 of the record"),
    ("{\"a\" 1}", .jsonSyntax, "expected a colon after a key, found `1` at byte 5 of the record"),
    (
      "{\"a\":1 \"b\":2}", .jsonSyntax,
      "expected a comma or } after a value, found `\"` at byte 7 of the record"
    ),
    ("{\"a\":[1 2]}", .jsonSyntax, "expected a comma or ] after a value, found `2` at byte 8 of the record"),
    ("{\"a\":nul}", .jsonSyntax, "expected true, false or null, found `}` at byte 8 of the record"),
    ("{\"a\":}", .jsonSyntax, "expected a value, found `}` at byte 5 of the record"),
    ("{\"a\":\"x", .jsonSyntax, "the value is not complete, found the end at byte 7 of the record"),
    (
      "{\"a\":\"\\x\"}", .jsonSyntax,
      "expected one of \" \\ / b f n r t u after a backslash, found `x` at byte 7 of the record"
    ),
    (
      "{\"a\":\"\\u12g4\"}", .jsonSyntax,
      "expected four hexadecimal digits after \\u, found `g` at byte 10 of the record"
    ),
    (
      "{\"a\":\"\t\"}", .jsonSyntax,
      "a control character in a string must be escaped, found byte 0x09 at byte 6 of the record"
    ),
    (
      "{\"a\":\"\\ud800\"}", .loneSurrogate,
      "a \\u escape is half of a surrogate pair, which is no text, found `\\` at byte 6 of the record"
    ),
    (
      "{\"\\udc00\":1}", .loneSurrogate,
      "a \\u escape is half of a surrogate pair, which is no text, found `1` at byte 10 of the record"
    ),
    (
      "{\"k\\u0000\":1}", .jsonSyntax,
      "the key at byte 11 of the record holds U+0000, which no column name can"
    ),
    ("7", .notAnObject, "expected an object, found a number"),
    ("\"x\"", .notAnObject, "expected an object, found a string"),
    ("[\"x\"]", .notAnObject, "expected an object, found an array"),
    ("null", .notAnObject, "expected an object, found null"),
    ("{", .jsonSyntax, "the value is not complete, found the end at byte 1 of the record"),
    ("]", .jsonSyntax, "expected a value, found `]` at byte 0 of the record"),
  ]

  @Test("a bad line is a reject and the next one is read", arguments: faults.indices)
  func fault(index: Int) {
    let (line, code, reason) = Self.faults[index]
    let parsed = parse("{\"a\":1}\n\(line)\n{\"a\":2}\n", lines)
    #expect(parsed.records.count == 2 && parsed.error == nil)
    #expect(parsed.rejects.map(\.code) == [code])
    #expect(parsed.reasons == [reason])
    #expect(parsed.rejects.first?.position.description == "t, line 2, record 2, byte 8")
    #expect(parsed.rejects.first?.raw == Array(line.utf8))
    #expect(parsed.columns.count == 1, "a reject makes no columns")
    #expect(parsed.records.last?.position.description == "t, line 3, record 3, byte \(9 + line.utf8.count)")
  }

  /// The driver hands the rest to the next batches; the parser itself must stop.
  @Test("rejects of one batch are bounded", arguments: [JSONFormat.ndjson, .json])
  func manyRejects(format: JSONFormat) throws {
    let item = format == .json ? "1," : "1\n"
    let open = format == .json ? "[" : ""
    let text = open + String(repeating: item, count: (128 << 10) - 1) + (format == .json ? "1]" : "1\n")
    let bytes = Array(text.utf8)
    var parser = JSONParser(
      dialect: JSONDialect(format: format), file: "t", columns: [],
      policy: JSONKeyPolicy(unknown: .addUntyped))
    var batch = Batch(sizes: Batch.Sizes(arenaByteCount: 512 << 10, cellCount: 64, recordCount: 64))
    batch.freeArena.copyBytes(from: bytes)
    batch.arenaByteCount = bytes.count
    try parser.parse(&batch, isFinal: true)
    #expect(batch.isClosed && batch.rejects.count == 4096)
    #expect(batch.parsedByteCount <= 8193 + open.utf8.count)
    #expect(parse(bytes, JSONDialect(format: format)).rejects.count == 128 << 10)
  }

  @Test("bytes that are not UTF-8 are a reject, in keys, values and nested values")
  func notUTF8() {
    for (head, tail) in [("{\"a\":\"x", "\"}"), ("{\"x", "\":1}"), ("{\"a\":[\"", "\"]}")] {
      for bad in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]] {
        let bytes = Array("{\"a\":1}\n".utf8) + Array(head.utf8) + bad + Array("\(tail)\n{}".utf8)
        let parsed = parse(bytes, lines)
        #expect(parsed.rejects.map(\.code) == [.invalidUTF8] && parsed.records.count == 2, "\(head) \(bad)")
      }
    }
  }

  @Test("duplicate keys: the last one counts and is told, or the record is a reject")
  func duplicates() {
    let text = "{\"a\":1,\"b\":0}\n{\"a\":2,\"A\":3,\"a\":4}\n"
    let parsed = parse(text, lines)
    #expect(parsed.records.map(\.values) == [["a": .integer(1), "b": .integer(0)], ["a": .integer(4)]])
    #expect(parsed.warnings.entries.map(\.code) == [.columnCollision, .duplicateKey])
    #expect(parsed.warnings.entries.map(\.count) == [1, 1])
    #expect(parsed.warnings.entries.first?.first.description == "t, line 2, record 2, byte 14")
    let strict = parse(text, JSONDialect(duplicateKeys: .reject))
    #expect(strict.rejects.map(\.code) == [.duplicateKey] && strict.records.count == 1)
    #expect(strict.reasons == ["two different keys mean one column, the second one at byte 11 of the record"])
    let twice = parse("{\"a\":2,\"a\":4}\n", JSONDialect(duplicateKeys: .reject))
    #expect(twice.reasons == ["a key stands twice in one object, the second time at byte 11 of the record"])
  }

  @Test(
    "different keys for one column", arguments: [true, false],
    [
      ("{\"a\":1,\"A\":2}", nil), ("{\"a\":{\"b\":1},\"a_b\":2}", "_"), ("{\"a_b\":1,\"a\":{\"b\":2}}", "_"),
      ("{\"a\":{\"b\":1,\"B\":2}}", "_"),
    ] as [(String, String?)])
  func collisions(usesKernel: Bool, _ input: (text: String, separator: String?)) {
    for count in 1...3 {
      let bytes = Array(String(repeating: "\(input.text)\n", count: count).utf8)
      func run(_ duplicates: JSONDialect.DuplicateKeys) -> ParsedInput {
        var parser = JSONParser(
          dialect: JSONDialect(flattenSeparator: input.separator, duplicateKeys: duplicates), file: "t",
          columns: [], policy: JSONKeyPolicy(unknown: .add(.warn)))
        parser.usesKernelForMembers = usesKernel
        return JSONBatchDriver().run(bytes, &parser)
      }
      let parsed = run(.lastWins)
      #expect(parsed.records.map { Array($0.values.values) } == Array(repeating: [.integer(2)], count: count))
      #expect(parsed.warnings.entries.map(\.code) == [.columnCollision], "\(input.text)")
      #expect(parsed.warnings.entries.map(\.count) == [UInt64(count)], "\(input.text)")
      let strict = run(.reject)
      #expect(strict.rejects.map(\.code) == Array(repeating: .duplicateKey, count: count))
      #expect(strict.reasons.allSatisfy { $0.hasPrefix("two different keys mean one column") })
    }
  }

  @Test("depth is bounded")
  func depth() {
    let deep = { (count: Int) in
      "{\"a\":" + String(repeating: "[", count: count) + String(repeating: "]", count: count) + "}"
    }
    #expect(parse(deep(1023), lines).records.count == 1)
    #expect(parse(deep(1024), lines).rejects.map(\.code) == [.tooDeep])
    let shallow = JSONDialect(flattenSeparator: "_", maximumDepth: 3)
    #expect(parse("{\"a\":{\"b\":{\"c\":1}}}", shallow).records.count == 1)
    #expect(parse("{\"a\":{\"b\":{\"c\":[]}}}", shallow).rejects.map(\.code) == [.tooDeep])
    #expect(parse("{\"a\":{\"b\":{\"c\":{\"d\":1}}}}", shallow).rejects.map(\.code) == [.tooDeep])
  }

  @Test("nested objects become columns with a separator")
  func flatten() {
    let dialect = JSONDialect(flattenSeparator: "_")
    let parsed = parse(
      "{\"a\":{\"b\":1,\"c\":{\"d\":\"x\"}},\"e\":[{\"f\":1}],\"g\":{}, \"h\":2}\n"
        + "{\"h\":3,\"a\":{\"c\":{}},\"g\":{\"i\":null}}\n{\"a\":{\"b\":1},\"a\":{\"c\":2}}\n{\"a\":{\"b\":1},\"a\":7}",
      dialect)
    #expect(parsed.rejects.isEmpty && parsed.error == nil)
    #expect(
      parsed.records.map(\.values) == [
        [
          "a_b": .integer(1), "a_c_d": .text("x"), "e": .text("[{\"f\":1}]"), "g": .text("{}"),
          "h": .integer(2),
        ],
        ["h": .integer(3), "a_c": .text("{}"), "g_i": .null],
        ["a_c": .text("2")], ["a": .integer(7)],
      ])
    #expect(parsed.warnings.entries.map(\.code) == [.duplicateKey])
    #expect(parsed.warnings.entries.first?.count == 2)
  }

  @Test(
    "flattening a key twice: earlier records decide nothing",
    arguments: [
      "{\"b\":-0.5,\"b\":{\"x\":1}}", "{\"b\":{\"x\":1},\"b\":-0.5}", "{\"b\":1,\"b_x\":2,\"b\":3}",
      "{\"b\":1,\"b\":2}", "{\"b\":\"007\",\"b\":8}", "{\"b\":{\"y\":1},\"b\":{\"x\":2}}",
    ], [JSONDialect.DuplicateKeys.lastWins, .reject])
  func flattenedDuplicates(record: String, duplicates: JSONDialect.DuplicateKeys) {
    let dialect = JSONDialect(flattenSeparator: "_", duplicateKeys: duplicates)
    for skips in [false, true] {
      func run(_ text: String) -> ParsedInput {
        var parser = JSONParser(
          dialect: dialect, file: "t",
          columns: ["b", "b_x"].map {
            ColumnTarget(name: $0, affinity: .integer, spellingPolicy: .reject)
          }, policy: JSONKeyPolicy(unknown: skips ? .skip : .add(.reject)))
        return JSONBatchDriver().run(Array(text.utf8), &parser)
      }
      let alone = run(record + "\n")
      for before in ["{\"b\":{\"x\":1}}", "{\"b\":5}", "{\"b\":{\"x\":{\"z\":1},\"y\":2}}"] {
        let later = run(before + "\n" + record + "\n")
        #expect(later.records.dropFirst().map(\.values) == alone.records.map(\.values), "behind \(before)")
        #expect(later.rejects.map(\.code) == alone.rejects.map(\.code), "behind \(before)")
        let codes = [alone, later].map { $0.warnings.entries.filter { $0.code == .duplicateKey }.map(\.count) }
        #expect(codes[0] == codes[1], "behind \(before)")
      }
    }
  }

  @Test("the first array names the columns of the others")
  func arrays() {
    let parsed = parse(
      "[\"a\",\"b\\u0063\"]\n[1,\"x\"]\n[2]\n[3,null,4]\n{\"a\":1}\n7\n[]\n[1,{\"x\":[]}]\n", lines)
    #expect(parsed.columns.map(\.name) == ["a", "bc"])
    #expect(
      parsed.records.map(\.values) == [
        ["a": .integer(1), "bc": .text("x")], ["a": .integer(1), "bc": .text("{\"x\":[]}")],
      ])
    #expect(parsed.rejects.map(\.code) == [.ragged, .ragged, .notAnObject, .notAnObject, .ragged])
    #expect(
      parsed.reasons == [
        "the array has 1 value, the header 2", "the array has 3 values, the header 2",
        "expected an array like the records before it, found an object",
        "expected an array like the records before it, found a number",
        "the array has 0 values, the header 2",
      ])
    #expect(parsed.records.first?.position.description == "t, line 2, record 1, byte 16")
  }

  @Test(
    "an array of column names that cannot be one ends the run",
    arguments: [
      "[1,2]", "[]", "[\"a\",\"A\"]", "[\"a\",[]]", "[\"a\"", "[\"a\"] x", "[\"\\ud800\"]", "[\"a\\u0000\"]",
    ])
  func badHeader(text: String) {
    #expect(parse(text + "\n[\"x\"]\n", lines).error?.code == .badInput)
  }

  @Test("a line larger than memory is a reject that names the size it needs")
  func tooLarge() {
    let long = "{\"a\":\"" + String(repeating: "x", count: 5 << 20) + "\"}"
    let driver = JSONBatchDriver(
      sizes: Batch.Sizes(arenaByteCount: 4096, cellCount: 100, recordCount: 100), recordLimit: 1 << 20)
    for end in ["\n{\"a\":2}", "\n", ""] {
      let parsed = parse("{\"a\":1}\n" + long + end, lines, driver: driver)
      #expect(parsed.records.count == (end.count > 1 ? 2 : 1))
      #expect(parsed.rejects.map(\.code) == [.tooLarge])
      #expect(
        parsed.reasons == [
          "the record has 5242888 bytes, more than the 1048576 of a quarter of --memory; --memory 21MiB has room for it"
        ])
      #expect(parsed.rejects.first?.position.description == "t, line 2, record 2, byte 8")
      #expect(parsed.records.last?.position.line == (end.count > 1 ? 3 : 1))
    }
  }

  @Test("a string that grows and many escapes fit the spill")
  func spill() {
    let text = String(repeating: "\\u00e9\\n", count: 20_000)
    let parsed = parse("{\"a\":\"\(text)\",\"b\":\"\(text)\"}\n", lines)
    let expected = RecordValue.text(String(repeating: "é\n", count: 20_000))
    #expect(parsed.records.map(\.values) == [["a": expected, "b": expected]])
  }
}
