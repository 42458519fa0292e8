import TestSupport
import Testing

@testable import Upsurge

/// Values at the edge of what a format says: blanks around NULL, words of other languages, files that lack a column.
@Suite("Values at the edge")
struct ValueEdgeTests {
  let scratch = Scratch()

  private func load(_ texts: [String], _ change: (inout LoadOptions) -> Void) -> (
    summary: RunSummary, notes: [String]
  ) {
    var options = LoadOptions()
    change(&options)
    let notes = RunNotes()
    let summary = LoadJob(
      database: scratch.file("a.db"), table: "t",
      sources: texts.enumerated().map { scratch.write($1, to: "s\($0 + 1).csv") }, options: options
    ).run(note: { if $0.level == .warning { notes.add($0.text) } })
    return (summary, notes.all)
  }

  private func rows(_ sql: String = "SELECT * FROM t") throws -> [String] {
    try Database(scratch.file("a.db")).rows(sql)
  }

  // MARK: - Blanks

  @Test("Blanks are left out before a text is looked for that means NULL", arguments: [true, false])
  func trimmedNull(isOfColumn: Bool) throws {
    let (summary, _) = load(["id,v\n1, - \n2,-\n3,\t-\n4,- -\n5,\"-\"\n"]) {
      $0.input.values.trim = .blanks
      if isOfColumn {
        $0.input.values.nulls["v"] = ["-"]
      } else {
        $0.input.csv.nullSpellings = [Array("-".utf8)]
      }
    }
    #expect(summary.error == nil)
    // For all columns, only unquoted fields are NULL.
    #expect(try rows() == ["1|NULL", "2|NULL", "3|NULL", "4|'- -'", isOfColumn ? "5|NULL" : "5|'-'"])
  }

  @Test("Without --trim, blanks count")
  func untrimmedNull() throws {
    _ = load(["id,v\n1, -\n2,-\n"]) { $0.input.csv.nullSpellings = [Array("-".utf8)] }
    #expect(try rows() == ["1|' -'", "2|NULL"])
  }

  @Test(
    "Blanks in quotes are as good as nothing in quotes, whatever that is",
    arguments: [nil, CSVDialect.QuotedEmpty.text, .null])
  func blankQuotes(quotedEmpty: CSVDialect.QuotedEmpty?) throws {
    let (summary, _) = load(["id,v\n1,\"\"\n2,\"  \"\n3,  \n4,\n5,x\n"]) {
      $0.input.values.trim = .blanks
      $0.input.csv.quotedEmpty = quotedEmpty
    }
    #expect(summary.error == nil)
    let empty = quotedEmpty == .null ? "NULL" : "''"
    #expect(try rows() == ["1|\(empty)", "2|\(empty)", "3|NULL", "4|NULL", "5|'x'"])
  }

  // MARK: - Yes and no

  @Test(
    "Each word for yes has its own for no, with accents and in large letters",
    arguments: [
      ["sí", "no"], ["SÍ", "NO"], ["si\u{301}", "no"], ["S", "N"], ["sim", "não"], ["SIM", "NÃO"],
      ["sim", "nao"], ["ja", "nee"],
      ["oui", "non"], ["da", "nu"], ["tak", "nie"], ["kyllä", "ei"], ["KYLLÄ", "EI"], ["vero", "falso"],
      ["waar", "onwaar"],
    ])
  func pairs(words: [String]) throws {
    let (summary, _) = load(["v\n\(words[0])\n\(words[1])\n"]) {
      $0.input.values.truths["v"] = .usual
      $0.input.csv.headerLineCount = 1
    }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows() == ["1", "0"])
  }

  @Test(
    "A letter that is yes in one language and something else in another is not guessed",
    arguments: ["O", "V", "W"])
  func letters(word: String) {
    let (summary, _) = load(["id,v\n1,\(word)\n"]) { $0.input.values.truths["v"] = .usual }
    #expect(
      summary.error?.message.contains("[bad-bool]") == true, "\(summary.error.map(\.description) ?? "taken")")
  }

  @Test(
    "Words that are given may have the marks between them, doubled",
    arguments: [
      ("yes/no,N//A", ["yes"], ["no", "N/A"]), ("a,,b/c", ["a,b"], ["c"]),
      ("A,active/I", ["A", "active"], ["I"]),
      ("////b", ["//"], nil), ("Ü/É", ["Ü"], ["É"]),
    ] as [(String, [String], [String]?)])
  func words(text: String, yes: [String], no: [String]?) throws {
    guard let no else {
      #expect(ValueFormats.Truths(words: text) == nil)
      return
    }
    #expect(ValueFormats.Truths(words: text) == .words(yes: yes, no: no))
    // As the run's job has them.
    var formats = ValueFormats()
    formats.truths["v"] = .words(yes: yes, no: no)
    #expect(formats.words.map(\.value) == ["v=\(text)"])
    let (summary, _) = load(["id|v\n1|\(yes[0].lowercased())\n2|\(no[0].uppercased())\n"]) {
      $0.input.values = formats
      $0.input.csv.delimiter = Array("|".utf8)
    }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows() == ["1|1", "2|0"])
  }

  // MARK: - Files that lack a column

  private static func formats(_ values: inout ValueFormats) {
    values.truths["b"] = .words(yes: ["3"], no: ["4"])
  }

  @Test(
    "A file may lack a column with a format that another one has: it is named, wherever it stands",
    arguments: [true, false])
  func lacking(isFirst: Bool) throws {
    let texts = ["id,a,b\n1,2,3\n", "id,a\n2,4\n"]
    let (summary, notes) = load(isFirst ? texts.reversed() : texts) { Self.formats(&$0.input.values) }
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    #expect(try rows("SELECT id, a, b FROM t ORDER BY id") == ["1|2|1", "2|4|NULL"])
    let name = isFirst ? "s1.csv" : "s2.csv"
    #expect(
      notes.contains { $0.contains("\(name) has no field for the column b, which --bool names") }, "\(notes)")
  }

  @Test("A column with a format that no file has is refused")
  func nowhere() {
    let (summary, _) = load(["id,a\n1,2\n", "id,a\n2,4\n"]) { Self.formats(&$0.input.values) }
    #expect(summary.exitCode == 64 && summary.ledger.inserted == 0)
    #expect(summary.error?.message.contains("--bool names the column \"b\"") == true)
  }

  // MARK: - Text in a column of numbers

  @Test("A date or an added text in a column of numbers is counted as any text is")
  func textAmongNumbers() throws {
    try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER, d INTEGER, f INTEGER, n INTEGER)")
    let (summary, _) = load(["id,d\n1,31/12/2024\n2,1/1/2025\n3,\n"]) {
      $0.input.values.dates["d"] = "%d/%m/%Y"
      $0.table.added = ["f": .file, "n": .text("7")]
    }
    #expect(summary.error == nil)
    let warned = summary.warnings.entries.filter { $0.code == .textInNumberColumn }.map {
      "\($0.column ?? "") \($0.count)"
    }
    #expect(warned.sorted() == ["d 2", "f 3"])
    #expect(try rows("SELECT d, n FROM t") == ["'2024-12-31'|7", "'2025-01-01'|7", "NULL|7"])
  }
}
