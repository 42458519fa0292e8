import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

@Suite("Sheets: cells as text", .enabled(if: SheetBooks.areRead, "\(SheetBooks.need)"))
struct SheetTests {
  let books: SheetBooks

  init() throws { books = try SheetBooks() }

  // MARK: - Excel

  @Test("Shared texts, runs, and how characters are pronounced")
  func texts() throws {
    let strings = [
      "<t>id</t>",
      "<r><t>na</t></r><r><rPr><b/></rPr><t xml:space=\"preserve\">me </t></r><rPh sb=\"0\" eb=\"1\"><t>X</t></rPh>",
      "<t>  a\\b\tc&#10;d  </t>", "<t>x_x000D_y_x005F_</t>", "",
      "<t>_x005F_x000A__xD83D__xDE00__x0000_x000A__x+00A_</t>",
    ]
    let cells = (0..<6).map { "<c t=\"s\"><v>\($0)</v></c>" }.joined()
    let found = try books.read(try SheetFiles.xlsx(SheetBooks.rows("<row>\(cells)</row>"), strings: strings))
    #expect(found.name == "Data")
    #expect(found.text == "id\tname \ta\\\\b\\tc\\nd\tx\\ry_\t\t_x000A_😀_x0000\\n_x+00A_\n")
  }

  @Test("Cells and rows that are absent, and others without references")
  func absent() throws {
    let found = try books.read(
      try SheetFiles.xlsx(
        SheetBooks.rows(
          "<row r=\"2\"><c r=\"B2\"><v>1</v></c><c><v>2</v></c><c r=\"E2\"><v>3</v></c></row>",
          "<row><c><v>4</v></c></row>",
          "<row r=\"4\"><c r=\"A4\" s=\"0\"/></row>",
          "<row r=\"6\" spans=\"1:1\"><c r=\"AA6\"><v>5</v></c></row>",
          "<row r=\"1048576\"/>")))
    let width = 27
    func line(_ cells: [Int: String]) -> String {
      (0..<width).map { cells[$0] ?? "" }.joined(separator: "\t") + "\n"
    }
    #expect(found.text == "\n" + line([1: "1", 2: "2", 4: "3"]) + line([0: "4"]) + "\n\n" + line([26: "5"]))
  }

