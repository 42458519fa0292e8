import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeStorage

/// Keys that come in no order: their index is packed when all are there.
@Suite struct DirectSortedTests {
  private func packing(_ create: String, batchSize: Int = 100) -> Packing {
    var packing = Packing(create, ["k", "l", "v"], batchSize: batchSize)
    packing.sortByteCount = 64 << 20
    return packing
  }

  @Test(arguments: [
    "CREATE TABLE t(k TEXT PRIMARY KEY, l, v)", "CREATE TABLE t(k TEXT PRIMARY KEY, l, v) WITHOUT ROWID",
    "CREATE TABLE t(k TEXT, l, v, UNIQUE (l, k))", "CREATE TABLE t(k TEXT UNIQUE, l UNIQUE, v)",
    "CREATE TABLE t(k TEXT, l, v); CREATE INDEX i ON t(k); CREATE INDEX j ON t(v, l)",
  ]) func allArePacked(_ create: String) throws {
    var random = SeededGenerator(seed: 7)
    let rows = (0..<5_000).shuffled(using: &random).map { number in
      [Value.text("key \(number * 7_919 % 5_003)"), .integer(Int64(number)), .real(Double(number % 50) / 4)]
    }
    let order = create.contains("WITHOUT") ? "k" : "rowid"
    #expect(try packing(create).check(rows, order: order) == 5_000)
  }

  @Test("Numbers that only just differ are put in order", arguments: ["", "NUMERIC", "REAL", "INTEGER"])
  func closeNumbers(_ type: String) throws {
    var random = SeededGenerator(seed: 3)
    var values: [Value] = []
    let whole: [Int64] = [1 << 53, 1 << 54, 1 << 62, -(1 << 53), -(1 << 62), .max - 700, .min + 700, 0]
    for base in whole {
      let distance: Int64 = base.magnitude > 1 << 60 ? 200 : 1
      for step: Int64 in -3...3 { values.append(.integer(base + step * distance)) }
    }
    for base in [0.1, 1e15 + 0.5, 1e300, Double.leastNormalMagnitude, -0.1] {
      values += [base, base.nextUp, base.nextUp.nextUp, base.nextUp.nextUp.nextUp, base.nextDown].map {
        .real($0)
      }
    }
    values += [
      .text(""), .text("a"), .text("a\0"), .text("abcdefg"), .text("abcdefgh"), .text("abcdefg\0"),
      .blob([0]),
    ]
    if type == "REAL" {
      // Of integers that become one float only one.
      values = values.filter {
        if case .integer(let number) = $0 { Int64(exactly: Double(number)) == number } else { true }
      }
    }
    let rows = Set(values).shuffled(using: &random).map { [$0, .null, .integer(1)] }
    let packing = packing("CREATE TABLE t(k \(type), l, v, UNIQUE (k, v))", batchSize: 500)
    #expect(try packing.check(rows) == rows.count)
  }

  @Test(
    "A key that comes twice ends the packing in front of its batch",
    arguments: [
      (Value.text("k7"), Value.text("k7")), (.integer(7), .real(7)), (.blob([1]), .blob([1])),
      (.real(0.5), .real(0.5)), (.integer(.min), .real(-0x1p63)),
    ])
  func twice(_ first: Value, _ second: Value) throws {
    var rows = (0..<600).map { [Value.text("n\($0 * 7_919 % 601)"), .null, .integer(Int64($0))] }
    rows[50][0] = first
    rows[450][0] = second
    var packing = packing("CREATE TABLE t(k PRIMARY KEY, l, v)")
    packing.mode = .upsert
    #expect(try packing.check(rows) == 400)
    packing.mode = .ignore
    #expect(try packing.check(rows) == 400)
    rows[20][0] = first
    #expect(try packing.check(rows) == 0)
  }

  @Test("Packing ends in front of a key that does not fit on a page") func longKey() throws {
    var rows = (0..<300).map { [Value.text("k\($0 * 7_919 % 601)"), .null, .null] }
    rows[250][0] = .text(String(repeating: "x", count: 2_000))
    #expect(try packing("CREATE TABLE t(k TEXT PRIMARY KEY, l, v)").check(rows) == 200)
  }

  @Test("The set of keys tells every key that it has, and no other") func keySet() {
    var keys = KeySet()
    var random = SeededGenerator(seed: 11)
    let hashes = Set((0..<50_000).map { _ in random.next() } + [0, 1 << 7, 1 << 40])
    var (newCount, knownCount) = (0, 0)
    for hash in hashes where keys.insert(hash) { newCount += 1 }
    for hash in hashes where !keys.insert(hash) { knownCount += 1 }
    #expect(newCount == hashes.count && knownCount == hashes.count)
  }
}
