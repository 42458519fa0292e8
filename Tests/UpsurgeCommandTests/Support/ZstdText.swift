/// A zstd frame (RFC 8878) written by hand, so that a few kilobytes become as much text as a test wants.
struct ZstdText {
  /// Magic number; a window of 128 KiB; no size, no checksum.
  private(set) var bytes: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38]
  private static let blockByteCount = 128 << 10

  mutating func add(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.blockByteCount)
      header(type: 0, byteCount: part.count)
      bytes += part
      rest = rest.dropFirst(part.count)
    }
  }

  /// Adds a byte over and over: four bytes of the frame for each 128 KiB.
  mutating func add(_ byte: UInt8, count: Int) {
    var rest = count
    while rest > 0 {
      let part = min(rest, Self.blockByteCount)
      header(type: 1, byteCount: part)
      bytes.append(byte)
      rest -= part
    }
  }

  /// The whole frame.
  func finished() -> [UInt8] { bytes + [0x01, 0x00, 0x00] }

  private mutating func header(type: Int, byteCount: Int) {
    let header = type << 1 | byteCount << 3
    bytes += [UInt8(header & 0xFF), UInt8(header >> 8 & 0xFF), UInt8(header >> 16)]
  }
}
