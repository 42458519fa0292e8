import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

/// Workbooks that nobody's program wrote, or that somebody has changed.
@Suite("Sheets: what is refused", .enabled(if: SheetBooks.areRead, "\(SheetBooks.need)"))
struct SheetHostileTests {
  let books: SheetBooks

  init() throws { books = try SheetBooks() }

  private static let row = "<row><c><v>1</v></c></row>"

  private func message(ofRows rows: String, strings: [String] = [], changed: [String: String?] = [:]) throws
    -> String
  {
    books.message(
      try SheetFiles.xlsx(SheetBooks.rows(rows), strings: strings, formats: ["14"], changed: changed))
  }

  // MARK: - XML

  @Test(
    "Document types, entities and what is no XML",
    arguments: [
      ("<!DOCTYPE worksheet [<!ENTITY a \"b\">]>", "", "it has a document type (DOCTYPE)"),
      ("<!DOCTYPE worksheet SYSTEM \"file:///etc/passwd\">", "", "it has a document type (DOCTYPE)"),
      ("", "<row><c t=\"str\"><v>&other;</v></c></row>", "cannot be read as XML: undefined entity"),
      ("", "<row>", "cannot be read as XML: mismatched tag"),
      ("", "<row><c t=\"str\"><v>\u{1}</v></c></row>", "cannot be read as XML: not well-formed"),
    ])
  func documents(prolog: String, rows: String, expected: String) throws {
    #expect(books.message(try SheetFiles.xlsx(SheetBooks.rows(rows), prolog: prolog)).contains(expected))
  }

  @Test("Elements in elements, names, attributes and tags without end")
  func withoutEnd() throws {
    let full = "it has more names or attributes than any workbook needs, or elements in elements without end"
    #expect(try message(ofRows: String(repeating: "<a>", count: 200_000)).contains(full))
    #expect(try message(ofRows: (0..<200_000).map { "<a\($0)/>" }.joined()).contains(full))
    let attributes = (0..<100_000).map { "a\($0)=\"\"" }.joined(separator: " ")
    let tags = [
      "<row \(attributes)/>", "<row a=\"\(String(repeating: "x", count: 2 << 20))\"/>",
      "<!--\(String(repeating: "x", count: 2 << 20))-->",
    ]
    for tag in tags {
      let message = try message(ofRows: tag)
      #expect(message.contains(full) || message.contains("a tag or comment in it is too long"), "\(message)")
    }
  }

  // MARK: - Places

  @Test(
    "Rows and cells that are not where they say",
    arguments: [
      ("<row><c><v>1</v></c></row><row r=\"1\"/>", "from row 1: its rows are not in their order"),
      ("<row r=\"1048577\"/>", "there are more than 1048576"), ("<row r=\"x\"/>", "a row has the number x"),
      ("<row><c r=\"B1\"/><c r=\"A1\"/></row>", "its cells are not in their order"),
      ("<row><c r=\"B1\"/><c r=\"B1\"/></row>", "its cells are not in their order"),
      ("<row><c r=\"XFE1\"/></row>", "more than 16384 in a row"),
      ("<row><c r=\"1A\"/></row>", "a cell stands at 1A, which is no place"),
      ("<row r=\"2\"><c r=\"A3\"/></row>", "from row 2: the cell A3 stands in it"),
      ("<row><c r=\"A1\"/><c r=\"B2\"/></row>", "from row 1: the cell B2 stands in it"),
      ("<c><v>1</v></c>", "a cell stands outside of the rows"),
      ("<row><c t=\"s\"><v>7</v></c></row>", "a cell names text 7, and there are 1"),
      (
        "<row><c t=\"s\"><v>99999999999999999999</v></c></row>",
        "a cell names text 99999999999999999999, and there are 1"
      ),
      ("<row><c t=\"s\"><v>-1</v></c></row>", "a cell names text -1, and there are 1"),
      ("<row><c s=\"9\"><v>45292</v></c></row>", "a cell has style 9, and there are 2"),
    ])
  func places(rows: String, expected: String) throws {
    #expect(try message(ofRows: rows, strings: ["<t>a</t>"]).contains(expected))
  }

  @Test(
    "What could be lost is read: texts in other places than their type says, and rows that their cells number"
  )
  func kept() throws {
    let rows =
      "<row><c t=\"inlineStr\"><v>a</v></c><c><is><t>b</t></is></c><c t=\"s\"><v> 0 </v></c><c><v> 5\n</v></c></row>"
      + "<row><c r=\"B4\"><v>6</v></c></row><row><c><v>7</v></c></row>"
    let found = try books.read(try SheetFiles.xlsx(SheetBooks.rows(rows), strings: ["<t>c</t>"]))
    #expect(found.text == "a\tb\tc\t5\n\n\n\t6\t\t\n7\t\t\t\n")
  }

