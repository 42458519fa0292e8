import TestSupport
import Testing

/// A hostile input, how it is loaded, and what must come of it; `Benchmarks/run bombs` has larger ones.
struct Bomb: CustomTestStringConvertible, Sendable {
  var name: String
  var options: [String] = []
  /// The exit code.
  var code: Int32
  /// What standard error, or the first reject, must say.
  var says = ""
  /// Records that must be stored.
  var stored: Int?
  /// SQL that makes the table first.
  var schema: String?
  var make: @Sendable () -> [UInt8]

  var testDescription: String { name }

  /// One built from text.
  static func text(
    _ name: String, _ options: [String] = [], code: Int32, says: String = "", stored: Int? = nil,
    schema: String? = nil, _ make: @escaping @Sendable () -> String
  ) -> Bomb {
    Bomb(name: name, options: options, code: code, says: says, stored: stored, schema: schema) {
      Array(make().utf8)
    }
  }

  static let reject = ["--on-error", "reject"]
  static let anyRatio = ["--max-ratio", "none"]

  static let all: [Bomb] = compressed + nested + columns + shapes + large

  private static let compressed = [
    Bomb(
      name: "zeros", options: ["--format", "ndjson", "--max-ratio", "1000"] + reject, code: 65,
      says: "and --max-ratio is 1000", schema: "CREATE TABLE t (a)"
    ) {
      var text = ZstdText()
      text.add(0, count: 100 << 20)
      return text.finished()
    },
    Bomb(
      name: "a header without end", options: ["--delimiter", ",", "--quote", "none"], code: 65,
      says: "the header of"
    ) {
      var text = ZstdText()
      text.add(UInt8(ascii: "a"), count: 100 << 20)
      return text.finished()
    },
    Bomb(
      name: "a line of 40 MB among others", options: reject + anyRatio, code: 2,
      says:
        "the record has 40000004 bytes, more than the 4194304 of a quarter of --memory; --memory 153MiB has room",
      stored: 2
    ) {
      var text = ZstdText()
      text.add("{\"a\":1}\n\"")
      text.add(UInt8(ascii: "x"), count: 40_000_000)
      text.add("\" }\n{\"a\":2}\n")
      return text.finished()
    },
    Bomb(
      name: "a CSV field of 10 MB among others", options: reject + anyRatio, code: 2,
      says:
        "the record has 10000002 bytes, more than the 4194304 of a quarter of --memory; --memory 39MiB has room",
      stored: 2
    ) {
      var text = ZstdText()
      text.add("a,b\n1,2\n3,")
      text.add(UInt8(ascii: "x"), count: 10_000_000)
      text.add("\n4,5\n")
      return text.finished()
    },
    Bomb(
      name: "a quote that stays open", options: reject + anyRatio, code: 2, says: "--quote none", stored: 2
    ) {
      var text = ZstdText()
      text.add("a,b\n1,2\n3,\"x\n")
      text.add(UInt8(ascii: "x"), count: 6_000_000)
      text.add("\n4,5\n")
      return text.finished()
    },
    Bomb(name: "a document with a large record", options: reject + anyRatio, code: 65, says: "--memory 32MiB")
    {
      var text = ZstdText()
      text.add("[{\"a\":\"")
      text.add(UInt8(ascii: "x"), count: 20_000_000)
      text.add("\"}]")
      return text.finished()
    },
    Bomb(
      name: "blank lines", options: anyRatio, code: 0, stored: 1
    ) {
      var text = ZstdText()
      text.add("a,b\n")
      text.add(0x0A, count: 500_000)
      text.add("1,2\n")
      return text.finished()
    },
  ]

  private static let nested = [
    Bomb.text("nest, document", code: 65, says: "deeper than the limit of 1024") {
      String(repeating: "[", count: 2_000_000)
    },
    Bomb.text("nest, line", reject, code: 2, says: "deeper than the limit of 1024", stored: 2) {
      "{\"a\":1}\n" + String(repeating: "[", count: 2_000_000) + "\n{\"a\":2}\n"
    },
    Bomb.text("nest, value", reject, code: 2, says: "deeper than the limit of 1024", stored: 2) {
      "{\"a\":1}\n{\"a\":" + String(repeating: "{\"a\":", count: 400_000) + "\n{\"a\":2}\n"
    },
    Bomb.text(
      "nest, flattened", reject + ["--flatten"], code: 2, says: "deeper than the limit of 1024", stored: 2
    ) {
      "{\"a\":1}\n{\"a\":" + String(repeating: "{\"a\":", count: 400_000) + "\n{\"a\":2}\n"
    },
  ]

  private static func header(_ count: Int) -> String { (0..<count).map { "c\($0)" }.joined(separator: ",") }

