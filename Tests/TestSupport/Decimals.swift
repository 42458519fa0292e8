import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Decimals for tests of what becomes of them.
public enum Decimals {
  /// How many a test tries: UPSURGE_DECIMALS.
  public static let count = getenv("UPSURGE_DECIMALS").flatMap { Int(String(cString: $0)) } ?? 20_000

  /// Decimals as JSON writes them: prices, many digits, all exponents, doubles, and what lies halfway between two.
  public static func texts(_ count: Int, seed: UInt64) -> [String] {
    var random = SeededGenerator(seed: seed)
    func digits(_ range: ClosedRange<Int>) -> String {
      let count = Int.random(in: range, using: &random)
      return String(
        decoding: (0..<count).map { _ in UInt8.random(in: 0x30...0x39, using: &random) }, as: UTF8.self)
    }
    func plain(_ digits: String) -> String {
      let rest = digits.drop { $0 == "0" }
      return rest.isEmpty ? "0" : String(rest)
    }
    var texts = [
      "8.20788039913184", "0.1", "9007199254740993.0", "1.7976931348623157e308", "4.9e-324",
      "2.4703282292062328e-324",
      "9223372036854775808", "123456789012345678901234567890", "1e23", "1e400", "-1e400", "1e-400", "5e-324",
      "0.500000000000000166533453693773481063544750213623046875", "3.518437208883201171875e13",
      "62.5364939768271845828", "8.10109172351e-10", "1.50000000000000011102230246251565",
      "9007199254740991.4999999999999999999",
      "1.00000000000000011102230246251565404236316680908203124",
      "1.00000000000000011102230246251565404236316680908203126",
      "1" + String(repeating: "0", count: 900) + ".0e-900",
      "0." + String(repeating: "0", count: 400) + "1e390",
      "9007199254740993." + String(repeating: "0", count: 1_000) + "1",
    ]
    while texts.count < count {
      let sign = Bool.random(using: &random) ? "-" : ""
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: texts.append(sign + plain(digits(1...7)) + "." + digits(1...8))
      case 2: texts.append(sign + plain(digits(1...9)) + "." + digits(7...9))
      case 3: texts.append(sign + plain(digits(1...20)) + "." + digits(1...25))
      case 4:
        texts.append(
          sign + plain(digits(1...3)) + "." + digits(1...17)
            + "e\(Int.random(in: -330...310, using: &random))")
      case 5:
        texts.append("\(Double(bitPattern: UInt64.random(in: 0..<0x7FE0_0000_0000_0000, using: &random)))")
      case 6: texts.append(sign + "0." + digits(15...18))
      default:
        // Halfway between two doubles, and a little beside it.
        let double = Double(UInt64.random(in: 1 << 52..<1 << 53, using: &random))
        let scale = Int.random(in: 1...9, using: &random)
        let half = String(format: "%.60f", double / pow(2, Double(scale)))
        let step = String(format: "%.60f", pow(0.5, Double(scale + 1)))
        texts.append(Self.sum(half, step) + ["", "1", "0000001"].randomElement(using: &random)!)
      }
    }
    return Array(texts.prefix(count))
  }

  /// The sum of two decimals with equally many places.
  private static func sum(_ one: String, _ other: String) -> String {
    let width = max(one.count, other.count)
    let (left, right) = (pad(one, width), pad(other, width))
    var (carry, out): (UInt8, [UInt8]) = (0, [])
    for (a, b) in zip(left.utf8.reversed(), right.utf8.reversed()) {
      if a == UInt8(ascii: ".") {
        out.append(a)
        continue
      }
      let digit = a - 0x30 + (b - 0x30) + carry
      carry = digit / 10
      out.append(digit % 10 + 0x30)
    }
    if carry > 0 { out.append(0x31) }
    return String(decoding: out.reversed(), as: UTF8.self)
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    String(repeating: "0", count: width - text.count) + text
  }
}
