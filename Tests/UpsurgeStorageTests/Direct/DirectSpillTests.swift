import SQLiteSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Keys in no order that memory does not hold: they are sorted in runs in a file, which are merged.
@Suite struct DirectSpillTests {
  private func packing(_ create: String, memory: Int = 1 << 20, batchSize: Int = 1_000) -> Packing {
    var packing = Packing(create, ["k", "l", "v"], batchSize: batchSize)
    packing.sortByteCount = memory
    return packing
  }

  /// Packs rows, and compares with what SQLite makes of them.
  private func check(_ packing: Packing, _ rows: [[Value]], order: String) throws {
    let (packed, stored) = (TemporaryDatabase(), TemporaryDatabase())
    let (count, refusal, spilled) = try packing.run(rows, into: packed)
    #expect(count == rows.count, "\(packing.create): \(refusal as Any)")
    #expect(spilled > 100_000, "\(packing.create)")
    try packing.store(rows, into: stored)
    try expectSame(packed, stored, order: order, packing.create)
  }

  @Test(arguments: [
    ("CREATE TABLE t(k TEXT PRIMARY KEY, l, v)", 1),
    ("CREATE TABLE t(k TEXT PRIMARY KEY, l, v) WITHOUT ROWID", 1),
    ("CREATE TABLE t(k TEXT, l, v, UNIQUE (l, k))", 1),
    ("CREATE TABLE t(k TEXT, l, v); CREATE INDEX i ON t(v); CREATE INDEX j ON t(v, l)", 2),
  ]) func allArePacked(_ create: String, indexCount: Int) throws {
    var random = SeededGenerator(seed: 7)
    let rows = (0..<50_000).shuffled(using: &random).map { number in
      // Few values of v, so that an index on it has the same key in every run.
      [Value.text("key \(number * 7_919 % 50_021)"), .integer(Int64(number)), .real(Double(number % 50) / 4)]
    }
    try check(
      packing(create, memory: indexCount << 20), rows, order: create.contains("WITHOUT") ? "k" : "rowid")
  }

  @Test("Keys of all kinds, long ones and such that only just differ", arguments: 0..<4)
  func kinds(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let stem = String(repeating: "stem ", count: seed)
    let keys = Set(
      (0..<40_000).map { _ -> Value in
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          return .integer(
            Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0...40, using: &random))
        case 1: return .integer((1 << 53) + Int64.random(in: -20_000...20_000, using: &random))
        case 2: return .real(Double(Int64.random(in: -9_000...9_000, using: &random)) + 0.25)
        case 3: return .text(stem + String(UInt64.random(in: 0...999_999, using: &random), radix: 36))
        case 4: return .text(String(repeating: "x", count: Int.random(in: 0...600, using: &random)))
        default: return .blob(withUnsafeBytes(of: random.next()) { Array($0.prefix(7)) })
        }
      })
    let rows = keys.shuffled(using: &random).enumerated().map { place, key in
      [key, .null, .integer(Int64(place))]
    }
    let create =
      seed % 2 == 0
      ? "CREATE TABLE t(k, l, v, UNIQUE (k))" : "CREATE TABLE t(k, l, v); CREATE INDEX i ON t(k)"
    try check(packing(create, batchSize: 700 + seed), rows, order: "rowid")
  }

  @Test(
    "A key that comes twice ends the packing at once as long as all keys are known, and at the end behind that"
  )
  func twice() throws {
    let packing = packing("CREATE TABLE t(k TEXT PRIMARY KEY, l, v)")
    var rows = (0..<50_000).map { [Value.text("key \($0 * 7_919 % 50_021)"), .null, .integer(Int64($0))] }
    rows[9_500][0] = rows[3][0]
    let early = try packing.run(rows, into: TemporaryDatabase())
    #expect(early.count == 9_000 && early.refusal?.reason == .sameKey)
    // In runs far from each other, in two that follow each other, in one, and in memory.
    for (first, second) in [(3, 49_990), (20_000, 36_000), (30_000, 30_002), (49_000, 49_999)] {
      var rows = rows
      rows[9_500][0] = .text("another key")
      rows[second][0] = rows[first][0]
      let late = try packing.run(rows, into: TemporaryDatabase())
      #expect(late.count == 0 && late.refusal?.reason == .sameKey, "\(first) \(second)")
    }
  }

  @Test("Packing ends where the runs are so many that memory does not hold a piece of each")
  func tooManyRuns() throws {
    let stem = String(repeating: "a long key ", count: 60)
    let rows = (0..<90_000).map { [Value.text("\($0 * 7_919 % 100_003) \(stem)"), .null, .null] }
    let (packed, stored) = (TemporaryDatabase(), TemporaryDatabase())
    let packing = packing("CREATE TABLE t(k TEXT PRIMARY KEY, l, v)", batchSize: 300)
    let (count, refusal, spilled) = try packing.run(rows, into: packed)
    #expect(count > 20_000 && count < rows.count && spilled > 10 << 20)
    #expect(refusal?.reason == .memory)
    try packing.store(rows, into: stored)
    try expectSame(packed, stored, order: "rowid", packing.create)
  }

  @Test("The file has no name, and an empty one that a kill has left is replaced")
  func file() throws {
    let database = TemporaryDatabase()
    let image = try ImageFile.make(for: database.path)
    let path = database.path + "-upsurge-sort"
    // Somebody's own file stays.
    let left = open(path, O_WRONLY | O_CREAT, 0o600)
    #expect(write(left, "precious", 8) == 8)
    let refused = #expect(throws: UpsurgeError.self) { _ = try SortFile(beside: image) }
    #expect(refused?.message.contains("making") == true && access(path, F_OK) == 0)
    #expect(ftruncate(left, 0) == 0)
    close(left)
    let file = try SortFile(beside: image)
    #expect(access(path, F_OK) != 0)
    try Array("one two".utf8).withUnsafeBytes { try file.append($0.baseAddress!, $0.count) }
    try Array(" three".utf8).withUnsafeBytes { try file.append($0.baseAddress!, $0.count) }
    var bytes = [UInt8](repeating: 0, count: 9)
    try bytes.withUnsafeMutableBytes { try file.read($0.baseAddress!, $0.count, at: 4) }
    #expect(String(decoding: bytes, as: UTF8.self) == "two three")
    let error = #expect(throws: UpsurgeError.self) {
      try bytes.withUnsafeMutableBytes { try file.read($0.baseAddress!, $0.count, at: 5) }
    }
    #expect(error?.message.contains("-upsurge-sort, in which keys are sorted") == true)
  }
}
