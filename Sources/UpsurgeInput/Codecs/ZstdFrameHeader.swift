/// The header of a zstd frame (RFC 8878, section 3.1.1.1), read for what error messages need to say.
struct ZstdFrameHeader: Equatable {
  /// Memory that decompressing the frame takes for back references.
  var windowByteCount: UInt64
  /// 0 when the frame needs no dictionary.
  var dictionaryID: UInt32
  /// Bytes that the frame becomes; nil when it does not say.
  var contentByteCount: UInt64?
  /// Length of the header, the magic number included.
  var byteCount: Int

  static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
  /// Magic number and descriptor: what is needed to know the header's length. No frame is shorter.
  static let leastByteCount = 5

  /// Whether a data frame or a skippable frame starts here.
  static func startsFrame(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: magic) || startsSkippableFrame(bytes)
  }

  /// 184D2A5? little-endian.
  static func startsSkippableFrame(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first, first & 0xF0 == 0x50 else { return false }
    return bytes.dropFirst().starts(with: [0x2A, 0x4D, 0x18])
  }

  /// Whether these few last bytes of a stream could be a frame that was cut off.
  static func couldStartFrame(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first else { return false }
    return magic.starts(with: bytes.prefix(4))
      || (first & 0xF0 == 0x50 && [0x2A, 0x4D, 0x18].starts(with: bytes.dropFirst().prefix(3)))
  }

  /// Length of the header, from the byte after the magic number.
  static func byteCount(descriptor: UInt8) -> Int {
    leastByteCount + (isSingleSegment(descriptor) ? 0 : 1) + dictionaryFieldSize(descriptor)
      + contentFieldSize(descriptor)
  }

  /// - Parameter bytes: a data frame's first bytes.
  /// - Returns: nil when the header is longer than the bytes.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= ZstdFrameHeader.leastByteCount else { return nil }
    let descriptor = bytes[4]
    byteCount = ZstdFrameHeader.byteCount(descriptor: descriptor)
    guard bytes.count >= byteCount else { return nil }
    var position = 5
    func number(_ size: Int) -> UInt64 {
      (0..<size).reduce(0) { $0 | UInt64(bytes[position + $1]) << (8 * UInt64($1)) }
    }
    windowByteCount = 0
    if !ZstdFrameHeader.isSingleSegment(descriptor) {
      let base = UInt64(1) << (10 + UInt64(bytes[position] >> 3))
      windowByteCount = base + base / 8 * UInt64(bytes[position] & 7)
      position += 1
    }
    let dictionarySize = ZstdFrameHeader.dictionaryFieldSize(descriptor)
    dictionaryID = UInt32(truncatingIfNeeded: number(dictionarySize))
    position += dictionarySize
    let contentSize = ZstdFrameHeader.contentFieldSize(descriptor)
    contentByteCount = contentSize == 0 ? nil : number(contentSize) + (contentSize == 2 ? 256 : 0)
    if let contentByteCount, ZstdFrameHeader.isSingleSegment(descriptor) {
      windowByteCount = contentByteCount
    }
  }

  private static func isSingleSegment(_ descriptor: UInt8) -> Bool { descriptor & 0x20 != 0 }

  private static func dictionaryFieldSize(_ descriptor: UInt8) -> Int {
    switch descriptor & 3 {
    case 0: 0
    case 1: 1
    case 2: 2
    default: 4
    }
  }

  private static func contentFieldSize(_ descriptor: UInt8) -> Int {
    switch descriptor >> 6 {
    case 0: isSingleSegment(descriptor) ? 1 : 0
    case 1: 2
    case 2: 4
    default: 8
    }
  }
}
