/// The end of an xz stream (the .xz file format, 2.1.2): CRC32, the size of the index, two bytes of flags, and `YZ`.
enum XZFooter {
  private static let byteCount = 12
  private static let magic: [UInt8] = [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]

  /// Where something begins after the last stream that ends here, and is no other one; nil where nothing does.
  /// - Parameter bytes: a part of the file.
  static func junk(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= byteCount,
      let footer = (0...bytes.count - byteCount).last(where: { isFooter(bytes, at: $0) })
    else {
      return nil
    }
    // Zeros may fill up a file.
    guard let start = (footer + byteCount..<bytes.count).first(where: { bytes[$0] != 0 }) else { return nil }
    let rest = bytes[start...].prefix(magic.count)
    return rest.elementsEqual(magic.prefix(rest.count)) ? nil : start
  }

  private static func isFooter(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Bool {
    guard bytes[place + 10] == UInt8(ascii: "Y"), bytes[place + 11] == UInt8(ascii: "Z") else { return false }
    var stored: UInt32 = 0
    for byte in bytes[place..<place + 4].reversed() { stored = stored << 8 | UInt32(byte) }
    return stored == checksum(bytes[(place + 4)..<(place + 10)])
  }

  /// CRC32 of a few bytes.
  private static func checksum(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? (sum >> 1) ^ 0xEDB8_8320 : sum >> 1 }
    }
    return ~sum
  }
}
