import UpsurgeInput
import UpsurgeRecords

/// Text of another encoding becomes the UTF-8 that Swift's own decoders make of it.
enum TextInput {
  static func compare(_ input: inout FuzzInput, _ reading: SourceFuzz.Reading) throws {
    var options = OpenedSource.Options()
    options.encoding = input.pick(TextEncoding.allCases)
    options.allowsSingleByteEncodings = input.flag()
    options.compression = .none
    options.sampleByteCount = 512 + input.byte()
    let bytes = input.rest()
    MemoryFile.shared.write(bytes)
    let one = try SourceFuzz.openedDelivery(options, 1 << 16)
    let other = try SourceFuzz.openedDelivery(options, reading.bufferByteCount)
    try expect(
      one.bytes == other.bytes && one.error?.description == other.error?.description,
      "\(one.bytes.count) and \(other.bytes.count) bytes, \(one.error?.description ?? "no error") and "
        + "\(other.error?.description ?? "no error"), \(options), \(reading)")
    guard let expected = decoded(bytes, options.encoding) else { return }
    // Found out at the start of a longer text, an error comes later and the rest stays as it was.
    if let text = expected {
      try expect(one.isWhole, "\(one.error?.description ?? ""), but it is \(options.encoding)")
      try expect(one.bytes == text, "\(options): \(one.bytes) instead of \(text)")
    } else {
      try expect(!one.isWhole, "no error, but it is not \(options.encoding)")
    }
  }

  /// nil where it is not for us to say; nil inside where the text is none.
  private static func decoded(_ bytes: [UInt8], _ encoding: TextEncoding) -> [UInt8]?? {
    let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF], [0, 0, 0xFE, 0xFF]]
    if marks.contains(where: { bytes.starts(with: $0) }) { return .none }
    switch encoding {
    case .auto, .utf16, .named: return .none
    // The parser says where it is not UTF-8.
    case .utf8: return .some(bytes)
    case .latin1: return .some(Array(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).utf8))
    case .windows1252:
      return bytes.allSatisfy { !(0x80...0x9F).contains($0) } ? decoded(bytes, .latin1) : .none
    case .utf16le, .utf16be:
      if bytes.count % 2 == 1 { return .some(nil) }
      let isBig = encoding == .utf16be
      let units = stride(from: 0, to: bytes.count, by: 2).map {
        UInt16(bytes[$0 + (isBig ? 0 : 1)]) << 8 | UInt16(bytes[$0 + (isBig ? 1 : 0)])
      }
      return .some(String(validating: units, as: UTF16.self).map { Array($0.utf8) })
    }
  }
}
