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
    case .base64: Base64.decode(start, count: count, into: output)
    case .hex: decodeHex(start, count: count, into: output)
    case .file: -1
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
  private static func hexDigit(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
    default: 0xFF
    }
  }
}
