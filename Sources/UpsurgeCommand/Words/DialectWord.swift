import ArgumentParser
import Upsurge

/// Reads the words of dialect options.
enum DialectWord {
  private static let names: [String: String] = [
    "comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "space": " ", "colon": ":",
    "\\t": "\t", "\\0": "\0",
  ]

  /// A delimiter's bytes; names and `\t`, `\xNN` are understood.
  static func delimiter(_ word: String) throws -> [UInt8] {
    if let byte = hexByte(word) { return [byte] }
    let bytes = Array((names[word] ?? word).utf8)
    guard !bytes.isEmpty, !bytes.contains(0x0A), !bytes.contains(0x0D) else {
      throw ValidationError("--delimiter must not be empty or hold a line end")
    }
    return bytes
  }

  /// A quote or escape byte, or none.
  static func mark(_ word: String, option: String) throws -> CSVOverrides.Mark {
    word == "none" || word.isEmpty ? .none : .byte(try byte(word, option: option))
  }

  private static func byte(_ word: String, option: String) throws -> UInt8 {
    if let byte = hexByte(word) { return byte }
    let bytes = Array(word.utf8)
    guard bytes.count == 1, bytes[0] != 0x0A, bytes[0] != 0x0D else {
      throw ValidationError("\(option) takes one ASCII character, or none")
    }
    return bytes[0]
  }

  /// `\x1F` or `0x1F`.
  private static func hexByte(_ word: String) -> UInt8? {
    guard word.utf8.count == 4, word.hasPrefix("\\x") || word.hasPrefix("0x") else { return nil }
    return UInt8(word.dropFirst(2), radix: 16)
  }
}

/// Reads lists of names: `a, b,"c,d"`, a quote within quotes doubled; blanks around a name do not belong to it, unless
/// they are quoted; commas within parentheses belong to an expression: `substr(a,1,2)`.
enum NameList {
  static func parse(_ text: String, option: String) throws -> [String] {
    var names: [String] = []
    var name = String.UnicodeScalarView()
    var isQuoted = false
    var depth = 0
    var wasClosed = false
    // So much of the name was quoted, or stands before what was.
    var quotedCount = 0
    func take() {
      while name.count > quotedCount, let last = name.last, isBlank(last) { name.removeLast() }
      names.append(String(name))
      (name, quotedCount) = (String.UnicodeScalarView(), 0)
    }
    // Scalars, not characters: a quote followed by a combining mark is one character, but still a quote.
    for scalar in text.unicodeScalars {
      let follows = wasClosed
      wasClosed = false
      switch scalar {
      case "\"" where depth == 0:
        // A quote right after a closing one was doubled.
        if follows { name.append(scalar) }
        wasClosed = isQuoted
        isQuoted.toggle()
        quotedCount = name.count
      case "," where !isQuoted && depth <= 0: take()
      case _ where isBlank(scalar) && !isQuoted && name.isEmpty: break
      default:
        if !isQuoted { depth += scalar == "(" ? 1 : scalar == ")" ? -1 : 0 }
        name.append(scalar)
      }
    }
    take()
    guard !isQuoted, !names.contains("") else {
      throw ValidationError("\(option) \(text): give names as A,B,C; quote a name that holds a comma")
    }
    return names
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
