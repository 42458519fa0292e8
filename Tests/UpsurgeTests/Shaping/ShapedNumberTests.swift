import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Texts that SQL would take for numbers, and numbers that it would take for texts.
@Suite("Texts and numbers in the SQL of records")
struct ShapedNumberTests {
  let scratch = Scratch()

  private func load(
    _ text: String, lets: [(String, String)] = [], where filter: String? = nil, name: String = "in.csv",
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.table.computedColumns = lets.map { LoadOptions.ComputedColumn($0, $1) }
    options.input.filter = filter
    change(&options)
    let source = scratch.write(text, to: name)
    return LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options).run()
  }

  private func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  /// Codes of warnings with their column, count and first record.
  private func warnings(_ summary: RunSummary) -> [String] {
    summary.warnings.entries.map {
      "\($0.code.rawValue) \($0.column ?? "") \($0.count) \($0.first.record ?? 0)"
    }
  }

  // MARK: - Comparisons

  @Test(
    "A number that a text of CSV is compared with is named as it is written, and the hint compares numbers",
    arguments: [
      ("\"Date added\" > -4", "\"Date added\"", "-4", "CAST(\"Date added\" AS REAL)"),
      ("p = 3", "p", "3", "CAST(p AS REAL)"),
      ("p = 9007199254740993", "p", "9007199254740993", "CAST(p AS INTEGER)"),
      ("coalesce(\"select\", 0) > 2+2", "\"select\"", "2+2", "CAST(\"select\" AS REAL)"),
    ])
  func comparison(sql: String, field: String, number: String, cast: String) throws {
    let text = "p,Date added,select\n3,1,5\n3.0,-9,1\n4,0,\n"
    let error = try #require(load(text, where: sql).error)
    #expect(
      error.message
        == "--where compares the field \(field) with the number \(number), and fields of CSV are texts",
      "\(error)")
    #expect(error.hint?.hasPrefix("write \(cast) to compare numbers, or ") == true, "\(error.hint ?? "")")
    let mended = load(text, where: sql.replacing(field, with: cast))
    #expect(mended.error == nil, "\(mended.error?.message ?? "")")
  }

  @Test("Equal numbers that are written otherwise are found as the hint says")
  func equal() throws {
    let text = "p\n2.50\n3.0\n3\n"
    #expect(load(text, where: "p = 3").error?.code == .usage)
    #expect(load(text, where: "CAST(p AS REAL) = 3").ledger.filtered == 1)
    #expect(try rows("SELECT count(*) FROM t") == ["2"])
  }

  @Test("Fields of yes and no are compared with 1 and 0 as they are")
  func flags() throws {
    let summary = load("id,paid\n1,ja\n2,nein\n3,ja\n", where: "paid = 1") {
      $0.input.values.truths = ["paid": .usual]
    }
    #expect(summary.error == nil && summary.ledger.filtered == 1, "\(summary.error?.message ?? "")")
    #expect(try rows("SELECT id FROM t") == ["1", "3"])
  }

  @Test("A text that a function makes is no number")
  func function() throws {
    let error = try #require(load("day\n2024-02-01\n", where: "strftime('%Y', day) = 2024").error)
    #expect(error.message.contains("compares the text strftime('%Y', day) with the number 2024"), "\(error)")
    #expect(
      load("day\n2024-02-01\n2023-02-01\n", where: "CAST(strftime('%Y', day) AS INTEGER) = 2024").ledger
        .filtered == 1)
  }

  @Test("A text of JSON that is compared with a number is counted, with its first place")
  func json() throws {
    let text =
      #"{"id":1,"v":7}"# + "\n" + #"{"id":2,"v":"2"}"# + "\n" + #"{"id":3,"v":"x"}"# + "\n" + #"{"id":4}"#
      + "\n"
    let summary = load(text, where: "v > 5", name: "in.ndjson")
    #expect(summary.error == nil && summary.ledger.inserted == 3)
    #expect(warnings(summary).contains("text-against-number v 2 2"), "\(warnings(summary))")
    #expect(summary.warnings.entries.contains { $0.first.line == 2 })
  }

  @Test("A text of JSON that the SQL has tested is not counted")
  func tested() throws {
    let text = #"{"id":1,"v":7}"# + "\n" + #"{"id":2,"v":"2"}"# + "\n"
    let summary = load(
      text, lets: [("w", "CASE WHEN typeof(v) = 'text' THEN 0 ELSE v*2 END")],
      where: "typeof(v) = 'text' OR v > 5",
      name: "in.ndjson")
    #expect(
      summary.error == nil && warnings(summary).filter { $0.contains("number v") } == [],
      "\(warnings(summary))")
    #expect(try rows("SELECT w FROM t ORDER BY id") == ["14", "0"])
  }

  // MARK: - Calculations

  @Test("A text that is no number is counted where SQL calculates with it", arguments: [1, 64, 100_000])
  func calculated(arenaByteCount: Int) throws {
    let text = "id,price\n1,3\n2,\"1,200\"\n3,12 EUR\n4,abc\n5,\n6, 1.5e1 \n"
    let summary = load(text, lets: [("x", "price*2")]) {
      $0.tuning.batchSizes = Batch.Sizes(arenaByteCount: arenaByteCount, cellCount: 10, recordCount: 3)
    }
    #expect(summary.error == nil, "\(summary.error?.message ?? "")")
    #expect(
      warnings(summary).filter { $0.hasPrefix("text-as") } == ["text-as-number price 3 2"],
      "\(warnings(summary))")
    #expect(try rows("SELECT x FROM t") == ["6.0", "2.0", "24.0", "0.0", "NULL", "30.0"])
  }

  @Test("Records that are left out count where the condition itself calculates, and no others")
  func filtered() {
    let text = "id,kind,price\n1,A,x\n2,B,y\n3,A,4\n"
    let lets = load(text, lets: [("x", "price*2")], where: "kind = 'B'")
    #expect(
      warnings(lets).filter { $0.hasPrefix("text-as") } == ["text-as-number price 1 2"], "\(warnings(lets))")
    let condition = load(text, where: "CAST(price AS REAL) > 3")
    #expect(
      warnings(condition).filter { $0.hasPrefix("text-as") } == ["text-as-number price 2 1"],
      "\(warnings(condition))")
    let tested = load(text, where: "price GLOB '[0-9]*' AND CAST(price AS REAL) > 3")
    #expect(warnings(tested).filter { $0.hasPrefix("text-as") } == [], "\(warnings(tested))")
  }
}
