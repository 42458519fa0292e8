/// The text of a cell: of one piece, or of runs with formats of their own. How characters are pronounced is no part of it.
struct TextRuns {
  private var bytes: [UInt8] = []
  private var runStart = 0
  private var isInText = false
  private var keepsBlanks = false
  private var phoneticDepth = 0

  var byteCount: Int { bytes.count }

  mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    (isInText, phoneticDepth) = (false, 0)
  }

  mutating func start(_ name: XMLName, _ attributes: XMLAttributes) {
    switch name {
    case "t" where phoneticDepth == 0:
      (isInText, runStart) = (true, bytes.count)
      keepsBlanks = attributes.exactly("xml:space").map { XMLName.equals($0, "preserve") } ?? false
    case "rPh": phoneticDepth += 1
    default: break
    }
  }

  mutating func end(_ name: XMLName) {
    switch name {
    case "t" where isInText:
      isInText = false
      if keepsBlanks { return }
      while bytes.count > runStart, Self.isBlank(bytes[bytes.count - 1]) { bytes.removeLast() }
      var start = runStart
      while start < bytes.count, Self.isBlank(bytes[start]) { start += 1 }
      bytes.removeSubrange(runStart..<start)
    case "rPh": phoneticDepth -= 1
    default: break
    }
  }

  mutating func text(_ text: UnsafeBufferPointer<UInt8>) {
    if isInText { bytes += text }
  }

  /// The whole text, with characters that XML cannot hold in the place of their codes: `_x000D_`.
  mutating func finish() -> [UInt8] { Self.decoded(bytes) }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  static func decoded(_ text: [UInt8]) -> [UInt8] {
    guard text.count >= 7, text.contains(UInt8(ascii: "_")) else { return text }
    var decoded: [UInt8] = []
    var at = 0
    while at < text.count {
      guard var code = code(in: text, at: at) else {
        decoded.append(text[at])
        at += 1
        continue
      }
      var end = at + 7
      // Characters beyond the first 65,536 have two codes.
      if code >> 10 == 0xD800 >> 10, let second = Self.code(in: text, at: end), second >> 10 == 0xDC00 >> 10 {
        code = 0x10000 + (code & 0x3FF) << 10 + second & 0x3FF
        end += 7
      }
      guard code > 0, let scalar = UnicodeScalar(code) else {
        decoded.append(text[at])
        at += 1
        continue
      }
      decoded += Array(String(Character(scalar)).utf8)
      at = end
    }
    return decoded
  }

  /// The number in `_x000D_`; nil for anything else.
  private static func code(in text: [UInt8], at: Int) -> UInt32? {
    guard at + 6 < text.count, text[at] == UInt8(ascii: "_"), text[at + 1] == UInt8(ascii: "x"),
      text[at + 6] == UInt8(ascii: "_")
    else { return nil }
    var code: UInt32 = 0
    for byte in text[(at + 2)..<(at + 6)] {
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
      code = code << 4 | UInt32(digit)
    }
    return code
  }
}