  private static let columns = [
    Bomb.text("3,000 columns", code: 65, says: "has 3000 columns, and SQLite takes at most 2000 in a table") {
      header(3_000) + "\n" + header(3_000) + "\n"
    },
    Bomb.text("3,000 columns, two wanted", ["--columns", "c3,c7"], code: 0, stored: 1) {
      header(3_000) + "\n" + Array(repeating: "v", count: 3_000).joined(separator: ",") + "\n"
    },
    Bomb.text(
      "3,000 columns, --alter", ["--alter"], code: 65, says: "SQLite takes at most 2000",
      schema: "CREATE TABLE t (c1)"
    ) { header(3_000) + "\n" + header(3_000) + "\n" },
    Bomb.text("70,000 columns", code: 65, says: "has more than 65536 fields") {
      String(repeating: ",", count: 70_000) + "\n"
    },
    Bomb.text("10,000 columns of one name", ["--columns", "x,x_777"], code: 0, stored: 1) {
      ["x", "v"].map { Array(repeating: $0, count: 10_000).joined(separator: ",") + "\n" }.joined()
    },
    Bomb.text("surplus fields", reject + ["--names", "a,b", "--ragged", "extra"], code: 2, says: "--memory") {
      "a,b\n1,2\n3,4," + String(repeating: "\u{1}", count: 750_000) + "\n"
    },
    Bomb.text("keys of a record", code: 65, says: "a column more than the 2000 that SQLite takes") {
      "{" + (0..<60_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}\n"
    },
    Bomb.text("keys of a document's record", reject, code: 2, says: "more than the 2000", stored: 1) {
      "[{" + (0..<60_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "},{\"a\":1}]"
    },
    Bomb.text("keys of a record, two wanted", ["--columns", "k3,k59999"], code: 0, stored: 1) {
      "{" + (0..<60_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}\n"
    },
    Bomb.text(
      "keys of a record, flattened", reject + ["--flatten"], code: 2,
      says: "more different keys than --flatten can tell apart", stored: 1
    ) {
      "{" + (0..<60_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}\n{\"a\":1}\n"
    },
    Bomb.text(
      "new keys", reject + ["--contract", "quarantine"], code: 2, says: "more than the 2000",
      schema: "CREATE TABLE t (id)"
    ) { (0..<2_100).map { "{\"id\":\($0),\"key\($0)\":1}\n" }.joined() },
    Bomb.text("keys of 300 KB", reject, code: 2, says: "a key of 300001 bytes needs a column") {
      let key = String(repeating: "k", count: 300_000)
      return (0..<5).map { "{\"\(key)\($0)\":1}\n" }.joined()
    },
    Bomb.text("keys of 300 KB, left out", ["--columns", "id"], code: 0, stored: 30) {
      let key = String(repeating: "k", count: 300_000)
      return (0..<30).map { "{\"id\":1,\"\(key)\($0)\":1}\n" }.joined()
    },
  ]

  private static let shapes = [
    Bomb.text("shapes of 30 columns", ["--key", "id"], code: 0, stored: 1_500) {
      shapes(1_500, columns: 30, share: 2)
    },
    Bomb.text("shapes of 300 columns", ["--key", "id"], code: 0, stored: 500) {
      shapes(500, columns: 300, share: 10)
    },
    Bomb.text(
      "rejects of 60 KB", reject + ["--no-header", "--delimiter", ",", "--names", "a,b"], code: 2,
      says: "expected 2 fields",
      stored: 1
    ) {
      "1,2\n" + String(repeating: String(repeating: "x", count: 60_000) + "\n", count: 80)
    },
    Bomb.text(
      "rejects of 4 bytes", reject + ["--no-header", "--delimiter", ",", "--names", "a,b"], code: 2,
      says: "expected 2 fields",
      stored: 1
    ) { "1,2\n" + String(repeating: "bad\n", count: 20_000) },
  ]

  private static func shapes(_ count: Int, columns: Int, share: Int) -> String {
    var random = SeededGenerator(seed: 1)
    return (0..<count).map { id in
      let taken = (0..<columns).filter { _ in random.next() % UInt64(share) == 0 }
      return "{\"id\":\(id)" + taken.map { ",\"c\($0)\":\($0)" }.joined() + "}\n"
    }.joined()
  }

  private static let large = [
    Bomb.text("records of a quarter", ["--key", "id"], code: 0, stored: 3) { records(of: "abcd") },
    Bomb.text("records of a quarter, escaped", ["--key", "id"], code: 0, stored: 3) { records(of: "ab\\n") },
    Bomb.text("records of a quarter, CSV", ["--key", "id"], code: 0, stored: 3) {
      "id,n,v\n"
        + (0..<4).map { "\($0 % 3),\($0),\"" + String(repeating: "ab\"\"", count: 1_048_000) + "\"\n" }
        .joined()
    },
  ]

  /// Six records about three rows, just small enough.
  private static func records(of unit: String) -> String {
    let text = String(repeating: unit, count: 1_048_000)
    return (0..<6).map { "{\"id\":\($0 % 3),\"n\":\($0),\"v\":\"\(text)\"}\n" }.joined()
  }
}
