/// The mark that may stand before a text and says how it is encoded (Unicode, section 23.8).
enum ByteOrderMark: Equatable {
  case utf8, utf16le, utf16be, utf32le, utf32be

  /// The mark that a text starts with; nil when it has none.
  init?(_ sample: UnsafeRawBufferPointer) {
    if sample.starts(with: [0xEF, 0xBB, 0xBF]) {
      self = .utf8
    } else if sample.starts(with: [0xFF, 0xFE, 0, 0]) {
      self = .utf32le
    } else if sample.starts(with: [0, 0, 0xFE, 0xFF]) {
      self = .utf32be
    } else if sample.starts(with: [0xFF, 0xFE]) {
      self = .utf16le
    } else if sample.starts(with: [0xFE, 0xFF]) {
      self = .utf16be
    } else {
      return nil
    }
  }

  var byteCount: Int {
    switch self {
    case .utf8: 3
    case .utf16le, .utf16be: 2
    case .utf32le, .utf32be: 4
    }
  }

  /// The encoding it stands for.
  var encoding: TextEncoding {
    switch self {
    case .utf8: .utf8
    case .utf16le: .utf16le
    case .utf16be: .utf16be
    case .utf32le: .named(IconvName("utf-32le"))
    case .utf32be: .named(IconvName("utf-32be"))
    }
  }
}
