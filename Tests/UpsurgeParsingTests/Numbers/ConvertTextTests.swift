import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

/// The affinities of `SQLiteColumns`, in its column order.
private let affinities: [Affinity] = [.integer, .real, .numeric]

private func convert(_ text: [UInt8], _ affinity: Affinity) -> (cell: Cell, note: ConversionNote) {
  var cell = Cell.absent
  // An exact copy, so that reading past the end is caught where memory is checked.
  let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count)
  defer { copy.deallocate() }
  _ = copy.initialize(from: text)
  guard let start = UnsafePointer(copy.baseAddress) else { return (cell, .none) }
  let note = convertText(
    start, count: text.count, offset: 0, isInSpill: false, affinity: affinity, into: &cell)
  return (cell, note)
}

@Suite("Text to cells")
struct ConvertTextTests {
  /// Text, its note in INTEGER and NUMERIC columns, and the kind of its cell there.
  static let table: [(text: String, note: ConversionNote, kind: Cell.Kind)] = [
    ("0", .none, .integer), ("7", .none, .integer), ("-7", .none, .integer),
    ("9223372036854775807", .none, .integer), ("-9223372036854775808", .none, .integer),
    ("999999999999999999", .none, .integer),
    ("9223372036854775808", .spellingChanges, .text), ("-9223372036854775809", .spellingChanges, .text),
    ("18446744073709551616", .spellingChanges, .text), ("18446744073709551617", .spellingChanges, .text),
    ("99999999999999999999999999", .spellingChanges, .text),
    ("100000000000000000000", .spellingChanges, .text),
    ("-0", .spellingChanges, .text), ("00", .spellingChanges, .text), ("007", .spellingChanges, .text),
    ("-007", .spellingChanges, .text), ("+5", .spellingChanges, .text),
    ("+4930123456", .spellingChanges, .text),
    (" 5", .spellingChanges, .text), ("5 ", .spellingChanges, .text), ("\t5\r\n", .spellingChanges, .text),
    (" 1.5", .spellingChanges, .text), ("1.5\u{0B}", .spellingChanges, .text),
    ("00.5", .spellingChanges, .text), ("+1.5", .spellingChanges, .text), ("-00.5", .spellingChanges, .text),
    ("1.5", .none, .real), ("-1.5", .none, .real), ("0.5", .none, .real), ("2.0", .none, .real),
    ("12.99", .none, .real), ("0.1", .none, .real), ("-0.0", .none, .real), ("0.0", .none, .real),
    (".5", .none, .real), ("5.", .none, .real), ("-.5", .none, .real), ("1.50", .none, .real),
    ("1.5e3", .none, .real), ("1.5E3", .none, .real), ("1e+5", .none, .real), ("1E-5", .none, .real),
    ("1e5", .spellingChanges, .text), ("12E4", .spellingChanges, .text), ("0e0", .spellingChanges, .text),
    ("1.e5", .none, .real), (".5e1", .none, .real), ("1.5e+022", .none, .real),
    ("123456789012345.0", .none, .real), ("1234567.12345678", .none, .real),
    ("0.1000000000000000055511151231257827", .spellingChanges, .text),
    ("0.30000000000000004", .none, .text), ("0.1234567890123456", .none, .real),
    ("9007199254740993.5", .spellingChanges, .text), ("9007199254740992.0", .none, .text),
    ("9007199254740991.0", .none, .real), ("0.12345678901234567", .spellingChanges, .text),
    ("0.12345678901234568", .none, .text),
    ("1234567890.12345678", .spellingChanges, .text), ("8.20788039913184", .none, .real),
    ("1.5e400", .spellingChanges, .text), ("1.5e-400", .spellingChanges, .text),
    ("1.5e-310", .none, .text), ("1.23456789e-320", .spellingChanges, .text), ("4.9e-324", .none, .text),
    ("1.7976931348623157e308", .none, .text), ("1.7976931348623159e308", .spellingChanges, .text),
    ("1.5e99999999999999999999", .spellingChanges, .text), ("0.0e99999999999999999999", .none, .text),
    ("1.000000000000000000000000000000000", .none, .text),
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
      let found = convert(Array(text.utf8), affinity)
      #expect(found.note == note, "\(text) in \(affinity)")
      #expect(found.cell.kind == kind, "\(text) in \(affinity)")
    }
    for affinity in [Affinity.none, .text] {
      let found = convert(Array(text.utf8), affinity)
      #expect(found.note == .none && found.cell.kind == .text && found.cell.byteCount == text.utf8.count)
    }
  }

  @Test("a REAL column takes integers that a double holds")
  func integersInRealColumn() {
    #expect(convert(Array("9007199254740992".utf8), .real).note == .none)
    #expect(convert(Array("9007199254740993".utf8), .real).note == .spellingChanges)
    #expect(convert(Array("9007199254740993".utf8), .real).cell.kind == .text)
    #expect(convert(Array("9223372036854775807".utf8), .real).note == .spellingChanges)
    #expect(convert(Array("-9223372036854775808".utf8), .real).note == .none)
    #expect(convert(Array("9007199254740994".utf8), .real).note == .none)
  }

  @Test("cells store what SQLite stores for the text")
  func nastiesAgainstSQLite() {
    let columns = SQLiteColumns()
    for (text, _, _) in Self.table { compare(Array(text.utf8), columns) }
  }

  #if DEBUG
    static let spellingCount = 200_000  // an optimised build tries a million
  #else
    static let spellingCount = 1_000_000
  #endif

  @Test("random spellings store what SQLite stores")
  func randomAgainstSQLite() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("ConvertTextTests seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let columns = SQLiteColumns()
    var proven = 0
    for _ in 0..<Self.spellingCount {
      let text = randomSpelling(&random)
      proven += compare(text, columns) ? 1 : 0
    }
    #expect(proven > Self.spellingCount / 4, "the fast conversion should be met often (seed \(seed))")
  }

  /// Whether the text became a number.
  @discardableResult
  private func compare(_ text: [UInt8], _ columns: SQLiteColumns) -> Bool {
    let converted = affinities.map { convert(text, $0) }
    let expected = columns.store(text: text)
    let stored = columns.store(cells: converted.map(\.cell), text: text)
    if expected != stored {
      Issue.record("\(String(decoding: text, as: UTF8.self)): SQLite \(expected), cells \(stored)")
    }
    for (value, note) in zip(expected, converted.map(\.note)) {
      var isText = false
      if case .text = value { isText = true }
      if isText != (note == .textInNumberColumn) {
        Issue.record("\(String(decoding: text, as: UTF8.self)): \(value) but \(note)")
      }
    }
    return converted[0].cell.kind != .text
  }
}

