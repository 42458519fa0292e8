import UpsurgeRecords

/// How a number is written where nothing but its value is kept.
///
///     2.5  0.125  -3.0      one spelling for each number
///     2.50  2.  .5  25e-1   the same numbers, written otherwise
enum NumberSpelling {
  /// Whether a decimal that a double holds is written as the double is: digits on both sides of one point, no zeros
  /// that say nothing, no exponent, and no more digits than tell it from other doubles.
  /// - Parameters:
  ///   - text: what `upsurge_number_scan` found to be REAL; `value` is its double.
  ///   - allowsWhole: whether `3.0` is such a spelling, as in a column of reals; in others the number is the integer 3.
  static func isShortest(
    _ text: UnsafePointer<UInt8>, count: Int, value: Double, allowsWhole: Bool
  ) -> Bool {
    let isNegative = text[0] == UInt8(ascii: "-")
    var at = isNegative ? 1 : 0
    let wholeStart = at
    while at < count && isDigit(text[at]) { at += 1 }
    guard at > wholeStart, at < count, text[at] == UInt8(ascii: ".") else { return false }
    let fractionStart = at + 1
    at = fractionStart
    while at < count && isDigit(text[at]) { at += 1 }
    guard at == count, at > fractionStart else { return false }
    if text[count - 1] == UInt8(ascii: "0") {
      let isWhole = count - fractionStart == 1
      if !isWhole || !allowsWhole || (isNegative && value == 0) { return false }
    }
    // Up to 15 digits every decimal has a double of its own.
    if count - wholeStart <= 16 { return true }
    let digits = significantDigits(UnsafeBufferPointer(start: text, count: count))
    return digits.count <= 15 || digits == significantDigits("\(value)".utf8)
  }

  /// Whether a decimal may not be the shortest one, by a look at its ends: `3.10`, `.5`, `1e5`, `1e+05`, `1e+100`.
  @inline(__always)
  static func mayBeLonger(_ text: UnsafePointer<UInt8>, count: Int) -> Bool {
    let last = text[count - 1]
    if last == UInt8(ascii: "0") || last == UInt8(ascii: ".") || text[0] == UInt8(ascii: ".") || count > 16 { return true }
    // An exponent of a decimal has a sign, or a point stands before it, and at most three digits.
    return count > 3 && (isExponent(text[count - 2]) || isExponent(text[count - 3]) || isExponent(text[count - 4]))
      || count > 5 && isExponent(text[count - 5])
  }

  /// The digits before an exponent, without leading and trailing zeros.
  private static func significantDigits(_ text: some Sequence<UInt8>) -> [UInt8] {
    var digits: [UInt8] = []
    for byte in text {
      if byte | 0x20 == UInt8(ascii: "e") { break }
      if isDigit(byte) && !(digits.isEmpty && byte == UInt8(ascii: "0")) { digits.append(byte) }
    }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    return digits
  }

  @inline(__always)
  private static func isExponent(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "e") }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }
}

/// Whether the text of a key says more than the number that its column makes of it, so that two keys would be one.
/// - Parameter cell: what ``convertText(_:count:offset:isInSpill:affinity:into:)`` made of it, without a note.
func changesKey(_ text: UnsafePointer<UInt8>, count: Int, isReal: Bool, cell: Cell) -> Bool {
  guard cell.isReal else { return false }
  return !NumberSpelling.isShortest(
    text, count: count, value: Double(bitPattern: cell.payload), allowsWhole: isReal)
}

/// Whether a key of numbers would not be what a text says: it is a number, and written otherwise.
package func changesKey(_ text: String, affinity: Affinity) -> Bool {
  var text = text
  return text.withUTF8 { bytes in
    guard affinity.isNumeric, let start = bytes.baseAddress else { return false }
    var cell = Cell.null
    let note = convertText(
      start, count: bytes.count, offset: 0, isInSpill: false, affinity: affinity, into: &cell)
    return note == .spellingChanges
      || note == .none && changesKey(start, count: bytes.count, isReal: affinity.isReal, cell: cell)
  }
}
