import CScan
import TestSupport
import Testing

/// The UTF-8 check against the standard library's.
@Suite struct UTF8Tests {
  static func check(_ bytes: [UInt8]) -> upsurge_utf8_result {
    bytes.withUnsafeBufferPointer { buffer in
      upsurge_validate_utf8(buffer.baseAddress ?? UnsafePointer(bitPattern: 1)!, buffer.count)
    }
  }

  static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }

  /// Every sequence of one and two bytes, and of three and four bytes with each byte at the borders of the ranges.
  @Test func everyShortSequence() {
    let borders: [UInt8] = [
      0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
      0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]
    var failures: [[UInt8]] = []
    func judge(_ bytes: [UInt8]) {
      if (Self.check(bytes).valid_count == bytes.count) != Self.isValid(bytes) { failures.append(bytes) }
    }
    for a in UInt8.min ... .max {
      judge([a])
      for b in UInt8.min ... .max { judge([a, b]) }
    }
    for a in borders where a >= 0xC0 {
      for b in borders {
        for c in borders {
          judge([a, b, c])
          for d in borders { judge([a, b, c, d]) }
        }
      }
    }
    #expect(failures.isEmpty, "\(failures.prefix(5))")
  }

  @Test func everyScalar() {
    var failures: [UInt32] = []
    for value in stride(from: UInt32(0), through: 0x11_FFFF, by: 1) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let bytes = Array(String(scalar).utf8)
      if Self.check(bytes).valid_count != bytes.count { failures.append(value) }
    }
    #expect(failures.isEmpty)
  }

  @Test(arguments: [
    ([0x61, 0xC3], 1, true), ([0xE2, 0x82], 0, true), ([0xF0, 0x9F, 0x98], 0, true), ([0xF0], 0, true),
    ([0x61, 0xC3, 0xA9], 3, false), ([0xE0, 0x80], 0, false), ([0xED, 0xA0], 0, false), ([0xF4, 0x90], 0, false),
    ([0xC0], 0, false), ([0xF5], 0, false), ([0xC3, 0x28], 0, false), ([0x80], 0, false), ([], 0, false),
  ] as [([UInt8], Int, Bool)])
  func tail(bytes: [UInt8], validCount: Int, isIncomplete: Bool) {
    let result = Self.check(bytes)
    #expect(result.valid_count == validCount)
    #expect((result.is_tail_incomplete != 0) == isIncomplete)
  }

  /// Bad bytes at every place of long ASCII and mixed text, at every alignment.
  @Test func badBytesAnywhere() {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let words = ["a", "bcdefgh", "é", "漢字", "😀", "plain ascii text that is long"]
    for _ in 0..<300 {
      var text = ""
      while text.utf8.count < Int.random(in: 0...200, using: &generator) {
        text += words.randomElement(using: &generator) ?? ""
      }
      var bytes = Array(text.utf8)
      #expect(Self.check(bytes).valid_count == bytes.count)
      guard !bytes.isEmpty else { continue }
      bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      let result = Self.check(bytes)
      // The longest valid prefix, and nothing longer.
      let valid = bytes.indices.reversed().first { Self.isValid(bytes[...$0]) }.map { $0 + 1 } ?? 0
      #expect(Int(result.valid_count) == valid, "seed \(seed): \(bytes)")
    }
  }
}
