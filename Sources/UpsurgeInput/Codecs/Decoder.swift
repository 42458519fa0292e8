import UpsurgeRecords

/// What makes the content of a file of its bytes.
struct Decoder {
  let content: any ByteSource
  /// Where frames or members begin; nil where it can only begin at the start of the file.
  private(set) var anchors: AnchorTrail?

  /// - Parameters:
  ///   - compression: not `auto`.
  ///   - source: the bytes of the file from its first one, or from `start` on.
  ///   - windowByteLimit: how far back a stream may refer.
  ///   - start: where in the file and in its content the source stands; the start of the file where there are no anchors.
  /// - Throws: `unreadableInput` without the library that it needs; `badInput`.
  init(
    _ compression: Compression, over source: any ByteSource, name: String, windowByteLimit: Int,
    start: SourceAnchor = SourceAnchor()
  ) throws(UpsurgeError) {
    switch compression {
    case .zstd:
      let frames = try ZstdSource(source, name: name, windowByteLimit: windowByteLimit, start: start)
      (content, anchors) = (frames, frames.anchors)
    case .gzip:
      let members = try GzipSource(source, name: name, start: start)
      (content, anchors) = (members, members.anchors)
    case .xz, .bzip2, .lz4, .compress:
      content = try CodecSource(source, compression, name: name, windowByteLimit: windowByteLimit)
    case .auto, .none: content = source
    }
  }
}
