/// An encoding of Chinese, Japanese or Korean, most of whose characters have two bytes.
///
/// How likely a character is follows from its row: the frequent ones come first in all of these tables.
struct DoubleByteCandidate: Sendable {
  /// A character at the front of some bytes.
  private struct Character {
    var byteCount: Int
    /// The logarithm of how likely it is.
    var likelihood: Double
  }

  let name: String
  private let prior: Double
  private let read: @Sendable (_ lead: UInt8, _ trail: UInt8) -> Double?

  /// One of some dozens, some hundreds, some thousands; and one that hardly anybody uses.
  private enum Likelihood {
    static let kana = -4.1
    static let frequent = -6.6
    static let known = -8.0
    static let rare = -11.0
    static let impossible = -12.0
  }

  static let all = [
    DoubleByteCandidate(name: "shift_jis", prior: -2, read: shiftJIS),
    DoubleByteCandidate(name: "gb18030", prior: -2, read: gb18030),
    DoubleByteCandidate(name: "big5", prior: -2.5, read: big5),
    DoubleByteCandidate(name: "euc-kr", prior: -2.5, read: eucKR),
    DoubleByteCandidate(name: "euc-jp", prior: -3, read: eucJP),
  ]

  private static func shiftJIS(_ lead: UInt8, _ trail: UInt8) -> Double? {
    guard (0x40...0x7E).contains(trail) || (0x80...0xFC).contains(trail) else { return nil }
    switch lead {
    case 0x81: return Likelihood.frequent
    case 0x82: return (0x9F...0xF1).contains(trail) ? Likelihood.kana : Likelihood.frequent
    case 0x83: return trail <= 0x96 ? Likelihood.kana : Likelihood.rare
    case 0x88...0x97: return Likelihood.frequent
    case 0x98...0x9F, 0xE0...0xEA: return Likelihood.known - 1
    case 0x84, 0x87, 0xED...0xEE, 0xF0...0xFC: return Likelihood.rare
    default: return nil
    }
  }

  private static func gb18030(_ lead: UInt8, _ trail: UInt8) -> Double? {
    guard (0x81...0xFE).contains(lead), (0x40...0x7E).contains(trail) || (0x80...0xFE).contains(trail) else {
      return nil
    }
    if trail < 0xA1 { return Likelihood.rare }
    switch lead {
    case 0xA1, 0xA3: return Likelihood.frequent
    case 0xB0...0xD7: return Likelihood.frequent
    case 0xD8...0xF7: return Likelihood.known - 1
    default: return Likelihood.rare
    }
  }

  private static func big5(_ lead: UInt8, _ trail: UInt8) -> Double? {
    guard (0x40...0x7E).contains(trail) || (0xA1...0xFE).contains(trail) else { return nil }
    switch lead {
    case 0xA1: return Likelihood.frequent
    case 0xA4...0xC6: return Likelihood.frequent - 0.2
    case 0xC9...0xF9: return Likelihood.known - 1
    case 0x87...0xFE: return Likelihood.rare
    default: return nil
    }
  }

  private static func eucKR(_ lead: UInt8, _ trail: UInt8) -> Double? {
    switch (lead, trail) {
    case (0xB0...0xC8, 0xA1...0xFE): return Likelihood.frequent + 0.3
    case (0xA1, 0xA1...0xFE): return Likelihood.frequent
    case (0xCA...0xFD, 0xA1...0xFE): return Likelihood.rare
    case (0x81...0xFD, 0x41...0x5A), (0x81...0xFD, 0x61...0x7A), (0x81...0xFD, 0x81...0xFE): return Likelihood.rare
    default: return nil
    }
  }

  private static func eucJP(_ lead: UInt8, _ trail: UInt8) -> Double? {
    guard (0xA1...0xFE).contains(trail) else { return nil }
    switch lead {
    case 0xA4, 0xA5: return Likelihood.kana
    case 0xA1, 0xA3: return Likelihood.frequent
    case 0xB0...0xCF: return Likelihood.frequent
    case 0xD0...0xF4: return Likelihood.known - 1
    case 0x8E: return Likelihood.known
    default: return Likelihood.rare
    }
  }

  /// The logarithm of how likely the words are, and how many of their characters are beyond ASCII.
  func score(_ words: HighWords) -> (score: Double, characterCount: Int) {
    var sum = prior
    var characterCount = 0
    for word in words.words {
      var bytes = word.bytes
      bytes.append(word.next)
      var index = 0
      while index < word.bytes.count {
        if bytes[index] < 0x80 {
          index += 1
          continue
        }
        let character = character(in: bytes, at: index)
        sum += character.likelihood
        characterCount += 1
        if index > 0, Self.isLetter(bytes[index - 1]) { sum -= 3 }
        index += character.byteCount
        if index < word.bytes.count, Self.isLetter(bytes[index]) { sum -= 3 }
      }
    }
    return (sum, characterCount)
  }

  private func character(in bytes: [UInt8], at index: Int) -> Character {
    let lead = bytes[index]
    if name == "shift_jis", (0xA1...0xDF).contains(lead) {
      // Narrow katakana, which come in rows.
      let isAlone = index + 1 >= bytes.count || !(0xA1...0xDF).contains(bytes[index + 1])
      return Character(byteCount: 1, likelihood: isAlone ? Likelihood.frequent : Likelihood.kana)
    }
    if name == "gb18030", index + 3 < bytes.count, (0x30...0x39).contains(bytes[index + 1]), bytes[index + 2] >= 0x81,
      (0x30...0x39).contains(bytes[index + 3])
    {
      return Character(byteCount: 4, likelihood: Likelihood.rare)
    }
    guard index + 1 < bytes.count, let likelihood = read(lead, bytes[index + 1]) else {
      return Character(byteCount: 1, likelihood: Likelihood.impossible)
    }
    return Character(byteCount: 2, likelihood: likelihood)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
