import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Texts that are numbers, nearly numbers, or hard to round; the same ones for the same seed.
struct NumberTexts {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func next() -> [UInt8] {
    var text =
      switch below(100) {
      case ..<40: spelling()
      case ..<54: nearBorder()
      case ..<64: manyDigits()
      case ..<76: printedDouble()
      case ..<84: halfway()
      case ..<92: withExponent()
      case ..<96: endless()
      default: Array(pick(Self.odd).utf8)
      }
    if chance(3) { decorate(&text) }
    return text
  }

  /// Mostly short; digits are often 0, 4, 5 or 9, where rounding is hard.
  private mutating func spelling() -> [UInt8] {
    var text: [UInt8] = chance(25) ? Self.minus : []
    if chance(85) { text += digits(chance(10) ? 0...24 : 1...9) }
    if chance(65) { text += ".".utf8 + digits(chance(10) ? 0...24 : 0...8) }
    if chance(20) {
      text += (chance(50) ? "e" : "E").utf8
      if chance(70) { text += (chance(50) ? "-" : "+").utf8 }
      text += digits(chance(80) ? 1...2 : 0...3)
    }
    return text
  }

  /// Where 32, 48, 53, 63 and 64 bits end, and powers of ten, give or take two.
  private mutating func nearBorder() -> [UInt8] {
    let number = pick(Self.borders) &+ UInt64(below(5)) &- 2
    return sign() + String(number).utf8 + pick(Self.tails).utf8
  }

  private static let borders: [UInt64] = {
    var borders: [UInt64] = [0, 1 << 31, 1 << 32, 1 << 47, 1 << 53, 1 << 54, 1 << 62, 1 << 63, .max]
    var power: UInt64 = 100_000_000_000_000
    for _ in 14...19 {
      borders.append(power)
      power = power &* 10
    }
    return borders
  }()

  private static let tails = [
    "", "", "", "", ".0", ".", ".5", ".00", "e0", "E+0", "e1", "0", ".000000000000001", "e-1",
  ]

  /// 15 to 21 digits, with a point or an exponent or neither.
  private mutating func manyDigits() -> [UInt8] {
    var text = digits(15...21)
    if chance(50) { text.insert(UInt8(ascii: "."), at: below(text.count + 1)) }
    if chance(15) { text += "e".utf8 + sign() + digits(1...2) }
    return sign() + text
  }

  /// A double as it prints, or with another count of digits.
  private mutating func printedDouble() -> [UInt8] {
    let value: Double
    switch below(3) {
    case 0: value = Double(bitPattern: random.next())
    case 1: value = Double(bitPattern: pick(Self.limits).bitPattern &+ UInt64(below(9)) &- 4)
    default: value = Double(Int64(below(2_000_000_000)) - 1_000_000_000) / pick(Self.divisors)
    }
    return chance(50) ? Array("\(value)".utf8) : printed(value, digitCount: 1 + below(21))
  }

  private static let limits: [Double] = [
    .greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, 1e308, 1e-307, 1e-308, 1, 0.1,
    9_007_199_254_740_992, 9_223_372_036_854_775_808, 1e15, 1e16, 1e17, 1e22, 1e23, 140_737_488_355_328,
  ]
  private static let divisors: [Double] = [1, 10, 100, 1_000, 1e4, 1e6, 1e9, 3, 7]

  /// An integer between two doubles, or beside that.
  private mutating func halfway() -> [UInt8] {
    let shift = UInt64(1 + below(10))
    let mantissa = 1 << 52 | random.next() >> 12
    let number = (mantissa << shift | 1 << (shift - 1)) &+ UInt64(below(3)) &- 1
    return sign() + String(number).utf8 + pick(Self.halfTails).utf8
  }

  private static let halfTails = ["", ".0", ".5", ".0000001", "e0", "E+0", "000.0", "e-3", "e12", "e+290"]

  private mutating func withExponent() -> [UInt8] {
    var text = sign() + digits(1...19)
    if chance(50) { text += ".".utf8 + digits(0...8) }
    text += (chance(50) ? "e" : "E").utf8
    if chance(70) { text += (chance(60) ? "-" : "+").utf8 }
    return text + String(below(chance(50) ? 30 : 400)).utf8
  }

  /// Up to 400 digits.
  private mutating func endless() -> [UInt8] {
    var text = digits(20...400)
    if chance(60) { text.insert(UInt8(ascii: "."), at: below(text.count + 1)) }
    if chance(30) { text += "e".utf8 + sign() + String(below(500)).utf8 }
    return sign() + text
  }

  private static let odd = [
    "", " ", "-", "+", ".", "-.", "e5", "1e", "1e+", "1.5e", "--1", "+-1", "- 1", "1-", "1 2", "1.2.3",
    "1e5.0",
    "1e 5", "0x10", "0X1p3", "-0x1", "inf", "-inf", "Infinity", "nan", "NaN", "1_000", "1,000", "1,5", "12a",
    "true", "2026-03-01", "1\0", "\u{A0}1", "１", "1e5", "12E4", "1.0", "-0", "+0", "00", "-00", "0.0", "-0.0",
    "007", "-007", "+5", "+1.5", ".5", "5.", "-.5", "1.e5", "0e0", "0e400", "0.0e-400", "1e400", "-1e400",
    "1e-400", "9e999999999999", "9e-999999999999", "4.9e-324", "5e-324", "2e-324", "2.5e-324",
    "2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623157e308", "1.7976931348623158e308",
    "1.7976931348623159e308", "2.2250738585072011e-308", "2.2250738585072014e-308",
    "0.1000000000000000055511151231257827", "0.30000000000000004", "9007199254740993.0", "8.20788039913184",
    "123456789012345678901234567890", "1e22", "1e23", "1.0e+22", "1.0e+23",
  ]

  /// Adds what SQLite reads over, or what makes it no number.
  private mutating func decorate(_ text: inout [UInt8]) {
    switch below(6) {
    case 0: text = " ".utf8 + text
    case 1: text += pick([" ", "\t", "\r\n", "\u{B}"]).utf8
    case 2: text = "0".utf8 + text
    case 3: text = "+".utf8 + text
    case 4: text.append(UInt8(truncatingIfNeeded: random.next()))
    default: if !text.isEmpty { text[below(text.count)] = UInt8(truncatingIfNeeded: random.next()) }
    }
  }

  // MARK: - Parts

  private static let minus = Array("-".utf8)

  private mutating func sign() -> [UInt8] { chance(25) ? Self.minus : [] }

  private mutating func digits(_ range: ClosedRange<Int>) -> [UInt8] {
    let count = range.lowerBound + below(range.count)
    let isHard = chance(25)
    return (0..<count).map { _ in
      isHard ? Self.hardDigits[below(4)] : UInt8(ascii: "0") + UInt8(below(10))
    }
  }

  private static let hardDigits = Array("0459".utf8)

  private mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  private mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }
}

/// A double with so many significant digits, correctly rounded: `1.50e+03`.
func printed(_ value: Double, digitCount: Int) -> [UInt8] {
  var buffer = [CChar](repeating: 0, count: 64)
  let count = withVaList([Int32(digitCount - 1), value]) { vsnprintf(&buffer, 64, "%.*e", $0) }
  return buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }
}
