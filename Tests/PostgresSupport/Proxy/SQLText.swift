/// SQL as far as a proxy must understand it.
enum SQLText {
  /// The first words, in upper case.
  static func words(_ statement: String, _ count: Int) -> [String] {
    statement.split(maxSplits: count, whereSeparator: \.isWhitespace).prefix(count).map { $0.uppercased() }
  }

  /// The statements of a text, without semicolons and empty ones. Strings, names, dollar quotes and comments may have semicolons.
  static func statements(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    var (statements, start, place) = ([String](), 0, 0)
    func add(upTo end: Int) {
      let part = String(decoding: bytes[start..<end], as: UTF8.self)
      if let first = part.firstIndex(where: { !$0.isWhitespace }),
        let last = part.lastIndex(where: { !$0.isWhitespace })
      {
        statements.append(String(part[first...last]))
      }
    }
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: ";"):
        add(upTo: place)
        place += 1
        start = place
      case UInt8(ascii: "'"):
        let escapes = place > 0 && bytes[place - 1] | 0x20 == UInt8(ascii: "e")
        place = end(of: bytes, after: place, quote: UInt8(ascii: "'"), escapes: escapes)
      case UInt8(ascii: "\""): place = end(of: bytes, after: place, quote: UInt8(ascii: "\""), escapes: false)
      case UInt8(ascii: "-") where bytes[place...].starts(with: "--".utf8):
        place = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      case UInt8(ascii: "/") where bytes[place...].starts(with: "/*".utf8): place = endOfComment(bytes, place)
      case UInt8(ascii: "$"): place = endOfDollars(bytes, place)
      default: place += 1
      }
    }
    add(upTo: bytes.count)
    return statements
  }

  /// A doubled quote is two strings here, which ends at the same place.
  private static func end(of bytes: [UInt8], after start: Int, quote: UInt8, escapes: Bool) -> Int {
    var place = start + 1
    while place < bytes.count, bytes[place] != quote {
      place += escapes && bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(place + 1, bytes.count)
  }

  private static func endOfComment(_ bytes: [UInt8], _ start: Int) -> Int {
    var (place, depth) = (start, 0)
    while place < bytes.count {
      if bytes[place...].starts(with: "/*".utf8) {
        (depth, place) = (depth + 1, place + 2)
      } else if bytes[place...].starts(with: "*/".utf8) {
        (depth, place) = (depth - 1, place + 2)
        if depth == 0 { return place }
      } else {
        place += 1
      }
    }
    return bytes.count
  }

  /// `$$ … $$` and `$tag$ … $tag$`; `$1` is none.
  private static func endOfDollars(_ bytes: [UInt8], _ start: Int) -> Int {
    guard let close = bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "$")) else { return start + 1 }
    let tag = bytes[start...close]
    let letters = tag.dropFirst().dropLast()
    if let first = letters.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) { return start + 1 }
    guard
      letters.allSatisfy({
        $0 == UInt8(ascii: "_") || $0 >= 128 || Character(UnicodeScalar($0)).isLetter
          || Character(UnicodeScalar($0)).isNumber
      })
    else {
      return start + 1
    }
    var place = close + 1
    while place < bytes.count {
      if bytes[place] == UInt8(ascii: "$"), bytes[place...].starts(with: tag) { return place + tag.count }
      place += 1
    }
    return bytes.count
  }
}
