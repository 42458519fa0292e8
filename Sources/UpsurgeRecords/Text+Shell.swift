extension String {
  /// The text as one word of a shell's command line: plain, in single quotes, or, where a terminal cannot show it as it
  /// is, as `$'…'` (POSIX 2024; bash, zsh, ksh).
  ///
  /// It is taken byte by byte: to a shell, an apostrophe with an accent after it is an apostrophe.
  package var quotedForShell: String {
    if escapedForTerminal.utf8.count != utf8.count { return quotedByEscapes }
    let isPlain = utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: Self.plainSigns.contains($0)
      }
    }
    if isPlain && !isEmpty && !hasPrefix("=") { return self }
    var bytes = Array("'".utf8)
    for byte in utf8 {
      if byte == UInt8(ascii: "'") { bytes += #"'\''"#.utf8 } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self) + "'"
  }

  private var quotedByEscapes: String {
    var bytes = Array("$'".utf8)
    for scalar in unicodeScalars {
      let one = String(scalar)
      if scalar == "'" || scalar == "\\" {
        bytes += "\\\(one)".utf8
      } else if one.escapedForTerminal.utf8.elementsEqual(one.utf8) {
        bytes += one.utf8
      } else {
        for byte in one.utf8 {
          let digits = String(byte, radix: 8)
          bytes += "\\\(String(repeating: "0", count: 3 - digits.utf8.count))\(digits)".utf8
        }
      }
    }
    return String(decoding: bytes, as: UTF8.self) + "'"
  }

  private static let plainSigns = Array("-_./:,=+@%".utf8)
}
