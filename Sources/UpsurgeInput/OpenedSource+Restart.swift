import UpsurgeRecords

extension OpenedSource {
  /// What distinguishes this file from others, as it was when it was opened; nil for what cannot be read twice.
  /// - Throws: `unreadableInput`; `badInput` when the file has become shorter.
  package func identity() throws(UpsurgeError) -> FileIdentity? { try file.identity() }

  /// Whether a file has another size or time than when it was opened; false for pipes.
  package var hasChanged: Bool { file.hasChanged }

  /// The last place at or before a byte of the decoded stream where a decompressor can begin. Places far before the
  /// byte that is asked for are forgotten, so that bytes must be asked for in their order.
  ///
  /// Where text is transcoded, offsets are those of the UTF-8 that comes out, for which there is no place in the
  /// file: it is decoded from the start. Plain files need no place at all.
  package func anchor(before byte: UInt64) -> SourceAnchor {
    encoding == .utf8 ? anchors?.last(before: byte) ?? SourceAnchor() : SourceAnchor()
  }

  /// Makes `byte` of the decoded stream the next one that is read. The sample is gone then; `counter` counts what is
  /// read from here on beside what was read before.
  /// - Parameter anchor: where a decompressor begins, as `anchor(before:)` gave it for this byte or one before.
  /// - Throws: `badInput`, also when the stream ends before; `unreadableInput` for what cannot be read twice.
  package func seek(to byte: UInt64, from anchor: SourceAnchor) throws(UpsurgeError) {
    guard byte >= startOffset, byte >= anchor.decodedOffset else {
      throw .isAnotherFile(name, "has no byte \(byte) after byte \(anchor.fileOffset) of the file")
    }
    guard encoding == .utf8 else {
      try file.seek(to: 0)
      try beginAgain()
      return try skip(byte - decodedByteCount, of: self, to: byte)
    }
    guard compression != .none else {
      try file.seek(to: byte)
      return goOn(with: file, anchors: nil, at: byte)
    }
    try file.seek(to: anchor.fileOffset)
    let decoder = try Decoder(
      compression, over: file, name: name, windowByteLimit: options.windowByteLimit, start: anchor)
    goOn(with: decoder.content, anchors: decoder.anchors, at: byte)
    try skip(byte - anchor.decodedOffset, of: decoder.content, to: byte)
  }

  private func skip(
    _ byteCount: UInt64, of source: any ByteSource, to byte: UInt64
  ) throws(UpsurgeError) {
    if byteCount == 0 { return }
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Int(min(byteCount, 256 << 10)), alignment: 16)
    defer { memory.deallocate() }
    var rest = byteCount
    while rest > 0 {
      let wanted = Int(min(rest, UInt64(memory.count)))
      let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[..<wanted]))
      if count == 0 {
        throw .isAnotherFile(name, "ends at byte \(byte - rest) of its content, before byte \(byte)")
      }
      rest -= UInt64(count)
    }
  }
}
