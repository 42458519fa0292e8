#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Numbers, truths and the like as the server's input functions read them. What newer servers read and older ones refuse (`0x1F`,
/// `1_000`) is left to the server.
enum SpelledNumber {
  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  static func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var (start, end) = (0, text.count)
    while start < end, isSpace(text[start]) { start += 1 }
    while end > start, isSpace(text[end - 1]) { end -= 1 }
    return UnsafeBufferPointer(rebasing: text[start..<end])
  }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// int8in.
  static func integer(_ text: UnsafeBufferPointer<UInt8>) -> (Int64, EncodingFault?) {
    let text = trimmed(text)
    var index = 0
    var isNegative = false
    if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      isNegative = first == UInt8(ascii: "-")
      index = 1
    }
    if index == text.count { return (0, .syntax) }
    var value: Int64 = 0
    var overflows = false
    while index < text.count {
      let digit = text[index]
      guard isDigit(digit) else { return (0, isNewerSpelling(text) ? .undecided : .syntax) }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      // The least number has no positive one.
      let (sum, isPast) = product.subtractingReportingOverflow(Int64(digit - 0x30))
      overflows = overflows || isTooLarge || isPast
      value = sum
      index += 1
    }
    if overflows || !isNegative && value == .min { return (0, .outOfRange) }
    return (isNegative ? value : -value, nil)
  }

  /// Hexadecimal digits and underscores, which version 16 reads.
  static func isNewerSpelling(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.contains(UInt8(ascii: "_")) || isHexadecimal(text)
  }

  private static func isHexadecimal(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.firstIndex(of: 0x30), start + 1 < text.count else { return false }
    return ["x", "X", "o", "O", "b", "B"].contains { UInt8(ascii: $0) == text[start + 1] }
  }

  /// float8in.
  static func double(_ text: UnsafeBufferPointer<UInt8>) -> (Double, EncodingFault?) {
    read(text, strtod, isInfinite: { $0.isInfinite }, isZero: { $0 == 0 }, words: (.nan, .infinity))
  }

  /// float4in, which rounds once.
  static func float(_ text: UnsafeBufferPointer<UInt8>) -> (Float, EncodingFault?) {
    read(text, strtof, isInfinite: { $0.isInfinite }, isZero: { $0 == 0 }, words: (.nan, .infinity))
  }

  private static func read<Number: BinaryFloatingPoint>(
    _ text: UnsafeBufferPointer<UInt8>,
    _ convert: (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Number,
    isInfinite: (Number) -> Bool, isZero: (Number) -> Bool, words: (nan: Number, infinity: Number)
  ) -> (Number, EncodingFault?) {
    let text = trimmed(text)
    guard text.contains(where: isDigit) else {
      guard let word = SpelledWord.number(text) else { return (0, SpelledWord.mayBeNumber(text) ? .undecided : .syntax) }
      return (word == .nan ? words.nan : word == .infinity ? words.infinity : -words.infinity, nil)
    }
    // strtod reads hexadecimal numbers, and a server of another C library might not.
    if text.contains(where: { !isDigit($0) && !"+-.eE".utf8.contains($0) }) {
      return (0, isNewerSpelling(text) || text.contains(UInt8(ascii: "(")) ? .undecided : .syntax)
    }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: text.count + 1) { copy in
      for index in text.indices { copy[index] = CChar(bitPattern: text[index]) }
      copy[text.count] = 0
      let start = copy.baseAddress!
      var end: UnsafeMutablePointer<CChar>?
      errno = 0
      let value = convert(start, &end)
      if end != start + text.count { return (0, .syntax) }
      if errno == ERANGE, isInfinite(value) || isZero(value) { return (0, .outOfRange) }
      return (value, nil)
    }
  }
}

/// The words among numbers.
enum SpelledWord {
  enum Number { case nan, infinity, minusInfinity }

