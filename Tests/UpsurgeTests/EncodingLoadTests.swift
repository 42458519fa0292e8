import TestSupport
import Testing
import Upsurge

/// Files in other encodings than UTF-8, as somebody loads them.
@Suite("Loads of other encodings")
struct EncodingLoadTests {
  let scratch = Scratch()

  private func load(
    _ bytes: [UInt8], encoding: String = "auto", _ change: (inout LoadOptions) -> Void = { _ in }
  ) throws -> RunSummary {
    var options = LoadOptions()
    options.input.encoding = try #require(TextEncoding(name: encoding), "\(encoding)")
    change(&options)
    return LoadJob(
      database: scratch.file("a.db"), table: "t", sources: [scratch.write(bytes, to: "a.csv")], options: options
    ).run()
  }

  private func rows() throws -> [String] { try Database(scratch.file("a.db")).rows("SELECT * FROM t ORDER BY id") }

  @Test(
    "Given, every encoding gives the right text",
    arguments: [
      ("windows-1251", "Сосна, лес"), ("koi8-r", "Берёза"), ("cp866", "Дуб"), ("iso-8859-5", "Ель"),
      ("windows-1250", "Żółw, Łódź"), ("windows-1253", "Αθήνα"), ("windows-1254", "Işık"), ("cp850", "Mélèze"),
      ("iso-8859-15", "5 €"), ("macintosh", "Chêne"), ("shift_jis", "松の森 \\ 表"), ("euc-jp", "桜"), ("gb18030", "松树"),
      ("big5", "臺北"), ("euc-kr", "서울"), ("iso-2022-jp", "東京 A"), ("utf-32", "猫 😀"), ("utf-32be", "猫"),
      ("utf-7", "naïve"), ("cp037", "Muller"), ("tis-620", "กรุงเทพ"), ("windows-1255", "שלום"),
    ])
  func given(encoding: String, name: String) throws {
    let known = encoding == "shift_jis" ? "CP932" : encoding
    let bytes = try #require(Iconv.encode("id;name\n1;\(name)\n2;last\n", as: known))
    let summary = try load(bytes, encoding: encoding)
    #expect(summary.exitCode == 0, "\(summary.error?.description ?? "")")
    #expect(try rows() == ["1|'\(name)'", "2|'last'"])
  }

  @Test("Bytes that are no character reject their record, and nothing else")
  func rejects() throws {
    let bytes =
      try #require(Iconv.encode("id,name\n1,Сосна\n2,", as: "CP1251")) + [0x98]
      + #require(Iconv.encode("\n3,Дуб\n", as: "CP1251"))
    let stopped = try load(bytes, encoding: "windows-1251")
    #expect(stopped.exitCode == 65)
    #expect(stopped.error?.message.contains("field 2 has bytes that are not windows-1251") == true)
    let summary = try load(bytes, encoding: "windows-1251") { $0.rejects.onError = .reject }
    #expect(summary.exitCode == 2 && summary.ledger.rejected == 1)
    #expect(try rows() == ["1|'Сосна'", "3|'Дуб'"])
  }

  @Test("Where the encoding is not certain nothing is made, and following the hint gives the text")
  func refuses() throws {
    let bytes = try #require(Iconv.encode("id,name\n1,Сосна\n2,Берёза\n", as: "CP1251"))
    let summary = try load(bytes)
    #expect(summary.exitCode == 65)
    #expect(summary.error?.hint?.contains("--encoding windows-1251 reads it as \"2,Берёза\"") == true)
    #expect(try Database(scratch.file("a.db")).rows("SELECT * FROM sqlite_master").isEmpty)
    #expect(try load(bytes, encoding: "windows-1251").exitCode == 0)
    #expect(try rows() == ["1|'Сосна'", "2|'Берёза'"])
  }

  @Test("A header with bytes that are no character names no column")
  func header() throws {
    let bytes = Array("id,na".utf8) + [0x98] + Array("me\n1,2\n".utf8)
    let summary = try load(bytes, encoding: "windows-1251")
    #expect(summary.exitCode == 65)
    #expect(summary.error?.message.hasPrefix("field 2 of the header of ") == true)
    #expect(summary.error?.message.hasSuffix(" has bytes that are not windows-1251") == true)
    #expect(try load(bytes, encoding: "windows-1251") { $0.input.csv.columnNames = ["id", "name"] }.exitCode == 0)
    #expect(try load(Array("id,na\u{FFFD}me\n1,2\n".utf8)).exitCode != 65)
  }

  @Test("The command names what is known and what is nearest")
  func unknownName() throws {
    let outcome = try Command.run(["load", scratch.file("a.db"), "t", "-", "--encoding", "window-1251"])
    #expect(outcome.exitCode == 64)
    #expect(outcome.talk.contains("--encoding window-1251 is not known; did you mean windows-1251?"))
  }
}
