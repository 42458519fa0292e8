/// Turns text of another encoding into UTF-8; does no input or output and is resumable at any byte.
///
/// Kept between calls: half a unit and half a surrogate pair. A character is written whole or not at all.
struct Transcoder {
  /// No character needs more bytes in UTF-8.
  static let mostBytesPerCharacter = 4
  /// The least room that a call may be given, whatever the encoding.
  static let leastOutputByteCount = IconvConverter.leastOutputByteCount

  /// What one call did.
  struct Step {
    /// Bytes of the input that are done with.
    var consumed = 0
    /// Bytes of the output that were written.
    var produced = 0
    /// The input was not UTF-16 after what was produced.
    var fault: Fault?
  }

  /// Why the input is not text.
  enum Fault: Error {
    /// Half a surrogate pair, with its value and its offset in the input of all calls.
    case loneSurrogate(UInt16, at: UInt64)
    /// The input ends inside a character.
    case unfinished(at: UInt64)
    /// The system has no room for a converter of this encoding, which it knows.
    case noConverter(String)
  }

  private enum Kind {
    case utf16(isBigEndian: Bool)
    /// The characters of the bytes from 80 on; none beyond U+FFFF.
    case singleByte([UInt16])
    case iconv(IconvConverter)
    case unavailable(String)
  }

  /// Stands in a table of characters for a byte that has none, and is no character itself.
  private static let undefined: UInt16 = 0xFFFF

  private let kind: Kind
  /// Offset of the next input byte, the mark included.
  private var inputOffset: UInt64
  /// The first byte of a unit whose second has not come yet.
  private var firstByte: UInt8?
  /// A high surrogate whose partner has not come yet.
  private var highSurrogate: UInt16?

  /// - Parameter inputOffset: where the input starts in its own stream: after the mark.
  /// - Returns: nil for UTF-8, which needs no transcoder.
  init?(_ encoding: TextEncoding, inputOffset: UInt64) {
    switch encoding {
    case .utf16le, .utf16: kind = .utf16(isBigEndian: false)
    case .utf16be: kind = .utf16(isBigEndian: true)
    case .latin1: kind = .singleByte(Array(0x80...0xFF))
    case .windows1252: kind = .singleByte(Transcoder.windows1252)
    case .named(let name):
      kind = IconvConverter(name.text).map { .iconv($0) } ?? .unavailable(name.text)
    case .auto, .utf8: return nil
    }
    self.inputOffset = inputOffset
  }

  /// Writes as many whole characters as there are and fit.
  /// - Parameter output: at least `mostBytesPerCharacter` long; `leastOutputByteCount` for what iconv reads.
  mutating func transcode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> Step {
    precondition(output.count >= Transcoder.mostBytesPerCharacter, "no room for a character")
    var step: Step
    switch kind {
    case .utf16(let isBigEndian):
      step = transcodeUTF16(input, into: output, isBigEndian: isBigEndian)
    case .singleByte(let table):
      step = table.withUnsafeBufferPointer { Transcoder.transcodeSingleBytes(input, into: output, table: $0) }
    case .iconv(let converter):
      step = converter.convert(input, into: output)
    case .unavailable(let name):
      step = Step(fault: .noConverter(name))
    }
    inputOffset += UInt64(step.consumed)
    return step
  }

  /// What is wrong with an input that ends here; nil when it ends between two characters.
  func faultAtEnd() -> Fault? {
    if let highSurrogate, firstByte == nil { return .loneSurrogate(highSurrogate, at: inputOffset - 2) }
    if firstByte != nil { return .unfinished(at: inputOffset - 1) }
    return nil
  }

  /// Writes what was held back until the end of the input, once.
  /// - Parameter output: at least `leastOutputByteCount` long.
  /// - Returns: how many bytes were written.
  func finish(into output: UnsafeMutableRawBufferPointer) -> Int {
    guard case .iconv(let converter) = kind else { return 0 }
    return converter.finish(into: output)
  }

  /// The bytes 80...9F, of which five have no character; A0...FF are as in Latin-1.
  private static let windows1252: [UInt16] =
    [
      0x20AC, undefined, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
      0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, undefined, 0x017D, undefined,
      undefined, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
      0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, undefined, 0x017E, 0x0178,
    ] + Array(0xA0...0xFF)
}

