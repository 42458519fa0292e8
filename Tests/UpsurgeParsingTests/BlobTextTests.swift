import Foundation
import TestSupport
import Testing

@testable import UpsurgeParsing

@Suite("Text of BLOBs")
struct BlobTextTests {
  /// Decodes in place, as the parser does with what it has unescaped; nil for text that is refused.
  private func decode(_ encoding: BlobEncoding, _ text: String) -> [UInt8]? {
    var bytes = Array(text.utf8) + [0]
    let count = bytes.withUnsafeMutableBufferPointer { buffer -> Int in
      guard let start = buffer.baseAddress else { return -1 }
      return BlobText.decode(encoding, start, count: buffer.count - 1, into: start)
    }
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  @Test("Every length of random bytes comes back, whatever the alphabet and the padding")
  func roundTrip() {
    var generator = SeededGenerator(seed: 7)
    for count in 0...300 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let padded = Data(bytes).base64EncodedString()
      let bare = padded.replacingOccurrences(of: "=", with: "")
      let url = bare.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      let lines = Data(bytes).base64EncodedString(options: [
        .lineLength64Characters, .endLineWithCarriageReturn,
      ])
      for text in [padded, bare, url, lines] { #expect(decode(.base64, text) == bytes, "\(text)") }
      let hex = bytes.map { String(format: "%02x", $0) }.joined()
      for text in [hex, hex.uppercased(), "\\x" + hex, "0x" + hex] {
        #expect(decode(.hex, text) == bytes, "\(text)")
      }
    }
  }

  @Test(
    "What is not of the encoding is refused, never cut",
    arguments: [
      (BlobEncoding.base64, "a"), (.base64, "aGVsbG8"), (.base64, "aGVsbG9="), (.base64, "aGVs="),
      (.base64, "=aGV"),
      (.base64, "aGVsb G8="), (.base64, "aGVsbG8=="), (.base64, "aGVsbG8=a"), (.base64, "ä"),
      (.base64, "===="),
      (.hex, "a"), (.hex, "0g"), (.hex, "0x1"), (.hex, "\\"), (.hex, "ab cd"), (.hex, "x'00'"),
    ])
  func refused(encoding: BlobEncoding, text: String) {
    // "aGVsbG8" is fine without padding; the others are not.
    if text == "aGVsbG8" {
      #expect(decode(encoding, text) == Array("hello".utf8))
    } else {
      #expect(decode(encoding, text) == nil)
    }
  }
}
