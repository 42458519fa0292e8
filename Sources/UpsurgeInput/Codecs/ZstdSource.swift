import CZstd
import UpsurgeRecords

/// Decompresses zstd frames (RFC 8878), one after another, straight into the reader's buffer.
///
/// Frames may carry checksums (libzstd verifies them) and may be skippable. The stream is whole only when it
/// ends where a frame ends.
package final class ZstdSource: ByteSource {
  private let name: String
  private let windowByteLimit: Int
  private let input: InputWindow
  private let context: OpaquePointer
  private var isInsideFrame = false
  private var isFirstFrame = true
  /// Where the content of the frame must end; nil when it does not say.
  private var frameEndOffset: UInt64?
  /// libzstd filled the output to the brim and may hold back more.
  private var mayHoldOutput = false
  private var decodedOffset: UInt64
  private let start: SourceAnchor
  /// Where frames begin, as far as they were met.
  let anchors: AnchorTrail
  /// What went wrong after bytes that were still good, and is thrown by the next read.
  private var failure: UpsurgeError?

  /// - Parameters:
  ///   - source: the compressed bytes, from their first one or from `start` on.
  ///   - windowByteLimit: the largest window that a frame may ask for.
  ///   - start: where in the file and in its content the source stands.
  package init(
    _ source: any ByteSource, name: String, windowByteLimit: Int = 128 << 20,
    start: SourceAnchor = SourceAnchor()
  ) throws(UpsurgeError) {
    guard let context = ZSTD_createDCtx() else {
      throw UpsurgeError(.unreadableInput, "no memory for a zstd decompressor", hint: "free some memory")
    }
    self.context = context
    self.name = name
    self.windowByteLimit = windowByteLimit
    self.start = start
    decodedOffset = start.decodedOffset
    anchors = AnchorTrail(start: start)
    input = InputWindow(source, byteCount: ZSTD_DStreamInSize(), offset: start.fileOffset)
    // Windows are checked frame by frame, to the byte; libzstd only knows powers of two.
    var windowLog: Int32 = 10
    while windowLog < 31 && Int64(1) << Int64(windowLog) < Int64(windowByteLimit) { windowLog += 1 }
    _ = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLog)
  }

  deinit { ZSTD_freeDCtx(context) }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    if let failure { throw failure }
    var output = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
    do throws(UpsurgeError) {
      try decompress(into: &output)
    } catch {
      failure = error
      if output.pos == 0 { throw error }
    }
    decodedOffset += UInt64(output.pos)
    return output.pos
  }

  /// Fills the output, but does not wait for more input when there is something to deliver.
  private func decompress(into output: inout ZSTD_outBuffer) throws(UpsurgeError) {
    while output.pos < output.size {
      let hasOutput = output.pos > 0
      if !isInsideFrame {
        if hasOutput && input.count < ZstdFrameHeader.leastByteCount { return }
        if !(try beginFrame(decodedByteCount: output.pos)) { return }
      } else if input.count == 0 && !mayHoldOutput {
        if hasOutput { return }
        if !(try input.fill()) { throw cutOff() }
      }
      try step(&output)
    }
  }

  private func step(_ output: inout ZSTD_outBuffer) throws(UpsurgeError) {
    let unread = input.unread
    var compressed = ZSTD_inBuffer(src: unread.baseAddress, size: unread.count, pos: 0)
    let result = ZSTD_decompressStream(context, &output, &compressed)
    input.consume(compressed.pos)
    if ZSTD_isError(result) != 0 { throw corrupt(result, decodedByteCount: output.pos) }
    isInsideFrame = result != 0
    if !isInsideFrame { try checkFrameEnd(decodedByteCount: output.pos) }
    mayHoldOutput = output.pos == output.size
  }

  /// Checks what libzstd would refuse with less to say.
  /// - Returns: false at the end of the stream.
  private func beginFrame(decodedByteCount: Int) throws(UpsurgeError) -> Bool {
    let isLong = try input.ensure(ZstdFrameHeader.leastByteCount)
    if input.count == 0 && !isFirstFrame { return false }
    guard ZstdFrameHeader.startsFrame(input.unread), isLong else {
      if input.count == 0 || ZstdFrameHeader.couldStartFrame(input.unread) { throw cutOff(decodedByteCount) }
      throw notAFrame(decodedByteCount)
    }
    frameEndOffset = nil
    if !ZstdFrameHeader.startsSkippableFrame(input.unread) {
      guard try input.ensure(ZstdFrameHeader.byteCount(descriptor: input.unread[4])),
        let header = ZstdFrameHeader(input.unread)
      else { throw cutOff(decodedByteCount) }
      try check(header)
      frameEndOffset = header.contentByteCount.map { decodedOffset &+ UInt64(decodedByteCount) &+ $0 }
    }
    anchors.note(fileOffset: input.offset, decodedOffset: decodedOffset + UInt64(decodedByteCount))
    isInsideFrame = true
    isFirstFrame = false
    return true
  }
}

