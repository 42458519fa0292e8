#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

import UpsurgeRecords

/// Finds out how a text is encoded from its first bytes.
///
/// A mark decides. Without one, text with a zero in every other byte is UTF-16; text that is UTF-8 is UTF-8;
/// what a server has declared is believed of the rest. Without that it is Windows-1252 if it reads well in it, and
/// else in doubt (see `EncodingJudge`). A text most of whose characters beyond ASCII are sound UTF-8 is UTF-8 with bad places: the parser
/// says where they are rather than turning every accent into two letters.
package enum EncodingDetector {
  /// What was found.
  package struct Finding: Equatable, Sendable {
    /// Neither `.auto` nor `.utf16`.
    package var encoding: TextEncoding
    /// Length of the mark before the text: 0, 2, 3 or 4.
    package var markByteCount: Int
    /// Why it may be another encoding; nil where that is not to be feared.
    package var doubt: EncodingDoubt?
  }

  /// - Parameters:
  ///   - given: what the user asked for.
  ///   - declared: what a server says; counts where the user asked for nothing.
  ///   - sample: the first bytes, decompressed.
  ///   - isWhole: whether the sample is the whole text.
  ///   - allowsSingleByte: whether Windows-1252 may be found; false for JSON, which is UTF-8 by its definition.
  ///   - name: the source, for errors.
  /// - Throws: `badInput` for a mark that contradicts what was given.
  package static func detect(
    _ given: TextEncoding = .auto, declared: TextEncoding? = nil, sample: UnsafeRawBufferPointer, isWhole: Bool,
    allowsSingleByte: Bool = true, name: String
  ) throws(UpsurgeError) -> Finding {
    if let mark = ByteOrderMark(sample) {
      return try finding(given, mark: mark, name: name)
    }
    switch given {
    case .auto:
      if let order = byteOrder(of: sample, isWhole: isWhole) {
        return Finding(encoding: order, markByteCount: 0)
      }
      return unmarked(sample, declared: declared, isWhole: isWhole, allowsSingleByte: allowsSingleByte)
    case .utf16:
      return Finding(encoding: byteOrder(of: sample, isWhole: isWhole) ?? .utf16le, markByteCount: 0)
    default:
      return Finding(encoding: given, markByteCount: 0)
    }
  }

  private static func unmarked(
    _ sample: UnsafeRawBufferPointer, declared: TextEncoding?, isWhole: Bool, allowsSingleByte: Bool
  ) -> Finding {
    let census = UTF8Census(sample, isWhole: isWhole)
    let isUTF8 = census.badByteCount == 0
    if isUTF8, census.sequenceCount > 0 || !allowsSingleByte {
      return Finding(encoding: .utf8, markByteCount: 0)
    }
    if let declared, declared != .windows1252 || isUTF8 {
      return Finding(encoding: declared, markByteCount: 0)
    }
    if isUTF8 {
      return Finding(encoding: .utf8, markByteCount: 0, doubt: EncodingDoubt.ofEscapes(in: sample))
    }
    if !allowsSingleByte || census.badByteCount < census.sequenceCount {
      return Finding(encoding: .utf8, markByteCount: 0)
    }
    let verdict = EncodingJudge.judge(sample, census: census)
    return Finding(encoding: verdict.encoding, markByteCount: 0, doubt: verdict.doubt)
  }

  private static func finding(
    _ given: TextEncoding, mark: ByteOrderMark, name: String
  ) throws(UpsurgeError) -> Finding {
    // In UTF-16LE the mark of UTF-32LE is a UTF-16 mark before a NUL.
    if given.isUTF16 && given != .utf16be && mark == .utf32le {
      return Finding(encoding: .utf16le, markByteCount: 2)
    }
    let marked = mark.encoding
    guard given == .auto || given == marked || isFamily(given, of: mark) else {
      throw UpsurgeError(
        .badInput,
        "\(SourceName.shown(name)) starts with the byte order mark of \(marked.rawValue), "
          + "but \(.encoding, given.rawValue) was given",
        position: Position(file: name, byte: 0), hint: "\(.encoding, marked.rawValue), or auto")
    }
    return Finding(encoding: marked, markByteCount: mark.byteCount)
  }

  /// Whether a name leaves the byte order to the mark: `utf-16`, `utf-32`; or is another name of the same.
  private static func isFamily(_ given: TextEncoding, of mark: ByteOrderMark) -> Bool {
    switch mark {
    case .utf8: false
    case .utf16le, .utf16be: given == .utf16
    case .utf32le, .utf32be:
      ["utf-32", "utf32", "ucs-4", "ucs4", "iso-10646-ucs-4"].contains(given.rawValue)
        || given.rawValue == mark.encoding.rawValue.replacing("-", with: "")
    }
  }

  /// UTF-16 without a mark: most characters of a table are ASCII, so one of the two bytes of a unit is often
  /// zero and the other hardly ever. NUL bytes in other text (padding, binary fields) keep to no side.
  private static func byteOrder(of sample: UnsafeRawBufferPointer, isWhole: Bool) -> TextEncoding? {
    let unitCount = sample.count / 2
    let isShort = unitCount < 64
    if unitCount < 2 || (isShort && isWhole && sample.count % 2 != 0) { return nil }
    // Other texts have no NUL, and are not looked at unit by unit.
    guard let start = sample.baseAddress, memchr(start, 0, sample.count) != nil else { return nil }
    var firstZeros = 0
    var secondZeros = 0
    for unit in 0..<unitCount {
      if sample[unit * 2] == 0 { firstZeros += 1 }
      if sample[unit * 2 + 1] == 0 { secondZeros += 1 }
    }
    let enough = isShort ? (unitCount * 3 + 3) / 4 : unitCount / 5
    let few = unitCount / 100
    if secondZeros >= enough && firstZeros <= few { return .utf16le }
    if firstZeros >= enough && secondZeros <= few { return .utf16be }
    // Other scripts have zeros in their delimiters, digits and line ends only.
    if firstZeros == 0 && secondZeros > 2 && isText(sample, unitCount, high: 1) { return .utf16le }
    if secondZeros == 0 && firstZeros > 2 && isText(sample, unitCount, high: 0) { return .utf16be }
    return nil
  }

  /// Whether all units are characters of a text with line ends.
  /// - Parameter high: which byte of a unit is the more significant one.
  private static func isText(_ sample: UnsafeRawBufferPointer, _ unitCount: Int, high: Int) -> Bool {
    var hasLineEnd = false
    var mustFollow = false
    for index in 0..<unitCount {
      let unit = UInt16(sample[2 * index + high]) << 8 | UInt16(sample[2 * index + 1 - high])
      if UTF16.isTrailSurrogate(unit) != mustFollow { return false }
      mustFollow = UTF16.isLeadSurrogate(unit)
      switch unit {
      case 0x0A, 0x0D: hasLineEnd = true
      case 0x09: break
      case 0..<0x20, 0x7F..<0xA0, 0xE000...0xF8FF, 0xFFF0...: return false
      default: break
      }
    }
    return hasLineEnd
  }
}

extension EncodingDetector {
  /// The encoding that a charset of HTTP means; nil for a name that is not known.
  ///
  /// As browsers do, ISO 8859-1 is read as Windows-1252, which has more: what is sent under that name is often the latter.
  static func declared(by charset: String) -> TextEncoding? {
    guard let encoding = TextEncoding(name: charset) else { return nil }
    switch encoding {
    case .latin1: return .windows1252
    // A mark, or the first bytes, say more.
    case .auto, .utf16: return nil
    default: return encoding
    }
  }
}

extension EncodingDetector.Finding {
  /// What is to be said where a server has named an encoding; nil where it was right.
  func remark(on charset: String, declared: TextEncoding?) -> Wording? {
    let shown = String(charset.prefix(40)).escapedForTerminal
    guard let declared else {
      if encoding == .utf16le || encoding == .utf16be { return nil }
      return "the server names the encoding \(shown), which is not known; the text was taken for \(encoding.rawValue) "
        + "(\(.encoding, "NAME") says what it is)"
    }
    if declared == encoding { return nil }
    return "the server names the encoding \(shown), but the text is \(encoding.rawValue) and read as that "
      + "(\(.encoding, declared.rawValue) reads it as the server says)"
  }
}
