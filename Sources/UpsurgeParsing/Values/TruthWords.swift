import UpsurgeRecords

extension ValueFormats.Truths {
  /// Words that mean yes, in small letters. Each of them has its other half in `usualNo`, and means the same in all languages whose
  /// words stand here. `o` does not: it is also a zero that somebody has typed as a letter; and `v` is yes or no, by the language.
  private static let usualYes = [
    "1", "y", "yes", "t", "true", "on", "j", "ja", "s", "si", "sí", "si\u{301}", "sim", "oui", "vrai", "vero",
    "verdadero",
    "verdadeiro", "wahr", "waar", "tak", "da", "ano", "igen", "kyllä", "kylla\u{308}",
  ]
  private static let usualNo = [
    "0", "n", "no", "f", "false", "off", "nein", "nee", "nej", "nei", "não", "na\u{303}o", "nao", "non",
    "faux", "falso", "falsch",
    "onwaar", "nie", "niet", "nu", "ne", "nem", "ei",
  ]

  /// Reads `YES/NO`, with commas between several words. A comma or a slash that belongs to a word is doubled: `yes/no,N//A`.
  /// - Returns: nil where that is not two sides.
  package init?(words text: String) {
    var sides: [[String]] = [[""]]
    var rest = text[...]
    while let letter = rest.popFirst() {
      let isMark = letter == "/" || letter == ","
      let isDoubled = isMark && rest.first == letter
      if isDoubled { rest.removeFirst() }
      if isDoubled || !isMark {
        sides[sides.count - 1][sides[sides.count - 1].count - 1].append(letter)
      } else if letter == "/" {
        sides.append([""])
      } else {
        sides[sides.count - 1].append("")
      }
    }
    guard sides.count == 2 else { return nil }
    self = .words(yes: sides[0], no: sides[1])
  }

  /// What follows the name of the column: `=ja/nein`; empty for the usual words.
  var suffix: String {
    switch self {
    case .usual: ""
    case .words(let yes, let no): "=\(Self.written(yes))/\(Self.written(no))"
    }
  }

  private static func written(_ words: [String]) -> String {
    words.map { $0.replacing("/", with: "//").replacing(",", with: ",,") }.joined(separator: ",")
  }

  /// Words of both kinds, in small letters.
  var lists: (yes: [String], no: [String]) {
    switch self {
    case .usual: (Self.usualYes, Self.usualNo)
    case .words(let yes, let no): (yes.map(Self.small), no.map(Self.small))
    }
  }

  func validate(_ column: String) throws(UpsurgeError) {
    let (yes, no) = lists
    let both = Set(yes).intersection(no)
    if yes.isEmpty || no.isEmpty || (yes + no).contains("") || !both.isEmpty {
      throw UpsurgeError(
        .usage,
        "\(.bool, (column + suffix).escapedForTerminal.quotedForShell) does not say which words mean yes and which mean no",
        hint: "give different words, as in 'active=A,active/I,inactive'; the empty field is NULL")
    }
  }

  private static func small(_ word: String) -> String {
    var before: UInt8 = 0
    let bytes = word.utf8.map { byte in
      defer { before = byte }
      return smallLetter(byte, after: before)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The byte of a small letter, of ASCII and of the accented ones up to U+00FF, whose first byte in UTF-8 is C3.
  @inline(__always)
  static func smallLetter(_ byte: UInt8, after before: UInt8) -> UInt8 {
    let isAccented = before == 0xC3 && byte &- 0x80 < 0x1F && byte != 0x97
    return isAccented || byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}
