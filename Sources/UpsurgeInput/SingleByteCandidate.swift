import UpsurgeRecords

/// An encoding of one byte a character, and the languages that are written in it.
struct SingleByteCandidate {
  /// What is written in an encoding: languages of the west, others with Latin letters, other alphabets.
  enum Family { case western, latin, other }

  let name: String
  let family: Family
  let languages: [LetterModel]
  /// How rare it is, as the logarithm of a probability beside that of Windows-1252.
  let prior: Double

  static let windows1252 = SingleByteCandidate(
    name: "windows-1252", family: .western, languages: LetterModel.western, prior: 0)

  static let others = [
    SingleByteCandidate(name: "iso-8859-15", family: .western, languages: LetterModel.western, prior: -2),
    SingleByteCandidate(name: "cp850", family: .western, languages: LetterModel.western, prior: -3),
    SingleByteCandidate(name: "cp437", family: .western, languages: LetterModel.western, prior: -4),
    SingleByteCandidate(name: "macintosh", family: .western, languages: LetterModel.western, prior: -3.5),
    SingleByteCandidate(name: "windows-1250", family: .latin, languages: LetterModel.central, prior: -2.5),
    SingleByteCandidate(name: "iso-8859-2", family: .latin, languages: LetterModel.central, prior: -3),
    SingleByteCandidate(name: "cp852", family: .latin, languages: LetterModel.central, prior: -4),
    SingleByteCandidate(name: "windows-1254", family: .latin, languages: [.turkish], prior: -3),
    SingleByteCandidate(name: "cp857", family: .latin, languages: [.turkish], prior: -5),
    SingleByteCandidate(name: "windows-1257", family: .latin, languages: LetterModel.baltic, prior: -3),
    SingleByteCandidate(name: "windows-1251", family: .other, languages: [.cyrillic], prior: -2),
    SingleByteCandidate(name: "koi8-r", family: .other, languages: [.cyrillic], prior: -2.5),
    SingleByteCandidate(name: "koi8-u", family: .other, languages: [.cyrillic], prior: -3),
    SingleByteCandidate(name: "cp866", family: .other, languages: [.cyrillic], prior: -3),
    SingleByteCandidate(name: "iso-8859-5", family: .other, languages: [.cyrillic], prior: -3.5),
    SingleByteCandidate(name: "mac-cyrillic", family: .other, languages: [.cyrillic], prior: -4),
    SingleByteCandidate(name: "windows-1253", family: .other, languages: [.greek], prior: -2.5),
    SingleByteCandidate(name: "iso-8859-7", family: .other, languages: [.greek], prior: -3),
    SingleByteCandidate(name: "cp737", family: .other, languages: [.greek], prior: -4),
    SingleByteCandidate(name: "windows-1255", family: .other, languages: [.hebrew], prior: -2.5),
    SingleByteCandidate(name: "cp862", family: .other, languages: [.hebrew], prior: -4),
    SingleByteCandidate(name: "windows-1256", family: .other, languages: [.arabic], prior: -2.5),
    SingleByteCandidate(name: "iso-8859-6", family: .other, languages: [.arabic], prior: -3.5),
    SingleByteCandidate(name: "tis-620", family: .other, languages: [.thai], prior: -2.5),
  ]

  /// The logarithm of how likely the words are, in the language that fits them best.
  func score(_ words: HighWords, _ table: CodeTable) -> Double {
    let signs = table.scalars.map { $0.map(Sign.init) ?? Sign.none }
    var shared = 0.0
    var perLanguage = [Double](repeating: 0, count: languages.count)
    // For each byte what the languages say of it: looked up once.
    let likelihoods = signs.map { sign in languages.map { $0.likelihood(of: sign) } }
    for word in words.words {
      let letters = word.bytes.map { $0 < 0x80 ? Sign(ascii: $0) : signs[Int($0) - 0x80] }
      for (index, byte) in word.bytes.enumerated() where byte >= 0x80 {
        shared += letters[index].plausibility(
          behind: index > 0 ? letters[index - 1] : nil,
          before: index + 1 < letters.count ? letters[index + 1] : nil)
        if letters[index].isLetter {
          for language in languages.indices {
            perLanguage[language] += likelihoods[Int(byte) - 0x80][language]
          }
        }
      }
    }
    return prior + shared + (perLanguage.max() ?? 0)
  }
}

