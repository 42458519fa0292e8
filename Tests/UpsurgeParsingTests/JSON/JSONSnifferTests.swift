import TestSupport
import Testing

@testable import UpsurgeParsing

@Suite("JSON sniffer")
struct JSONSnifferTests {
  static let table: [(text: String, isWhole: Bool, format: JSONFormat?)] = [
    ("", true, nil), (" \n", true, nil), ("a,b\n1,2\n", true, nil), ("7\n8\n", true, nil),
    ("\"a\",\"b\"\n", true, nil),
    ("{\"a\":1}\n{\"a\":2}\n", true, .ndjson), ("{\"a\":1}\n", true, .ndjson), ("{\"a\":1}", true, .ndjson),
    ("{\"a\":1}\r\n{\"a\":2}", true, .ndjson), ("\n {\"a\":1}\n\n{\"a\"", false, .ndjson),
    ("{\"a\":1}\n7\n", true, .ndjson),
    ("{\n\"a\":1}\n", true, .json), ("{\n \"a\": [", false, .json), ("[{\"a\":1},\n{\"a\":2}]", true, .json),
    ("[{\"a\":1},{\"a\":2}]", true, .json), ("[{\"a\":1},{\"a\":", false, .json), ("[\n", false, .json),
    ("[]", true, .json),
    ("[\"a\",\"b\"]\n[1,2]\n", true, .ndjson), ("[\"a\",\"b\"]\n{\"a\":1}", true, .ndjson),
    ("[[\"a\"],\n[1]]", true, .json),
    ("{\"a\":", false, .ndjson), ("{\"a\":", true, .ndjson), ("{\"a\":1}{\"a\":2}", true, .ndjson),
    ("[a],[b]\n1,2\n", true, nil), ("[1],[2]\n3,4\n", true, nil), ("{x},y\n", true, nil),
    ("{\"a\":1},2\n", true, .ndjson),
    ("[1]\n2\n", true, nil), ("{\"a\":nul}\n{\"a\":2}\n", true, .ndjson), ("{a}\n{b}\n", true, nil),
    ("[", true, .json),
    // However broken JSON is, it must not be stored as CSV.
    ("[{\"a\":1},{\"a\":2}] x", true, .json), ("[{\"a\":1}{\"a\":2}]", true, .json), ("{\"a\":01}", true, .ndjson),
    (" [ {a,b\n1,2\n", true, .json), ("[[1]\n2,3\n", true, .json), ("[] x\n", true, .json),
    ("[]\n1\n", true, .json), ("{ } x\n", true, .ndjson), ("{\"a\":01}\n{\"a\":1}\n", true, .ndjson),
    ("{\"a\":01\n{\"a\":1}\n", true, .ndjson), ("{\"a\":01\n", true, .ndjson),
    ("{\n\"a\":01\n}\n", true, .json), ("{ \"a\":1,\n  \"b\":01\n}\n", true, .json), ("{\"a,b\n1,2\n", true, .json),
    ("[\"a\" \"b\"]\n[1]\n", true, .json), ("[[1]]\n[[2]]\n", true, .json),
    ("[\"[\\\"{\",1]\n[1,2]\n", true, .ndjson), ("[x],b\n1,2\n", true, nil), ("{x\n1\n", true, nil),
  ]

  @Test("nests that are too deep are JSON", arguments: [1_000, 2_000, 100_000])
  func deep(depth: Int) {
    let arrays = [UInt8](repeating: UInt8(ascii: "["), count: depth)
    let objects = (0..<depth).flatMap { _ in Array("{\"a\":".utf8) }
    for isWhole in [false, true] {
      #expect(arrays.withUnsafeBufferPointer { JSONSniffer.sniff($0, isWhole: isWhole) } == .json)
      #expect(objects.withUnsafeBufferPointer { JSONSniffer.sniff($0, isWhole: isWhole) } == .ndjson)
    }
  }

  @Test("formats", arguments: table.indices)
  func formats(index: Int) {
    let (text, isWhole, format) = Self.table[index]
    let found = Array(text.utf8).withUnsafeBufferPointer { JSONSniffer.sniff($0, isWhole: isWhole) }
    #expect(found == format, "\(text)")
  }

  @Test("JSON that is not UTF-8 is still JSON")
  func notUTF8() {
    let bytes: [UInt8] = Array("[{\"a\":\"".utf8) + [0xE9] + Array("\"}]".utf8)
    #expect(bytes.withUnsafeBufferPointer { JSONSniffer.sniff($0, isWhole: true) } == .json)
  }

  @Test(
    "real files", .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)),
    arguments: ["bitly_usagov", "amazon_cellphones"])
  func files(name: String) throws {
    let bytes = try SharedData.bytes("ndjson/\(name).ndjson")
    for count in [64, 4096, 65_536] {
      let found = bytes[..<count].withUnsafeBufferPointer { JSONSniffer.sniff($0, isWhole: false) }
      #expect(found == .ndjson || (count == 64 && name == "amazon_cellphones"))
    }
  }
}
