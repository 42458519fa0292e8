/// A word or sign of Swift code, outside of comments; of a literal only its quotes.
struct SwiftToken {
  var text: String
  /// From 1.
  var line: Int
  var isFirstOfLine: Bool
  /// Whether a space or line end stands before it.
  var isSpaced: Bool
  /// A name, keyword or number.
  var isName: Bool

  static func all(of source: [UInt8]) -> [SwiftToken] {
    let code = SwiftLiterals(source).code
    var tokens: [SwiftToken] = []
    var (at, line, isSpaced) = (0, 1, true)
    while at < code.count {
      // The line ends of long literals and comments are blank in the code.
      if source[at] == 0x0A { line += 1 }
      if code[at] == 0x20 || code[at] == 0x0A {
        isSpaced = true
        at += 1
        continue
      }
      let start = at
      let isName = isOfName(code[at])
      at += 1
      if isName || code[start] == UInt8(ascii: "#") {
        while at < code.count, isOfName(code[at]) { at += 1 }
      } else if code[start] == UInt8(ascii: "-"), at < code.count, code[at] == UInt8(ascii: ">") {
        at += 1
      }
      tokens.append(
        SwiftToken(
          text: String(decoding: code[start..<at], as: UTF8.self), line: line,
          isFirstOfLine: line > tokens.last?.line ?? 0,
          isSpaced: isSpaced, isName: isName))
      isSpaced = false
    }
    return tokens
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "$"), 0x80...: true
    default: false
    }
  }
}