/// A character, as far as its place in a word shows whether it belongs there.
struct Sign: Equatable {
  enum Kind { case lower, upper, caseless, digit, common, rare, drawing, nothing }
  enum Script { case latin, other, none }

  var kind: Kind
  var script: Script
  /// In lower case.
  var scalar: Unicode.Scalar

  static let none = Sign(kind: .nothing, script: .none, scalar: "\0")

  private init(kind: Kind, script: Script, scalar: Unicode.Scalar) {
    (self.kind, self.script, self.scalar) = (kind, script, scalar)
  }

  init(ascii byte: UInt8) {
    let isDigit = (0x30...0x39).contains(byte)
    let kind: Kind = isDigit ? .digit : byte >= 0x61 ? .lower : .upper
    self.init(kind: kind, script: isDigit ? .none : .latin, scalar: Unicode.Scalar(byte | 0x20))
  }

  init(_ scalar: Unicode.Scalar) {
    let folded = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
    let script: Script = scalar.value < 0x250 ? .latin : .other
    switch scalar.properties.generalCategory {
    case .lowercaseLetter: self.init(kind: .lower, script: script, scalar: folded)
    case .uppercaseLetter: self.init(kind: .upper, script: script, scalar: folded)
    case .otherLetter where scalar != "ª" && scalar != "º":
      self.init(kind: .caseless, script: script, scalar: folded)
    case .nonspacingMark: self.init(kind: .caseless, script: .other, scalar: folded)
    default:
      let kind: Kind =
        (0x2500...0x25A0).contains(scalar.value)
        ? .drawing : Self.commonSigns.contains(scalar) ? .common : .rare
      self.init(kind: kind, script: .none, scalar: scalar)
    }
  }

  private static let commonSigns = Set("“”‘’–—…€£°«»§©®™•·¿¡ºª²³½¼¾´×±µ№„\u{A0}".unicodeScalars)

  var isLetter: Bool { kind == .lower || kind == .upper || kind == .caseless }

  private var isHighLatin: Bool { isLetter && script == .latin && scalar.value >= 0x80 }

  /// The logarithm of how likely such a character is between these two; nil: none in its word.
  func plausibility(behind previous: Sign?, before next: Sign?) -> Double {
    switch kind {
    case .nothing: return -12
    case .digit, .common, .rare, .drawing:
      let base = kind == .common ? -3.9 : kind == .drawing ? -9 : -7.6
      guard next?.isLetter == true else { return base }
      if "£€²³½¼¾±".unicodeScalars.contains(scalar) { return base - 3 }
      guard previous?.isLetter == true else { return base }
      switch scalar {
      case "’", "·", "´", "\u{A0}": return base
      case "–", "—": return base - 1
      default: return base - 4
      }
    case .lower, .upper, .caseless: break
    }
    var sum = kind == .upper ? -1.5 : 0
    if kind == .upper && previous?.kind == .lower { sum -= 5 }
    if kind == .lower && next?.kind == .upper { sum -= 3 }
    if script == .latin {
      if previous?.kind == .digit || next?.kind == .digit { sum -= 2 }
      if let previous, previous.isHighLatin, !isUsual(behind: previous) { sum -= next?.isHighLatin == true ? 5 : 1.5 }
      if previous?.script == .other { sum -= 4 }
    } else {
      if previous?.script == .latin { sum -= 4 }
      if next?.script == .latin { sum -= 4 }
      if previous?.isLetter != true && next?.isLetter != true { sum -= 2 }
    }
    return sum
  }

  /// Pairs of letters with accents that are frequent in a western language.
  private func isUsual(behind previous: Sign) -> Bool {
    if scalar == previous.scalar { return true }
    switch (previous.scalar, scalar) {
    case ("ç", "ã"), ("ç", "õ"), ("ü", "ß"), ("ö", "ß"), ("ä", "ß"): return true
    default: return false
    }
  }
}
