import CZlib
import UpsurgeRecords

/// Decompresses gzip members (RFC 1952), one after another, straight into the reader's buffer.
///
/// zlib verifies the CRC and the length of each member. Zero bytes after the last member (tape blocks, padded
/// downloads) are allowed, as gzip itself does; anything else there is an error.
package final class GzipSource: ByteSource {
  static let magic: [UInt8] = [0x1F, 0x8B]

  private let name: String
  private let input: InputWindow
  /// On the heap, because zlib remembers its address.
  private let stream: UnsafeMutablePointer<z_stream>
  private var isInsideMember = false
  private var isFirstMember = true
  private var isInPadding = false
  private var decodedOffset: UInt64
  private let start: SourceAnchor
  /// Where members begin, as far as they were met.
  let anchors: AnchorTrail
  /// What went wrong after bytes that were still good, and is thrown by the next read.
  private var failure: UpsurgeError?

  /// - Parameters:
  ///   - source: the compressed bytes, from their first one or from `start` on.
  ///   - start: where in the file and in its content the source stands.
  package init(
    _ source: any ByteSource, name: String, start: SourceAnchor = SourceAnchor()
  ) throws(UpsurgeError) {
    self.name = name
    self.start = start
    decodedOffset = start.decodedOffset
    anchors = AnchorTrail(start: start)
    input = InputWindow(source, byteCount: 128 << 10, offset: start.fileOffset)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15: the largest window there is; 16 more: gzip headers and trailers, nothing else.
    let status = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    if status != Z_OK {
      throw UpsurgeError(
        .unreadableInput, "no memory for a gzip decompressor", hint: "free some memory",
        underlyingCode: status)
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    if let failure { throw failure }
    var free = buffer
    do throws(UpsurgeError) {
      try decompress(into: &free)
    } catch {
      failure = error
      if free.count == buffer.count { throw error }
    }
    return buffer.count - free.count
  }

  /// Fills the buffer, but does not wait for more input when there is something to deliver.
  private func decompress(into free: inout UnsafeMutableRawBufferPointer) throws(UpsurgeError) {
    let wanted = free.count
    while free.count > 0 {
      let hasOutput = free.count < wanted
      if !isInsideMember {
        if hasOutput && input.count < GzipSource.magic.count { return }
        if !(try beginMember()) { return }
      }
      let before = free.count
      let status = step(&free)
      if status == Z_STREAM_END {
        isInsideMember = false
      } else if status == Z_BUF_ERROR || (status == Z_OK && free.count == before && input.count == 0) {
        if hasOutput { return }
        if !(try input.fill()) { throw cutOff() }
      } else if status != Z_OK {
        throw corrupt(status)
      }
    }
  }

  private func step(_ free: inout UnsafeMutableRawBufferPointer) -> Int32 {
    let unread = input.unread
    let space = min(free.count, Int(UInt32.max))
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: unread.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(unread.count)
    stream.pointee.next_out = free.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(space)
    let status = inflate(stream, Z_NO_FLUSH)
    input.consume(unread.count - Int(stream.pointee.avail_in))
    let written = space - Int(stream.pointee.avail_out)
    decodedOffset += UInt64(written)
    free = UnsafeMutableRawBufferPointer(rebasing: free[written...])
    return status
  }

  /// - Returns: false at the end of the stream.
  private func beginMember() throws(UpsurgeError) -> Bool {
    if isInPadding { return try skipPadding() }
    let hasTwo = try input.ensure(GzipSource.magic.count)
    if input.count == 0 && !isFirstMember { return false }
    if hasTwo && input.unread.starts(with: GzipSource.magic) {
      anchors.note(fileOffset: input.offset, decodedOffset: decodedOffset)
      if !isFirstMember { inflateReset(stream) }
      isFirstMember = false
      isInsideMember = true
      return true
    }
    if input.count == 0 || (!hasTwo && input.unread[0] == GzipSource.magic[0]) { throw cutOff() }
    if !isFirstMember && input.unread[0] == 0 { return try skipPadding() }
    throw notAMember()
  }

  /// - Returns: false, at the end of the stream.
  private func skipPadding() throws(UpsurgeError) -> Bool {
    isInPadding = true
    while true {
      guard let other = input.unread.firstIndex(where: { $0 != 0 }) else {
        input.consume(input.count)
        if !(try input.fill()) { return false }
        continue
      }
      input.consume(other)
      throw notAMember()
    }
  }
}

extension GzipSource {
  private var shown: String { SourceName.shown(name) }

  /// In the decoded stream, as positions are.
  private var position: Position { Position(file: name, byte: decodedOffset) }

  private func cutOff() -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(shown) is cut off: the gzip stream ends inside a member, at byte \(input.offset + UInt64(input.count)) of "
        + "the file and byte \(decodedOffset) of its content",
      position: position, hint: SourceName.fetchAgain(name, check: "gzip -t"))
  }

  private func corrupt(_ status: Int32) -> UpsurgeError {
    let reason = stream.pointee.msg.map { String(cString: $0) } ?? "error \(status)"
    return UpsurgeError(
      .badInput,
      "\(shown) is corrupt: \(reason) in the gzip stream, near byte \(input.offset) of the file and "
        + "after byte \(decodedOffset) of its content",
      position: position, hint: SourceName.fetchAgain(name, check: "gzip -t"), underlyingCode: status)
  }

  private func notAMember() -> UpsurgeError {
    let found = hexText(input.unread.prefix(4))
    if isFirstMember && start.fileOffset > 0 {
      return .isAnotherFile(name, "has no gzip member at byte \(start.fileOffset) of the file")
    }
    if isFirstMember { return Compression.gzip.isNot(input.unread, name: name) }
    return UpsurgeError(
      .badInput,
      "\(shown) goes on after its last gzip member, with the bytes \(found) at byte \(input.offset) of the file",
      position: position,
      hint: "\(SourceName.fetchAgain(name, check: "gzip -t")); "
        + "head -c \(input.offset) keeps the part before, if that is all there should be")
  }
}
