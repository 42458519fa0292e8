import Testing
import UpsurgeRecords

@testable import Oracles
@testable import UpsurgeParsing

/// What single documents give, spelled out.
@Suite struct CSVParserTests {
  static func parse(
    _ text: String, _ dialect: CSVDialect = CSVDialect(headerLineCount: 0), fieldCount: Int = 2
  ) throws -> ParsedDocument {
    var parser = CSVParser.text(dialect, fieldCount: fieldCount)
    return try BatchDriver().parse(Array(text.utf8), with: &parser)
  }

  @Test(
    arguments: [
      ("a,b\n", [["a", "b"]]),
      ("a,b\r\nc,d\re,f\n\ng,h", [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]]),
      (",\"\"\n", [[nil, ""]]),
      ("\"a,\"\"b\"\"\nc\",d", [["a,\"b\"\nc", "d"]]),
      ("5\" pipe,a\"b\"c\n", [["5\" pipe", "a\"b\"c"]]),
      ("a\0b,\0\n", [["a\0b", "\0"]]),
      ("a, \"b\"\n", [["a", "b"]]),
      ("  \"a,1\"  ,b\n c ,\"d\" \r\n\"e\" ,  \"f\"  ", [["a,1", "b"], [" c ", "d"], ["e", "f"]]),
      (" a\"b,\" c \"\n,  \n", [[" a\"b", " c "], [nil, "  "]]),
    ] as [(String, [[String?]])])
  func grammar(text: String, rows: [[String?]]) throws {
    let document = try Self.parse(text)
    #expect(document.rows == rows)
    #expect(document.rejections == [])
  }

  @Test(
    arguments: [
      (CSVDialect(escape: UInt8(ascii: "\\"), headerLineCount: 0), #"a\,b,"c\"d"# + "\"\n", ["a,b", "c\"d"]),
      (CSVDialect(quote: nil, headerLineCount: 0), "\"a,b\"\n", ["\"a", "b\""]),
      (CSVDialect(delimiter: Array("||".utf8), headerLineCount: 0), "a|b||\"c||d\"\n", ["a|b", "c||d"]),
      (CSVDialect(quote: UInt8(ascii: "'"), headerLineCount: 0), "'it''s',\"x\"\n", ["it's", "\"x\""]),
      (CSVDialect(nullSpellings: [Array("NA".utf8)], headerLineCount: 0), "NA,\"NA\"\n", [nil, "NA"]),
      (
        CSVDialect(escape: UInt8(ascii: "\\"), nullSpellings: [Array("\\N".utf8)], headerLineCount: 0),
        "\\N,N\n",
        [nil, "N"]
      ),
      (CSVDialect(headerLineCount: 2, skippedLineCount: 1), "it's \"a\ntitle,x\nh,h\na,b\n", ["a", "b"]),
      (CSVDialect(commentPrefix: Array("//".utf8)), "//c\"\nh,\"h\nh\"\n// d,\n/,//\n", ["/", "//"]),
    ] as [(CSVDialect, String, [String?])])
  func dialects(dialect: CSVDialect, text: String, row: [String?]) throws {
    #expect(try Self.parse(text, dialect).rows == [row])
  }

  /// A stray quote costs its own line and no other.
  @Test func recoveryLosesOneLineOnly() throws {
    let document = try Self.parse("1,a\n2,\"b\"x\n3,\"c\n4,d\n5,\"e\n\"\n6,f\n7,\"g\n")
    #expect(document.rows == [["1", "a"], ["4", "d"], ["5", "e\n"], ["6", "f"]])
    #expect(
      document.rejections.map(\.description) == [
        #"#2 line 2 byte 4 bad-quote c2: "2,\"b\"x""#,
        #"#3 line 3 byte 11 bad-quote c2: "3,\"c""#,
        #"#7 line 8 byte 31 unclosed-quote c2: "7,\"g""#,
      ])
    #expect(document.records.map(\.number) == [1, 4, 5, 6])
    #expect(document.records.map(\.line) == [1, 4, 5, 7])
  }

  /// `CSVDialect.Quotes.lenient`: a record whose quotes make no sense is its line, read with quotes as data.
  @Test(arguments: [
    (#"1,"6" pipe""#, [#"6" pipe"#]),
    (#"1,"the "Ritz" hotel""#, [#"the "Ritz" hotel"#]),
    (#"1,"the "Ritz"""#, [#"the "Ritz""#]),
    (#"1,""Ritz" hotel""#, [#""Ritz" hotel"#]),
    (#"1,"Ritz"""#, [#"Ritz""#]),
    (#"1,"say ""hi"" "you"""#, [#"say "hi" "you""#]),
    ("1,\"Ann\n2,Bob\n3,\"Cy\"", ["unclosed", "Bob", "Cy"]),
    ("1,\"Ann\" x\n2,\"Bob\"", ["\"Ann\" x", "Bob"]),
    ("1,\"a\nb \"c\" d\"\n2,x", ["unclosed", "bad", "x"]),
    (#"1,"a","b"c""#, ["bad"]), (#"1,"big" one"#, [#""big" one"#]),
  ])
  func lenientQuotes(text: String, expected: [String]) throws {
    var dialect = CSVDialect(headerLineCount: 0)
    dialect.quotes = .lenient
    let document = try Self.parse(text, dialect)
    let rejected = ["unclosed", "bad"]
    #expect(document.rows.map { $0[1] } == expected.filter { !rejected.contains($0) })
    #expect(document.rejections.count == expected.filter { rejected.contains($0) }.count)
  }

  /// A comment after the last field, and what looks like one.
  @Test(arguments: [
    ("1,Ann # a note", "Ann", true), ("1,\"Ann\" # a note", "Ann", true), ("1,Ann,# a, \"note", "Ann", true),
    ("1,Ann\t# a, b", "Ann", true), ("1,\"Ann\"# a", "Ann", true), ("1,12 Main St #4", "12 Main St #4", false),
    ("1,Ann #", "Ann", true), ("1,\"a\nb\" # c", nil, false),
    ("1,#fff", "#fff", false), ("1, #fff", " #fff", false), ("1,a#b", "a#b", false), ("1 # x,b", "b", false),
    ("1,\"a # b\"", "a # b", false), ("1,\"a\n# b\"", "a\n# b", false),
  ])
  func trailingComment(text: String, value: String?, isComment: Bool) throws {
    let document = try Self.parse(text + "\n", CSVDialect(commentPrefix: Array("#".utf8), headerLineCount: 0))
    #expect(document.rows.map { $0[1] } == (value.map { [$0] } ?? []), "\(document)")
    #expect(document.warnings.map(\.code) == (isComment ? ["trailing-comment"] : []))
  }

  @Test func raggedRecords() throws {
    let text = "1,a\n2\n3,b,\n4,c,\"\",\n5,d,x,\"y \"\"z\"\"\"\n"
    func rows(_ policy: CSVDialect.RaggedPolicy) throws -> ParsedDocument {
      try Self.parse(text, CSVDialect(ragged: policy, headerLineCount: 0))
    }
    #expect(try rows(.reject).rows == [["1", "a"]])
    #expect(try rows(.reject).rejections.map(\.code) == ["ragged", "ragged", "ragged", "ragged"])

    let padded = try rows(.pad)
    #expect(padded.rows == [["1", "a"], ["2", nil], ["3", "b"], ["4", "c"]])
    #expect(padded.rejections.map(\.number) == [5])
    #expect(padded.warnings.map(\.code) == ["padded", "surplus-empty"])
    #expect(padded.warnings.map(\.count) == [1, 2])
    #expect(padded.warnings.map(\.firstLine) == [2, 3])

    let extra = try rows(.extra)
    #expect(
      extra.rows == [
        ["1", "a", nil], ["2", nil, nil], ["3", "b", #"[""]"#], ["4", "c", #"["",""]"#],
        ["5", "d", #"["x","y \"z\""]"#],
      ])
  }

  /// What a person reads, whole.
  @Test(arguments: [
    (
      "1\n", CSVDialect(headerLineCount: 0),
      """
      expected 2 fields, found 1: the record ends with column c1 [ragged] (column c1)
        at test.csv, line 1, record 1, byte 0
        here: 1
        fix: --ragged pad fills the missing fields with NULL; --on-error reject sets the record aside
      """
    ),
    (
      "1,2,3\n", CSVDialect(ragged: .pad, headerLineCount: 0),
      """
      expected 2 fields, found 3: the record goes on after column c2, the last one [ragged] (column c2)
        at test.csv, line 1, record 1, byte 0
        here: 1,2,3
        fix: --ragged extra keeps surplus fields in a column of their own; --on-error reject sets the record aside
      """
    ),
    (
      "1,\"2\"3\n", CSVDialect(headerLineCount: 0),
      """
      column c2: the closing quote " is followed by something else than a delimiter [bad-quote] (column c2)
        at test.csv, line 1, record 1, byte 0
        here: 1,"2"3
        fix: --quotes lenient takes quotes inside a field as data; --escape C if quotes are escaped by C; --on-error reject sets the record aside
      """
    ),
    (
      "h,h\n1,\"2\n", CSVDialect(),
      """
      column c2: the quote " is still open at the end of the input [unclosed-quote] (column c2)
        at test.csv, line 2, record 1, byte 4
        here: 1,"2
        fix: --quote none if quotes are data; else close the quote on this line
      """
    ),
  ])
  func messages(text: String, dialect: CSVDialect, message: String) throws {
    var parser = CSVParser.text(dialect, fieldCount: 2)
    var batch = Self.batch(Array(text.utf8))
    try parser.parse(&batch, isFinal: true)
    let found = batch.rejects.first?.asError.description
    #expect(found == message)
  }

  @Test func invalidUTF8NamesTheColumn() throws {
    var parser = CSVParser.text(CSVDialect(headerLineCount: 0), fieldCount: 2)
    let bytes = Array("a,é\nb,".utf8) + [0xE9] + Array("\nc,d\n".utf8)
    var batch = Self.batch(bytes)
    try parser.parse(&batch, isFinal: true)
    let recordCount = batch.recordCount
    #expect(recordCount == 2)
    let rejects = batch.rejects
    let reject = try #require(rejects.first)
    #expect(reject.code == .invalidUTF8)
    #expect(reject.column == "c2")
    #expect(reject.position == Position(file: "test.csv", record: 2, line: 2, byte: 5))
    #expect(reject.raw == [0x62, 0x2C, 0xE9])
    #expect(
      reject.hint
        == "if the file is not UTF-8, name its encoding: --encoding windows-1252 (western), windows-1250, "
        + "windows-1251, shift_jis, gb18030 ...")
  }

  @Test("An encoding is only offered where the text does not begin as UTF-8", arguments: [false, true])
  func encodingIsOffered(beginsAsUTF8: Bool) throws {
    var parser = CSVParser.text(CSVDialect(headerLineCount: 0), fieldCount: 2)
    parser.beginsAsUTF8 = beginsAsUTF8
    var batch = Self.batch(Array("a,e\nb,".utf8) + [0xE9] + Array("\nc,d\n".utf8))
    try parser.parse(&batch, isFinal: true)
    let rejects = batch.rejects
    #expect(rejects.first?.hint?.contains("--encoding windows-1252") == !beginsAsUTF8)
  }

  @Test func bytesThatAreNotOfTheirEncodingNameIt() throws {
    var parser = CSVParser.text(CSVDialect(headerLineCount: 0), fieldCount: 2)
    parser.encodingName = "windows-1251"
    var batch = Self.batch(Array("a,б\nb,".utf8) + [0x98] + Array("\n".utf8))
    try parser.parse(&batch, isFinal: true)
    let rejects = batch.rejects
    let reject = try #require(rejects.first)
    #expect(
      reject.reason == "field 2 has bytes that are not windows-1251 (bytes are counted in the text as UTF-8)")
    #expect(reject.hint == "correct them, or name the file's true encoding with --encoding")
  }

  /// `007` into an INTEGER column, in a table of this run and in one that existed; and text.
  @Test func conversionNotes() throws {
    let bytes = Array("1,a\n007,b\nx,c\n08,d\n".utf8)
    var strict = CSVParser.text(CSVDialect(headerLineCount: 0), fieldCount: 2, affinities: [0: .integer])
    let rejecting = try BatchDriver().parse(bytes, with: &strict)
    #expect(rejecting.rows == [["1", "a"], ["x", "c"]])
    #expect(rejecting.rejections.map(\.code) == ["would-change", "would-change"])
    #expect(rejecting.rejections.map(\.column) == ["c1", "c1"])
    #expect(rejecting.warnings.map(\.code) == ["text-in-number-column"])
    #expect(rejecting.warnings.map(\.firstRecord) == [3])

    var lenient = CSVParser.text(
      CSVDialect(headerLineCount: 0), fieldCount: 2, affinities: [0: .integer], spellingPolicy: .warn)
    let warning = try BatchDriver().parse(bytes, with: &lenient)
    #expect(warning.records.count == 4)
    #expect(warning.warnings.map(\.code) == ["spelling-changed", "text-in-number-column"])
    #expect(warning.warnings.map(\.count) == [2, 1])
    #expect(warning.warnings.map(\.firstLine) == [2, 3])
  }

  /// `""` by the column's type, and by `--quoted-empty`; escapes and bare fields have no say.
  @Test(arguments: [nil, .null, .text] as [CSVDialect.QuotedEmpty?])
  func quotedEmpty(_ policy: CSVDialect.QuotedEmpty?) throws {
    var dialect = CSVDialect(headerLineCount: 0)
    dialect.quotedEmpty = policy
    let affinities: [Int: Affinity] = [0: .integer, 1: .real, 2: .numeric, 3: .text, 4: .none]
    let bytes = Array("\"\",\"\",\"\",\"\",\"\"\n,,,,\n\"1\",\"2.5\",\"3\",\"\"\"\",\"x\"\n".utf8)
    let (number, text): (String?, String?) = (policy == .text ? "" : nil, policy == .null ? nil : "")
    for split in 1..<bytes.count {
      var parser = CSVParser.text(dialect, fieldCount: 5, affinities: affinities, spellingPolicy: .reject)
      let document = try BatchDriver(splits: [split]).parse(bytes, with: &parser)
      #expect(
        document.rows == [
          [number, number, number, text, text], [nil, nil, nil, nil, nil], ["1", "2.5", "3", "\"", "x"],
        ])
      #expect(document.rejections.isEmpty)
      #expect(document.warnings.count == (policy == .text ? 3 : 0))
    }
  }

  @Test func wantedFieldsGoToTheirSlots() throws {
    let columns = ["x", "y", "z"].map { ColumnTarget(name: $0, affinity: .text, spellingPolicy: .warn) }
    var parser = CSVParser(
      dialect: CSVDialect(), file: "f", columns: columns, slotOfField: [2, nil, 0])
    let document = try BatchDriver().parse(Array("a,b,c\n1,\"2\"\"\",3\n".utf8), with: &parser)
    // No field fills `y`, so the record does not speak of it.
    #expect(document.rows == [["3", "<absent>", "1"]])
  }

  @Test func aHugeRecordCostsItsFirstLine() throws {
    let huge = String(repeating: "x", count: 500)
    let text = "1,a\n2,\"\(huge)\n\(huge)\"\n3,b\n4,\(huge)\r\n5,c\n"
    var driver = BatchDriver(sizes: CSVPropertyTests.sizes(arena: 16))
    driver.recordByteLimit = 100
    var parser = CSVParser.text(CSVDialect(headerLineCount: 0), fieldCount: 2)
    let document = try driver.parse(Array(text.utf8), with: &parser)
    // The second line of the quoted field is a line like any other then, and too long as well.
    #expect(document.rows == [["1", "a"], ["3", "b"], ["5", "c"]])
    #expect(document.rejections.map(\.code) == ["too-large", "too-large", "too-large"])
    #expect(document.rejections.map(\.line) == [2, 3, 5])
    #expect(document.records.map(\.line) == [1, 4, 6])
    #expect(document.records.map(\.number) == [1, 4, 6])
    #expect(document.rejections.first?.raw.starts(with: Array("2,\"xxx".utf8)) == true)
  }

  @Test func aHugeHeaderIsAnError() throws {
    var parser = CSVParser.text(CSVDialect(), fieldCount: 2)
    var batch = Self.batch(Array("a,\"b".utf8))
    try parser.parse(&batch, isFinal: false)
    #expect(throws: UpsurgeError.self) { try parser.rejectTooLarge(&batch, limit: 3) }
  }

  @Test func resumesAtARecord() throws {
    let text = "h,h\n1,a\n2,b\n3,c\n"
    var parser = CSVParser(
      dialect: CSVDialect(skippedLineCount: 3), file: "f",
      columns: CSVParser.text(CSVDialect(), fieldCount: 2).columns,
      slotOfField: [0, 1])
    try parser.resume(from: ParserState(line: 3, recordCount: 1, details: #"{"at":"records"}"#))
    let document = try BatchDriver().parse(Array(text.utf8.dropFirst(8)), with: &parser)
    #expect(document.rows == [["2", "b"], ["3", "c"]])
    #expect(document.records.map(\.number) == [2, 3])
    #expect(document.records.map(\.line) == [3, 4])
    #expect(parser.nextLine == 5)
    #expect(parser.recordCount == 3)
  }

  /// Bad input cannot fill a batch with rejects without end.
  @Test func rejectsOfABatchAreBounded() throws {
    var parser = CSVParser.text(CSVDialect(headerLineCount: 0), fieldCount: 2)
    let document = try BatchDriver().parse(
      Array(String(repeating: "x\n", count: 20_000).utf8), with: &parser)
    #expect(document.rejections.count == 20_000)
    var batch = Self.batch(Array(String(repeating: "x\n", count: 20_000).utf8))
    try parser.parse(&batch, isFinal: true)
    let rejectCount = batch.rejects.count
    #expect(rejectCount == Batch.rejectLimit)
    let isClosed = batch.isClosed
    #expect(isClosed)
  }

  static func batch(_ bytes: [UInt8]) -> Batch {
    var batch = Batch()
    for (index, byte) in bytes.enumerated() { batch.arena[index] = byte }
    batch.arenaByteCount = bytes.count
    return batch
  }
}

/// Lines that are no records: the header again, and what stands below the last record.
@Suite("CSV lines that are no records") struct CSVOtherLinesTests {
  private func parse(_ text: String, header: String? = nil, fieldCount: Int = 3) throws -> ParsedDocument {
    var first: ParsedDocument?
    for arena in [1, 5, 64, 4_096] {
      var parser = CSVParser.text(
        CSVDialect(headerLineCount: header == nil ? 0 : 1), fieldCount: fieldCount, header: header)
      let document = try BatchDriver(sizes: CSVPropertyTests.sizes(arena: arena, records: 2))
        .parse(Array(text.utf8), with: &parser)
      if let first { #expect(document == first, "arena \(arena)") }
      first = first ?? document
    }
    return try #require(first)
  }

  @Test("A header that stands again is left out and counted; what only begins like it is a record")
  func repeatedHeader() throws {
    let document = try parse(
      "a,b,c\n1,2,3\na,b,c\r\na,b,cc\na,b\na,b,c", header: "a,b,c")
    #expect(document.rows == [["1", "2", "3"], ["a", "b", "cc"]])
    #expect(document.rejections.map(\.code) == ["ragged"])
    let warning = try #require(document.warnings.first { $0.code == "repeated-header" })
    #expect(warning.count == 2 && warning.firstLine == 3 && warning.firstByte == 12)
  }

  @Test(
    "A header is known again in other quotes, and with blanks at its ends",
    arguments: ["a,b,c", "\"a\",\"b\",\"c\"", "\"a\",b,c", "a,\"b\",c"],
    ["a,b,c", "\"a\",\"b\",\"c\"", "\"a\",b,c", "a,b,\"c\"", "a,b,c ", "a, b,c", "\"a\", \"b\",c"])
  func repeatedHeaderInOtherQuotes(header: String, again: String) throws {
    for end in ["\n", "\r\n", "\r", ""] {
      let document = try parse("\(header)\n1,2,3\n\(again)\(end)", header: header)
      #expect(document.rows == [["1", "2", "3"]] && document.rejections.isEmpty, "\(document.rows)")
      #expect(document.warnings.first { $0.code == "repeated-header" }?.count == 1)
    }
    for other in ["a,b,d", "\"a\",\"b\",\"cc\"", "\"ab\",b,c", "aa,b,c", "\"a,b\",c,d", "A,B,C", "\"a\"\"\",b,c"] {
      let document = try parse("\(header)\n1,2,3\n\(other)\n\(other)", header: header)
      #expect(document.rows.count == 3 && document.warnings.isEmpty, "\(other): \(document.rows)")
    }
  }

  @Test("A header that holds quotes or begins with a blank is known by its bytes")
  func repeatedHeaderByBytes() throws {
    for header in ["\"a\"\"b\",c,d", " a,b,c", ",b,c"] {
      let document = try parse("\(header)\n1,2,3\n\(header)\n4,5,6\n\(header)x\n", header: header)
      #expect(document.rows.count == 3 && document.warnings.first?.count == 1, "\(document.rows)")
    }
  }

  @Test(
    "Lines below the last record are footers", arguments: [
      "(3 rows)", "Total,12", "\"Total\",", "TOTAL", "3 rows selected.", "\u{1A}", ",", "--", "Source: the town hall", "",
      "Printed on Tuesday, May 5", "Total,,12", "\"Grand total\",,", ",total,7", "SUBTOTAL:,,", "Total,1,2",
    ])
  func footers(line: String) throws {
    for tail in ["", "\n", "\n\n\u{1A}", "\nTotal,1\n", "\nTotal:,4,5"] {
      let document = try parse("1,2,3\n\(line)\(tail)")
      #expect(document.rows == [["1", "2", "3"]], "\(tail)")
      #expect(document.rejections.allSatisfy { $0.code == "footer" }, "\(document.rejections)")
    }
  }

  @Test(
    "A last line with all its fields is a record, unless it is a total; a blank one is said",
    arguments: [
      (",,", 1), (" ,, ", 0), (",,\n,,\n", 2), (",,5", 1), (",,5\n4,5,6", 0), (",,x", 0), (",5,", 0), ("\"\",,", 0), ("Torino,,", 0), ("sumo,,1", 0), ("(3 rows),,", 0),
      ("Total,,12\n4,5,6", 0), (",,\n4,5,6", 0), ("Grand Rapids,,4", 0), ("Total Wine,1,2", 0), ("total,x,y", 0),
    ])
  func fullWidth(line: String, said: UInt64) throws {
    let document = try parse("1,2,3\n\(line)")
    #expect(document.rejections.isEmpty, "\(document.rejections)")
    #expect(document.rows.count == 1 + line.split(separator: "\n").count)
    #expect((document.warnings.first { $0.code == "footer-like" }?.count ?? 0) == said)
  }

  @Test("In a table of one column only counts and totals are footers")
  func oneColumn() throws {
    for (line, isFooter) in [
      ("(2 rows)", true), ("2 rows selected.", true), ("Total: 3", true), ("Total", false), ("(a)", false), ("3 men", false),
      ("30", false),
    ] {
      let document = try parse("1\n2\n\(line)\n", fieldCount: 1)
      #expect(document.rejections.count == (isFooter ? 1 : 0), "\(line)")
    }
  }

  @Test(
    "A record that is cut off, and a line with records below it, are none", arguments: [
      "4,5", "4", "name", "Total,12\n4,5,6", "(3 rows)\n7", "4,\"5\n",
    ])
  func others(text: String) throws {
    let document = try parse("1,2,3\n\(text)")
    #expect(!document.rejections.isEmpty)
    #expect(document.rejections.allSatisfy { $0.code != "footer" }, "\(document.rejections)")
  }
}
