/// How the numbers of a file are written where that is not `1234.56`.
///
///     comma, groups by .      1.234,56     1234.56
///     point, groups by ,      1,234.56     1234.56
///     comma, groups by space  1 234,56     1234.56, also with no-break spaces
///
/// Groups are whole or not there at all: `1.23` and `12.34.567` are no numbers in the first form.
package struct NumberForm: Sendable, Equatable {
  /// What stands between groups of three digits.
  enum Group: UInt8, Sendable {
    case none, bytes
    /// A blank, U+00A0 or U+202F.
    case space
    /// `'` or U+2019.
    case apostrophe
  }

  /// The byte between whole and fraction.
  package let mark: UInt8
  let group: Group
  /// The group's character in UTF-8, from its first byte on; up to four bytes.
  let groupBytes: UInt32
  let groupByteCount: Int

  /// - Parameter thousands: one character; nil where digits are not grouped.
  init(decimal: ValueFormats.DecimalMark, thousands: String?) {
    mark = decimal == .comma ? UInt8(ascii: ",") : UInt8(ascii: ".")
    let bytes = Array((thousands ?? "").utf8.prefix(4))
    group =
      switch thousands {
      case nil, "": .none
      case " ", "\u{A0}", "\u{202F}": .space
      case "'", "\u{2019}": .apostrophe
      default: .bytes
      }
    groupBytes = bytes.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }
    groupByteCount = bytes.count
  }

  /// Writes a number as SQL does, which never takes more bytes; `output` has room for `count`.
  /// - Returns: the bytes written; 0 for what is no number of this form.
  func normalise(_ text: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
    var at = 0
    var written = 0
    @inline(__always) func copy() {
      output[written] = text[at]
      written += 1
      at += 1
    }
    @inline(__always) func copyDigits() -> Int {
      let start = at
      while at < count && text[at] &- UInt8(ascii: "0") <= 9 { copy() }
      return at - start
    }
    if at < count && (text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+")) { copy() }
    var digits = copyDigits()
    var separator = group == .none ? 0 : separatorByteCount(text + at, count - at)
    if separator > 0 && !(1...3).contains(digits) { return 0 }
    while separator > 0 {
      at += separator
      if copyDigits() != 3 { return 0 }
      separator = separatorByteCount(text + at, count - at)
    }
    if at < count && text[at] == mark {
      output[written] = UInt8(ascii: ".")
      written += 1
      at += 1
      digits += copyDigits()
    }
    if digits == 0 { return 0 }
    if at < count && text[at] | 0x20 == UInt8(ascii: "e") {
      copy()
      if at < count && (text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+")) { copy() }
      if copyDigits() == 0 { return 0 }
    }
    return at == count ? written : 0
  }

  /// Whether a text is a number of this form.
  func takes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress else { return false }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { room in
      room.baseAddress.map { normalise(start, count: text.count, into: $0) > 0 } ?? false
    }
  }

  /// Which marks a number of this form has.
  /// - Returns: how many groups of three digits, and whether a fraction.
  func marks(of number: UnsafeBufferPointer<UInt8>) -> (groupCount: Int, hasFraction: Bool) {
    guard let text = number.baseAddress else { return (0, false) }
    var found = (groupCount: 0, hasFraction: false)
    var at = 0
    while at < number.count {
      let separator = group == .none ? 0 : separatorByteCount(text + at, number.count - at)
      if separator > 0 {
        found.groupCount += 1
      } else if text[at] == mark {
        found.hasFraction = true
      }
      at += max(separator, 1)
    }
    return found
  }

  /// The bytes of the group's mark, where one stands at `text`; 0 where none does.
  @inline(__always)
  private func separatorByteCount(_ text: UnsafePointer<UInt8>, _ count: Int) -> Int {
    if count == 0 { return 0 }
    switch group {
    case .none: return 0
    case .bytes:
      if groupByteCount > count { return 0 }
      for index in 0..<groupByteCount
      where text[index] != UInt8(truncatingIfNeeded: groupBytes >> (8 * UInt32(index))) {
        return 0
      }
      return groupByteCount
    case .space:
      if text[0] == UInt8(ascii: " ") { return 1 }
      if count >= 2 && text[0] == 0xC2 && text[1] == 0xA0 { return 2 }
      return count >= 3 && text[0] == 0xE2 && text[1] == 0x80 && text[2] == 0xAF ? 3 : 0
    case .apostrophe:
      if text[0] == UInt8(ascii: "'") { return 1 }
      return count >= 3 && text[0] == 0xE2 && text[1] == 0x80 && text[2] == 0x99 ? 3 : 0
    }
  }
}