extension Transcoder {
  private static func transcodeSingleBytes(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
    table: UnsafeBufferPointer<UInt16>
  ) -> Step {
    var consumed = 0
    var produced = 0
    while consumed < input.count {
      while consumed + 8 <= input.count && produced + 8 <= output.count {
        let word = input.loadUnaligned(fromByteOffset: consumed, as: UInt64.self)
        if word & 0x8080_8080_8080_8080 != 0 { break }
        output.storeBytes(of: word, toByteOffset: produced, as: UInt64.self)
        consumed += 8
        produced += 8
      }
      guard consumed < input.count, produced + mostBytesPerCharacter <= output.count else { break }
      let byte = input[consumed]
      let scalar = byte < 0x80 ? UInt16(byte) : table[Int(byte) - 0x80]
      if scalar == undefined {
        // Alone it is no UTF-8 either, so that the parser rejects its record.
        output[produced] = byte
        produced += 1
      } else {
        produced += write(UInt32(scalar), to: output, at: produced)
      }
      consumed += 1
    }
    return Step(consumed: consumed, produced: produced)
  }

  private mutating func transcodeUTF16(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isBigEndian: Bool
  ) -> Step {
    var step = Step()
    // A unit whose bytes came in two pieces.
    if let first = firstByte {
      guard let second = input.first else { return step }
      firstByte = nil
      step.consumed = 1
      if let fault = take(Transcoder.unit(first, second, isBigEndian), into: output, &step) {
        step.fault = fault
        return step
      }
    }
    while input.count - step.consumed >= 2 {
      if highSurrogate == nil { Transcoder.copyASCII(input, into: output, isBigEndian: isBigEndian, &step) }
      if input.count - step.consumed < 2 { break }
      if output.count - step.produced < Transcoder.mostBytesPerCharacter { return step }
      let unit = Transcoder.unit(input[step.consumed], input[step.consumed + 1], isBigEndian)
      step.consumed += 2
      if let fault = take(unit, into: output, &step) {
        step.fault = fault
        return step
      }
    }
    if step.consumed + 1 == input.count && output.count - step.produced >= Transcoder.mostBytesPerCharacter {
      firstByte = input[step.consumed]
      step.consumed += 1
    }
    return step
  }

  private static func unit(_ first: UInt8, _ second: UInt8, _ isBigEndian: Bool) -> UInt16 {
    isBigEndian ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first)
  }

  /// Four units at a time, as long as they are all ASCII.
  private static func copyASCII(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isBigEndian: Bool,
    _ step: inout Step
  ) {
    while input.count - step.consumed >= 8 && output.count - step.produced >= 4 {
      let raw = input.loadUnaligned(fromByteOffset: step.consumed, as: UInt64.self)
      var word = UInt64(littleEndian: raw)
      if isBigEndian { word = (word & 0x00FF_00FF_00FF_00FF) << 8 | (word >> 8) & 0x00FF_00FF_00FF_00FF }
      if word & 0xFF80_FF80_FF80_FF80 != 0 { return }
      let four =
        word & 0xFF | (word >> 8) & 0xFF00 | (word >> 16) & 0xFF_0000 | (word >> 24) & 0xFF00_0000
      output.storeBytes(
        of: UInt32(truncatingIfNeeded: four).littleEndian, toByteOffset: step.produced, as: UInt32.self)
      step.consumed += 8
      step.produced += 4
    }
  }

  /// Takes one unit, which was just consumed.
  private mutating func take(
    _ unit: UInt16, into output: UnsafeMutableRawBufferPointer, _ step: inout Step
  ) -> Fault? {
    let unitOffset = inputOffset + UInt64(step.consumed) - 2
    switch unit {
    case 0xDC00...0xDFFF:
      guard let high = highSurrogate else { return .loneSurrogate(unit, at: unitOffset) }
      highSurrogate = nil
      let scalar = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
      step.produced += Transcoder.write(scalar, to: output, at: step.produced)
    default:
      if let high = highSurrogate { return .loneSurrogate(high, at: unitOffset - 2) }
      if 0xD800...0xDBFF ~= unit {
        highSurrogate = unit
      } else {
        step.produced += Transcoder.write(UInt32(unit), to: output, at: step.produced)
      }
    }
    return nil
  }

  /// - Returns: how many bytes the character takes.
  @inline(__always)
  private static func write(_ scalar: UInt32, to output: UnsafeMutableRawBufferPointer, at position: Int)
    -> Int
  {
    func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: (scalar >> shift) & 0x3F | 0x80) }
    switch scalar {
    case 0..<0x80:
      output[position] = UInt8(truncatingIfNeeded: scalar)
      return 1
    case 0x80..<0x800:
      output[position] = UInt8(truncatingIfNeeded: scalar >> 6 | 0xC0)
      output[position + 1] = tail(0)
      return 2
    case 0x800..<0x10000:
      output[position] = UInt8(truncatingIfNeeded: scalar >> 12 | 0xE0)
      output[position + 1] = tail(6)
      output[position + 2] = tail(0)
      return 3
    default:
      output[position] = UInt8(truncatingIfNeeded: scalar >> 18 | 0xF0)
      output[position + 1] = tail(12)
      output[position + 2] = tail(6)
      output[position + 3] = tail(0)
      return 4
    }
  }
}
