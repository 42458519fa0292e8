import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

@Suite struct CSVSnifferTests {
  static let cases: [(text: String, summary: String, names: [String])] = [
    ("a,b,c\n1,2,3\n4,5,6\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["a", "b", "c"]),
    ("a;b;c\r\n1;2;3\r\n", "csv · delimiter semicolon · quote \" · header · CRLF · 3 fields", ["a", "b", "c"]),
    ("a\tb\r1\t2\r", "csv · delimiter tab · quote \" · header · CR · 2 fields", ["a", "b"]),
    ("a|b|c\n1|2|3\n", "csv · delimiter pipe · quote \" · header · LF · 3 fields", ["a", "b", "c"]),
    ("a\u{1F}b\n1\u{1F}2\n", "csv · delimiter 0x1F · quote \" · header · LF · 2 fields", ["a", "b"]),
    ("a\u{1}b\n1\u{1}2\n", "csv · delimiter 0x01 · quote \" · header · LF · 2 fields", ["a", "b"]),
    ("a^b^c\n1^x^3\n", "csv · delimiter ^ · quote \" · header · LF · 3 fields", ["a", "b", "c"]),
    ("a~b\n1~2\n3~4\n", "csv · delimiter ~ · quote \" · header · LF · 2 fields", ["a", "b"]),
    ("1 2 3\n4 5 6\n7 8 9\n", "csv · delimiter space · quote \" · no header · LF · 3 fields", ["c1", "c2", "c3"]),
    (
      "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nbin:x:2:2:bin:/bin:/bin/sh\n",
      "csv · delimiter colon · quote \" · no header · LF · 7 fields", ["c1", "c2", "c3", "c4", "c5", "c6", "c7"]
    ),
    // Decimal commas.
    ("x;y\n1,5;2,5\n3,5;4,5\n5,5;6,5\n", "csv · delimiter semicolon · quote \" · header · LF · 2 fields", ["x", "y"]),
    // Dates and times hold marks of their own.
    (
      "when,what\n2020-01-01 10:00:00,5\n2020-01-02 11:30:00,6\n2020-01-03 12:00:00,7\n",
      "csv · delimiter comma · quote \" · header · LF · 2 fields", ["when", "what"]
    ),
    // One column.
    ("name\nalice\nbob\n", "csv · delimiter comma · quote \" · header · LF · 1 field", ["name"]),
    ("1\n2\n3\n", "csv · delimiter comma · quote \" · no header · LF · 1 field", ["c1"]),
    ("name\n\"Smith, John\"\n\"Doe, Jane\"\n", "csv · delimiter comma · quote \" · header · LF · 1 field", ["name"]),
    ("full name\nJohn Smith\nJane Doe\nJim Beam\n", "csv · delimiter comma · quote \" · header · LF · 1 field", ["full name"]),
    ("stamp\n2020-01-01 10:00:00\n2020-01-02 11:00:00\n", "csv · delimiter comma · quote \" · header · LF · 1 field", ["stamp"]),
    // Quotes.
    ("'a','b'\n'x, y','it''s'\n'1','2'\n", "csv · delimiter comma · quote ' · header · LF · 2 fields", ["a", "b"]),
    ("id,text\n1,it's\n2,'tis\n3,don't\n", "csv · delimiter comma · quote \" · header · LF · 2 fields", ["id", "text"]),
    ("\"a\";\"b, c\"\n\"1\";\"2, 3\"\n", "csv · delimiter semicolon · quote \" · header · LF · 2 fields", ["a", "b, c"]),
    (
      "a\tb\n\"Hi\" he said\t1\n\"Ho\" she said\t2\n\"Hey\" they said\t3\n",
      "csv · delimiter tab · no quote · header · LF · 2 fields", ["a", "b"]
    ),
    (
      "id,text\n1,\"he said \\\"hi\\\", then\"\n2,\"plain\"\n3,\"a \\\"b\\\" c\"\n",
      "csv · delimiter comma · quote \" · escape \\ · header · LF · 2 fields", ["id", "text"]
    ),
    (
      "id,path\n1,\"C:\\dir\\\"\n2,\"D:\\x\\\"\n", "csv · delimiter comma · quote \" · header · LF · 2 fields",
      ["id", "path"]
    ),
    // Fixed width, shown by a line of dashes.
    (
      "id  name       amount\n--- ---------- ------\n  1 Ann          3.50\n  2 Ben Lee\n",
      "fixed width 3,:1,10,:1,* · header of 2 records · LF · 3 fields", ["id", "name", "amount"]
    ),
    (
      "Report\n\n  a    b\r\n  ==   ==\r\n  1    2\r\n",
      "fixed width :2,2,:3,* · 2 lines skipped · header of 2 records · CRLF · 2 fields", ["a", "b"]
    ),
    // Before the table.
    (
      "PREAMBLE,,,,\n,,,,\na,b,c,d,e\n1,2,3,4,5\n",
      "csv · delimiter comma · quote \" · 2 lines skipped · header · LF · 5 fields", ["a", "b", "c", "d", "e"]
    ),
    (
      "Report of sales\n\nmade 2020-01-01\na,b,c\n1,2,3\n4,5,6\n",
      "csv · delimiter comma · quote \" · 3 lines skipped · header · LF · 3 fields", ["a", "b", "c"]
    ),
    (
      "Title,,\nSTATE,x,y\nNY,1,2\nCT,3,4\n",
      "csv · delimiter comma · quote \" · 1 line skipped · header · LF · 3 fields", ["STATE", "x", "y"]
    ),
    (
      ",Title,\nSTATE,x,y\nNY,1,2\nCT,3,4\n", "csv · delimiter comma · quote \" · header · LF · 3 fields",
      ["column_1", "Title", "column_3"]
    ),
    (
      "Name;KX-7;\nFrom;2031-01-01;\nid;tree;m\n1;a;2\n2;b;3\n3;c;4\n",
      "csv · delimiter semicolon · quote \" · 2 lines skipped · header · LF · 3 fields", ["id", "tree", "m"]
    ),
    (
      "Trees,\nid,tree\n1,alder\n2,birch\n3,cedar\n",
      "csv · delimiter comma · quote \" · 1 line skipped · header · LF · 2 fields", ["id", "tree"]
    ),
    (
      "Trees,,,\n,Size,,Place\nid,height,girth,name\n1,2,3,a\n2,3,4,b\n3,4,5,c\n4,5,6,d\n",
      "csv · delimiter comma · quote \" · 1 line skipped · header of 2 records · LF · 4 fields",
      ["id", "Size height", "girth", "Place name"]
    ),
    (
      "Sales\n2030,2030,2031,2031\nn,price,n,price\n1,2,3,4\n2,3,4,5\n3,4,5,6\n4,5,6,7\n",
      "csv · delimiter comma · quote \" · 1 line skipped · header of 2 records · LF · 4 fields",
      ["2030 n", "2030 price", "2031 n", "2031 price"]
    ),
    (
      "id,tree\n--,----\n1,alder\n2,birch\n", "csv · delimiter comma · quote \" · header of 2 records · LF · 2 fields",
      ["id", "tree"]
    ),
    (
      "a,b\nx,1,2\ny,3,4\n(2 rows)\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["column_1", "a", "b"]
    ),
    (
      "site,1/22/20,1/23/20\nA,5,6\nB,6,7\n", "csv · delimiter comma · quote \" · header · LF · 3 fields",
      ["site", "1/22/20", "1/23/20"]
    ),
    (
      "day,00:00,01:00\nmon,1,2\ntue,2,3\n", "csv · delimiter comma · quote \" · header · LF · 3 fields",
      ["day", "00:00", "01:00"]
    ),
    ("day,2020-01-01\nmon,2020-02-01\n", "csv · delimiter comma · quote \" · no header · LF · 2 fields", ["c1", "c2"]),
    // A long text of many lines in an early record.
    (
      "id,a\n1,\"" + String(repeating: "a line of text\n", count: 1_500) + "\"\n2,x\n3,y\n",
      "csv · delimiter comma · quote \" · header · LF · 2 fields", ["id", "a"]
    ),
    (
      String(repeating: "a,b\n", count: 11), "csv · delimiter comma · quote \" · no header · LF · 2 fields", ["c1", "c2"]
    ),
    (String(repeating: "a,b\n", count: 3), "csv · delimiter comma · quote \" · header · LF · 2 fields", ["a", "b"]),
    (",0,1\n0,a,b\n1,c,d\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["column_1", "0", "1"]),
    ("\n\na,b\n1,2\n", "csv · delimiter comma · quote \" · header · LF · 2 fields", ["a", "b"]),
    (
      "# made by hand\n# on a day, or so, it seems\na,b\n1,2\n3,4\n",
      "csv · delimiter comma · quote \" · 2 lines skipped · header · LF · 2 fields", ["a", "b"]
    ),
    ("#id,name\n1,x\n2,y\n", "csv · delimiter comma · quote \" · header · LF · 2 fields", ["#id", "name"]),
    ("n,tag\n1,x\n#2,y\n#3,z\n", "csv · delimiter comma · quote \" · header · LF · 2 fields", ["n", "tag"]),
    ("sep=;\r\na;b\r\n1;2\r\n", "csv · delimiter semicolon · quote \" · 1 line skipped · header · CRLF · 2 fields", ["a", "b"]),
    ("\"SEP=|\"\na|b\n1|2\n", "csv · delimiter pipe · quote \" · 1 line skipped · header · LF · 2 fields", ["a", "b"]),
    ("sep=a\n1\n2\n", "csv · delimiter comma · quote \" · header · LF · 1 field", ["sep=a"]),
    (
      "A;x\nB;y;z\nday;text;out;in;sum\n1;a;2;3;4\n2;b;3;4;5\n3;c;4;5;6\n",
      "csv · delimiter semicolon · quote \" · 2 lines skipped · header · LF · 5 fields",
      ["day", "text", "out", "in", "sum"]
    ),
    (
      "Sales of 2024,,,\n,first,second,third\nregion,q1,q2,q3\nn,1,2,3\ns,4,5,6\nw,7,8,9\n",
      "csv · delimiter comma · quote \" · 1 line skipped · header of 2 records · LF · 4 fields",
      ["region", "first q1", "second q2", "third q3"]
    ),
    ("g h s\nx,1,2\ny,3,4\nz,5,6\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["g", "h", "s"]),
    ("girth\theight\na\t1\t2\nb\t3\t4\n", "csv · delimiter tab · quote \" · header · LF · 3 fields", ["column_1", "girth", "height"]),
    ("a,b\n1,2,\n3,4,\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["a", "b", "column_3"]),
    ("id, name, note\n1, Ann, \"a, b\"\n2, Bob, \"c\"\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["id", "name", "note"]),
    ("'A'; 'B';2006\n'C'; 'D';2007\n'E'; 'F';2008\n", "csv · delimiter semicolon · quote ' · no header · LF · 3 fields", ["c1", "c2", "c3"]),
    (
      "##made=1\n#X\tPOS\n4\t100\n5\t90\n", "csv · delimiter tab · quote \" · 1 line skipped · header · LF · 2 fields",
      ["#X", "POS"]
    ),
    (
      "# palette; v3\ncolour;name\n#ff8800;amber\nnone;clear\n",
      "csv · delimiter semicolon · quote \" · 1 line skipped · header · LF · 2 fields", ["colour", "name"]
    ),
    ("a,b,c\n1,2,3\n# note\n4,5,6\n# other; note\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["a", "b", "c"]),
    ("tree,site\nelm,a\nash,b\ntree,site\nfir,c\n", "csv · delimiter comma · quote \" · header · LF · 2 fields", ["tree", "site"]),
    (
      "id,path,say\n1,\"C:\\tools\",\"a \\\"b\\\", c\"\n2,\"D:\\x\",\"d\"\n",
      "csv · delimiter comma · quote \" · escape \\ before quotes · header · LF · 3 fields", ["id", "path", "say"]
    ),
    // Header or none.
    ("1,2\n3,4\n", "csv · delimiter comma · quote \" · no header · LF · 2 fields", ["c1", "c2"]),
    ("alice,NY\nbob,LA\ncarol,NY\n", "csv · delimiter comma · quote \" · no header · LF · 2 fields", ["c1", "c2"]),
    ("state,2018\nAlabama,R+27\nAlaska,R+15\n", "csv · delimiter comma · quote \" · header · LF · 2 fields", ["state", "2018"]),
    (
      "country,1990,1991,1992\nA,5,6,7\nB,8,9,1\n", "csv · delimiter comma · quote \" · header · LF · 4 fields",
      ["country", "1990", "1991", "1992"]
    ),
    ("1880,Mary,F,7065\n1880,Anna,F,2604\n1880,Emma,F,2003\n", "csv · delimiter comma · quote \" · no header · LF · 4 fields", ["c1", "c2", "c3", "c4"]),
    ("DATE,TIME,Qty\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["DATE", "TIME", "Qty"]),
    (",a,b\n1,x,y\n2,z,w\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["column_1", "a", "b"]),
    ("a,A,a\n1,2,3\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["a", "A_2", "a_3"]),
    ("\"a\nb\",c\n1,2\n", "csv · delimiter comma · quote \" · header · LF · 2 fields", ["a\nb", "c"]),
    ("\u{FEFF}a,b\r\n1,2\n", "csv · delimiter comma · quote \" · header · mixed · 2 fields", ["a", "b"]),
    // A header whose quotes make no sense is still one.
    ("a,\"b,c\n1,2,\"3\"\n4,5,6\n7,8,\"9, 9\"\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["a", "\"b", "c"]),
    ("a,b,,c\n1,2,3\n4,5,6\n7,8,9\n", "csv · delimiter comma · quote \" · header · LF · 3 fields", ["a", "b", "c"]),
    ("", "csv · delimiter comma · quote \" · no header · 0 fields", []),
    ("\n\n\r\n", "csv · delimiter comma · quote \" · no header · 0 fields", []),
  ]

  @Test(arguments: cases.indices) func sniff(index: Int) throws {
    let (text, summary, names) = Self.cases[index]
    let result = CSVSniffer.sniff(sample: Array(text.utf8), isWhole: true)
    #expect(result.summary == summary, "\(text)")
    #expect(result.headerNames == names, "\(text)")
    #expect(result.fieldCount == names.count)
    try result.dialect.validate()
  }

  /// What happens to bad records has no influence.
  @Test(arguments: cases.indices) func raggedPolicyHasNoSay(index: Int) {
    let sample = Array(Self.cases[index].text.utf8)
    let expected = CSVSniffer.sniff(sample: sample, isWhole: true)
    for ragged in CSVDialect.RaggedPolicy.allCases {
      var found = CSVSniffer.sniff(sample: sample, isWhole: true, given: CSVOverrides(ragged: ragged))
      #expect(found.dialect.ragged == ragged)
      found.dialect.ragged = expected.dialect.ragged
      #expect(found == expected)
    }
  }

  @Test func whatIsGivenIsNotSniffed() {
    let sample = Array("# x\na;b\n1;2\n".utf8)
    func dialect(_ given: CSVOverrides) -> CSVSniffResult {
      CSVSniffer.sniff(sample: sample, isWhole: true, given: given)
    }
    #expect(dialect(CSVOverrides(delimiter: [0x2C])).fieldCount == 1)
    #expect(dialect(CSVOverrides(quote: CSVOverrides.Mark.none)).dialect.quote == nil)
    #expect(dialect(CSVOverrides(escape: .byte(0x5C))).dialect.escape == 0x5C)
    #expect(dialect(CSVOverrides(commentPrefix: [])).dialect.commentPrefix == nil)
    #expect(dialect(CSVOverrides(headerLineCount: 0)).headerNames == ["c1", "c2"])
    #expect(dialect(CSVOverrides(headerLineCount: 2)).headerNames == ["a 1", "b 2"])
    #expect(dialect(CSVOverrides(skippedLineCount: 2)).headerNames == ["c1", "c2"])
    #expect(dialect(CSVOverrides(columnNames: ["x", "y", "y"])).headerNames == ["x", "y", "y_2"])
    #expect(dialect(CSVOverrides(nullSpellings: [[0x2D]])).dialect.nullSpellings == [[0x2D]])
  }

  /// Lines in which a given delimiter does not stand are titles only where a table follows.
  @Test func titlesByAGivenDelimiter() {
    func skipped(_ text: String, _ delimiter: String) -> Int {
      CSVSniffer.sniff(
        sample: Array(text.utf8), isWhole: true, given: CSVOverrides(delimiter: Array(delimiter.utf8))
      ).dialect.skippedLineCount
    }
    #expect(skipped("a,b\n1,NA\n2,\"NA\"\n3,\n", "\"") == 0)
    #expect(skipped("a,b\n1;2;3\n4\n", ";") == 0)
    #expect(skipped("Sales\nof May\na;b;c\n1;2;3\n", ";") == 2)
  }

  /// A quoted field that goes beyond the sample is no sign that quotes are data.
  @Test func fieldLongerThanTheSample() {
    let long = String(repeating: "so, it; goes. ", count: 30_000)
    let lines = String(repeating: "and so on,\n\nsaid he\n", count: 20_000)
    for head in ["a,b\n1,\"", "a,b\n1,2\n3,\"", "a,b\n1,x\"y\n2,\""] {
      for text in [long, lines] {
        let result = CSVSniffer.sniff(sample: Array("\(head)\(text)\"\n".utf8), isWhole: false)
        #expect(result.dialect.quote == 0x22 && result.dialect.delimiter == [0x2C], "\(head)")
        #expect(result.headerNames.count == 2, "\(head)")
      }
    }
  }

  @Test("Where another delimiter is nearly as likely, it is said with its option")
  func doubts() {
    func remarks(_ text: String) -> [String] { CSVSniffer.sniff(sample: Array(text.utf8), isWhole: true).remarks.map(\.text) }
    let close = remarks("a;b,c\nd;e,f\ng;h,i\n")
    #expect(close.count == 1 && close[0].contains("--delimiter semicolon"), "\(close)")
    #expect(remarks("a,b\n1,2\n3,4\n") == [])
    #expect(remarks("a;b\n1,5;2,5\n3,5;4,5\n") == [])
  }

  @Test(
    "A first record of texts that looks as the others do is a header only by its place, which is said",
    arguments: [
      ("ann,oslo\nbob,rome\ncyd,paris\n", true), ("Ann-Lee\tOslo\nBob-Roe\tRome\nCyd-Ray\tParis\n", true),
      ("name,town\nann,oslo\nbob,rome\n", false), ("firstName,lives\nann,oslo\nbob,rome\n", false),
      ("Vorname;Wohnort\nann;oslo\nbob;rome\n", false), ("vor_name;wohn_ort\nann;oslo\nbob;rome\n", false),
      ("ann,oslo\n", false), ("ann,oslo\nbob,1\ncyd,2\n", false), ("a,b\nx,y\nz,w\n", false),
    ])
  func headerByPlace(text: String, isSaid: Bool) {
    let result = CSVSniffer.sniff(sample: Array(text.utf8), isWhole: true)
    #expect(result.dialect.headerLineCount == 1)
    #expect(
      result.remarks.map(\.text) == (isSaid ? ["the first record is read as the header; --no-header reads it as a record"] : []))
    let given = CSVSniffer.sniff(sample: Array(text.utf8), isWhole: true, given: CSVOverrides(headerLineCount: 1))
    #expect(given.remarks.isEmpty)
  }

  /// A quote that opens by mistake takes the records behind it in; they tell.
  @Test func quoteLeftOpen() {
    let rows = (0..<20_000).map { "\($0),word\n" }.joined()
    let result = CSVSniffer.sniff(sample: Array("id,text\n0,\"oops\n\(rows)".utf8), isWhole: false)
    #expect(result.headerNames == ["id", "text"])
    #expect(result.delimiterEvidence.hasPrefix("2 fields in 9"))
  }

  /// A cut sample's last record is no evidence.
  @Test func cutSample() {
    let sample = Array("a,b,c\n1,2,3\n4,\"5".utf8)
    let result = CSVSniffer.sniff(sample: sample, isWhole: false)
    #expect(result.delimiterEvidence == "3 fields in 2 of 2 records")
  }

  @Test func remarksAndRenamings() {
    let result = CSVSniffer.sniff(sample: Array("a,a,\n1,2,3,4\n5,6,7,8\n".utf8), isWhole: true)
    #expect(
      result.renamings == [
        HeaderNames.Renaming(index: 1, original: "a", new: "a_2"),
        HeaderNames.Renaming(index: 2, original: "", new: "column_3"),
        HeaderNames.Renaming(index: 3, original: "", new: "column_4"),
      ])
    #expect(result.remarks == ["the header has 3 fields, most records have 4"])
  }

  /// Any bytes at all: no trap, and a dialect that can be used.
  @Test func randomBytes() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let marks = Array(",;\t|\"'\\\n\r#ab1 .:".utf8) + [0xC3, 0xFF, 0]
    for _ in 0..<300 {
      let length = Int.random(in: 0...80, using: &generator)
      let bytes = (0..<length).map { _ in marks.randomElement(using: &generator) ?? 0 }
      let result = CSVSniffer.sniff(sample: bytes, isWhole: Bool.random(using: &generator))
      try result.dialect.validate()
      #expect(result.headerNames.count == result.fieldCount, "seed \(seed): \(bytes)")
      #expect(Set(result.headerNames.map(\.nameKey)).count == result.fieldCount, "seed \(seed): \(bytes)")
    }
  }
}
