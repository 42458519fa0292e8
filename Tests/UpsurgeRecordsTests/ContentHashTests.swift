import Testing
import UpsurgeRecords

@Suite("ContentHash: XXH64 with seed 0")
struct ContentHashTests {
  /// Made with the reference implementation (xxHash 0.8).
  static let texts: [(String, UInt64)] = [
    ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("as", 0x1C33_0FB2_D66B_E179),
    ("asd", 0x631C_37CE_72A9_7393), ("asdf", 0x4158_72F5_99CE_A71E), ("abc", 0x44BC_2CF5_AD77_0999),
    ("Call me Ishmael. Some years ago--never mind how long precisely-", 0x02A2_E854_70D6_FD96),
  ]

  @Test("known texts", arguments: texts)
  func hashesTexts(text: String, expected: UInt64) {
    #expect(Array(text.utf8).withUnsafeBytes { ContentHash.hash($0) } == expected)
  }

  /// The buffer and the vectors of the specification's own check: every way through the tail.
  @Test(
    "the vectors of xxHash's sanity check, at every alignment",
    arguments: [
      (1, 0xE934_A84A_DB05_2768), (4, 0x9136_A0DC_A574_57EE), (14, 0x8282_DCC4_994E_35C8),
      (31, 0x299B_39A2_90E6_D783), (32, 0x18B2_1649_2BB4_4B70), (33, 0x55C8_DC3E_578F_5B59),
      (101, 0xA51E_A210_1B2D_114C), (222, 0xB641_AE8C_B691_C174),
    ] as [(Int, UInt64)])
  func hashesBuffers(byteCount: Int, expected: UInt64) {
    var generator: UInt64 = 2_654_435_761
    let content = (0..<byteCount).map { _ in
      defer { generator &*= 11_400_714_785_074_694_797 }
      return UInt8(truncatingIfNeeded: generator >> 56)
    }
    for shift in 0..<9 {
      let shifted = [UInt8](repeating: 0xFF, count: shift) + content
      let hash = shifted.withUnsafeBytes { ContentHash.hash(UnsafeRawBufferPointer(rebasing: $0[shift...])) }
      #expect(hash == expected, "shifted by \(shift)")
    }
  }
}