  // MARK: - Parts

  @Test(
    "Parts that are missing",
    arguments: [
      ("xl/sharedStrings.xml", "a cell names text 0, and there are 0"),
      ("xl/styles.xml", "it has no xl/styles.xml"),
      ("xl/workbook.xml", "it has no xl/workbook.xml"),
      ("xl/worksheets/sheet1.xml", "holds no file xl/worksheets/sheet1.xml"),
      ("xl/_rels/workbook.xml.rels", "nothing says where the sheet Data is"), ("_rels/.rels", "no error"),
    ])
  func missing(part: String, expected: String) throws {
    let rows = "<row><c t=\"s\"><v>0</v></c><c s=\"1\"><v>45292</v></c></row>"
    #expect(try message(ofRows: rows, strings: ["<t>a</t>"], changed: [part: nil]).contains(expected))
  }

  @Test("Other programs' names: strict ones, absolute ones, steps up, other letters")
  func names() throws {
    let strict = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    let relations =
      "<Relationships><Relationship Id=\"rId1\" Type=\"\(strict)/worksheet\" Target=\"/XL/Worksheets/../worksheets/Sheet1.xml\"/>"
      + "<Relationship Id=\"s\" Type=\"\(strict)/styles\" Target=\"./styles.xml\"/>"
      + "<Relationship Id=\"t\" Type=\"\(strict)/sharedStrings\" Target=\"..\\xl\\sharedStrings.xml\"/></Relationships>"
    let rows =
      "<row><c t=\"s\"><v>0</v></c><c s=\"1\" t=\"d\"><v>2024-01-31T00:00:00.000</v></c>"
      + "<c s=\"1\" t=\"d\"><v>2024-01-31T10:00:00</v></c></row>"
    let book = try SheetFiles.xlsx(
      SheetBooks.rows(rows), strings: ["<t>a</t>"], formats: ["14"],
      changed: ["xl/_rels/workbook.xml.rels": relations])
    #expect(try books.read(book).text == "a\t2024-01-31\t2024-01-31T10:00:00\n")
  }

  @Test("Documents of other kinds, and encrypted ones")
  func kinds() throws {
    let document = try Packing.archive(
      .zip, [("[Content_Types].xml", Array("<Types/>".utf8)), ("xl/workbook.xml", Array("<document/>".utf8))])
    #expect(books.message(document).contains("an Office document without sheets"))
    let relation = "<R><Relationship Id=\"a\" Type=\"x/officeDocument\" Target=\"xl/workbook.bin\"/></R>"
    #expect(
      try message(ofRows: "", changed: ["_rels/.rels": relation, "xl/workbook.bin": "x"]).contains(
        "the binary format .xlsb"))
    let text = try SheetFiles.ods("", changed: ["mimetype": "application/vnd.oasis.opendocument.text"])
    #expect(books.message(text).contains("it holds application/vnd.oasis.opendocument.text, and no sheets"))
    let encrypted = [
      try SheetFiles.ods(
        "", changed: ["META-INF/manifest.xml": "<!DOCTYPE m><m:manifest><m:encryption-data/></m:manifest>"]),
      try SheetFiles.ods("", changed: ["content.xml": nil, "encrypted-package": "x"]),
    ]
    for book in encrypted {
      #expect(books.message(book).contains("book is encrypted, and encrypted workbooks are not read"))
    }
  }

  @Test("A part with another checksum, also where reading stops before its end")
  func checksums() throws {
    let table =
      "<table:table table:name=\"A\"><table:table-row><table:table-cell>"
      + "<text:p>a</text:p></table:table-cell></table:table-row></table:table>"
    let sheets = try SheetFiles.ods(
      table
        + "<table:table table:name=\"B\">\(String(repeating: "<table:table-row/>", count: 50_000))</table:table>"
    )
    #expect(try books.read(sheets).text == "a\n")
    #expect(books.message(SheetFiles.withWrongChecksum(of: "content.xml", in: sheets)).contains("is corrupt"))
    let book = try SheetFiles.xlsx(SheetBooks.rows(Self.row), formats: ["14"])
    for part in ["xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/sharedStrings.xml", "xl/workbook.xml"] {
      #expect(
        books.message(SheetFiles.withWrongChecksum(of: part, in: book)).contains("is corrupt"), "\(part)")
    }
  }
}
