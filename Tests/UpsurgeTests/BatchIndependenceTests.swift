import TestSupport
import Testing

@testable import Upsurge

/// Promise 2: the table and the ledger do not depend on how the input is cut into batches.
@Suite("Batch independence")
struct BatchIndependenceTests {
  @Test("The same table and ledger for every batch size", arguments: 1...12 as ClosedRange<UInt64>)
  func sizes(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let text = Self.randomCSV(&generator)
    let scratch = Scratch()
    let source = scratch.write(text, to: "in.csv")
    var expected: (rows: [String], ledger: Ledger)?
    for (index, sizes) in Self.batchSizes(&generator).enumerated() {
      var options = LoadOptions()
      options.rules.key = ["k"]
      options.rejects.onError = .reject
      options.tuning.batchSizes = sizes
      options.transaction.commitEvery = .records(Int.random(in: 1...50, using: &generator))
      options.input.csv.delimiter = [UInt8(ascii: ",")]
      options.input.csv.headerLineCount = 1
      let path = scratch.file("\(index).db")
      let summary = LoadJob(database: path, table: "t", sources: [source], options: options).run()
      #expect(summary.error == nil, "seed \(seed)")
      let database = Database(path)
      #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
      let rows = try database.rows("SELECT k, typeof(k), a, typeof(a), b, typeof(b) FROM t ORDER BY k")
      if let expected {
        #expect(rows == expected.rows, "seed \(seed), sizes \(sizes)")
        #expect(summary.ledger == expected.ledger, "seed \(seed), sizes \(sizes)")
      } else {
        expected = (rows, summary.ledger)
      }
    }
  }

  private static func batchSizes(_ generator: inout SeededGenerator) -> [Batch.Sizes] {
    [.standard]
      + (0..<5).map { _ in
        Batch.Sizes(
          arenaByteCount: Int.random(in: 1...200, using: &generator),
          cellCount: Int.random(in: 1...40, using: &generator),
          recordCount: Int.random(in: 1...20, using: &generator))
      }
  }

  /// Keys that come again, numbers, quotes, newlines, ragged and broken records.
  private static func randomCSV(_ generator: inout SeededGenerator) -> String {
    let values = ["", "1", "22", "3.25", "x", "\"a\"\"b\"", "\"l\nm\"", "é", "\"\"", "-7"]
    var text = "k,a,b\n"
    for _ in 0..<300 {
      let key = String(Int.random(in: 1...60, using: &generator))
      var fields = [key, values.randomElement(using: &generator)!, values.randomElement(using: &generator)!]
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: fields.removeLast()
      case 1: fields.append("surplus")
      case 2: fields[1] = "\"q\"z"
      default: break
      }
      text += fields.joined(separator: ",") + (Bool.random(using: &generator) ? "\n" : "\r\n")
    }
    return text
  }
}
