extension String {
  /// The text with control characters made visible, so that data can be shown on a terminal: `a\u{1B}` -> `a\x1B`.
  /// Marks that turn the direction of writing would let text seem to say something else: `\u{202E}`.
  package var escapedForTerminal: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x0A: text += "\\n"
      case 0x0D: text += "\\r"
      case 0x09: text += "\\t"
      case 0..<0x20, 0x7F..<0xA0:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        text += "\\x" + (digits.utf8.count == 1 ? "0" : "") + digits
      case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
        text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
