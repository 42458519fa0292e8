import UpsurgeRecords

/// How text becomes the value of a BLOB column.
public enum BlobEncoding: String, Sendable, CaseIterable {
  /// RFC 4648, both alphabets, with or without padding; line ends between digits are passed over.
  case base64
  /// Two digits a byte, in either case; a leading `\x` or `0x` is passed over.
  case hex
  /// The text is the path of a file whose bytes are stored.
  case file
}

/// How text in BLOB columns is decoded.
package struct BlobDecoding: Sendable {
  package var encoding: BlobEncoding
  /// Needed for `file`.
  package var files: (any BlobFiles)?
  /// The files of one record may have so many bytes together.
  package var byteLimit: Int

  package init(encoding: BlobEncoding, files: (any BlobFiles)? = nil, byteLimit: Int) {
    self.encoding = encoding
    self.files = files
    self.byteLimit = byteLimit
  }
}

/// Decodes text to bytes; what comes out is never longer than the text, and `into` may be where the text lies.
enum BlobText {
  /// - Returns: the number of bytes; -1 for text that is not of the encoding.
  static func decode(
    _ encoding: BlobEncoding, _ start: UnsafePointer<UInt8>, count: Int,
    into output: UnsafeMutablePointer<UInt8>
  ) -> Int {
    switch encoding {
    case .base64: decodeBase64(start, count: count, into: output)
    case .hex: decodeHex(start, count: count, into: output)
    case .file: -1
    }
  }

  /// Four digits make three bytes; bits that a last group has too many must be 0, so that no text loses any.
  private static func decodeBase64(
    _ start: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>
  ) -> Int {
    var written = 0
    var bits: UInt32 = 0
    var digitCount = 0
    var paddingCount = 0
    for index in 0..<count {
      let byte = start[index]
      if byte == 0x0A || byte == 0x0D { continue }
      if byte == UInt8(ascii: "=") {
        paddingCount += 1
        continue
      }
      let digit = base64Digit(byte)
      if digit > 63 || paddingCount > 0 { return -1 }
      bits = bits << 6 | UInt32(digit)
      digitCount += 1
      if digitCount & 3 == 0 {
        output[written] = UInt8(truncatingIfNeeded: bits >> 16)
        output[written + 1] = UInt8(truncatingIfNeeded: bits >> 8)
        output[written + 2] = UInt8(truncatingIfNeeded: bits)
        written += 3
      }
    }
    let rest = digitCount & 3
    if paddingCount > 0 && (rest == 0 || paddingCount != 4 - rest) { return -1 }
    switch rest {
    case 0: return written
    case 2 where bits & 0xF == 0:
      output[written] = UInt8(truncatingIfNeeded: bits >> 4)
      return written + 1
    case 3 where bits & 0x3 == 0:
      output[written] = UInt8(truncatingIfNeeded: bits >> 10)
      output[written + 1] = UInt8(truncatingIfNeeded: bits >> 2)
      return written + 2
    default: return -1
    }
  }

  private static func decodeHex(
    _ start: UnsafePointer<UInt8>, count: Int, into output: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let isMarked =
      count >= 2 && start[1] | 0x20 == UInt8(ascii: "x")
      && (start[0] == UInt8(ascii: "\\") || start[0] == UInt8(ascii: "0"))
    var index = isMarked ? 2 : 0
    if count & 1 != 0 { return -1 }
    var written = 0
    while index < count {
      let (high, low) = (hexDigit(start[index]), hexDigit(start[index + 1]))
      if high > 15 || low > 15 { return -1 }
      output[written] = high << 4 | low
      written += 1
      index += 2
    }
    return written
  }

  @inline(__always)
  private static func base64Digit(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte &- UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte &- UInt8(ascii: "a") &+ 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0") &+ 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: 0xFF
    }
  }

  @inline(__always)
  private static func hexDigit(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
    default: 0xFF
    }
  }
}
