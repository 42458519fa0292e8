import CZlib
import CZstd

/// What the libraries themselves make of a stream that they are given at once.
enum Reference {
  /// Frames one after another, each of today's format or skippable.
  static func zstd(_ bytes: [UInt8], pieceByteCount: Int = .max) -> Delivery {
    var delivery = Delivery()
    let context = ZSTD_createDCtx()
    defer { ZSTD_freeDCtx(context) }
    var windowLog: Int32 = 10
    while 1 << windowLog < SourceFuzz.windowByteLimit { windowLog += 1 }
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLog)
    var output = [UInt8](repeating: 0, count: SourceFuzz.outputByteLimit)
    bytes.withUnsafeBytes { content in
      output.withUnsafeMutableBytes { free in
        var input = ZSTD_inBuffer(src: content.baseAddress, size: content.count, pos: 0)
        var out = ZSTD_outBuffer(dst: free.baseAddress, size: free.count, pos: 0)
        var isFrameStart = true
        delivery.isRefused = content.isEmpty
        while input.pos < content.count && !delivery.isRefused {
          input.size = input.pos + min(pieceByteCount, content.count - input.pos)
          // In one call the library takes frames whose window it would not hold.
          let frame = content[input.pos...]
          if isFrameStart && (!startsFrame(frame) || windowByteCount(frame) > SourceFuzz.windowByteLimit) {
            delivery.isRefused = true
            break
          }
          let before = (input.pos, out.pos)
          let result = ZSTD_decompressStream(context, &out, &input)
          isFrameStart = result == 0
          if ZSTD_isError(result) != 0 || (input.pos == content.count && result != 0 && out.pos < out.size) {
            // At the end of the input a frame may still hold output back.
            delivery.isRefused = ZSTD_isError(result) != 0 || (input.pos, out.pos) == before || result != 0
          }
          if out.pos == out.size {
            delivery.isTooLong = true
            break
          }
        }
        delivery.bytes = Array(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(free)[..<out.pos]))
      }
    }
    return delivery
  }

  private static func startsFrame(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
      || (bytes.count >= 4 && bytes[bytes.startIndex] & 0xF0 == 0x50
        && bytes.dropFirst().starts(with: [0x2A, 0x4D, 0x18]))
  }

  /// The window that a frame's header asks for; 0 where it names none (RFC 8878, 3.1.1.1.2).
  private static func windowByteCount(_ frame: Slice<UnsafeRawBufferPointer>) -> Int {
    guard frame.count > 5, frame.first == 0x28, frame[frame.startIndex + 4] & 0x20 == 0 else { return 0 }
    let descriptor = Int(frame[frame.startIndex + 5])
    let base = 1 << (10 + descriptor >> 3)
    return base + base / 8 * (descriptor & 7)
  }

  /// Members one after another, then perhaps zeros.
  static func gzip(_ bytes: [UInt8]) -> Delivery {
    var delivery = Delivery()
    var input = bytes
    var output = [UInt8](repeating: 0, count: SourceFuzz.outputByteLimit)
    var stream = z_stream()
    inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { inflateEnd(&stream) }
    input.withUnsafeMutableBufferPointer { content in
      output.withUnsafeMutableBufferPointer { free in
        stream.next_in = content.baseAddress
        stream.avail_in = UInt32(content.count)
        stream.next_out = free.baseAddress
        stream.avail_out = UInt32(free.count)
        delivery.isRefused = content.isEmpty
        var isFirst = true
        while stream.avail_in > 0 {
          let at = content.count - Int(stream.avail_in)
          if !isFirst && content[at] == 0 {
            delivery.isRefused = !content[at...].allSatisfy { $0 == 0 }
            break
          }
          if !isFirst { inflateReset(&stream) }
          isFirst = false
          let status = inflate(&stream, Z_NO_FLUSH)
          if status == Z_STREAM_END { continue }
          delivery.isTooLong = stream.avail_out == 0
          delivery.isRefused = !delivery.isTooLong
          break
        }
        delivery.bytes = Array(free[..<(free.count - Int(stream.avail_out))])
      }
    }
    return delivery
  }
}
