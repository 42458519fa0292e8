import UpsurgeRecords

/// What a database takes as text: none takes U+0000, and one that is not in UTF-8 takes few letters.
struct ServerText: Sendable {
  private let isUnicode: Bool

  /// - Parameter encoding: of the database, as the server calls it.
  init(encoding: String) { isUnicode = ["UTF8", "SQL_ASCII"].contains(encoding) }

  /// A text in which a sign stands for each letter that the database does not take.
  func shown(_ text: String) -> String {
    if text.unicodeScalars.allSatisfy(isTaken) { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      shown.append(isTaken(scalar) ? scalar : isUnicode ? "\u{FFFD}" : "?")
    }
    return String(shown)
  }

  /// JSON that means the same; letters outside of ASCII stand only in its texts.
  func json(_ text: String) -> String {
    if isUnicode || text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var escaped = ""
    for unit in text.utf16 {
      if unit < 0x80 {
        escaped.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
      } else {
        let digits = String(unit, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return escaped
  }

  /// A path as text from which it can be had again.
  func path(_ path: String) -> String {
    if isUnicode { return shown(path) }
    var text = ""
    for byte in path.utf8 {
      let isPlain = byte < 0x80 && byte > 0 && byte != UInt8(ascii: "%")
      text += isPlain ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
    }
    return text
  }

  /// The path of a text that `path` gave.
  func path(from text: String) -> String {
    if isUnicode { return text }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let code = UInt8(Substring(rest.prefix(2)), radix: 16) {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Raw bytes as text; nil where they are none that the database takes.
  func text(_ raw: [UInt8]) -> String? {
    guard let text = String(validating: raw, as: UTF8.self), text.unicodeScalars.allSatisfy(isTaken) else {
      return nil
    }
    return text
  }

  private func isTaken(_ scalar: Unicode.Scalar) -> Bool { scalar.value > 0 && (isUnicode || scalar.isASCII) }
}
