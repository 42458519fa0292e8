import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

/// Large records cost what their bytes cost, whatever they repeat, and can be given up inside.
@Suite("Large JSON records")
struct JSONLargeRecordTests {
  private static let lines = JSONDialect()
  private static let flat = JSONDialect(flattenSeparator: ".")

  struct Shape: CustomStringConvertible, Sendable {
    var description: String
    var head: String
    var unit: String
    var tail: String
    var dialect: JSONDialect
    /// Of the one warning or reject.
    var code: String

    func record(unitCount: Int) -> [UInt8] {
      var text = head
      for index in 0..<unitCount {
        text += unit.contains("#") ? unit.replacing("#", with: String(index)) : unit
      }
      return Array((text + tail).utf8)
    }
  }

  static let shapes: [Shape] = [
    Shape(
      description: "a key", head: #"{"id":1"#, unit: #","a":1"#, tail: "}", dialect: lines,
      code: "duplicate-key"),
    Shape(
      description: "a key, rejected", head: #"{"id":1"#, unit: #","a":1"#, tail: "}",
      dialect: JSONDialect(duplicateKeys: .reject), code: "duplicate-key"),
    Shape(
      description: "an object", head: #"{"id":1"#, unit: #","a":{"x":1}"#, tail: "}", dialect: flat,
      code: "duplicate-key"),
    Shape(
      description: "a new object of another key each time", head: #"{"id":1"#, unit: #","a":{"x#":1}"#,
      tail: #","a":2}"#, dialect: flat, code: "duplicate-key"),
    Shape(
      description: "a document's key", head: #"[{"id":1"#, unit: #","a":1"#, tail: "}]",
      dialect: JSONDialect(format: .json), code: "duplicate-key"),
  ]

  @Test("What is repeated 200,000 times is read in seconds", .timeLimit(.minutes(2)), arguments: shapes)
  func linear(shape: Shape) {
    // As many different keys as can be told apart while objects are flattened.
    let count = shape.unit.contains("#") ? 20_000 : 200_000
    let parsed = parse(shape.record(unitCount: count), shape.dialect)
    #expect(parsed.error == nil)
    if shape.dialect.duplicateKeys == .reject {
      #expect(parsed.records.isEmpty && parsed.rejects.map(\.code.rawValue) == ["duplicate-key"])
      return
    }
    #expect(parsed.records.count == 1 && parsed.rejects.isEmpty)
    #expect(parsed.warnings.entries.map(\.code.rawValue) == [shape.code])
    let expected = shape.unit.contains("#") ? count : count - 1
    #expect(parsed.warnings.entries.map(\.count) == [UInt64(expected)])
  }

  @Test("Many keys under a long one are left out, or refused, in seconds", .timeLimit(.minutes(2)))
  func longPaths() {
    let parent = String(repeating: "p", count: 900_000)
    let keys = (0..<20_000).map { "\"k\($0)\":1" }.joined(separator: ",")
    let record = Array("{\"id\":1,\"\(parent)\":{\(keys)}}".utf8)
    let left = parse(record, Self.flat, policy: JSONKeyPolicy(unknown: .skip, wanted: ["id"]))
    #expect(left.records.map(\.values) == [["id": .integer(1)]] || left.records.map(\.values) == [[:]])
    let refused = parse(record, Self.flat)
    #expect(refused.records.isEmpty && refused.rejects.map(\.code.rawValue) == ["too-many-columns"])
    #expect(
      refused.reasons.first?.hasPrefix(
        "a key of 900003 bytes needs a column, and the names of all columns may have 1048576")
        == true, "\(refused.reasons)")
  }

  @Test("The value that is taken back leaves no warning of its own")
  func forgottenWarnings() {
    let columns = [ColumnTarget(name: "a", affinity: .integer, spellingPolicy: .warn)]
    let parsed = parse(Array(#"{"a":"x","a":"y","a":7}"#.utf8), Self.lines, columns: columns)
    #expect(
      parsed.warnings.entries.map(\.code) == [.duplicateKey] && parsed.warnings.entries.map(\.count) == [2])
    let last = parse(Array(#"{"a":7,"a":"y"}"#.utf8), Self.lines, columns: columns)
    #expect(Set(last.warnings.entries.map(\.code)) == [.duplicateKey, .textInNumberColumn])
  }

  @Test("A column that a repeated object takes back and asks for again comes behind the others")
  func askedAgain() {
    let parsed = parse(Array(#"{"a":{"x":1,"y":2},"b":3,"a":{"y":4}}"#.utf8), Self.flat)
    #expect(parsed.columns.map(\.name) == ["b", "a.y"])
    #expect(parsed.records.map(\.values) == [["b": .integer(3), "a.y": .integer(4)]])
    let twice = parse(Array(#"{"a":{"b":{"x":1},"b":{"y":2}},"a":{"b":{"x":5}}}"#.utf8), Self.flat)
    #expect(twice.records.map(\.values) == [["a.b.x": .integer(5)]])
  }

  static let whole: [(text: @Sendable (String) -> String, dialect: JSONDialect)] = [
    ({ "{\"id\":1\($0)}" }, lines), ({ "{\"id\":1,\"v\":[0\($0.replacing("\"a\":", with: ""))]}" }, lines),
    ({ "{\"id\":1\($0)}" }, flat), ({ "[{\"id\":1\($0)}]" }, JSONDialect(format: .json)),
  ]

  @Test("Reading ends inside a record when it is cancelled", arguments: whole.indices)
  func cancelled(index: Int) throws {
    let (text, dialect) = Self.whole[index]
    let bytes = Array(text(String(repeating: ",\"a\":1", count: 200_000)).utf8)
    for isCancelled in [false, true] {
      var parser = JSONParser(
        dialect: dialect, file: "t", columns: [], policy: JSONKeyPolicy(unknown: .add(.warn)))
      let cancellation = ReadCancellation()
      if isCancelled { cancellation.request() }
      parser.cancellation = cancellation
      var batch = Batch(sizes: Batch.Sizes(arenaByteCount: 2 << 20, cellCount: 64, recordCount: 8))
      batch.freeArena.copyBytes(from: bytes)
      batch.arenaByteCount = bytes.count
      try parser.parse(&batch, isFinal: true)
      #expect(batch.recordCount == (isCancelled ? 0 : 1) && batch.rejects.isEmpty)
    }
  }
}
