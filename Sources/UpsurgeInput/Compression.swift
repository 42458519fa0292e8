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

  /// As many first bytes as detection wants to see.
  static let magicByteCount = 512

  /// What the first bytes of a stream say: `zstd`, `gzip` or `none`.
  ///
  /// The two and three first bytes of a zstd frame count as zstd when there is nothing else: a stream that was
  /// cut there must not pass for text.
  package static func detect(_ prefix: [UInt8]) -> Compression {
    if ZstdFrameHeader.startsFrame(prefix) { return .zstd }
    if prefix == [0x28, 0xB5] || prefix == [0x28, 0xB5, 0x2F] { return .zstd }
    if prefix.starts(with: GzipSource.magic) { return .gzip }
    return .none
  }
}
