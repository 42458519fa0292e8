import Foundation
import Upsurge

/// The string literals of a Swift file and the code around them: enough of the language to find what is said to users.
///
/// Comments are blanked out, so that offsets stay. An interpolation becomes `…`; literals inside one are not listed.
struct SwiftLiterals {
  struct Literal {
    /// Offsets in `code`, quotes included.
    var range: Range<Int>
    var text: String
  }

  /// The file's bytes with comments and the insides of literals blanked out.
  private(set) var code: [UInt8]
  private(set) var literals: [Literal] = []
  private let source: [UInt8]
  private let namesTerms: Bool

  /// - Parameter namesTerms: puts the option in the place of an interpolated term: `\(.key, "COLS")` is `--key COLS`.
  init(_ source: [UInt8], namesTerms: Bool = false) {
    self.source = source
    self.namesTerms = namesTerms
    code = source
    var at = 0
    while at < source.count {
      // Most bytes begin nothing; a debug build is slow.
      switch source[at] {
      case UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "#"): break
      default:
        at += 1
        continue
      }
      if starts("//", at) {
        at = blank(from: at, to: lineEnd(at))
      } else if starts("/*", at) {
        var end = at + 2
        while end < source.count, !starts("*/", end) { end += 1 }
        at = blank(from: at, to: min(end + 2, source.count))
      } else if let literal = literal(at) {
        literals.append(literal)
        _ = blank(from: at + 1, to: literal.range.upperBound - 1)
        at = literal.range.upperBound
      } else {
        at += 1
      }
    }
  }

  /// The literals of a range of the code; those that a `+` joins are one.
  /// - Parameter withCalls: also what a call of the library is told instead of the command's words.
  func texts(in range: Range<Int>, withCalls: Bool = false) -> [String] {
    var texts: [String] = []
    var end: Int?
    for literal in literals where range.contains(literal.range.lowerBound) && (withCalls || !isForCalls(literal)) {
      let isJoined = end.map { isPlus($0..<literal.range.lowerBound) } ?? false
      if isJoined, let last = texts.popLast() {
        texts.append(last + literal.text)
      } else {
        texts.append(literal.text)
      }
      end = literal.range.upperBound
    }
    return texts
  }

  /// Whether it is what a call of the library is told instead.
  private func isForCalls(_ literal: Literal) -> Bool {
    let before = code[..<literal.range.lowerBound].suffix(40).filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
    return before.suffix(5).elementsEqual("call:".utf8)
  }

  private func isPlus(_ range: Range<Int>) -> Bool {
    let words = code[range].filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
    return words == [UInt8(ascii: "+")]
  }

  func starts(_ word: StaticString, _ at: Int) -> Bool {
    word.withUTF8Buffer { bytes in
      at + bytes.count <= source.count && source[at..<at + bytes.count].elementsEqual(bytes)
    }
  }

  private func lineEnd(_ at: Int) -> Int {
    source.withUnsafeBytes { bytes in
      guard let found = memchr(bytes.baseAddress! + at, 0x0A, bytes.count - at) else { return bytes.count }
      return UnsafeRawPointer(found) - bytes.baseAddress!
    }
  }

  private mutating func blank(from start: Int, to end: Int) -> Int {
    guard end > start else { return end }
    code.withUnsafeMutableBytes { _ = memset($0.baseAddress! + start, 0x20, end - start) }
    return end
  }

  // MARK: - One literal

  private func literal(_ start: Int) -> Literal? {
    var at = start
    while at < source.count, source[at] == UInt8(ascii: "#") { at += 1 }
    let hashCount = at - start
    guard at < source.count, source[at] == UInt8(ascii: "\"") else { return nil }
    let hashes = [UInt8](repeating: UInt8(ascii: "#"), count: hashCount)
    let isLong = starts("\"\"\"", at)
    let quote = [UInt8](repeating: UInt8(ascii: "\""), count: isLong ? 3 : 1) + hashes
    at += isLong ? 3 : 1
    var text: [UInt8] = []
    while at < source.count {
      if source[at] == quote[0], follows(quote, at) {
        return Literal(range: start..<at + quote.count, text: String(decoding: text, as: UTF8.self))
      }
      guard source[at] == UInt8(ascii: "\\"), follows([UInt8(ascii: "\\")] + hashes, at) else {
        text.append(source[at])
        at += 1
        continue
      }
      at += 1 + hashCount
      switch source[at] {
      case UInt8(ascii: "("):
        text += Array((namesTerms ? option(at) : nil)?.utf8 ?? "…".utf8)
        at = endOfBracket(at)
      case UInt8(ascii: "n"): text.append(UInt8(ascii: "\n")); at += 1
      case UInt8(ascii: "t"): text.append(UInt8(ascii: "\t")); at += 1
      default: text.append(source[at]); at += 1
      }
    }
    return nil
  }

  /// The option of an interpolation that is a term, with what is given to it.
  private func option(_ start: Int) -> String? {
    for opening in ["(saying: Wording(\"", "(command: \""] where source[start...].starts(with: opening.utf8) {
      return literal(start + opening.utf8.count - 1)?.text
    }
    guard source[start + 1] == UInt8(ascii: ".") else { return nil }
    let name = source[(start + 2)...].prefix { $0 != UInt8(ascii: ")") && $0 != UInt8(ascii: ",") }
    guard let term = Self.terms[String(decoding: name, as: UTF8.self)] else { return nil }
    guard source[name.endIndex] == UInt8(ascii: ",") else { return Wording.option(term) }
    let value = literal(name.endIndex + 2)
    let isAlone = value.map { source[$0.range.upperBound] == UInt8(ascii: ")") } ?? false
    return Wording.option(term, isAlone ? value?.text : "…")
  }

  private static let terms = Dictionary(uniqueKeysWithValues: Term.allCases.map { ("\($0)", $0) })

  private func follows(_ bytes: [UInt8], _ at: Int) -> Bool {
    at + bytes.count <= source.count && source[at..<at + bytes.count].elementsEqual(bytes)
  }

  /// Behind the bracket that closes the one at `start`, in the source itself.
  private func endOfBracket(_ start: Int) -> Int {
    var (at, depth) = (start, 0)
    while at < source.count {
      if source[at] == UInt8(ascii: "\"") || source[at] == UInt8(ascii: "#"), let inner = literal(at) {
        at = inner.range.upperBound
        continue
      }
      if source[at] == UInt8(ascii: "(") { depth += 1 }
      if source[at] == UInt8(ascii: ")") { depth -= 1 }
      at += 1
      if depth == 0 { return at }
    }
    return at
  }
}
