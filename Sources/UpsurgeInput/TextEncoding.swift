/// How an input's text is encoded. Everything becomes UTF-8 before it is parsed.
public enum TextEncoding: Hashable, Sendable {
  /// Whatever the first bytes say.
  case auto
  case utf8
  /// UTF-16 in the byte order of its mark; without a mark, the order that the first bytes suggest.
  case utf16
  case utf16le
  case utf16be
  /// ISO 8859-1.
  case latin1
  /// The five bytes without a meaning are rejected with their record.
  case windows1252
  /// Any other that the C library's iconv knows; made by `init(name:)`.
  case named(IconvName)

  /// Understands the names in common use, in any case, with or without `-`, `_` and spaces:
  /// `UTF8`, `iso-8859-1`, `cp1252`, `ascii`; and every name that iconv knows: `windows-1251`, `shift_jis`, `cp850`.
  public init?(name: String) {
    let separators = "-_ .".unicodeScalars
    let plain = String(
      String.UnicodeScalarView(name.lowercased().unicodeScalars.filter { !separators.contains($0) }))
    switch plain {
    case "auto": self = .auto
    case "utf8", "utf8sig", "utf8bom", "ascii", "usascii", "cp65001", "65001": self = .utf8
    case "utf16", "ucs2", "unicode": self = .utf16
    case "utf16le", "ucs2le": self = .utf16le
    case "utf16be", "ucs2be": self = .utf16be
    case "latin1", "l1", "iso88591", "88591": self = .latin1
    case "windows1252", "win1252", "cp1252", "1252", "ansi": self = .windows1252
    default:
      guard let known = IconvConverter.knownName(name) else { return nil }
      self = .named(IconvName(known))
    }
  }

  var isUTF16: Bool { self == .utf16 || self == .utf16le || self == .utf16be }

  /// The names to choose from, for messages.
  package static var commonNames: [String] { IconvConverter.commonNames }
}

/// A name that iconv knows.
public struct IconvName: Hashable, Sendable {
  /// In lower case.
  public let text: String

  init(_ known: String) { text = known }
}

extension TextEncoding: CaseIterable {
  /// The encodings that are read without iconv.
  public static let allCases: [TextEncoding] = [.auto, .utf8, .utf16, .utf16le, .utf16be, .latin1, .windows1252]
}

extension TextEncoding: RawRepresentable {
  /// The name, as `--encoding` takes it.
  public var rawValue: String {
    switch self {
    case .auto: "auto"
    case .utf8: "utf-8"
    case .utf16: "utf-16"
    case .utf16le: "utf-16le"
    case .utf16be: "utf-16be"
    case .latin1: "latin-1"
    case .windows1252: "windows-1252"
    case .named(let name): name.text
    }
  }

  public init?(rawValue: String) { self.init(name: rawValue) }
}
