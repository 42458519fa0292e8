import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the C library makes of texts, and the slow, obvious rules that conversions are compared with.
enum SlowNumbers {
  /// The nearest double of a text that begins with a decimal: what `strtod` says.
  static func nearestDouble(_ text: [UInt8]) -> Double { strtod(terminated(text), nil) }

  /// What `strtoll` says; nil for an integer of more than 64 bits.
  static func integer(_ text: [UInt8]) -> Int64? {
    errno = 0
    let value = strtoll(terminated(text), nil, 10)
    return errno == ERANGE ? nil : Int64(value)
  }

  private static func terminated(_ text: [UInt8]) -> [CChar] { text.map { CChar(bitPattern: $0) } + [0] }

  /// Whether a text is an integer as a program writes it: no sign but a minus, no leading zero, no `-0`.
  static func isPlainInteger(_ text: [UInt8]) -> Bool {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? text.dropFirst() : text[...]
    guard let first = digits.first, digits.allSatisfy(isDigit) else { return false }
    return first != UInt8(ascii: "0") || digits.count == 1 && !isNegative
  }

  /// Whether a text is a number by RFC 8259, section 6.
  static func isJSON(_ text: [UInt8]) -> Bool {
    var rest = text[...]
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let whole = rest.prefix(while: isDigit)
    rest = rest.dropFirst(whole.count)
    if whole.isEmpty || whole.first == UInt8(ascii: "0") && whole.count > 1 { return false }
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst().prefix(while: isDigit)
      rest = rest.dropFirst(1 + fraction.count)
      if fraction.isEmpty { return false }
    }
    if let first = rest.first, first | 0x20 == UInt8(ascii: "e") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
      let digits = rest.prefix(while: isDigit)
      rest = rest.dropFirst(digits.count)
      if digits.isEmpty { return false }
    }
    return rest.isEmpty
  }

  /// What becomes of a JSON number: an integer of 64 bits, the nearest double where that keeps all digits or the column
  /// holds numbers, or the text.
  enum Value: Equatable {
    case integer(Int64)
    case real(UInt64)
    case text
  }

  static func value(json text: [UInt8], _ affinity: Affinity) -> Value {
    if affinity == .text { return .text }
    if isPlainInteger(text) {
      guard let value = integer(text) else {
        return affinity.isNumeric ? .real(nearestDouble(text).bitPattern) : .text
      }
      let isHeld = affinity != .real || Int64(exactly: Double(value)) == value
      return isHeld ? .integer(value) : .real(Double(value).bitPattern)
    }
    let value = nearestDouble(text)
    return affinity.isNumeric || isHeld(text, by: value) ? .real(value.bitPattern) : .text
  }

  /// Whether a double, printed with as many digits as the text has, prints the same ones.
  private static func isHeld(_ text: [UInt8], by value: Double) -> Bool {
    let own = Decimal(text)
    if own.digits.isEmpty { return true }
    if own.digits.count > 17 || value == 0 || !value.isFinite { return false }
    return Decimal(printed(value, digitCount: own.digits.count)) == own
  }

  /// Digits without the zeros around them, and the power of ten of the first one.
  private struct Decimal: Equatable {
    var digits: [UInt8] = []
    var exponent = 0

    init(_ text: [UInt8]) {
      var hasPoint = false
      var rest = text[...]
      while let byte = rest.first, byte | 0x20 != UInt8(ascii: "e") {
        rest = rest.dropFirst()
        if byte == UInt8(ascii: ".") { hasPoint = true }
        guard SlowNumbers.isDigit(byte) else { continue }
        if byte != UInt8(ascii: "0") || !digits.isEmpty {
          digits.append(byte)
          if !hasPoint { exponent += 1 }
        } else if hasPoint {
          exponent -= 1
        }
      }
      // More than a million is as far away as a million.
      let written = String(decoding: rest.dropFirst(), as: UTF8.self)
      let isNegative = written.hasPrefix("-")
      exponent += Int(written) ?? (written.isEmpty ? 0 : isNegative ? -1_000_000 : 1_000_000)
      while digits.last == UInt8(ascii: "0") { digits.removeLast() }
      if digits.isEmpty { exponent = 0 }
    }
  }

  fileprivate static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
