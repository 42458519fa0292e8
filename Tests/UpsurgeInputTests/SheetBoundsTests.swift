import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

/// What a sheet may take in memory, and on the disk.
@Suite("Sheets: bounds", .enabled(if: SheetBooks.areRead, "\(SheetBooks.need)"))
struct SheetBoundsTests {
  let books: SheetBooks

  init() throws { books = try SheetBooks() }

  @Test(
    "Texts that do not fit in memory are read from a file, and are those of a load with more",
    arguments: [1, 2, 3] as [UInt64])
  func texts(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let lengths = [0, 1, 20, 127, 128, 129, 4000]
    let strings = (0..<2000).map { number in
      "\(number) "
        + String(
          repeating: "ä", count: number % 50 == 0 ? lengths.randomElement(using: &random)! / 2 : number % 30)
    }
    // In their order first, as programs write them, and then in none.
    let order =
      Array(strings.indices) + (0..<4000).map { _ in strings.indices.randomElement(using: &random)! }
    let rows = order.map { "<row><c t=\"s\"><v>\($0)</v></c></row>" }.joined()
    let book = try SheetFiles.xlsx(SheetBooks.rows(rows), strings: strings.map { "<t>\($0)</t>" })
    let expected = order.map { strings[$0] + "\n" }.joined()
    let made = Guarded(0)
    let archives = OpenArchives(textByteLimit: 20_000) {
      made.withLock { $0 += 1 }
      return OpenArchives.temporarySpool()
    }
    #expect(
      try books.read(book, archives: archives).text.replacing(" \n", with: "\n")
        == expected.replacing(" \n", with: "\n"))
    #expect(made.withLock { $0 } == 1)
    #expect(archives.reservedByteCount == 20_000)
    #expect(try books.read(book).text.replacing(" \n", with: "\n") == expected.replacing(" \n", with: "\n"))
  }

  @Test("A disk without room ends a load in words")
  func noRoom() throws {
    let strings = (0..<4000).map { "<t>text \($0)</t>" }
    let book = try SheetFiles.xlsx(SheetBooks.rows(""), strings: strings)
    let folder = books.folder.path
    let archives = OpenArchives(textByteLimit: 20_000) { SpoolFile(in: folder, for: .texts) { 0 } }
    let message = books.message(book, archives: archives)
    #expect(message.contains("have no room outside of the memory: it needs 1MiB in "))
    #expect(message.contains("make room there; or raise --memory, so that they fit in it"))
  }

  @Test("Texts, rows and lists beyond the bounds are refused")
  func refused() throws {
    let bound = OpenArchives(textByteLimit: 20_000)
    let text = String(repeating: "x", count: 30_000)
    let long = try SheetFiles.xlsx(SheetBooks.rows(""), strings: ["<t>\(text)</t>"])
    #expect(books.message(long, archives: bound).contains("take more than 1MiB, a sixteenth of --memory"))
    let many = try SheetFiles.xlsx(
      SheetBooks.rows(""), strings: Array(repeating: "<t>\(text.prefix(4000))</t>", count: 400))
    #expect(books.message(many, archives: bound).contains("take more than 2MiB, sixteen times --memory"))
    for cell in ["<c t=\"inlineStr\"><is><t>\(text)</t></is></c>", "<c t=\"str\"><v>\(text)</v></c>"] {
      let book = try SheetFiles.xlsx(SheetBooks.rows("<row>\(cell)</row>"))
      #expect(books.message(book, archives: bound).contains("the cells of row 1 of"))
    }
    let wide = "<row>\(String(repeating: "<c t=\"str\"><v>\(text.prefix(1000))</v></c>", count: 16))</row>"
    #expect(
      books.message(try SheetFiles.xlsx(SheetBooks.rows(wide)), archives: bound).contains(
        "the cells of row 1 of"))
    let sheets = (0..<300).map { SheetFiles.Sheet("Sheet \($0)", "") }
    #expect(books.message(try SheetFiles.xlsx(sheets), archives: bound).contains("the names of the parts of"))
    let runs = String(repeating: "<text:s text:c=\"32767\"/>", count: 9)
    let blanks =
      "<table:table-row><table:table-cell><text:p>\(runs)</text:p></table:table-cell></table:table-row>"
    let book = try SheetFiles.ods("<table:table table:name=\"A\">\(blanks)</table:table>")
    #expect(books.message(book, archives: bound).contains("the cells of row 1 of"))
  }

  @Test("Rows and cells that are repeated: empty ones are nothing, others are bounded")
  func repeated() throws {
    func book(_ rows: String) throws -> [UInt8] {
      try SheetFiles.ods("<table:table table:name=\"A\">\(rows)</table:table>")
    }
    let empty =
      "<table:table-row table:number-rows-repeated=\"9999999999999\">"
      + "<table:table-cell table:number-columns-repeated=\"9999999999999\"/></table:table-row>"
    let one =
      "<table:table-row><table:table-cell office:value-type=\"float\" office:value=\"1\"/>"
      + "<table:table-cell table:number-columns-repeated=\"16383\"/></table:table-row>"
    #expect(try books.read(try book(one + String(repeating: empty, count: 20))).text == "1\n")
    #expect(books.message(try book(one + empty + one)).contains("there are more than 1048576 rows"))
    let late = "<table:table-row table:number-rows-repeated=\"1048574\"><table:table-cell/></table:table-row>"
    #expect(
      try books.read(try book(one + late + one)).text == "1\n" + String(repeating: "\n", count: 1_048_574)
        + "1\n")
    let filled =
      "<table:table-row table:number-rows-repeated=\"300000\">"
      + "<table:table-cell office:value-type=\"float\" office:value=\"1\" table:number-columns-repeated=\"3\"/></table:table-row>"
    #expect(try books.read(try book(filled)).text == String(repeating: "1\t1\t1\n", count: 300_000))
    let wide =
      "<table:table-row>"
      + "<table:table-cell table:number-columns-repeated=\"99999999\" office:value-type=\"float\" office:value=\"1\"/></table:table-row>"
    #expect(books.message(try book(wide)).contains("more than 16384 cells"))
    let cell =
      "<table:table-cell office:value-type=\"string\" office:string-value=\"\(String(repeating: "x", count: 30_000))\"/>"
    let bomb = "<table:table-row table:number-rows-repeated=\"1048576\">\(cell)</table:table-row>"
    #expect(books.message(try book(bomb)).contains("grows like a decompression bomb"))
  }
}
