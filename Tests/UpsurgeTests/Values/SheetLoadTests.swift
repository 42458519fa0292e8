import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// Sheets, from the workbook to the row.
@Suite("Loads of sheets", .enabled(if: Packing.isThere, "\(Packing.need)"))
struct SheetLoadTests {
  let scratch = Scratch()

  private func load(
    _ bytes: [UInt8], _ name: String, into database: String = "a.db",
    _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    change(&options)
    let path = scratch.write(bytes, to: name)
    let summary = LoadJob(
      database: scratch.file(database), table: "t", sources: [Source(path)], options: options
    ).run()
    #expect(summary.ledger.isBalanced)
    return summary
  }

  private func rows(_ sql: String, _ database: String = "a.db") throws -> [String] {
    try Database(scratch.file(database)).rows(sql)
  }

  private static let letters = Array("abcXYZ019.,\"'\\;ä€漢😀#&<>\t\n")

  private static func value(_ random: inout SeededGenerator) -> String? {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: nil
    case 1: "\(Int.random(in: 1...99999, using: &random))"
    case 2: "\(Int.random(in: 1...999, using: &random)).\(Int.random(in: 1...9, using: &random))"
    default:
      "v"
        + String(
          (0..<Int.random(in: 0...12, using: &random)).map { _ in letters.randomElement(using: &random)! })
        + "."
    }
  }

  @Test(
    "Tables are those of the same values as CSV", arguments: SheetFiles.Form.allCases,
    SeededGenerator.some(of: UInt64(10)))
  func chance(form: SheetFiles.Form, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let width = Int.random(in: 2...7, using: &random)
    var table: [[String?]] = [(0..<width).map { "name \($0)" }]
    for number in 1...Int.random(in: 10...400, using: &random) {
      table.append(["\(number)"] + (1..<width).map { _ in Self.value(&random) })
    }
    let csv = table.map { row in
      row.map { $0.map { "\"\($0.replacing("\"", with: "\"\""))\"" } ?? "" }.joined(separator: ",") + "\n"
    }.joined()
    let expected = load(Array(csv.utf8), "in.csv", into: "expected.db") {
      $0.input.csv.delimiter = [UInt8(ascii: ",")]
      $0.input.csv.quote = .byte(UInt8(ascii: "\""))
      $0.input.csv.escape = CSVOverrides.Mark.none
      $0.input.csv.headerLineCount = 1
    }
    try #require(expected.error == nil, "seed \(seed): \(expected.error.map(\.description) ?? "")")
    let book = try SheetFiles.workbook(form, table)
    for sizes in [Batch.Sizes.standard, Batch.Sizes(arenaByteCount: 1024, cellCount: 40, recordCount: 5)] {
      let name = "\(sizes.arenaByteCount).db"
      let summary = load(book, "book", into: name) {
        $0.tuning.batchSizes = sizes
        $0.input.csv.headerLineCount = 1
      }
      #expect(summary.error == nil, "seed \(seed): \(summary.error.map(\.description) ?? "")")
      let content = "SELECT * FROM t; SELECT sql FROM sqlite_schema WHERE name = 't'"
      #expect(try rows(content, name) == rows(content, "expected.db"), "seed \(seed), \(sizes)")
    }
  }

  @Test("A bad row is kept with the sheet and its row, and stored when it is corrected")
  func rejects() throws {
    let book = try SheetFiles.workbook(
      .xlsx, [["id", "note"], ["1", "a"], [nil, nil], ["x", "b\nc"], ["3", "d"]])
    let summary = load(book, "book.xlsx") {
      $0.table.types = ["id": "INTEGER"]
      $0.table.isStrict = true
      $0.rules.key = ["id"]
      ($0.rejects.onError, $0.rejects.target) = (.reject, .table)
    }
    #expect(
      summary.ledger.inserted == 2 && summary.ledger.rejected == 1,
      "\(summary.error.map(\.description) ?? "")")
    #expect(
      try rows("SELECT file LIKE '%book.xlsx/Data', record, line, CAST(raw AS TEXT) FROM upsurge_rejects")
        == ["1|2|4|'x\tb\\nc'"])
    _ = try rows("UPDATE upsurge_rejects SET raw = '2' || substr(raw, 2)")
    #expect(ReplayJob(database: scratch.file("a.db")).run().error == nil)
    #expect(try rows("SELECT * FROM t ORDER BY id") == ["1|'a'", "2|'b\nc'", "3|'d'"])
  }

  @Test("Titles above a table are left out, and later rows may be shorter")
  func titles() throws {
    let book = try SheetFiles.workbook(
      .ods,
      [
        ["Members of the club"], [], ["id", "name", "since", "fee"], ["1", "Ann", "2024", "10.5"],
        ["2", "Ben"],
        ["3", "Cyd", "2023", "7.5"], ["4", "Dan", "2022", "8.5"],
      ])
    let summary = load(book, "book.ods")
    #expect(summary.error == nil)
    #expect(
      try rows("SELECT id, name, fee FROM t") == [
        "1|'Ann'|10.5", "2|'Ben'|NULL", "3|'Cyd'|7.5", "4|'Dan'|8.5",
      ])
  }

  @Test("What cells could not say is counted, and options of other texts are refused")
  func warnings() throws {
    let row =
      "<row><c t=\"str\"><v>id</v></c><c t=\"str\"><v>v</v></c></row><row><c><v>1</v></c><c t=\"e\"><v>#N/A</v></c></row>"
    let book = try SheetFiles.xlsx([SheetFiles.Sheet("Data", row), SheetFiles.Sheet("More", row)])
    let summary = load(book, "book.xlsx")
    #expect(
      summary.warnings.entries.map { "\($0.code.rawValue) \($0.count) \($0.first.line ?? 0)" } == [
        "error-cell 1 2"
      ])
    #expect(try rows("SELECT * FROM t") == ["1|NULL"])
    for change: (inout LoadOptions) -> Void in [
      { $0.input.csv.delimiter = [0x2C] }, { $0.input.format = .json }, { $0.input.encoding = .windows1252 },
    ] {
      #expect(load(book, "book.xlsx", into: "b.db", change).error?.code == .usage)
    }
    #expect(
      load(Array("id\n1\n".utf8), "plain.csv", into: "b.db") { $0.input.sheet = "Data" }.error?.code == .usage
    )
  }

  @Test("Which sheet is read is said once, and nothing contradicts it")
  func naming() throws {
    let row = "<row><c t=\"str\"><v>id</v></c></row><row><c><v>1</v></c></row>"
    let fault = row + "<row><c t=\"e\"><v>#N/A</v></c></row>"
    let book = try SheetFiles.xlsx([SheetFiles.Sheet("Data", fault), SheetFiles.Sheet("More", row)])
    let path = scratch.write(book, to: "book.xlsx")
    func error(_ source: String, _ change: (inout LoadOptions) -> Void) -> UpsurgeError? {
      var options = LoadOptions()
      change(&options)
      return LoadJob(database: scratch.file("c.db"), table: "t", sources: [Source(source)], options: options)
        .run().error
    }
    #expect(error(path + "/More") { $0.input.sheet = "2" } == nil)
    let other = error(path + "/More") { $0.input.sheet = "Data" }
    #expect(
      other?.message == "\(path)/More is another sheet than --sheet Data names" && other?.code == .usage)
    let plain = scratch.write("id\n1\n", to: "plain.csv")
    for compression in [Compression.auto, .none] {
      let error = error(plain) {
        ($0.input.sheet, $0.input.compression) = ("Data", compression)
      }
      #expect(error?.message == "--sheet Data names a sheet of a workbook, and \(plain) is not one")
    }

    let remark = "\(path): of 2 sheets the first is read, Data; --sheet More reads another"
    let inspection = InspectJob(source: path)
    #expect(try inspection.describe().remarks == [remark])
    let check = try inspection.check { _ in }
    #expect(check.remarks == [remark] && check.recordCount == 1)
    #expect(check.warnings.entries.map { "\($0.code.rawValue) \($0.count)" }.contains("error-cell 1"))
    var named = LoadOptions()
    named.input.sheet = "more"
    #expect(try InspectJob(source: path, options: named).describe().remarks == [])
  }

  @Test("A sheet without cells is an empty file, and one with a header alone a file with one")
  func empty() throws {
    let header = "<row><c t=\"str\"><v>id</v></c><c t=\"str\"><v>name</v></c></row>"
    for (rows, text) in [("", ""), ("<row r=\"3\"><c r=\"B3\" s=\"0\"/></row>", ""), (header, "id,name\n")] {
      let csv = load(Array(text.utf8), "in.csv", into: "csv\(text.count).db")
      let sheet = load(
        try SheetFiles.xlsx([SheetFiles.Sheet("Data", rows)]), "in.xlsx", into: "sheet\(rows.count).db")
      #expect(
        sheet.error?.code == csv.error?.code && sheet.ledger == csv.ledger && sheet.exitCode == csv.exitCode)
      #expect(sheet.createdTable == csv.createdTable)
    }
  }

  @Test("Texts of a workbook take their part of what sorting may take")
  func memory() throws {
    let path = scratch.write(try SheetFiles.workbook(.xlsx, [["id", "v"], ["1", "a"]]), to: "book.xlsx")
    var options = LoadOptions()
    let archives = OpenArchives(options)
    options.environment.archives = archives
    let before = options.sortByteCount
    #expect(before == options.transaction.sortByteCount)
    let source = try PreparedSource.prepare(Source(path + "/Data"), options: options)
    #expect(source.opened.isSheet)
    #expect(options.sortByteCount == before - options.transaction.memory.byteCount / 4)
    options.transaction.memory = .mebibytes(16)
    #expect(options.sortByteCount == 2 << 20)
  }

  @Test("A workbook that is cut at any place stores nothing")
  func cuts() throws {
    let book = try SheetFiles.workbook(
      .xlsx, [["id", "v"]] + (1...300).map { ["\($0)", "value \($0 * 7919 % 1000)"] })
    for step in 0..<40 {
      let cut = 4 + (book.count - 5) * step / 39
      let summary = load(Array(book[..<cut]), "book.xlsx", into: "\(step).db")
      #expect([65, 3].contains(summary.exitCode), "\(cut) of \(book.count) bytes")
    }
  }

  @Test("A look at a pattern of workbooks says that there are more files, and that the first has more sheets")
  func inspected() throws {
    let rows =
      "<row><c r=\"A1\" t=\"inlineStr\"><is><t>id</t></is></c></row><row><c r=\"A2\"><v>1</v></c></row>"
    let book = try SheetFiles.xlsx([SheetFiles.Sheet("One", rows), SheetFiles.Sheet("Two", rows)])
    for name in ["1.xlsx", "2.xlsx"] { _ = scratch.write(book, to: name) }
    let pattern = scratch.file("*.xlsx")
    let (files, sheets) = ("1.xlsx is the first of 2 files of \(pattern)", "of 2 sheets the first is read, One")
    for (source, sheet, expected) in [
      (pattern, nil, [files, sheets]), (pattern, "Two", [files]), (scratch.file("2.xlsx"), nil, [sheets]),
      (scratch.file("2.xlsx") + "/Two", nil, []),
    ] as [(String, String?, [String])] {
      var options = LoadOptions()
      options.input.sheet = sheet
      let job = InspectJob(source: Source(source), options: options)
      for remarks in [try job.describe().remarks, try job.check { _ in }.remarks] {
        let said = [files, sheets].filter { part in remarks.contains { $0.contains(part) } }
        #expect(said == expected, "\(source): \(remarks)")
      }
    }
  }
}