  /// `NaN`, `Infinity`, `-inf`, in any case.
  static func number(_ text: UnsafeBufferPointer<UInt8>) -> Number? {
    switch text.count {
    case 3, 4, 8, 9: break
    default: return nil
    }
    switch String(decoding: text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self) {
    case "nan": return .nan
    case "infinity", "+infinity", "inf", "+inf": return .infinity
    case "-infinity", "-inf": return .minusInfinity
    default: return nil
    }
  }
}

extension SpelledWord {
  /// Whether some C library reads it: `-nan`, `nan(1)`.
  static func mayBeNumber(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let letters = text.filter { $0 >= 0x41 }.prefix(3).map { $0 | 0x20 }
    return letters == Array("nan".utf8) || letters == Array("inf".utf8)
  }
}

enum SpelledBool {
  /// boolin: `t`, `tr`, … `true`, `yes`, `on`, `1` and their opposites, in any case.
  static func value(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
    let text = SpelledNumber.trimmed(text)
    func begins(_ word: StaticString, least: Int) -> Bool {
      guard text.count >= least, text.count <= word.utf8CodeUnitCount else { return false }
      return text.indices.allSatisfy { text[$0] | 0x20 == word.utf8Start[$0] }
    }
    if text.count == 1, text[0] == UInt8(ascii: "1") { return true }
    if text.count == 1, text[0] == UInt8(ascii: "0") { return false }
    if begins("true", least: 1) || begins("yes", least: 1) || begins("on", least: 2) { return true }
    if begins("false", least: 1) || begins("no", least: 1) || begins("off", least: 2) { return false }
    return nil
  }
}

enum SpelledUUID {
  /// uuid_in: 32 hexadecimal digits, a hyphen after any four of them, and braces around it if at all.
  static func value(_ text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64)? {
    var index = 0
    let hasBraces = text.first == UInt8(ascii: "{")
    if hasBraces { index = 1 }
    var (high, low): (UInt64, UInt64) = (0, 0)
    for place in 0..<32 {
      guard index < text.count, let digit = HexDigit.value(text[index]) else { return nil }
      if place < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
      index += 1
      if place % 4 == 3, place < 31, index < text.count, text[index] == UInt8(ascii: "-") { index += 1 }
    }
    if hasBraces {
      guard index < text.count, text[index] == UInt8(ascii: "}") else { return nil }
      index += 1
    }
    return index == text.count ? (high, low) : nil
  }
}

enum HexDigit {
  @inline(__always)
  static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}

enum SpelledBytes {
  /// byteain: `\x0aff`, or bytes of which `\\` and `\101` are escapes.
  static func encode(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    if text.hasNul { return .nul }
    let place = out.count
    out.reserve(4 + text.count)
    out.put(Int32(0))
    let fault = text.starts(with: [0x5C, 0x78]) ? hexadecimal(text, into: &out) : escaped(text, into: &out)
    out.patch(Int32(truncatingIfNeeded: out.count - place - 4), at: place)
    return fault
  }

  /// Pairs of digits, with spaces between them.
  private static func hexadecimal(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    var index = 2
    while index < text.count {
      if text[index] == 0x20 || (0x09...0x0A).contains(text[index]) || text[index] == 0x0D {
        index += 1
        continue
      }
      guard let high = HexDigit.value(text[index]), index + 1 < text.count, let low = HexDigit.value(text[index + 1]) else {
        return .syntax
      }
      out.put(high << 4 | low)
      index += 2
    }
    return nil
  }

  private static func escaped(_ text: UnsafeBufferPointer<UInt8>, into out: inout RowBuffer) -> EncodingFault? {
    var index = 0
    while index < text.count {
      if text[index] != 0x5C {
        out.put(text[index])
        index += 1
      } else if index + 1 < text.count, text[index + 1] == 0x5C {
        out.put(UInt8(0x5C))
        index += 2
      } else if index + 3 < text.count, (0x30...0x33).contains(text[index + 1]), (0x30...0x37).contains(text[index + 2]),
        (0x30...0x37).contains(text[index + 3])
      {
        out.put((text[index + 1] - 0x30) << 6 | (text[index + 2] - 0x30) << 3 | (text[index + 3] - 0x30))
        index += 4
      } else {
        return .syntax
      }
    }
    return nil
  }
}
