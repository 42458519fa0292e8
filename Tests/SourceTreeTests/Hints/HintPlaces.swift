import Foundation

/// Where in the code of a file hints stand: behind `hint:` and `hint =`, and in the bodies of what has such a name.
struct HintPlaces {
  private(set) var ranges: [Range<Int>] = []
  private let code: [UInt8]

  /// What a name ends with whose value is printed as the way out.
  static let names = ["hint", "Hint", "fix", "remedy", "advice"]

  init(_ code: [UInt8]) {
    self.code = code
    ranges = Self.names.flatMap { name in
      places(of: name).compactMap { at in
        endOfName(name, at).flatMap { place(behind: $0, isDeclared: isDeclaration(at, $0)) }
      }
    }
  }

  private func places(of name: String) -> [Int] {
    (code + [0]).withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        var places: [Int] = []
        var next = text.baseAddress!
        while let found = strstr(next, name) {
          places.append(UnsafePointer(found) - text.baseAddress!)
          next = UnsafePointer(found) + 1
        }
        return places
      }
    }
  }

  private func endOfName(_ name: String, _ at: Int) -> Int? {
    let bytes = Array(name.utf8)
    let end = at + bytes.count
    guard end < code.count, code[at..<end].elementsEqual(bytes), !isWord(code[end]) else { return nil }
    // `hint` begins a word, `Hint` may end one.
    if at > 0, isWord(code[at - 1]), bytes[0] >= UInt8(ascii: "a") { return nil }
    return end
  }

  private func isWord(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte & 0xDF >= UInt8(ascii: "A") && byte & 0xDF <= UInt8(ascii: "Z")
      || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private func isDeclaration(_ at: Int, _ end: Int) -> Bool {
    var start = at
    while start > 0, isWord(code[start - 1]) { start -= 1 }
    let before = String(decoding: code[max(0, start - 6)..<start], as: UTF8.self)
    // A `let` that gives its type is no argument, and ends in `=`; one of several branches has no value yet.
    if before.hasSuffix("let ") { return code[end...].starts(with: ": Wording".utf8) }
    return ["var ", "func "].contains { before.hasSuffix($0) }
  }

  private func place(behind end: Int, isDeclared: Bool) -> Range<Int>? {
    var at = end
    if isDeclared {
      // The body, if there is one before the next declaration.
      while at < code.count, code[at] != UInt8(ascii: "{"), code[at] != UInt8(ascii: "=") {
        if code[at] == UInt8(ascii: "\n"), depth(end..<at) == 0 { return nil }
        at += 1
      }
      guard at < code.count else { return nil }
      return code[at] == UInt8(ascii: "{") ? at..<self.end(at + 1, closing: true) : statement(at + 1)
    }
    while at < code.count, [UInt8(ascii: " "), UInt8(ascii: "?")].contains(code[at]) { at += 1 }
    guard at < code.count else { return nil }
    if code[at] == UInt8(ascii: ":") { return at..<self.end(at + 1, closing: false) }
    if code[at] == UInt8(ascii: "+"), at + 1 < code.count, code[at + 1] == UInt8(ascii: "=") {
      return statement(at + 2)
    }
    if code[at] == UInt8(ascii: "="), at + 1 < code.count, code[at + 1] != UInt8(ascii: "=") {
      return statement(at + 1)
    }
    return nil
  }

  private func depth(_ range: Range<Int>) -> Int {
    code[range].reduce(0) { $0 + Self.step($1) }
  }

  private static func step(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): 1
    case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): -1
    default: 0
    }
  }

  /// The end of an argument: its comma or the bracket that closes the call; with `closing`, the bracket alone.
  private func end(_ start: Int, closing: Bool) -> Int {
    var (at, depth) = (start, 0)
    while at < code.count {
      depth += Self.step(code[at])
      if depth < 0 || (!closing && depth == 0 && code[at] == UInt8(ascii: ",")) { return at }
      at += 1
    }
    return at
  }

  /// A statement ends with its line, unless the line or the next one shows that it goes on.
  private func statement(_ start: Int) -> Range<Int> {
    var (at, depth) = (start, 0)
    var last = UInt8(ascii: "=")
    while at < code.count {
      let byte = code[at]
      depth += Self.step(byte)
      if depth < 0 { break }
      if byte == UInt8(ascii: "\n"), depth == 0, !"=+?:,".utf8.contains(last) {
        let next = code[at...].first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
        if next.map({ !"+?:.".utf8.contains($0) }) ?? true { break }
      }
      if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\n") { last = byte }
      at += 1
    }
    return start..<at
  }
}
