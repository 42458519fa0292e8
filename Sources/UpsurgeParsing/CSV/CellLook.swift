/// What a field of a sample looks like, from its bytes alone; shows how likely it is that a file was cut into
/// fields at the right places.
enum CellLook: Equatable {
  case empty
  /// Digits with signs, separators, a currency or a percent sign: `-1,234.50`, `$74.69`, `45%`, `1e-7`.
  case number
  /// Digits with `-`, `/`, `:`: dates, times, and what is written like them.
  case temporal
  /// No blanks.
  case word
  case phrase
  /// Several numbers with blanks between them.
  case numberList
  /// Marks that often part fields: how many.
  case marked(Int)
  /// A quote at its edge, as if cut out of a quoted field.
  case cutQuote
  /// In single quotes.
  case singleQuoted

  /// How well it goes with being one field, 0...1.
  var score: Double {
    switch self {
    case .number, .temporal: 1
    case .word: 0.92
    case .phrase: 0.88
    case .empty: 0.8
    case .singleQuoted: 0.5
    case .marked(let count): count > 2 ? 0.25 : 0.4
    case .numberList: 0.3
    case .cutQuote: 0.2
    }
  }

  /// A number, date or time: what a header's cells seldom are.
  var isTyped: Bool { self == .number || self == .temporal }

  init(_ text: some BidirectionalCollection<UInt8>) {
    var text = text[...]
    while let first = text.first, first == 0x20 { text = text.dropFirst() }
    while let last = text.last, last == 0x20 { text = text.dropLast() }
    guard let first = text.first, let last = text.last else {
      self = .empty
      return
    }
    let tally = Tally(text)
    if first == UInt8(ascii: "\"") || last == UInt8(ascii: "\"") {
      self = .cutQuote
    } else if first == UInt8(ascii: "'") && last == first && text.count > 1 {
      self = .singleQuoted
    } else if Self.isNumber(text) {
      self = .number
    } else if Self.isTemporal(text, tally) {
      self = .temporal
    } else if tally.digits > 0 && tally.blanks > 0 && tally.digits + tally.blanks + tally.dots == tally.count {
      self = .numberList
    } else if tally.marks > 0 || tally.controls > 0 {
      self = .marked(tally.marks + tally.controls)
    } else if tally.colons > 2 {
      self = .marked(tally.colons)
    } else {
      self = tally.blanks == 0 ? .word : .phrase
    }
  }

  private struct Tally {
    var count = 0
    var digits = 0
    var blanks = 0
    var dots = 0
    var colons = 0
    var dateMarks = 0
    var letters = 0
    var marks = 0
    var controls = 0

    init(_ text: some Sequence<UInt8>) {
      for byte in text {
        count += 1
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
        case UInt8(ascii: " "): blanks += 1
        case UInt8(ascii: "."): dots += 1
        case UInt8(ascii: ":"): colons += 1
        case UInt8(ascii: "-"), UInt8(ascii: "/"): dateMarks += 1
        case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "|"), UInt8(ascii: "^"), UInt8(ascii: "~"), 0x09,
          0x1F, 0x01:
          marks += 1
        case 0x0A, 0x0D: blanks += 1
        case 0..<0x20: controls += 1
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: letters += 1
        default: break
        }
      }
    }
  }

  static func isNumber(_ text: some BidirectionalCollection<UInt8>) -> Bool {
    var rest = text[...]
    var digits = 0
    var exponents = 0
    while let first = rest.first, isNumberEdge(first) { rest = rest.dropFirst() }
    while let last = rest.last, isNumberEdge(last) { rest = rest.dropLast() }
    var previous: UInt8 = 0
    // Several commas, or several dots, part groups of three digits.
    var commas = 0
    var dots = 0
    var hasShortGroup = false
    var groupDigits = 0
    for byte in rest {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digits += 1
        groupDigits += 1
      case UInt8(ascii: "."), UInt8(ascii: ","):
        if commas + dots > 0 && groupDigits != 3 { hasShortGroup = true }
        if byte == UInt8(ascii: ",") { commas += 1 } else { dots += 1 }
        groupDigits = 0
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        exponents += 1
        if digits == 0 || exponents > 1 { return false }
      case UInt8(ascii: "+"), UInt8(ascii: "-"):
        if previous != UInt8(ascii: "e") && previous != UInt8(ascii: "E") { return false }
      default: return false
      }
      previous = byte
    }
    if max(commas, dots) > 1 && hasShortGroup { return false }
    return digits > 0
  }

  /// Signs, brackets, percent and currency signs (the bytes of the euro's and the pound's, too).
  private static func isNumberEdge(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "$"), UInt8(ascii: "("), UInt8(ascii: ")"),
      UInt8(ascii: "%"), UInt8(ascii: " "), 0xE2, 0x82, 0xAC, 0xC2, 0xA3:
      true
    default: false
    }
  }

  private static func isTemporal(_ text: some BidirectionalCollection<UInt8>, _ tally: Tally) -> Bool {
    guard let first = text.first, first >= UInt8(ascii: "0") && first <= UInt8(ascii: "9") else { return false }
    let separators = tally.colons + tally.dateMarks
    // `T`, `Z`, `AM`, `PM`, `UTC` and the like, but no words.
    return separators > 0 && separators <= 6 && tally.digits >= 3 && tally.letters <= 4 && tally.blanks <= 2
      && tally.digits + separators + tally.letters + tally.blanks + tally.dots + 1 >= tally.count
      && tally.marks == 0
  }

  /// Four digits from 1500 to 2199.
  static func isYear(_ text: [UInt8]) -> Bool {
    guard text.count == 4, text.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return false }
    return text[0] == UInt8(ascii: "1") && text[1] >= UInt8(ascii: "5")
      || text[0] == UInt8(ascii: "2") && text[1] <= UInt8(ascii: "1")
  }
}
