import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

private func column(_ name: String, _ affinity: Affinity, _ policy: ColumnTarget.SpellingPolicy = .warn)
  -> ColumnTarget
{
  ColumnTarget(name: name, affinity: affinity, spellingPolicy: policy)
}

private func parse(_ text: String, _ columns: [ColumnTarget], _ policy: JSONKeyPolicy) -> ParsedInput {
  parse(Array(text.utf8), JSONDialect(), columns: columns, policy: policy)
}

@Suite("JSON keys and columns")
struct JSONColumnsTests {
  @Test("a new key closes the batch and widens the next one")
  func newKey() throws {
    var parser = JSONParser(
      dialect: JSONDialect(), file: "t", columns: [column("a", .integer)],
      policy: JSONKeyPolicy(unknown: .add(.reject)))
    var batch = Batch()
    let text = Array("{\"a\":1}\n{\"a\":2,\"b\":1.5}\n{\"b\":2.5}\n".utf8)
    batch.freeArena.copyBytes(from: text)
    batch.arenaByteCount = text.count
    try parser.parse(&batch, isFinal: true)
    let before = (batch.recordCount, batch.columnCount)
    let flags = (batch.isClosed, batch.hasAbsentCells, batch.newColumns.isEmpty)
    #expect(before == (1, 1) && flags == (true, false, true))
    var next = Batch()
    next.takeTail(of: &batch)
    try parser.parse(&next, isFinal: true)
    let after = (next.recordCount, next.columnCount)
    let nextFlags = (next.isClosed, next.hasAbsentCells)
    let newColumns = next.newColumns
    #expect(after == (2, 2) && nextFlags == (false, true))
    #expect(newColumns == [column("b", .real, .reject)])
    #expect(parser.columns == [column("a", .integer), column("b", .real, .reject)])
  }

  @Test("names of columns ignore the case of ASCII letters, and only of those")
  func cases() {
    let parsed = parse(
      "{\"NAME\":1,\"É\":2}\n{\"name\":3,\"é\":4}", [column("Name", .integer)],
      JSONKeyPolicy(unknown: .add(.warn)))
    #expect(parsed.columns.map(\.name) == ["Name", "É", "é"])
    #expect(
      parsed.records.map(\.values) == [
        ["Name": .integer(1), "É": .integer(2)], ["Name": .integer(3), "é": .integer(4)],
      ])
  }

  @Test("keys spelled with escapes are the same key")
  func escapedKeys() {
    let parsed = parse(
      "{\"ab\":1}\n{\"\\u0061b\":2}\n{\"a\\u0062\":3}", [], JSONKeyPolicy(unknown: .add(.warn)))
    #expect(parsed.records.map(\.values) == [["ab": .integer(1)], ["ab": .integer(2)], ["ab": .integer(3)]])
  }

  @Test("wanted keys and renames")
  func wantedAndRenamed() {
    let policy = JSONKeyPolicy(unknown: .add(.warn), wanted: ["ID", "old"], renames: ["Old": "new"])
    let parsed = parse("{\"id\":1,\"x\":\"é\",\"old\":2}\n{\"x\":[1],\"OLD\":3}\n", [], policy)
    #expect(parsed.columns.map(\.name) == ["id", "new"])
    #expect(parsed.records.map(\.values) == [["id": .integer(1), "new": .integer(2)], ["new": .integer(3)]])
    #expect(parsed.warnings.entries.map(\.code) == [.columnSkipped])
    let bad = parse("{\"x\":\"\\ud800\"}\n{\"x\":nul}", [], policy)
    #expect(bad.rejects.map(\.code) == [.jsonSyntax], "what is skipped is checked all the same")
  }

  @Test("a frozen table refuses a key, with all that helps")
  func refuses() {
    let parsed = parse(
      "{\"a\":1}\n{\"b\":\n{\"a\":2,\"b\":3}\n", [column("a", .integer)],
      JSONKeyPolicy(unknown: .refuse(table: "t1")))
    #expect(parsed.records.count == 1 && parsed.rejects.count == 1)
    #expect(
      parsed.error?.description
        == "the input has a key \"b\" for which table t1 has no column\n  at t, line 3, record 3, byte 14\n"
        + "  fix: --alter adds the column; --columns A,B leaves it out")
    #expect(parsed.error?.code == .guardRefused)
  }

  @Test("values that a column's affinity would change")
  func wouldChange() {
    let text =
      "{\"i\":\"007\"}\n{\"i\":\"x\"}\n{\"i\":12345678901234567890}\n{\"i\":\"7\"}\n{\"i\":\"2.50\"}\n{\"i\":[7]}\n"
    let strict = parse(text, [column("i", .integer, .reject)], JSONKeyPolicy(unknown: .skip))
    #expect(strict.rejects.map(\.code) == [.wouldChange, .wouldChange])
    #expect(strict.rejects.map(\.column) == ["i", "i"])
    #expect(
      strict.records.map(\.values) == [
        ["i": .text("x")], ["i": .integer(7)], ["i": .real(2.5)], ["i": .text("[7]")],
      ])
    #expect(strict.warnings.entries.map(\.code) == [.textInNumberColumn])
    #expect(strict.warnings.entries.map(\.count) == [2])
    let loose = parse(text, [column("i", .integer, .warn)], JSONKeyPolicy(unknown: .skip))
    #expect(loose.rejects.isEmpty && loose.records.count == 6)
    #expect(loose.warnings.entries.map(\.code) == [.spellingChanged, .textInNumberColumn])
    #expect(loose.warnings.entries.first?.first.description == "t, line 1, record 1, byte 0")
  }

  @Test("numbers in text columns keep their spelling")
  func textColumn() {
    let parsed = parse(
      "{\"t\":1.50}\n{\"t\":1e2}\n{\"t\":true}\n{\"t\":-0}", [column("t", .text)],
      JSONKeyPolicy(unknown: .skip))
    #expect(
      parsed.records.map(\.values) == [
        ["t": .text("1.50")], ["t": .text("1e2")], ["t": .integer(1)], ["t": .text("-0")],
      ])
  }

  @Test("more keys than the table keeps, and more columns than SQLite has")
  func manyKeys() {
    var text = ""
    for index in 0..<40_000 { text += "{\"a\":\(index),\"key\(index)\":1}\n" }
    let skipped = parse(text, [column("a", .integer)], JSONKeyPolicy(unknown: .skip))
    #expect(skipped.records.count == 40_000 && skipped.rejects.isEmpty && skipped.error == nil)
    #expect(skipped.records.last?.values == ["a": .integer(39_999)])
    #expect(skipped.warnings.entries.count <= 101)
    let wide = "{" + (0..<40_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
    let parsed = parse(wide + "\n{\"k0\":1}", [], JSONKeyPolicy(unknown: .add(.warn)))
    #expect(parsed.rejects.map(\.code) == [.tooManyColumns] && parsed.error == nil)
    #expect(
      parsed.reasons.first
        == "the record needs a column more than the 32767 that SQLite takes in a table, for the value at byte 349329 of the record"
    )
    #expect(parsed.records.map(\.values) == [["k0": .integer(1)]])
  }
}
