import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

@testable import UpsurgeInput

@Suite("EncodingDetector: marks, zeros, UTF-8")
struct EncodingDetectorTests {
  private func detect(
    _ bytes: [UInt8], given: TextEncoding = .auto, isWhole: Bool = true, allowsSingleByte: Bool = true
  ) throws -> String {
    let finding = try bytes.withUnsafeBytes {
      try EncodingDetector.detect(
        given, sample: $0, isWhole: isWhole, allowsSingleByte: allowsSingleByte, name: "a.csv")
    }
    return "\(finding.encoding.rawValue) \(finding.markByteCount)"
  }

  private static func utf16(_ text: String, isBigEndian: Bool = false) -> [UInt8] {
    text.utf16.flatMap { unit in
      let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
      return isBigEndian ? bytes.reversed() : bytes
    }
  }

  @Test("names in common use")
  func understandsNames() {
    let table: [(TextEncoding, [String])] = [
      (.utf8, ["utf-8", "UTF8", "utf_8", "utf-8-sig", "ascii", "US-ASCII"]),
      (.utf16, ["utf-16", "UTF16", "ucs-2"]), (.utf16le, ["UTF-16LE", "utf16le", "utf-16-le"]),
      (.utf16be, ["UTF-16BE", "utf_16_be"]),
      (.latin1, ["latin-1", "Latin1", "ISO-8859-1", "iso8859-1", "L1"]),
      (.windows1252, ["windows-1252", "cp1252", "CP-1252", "Windows1252", "ANSI"]),
      (.auto, ["auto", "AUTO"]),
    ]
    for (encoding, names) in table {
      for name in names { #expect(TextEncoding(name: name) == encoding, "\(name)") }
    }
    for name in ["", "utf", "nonsense", "char", "wchar_t", "utf-8//TRANSLIT", "a b"] {
      #expect(TextEncoding(name: name) == nil)
    }
    let others = [
      ("KOI8-R", "koi8-r"), ("windows-1251", "windows-1251"), ("win1251", "cp1251"), ("1251", "cp1251"),
      ("Shift_JIS", "cp932"), ("x-sjis", "cp932"), ("latin-2", "latin2"), ("iso8859_5", "iso8859-5"),
      ("GB18030", "gb18030"), ("gb2312", "cp936"), ("mac_roman", "macintosh"),
    ]
    for (name, known) in others { #expect(TextEncoding(name: name)?.rawValue == known, "\(name)") }
    for name in TextEncoding.commonNames { #expect(TextEncoding(name: name) != nil, "\(name)") }
    for encoding in TextEncoding.allCases { #expect(TextEncoding(name: encoding.rawValue) == encoding) }
  }

  @Test("what is found")
  func detects() throws {
    let half = Array("naïve,caf".utf8) + [0xC3]
    let mostlySound = Array("é,ü,ñ,".utf8) + [0xE9, 0x0A]
    let table: [(what: String, bytes: [UInt8], isWhole: Bool, found: String)] = [
      ("empty", [], true, "utf-8 0"),
      ("ascii", Array("a,b\n".utf8), true, "utf-8 0"),
      ("utf-8", Array("é,猫,😀\n".utf8), true, "utf-8 0"),
      ("only a mark", [0xEF, 0xBB, 0xBF], true, "utf-8 3"),
      ("mark", [0xEF, 0xBB, 0xBF] + Array("a".utf8), true, "utf-8 3"),
      ("mark, then no utf-8", [0xEF, 0xBB, 0xBF, 0xE9], true, "utf-8 3"),
      ("latin-1", [0x61, 0xE9, 0x62], true, "windows-1252 0"),
      ("quotes of 1252", [0x93, 0x61, 0x94], true, "windows-1252 0"),
      ("half a character at the end of a part", half, false, "utf-8 0"),
      ("half a character at the end", Array("caf".utf8) + [0xC3], true, "windows-1252 0"),
      ("one bad place in sound utf-8", mostlySound, true, "utf-8 0"),
      ("overlong", [0xC0, 0xAF], true, "windows-1252 0"),
      ("surrogate in utf-8", [0xED, 0xA0, 0x80], true, "windows-1252 0"),
      ("beyond U+10FFFF", [0xF4, 0x90, 0x80, 0x80], true, "windows-1252 0"),
      ("utf-16le mark", [0xFF, 0xFE, 0x61, 0], true, "utf-16le 2"),
      ("utf-16be mark", [0xFE, 0xFF, 0, 0x61], true, "utf-16be 2"),
      ("only a utf-16 mark", [0xFF, 0xFE], true, "utf-16le 2"),
      ("utf-16le, no mark", Self.utf16("id,name\n1,é\n"), true, "utf-16le 0"),
      ("utf-16be, no mark", Self.utf16("id,name\n1,é\n", isBigEndian: true), true, "utf-16be 0"),
      ("utf-16le, JSON", Self.utf16("[]"), true, "utf-16le 0"),
      (
        "utf-16be, long Chinese", Self.utf16(String(repeating: "编号,姓名\n1,猫\n", count: 50), isBigEndian: true),
        true, "utf-16be 0"
      ),
      (
        "utf-16le, long, odd part", Self.utf16(String(repeating: "a,b\n", count: 99)).dropLast(), false,
        "utf-16le 0"
      ),
      (
        "utf-16le, long, odd", Self.utf16(String(repeating: "a,b\n", count: 99)).dropLast(), true,
        "utf-16le 0"
      ),
      ("one NUL", Array("a,\0\n1,2\n".utf8), true, "utf-8 0"),
      ("NUL at the end", Array("123\0".utf8), true, "utf-8 0"),
      ("padded with NUL", Array("ab\0\0\0\0\0\0,cd\0\0\0\0\0\0\n".utf8), true, "utf-8 0"),
      ("only NUL", [UInt8](repeating: 0, count: 100), true, "utf-8 0"),
      ("NUL fields", Array(String(repeating: "abcdef,\0,ghijk\n", count: 40).utf8), true, "utf-8 0"),
      ("odd NUL", Array("[\0]".utf8), true, "utf-8 0"),
    ]
    for (what, bytes, isWhole, found) in table {
      #expect(try detect(bytes, isWhole: isWhole) == found, "\(what)")
    }
  }

  @Test("JSON is never taken for a single-byte encoding")
  func keepsToUTF8() throws {
    #expect(try detect([0x22, 0xE9, 0x22], allowsSingleByte: false) == "utf-8 0")
    #expect(try detect([0xFF, 0xFE, 0x5B, 0], allowsSingleByte: false) == "utf-16le 2")
    #expect(try detect([0xFF], allowsSingleByte: false) == "utf-8 0")
  }

  @Test("what is given rules, a mark is dropped, and a mark that says otherwise is an error")
  func obeys() throws {
    let latin: [UInt8] = [0x61, 0xE9]
    #expect(try detect(latin, given: .utf8) == "utf-8 0")
    #expect(try detect(latin, given: .latin1) == "latin-1 0")
    #expect(try detect(latin, given: .utf16) == "utf-16le 0")
    #expect(try detect(latin, given: .utf16be) == "utf-16be 0")
    #expect(try detect(Self.utf16("a,b", isBigEndian: true), given: .utf16) == "utf-16be 0")
    #expect(try detect([0xFE, 0xFF, 0, 0x61], given: .utf16) == "utf-16be 2")
    #expect(try detect([0xFE, 0xFF, 0, 0x61], given: .utf16be) == "utf-16be 2")
    #expect(try detect([0xFF, 0xFE, 0, 0], given: .utf16le) == "utf-16le 2")
    #expect(try detect([0xEF, 0xBB, 0xBF, 0x61], given: .utf8) == "utf-8 3")
    let table: [(TextEncoding, [UInt8], String)] = [
      (.latin1, [0xEF, 0xBB, 0xBF], "utf-8"), (.utf16le, [0xFE, 0xFF, 0, 0x61], "utf-16be"),
      (.utf8, [0xFF, 0xFE, 0x61, 0], "utf-16le"), (.utf16, [0xEF, 0xBB, 0xBF], "utf-8"),
    ]
    for (given, bytes, marked) in table {
      let error = try #require(throws: UpsurgeError.self) { try detect(bytes, given: given) }
      #expect(error.code == .badInput)
      #expect(
        error.description
          == "a.csv starts with the byte order mark of \(marked), but --encoding \(given.rawValue) was given\n"
          + "  at a.csv, byte 0\n  fix: --encoding \(marked), or auto")
    }
  }

  @Test("UTF-32 is found by its mark, and contradicts another encoding")
  func findsUTF32() throws {
    for (bytes, name) in [([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "utf-32le"), ([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x61], "utf-32be")]
      as [([UInt8], String)]
    {
      #expect(try detect(bytes) == "\(name) 4")
      #expect(try detect(bytes, given: #require(TextEncoding(name: "utf-32"))) == "\(name) 4")
      #expect(try detect(bytes, given: #require(TextEncoding(name: name))) == "\(name) 4")
      for given in [TextEncoding.utf8, .latin1] {
        let error = try #require(throws: UpsurgeError.self) { try detect(bytes, given: given) }
        #expect(error.message.hasSuffix("the byte order mark of \(name), but --encoding \(given.rawValue) was given"))
      }
    }
  }

  @Test("the census agrees with the standard library on what is UTF-8")
  func validates() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let parts: [[UInt8]] = [
      [0x41], Array("é".utf8), Array("猫".utf8), Array("😀".utf8), [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
      [0xF4, 0x8F, 0xBF, 0xBF], Array("plain ascii text".utf8),
    ]
    for round in 0..<4_000 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0..<8, using: &random) {
        bytes += parts[Int.random(in: 0..<parts.count, using: &random)]
      }
      if round % 2 == 0, !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let isValid = String(validating: bytes, as: UTF8.self) != nil
      let census = bytes.withUnsafeBytes { UTF8Census($0, isWhole: true) }
      #expect((census.badByteCount == 0) == isValid, "seed \(seed): \(bytes)")
      if isValid {
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(census.sequenceCount == text.unicodeScalars.count { $0.value > 0x7F })
        // Cut anywhere, a part of it has nothing bad.
        let isEveryPartGood = (0..<bytes.count).allSatisfy { cut in
          bytes[..<cut].withUnsafeBytes { UTF8Census($0, isWhole: false) }.badByteCount == 0
        }
        #expect(isEveryPartGood, "seed \(seed): \(bytes)")
      }
    }
  }
}
