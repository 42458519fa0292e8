import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Lines that are cut by widths, from the file to the row.
@Suite("Fixed width")
struct FixedWidthTests {
  let scratch = Scratch()

  @discardableResult
  private func load(
    _ text: String, _ name: String = "in.txt", into database: String = "a.db",
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rejects.onError = .reject
    options.rejects.target = .table
    change(&options)
    let summary = LoadJob(
      database: scratch.file(database), table: "t", sources: [scratch.write(text, to: name)], options: options
    ).run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  private func rows(_ sql: String, _ database: String = "a.db") throws -> [String] {
    try Database(scratch.file(database)).rows(sql)
  }

  private static func widths(_ options: inout LoadOptions, _ names: [String]?, _ widths: [Int?]) {
    var fields: [FixedWidths.Field] = []
    var start = 0
    for width in widths {
      fields.append(FixedWidths.Field(start: start, width: width))
      start += width ?? 0
    }
    options.input.csv.widths = FixedWidths(fields: fields)
    options.input.csv.columnNames = names
  }

  // MARK: - The same as CSV

  private static let letters = Array("abcXYZ019.-,\"'\\;ä€漢😀e\u{301}#")

  private static func value(_ random: inout SeededGenerator, atMost count: Int) -> String {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return ""
    case 1: return String("\(Int.random(in: -9999...99999, using: &random))".prefix(count))
    case 2:
      return String(
        "\(Int.random(in: 0...999, using: &random)).\(Int.random(in: 1...9, using: &random))".prefix(count))
    default:
      var text = String.UnicodeScalarView()
      let length = Int.random(in: 1...count, using: &random)
      while text.count < length {
        let letter = letters.randomElement(using: &random)!.unicodeScalars
        if text.count + letter.count <= length { text.append(contentsOf: letter) } else { text.append("x") }
        if Int.random(in: 0..<5, using: &random) == 0, text.count + 1 < length { text.append(" ") }
      }
      return String(text).trimmingCharacters(in: .whitespaces)
    }
  }

  /// A value among blanks, as many characters as the field has.
  private static func padded(_ value: String, to width: Int, isRight: Bool) -> String {
    let blanks = String(repeating: " ", count: width - value.unicodeScalars.count)
    return isRight ? blanks + value : value + blanks
  }

