import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

/// What is taken for Windows-1252, and what is asked about.
@Suite("EncodingJudge: right, or a question")
struct EncodingJudgeTests {
  static let western = [
    "1,Mélèze,forêt du nord\n2,Chêne,près de l'étang\n3,Érable,allée à côté\n", "1,Müller\n2,Jäger Straße\n3,Größe\n",
    "1,José Muñoz\n2,María Peña\n3,Ángel\n", "1,São João\n2,Conceição\n3,Informações\n",
    "1,Åsa Sjöberg\n2,Malmö\n3,Västerås\n", "1,Søren Kierkegård\n2,Århus\n3,Ærø\n",
    "1,Guðrún Þórsdóttir\n2,Ísafjörður\n3,Ævar\n", "1,Jyväskylä\n2,Äiti työ\n", "1,città\n2,perché più\n3,Forlì\n",
    "1,Zoë\n2,België\n3,coördinatie\n", "1,José\n2,Müller\n3,Søren\n4,François\n5,Zoë\n6,Ñandú\n", "1,café\n",
    "1,Müller\n", "1,Peña\n", "1,São Paulo\n", "1,Øl\n", "1,20°\n", "1,5 €\n", "1,£5\n", "1,“quoted”\n2,it’s\n",
    "1,1990–1995\n", "1,Widget™ ®\n2,½ cup\n3,10 m²\n4,§ 5\n5,µm\n", "1,Õhtu Pärnu\n2,Võru\n",
    "1,CAFÉ\n2,MÜNCHEN\n3,ESPAÑA\n", "1,Seán Ó Súilleabháin\n", "1,Reykjavík\n", "1,Tromsø\n", "1,Curaçao\n",
    "1,Côte d’Ivoire\n2,Réunion\n3,Åland\n4,São Tomé\n", "1,à la carte\n", "1,© 2024 Acme\n", "1,naïve\n", "1,Háttur\n",
  ]

  static let other: [(String, [String])] = [
    (
      "1,Сосна,лес у реки\n2,Берёза,сад\n3,Ель,парк\n",
      ["windows-1251", "koi8-r", "cp866", "iso-8859-5", "mac-cyrillic"]
    ),
    ("1,Иван,Москва\n2,Мария,Киев\n", ["windows-1251", "koi8-r", "cp866", "iso-8859-5"]),
    ("1,Γιώργος,Αθήνα\n2,Ελένη,Θεσσαλονίκη\n", ["windows-1253", "iso-8859-7", "cp737"]),
    ("1,שלום עולם\n2,ירושלים\n", ["windows-1255", "iso-8859-8", "cp862"]),
    ("1,مرحبا بالعالم\n2,القاهرة\n", ["windows-1256", "iso-8859-6"]), ("1,สวัสดี\n2,กรุงเทพมหานคร\n", ["tis-620"]),
    ("1,松,北の森\n2,桜,南の庭\n3,竹,川のそば\n", ["cp932", "euc-jp"]), ("1,田中太郎\n2,カタカナ\n", ["cp932", "euc-jp"]),
    ("1,松树,北边的森林\n2,樱花,南边的花园\n", ["gb18030", "gbk"]), ("1,臺北市\n2,高雄港口\n3,學校\n", ["big5"]),
    ("1,서울특별시\n2,김철수\n3,부산\n", ["euc-kr"]),
    ("1,Jiří Dvořák,Plzeň\n2,Božena Němcová,Děčín\n", ["windows-1250", "iso-8859-2", "cp852"]),
    ("1,Łukasz Wójcik,Łódź\n2,Małgorzata Zielińska,Kraków\n", ["windows-1250", "iso-8859-2", "cp852"]),
    ("1,Erdős Pál,Győr\n2,Szűcs Júlia,Székesfehérvár\n3,Tóth Ödön,Pécs\n", ["windows-1250", "iso-8859-2", "cp852"]),
    ("1,Işıl Yıldız\n2,Şanlıurfa\n3,Diyarbakır\n4,Ağrı Dağı\n", ["windows-1254", "cp857"]),
    ("1,Šiauliai\n2,Klaipėda Žąsis\n3,Kėdainiai ąžuolų\n", ["windows-1257", "iso-8859-13"]),
  ]

  private func find(_ bytes: [UInt8]) throws -> EncodingDetector.Finding {
    try bytes.withUnsafeBytes { try EncodingDetector.detect(sample: $0, isWhole: true, name: "a.csv") }
  }

