import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

/// A batch of one column whose cells are texts (nil: NULL).
private func batch(_ texts: [String?]) -> Batch {
  var batch = Batch()
  batch.begin(columnCount: 1)
  for text in texts {
    let offset = batch.arenaByteCount
    let bytes = Array((text ?? "").utf8)
    batch.freeArena.copyBytes(from: bytes)
    batch.arenaByteCount += bytes.count
    batch.parsedByteCount = batch.arenaByteCount
    batch.cells[batch.recordCount] = text == nil ? .null : .text(offset: offset, byteCount: bytes.count)
    batch.recordCount += 1
  }
  return batch
}

@Suite("Column types from a sample")
struct ColumnInferenceTests {
  @Test(
    "texts",
    arguments: [
      (["1", "-2", nil, "9223372036854775807"], .integer), (["1.5", "2.0", ".5", "5.", "1e+5"], .real),
      (["1", "1.5"], .real), (["9007199254740993", "1.5"], .text), (["9007199254740993"], .integer),
      (["007"], .text), (["1", "007"], .text), (["+4930123456"], .text), (["9223372036854775808"], .text),
      (["12E4"], .text), (["-0"], .text), ([" 1"], .text), (["1", "x"], .text), ([""], .text),
      ([nil, nil], .text),
      ([], .text), (["0x10"], .text), (["0.1000000000000000055511151231257827"], .text), (["inf"], .text),
      (["0.30000000000000004"], .real), (["1e400"], .text), (["1_000"], .text),
    ] as [([String?], ColumnType)])
  func texts(values: [String?], type: ColumnType) {
    var inference = ColumnInference(isJSON: false)
    inference.observe(batch(values))
    #expect(inference.inferredType(of: 0) == type)
    var pieces = ColumnInference(isJSON: false)
    for value in values {
      var one = ColumnInference(isJSON: false)
      one.observe(batch([value]))
      pieces.merge(one)
    }
    #expect(pieces.inferredType(of: 0) == type)
  }

  @Test(
    "an empty text, which was quoted, leaves a column of numbers one",
    arguments: [
      (["1", "", "3"], .integer, .text), (["", "1.5", ""], .real, .text), (["", ""], .text, .text),
      (["", "x"], .text, .text), ([nil, ""], .text, .text),
    ] as [([String?], ColumnType, ColumnType)])
  func emptyTexts(values: [String?], type: ColumnType, counted: ColumnType) {
    for (countsEmptyTexts, type) in [(false, type), (true, counted)] {
      var inference = ColumnInference(isJSON: false, countsEmptyTexts: countsEmptyTexts)
      inference.observe(batch(values))
      #expect(inference.inferredType(of: 0) == type)
    }
  }

  @Test(
    "JSON values",
    arguments: [
      ("1", .integer), ("true", .integer), ("1.5", .real), ("\"1\"", .text), ("null", .any), ("[]", .text),
      ("12345678901234567890", .text), ("1e400", .text), ("-0", .real), ("{\"x\":1}", .text),
    ] as [(String, ColumnType)])
  func json(value: String, type: ColumnType) {
    #expect(inferred("{\"a\":\(value)}\n").inferredType(of: 0) == type)
    #expect(inferred("{\"a\":null}\n{\"a\":\(value)}\n{}\n").inferredType(of: 0) == type)
  }

  @Test("JSON: integers and reals, and an integer that is no double")
  func mixed() {
    #expect(inferred("{\"a\":1}\n{\"a\":1.5}\n").inferredType(of: 0) == .real)
    #expect(inferred("{\"a\":9007199254740993}\n{\"a\":1.5}\n").inferredType(of: 0) == .text)
    #expect(inferred("{\"a\":1}\n{\"a\":\"x\"}\n").inferredType(of: 0) == .text)
    #expect(inferred("{}\n").inferredType(of: 3) == .any)
  }

  @Test("columns that appear later count the records before as NULL")
  func growing() {
    let inference = inferred("{\"a\":1}\n{\"a\":2}\n{\"a\":3,\"b\":\"x\"}\n{\"b\":\"y\"}\n")
    #expect(inference.columns.map(\.nullCount) == [1, 2])
    #expect(inference.columns.map(\.integerCount) == [3, 0])
    #expect(inference.columns.map(\.textCount) == [0, 2])
    #expect(inference.columns.map(\.examples) == [["1", "2", "3"], ["x", "y"]])
  }

  @Test("examples are different, few and short")
  func examples() {
    var inference = ColumnInference(isJSON: false)
    inference.observe(batch(["a", "a", nil, "b", String(repeating: "é", count: 100), "c"]))
    #expect(inference.columns.first?.examples == ["a", "b", String(repeating: "é", count: 39) + "…"])
  }

  /// What inference sees of NDJSON whose columns have no affinity.
  private func inferred(_ text: String) -> ColumnInference {
    let names = ["a", "b"].filter { text.contains("\"\($0)\"") }
    var inference = ColumnInference(isJSON: true)
    var parser = JSONParser(
      dialect: JSONDialect(), file: "t", columns: [], policy: JSONKeyPolicy(unknown: .addUntyped))
    var batch = Batch()
    batch.freeArena.copyBytes(from: Array(text.utf8))
    batch.arenaByteCount = text.utf8.count
    while true {
      do throws(UpsurgeError) { try parser.parse(&batch, isFinal: true) } catch {
        Issue.record("\(error)")
        return inference
      }
      inference.observe(batch)
      if batch.parsedByteCount == batch.arenaByteCount { break }
      var next = Batch()
      next.takeTail(of: &batch)
      batch = next
    }
    #expect(parser.columns.map(\.name) == names)
    return inference
  }
}
