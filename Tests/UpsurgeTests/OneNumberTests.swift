import Foundation
import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The same decimal is the same double, the nearest one, whatever format brings it.
///
/// `UPSURGE_DECIMALS=1000000 swift test --filter OneNumber` tries a million.
@Suite("One number, one value") struct OneNumberTests {
  let scratch = Scratch()

  private static let count = getenv("UPSURGE_DECIMALS").flatMap { Int(String(cString: $0)) } ?? 20_000

  /// Decimals as JSON writes them: prices, many digits, all exponents, doubles, and what lies halfway between two.
  private static func decimals(_ count: Int, seed: UInt64) -> [String] {
    var random = SeededGenerator(seed: seed)
    func digits(_ range: ClosedRange<Int>) -> String {
      let count = Int.random(in: range, using: &random)
      return String(
        decoding: (0..<count).map { _ in UInt8.random(in: 0x30...0x39, using: &random) }, as: UTF8.self)
    }
    func plain(_ digits: String) -> String {
      let rest = digits.drop { $0 == "0" }
      return rest.isEmpty ? "0" : String(rest)
    }
    var texts = [
      "8.20788039913184", "0.1", "9007199254740993.0", "1.7976931348623157e308", "4.9e-324",
      "2.4703282292062328e-324",
      "9223372036854775808", "123456789012345678901234567890", "1e23", "1e400", "-1e400", "1e-400", "5e-324",
      "0.500000000000000166533453693773481063544750213623046875", "3.518437208883201171875e13",
      "62.5364939768271845828", "8.10109172351e-10", "1.50000000000000011102230246251565",
      "9007199254740991.4999999999999999999",
      "1.00000000000000011102230246251565404236316680908203124",
      "1.00000000000000011102230246251565404236316680908203126",
      "1" + String(repeating: "0", count: 900) + ".0e-900",
      "0." + String(repeating: "0", count: 400) + "1e390",
      "9007199254740993." + String(repeating: "0", count: 1_000) + "1",
    ]
    while texts.count < count {
      let sign = Bool.random(using: &random) ? "-" : ""
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: texts.append(sign + plain(digits(1...7)) + "." + digits(1...8))
      case 2: texts.append(sign + plain(digits(1...9)) + "." + digits(7...9))
      case 3: texts.append(sign + plain(digits(1...20)) + "." + digits(1...25))
      case 4:
        texts.append(
          sign + plain(digits(1...3)) + "." + digits(1...17)
            + "e\(Int.random(in: -330...310, using: &random))")
      case 5:
        texts.append("\(Double(bitPattern: UInt64.random(in: 0..<0x7FE0_0000_0000_0000, using: &random)))")
      case 6: texts.append(sign + "0." + digits(15...18))
      default:
        // Halfway between two doubles, and a little beside it.
        let double = Double(UInt64.random(in: 1 << 52..<1 << 53, using: &random))
        let scale = Int.random(in: 1...9, using: &random)
        let half = String(format: "%.60f", double / pow(2, Double(scale)))
        let step = String(format: "%.60f", pow(0.5, Double(scale + 1)))
        texts.append(Self.sum(half, step) + ["", "1", "0000001"].randomElement(using: &random)!)
      }
    }
    return Array(texts.prefix(count))
  }

  /// The sum of two decimals with equally many places.
  private static func sum(_ one: String, _ other: String) -> String {
    let width = max(one.count, other.count)
    let (left, right) = (pad(one, width), pad(other, width))
    var (carry, out): (UInt8, [UInt8]) = (0, [])
    for (a, b) in zip(left.utf8.reversed(), right.utf8.reversed()) {
      if a == UInt8(ascii: ".") {
        out.append(a)
        continue
      }
      let digit = a - 0x30 + (b - 0x30) + carry
      carry = digit / 10
      out.append(digit % 10 + 0x30)
    }
    if carry > 0 { out.append(0x31) }
    return String(decoding: out.reversed(), as: UTF8.self)
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    String(repeating: "0", count: width - text.count) + text
  }

  private func load(_ source: String, into database: String, _ change: (inout LoadOptions) -> Void = { _ in })
    -> RunSummary
  {
    var options = LoadOptions()
    options.key = ["id"]
    change(&options)
    let summary = LoadJob(database: database, table: "t", sources: [source], options: options).run()
    #expect(summary.error == nil && summary.ledger.isBalanced, "\(summary.error?.description ?? "")")
    return summary
  }

  private func expectUnchanged(_ summary: RunSummary, _ count: Int, _ what: String) {
    #expect(
      summary.ledger.unchanged == UInt64(count) && summary.ledger.read == UInt64(count),
      "\(what): \(summary.ledger)")
  }

  @Test(
    "CSV, NDJSON, JSON, rows of a database and values of a program store the same doubles",
    arguments: ["REAL", "NUMERIC", "REAL STRICT"])
  func formats(type: String) throws {
    let seed =
      getenv("UPSURGE_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0..<1_000_000_000)
    print("UPSURGE_SEED=\(seed) makes the decimals")
    let texts = Self.decimals(Self.count, seed: seed)
    let path = scratch.file("a.db")
    let words = type.split(separator: " ")
    try Database(path).rows(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, r \(words[0]))\(words.count > 1 ? " STRICT" : "")")
    let csv = scratch.write("id,r\n" + texts.enumerated().map { "\($0),\($1)\n" }.joined(), to: "in.csv")
    let ndjson = scratch.write(
      texts.enumerated().map { "{\"id\":\($0),\"r\":\($1)}\n" }.joined(), to: "in.ndjson")
    let strings = scratch.write(
      texts.enumerated().map { "{\"id\":\($0),\"r\":\"\($1)\"}\n" }.joined(), to: "text.ndjson")
    let json = scratch.write(
      "[" + texts.enumerated().map { "{\"r\":\($1),\"id\":\($0)}" }.joined(separator: ",\n") + "]",
      to: "in.json")
    #expect(load(csv, into: path).ledger.inserted == UInt64(texts.count))
    var wrong = 0
    for (text, stored) in zip(texts, try Database(path).rows("SELECT CAST(r AS REAL) FROM t ORDER BY id")) {
      let nearest = strtod(text, nil)
      let shown = nearest == 0 ? "0.0" : "\(nearest)"
      if stored != shown, stored != "-" + shown, wrong < 10 {
        wrong += 1
        Issue.record("\(text): \(stored) and not \(shown)")
      }
    }
    expectUnchanged(load(ndjson, into: path), texts.count, "NDJSON")
    expectUnchanged(load(strings, into: path), texts.count, "texts in NDJSON")
    expectUnchanged(load(json, into: path), texts.count, "JSON")
    expectUnchanged(load(csv, into: path), texts.count, "CSV")
    let upsert = try BulkUpsert(
      database: path, table: "t", columns: ["id", "r"], rules: UpsertRules(target: .columns(["id"])),
      returning: [])
    for (index, text) in texts.enumerated() {
      try upsert.append([.integer(Int64(index)), .real(strtod(text, nil))])
    }
    for (index, text) in texts.enumerated() { try upsert.append([.integer(Int64(index)), .text(text)]) }
    let ledger = try upsert.finish()
    #expect(ledger.unchanged == UInt64(2 * texts.count), "values: \(ledger)")
    // Another database that begins with NDJSON; the rows of the first say nothing new.
    let other = scratch.file("b.db")
    try Database(other).rows("CREATE TABLE t(id INTEGER PRIMARY KEY, r \(words[0]))")
    #expect(load(ndjson, into: other).ledger.inserted == UInt64(texts.count))
    expectUnchanged(load("sqlite:\(path)#t", into: other), texts.count, "rows of a database")
    expectUnchanged(load(csv, into: other), texts.count, "CSV behind NDJSON")
  }

  @Test("A table that is packed without SQLite holds the same doubles as one that SQLite has written")
  func packed() throws {
    // Texts that a double holds, so that a new table takes them.
    let texts = Self.decimals(Self.count, seed: 7).map { "\(strtod($0, nil))" }.filter { !$0.contains("inf") }
    let csv = scratch.write("id,r\n" + texts.enumerated().map { "\($0),\($1)\n" }.joined(), to: "in.csv")
    for direct in [LoadOptions.DirectPolicy.never, .always] {
      let path = scratch.file("\(direct).db")
      #expect(load(csv, into: path) { $0.direct = direct }.ledger.inserted == UInt64(texts.count))
      #expect(
        try Database(path).rows("SELECT r FROM t ORDER BY id")
          == texts.map { strtod($0, nil) == 0 ? "0.0" : $0 })
    }
  }

  @Test("A record of the quarantine stores them, too")
  func quarantine() throws {
    let path = scratch.file("a.db")
    let texts = Self.decimals(2_000, seed: 3)
    try Database(path).rows("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    let csv = scratch.write("id,r\n" + texts.enumerated().map { "\($0),\($1)\n" }.joined(), to: "in.csv")
    #expect(load(csv, into: path) { $0.contract = .quarantine }.ledger.quarantined == UInt64(texts.count))
    try Database(path).rows("ALTER TABLE t ADD COLUMN r REAL")
    #expect(ReplayJob(database: path).run().ledger.inserted == UInt64(texts.count))
    expectUnchanged(load(csv, into: path), texts.count, "CSV")
  }
}