  @Test("Numbers stay as they are stored, and days are those of their format")
  func dates() throws {
    let formats = [
      "yyyy\\-mm\\-dd", "22", "[h]:mm:ss", "20", "9", "0.00\" days\"", "30", "[Red]d/m/yy;@", "#,##0.0_d",
      "h:mm AM/PM",
    ]
    func row(_ cells: (style: Int, value: String)...) -> String {
      "<row>" + cells.map { "<c s=\"\($0.style)\"><v>\($0.value)</v></c>" }.joined() + "</row>"
    }
    let rows = [
      row((1, "45292"), (2, "45292.5"), (3, "1.0833333333333333"), (4, "0.52083333333333337"), (10, "0.75")),
      row((5, "0.125"), (6, "3.50"), (7, "59"), (1, "60"), (1, "61")),
      row((8, "2958465"), (1, "2958466"), (1, "-1"), (9, "1E-3")),
      row((1, "45292.000011574"), (7, "45292.25"), (7, "0.5"), (0, "12.300000000000001")),
      row((2, "45322.43090856481"), (2, "36525.99999998842"), (2, "45291.999999999"), (4, "0"), (4, "1.5")),
    ]
    #expect(
      try books.read(try SheetFiles.xlsx(SheetBooks.rows(rows.joined()), formats: formats)).text
        == "2024-01-01\t2024-01-01T12:00:00\t26:00:00\t12:30:00\t18:00:00\n0.125\t3.50\t1900-02-28\t60\t1900-03-01\n"
        + "9999-12-31\t2958466\t-1\t1E-3\t\n2024-01-01T00:00:01\t2024-01-01T06:00:00\t12:00:00\t12.300000000000001\t\n"
        + "2024-01-31T10:20:30.5\t1999-12-31T23:59:59.999\t2024-01-01T00:00:00\t00:00:00\t1900-01-01T12:00:00\n"
    )
    #expect(
      try books.read(
        try SheetFiles.xlsx(
          SheetBooks.rows(row((1, "0"), (1, "43830"), (4, "0.5"), (1, "2957003"), (1, "2957004"))),
          formats: formats,
          is1904: true)
      ).text == "1904-01-01\t2024-01-01\t12:00:00\t9999-12-31\t2957004\n")
  }

  @Test("Truths, errors, formulas and merged cells")
  func others() throws {
    let row =
      "<row r=\"3\"><c t=\"b\"><v>1</v></c><c t=\"e\"><f>NA()</f><v>#N/A</v></c><c t=\"str\"><f>A1</f><v>a</v></c><c><f>B1</f></c>"
      + "<c><f>1+1</f><v>2</v></c><c t=\"d\"><v>2024-01-31</v></c><c><f>B1</f><v/></c><c t=\"str\"><f>\"\"</f><v></v></c>"
      + "<c t=\"b\"><v>true</v></c><c t=\"b\"><v>0</v></c></row>"
    let merged = "<mergeCells><mergeCell ref=\"B4:C5\"/><mergeCell ref=\"A9:A10\"/></mergeCells>"
    let found = try books.read(try SheetFiles.xlsx([SheetFiles.Sheet("Data", row, rest: merged)]))
    #expect(found.text == "\n\n1\t\ta\t\t2\t2024-01-31\t\t\t1\t0\n")
    #expect(found.notes == ["error-cell 1 3", "formula-without-value 2 3", "merged-cells 2 4"])
  }

  @Test("A sheet is found by its name and its number, and hidden ones and charts are not the first")
  func choice() throws {
    func sheet(_ name: String, _ state: String = "visible") -> SheetFiles.Sheet {
      SheetFiles.Sheet(name, "<row><c t=\"str\"><v>\(SheetFiles.escaped(name))</v></c></row>", state: state)
    }
    let book = try SheetFiles.xlsx([
      sheet("Chart", "chart"), sheet("Old", "veryHidden"), sheet("Now"), sheet("3"),
    ])
    #expect(try books.read(book).name == "Now")
    for (wanted, name) in [("Old", "Old"), ("now", "Now"), ("1", "Old"), ("2", "Now"), ("3", "3")] {
      #expect(try books.read(book, sheet: wanted).name == name, "\(wanted)")
    }
    #expect(books.message(book, sheet: "Chart").contains("has no sheet Chart"))
    #expect(books.message(book, sheet: "4").contains("its sheets are: Old, Now, 3"))
    #expect(
      try books.read(book).remark == "book: of 3 sheets the first is read, Now; --sheet 3 reads another")
    #expect(try books.read(book, sheet: "2").remark == "book: xlsx · sheet Now")
    #expect(
      try books.read(try SheetFiles.xlsx([sheet("It's <\"2\">")])).remark == "book: xlsx · sheet It's <\"2\">"
    )
  }

  // MARK: - OpenDocument

  @Test("Repeated cells and rows, values by their type, and texts")
  func openDocument() throws {
    let header =
      "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>id</text:p></table:table-cell>"
      + "<table:table-cell office:value-type=\"string\" table:number-columns-spanned=\"2\"><office:annotation><text:p>no</text:p>"
      + "</office:annotation><text:p>a<text:s text:c=\"3\"/>b<text:tab/>c</text:p><text:p>  two   <text:span>x</text:span>\n y</text:p>"
      + "</table:table-cell><table:covered-table-cell><text:p>under</text:p></table:covered-table-cell></table:table-row>"
    let body =
      "<table:table-row table:number-rows-repeated=\"2\"><table:table-cell table:number-columns-repeated=\"1024\"/></table:table-row>"
      + "<table:table-row table:number-rows-repeated=\"3\">"
      + "<table:table-cell office:value-type=\"float\" office:value=\"1.50\"><text:p>1,5</text:p>"
      + "</table:table-cell><table:table-cell office:value-type=\"date\" office:date-value=\"2024-01-31T10:00:00\"/><table:table-cell "
      + "table:number-columns-repeated=\"2\" office:value-type=\"time\" office:time-value=\"PT26H10M30.5S\"/></table:table-row>"
      + "<table:table-row><table:table-cell office:value-type=\"boolean\" office:boolean-value=\"true\"/><table:table-cell "
      + "office:value-type=\"string\" office:string-value=\"\" calcext:value-type=\"error\"><text:p>#N/A</text:p></table:table-cell>"
      + "<table:table-cell office:value-type=\"percentage\" office:value=\"0.5\"/></table:table-row>"
      + "<table:table-row table:number-rows-repeated=\"1048560\">"
      + "<table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>"
    let hidden =
      "<style:style style:name=\"h\" style:family=\"table\"><style:table-properties table:display=\"false\"/></style:style>"
    let tables =
      "<table:table table:name=\"Hidden\" table:style-name=\"h\"><table:table-row><table:table-cell><text:p>no</text:p></table:table-cell>"
      + "</table:table-row></table:table><table:table table:name=\"One\"><table:shapes><text:p>no</text:p></table:shapes>"
      + "<table:table-header-rows>\(header)</table:table-header-rows>\(body)</table:table>"
    let book = try SheetFiles.ods(tables, styles: hidden)
    let found = try books.read(book)
    let repeated = "1.50\t2024-01-31T10:00:00\t26:10:30.5\t26:10:30.5\n"
    #expect(found.name == "One")
    #expect(
      found.text == "id\ta   b\\tc\\n  two   x y\tunder\t\n\n\n" + repeated + repeated + repeated
        + "1\t\t0.5\t\n"
    )
    #expect(found.notes == ["error-cell 1 7", "merged-cells 1 1"])
    #expect(try books.read(book, sheet: "hidden").text == "no\n")
  }

  @Test(
    "Blanks in texts of .ods files are kept, but for those that lay out the XML",
    arguments: [
      ("<text:p>\n   a\n\t b  c \n </text:p><text:p> d </text:p>", "a b  c\\n d "),
      ("<text:p>  a</text:p>", "  a"),
      ("<text:p>a\n<text:span>\n b</text:span>\n</text:p>", "a b"),
      ("<text:p>a <text:s/> b<text:line-break/>\nc</text:p>", "a   b\\n c"),
      ("<text:p>a\n<text:s/>b</text:p>", "a  b"), ("<text:p/><text:p>a</text:p>", "\\na"),
      ("<text:p>a<office:annotation><text:p>no\n</text:p></office:annotation>\n</text:p>", "a"),
    ])
  func blanks(paragraphs: String, expected: String) throws {
    let row =
      "<table:table-row><table:table-cell office:value-type=\"string\">\(paragraphs)</table:table-cell></table:table-row>"
    #expect(
      try books.read(try SheetFiles.ods("<table:table table:name=\"A\">\(row)</table:table>")).text
        == expected + "\n")
  }
}
