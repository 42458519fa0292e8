extension String {
  /// The text with control characters made visible, so that data can be shown on a terminal: `a\u{1B}` -> `a\x1B`.
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
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