extension ZstdSource {
  /// libzstd does not look at the size that a frame gives when its last block is empty and comes in pieces.
  private func checkFrameEnd(decodedByteCount: Int) throws(UpsurgeError) {
    let found = decodedOffset + UInt64(decodedByteCount)
    guard let frameEndOffset, frameEndOffset != found else { return }
    throw UpsurgeError(
      .badInput,
      "\(shown) is corrupt: a zstd frame ends at byte \(found) of the content and says it ends at byte "
        + "\(frameEndOffset), near byte \(input.offset) of the file",
      position: position(decodedByteCount), hint: SourceName.fetchAgain(name, check: "zstd -t"))
  }

  private var shown: String { SourceName.shown(name) }

  /// In the decoded stream, as positions are.
  private func position(_ decodedByteCount: Int) -> Position {
    Position(file: name, byte: decodedOffset + UInt64(decodedByteCount))
  }

  private func cutOff(_ decodedByteCount: Int = 0) -> UpsurgeError {
    let decoded = decodedOffset + UInt64(decodedByteCount)
    return UpsurgeError(
      .badInput,
      "\(shown) is cut off: the zstd stream ends inside a frame, at byte \(input.offset + UInt64(input.count)) of "
        + "the file and byte \(decoded) of its content",
      position: position(decodedByteCount), hint: SourceName.fetchAgain(name, check: "zstd -t"))
  }

  private func corrupt(_ result: Int, decodedByteCount: Int) -> UpsurgeError {
    let reason = ZSTD_getErrorName(result).map { String(cString: $0) } ?? "unknown error"
    return UpsurgeError(
      .badInput,
      "\(shown) is corrupt: \(reason) in the zstd stream, near byte \(input.offset) of the file and "
        + "after byte \(decodedOffset + UInt64(decodedByteCount)) of its content",
      position: position(decodedByteCount), hint: SourceName.fetchAgain(name, check: "zstd -t"),
      underlyingCode: Int32(truncatingIfNeeded: 0 &- result))
  }

  private func notAFrame(_ decodedByteCount: Int) -> UpsurgeError {
    let found = hexText(input.unread.prefix(4))
    if start.fileOffset > 0 && isFirstFrame {
      return .isAnotherFile(name, "has no zstd frame at byte \(start.fileOffset) of the file")
    }
    if isFirstFrame { return Compression.zstd.isNot(input.unread, name: name) }
    return UpsurgeError(
      .badInput,
      "\(shown) goes on after its last zstd frame, with the bytes \(found) at byte \(input.offset) of the file",
      position: position(decodedByteCount),
      hint: "\(SourceName.fetchAgain(name, check: "zstd -t")); "
        + "head -c \(input.offset) keeps the part before, if that is all there should be")
  }

  private func check(_ header: ZstdFrameHeader) throws(UpsurgeError) {
    if header.dictionaryID != 0 {
      throw UpsurgeError(
        .badInput, "\(shown) was compressed with a zstd dictionary (number \(header.dictionaryID))",
        position: position(0),
        hint: SourceName.piped("zstd -D DICTIONARY -dc", name))
    }
    if header.windowByteCount > UInt64(max(windowByteLimit, 0)) {
      throw UpsurgeError(
        .badInput,
        "\(shown) needs a zstd window of \(sizeText(header.windowByteCount)), and "
          + "\(sizeText(UInt64(max(windowByteLimit, 0)), roundsUp: false)) is the limit",
        position: position(0),
        hint:
          "\(.memory, sizeText(header.windowByteCount &* 4)) allows it; or compress it again with --long=27")
    }
  }
}
