/// How an input is compressed. Found by magic bytes, never by the name.
public enum Compression: String, CaseIterable, Sendable {
  /// Whatever the first bytes say.
  case auto
  /// The bytes as they are, whatever they look like.
  case none
  /// Zstandard frames (RFC 8878).
  case zstd
  /// gzip members (RFC 1952).
  case gzip
  /// Streams of xz, with what libarchive finds in them.
  case xz
  /// Streams of bzip2.
  case bzip2
  /// Frames of LZ4.
  case lz4
  /// What `compress` has written (`.Z`). Nothing in it says where it ends, so a cut is not noticed.
  case compress

  /// As many first bytes as detection wants to see.
  static let magicByteCount = 512

  /// What the first bytes of a stream say; never `auto`.
  ///
  /// The first bytes of a frame count as that when there is nothing else: a stream that was cut there must not pass for text.
  package static func detect(_ prefix: [UInt8]) -> Compression {
    if ZstdFrameHeader.startsFrame(prefix) { return .zstd }
    if prefix == [0x28, 0xB5] || prefix == [0x28, 0xB5, 0x2F] { return .zstd }
    if prefix.starts(with: GzipSource.magic) { return .gzip }
    if isStart(prefix, of: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]) { return .xz }
    if isStart(prefix, of: [0x04, 0x22, 0x4D, 0x18]) { return .lz4 }
    if prefix.starts(with: [0x1F, 0x9D]) { return .compress }
    return startsBzip2(prefix) ? .bzip2 : .none
  }

  /// The program that unpacks it: `gzip` for what `compress` has written.
  var program: String { self == .compress ? "gzip" : rawValue }

  /// Whether a stream begins with a magic number, or is a part of one.
  private static func isStart(_ prefix: [UInt8], of magic: [UInt8]) -> Bool {
    prefix.starts(with: magic) || prefix.count > 1 && magic.starts(with: prefix)
  }

  /// "BZh" alone could begin a line of text; the magic of a block, or of the end of the stream, after it cannot.
  private static func startsBzip2(_ prefix: [UInt8]) -> Bool {
    guard prefix.count >= 4, prefix.starts(with: Array("BZh".utf8)), (0x31...0x39).contains(prefix[3]) else {
      return false
    }
    let rest = prefix.dropFirst(4).prefix(6)
    let magics: [[UInt8]] = [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]]
    return magics.contains { $0.starts(with: rest) && (rest.count == 6 || prefix.count < 10) }
  }
}
