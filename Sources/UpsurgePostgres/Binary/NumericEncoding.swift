/// Decimal numbers as `numeric` is sent: digits to the base of 10,000, aligned to the decimal point.
///
///     1234567.891        digits 123 4567 8910, weight 2 (10000^2), scale 3
///     Int16 digit count | Int16 weight | Int16 sign | Int16 scale | Int16 digits ...
///
/// Like the server, it has no zero at either end of its digits, and rounds halves away from zero where the type has a scale.
enum NumericEncoding {
  private static let negative: UInt16 = 0x4000

  /// - Parameters:
  ///   - precision: digits in all; -1 for a type without.
  ///   - scale: digits after the point, or before it where it is negative.
  static func encode(
    _ text: UnsafeBufferPointer<UInt8>, precision: Int, scale: Int, into out: inout RowBuffer
  ) -> EncodingFault? {
    let text = SpelledNumber.trimmed(text)
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count + 1) { digits in
      var decimal = Decimal(digits: digits)
      if let fault = decimal.read(text) {
        guard fault == .syntax, let word = SpelledWord.number(text) else { return fault }
        return encode(word, precision: precision, into: &out)
      }
      if precision >= 0 {
        decimal.round(scale: scale)
        if !decimal.isZero, decimal.point > precision - scale { return .outOfRange }
      }
      // The server has bounds of its own, far out.
      if decimal.point > 100_000 || decimal.scale > 16_000 { return .undecided }
      decimal.put(into: &out)
      return nil
    }
  }

  private static func encode(_ word: SpelledWord.Number, precision: Int, into out: inout RowBuffer) -> EncodingFault? {
    // Infinity came with version 14.
    if word != .nan { return precision >= 0 ? .outOfRange : .undecided }
    out.reserve(12)
    out.put(Int32(8))
    for part: UInt16 in [0, 0, 0xC000, 0] { out.put(part) }
    return nil
  }

  /// A number that is read: 0.DIGITS times 10 to the power of `point`.
  private struct Decimal {
    /// Values from 0 to 9, with room for one before them.
    let digits: UnsafeMutableBufferPointer<UInt8>
    var start = 1
    var end = 1
    var point = 0
    var scale = 0
    var isNegative = false

    init(digits: UnsafeMutableBufferPointer<UInt8>) { self.digits = digits }

    var isZero: Bool { start == end }

    mutating func read(_ text: UnsafeBufferPointer<UInt8>) -> EncodingFault? {
      var index = 0
      if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
        isNegative = first == UInt8(ascii: "-")
        index = 1
      }
      var (hasDigits, hasPoint) = (false, false)
      while index < text.count {
        let byte = text[index]
        if SpelledNumber.isDigit(byte) {
          hasDigits = true
          if hasPoint { scale += 1 } else { point += 1 }
          digits[end] = byte - 0x30
          end += 1
        } else if byte == UInt8(ascii: "."), !hasPoint {
          hasPoint = true
        } else {
          break
        }
        index += 1
      }
      if !hasDigits { return .syntax }
      if index < text.count {
        guard text[index] | 0x20 == UInt8(ascii: "e") else { return SpelledNumber.isNewerSpelling(text) ? .undecided : .syntax }
        let (power, fault) = Self.exponent(UnsafeBufferPointer(rebasing: text[(index + 1)...]))
        if let fault { return fault }
        point += power
        scale = max(0, scale - power)
      }
      while start < end, digits[start] == 0 {
        start += 1
        point -= 1
      }
      trimEnd()
      return nil
    }

    private static func exponent(_ text: UnsafeBufferPointer<UInt8>) -> (Int, EncodingFault?) {
      guard let last = text.last, SpelledNumber.isDigit(last), text.count < 7 else { return (0, text.count < 7 ? .syntax : .undecided) }
      // Some servers skip spaces there.
      if SpelledNumber.isSpace(text[0]) { return (0, .undecided) }
      let (power, fault) = SpelledNumber.integer(text)
      return (Int(power), fault)
    }

    private mutating func trimEnd() {
      while end > start, digits[end - 1] == 0 { end -= 1 }
      if isZero { (isNegative, point) = (false, 0) }
    }

    /// Keeps so many digits after the point.
    mutating func round(scale: Int) {
      self.scale = max(scale, 0)
      if isZero { return }
      let kept = point + scale
      guard kept < end - start else { return }
      if kept < 0 {
        end = start
        return trimEnd()
      }
      let goesUp = digits[start + kept] >= 5
      end = start + kept
      if goesUp { addOne() }
      trimEnd()
    }

    /// One more in the last place.
    private mutating func addOne() {
      var place = end - 1
      while place >= start, digits[place] == 9 {
        digits[place] = 0
        place -= 1
      }
      if place >= start {
        digits[place] += 1
        return
      }
      // All were nines, or none is left: leading zeros have made room where the first digit is not the first of the text.
      start -= 1
      digits[start] = 1
      point += 1
    }

    func put(into out: inout RowBuffer) {
      // The first group has as many digits as are left of the point, or of a group's border after it.
      let weight = isZero ? 0 : (point - 1 >= 0 ? (point - 1) / 4 : (point - 4) / 4)
      let first = isZero ? 0 : point - weight * 4
      let count = isZero ? 0 : (end - start - first + 3) / 4 + 1
      let groups = isZero ? 0 : max(count, 1)
      out.reserve(12 + groups * 2)
      out.put(Int32(8 + groups * 2))
      out.put(Int16(groups))
      out.put(Int16(weight))
      out.put(isNegative ? NumericEncoding.negative : 0)
      out.put(Int16(scale))
      var place = start
      for group in 0..<groups {
        var value: Int16 = 0
        for _ in 0..<(group == 0 ? first : 4) {
          value = value * 10 + (place < end ? Int16(digits[place]) : 0)
          place += 1
        }
        out.put(value)
      }
    }
  }
}
