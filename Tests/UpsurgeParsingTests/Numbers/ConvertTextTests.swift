import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

@Suite("Text to cells")
struct ConvertTextTests {
  /// Text, its note in INTEGER and NUMERIC columns, and the kind of its cell there.
  static let table: [(text: String, note: ConversionNote, kind: Cell.Kind)] = [
    ("0", .none, .integer), ("7", .none, .integer), ("-7", .none, .integer),
    ("9223372036854775807", .none, .integer), ("-9223372036854775808", .none, .integer),
    ("999999999999999999", .none, .integer),
    ("9223372036854775808", .spellingChanges, .real), ("-9223372036854775809", .spellingChanges, .real),
    ("18446744073709551616", .spellingChanges, .real), ("18446744073709551617", .spellingChanges, .real),
    ("99999999999999999999999999", .spellingChanges, .real),
    ("100000000000000000000", .spellingChanges, .real),
    ("-0", .spellingChanges, .text), ("00", .spellingChanges, .text), ("007", .spellingChanges, .text),
    ("-007", .spellingChanges, .text), ("+5", .spellingChanges, .text),
    ("+4930123456", .spellingChanges, .text),
    (" 5", .spellingChanges, .text), ("5 ", .spellingChanges, .text), ("\t5\r\n", .spellingChanges, .text),
    (" 1.5", .spellingChanges, .real), ("1.5\u{0B}", .spellingChanges, .real),
    ("00.5", .spellingChanges, .real), ("+1.5", .spellingChanges, .real), ("-00.5", .spellingChanges, .real),
    ("1.5", .none, .real), ("-1.5", .none, .real), ("0.5", .none, .real), ("2.0", .none, .real),
    ("12.99", .none, .real), ("0.1", .none, .real), ("-0.0", .none, .real), ("0.0", .none, .real),
    (".5", .none, .real), ("5.", .none, .real), ("-.5", .none, .real), ("1.50", .none, .real),
    ("1.5e3", .none, .real), ("1.5E3", .none, .real), ("1e+5", .none, .real), ("1E-5", .none, .real),
    ("1e5", .spellingChanges, .real), ("12E4", .spellingChanges, .real), ("0e0", .spellingChanges, .real),
    ("1.e5", .none, .real), (".5e1", .none, .real), ("1.5e+022", .none, .real),
    ("123456789012345.0", .none, .real), ("1234567.12345678", .none, .real),
    ("0.1000000000000000055511151231257827", .spellingChanges, .real),
    ("0.30000000000000004", .none, .real), ("0.1234567890123456", .none, .real),
    ("9007199254740993.5", .spellingChanges, .real), ("9007199254740992.0", .none, .real),
    ("9007199254740991.0", .none, .real), ("0.12345678901234567", .spellingChanges, .real),
    ("0.12345678901234568", .none, .real),
    ("1234567890.12345678", .spellingChanges, .real), ("8.20788039913184", .none, .real),
    ("1.5e400", .spellingChanges, .real), ("1.5e-400", .spellingChanges, .real),
    ("1.5e-310", .none, .real), ("1.23456789e-320", .spellingChanges, .real), ("4.9e-324", .none, .real),
    ("1.7976931348623157e308", .none, .real), ("1.7976931348623159e308", .spellingChanges, .real),
    ("1.5e99999999999999999999", .spellingChanges, .real), ("0.0e99999999999999999999", .none, .real),
    ("1.000000000000000000000000000000000", .none, .real),
    ("", .textInNumberColumn, .text), (" ", .textInNumberColumn, .text), ("-", .textInNumberColumn, .text),
    ("+", .textInNumberColumn, .text), (".", .textInNumberColumn, .text), ("e5", .textInNumberColumn, .text),
    ("1e", .textInNumberColumn, .text), ("1e+", .textInNumberColumn, .text),
    ("1.5e", .textInNumberColumn, .text),
    ("1 2", .textInNumberColumn, .text), ("1.2.3", .textInNumberColumn, .text),
    ("--1", .textInNumberColumn, .text),
    ("+-1", .textInNumberColumn, .text), ("- 1", .textInNumberColumn, .text),
    ("1-", .textInNumberColumn, .text),
    ("0x10", .textInNumberColumn, .text), ("inf", .textInNumberColumn, .text),
    ("nan", .textInNumberColumn, .text),
    ("1_000", .textInNumberColumn, .text), ("1,5", .textInNumberColumn, .text),
    ("12a", .textInNumberColumn, .text),
    ("1\0", .textInNumberColumn, .text), ("\u{A0}1", .textInNumberColumn, .text),
    ("１", .textInNumberColumn, .text),
    ("-.", .textInNumberColumn, .text), (".e1", .textInNumberColumn, .text),
    ("1e5.0", .textInNumberColumn, .text),
    ("1e 5", .textInNumberColumn, .text), ("2023-01-05", .textInNumberColumn, .text),
  ]

  @Test("notes and kinds in a column of integers", arguments: table.indices)
  func notes(index: Int) {
    let (text, note, kind) = Self.table[index]
    for affinity in [Affinity.integer, .numeric] {
      let found = converted(Array(text.utf8), affinity)
      #expect(found.note == note, "\(text) in \(affinity)")
      #expect(found.cell.kind == kind, "\(text) in \(affinity)")
    }
    for affinity in [Affinity.none, .text] {
      let found = converted(Array(text.utf8), affinity)
      #expect(found.note == .none && found.cell.kind == .text && found.cell.byteCount == text.utf8.count)
    }
  }

  @Test("a REAL column takes integers that a double holds, and the nearest double of others")
  func integersInRealColumn() {
    #expect(converted(Array("9007199254740992".utf8), .real).note == .none)
    #expect(converted(Array("9007199254740993".utf8), .real).note == .spellingChanges)
    #expect(converted(Array("9007199254740993".utf8), .real).cell.kind == .real)
    #expect(converted(Array("9223372036854775807".utf8), .real).note == .spellingChanges)
    #expect(converted(Array("-9223372036854775808".utf8), .real).note == .none)
    #expect(converted(Array("9007199254740994".utf8), .real).note == .none)
  }

  @Test("cells store what SQLite stores for the text, and the nearest double of a decimal")
  func nastiesAgainstSQLite() {
    let columns = SQLiteColumns()
    for (text, _, _) in Self.table {
      let bytes = Array(text.utf8)
      columns.store(bytes, as: SQLiteColumns.affinities.map { converted(bytes, $0).cell })
    }
    let count = columns.takeRows { row in
      for (column, affinity) in SQLiteColumns.affinities.enumerated()
      where !row.isSame(column, of: Array(Self.table[row.index].text.utf8)) {
        Issue.record("\(Self.table[row.index].text) in \(affinity): \(row.words(column))")
      }
    }
    #expect(count == Self.table.count)
  }
}