  @Test("Tables are those of the same values as CSV", arguments: SeededGenerator.some(of: UInt64(60)))
  func chance(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let widths = (0..<Int.random(in: 2...6, using: &random)).map { _ in Int.random(in: 3...12, using: &random)
    }
    let names = widths.indices.map { "f\($0)" }
    let end = ["\n", "\r\n", "\r"].randomElement(using: &random)!
    let hasRest = Bool.random(using: &random)
    let hasRuler = Bool.random(using: &random)
    // Blanks part what a ruler shows.
    let gap = hasRuler ? " " : ""
    var (fixed, csv) = ("", names.joined(separator: ",") + "\n")
    if hasRuler {
      fixed = zip(names, widths).map { Self.padded($0, to: $1, isRight: false) }.joined(separator: gap) + end
      fixed += widths.map { String(repeating: "-", count: $0) }.joined(separator: gap) + end
    }
    for number in 1...Int.random(in: 20...200, using: &random) {
      // A line of blanks is no record.
      let values = widths.enumerated().map { $0 == 0 ? "\(number)" : Self.value(&random, atMost: $1) }
      let isRight = Bool.random(using: &random)
      var line = zip(values, widths).map { Self.padded($0, to: $1, isRight: isRight) }.joined(separator: gap)
      // Blanks at the end of the last field need not be there.
      while !values[values.count - 1].isEmpty, line.hasSuffix(" ") { line.removeLast() }
      fixed += line + end
      csv +=
        values.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",").replacing(
          "\"\"", with: "\"\"") + "\n"
    }
    let quiet: (inout LoadOptions) -> Void = {
      $0.input.csv.quotedEmpty = .null
      $0.rejects.onError = .stop
    }
    let expected = load(csv, "in.csv", into: "expected.db") {
      quiet(&$0)
      $0.input.csv.delimiter = [UInt8(ascii: ",")]
      $0.input.csv.quote = .byte(UInt8(ascii: "\""))
      $0.input.csv.escape = CSVOverrides.Mark.none
      $0.input.csv.headerLineCount = 1
    }
    try #require(expected.error == nil, "seed \(seed): \(expected.error.map(\.description) ?? "")")
    for sizes in [Batch.Sizes.standard, Batch.Sizes(arenaByteCount: 1024, cellCount: 40, recordCount: 5)] {
      let name = "\(sizes.arenaByteCount).db"
      let summary = load(fixed, into: name) {
        quiet(&$0)
        $0.tuning.batchSizes = sizes
        if hasRuler { return }
        Self.widths(&$0, names, hasRest ? widths.dropLast() + [nil] : widths)
        $0.input.csv.headerLineCount = 0
      }
      #expect(summary.error == nil, "seed \(seed): \(summary.error.map(\.description) ?? "")")
      let content = "SELECT * FROM t; SELECT sql FROM sqlite_schema WHERE name = 't'"
      #expect(try rows(content, name) == rows(content, "expected.db"), "seed \(seed), \(sizes)")
    }
  }

  // MARK: - What a line may be

  @Test("Characters are counted, not bytes")
  func characters() throws {
    load("1Ä€😀x 2\n2abcde3\n") {
      Self.widths(&$0, ["id", "name", "n"], [1, 5, 1])
      $0.input.csv.headerLineCount = 0
    }
    #expect(try rows("SELECT * FROM t") == ["1|'Ä€😀x'|2", "2|'abcde'|3"])
  }

  @Test("Another encoding is decoded before characters are counted")
  func encoding() throws {
    var options = LoadOptions()
    options.input.encoding = .windows1252
    Self.widths(&options, ["id", "name", "n"], [1, 4, 1])
    options.input.csv.headerLineCount = 0
    let path = scratch.write([0x31, 0xC4, 0xE4, 0x20, 0x20, 0x37, 0x0A], to: "in.txt")
    let summary = LoadJob(database: scratch.file("a.db"), table: "t", sources: [path], options: options).run()
    #expect(summary.error == nil)
    #expect(try rows("SELECT * FROM t") == ["1|'Ää'|7"])
  }

  @Test("Short and long lines are rejects with their place")
  func ragged() throws {
    let summary = load("0001Ann   12\n0002Ben\n\n      \n0003Cyd    7 more\n0004Dan   8   \n") {
      Self.widths(&$0, ["id", "name", "n"], [4, 6, 2])
      $0.input.csv.headerLineCount = 0
    }
    #expect(summary.ledger.inserted == 2 && summary.ledger.rejected == 2)
    #expect(try rows("SELECT * FROM t") == ["'0001'|'Ann'|12", "'0004'|'Dan'|8"])
    #expect(
      try rows("SELECT record, line, byte, code, \"column\", CAST(raw AS TEXT) FROM upsurge_rejects")
        == ["2|2|13|'ragged'|'name'|'0002Ben'", "3|5|29|'ragged'|'n'|'0003Cyd    7 more'"])
    #expect(summary.warnings.entries.map { "\($0.code.rawValue) \($0.count)" } == ["blank-line 2"])
  }

  @Test("Ragged lines are filled up, or keep what is too much")
  func policies() throws {
    load("0001Ann   12\n0002Ben\n") {
      Self.widths(&$0, ["id", "name", "n"], [4, 6, 2])
      ($0.input.csv.headerLineCount, $0.input.csv.ragged) = (0, .pad)
    }
    #expect(try rows("SELECT * FROM t") == ["'0001'|'Ann'|12", "'0002'|'Ben'|NULL"])
    load("0001Ann   12\n0002Ben    7 \"two\" words\n", into: "b.db") {
      Self.widths(&$0, ["id", "name", "n"], [4, 6, 2])
      ($0.input.csv.headerLineCount, $0.input.csv.ragged) = (0, .extra)
    }
    #expect(try rows("SELECT extra FROM t", "b.db") == ["NULL", "'[\"\\\"two\\\" words\"]'"])
  }

  @Test("Gaps are left out, and values have their formats")
  func values() throws {
    var fields = [FixedWidths.Field(start: 0, width: 2), FixedWidths.Field(start: 5, width: 10)]
    fields.append(FixedWidths.Field(start: 15, width: nil))
    load("01xxx31/12/2024NA\n02yyy01/02/2025 2,5\n") {
      $0.input.csv.widths = FixedWidths(fields: fields)
      ($0.input.csv.columnNames, $0.input.csv.headerLineCount) = (["id", "day", "n"], 0)
      $0.input.csv.nullSpellings = [Array("NA".utf8)]
      $0.input.values.dates = ["day": "%d/%m/%Y"]
      $0.input.values.decimal = .comma
    }
    #expect(try rows("SELECT * FROM t") == ["'01'|'2024-12-31'|NULL", "'02'|'2025-02-01'|2.5"])
  }

  @Test("A record is stored when it is corrected")
  func replay() throws {
    load("0001Ann   12\n0002Ben\n") {
      Self.widths(&$0, ["id", "name", "n"], [4, 6, 2])
      $0.input.csv.headerLineCount = 0
      $0.rules.key = ["id"]
    }
    _ = try rows("UPDATE upsurge_rejects SET raw = '0002Ben   13'")
    let summary = ReplayJob(database: scratch.file("a.db")).run()
    #expect(summary.error == nil)
    #expect(try rows("SELECT * FROM t") == ["'0001'|'Ann'|12", "'0002'|'Ben'|13"])
  }

  // MARK: - Rulers

  private static let report = """
    Members of the club

     id name       fee
    --- ---------- -----
      1 Ann Lee     12.5
      2 Ben          7.0
     id name       fee
    --- ---------- -----
      3 Cyd        1234567.5

    (3 rows affected)

    """

  @Test("A line of dashes shows where fields stand, and stands again on the next page")
  func ruler() throws {
    let summary = load(Self.report)
    #expect(try rows("SELECT * FROM t") == ["1|'Ann Lee'|12.5", "2|'Ben'|7.0", "3|'Cyd'|1234567.5"])
    #expect(
      try rows("SELECT record, code, CAST(raw AS TEXT) FROM upsurge_rejects") == ["4|'footer'|'(3 rows affected)'"])
    #expect(summary.warnings.entries.map { "\($0.code.rawValue) \($0.count)" }.contains("repeated-header 2"))
  }

  @Test("A text that crosses a blank of the ruler is a reject")
  func crossed() throws {
    load("id  name   n\n--- ------ ---\n  1 Ann      5\n  2 Benjamin 6\n  3 Cyd      7\n  4 Dan      8\n")
    #expect(try rows("SELECT * FROM t") == ["1|'Ann'|5", "3|'Cyd'|7", "4|'Dan'|8"])
    #expect(try rows("SELECT record, line, code, \"column\" FROM upsurge_rejects") == ["2|4|'ragged'|'name'"])
  }

  @Test("Blanks part fields where a delimiter is given, or the lines do not keep to the dashes")
  func notRuled() throws {
    load("a  b\n-- --\nx  1\ny  2\nz  3\n") { $0.input.csv.delimiter = [UInt8(ascii: " ")] }
    #expect(try rows("SELECT count(*) FROM pragma_table_info('t')") == ["3"])
    let loose = load("a b\n-- --\nlonger 1\nx 2\nyet_longer 3\n", into: "b.db")
    #expect(loose.dialects.allSatisfy { !$0.contains("fixed width") })
  }
}
