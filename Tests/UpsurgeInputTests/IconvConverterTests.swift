import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

@Suite("Encodings of iconv")
struct IconvConverterTests {
  /// A text for each script, with names in which it can be written.
  static let texts: [(text: String, encodings: [String])] = [
    (
      "id,дерево\n1,Сосна у реки\n2,Дуб\n",
      [
        "windows-1251", "koi8-r", "koi8-u", "cp866", "iso-8859-5", "mac-cyrillic", "utf-7", "utf-16be", "utf-32",
        "utf-32le", "gb18030", "euc-jp", "iso-2022-jp", "ucs-4", "ptcp154", "euc-kr",
      ]
    ),
    ("id,όνομα\n1,Γιώργος\n", ["windows-1253", "iso-8859-7", "cp737", "cp869"]),
    ("id,name\n1,Łódź żółć\n", ["windows-1250", "iso-8859-2", "cp852", "iso-8859-16", "mac-centraleurope"]),
    ("id,name\n1,Mélèze à côté\n", ["cp850", "cp437", "macintosh", "iso-8859-15", "ibm037", "cp1140", "ebcdic-fr"]),
    ("id,name\n1,שלום עולם\n", ["windows-1255", "iso-8859-8", "cp862"]),
    ("id,name\n1,مرحبا\n", ["windows-1256", "iso-8859-6"]),
    ("id,name\n1,กรุงเทพ\n", ["tis-620", "cp874"]),
    ("id,name\n1,松の森,カタカナ\n2,東京\n", ["cp932", "euc-jp", "iso-2022-jp", "gb18030", "euc-jisx0213"]),
    ("id,name\n1,北边的森林\n", ["gb18030", "cp936", "euc-cn"]),
    ("id,name\n1,臺北市\n", ["big5", "big5-hkscs", "euc-tw"]),
    ("id,name\n1,서울특별시\n", ["euc-kr", "cp949", "iso-2022-kr", "johab"]),
    ("id,name\n1,Tiếng Việt\n", ["windows-1258", "tcvn", "viscii"]),
  ]

  private func read(_ bytes: [UInt8], _ name: String, pieces: Int = 1 << 16, buffer: Int = 1 << 16) throws -> [UInt8] {
    let encoding = try #require(TextEncoding(name: name), "\(name)")
    let transcoder = try #require(Transcoder(encoding, inputOffset: 0))
    let delivery = drain(
      TranscodingSource(MemorySource(bytes, pieces: pieces), name: "a.csv", transcoder: transcoder), buffer: buffer)
    #expect(delivery.error == nil)
    return delivery.bytes
  }

  @Test("Every piece and buffer gives what iconv gives at once")
  func splits() throws {
    var count = 0
    for (text, encodings) in Self.texts {
      for encoding in encodings {
        guard let bytes = Iconv.encode(text, as: encoding) else { continue }
        guard var expected = Iconv.decode(bytes, from: encoding) else { continue }
        // The line end of EBCDIC.
        if encoding.hasPrefix("ebcdic") || encoding.hasPrefix("ibm") || encoding == "cp1140" {
          expected = Array(text.utf8)
        }
        count += 1
        for pieces in [1, 2, 3, 5, 7, 1 << 16] {
          for buffer in [1, 3, 64, 1 << 16] {
            expectSame(try read(bytes, encoding, pieces: pieces, buffer: buffer), expected, "\(encoding), \(pieces)")
          }
        }
      }
    }
    #expect(count > 35)
  }

  @Test("Bytes that are no character become bytes that are no UTF-8, and what follows is read", arguments: [1, 2, 1 << 16])
  func marks(pieces: Int) throws {
    // Second bytes that are none, bytes of no table, and a character that the end cuts.
    let table: [(String, [UInt8], [UInt8])] = [
      ("cp932", [0x61, 0x81, 0x2C, 0x62, 0x0A], [0x61, 0x81, 0x2C, 0x62, 0x0A]),
      ("cp932", [0x61, 0xFD, 0x62], [0x61, 0xFF, 0x62]),
      ("cp932", [0x61, 0x8F], [0x61, 0x8F]),
      ("windows-1251", [0x98, 0xE0], [0x98] + Array("а".utf8)),
      ("gb18030", [0xCB, 0xC9, 0xFF, 0x0A, 0xCB], Array("松".utf8) + [0xFF, 0x0A, 0xFF]),
      ("euc-kr", [0xC3, 0x0A, 0xA9, 0x0A], [0xFF, 0x0A, 0xA9, 0x0A]),
      ("utf-32le", [0x61, 0, 0, 0, 0, 0xD8, 0, 0, 0x62, 0, 0, 0], [0x61, 0xFF, 0x62]),
    ]
    for (name, bytes, expected) in table {
      for buffer in [1, 64, 1 << 16] {
        expectSame(try read(bytes, name, pieces: pieces, buffer: buffer), expected, "\(name) \(bytes)")
      }
    }
  }

  @Test("A byte that is no character where the room ends")
  func marksAtTheEdge() throws {
    for count in 40..<140 {
      let text = [UInt8](repeating: 0x61, count: count)
      expectSame(try read(text + [0x98], "windows-1251", buffer: 64), text + [0x98], "\(count)")
    }
  }

  @Test("Noise is read alike in all pieces, and ends")
  func survivesNoise() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let names = ["cp932", "gb18030", "big5", "euc-jp", "iso-2022-jp", "cp949", "utf-32", "windows-1255", "ibm037"]
    for round in 0..<400 {
      let noise = (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let name = names[round % names.count]
      let one = try read(noise, name)
      let other = try read(noise, name, pieces: 1 + round % 7, buffer: 1 + round % 90)
      expectSame(one, other, "seed \(seed), \(name) \(noise)")
    }
  }
}
