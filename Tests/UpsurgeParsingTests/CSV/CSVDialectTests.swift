import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

@Suite struct CSVDialectTests {
  @Test(arguments: [
    (CSVDialect(), "csv · delimiter comma · quote \" · header"),
    (
      CSVDialect(delimiter: [9], quote: nil, headerLineCount: 0, skippedLineCount: 1),
      "csv · delimiter tab · no quote · 1 line skipped · no header"
    ),
    (
      CSVDialect(
        delimiter: [0x1F], quote: UInt8(ascii: "'"), escape: UInt8(ascii: "\\"), commentPrefix: Array("#".utf8),
        nullSpellings: [Array("NA".utf8), Array("-".utf8)], ragged: .pad, headerLineCount: 2),
      "csv · delimiter 0x1F · quote ' · escape \\ · comment # · header of 2 records · null NA - · ragged pad"
    ),
    (
      CSVDialect(delimiter: Array("||".utf8), escape: UInt8(ascii: "\"")),
      "csv · delimiter || · quote \" · header"
    ),
  ])
  func summary(dialect: CSVDialect, text: String) { #expect(dialect.summary == text) }

  @Test(arguments: [
    (CSVDialect(delimiter: []), "the delimiter is empty"),
    (CSVDialect(delimiter: [0x0A]), "the delimiter holds a line end"),
    (CSVDialect(delimiter: [0x22]), "the quote is a line end or starts the delimiter"),
    (CSVDialect(escape: UInt8(ascii: ",")), "the escape is a line end or starts the delimiter"),
    (CSVDialect(commentPrefix: []), "the comment prefix is empty or holds a line end"),
    (CSVDialect(skippedLineCount: -1), "a number of lines is negative"),
  ])
  func impossible(dialect: CSVDialect, message: String) {
    let error = #expect(throws: UpsurgeError.self) { try dialect.validate() }
    #expect(error?.code == .usage)
    #expect(error?.message == message)
  }

  @Test func possible() throws {
    try CSVDialect(escape: UInt8(ascii: "\"")).validate()
    try CSVDialect(delimiter: Array("::".utf8), quote: nil).validate()
  }

  @Test(arguments: [
    (["a", "b"], ["a", "b"], []),
    ([" a ", "\tb\n"], ["a", "b"], []),
    (["a", "A", "a"], ["a", "A_2", "a_3"], [1, 2]),
    (["", "x", " "], ["column_1", "x", "column_3"], [0, 2]),
    (["a", "a", "a_2"], ["a", "a_3", "a_2"], [1]),
    (["column_2", ""], ["column_2", "column_2_2"], [1]),
    (["é", "É"], ["é", "É"], []),
    (["x\ny", "x\ny"], ["x\ny", "x\ny_2"], [1]),
  ] as [([String], [String], [Int])])
  func headerNames(fields: [String], names: [String], renamed: [Int]) {
    let header = HeaderNames(fields: fields)
    #expect(header.names == names)
    #expect(header.renamings.map(\.index) == renamed)
    for renaming in header.renamings {
      #expect(renaming.new == names[renaming.index])
      #expect(renaming.original == HeaderNames.trim(fields[renaming.index]))
    }
  }
}
