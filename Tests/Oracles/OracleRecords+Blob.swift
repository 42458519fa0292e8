import UpsurgeRecords

/// `{"$base64": true, "encoded": "..."}` in either order, which stands for bytes.
extension OracleRecords {
  enum Blob: Equatable {
    case bytes([UInt8])
    case reject(Reject.Code)
  }

  /// - Returns: nil for any other value.
  static func blob(_ value: OracleJSON, _ raw: ArraySlice<UInt8>) -> Blob? {
    guard case .object(let members) = value, members.count == 2 else { return nil }
    // Keys that are written with escapes are those of any object.
    let spelling = String(decoding: raw, as: UTF8.self)
    guard spelling.contains("\"$base64\""), spelling.contains("\"encoded\""),
      let flag = members.first(where: { $0.key == Array("$base64".utf8) }), case .bool(true) = flag.value,
      let encoded = members.first(where: { $0.key == Array("encoded".utf8) }), case .string(let text) = encoded.value
    else { return nil }
    guard let text else { return .reject(.loneSurrogate) }
    return decode(text).map(Blob.bytes) ?? .reject(.badBlob)
  }

  /// RFC 4648, both alphabets, with or without padding; line ends are passed over, and bits that no byte takes are 0.
  private static func decode(_ text: [UInt8]) -> [UInt8]? {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var characters = text.filter { $0 != 0x0A && $0 != 0x0D }
    let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    characters.removeLast(padding)
    guard padding == 0 || characters.count % 4 + padding == 4 else { return nil }
    var bits: [Bool] = []
    for character in characters {
      let plain = character == UInt8(ascii: "-") ? UInt8(ascii: "+") : character == UInt8(ascii: "_") ? UInt8(ascii: "/") : character
      guard let digit = digits.firstIndex(of: plain) else { return nil }
      for place in (0..<6).reversed() { bits.append(digit >> place & 1 == 1) }
    }
    let rest = bits.count % 8
    guard rest < 6, !bits.suffix(rest).contains(true) else { return nil }
    return stride(from: 0, to: bits.count - rest, by: 8).map { start in
      bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
    }
  }
}
