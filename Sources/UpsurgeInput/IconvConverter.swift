import CIconv

/// Makes UTF-8 of an encoding that the C library's iconv knows; resumable at any byte.
///
/// Kept between calls: the first bytes of a character whose rest has not come yet, and iconv's own state (the shift of
/// ISO-2022-JP, a letter that may combine with the next one). Bytes that are no character become one byte that is
/// never UTF-8, so that the parser rejects their record, and reading goes on after them.
final class IconvConverter {
  /// What a call needs at least of room: all characters of the bytes that are kept.
  static let leastOutputByteCount = 64
  /// More than any character and escape sequence has.
  private static let mostPendingByteCount = 16

  private let handle: UnsafeMutableRawPointer
  /// How far apart characters may begin: 4 in UTF-32, 1 nearly everywhere else.
  private let unitByteCount: Int
  /// Whether lines may end with the NEL of EBCDIC.
  private let isEBCDIC: Bool
  private var pending: [UInt8] = []

  /// - Returns: nil for a name that iconv does not know.
  init?(_ encoding: String) {
    guard let handle = upsurge_iconv_open(encoding) else { return nil }
    self.handle = handle
    let probe = { (bytes: [UInt8]) -> String in
      defer { upsurge_iconv_reset(handle) }
      var output = [UInt8](repeating: 0, count: 64)
      var (consumed, produced) = (0, 0)
      upsurge_iconv_convert(handle, bytes, bytes.count, &consumed, &output, output.count, &produced)
      return String(decoding: output[..<produced], as: UTF8.self)
    }
    let letter = UInt8(ascii: "A")
    if probe([0, 0, 0, letter]) == "A" || probe([letter, 0, 0, 0]) == "A" {
      unitByteCount = 4
    } else {
      unitByteCount = probe([0, letter]) == "A" || probe([letter, 0]) == "A" ? 2 : 1
    }
    isEBCDIC = probe([0xC1, 0xC2, 0xC3]) == "ABC"
  }

  deinit { upsurge_iconv_close(handle) }

  /// Writes as many whole characters as there are and fit.
  /// - Parameter output: at least `leastOutputByteCount` long.
  func convert(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> Transcoder.Step {
    var step = Transcoder.Step()
    while step.consumed < input.count {
      if !pending.isEmpty {
        if !resolvePending(with: input, into: output, &step) { return step }
        continue
      }
      guard output.count - step.produced >= Self.leastOutputByteCount else { return step }
      switch run(UnsafeRawBufferPointer(rebasing: input[step.consumed...]), into: output, &step) {
      case UPSURGE_ICONV_DONE, UPSURGE_ICONV_FULL: return step
      case UPSURGE_ICONV_INCOMPLETE:
        pending = Array(input[step.consumed...].prefix(Self.mostPendingByteCount))
        step.consumed += pending.count
      default:
        // iconv may have read the bytes that it then finds to be none.
        mark(step.consumed < input.count ? input[step.consumed] : 0xFF, into: output, &step)
        step.consumed += min(unitByteCount, input.count - step.consumed)
      }
    }
    return step
  }

  /// Writes what is left at the end of a text; an unfinished character is marked as bytes that are none.
  /// - Parameter output: at least `leastOutputByteCount` long.
  /// - Returns: how many bytes were written.
  func finish(into output: UnsafeMutableRawBufferPointer) -> Int {
    var step = Transcoder.Step()
    if let first = pending.first {
      mark(first, into: output, &step)
      pending = []
    }
    let rest = UnsafeMutableRawBufferPointer(rebasing: output[step.produced...])
    return step.produced + upsurge_iconv_flush(handle, rest.baseAddress, rest.count)
  }

  /// Takes one more byte to those that are kept, and converts them once they are a character or cannot become one.
  /// - Returns: false where there is no room.
  private func resolvePending(
    with input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, _ step: inout Transcoder.Step
  ) -> Bool {
    guard output.count - step.produced >= Self.leastOutputByteCount else { return false }
    pending.append(input[step.consumed])
    step.consumed += 1
    while !pending.isEmpty {
      var part = Transcoder.Step()
      part.produced = step.produced
      let status = pending.withUnsafeBytes { run($0, into: output, &part) }
      step.produced = part.produced
      pending.removeFirst(part.consumed)
      if status == UPSURGE_ICONV_INCOMPLETE && pending.count < Self.mostPendingByteCount { break }
      if status == UPSURGE_ICONV_DONE { break }
      mark(pending.first ?? 0xFF, into: output, &step)
      pending.removeFirst(min(unitByteCount, pending.count))
    }
    return true
  }

  private func run(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, _ step: inout Transcoder.Step
  ) -> Int {
    var (consumed, produced) = (0, 0)
    // One byte is kept for the mark of what iconv stops at.
    let room = UnsafeMutableRawBufferPointer(rebasing: output[step.produced..<output.count - 1])
    let status = upsurge_iconv_convert(
      handle, input.baseAddress, input.count, &consumed, room.baseAddress, room.count, &produced)
    if isEBCDIC { produced = Self.endLines(UnsafeMutableRawBufferPointer(rebasing: room[..<produced])) }
    step.consumed += consumed
    step.produced += produced
    return Int(status)
  }

  /// NEL (U+0085), which ends the lines of EBCDIC, becomes LF.
  private static func endLines(_ text: UnsafeMutableRawBufferPointer) -> Int {
    var (from, to) = (0, 0)
    while from < text.count {
      let isNEL = text[from] == 0xC2 && from + 1 < text.count && text[from + 1] == 0x85
      text[to] = isNEL ? UInt8(ascii: "\n") : text[from]
      from += isNEL ? 2 : 1
      to += 1
    }
    return to
  }

  /// A byte that no UTF-8 has after a whole character; the one that was there, where it is such a byte.
  private func mark(_ byte: UInt8, into output: UnsafeMutableRawBufferPointer, _ step: inout Transcoder.Step) {
    output[step.produced] = 0x80...0xBF ~= byte && unitByteCount == 1 ? byte : 0xFF
    step.produced += 1
  }
}

extension IconvConverter {
  /// The name by which iconv knows an encoding that is called so; nil where it knows none.
  static func knownName(_ name: String) -> String? {
    let lower = name.lowercased()
    let isPlain = lower.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || "-_.:+()".utf8.contains($0)
    }
    // The encoding of the locale, and those of memory, are no encodings of files.
    guard isPlain, !lower.isEmpty, !["char", "wchar_t", "internal"].contains(lower) else { return nil }
    return spellings(of: lower).first {
      guard let handle = upsurge_iconv_open($0) else { return false }
      upsurge_iconv_close(handle)
      return true
    }
  }

