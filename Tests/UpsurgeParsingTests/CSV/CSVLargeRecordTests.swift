import TestSupport
import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

/// Records that are larger than the arena, and those that are given up inside.
@Suite("Large CSV records") struct CSVLargeRecordTests {
  @Test(
    "Records of many steps of the arena are those of one large arena", arguments: CSVPropertyTests.dialects)
  func steps(dialect: CSVDialect) throws {
    let parts = ["\"", "\"\"", ",", "\n", "\r", "\r\n", "\\", "a", "bc", "::", "||", "é", "'", " ", "#"]
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      // Few line ends, so that most records are larger than the arena.
      let text = (0..<400).map { _ in
        let part = parts[Int(random.next() % UInt64(parts.count))]
        return part.contains(where: \.isNewline) && random.next() % 8 > 0 ? "x" : part
      }.joined()
      for arena in [4, 16, 64] {
        for noticesEndLate in [false, true] {
          let driver = BatchDriver(
            sizes: CSVPropertyTests.sizes(arena: arena), splits: [], noticesEndLate: noticesEndLate)
          let difference = try CSVPropertyTests.difference(Array(text.utf8), dialect, fieldCount: 2, driver)
          #expect(difference == nil, "seed \(seed), arena \(arena), \(dialect)")
        }
      }
    }
  }

  @Test(
    "Scanning ends inside a record when it is cancelled",
    arguments: [
      "a,\"" + String(repeating: "x\"\"y\n", count: 100_000) + "\"\n",
      String(repeating: ",x", count: 200_000),
    ])
  func cancelled(text: String) throws {
    let bytes = Array(text.utf8)
    for isCancelled in [false, true] {
      var parser = CSVParser.text(CSVDialect(headerLineCount: 0), fieldCount: 2)
      let cancellation = ReadCancellation()
      if isCancelled { cancellation.request() }
      parser.cancellation = cancellation
      var batch = Batch(sizes: Batch.Sizes(arenaByteCount: 1 << 20, cellCount: 64, recordCount: 8))
      batch.freeArena.copyBytes(from: bytes)
      batch.arenaByteCount = bytes.count
      try parser.parse(&batch, isFinal: true)
      #expect(batch.recordCount + batch.rejects.count == (isCancelled ? 0 : 1))
      #expect(batch.parsedByteCount == (isCancelled ? 0 : bytes.count))
    }
  }
}
