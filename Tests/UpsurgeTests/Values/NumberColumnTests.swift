import TestSupport
import Testing

@testable import Upsurge

/// Marks of numbers that are said for one column, and what is said of those that read nothing or may mean another number.
@Suite("Numbers by column")
struct NumberColumnTests {
  let scratch = Scratch()

  private func load(
    _ text: String, _ name: String = "in.csv", _ change: (inout LoadOptions) -> Void
  ) -> (summary: RunSummary, notes: [String]) {
    var options = LoadOptions()
    if name.hasSuffix("csv") { options.input.csv.delimiter = Array(";".utf8) }
    change(&options)
    let notes = RunNotes()
    let summary = LoadJob(
      database: scratch.file("a.db"), table: "t", sources: [scratch.write(text, to: name)], options: options
    ).run(note: { if $0.level == .warning { notes.add($0.text) } })
    #expect(summary.error == nil, "\(summary.error.map(\.description) ?? "")")
    return (summary, notes.all)
  }

  private func rows(_ sql: String = "SELECT * FROM t") throws -> [String] {
    try Database(scratch.file("a.db")).rows(sql)
  }

  private static let places = "city;lat;lon;price\nA;48.137;11.575;1.234,50\nB;52.520;13.405;2,50\n"

  @Test(
    "Columns whose points may all be decimal points are named, in a new table and in one that exists",
    arguments: [true, false])
  func doubt(isNew: Bool) throws {
    if !isNew {
      try Database(scratch.file("a.db")).rows("CREATE TABLE t(city TEXT, lat REAL, lon REAL, price REAL)")
    }
    let (_, notes) = load(Self.places) {
      $0.input.values.decimal = .comma
      $0.input.values.thousands = "."
    }
    let note = try #require(notes.first { $0.contains("was taken to part thousands") }, "\(notes)")
    #expect(note.hasPrefix("in columns lat, lon each point"), "\(note)")
    #expect(note.contains("--decimal lat=point --decimal lon=point if it is"), "\(note)")
  }

  @Test("The note's options read the columns as they are meant, and nothing is said again")
  func follow() throws {
    let (_, notes) = load(Self.places) {
      $0.input.values.decimal = .comma
      $0.input.values.thousands = "."
      for column in ["lat", "LON"] { $0.input.values.numberForms[column] = ValueFormats.Numbers() }
    }
    #expect(!notes.contains { $0.contains("thousands") }, "\(notes)")
    #expect(try rows() == ["'A'|48.137|11.575|1234.5", "'B'|52.52|13.405|2.5"])
  }

  @Test(
    "Where another value shows what a mark is, or nothing else has a fraction, there is no doubt",
    arguments: [
      "a;b\n1.234;2,5\n1.234.567;3,5\n", "a;b\n1.234;2\n5.678;3\n", "a;b\n1.234;2,5\n1,5;3,5\n",
      "a;b\n1.234;2,5\n7;3,5\n",
    ])
  func noDoubt(text: String) {
    let (_, notes) = load(text) {
      $0.input.values.decimal = .comma
      $0.input.values.thousands = "."
    }
    #expect(!notes.contains { $0.contains("part thousands") }, "\(notes)")
  }

  @Test("One column is read in its own form, also where SQL shapes the records", arguments: [true, false])
  func own(isShaped: Bool) throws {
    _ = load("id;a;b\n1;1,5;1,234.5\n2;2,5;2.5\n") {
      $0.input.values.decimal = .comma
      $0.input.values.numberForms["b"] = ValueFormats.Numbers(decimal: .point, thousands: ",")
      if isShaped { $0.table.computedColumns = [LoadOptions.ComputedColumn("c", "a + b")] }
    }
    #expect(try rows("SELECT id, a, b FROM t") == ["1|1.5|1234.5", "2|2.5|2.5"])
  }

  @Test(
    "An option that has read no column says why, and how it would",
    arguments: [
      (
        "id;v\n1;1,5\n2;2,5\n3;n/a\n",
        "v is text because of \"n/a\" (line 4); --null v=n/a if that is no value, or --type v:REAL"
      ),
      ("id;v\n1;1,5\n2;5.67\n", "v is text because of \"5.67\" (line 3); --type v:REAL"),
      ("id;v\n1;(5,00)\n2;1,5\n", "v is text because of \"(5,00)\" (line 2)"),
      ("id;v\n1;1,5\n2;+1,5\n", "v is text because of \"+1,5\" (line 3)"),
    ])
  func unread(text: String, words: String) {
    let (_, notes) = load(text) { $0.input.values.decimal = .comma }
    #expect(notes.contains { $0.hasPrefix("--decimal read no column: ") && $0.contains(words) }, "\(notes)")
  }

  @Test("Strings of JSON stay text, which is said; with a type they are read")
  func json() throws {
    let (_, notes) = load(#"{"p":"1.234,5"}"# + "\n", "in.ndjson") {
      $0.input.values.decimal = .comma
      $0.input.values.thousands = "."
    }
    #expect(
      notes.contains { $0.contains("read no column: strings of JSON stay text, and --type p:REAL") },
      "\(notes)")
    try Database(scratch.file("a.db")).rows("DROP TABLE t")
    let (_, others) = load(#"{"p":"1.234,5"}"# + "\n", "other.ndjson") {
      $0.input.values.decimal = .comma
      $0.input.values.thousands = "."
      $0.table.types = ["p": "REAL"]
    }
    #expect(!others.contains { $0.contains("read no column") }, "\(others)")
    #expect(try rows() == ["1234.5"])
  }

  @Test(
    "Nothing is said where a column was read, or no value has such a mark",
    arguments: ["a;b\n1,5;x,5\n2,5;1,5\n", "a;b\n1;x\n"])
  func silent(text: String) {
    let (_, notes) = load(text) { $0.input.values.decimal = .comma }
    #expect(!notes.contains { $0.contains("read no column") }, "\(notes)")
  }

  @Test(
    "With --type, numbers in another spelling are stored and counted, as in a table that exists",
    arguments: [true, false])
  func spelling(isNew: Bool) throws {
    if !isNew { try Database(scratch.file("a.db")).rows("CREATE TABLE t(id INTEGER, v REAL)") }
    let (summary, _) = load("id;v\n1;+5\n2;1e5\n3;007\n4;1,5e3\n") {
      $0.input.values.decimal = .comma
      $0.table.types = isNew ? ["v": "REAL"] : [:]
    }
    #expect(try rows() == ["1|5.0", "2|100000.0", "3|7.0", "4|1500.0"])
    let changed = summary.warnings.entries.filter { $0.code == .spellingChanged && $0.column == "v" }
    #expect(changed.map(\.count) == [3], "\(summary.warnings.entries)")
  }
}