/// A text that is a number or nearly one; digits are often 0, 4, 5 or 9, where rounding is hard.
private func randomSpelling(_ random: inout SeededGenerator) -> [UInt8] {
  func digits(_ range: ClosedRange<Int>) -> [UInt8] {
    let hard = Array("0459".utf8)
    let isHard = Int.random(in: 0..<4, using: &random) == 0
    return (0..<Int.random(in: range, using: &random)).map { _ in
      isHard ? hard[Int.random(in: 0..<4, using: &random)] : UInt8.random(in: 48...57, using: &random)
    }
  }
  func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  var text: [UInt8] = []
  if chance(3) { text += Array(" ".utf8) }
  if chance(25) { text += Array("-".utf8) } else if chance(3) { text += Array("+".utf8) }
  if chance(85) { text += digits(chance(10) ? 0...24 : 1...9) }
  if chance(65) {
    text += Array(".".utf8)
    text += digits(chance(10) ? 0...24 : 0...8)
  }
  if chance(20) {
    text += Array((chance(50) ? "e" : "E").utf8)
    if chance(70) { text += Array((chance(50) ? "-" : "+").utf8) }
    text += digits(chance(80) ? 1...2 : 0...3)
  }
  if chance(2) { text += Array(" ".utf8) }
  if chance(2) { text.append(UInt8.random(in: 0...255, using: &random)) }
  return text
}
