import Foundation
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeParsing

/// Numbers with other marks, against a regular expression.
@Suite("Forms of numbers")
struct NumberFormTests {
  static func normalised(_ text: String, _ decimal: ValueFormats.DecimalMark, _ thousands: String?) -> String?
  {
    let form = NumberForm(decimal: decimal, thousands: thousands)
    let bytes = Array(text.utf8)
    var output = [UInt8](repeating: 0x21, count: bytes.count + 1)
    let count = (bytes + [0]).withUnsafeBufferPointer { text in
      output.withUnsafeMutableBufferPointer {
        form.normalise(text.baseAddress!, count: bytes.count, into: $0.baseAddress!)
      }
    }
    #expect(output[bytes.count] == 0x21, "\(text)")
    return count == 0 ? nil : String(decoding: output[..<count], as: UTF8.self)
  }

  /// The slow and obvious way.
  static func reference(_ text: String, _ decimal: ValueFormats.DecimalMark, _ thousands: String?) throws
    -> String?
  {
    let mark = decimal == .comma ? "," : "\\."
    let groups: [String: String] = [" ": "[ \u{A0}\u{202F}]", "'": "['\u{2019}]"]
    let group = thousands.map { groups[$0] ?? NSRegularExpression.escapedPattern(for: $0) }
    let whole = "[0-9]+" + (group.map { "|[0-9]{1,3}(?:\($0)[0-9]{3})+" } ?? "")
    let pattern = "([+-]?)(?:(\(whole))(?:\(mark)([0-9]*))?|\(mark)([0-9]+))([eE][+-]?[0-9]+)?"
    let expression = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
    let range = NSRange(location: 0, length: (text as NSString).length)
    guard let match = expression.firstMatch(in: text, range: range) else { return nil }
    let part = { (index: Int) -> String? in
      match.range(at: index).location == NSNotFound
        ? nil : (text as NSString).substring(with: match.range(at: index))
    }
    let digits = (part(2) ?? "").filter { ("0"..."9").contains($0) }
    let fraction = part(3) ?? part(4)
    return (part(1) ?? "") + digits + (fraction.map { "." + $0 } ?? "") + (part(5) ?? "")
  }

  @Test(
    "Numbers lose their groups, and their comma becomes a point",
    arguments: [
      (.comma, ".", "1.234,56", "1234.56"), (.comma, ".", "-1.234.567", "-1234567"),
      (.comma, nil, "0,5", "0.5"), (.comma, ".", "1234,5", "1234.5"),
      (.point, ",", "1,234.5e-3", "1234.5e-3"), (.point, "'", "1\u{2019}234", "1234"),
      (.comma, " ", "1\u{202F}234\u{A0}567,8", "1234567.8"),
      (.comma, ".", "1.23", nil), (.comma, ".", "1234.567", nil), (.comma, ".", "12.34.567", nil),
      (.comma, ".", ".123", nil), (.comma, nil, "1.5", nil),
      (.comma, ".", "1,2,3", nil), (.comma, ".", "1,234.5", nil), (.comma, ".", "-", nil),
      (.comma, ".", ",", nil), (.comma, ".", "1,5 €", nil),
      (.comma, ".", "1e", nil), (.comma, ".", "0x1F", nil), (.comma, ".", "1.2345", nil),
      (.comma, "\u{A0}", "1 234", "1234"), (.point, "·", "1·234.5", "1234.5"),
    ] as [(ValueFormats.DecimalMark, String?, String, String?)])
  func numbers(decimal: ValueFormats.DecimalMark, thousands: String?, text: String, expected: String?) {
    #expect(Self.normalised(text, decimal, thousands) == expected, "\(text)")
  }

  @Test(
    "Texts by chance are what a regular expression makes of them",
    arguments: SeededGenerator.some(of: UInt64(40)))
  func chance(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let letters = [
      "0", "1", "9", "12", "345", "678", ",", ".", " ", "'", "\u{202F}", "\u{2019}", "-", "+", "e", "x",
    ]
    var count = 0
    for _ in 0..<400 {
      let decimal: ValueFormats.DecimalMark = Bool.random(using: &random) ? .comma : .point
      let thousands = [nil, decimal == .comma ? "." : ",", " ", "'"].randomElement(using: &random)!
      let length = Int.random(in: 0...7, using: &random)
      let text = (0..<length).map { _ in letters.randomElement(using: &random)! }.joined()
      let expected = try Self.reference(text, decimal, thousands)
      #expect(
        Self.normalised(text, decimal, thousands) == expected,
        "seed \(seed): \(text) \(decimal) \(thousands ?? "none")")
      if expected != nil { count += 1 }
    }
    #expect(count > 10, "seed \(seed)")
  }
}
