import SQLiteSupport
import TestSupport

/// Values at random, of all sizes.
enum ValueMaker {
  static func any(_ random: inout SeededGenerator, longest: Int) -> Value {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: nil
    case 1, 2: .integer(integer(&random))
    case 3: .real(real(&random))
    case 4: .text(text(&random, longest: longest))
    default: .blob(Array(text(&random, longest: longest).utf8))
    }
  }

  /// Of as many bits as it happens.
  static func integer(_ random: inout SeededGenerator) -> Int64 {
    Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random)
  }

  static func real(_ random: inout SeededGenerator) -> Double {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: Double(integer(&random))
    case 1: -0.0
    case 2: Double.random(in: -1...1, using: &random)
    case 3: .nan
    case 4: .infinity
    default: Double(Int64.random(in: -10_000...10_000, using: &random)) / 4
    }
  }

  /// Short mostly; letters only, so that it is no number.
  static func text(_ random: inout SeededGenerator, longest: Int) -> String {
    let isLong = Int.random(in: 0..<8, using: &random) == 0
    let count = Int.random(in: 0...(isLong ? longest : min(longest, 40)), using: &random)
    let letters = Array("abcxyzé".unicodeScalars)
    var text = String.UnicodeScalarView()
    for _ in 0..<count { text.append(letters[Int(random.next() % 7)]) }
    return String(text)
  }
}
