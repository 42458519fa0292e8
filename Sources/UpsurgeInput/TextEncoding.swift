/// How an input's text is encoded. Everything becomes UTF-8 before it is parsed.
public enum TextEncoding: String, CaseIterable, Sendable {
  /// Whatever the first bytes say.
  case auto
  case utf8 = "utf-8"
  /// UTF-16 in the byte order of its mark; without a mark, the order that the first bytes suggest.
  case utf16 = "utf-16"
  case utf16le = "utf-16le"
  case utf16be = "utf-16be"
  /// ISO 8859-1.
  case latin1 = "latin-1"
  /// As browsers read it: the five bytes without a meaning become control characters.
  case windows1252 = "windows-1252"

  /// Understands the names in common use, in any case, with or without `-`, `_` and spaces:
  /// `UTF8`, `iso-8859-1`, `cp1252`, `ascii`.
  public init?(name: String) {
    let separators = "-_ .".unicodeScalars
    let plain = String(
      String.UnicodeScalarView(name.lowercased().unicodeScalars.filter { !separators.contains($0) }))
    switch plain {
    case "auto": self = .auto
    case "utf8", "utf8sig", "utf8bom", "ascii", "usascii": self = .utf8
    case "utf16", "ucs2", "unicode": self = .utf16
    case "utf16le", "ucs2le": self = .utf16le
    case "utf16be", "ucs2be": self = .utf16be
    case "latin1", "l1", "iso88591", "88591": self = .latin1
    case "windows1252", "win1252", "cp1252", "1252", "ansi": self = .windows1252
    default: return nil
    }
  }

  var isUTF16: Bool { self == .utf16 || self == .utf16le || self == .utf16be }
}
