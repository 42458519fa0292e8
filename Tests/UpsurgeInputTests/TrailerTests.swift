import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeInput

@Suite("The last line of a text that is no record") struct TrailerTests {
  @Test(
    "Patterns",
    arguments: [
      ("END", "END", 0, true), ("END", "END ", 0, false), ("END", "", 0, false), ("{count}", "12", 12, true),
      ("{count}", "", 0, false), ("{count}", "-1", 0, false), ("{count}", "12x", 0, false),
      ("TRL|*|{count}", "TRL|2026-11-22|0001200", 1_200, true), ("TRL|*|{count}", "TRL|a|b|7", 7, true),
      ("TRL|*|{count}", "TRL||7", 7, true), ("TRL|*|{count}", "TRL|7", 0, false),
      ("*{count}", "END 1200", 1_200, true), ("*{count}*END*", "7 8 END 9", 7, true),
      ("*a*b", "xaab", 0, true), ("*a*b", "xaabc", 0, false), ("**END", "END", 0, true),
      ("{count} rows", "18446744073709551615 rows", UInt64.max, true),
      ("{count} rows", "18446744073709551616 rows", 0, false), ("{count", "{count", 0, true),
    ])
  func patterns(text: String, line: String, count: UInt64, fits: Bool) throws {
    let match = try #require(TrailerPattern(text)).match(Array(line.utf8))
    #expect((match != nil) == fits)
    #expect(match?.count ?? 0 == count)
  }

  @Test(
    "What could stand for any line is no pattern",
    arguments: ["", "*", "**", "{count}{count}", "a\nb", "a\r"])
  func noPattern(text: String) { #expect(TrailerPattern(text) == nil) }

  @Test("Many stars cost no more than the line and the pattern")
  func stars() throws {
    let pattern = try #require(TrailerPattern(String(repeating: "*a", count: 200) + "b"))
    #expect(pattern.match(Array(repeating: UInt8(ascii: "a"), count: 4_000)) == nil)
  }

  private static let pattern = TrailerPattern("END {count}")!
  private static let body = Compressing.table(300_000, seed: 5)

  private func open(_ path: String, sampleByteCount: Int) throws(UpsurgeError) -> OpenedSource {
    var options = OpenedSource.Options()
    options.sampleByteCount = sampleByteCount
    options.trailer = Self.pattern
    return try OpenedSource(name: path, options: options)
  }

  @Test(
    "The text in front of it is delivered, however it comes", arguments: ["plain", "zstd", "gzip", "utf-16"])
  func delivers(kind: String) throws {
    let folder = try TemporaryFolder()
    for (bodyByteCount, end) in [
      (300_000, "\n"), (300_000, ""), (4_090, "\r\n\n"), (4_096, "\n"), (0, "\n"), (3, "\n"),
    ] {
      var body = Array(Self.body.prefix(bodyByteCount))
      if !body.isEmpty { body[body.count - 1] = 0x0A }
      let text = body + Array("END 12\(end)".utf8)
      let bytes: [UInt8] =
        switch kind {
        case "zstd": Compressing.zstd(text)
        case "gzip": Compressing.gzip(text)
        case "utf-16":
          [0xFF, 0xFE]
            + String(decoding: text, as: UTF8.self).utf16.flatMap {
              [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)]
            }
        default: text
        }
      let path = try folder.write("feed", bytes)
      for sampleByteCount in [512, 4_099, 299_990, 1 << 20] {
        for buffer in [7, 1 << 16] {
          let source = try open(path, sampleByteCount: sampleByteCount)
          let words = "\(kind), \(bodyByteCount) bytes, sample \(sampleByteCount), buffer \(buffer)"
          let delivery = drain(source, buffer: buffer)
          #expect(delivery.error == nil, "\(words)")
          expectSame(delivery.bytes, body, "\(words)")
          #expect(source.decodedByteCount == source.startOffset + UInt64(body.count), "\(words)")
          try source.checkTrailer(recordCount: 12)
          let error = try #require(throws: UpsurgeError.self) { try source.checkTrailer(recordCount: 11) }
          #expect(error.message.contains("it has 11 records, and its last line says 12"))
        }
      }
    }
  }

  @Test("It is found behind the place at which a run goes on", arguments: ["plain", "zstd", "utf-16"])
  func goesOn(kind: String) throws {
    let body = Self.body
    let text = body + Array((body.last == 0x0A ? "" : "\n").utf8) + Array("END 12\n".utf8)
    let bytes: [UInt8] =
      switch kind {
      case "zstd": Compressing.zstd(text)
      case "utf-16":
        [0xFF, 0xFE]
          + String(decoding: text, as: UTF8.self).utf16.flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)]
          }
      default: text
      }
    let folder = try TemporaryFolder()
    let path = try folder.write("feed", bytes)
    for byte in [0, 5_000, 299_000] {
      let source = try open(path, sampleByteCount: 1_000)
      try source.seek(to: UInt64(byte), from: SourceAnchor())
      expectSame(drain(source).bytes, text.dropLast(7)[byte...], "\(kind) from \(byte)")
      try source.checkTrailer(recordCount: 12)
    }
  }

  @Test(
    "A text whose last line is another one is cut",
    arguments: [
      "", "\n", "END", "END x", "a\nEND 12\nb\n", "END 12 and more",
      // Longer than any trailer, although its end is one.
      "a\n" + String(repeating: "x", count: 10_000) + "END 12\n",
    ])
  func cut(text: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("feed", Array(text.utf8))
    for sampleByteCount in [512, 1 << 20] {
      let error = try #require(throws: UpsurgeError.self) {
        let delivery = drain(try open(path, sampleByteCount: sampleByteCount))
        if let error = delivery.error { throw error }
      }
      #expect(error.code == .badInput && error.message.contains("its last line is no trailer END {count}"))
    }
  }
}