  /// What a name may be called by iconv; as browsers do, the narrow Asian sets are read as the wider ones that
  /// Windows writes under the same name.
  private static func spellings(of name: String) -> [String] {
    let bare = name.hasPrefix("x-") ? String(name.dropFirst(2)) : name
    let plain = bare.filter { $0 != "-" && $0 != "_" && $0 != "." && $0 != " " }
    var spellings: [String] = []
    switch plain {
    case "shiftjis", "sjis", "mskanji", "csshiftjis": spellings = ["cp932"]
    case "gb2312", "csgb2312", "gb231280": spellings = ["cp936", "gbk"]
    case "euckr", "ksc56011987", "ksc5601": spellings = ["cp949", "uhc"]
    case "macroman", "macosroman", "mac": spellings = ["macintosh"]
    case "iso88598i": spellings = ["iso-8859-8"]
    default: break
    }
    spellings += [name, bare, bare.replacing("_", with: "-"), plain]
    let digits = plain.drop { !$0.isNumber }
    let words = plain.prefix { !$0.isNumber }
    if digits.allSatisfy(\.isNumber), !digits.isEmpty {
      switch words {
      case "", "cp", "win", "windows", "ms", "ibm", "dos": spellings += ["cp\(digits)", "windows-\(digits)"]
      case "iso": break
      default: break
      }
    }
    if plain.hasPrefix("iso8859") { spellings.append("iso-8859-\(plain.dropFirst(7))") }
    return spellings
  }

  /// Encodings that are often met, for messages.
  package static let commonNames = [
    "utf-8", "utf-16", "utf-16le", "utf-16be", "utf-32", "latin-1", "windows-1252", "windows-1250", "windows-1251",
    "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "iso-8859-2", "iso-8859-5",
    "iso-8859-7", "iso-8859-9", "iso-8859-15", "koi8-r", "koi8-u", "cp437", "cp850", "cp852", "cp866", "macintosh",
    "shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "gbk", "big5", "euc-kr", "cp949", "tis-620", "ebcdic-us",
  ]
}
