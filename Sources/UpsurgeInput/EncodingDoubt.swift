import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A text that may be encoded in several ways, with one of its lines as each of them reads it.
package struct EncodingDoubt: Equatable, Sendable {
  /// One way to read the text.
  struct Reading: Equatable, Sendable {
    /// As `--encoding` takes it.
    var name: String
    var line: String
  }

  /// The likeliest first; empty where none fits.
  var readings: [Reading]
  /// The line that is shown, from 1, and its offset in the text.
  var line: UInt64
  var lineOffset: UInt64
  /// The one that the text is read in; nil where a person has to choose.
  var choice: String?

  /// Whether nothing may be read before a person has chosen.
  package var isRefusal: Bool { choice == nil }

  /// No more of a line is shown.
  private static let shownLetterCount = 60

  /// - Parameters:
  ///   - names: the likeliest first; those that read the line alike are one.
  ///   - offset: of the line that is shown.
  ///   - choice: the one that the text is read in.
  init(names: [String], of text: UnsafeRawBufferPointer, lineAt offset: Int, reads choice: String? = nil) {
    self.choice = choice
    let whole = text[offset...].prefix { $0 != 0x0A && $0 != 0x0D }
    // What is not ASCII is what matters; up to there every byte is a character.
    let lead = whole.prefix { $0 < 0x80 }.count
    let skipped = lead > 30 ? lead - 20 : 0
    let bytes = Array(whole.dropFirst(skipped).prefix(400))
    let start = skipped > 0 ? "..." : ""
    line = 1
    for index in 0..<offset where text[index] == 0x0A || text[index] == 0x0D && text[index + 1] != 0x0A { line += 1 }
    lineOffset = UInt64(offset)
    readings = []
    for name in names {
      guard let shown = Self.read(bytes, as: name).map({ start + $0 }) else { continue }
      let cut = shown.count > Self.shownLetterCount ? shown.prefix(Self.shownLetterCount) + "..." : shown[...]
      if readings.contains(where: { $0.line == cut }) { continue }
      readings.append(Reading(name: name, line: String(cut)))
      if readings.count == 3 { break }
    }
  }

  /// What is said about a text that is read all the same.
  func remark(_ name: String) -> Wording {
    let shown = readings.map { "\"\($0.line.escapedForTerminal)\" in \($0.name)" }
    return "\(SourceName.shown(name)) is read in the encoding \(choice ?? ""), as line \(line) is "
      + Wording(shown.joined(separator: " and ")) + "; \(.encoding, "NAME") reads it in another one"
  }

  /// The refusal to guess.
  package func error(_ name: String) -> UpsurgeError {
    let known = readings.map { (reading) -> Wording in "\(.encoding, reading.name) reads it as \"\(reading.line.escapedForTerminal)\"" }
    return UpsurgeError(
      .badInput, "\(SourceName.shown(name)) is not UTF-8, and its encoding is not certain",
      position: Position(file: name, line: line, byte: lineOffset),
      hint: known.isEmpty
        ? "name its encoding with \(.encoding, "NAME") (iconv -l lists the names), or have it sent as UTF-8"
        : "choose the encoding in which this line is right: " + Wording(known, separator: "; "))
  }

  /// A text of ASCII bytes that switches to Japanese or Korean with escape sequences (RFC 1468, RFC 1557).
  static func ofEscapes(in text: UnsafeRawBufferPointer) -> EncodingDoubt? {
    guard let base = text.baseAddress, let found = memchr(base, 0x1B, text.count) else { return nil }
    let escape = UnsafeRawPointer(found) - base
    guard text.count - escape >= 3 else { return nil }
    let name: String
    switch (text[escape + 1], text[escape + 2]) {
    case (0x24, 0x40), (0x24, 0x42), (0x28, 0x4A), (0x28, 0x49): name = "iso-2022-jp"
    case (0x24, 0x29): name = "iso-2022-kr"
    default: return nil
    }
    let start = text[..<escape].lastIndex { $0 == 0x0A }.map { $0 + 1 } ?? 0
    return EncodingDoubt(names: [name], of: text, lineAt: start)
  }

  private static func read(_ bytes: [UInt8], as name: String) -> String? {
    guard let encoding = TextEncoding(name: name) else { return nil }
    guard var transcoder = Transcoder(encoding, inputOffset: 0) else {
      return String(decoding: bytes, as: UTF8.self)
    }
    var text = [UInt8](repeating: 0, count: bytes.count * 4 + 2 * Transcoder.leastOutputByteCount)
    let count = text.withUnsafeMutableBytes { output in
      let count = bytes.withUnsafeBytes { transcoder.transcode($0, into: output).produced }
      return count + transcoder.finish(into: UnsafeMutableRawBufferPointer(rebasing: output[count...]))
    }
    return String(decoding: text[..<count], as: UTF8.self)
  }
}
