/// Cuts SQL text into names, literals and marks; comments and spaces are passed over.
package struct SQLScanner {
  package struct Token: Equatable {
    package enum Kind { case word, quotedName, literal, mark }
    package var kind: Kind
    /// A quoted name without its quotes.
    package var text: String
    /// Where the token stands in the UTF-8 text.
    package var range = 0..<0

    package static func == (left: Token, right: Token) -> Bool { left.kind == right.kind && left.text == right.text }

    package func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }
    package func isWord(_ word: String) -> Bool { kind == .word && SQLName.isSame(text, word) }
  }

  private let bytes: [UInt8]
  private var at = 0

  package init(_ sql: String) { bytes = Array(sql.utf8) }

  /// All tokens of a text.
  package static func tokens(of sql: String) -> [Token] {
    var scanner = SQLScanner(sql)
    var tokens: [Token] = []
    while let token = scanner.next() { tokens.append(token) }
    return tokens
  }

  package mutating func next() -> Token? {
    skipSpace()
    guard at < bytes.count else { return nil }
    let start = at
    var token = scan(from: start)
    token.range = start..<at
    return token
  }

  private mutating func scan(from start: Int) -> Token {
    switch bytes[at] {
    case UInt8(ascii: "\""), UInt8(ascii: "`"): return quoted(by: bytes[at], kind: .quotedName)
    case UInt8(ascii: "["): return quoted(by: UInt8(ascii: "]"), kind: .quotedName)
    case UInt8(ascii: "'"): return quoted(by: bytes[at], kind: .literal)
    default: break
    }
    while at < bytes.count && isWordByte(bytes[at]) { at += 1 }
    if at > start { return Token(kind: .word, text: text(start..<at)) }
    at += 1
    return Token(kind: .mark, text: text(start..<at))
  }

  private mutating func quoted(by quote: UInt8, kind: Token.Kind) -> Token {
    at += 1
    var content: [UInt8] = []
    while at < bytes.count {
      if bytes[at] == quote {
        at += 1
        // A doubled quote stands for itself, except in [brackets].
        guard quote != UInt8(ascii: "]"), at < bytes.count, bytes[at] == quote else { break }
      }
      content.append(bytes[at])
      at += 1
    }
    return Token(kind: kind, text: String(decoding: content, as: UTF8.self))
  }

  private mutating func skipSpace() {
    while at < bytes.count {
      if [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D].contains(bytes[at]) {
        at += 1
      } else if starts(with: "--") {
        while at < bytes.count && bytes[at] != 0x0A { at += 1 }
      } else if starts(with: "/*") {
        at += 2
        while at < bytes.count && !starts(with: "*/") { at += 1 }
        at = min(at + 2, bytes.count)
      } else {
        return
      }
    }
  }

  private func starts(with mark: StaticString) -> Bool {
    mark.withUTF8Buffer { $0.count <= bytes.count - at && bytes[at...].starts(with: $0) }
  }

  private func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      return true
    default:
      return false
    }
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}
