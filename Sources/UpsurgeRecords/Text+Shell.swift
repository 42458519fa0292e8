extension String {
  /// The text as one word of a POSIX shell's command line.
  package var quotedForShell: String {
    let isPlain = utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: Self.plainSigns.contains($0)
      }
    }
    if isPlain && !isEmpty && !hasPrefix("=") { return self }
    return "'" + replacing("'", with: #"'\''"#) + "'"
  }

  private static let plainSigns = Array("-_./:,=+@%".utf8)
}