  @Test("Where another encoding is a little likelier, Windows-1252 is taken, and that is said")
  func close() throws {
    let text = "id,tree,place\n1,Tölgy,északi erdő\n2,Fűz,folyó mellett\n3,Nyír,kert\n4,Bükk,domb\n"
    let bytes = try #require(Iconv.encode(text, as: "CP1250"))
    let found = try find(bytes)
    #expect(found.encoding == .windows1252)
    let doubt = try #require(found.doubt)
    #expect(!doubt.isRefusal && doubt.readings.map(\.name).contains("windows-1250"), "\(doubt)")
  }

  @Test("Western text is Windows-1252, without a question", arguments: western)
  func takes(text: String) throws {
    let bytes = try #require(Iconv.encode("id,name\n" + text, as: "CP1252"))
    let found = try find(bytes)
    #expect(found == EncodingDetector.Finding(encoding: .windows1252, markByteCount: 0), "\(text)")
  }

  @Test("Other text is asked about, and the right encoding is among the answers", arguments: other)
  func asks(text: String, encodings: [String]) throws {
    for encoding in encodings {
      guard let bytes = Iconv.encode("id,name\n" + text, as: encoding) else { continue }
      let doubt = try #require(try find(bytes).doubt, "\(encoding)")
      #expect(doubt.isRefusal, "\(encoding)")
      let right = text.split(separator: "\n").map(String.init)
      #expect(doubt.readings.contains { right.contains($0.line) }, "\(encoding): \(doubt.readings)")
    }
  }

  @Test("Western text of a Mac or of DOS is read as that, and it is said")
  func chooses() throws {
    let text = "id,name\n1,Mélèze,forêt\n2,Chêne\n3,où ça\n4,Müller\n"
    for name in ["cp850", "macintosh"] {
      let found = try find(try #require(Iconv.encode(text, as: name)))
      #expect(found.encoding.rawValue == name)
      let doubt = try #require(found.doubt)
      #expect(!doubt.isRefusal)
      let shown = doubt.readings.map { "\"\($0.line.escapedForTerminal)\" in \($0.name)" }
      #expect(shown.first == "\"1,Mélèze,forêt\" in \(name)")
      #expect(
        doubt.remark("a.csv").text == "a.csv is read in the encoding \(name), as line 2 is \(shown.joined(separator: " and "))"
          + "; --encoding NAME reads it in another one")
    }
  }

  @Test("The refusal shows a line as each encoding reads it")
  func says() throws {
    let bytes = try #require(Iconv.encode("id,name\n1,Дуб\n2,Берёза\n", as: "CP1251"))
    let error = try #require(try find(bytes).doubt).error("a.csv")
    #expect(error.code == .badInput)
    #expect(
      error.description.hasPrefix(
        """
        a.csv is not UTF-8, and its encoding is not certain
          at a.csv, line 3, byte 14
          fix: choose the encoding in which this line is right: --encoding windows-1251 reads it as "2,Берёза"
        """))
  }

  @Test("Escape sequences of Japanese and Korean mail are seen, those of terminals are not")
  func seesEscapes() throws {
    let japanese = try #require(Iconv.encode("id,name\n1,松の森\n", as: "ISO-2022-JP"))
    #expect(try find(japanese).doubt?.readings == [.init(name: "iso-2022-jp", line: "1,松の森")])
    #expect(try find(Array("id,a\n1,\u{1B}[31mred\u{1B}[0m\n".utf8)).doubt == nil)
  }

  @Test("Bytes that Windows-1252 lacks speak against it; one of them among many words does not")
  func holes() throws {
    let bytes: [UInt8] = Array("id,tree\n1,Larch\n2,Fi".utf8) + [0x81] + Array("r\n3,El".utf8) + [0x8D] + Array("m\n".utf8)
    #expect(try find(bytes).doubt != nil)
    let text = Self.western.prefix(11).joined()
    let western = try #require(Iconv.encode(text, as: "CP1252"))
    #expect(try find(western + Array("x".utf8) + [0x90] + Array("\n".utf8)).doubt == nil)
  }

  @Test("UTF-8 and Windows-1252 in one file are asked about")
  func mixed() throws {
    let bytes = Array("1,café\n2,naïve\n3,ö\n".utf8) + [0xE9, 0x0A, 0xE8, 0x0A, 0xE4, 0x0A, 0xF6, 0x0A]
    #expect(try find(bytes).doubt?.readings.map(\.name) == ["utf-8", "windows-1252"])
  }
}
