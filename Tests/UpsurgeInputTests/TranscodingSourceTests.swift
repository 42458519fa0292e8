import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("TranscodingSource: UTF-16, Latin-1 and Windows-1252 to UTF-8")
struct TranscodingSourceTests {
  static let encodings: [TextEncoding] = [.utf16le, .utf16be, .latin1, .windows1252]

  private func transcode(
    _ bytes: [UInt8], _ encoding: TextEncoding, pieces: Int = 1 << 16, buffer: Int = 1 << 16
  ) throws -> Delivery {
    let transcoder = try #require(Transcoder(encoding, inputOffset: 0))
    let source = MemorySource(bytes, pieces: pieces)
    return drain(TranscodingSource(source, name: "a.csv", transcoder: transcoder), buffer: buffer)
  }

  private static func encode(_ units: [UInt16], _ encoding: TextEncoding) -> [UInt8] {
    units.flatMap { unit in
      let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
      return encoding == .utf16be ? bytes.reversed() : bytes
    }
  }

  @Test(
    "UTF-16 of every plane, in pieces and buffers of every size", arguments: [TextEncoding.utf16le, .utf16be])
  func transcodesUTF16(encoding: TextEncoding) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let bounds: [ClosedRange<UInt32>] = [
      0...0x7F, 0x20...0x7E, 0x20...0x7E, 0x80...0x7FF, 0x800...0xD7FF, 0xE000...0xFFFF, 0x10000...0x10FFFF,
    ]
    for round in 0..<60 {
      var text = String.UnicodeScalarView()
      while text.count < 300 {
        let bound = bounds[Int.random(in: 0..<bounds.count, using: &random)]
        for _ in 0..<Int.random(in: 1..<12, using: &random) {
          if let scalar = Unicode.Scalar(UInt32.random(in: bound, using: &random)) { text.append(scalar) }
        }
      }
      let bytes = Self.encode(Array(String(text).utf16), encoding)
      let expected = Array(String(text).utf8)
      for pieces in [1, 2, 3, 5, 8, 1 << 16] {
        let delivery = try transcode(
          bytes, encoding, pieces: pieces, buffer: [1, 2, 3, 4, 5, 7, 64, 1 << 16][round % 8])
        #expect(delivery.error == nil)
        expectSame(delivery.bytes, expected, "seed \(seed), round \(round), pieces of \(pieces)")
      }
    }
  }

  @Test("every unit of UTF-16 agrees with the standard library")
  func transcodesEveryUnit() throws {
    for unit in UInt16(0)..<0xFFFF where !(0xD800...0xDFFF ~= unit) {
      let step = Self.encode([unit], .utf16le).withUnsafeBytes { input in
        var output = [UInt8](repeating: 0, count: 4)
        var transcoder = Transcoder(.utf16le, inputOffset: 0)
        let step = output.withUnsafeMutableBytes { transcoder?.transcode(input, into: $0) }
        return Array(output[..<(step?.produced ?? 0)])
      }
      if step != Array(String(decoding: [unit], as: UTF16.self).utf8) { Issue.record("unit \(unit)") }
    }
  }

  @Test(
    "half a surrogate pair is an error with its place, at every border", arguments: [1, 2, 3, 4, 7, 1 << 16])
  func refusesLoneSurrogates(pieces: Int) throws {
    let table: [(units: [UInt16], unit: String, rawOffset: Int)] = [
      ([0xDC00], "DC00", 0), ([0x61, 0xDFFF, 0x62], "DFFF", 2), ([0xD83D, 0x61], "D83D", 0),
      ([0x61, 0x62, 0x63, 0x64, 0xD800, 0xD83D, 0xDE00], "D800", 8),
      ([0xD83D, 0xDE00, 0xDE00], "DE00", 4), ([0x61, 0xD83D], "D83D", 2),
      ([0xE9, 0xD83D, 0xD83D], "D83D", 2),
    ]
    for encoding in [TextEncoding.utf16le, .utf16be] {
      for (units, unit, rawOffset) in table {
        let delivery = try transcode(Self.encode(units, encoding), encoding, pieces: pieces)
        let good = Array(String(decoding: units.prefix(rawOffset / 2), as: UTF16.self).utf8)
        expectSame(delivery.bytes, good)
        #expect(delivery.error?.code == .badInput)
        #expect(
          delivery.error?.description
            == "a.csv holds half a surrogate pair (\(unit)) at byte \(rawOffset) of the UTF-16 text, which stands "
            + "for no character\n  at a.csv, byte \(good.count)\n"
            + "  fix: correct the text there, or name its true encoding with --encoding")
      }
    }
  }

  @Test("UTF-16 that ends inside a character is an error", arguments: [1, 2, 3, 1 << 16])
  func refusesHalfUnits(pieces: Int) throws {
    for (bytes, offset) in [([0x61, 0, 0x62], 2), ([0x61], 0), ([0x61, 0, 0x3D, 0xD8, 0], 4)]
      as [([UInt8], Int)]
    {
      let delivery = try transcode(bytes, .utf16le, pieces: pieces)
      #expect(
        delivery.error?.message == "a.csv ends inside a character, at byte \(offset) of the UTF-16 text")
    }
  }

  @Test("every byte of Latin-1 is the character of its number", arguments: [1, 2, 3, 4, 7, 1 << 16])
  func transcodesLatin1(size: Int) throws {
    let all = (0...255).map { UInt8($0) } + Array("plain ascii text\n".utf8) + [0xFF]
    let expected = all.flatMap { Array(String(Unicode.Scalar($0)).utf8) }
    try expectSame(transcode(all, .latin1, pieces: size).bytes, expected)
    try expectSame(transcode(all, .latin1, buffer: size).bytes, expected)
  }

  @Test(
    "Windows-1252 agrees with iconv, and its five holes stay bytes that no UTF-8 has", arguments: [1, 3, 1 << 16])
  func transcodesWindows1252(size: Int) throws {
    let converter = iconv_open("UTF-8", "CP1252")
    defer { iconv_close(converter) }
    var expected: [UInt8] = []
    for byte in UInt8(0)...255 {
      if [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains(byte) {
        expected.append(byte)
        continue
      }
      var input = [CChar(bitPattern: byte)]
      var output = [CChar](repeating: 0, count: 4)
      let left = input.withUnsafeMutableBufferPointer { inputBuffer in
        output.withUnsafeMutableBufferPointer { outputBuffer in
          var (from, to) = (inputBuffer.baseAddress, outputBuffer.baseAddress)
          var (fromLeft, toLeft) = (1, 4)
          #expect(iconv(converter, &from, &fromLeft, &to, &toLeft) == 0)
          return toLeft
        }
      }
      expected += output.prefix(4 - left).map { UInt8(bitPattern: $0) }
    }
    let all = (0...255).map { UInt8($0) }
    try expectSame(transcode(all, .windows1252, pieces: size).bytes, expected)
    try expectSame(transcode(all, .windows1252, buffer: size).bytes, expected)
  }

  @Test("noise never traps and never gives anything but UTF-8", arguments: encodings)
  func survivesNoise(encoding: TextEncoding) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<500 {
      let noise = (0..<Int.random(in: 0..<100, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let one = try transcode(noise, encoding, pieces: 1 + round % 7, buffer: 1 + round % 11)
      let other = try transcode(noise, encoding)
      if encoding != .windows1252 {
        #expect(String(validating: one.bytes, as: UTF8.self) != nil, "seed \(seed)")
      }
      expectSame(one.bytes, other.bytes, "seed \(seed)")
      #expect(one.error?.description == other.error?.description, "seed \(seed)")
    }
  }
}
