/// Base64 (RFC 4648, section 4), for bytes that are no text.
package enum Base64 {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group = 0
      for index in 0..<3 { group = group << 8 | (index < count ? Int(bytes[start + index]) : 0) }
      for index in 0..<4 {
        let isPadding = index > count
        text.append(isPadding ? UInt8(ascii: "=") : digits[group >> (18 - 6 * index) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text that `encode` made.
  /// - Returns: nil for anything else.
  package static func decode(_ text: String) -> [UInt8]? {
    var bytes = Array(text.utf8)
    guard bytes.count % 4 == 0, !bytes.contains(where: isOnlyTolerated) else { return nil }
    let count = bytes.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      return decode(start, count: buffer.count, into: start, dropsLastBits: true)
    }
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  /// Decodes both alphabets (sections 4 and 5), with or without padding; line ends between digits are passed over. Four
  /// digits make three bytes, so that `output` may be where the text lies.
  /// - Parameter dropsLastBits: whether a last group may have bits that belong to no byte; else they must be 0, so that no
  ///   text loses any.
  /// - Returns: the number of bytes; -1 for anything else.
  package static func decode(
    _ start: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>,
    dropsLastBits: Bool = false
  ) -> Int {
    var written = 0
    var bits: UInt32 = 0
    var digitCount = 0
    var paddingCount = 0
    for index in 0..<count {
      let byte = start[index]
      if byte == 0x0A || byte == 0x0D { continue }
      if byte == UInt8(ascii: "=") {
        paddingCount += 1
        continue
      }
      let digit = value(of: byte)
      if digit > 63 || paddingCount > 0 { return -1 }
      bits = bits << 6 | UInt32(digit)
      digitCount += 1
      if digitCount & 3 == 0 {
        output[written] = UInt8(truncatingIfNeeded: bits >> 16)
        output[written + 1] = UInt8(truncatingIfNeeded: bits >> 8)
        output[written + 2] = UInt8(truncatingIfNeeded: bits)
        written += 3
      }
    }
    let rest = digitCount & 3
    if paddingCount > 0 && (rest == 0 || paddingCount != 4 - rest) { return -1 }
    switch rest {
    case 0: return written
    case 2 where bits & 0xF == 0 || dropsLastBits:
      output[written] = UInt8(truncatingIfNeeded: bits >> 4)
      return written + 1
    case 3 where bits & 0x3 == 0 || dropsLastBits:
      output[written] = UInt8(truncatingIfNeeded: bits >> 10)
      output[written + 1] = UInt8(truncatingIfNeeded: bits >> 2)
      return written + 2
    default: return -1
    }
  }

  /// Whether `encode` never writes a byte that other writers of base64 do.
  private static func isOnlyTolerated(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == 0x0A || byte == 0x0D
  }

  @inline(__always)
  private static func value(of digit: UInt8) -> UInt8 {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit &- UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit &- UInt8(ascii: "a") &+ 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0") &+ 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: 0xFF
    }
  }
}
