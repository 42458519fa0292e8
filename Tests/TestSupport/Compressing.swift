import CZlib
import CZstd

/// What the tests compress with: the libraries themselves, one call, no streams of ours.
public enum Compressing {
  /// One zstd frame; without a content size in its header, like one that was piped into `zstd`.
  public static func zstd(
    _ bytes: [UInt8], windowLog: Int32? = nil, checksum: Bool = true, contentSize: Bool = false
  ) -> [UInt8] {
    let context = ZSTD_createCCtx()
    defer { ZSTD_freeCCtx(context) }
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0)
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, contentSize ? 1 : 0)
    if let windowLog {
      ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1)
      ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog)
    }
    var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count) + 64)
    var outBuffer = ZSTD_outBuffer(dst: nil, size: output.count, pos: 0)
    output.withUnsafeMutableBytes { free in
      outBuffer.dst = free.baseAddress
      bytes.withUnsafeBytes { content in
        // In two steps, so that the library cannot know the size and shrink the window.
        var first = ZSTD_inBuffer(src: content.baseAddress, size: contentSize ? 0 : content.count / 2, pos: 0)
        if !contentSize { _ = ZSTD_compressStream2(context, &outBuffer, &first, ZSTD_e_continue) }
        var all = ZSTD_inBuffer(src: content.baseAddress, size: content.count, pos: first.pos)
        let left = ZSTD_compressStream2(context, &outBuffer, &all, ZSTD_e_end)
        precondition(left == 0, "the frame did not fit")
      }
    }
    return Array(output[..<outBuffer.pos])
  }

  /// A frame that decompressors jump over.
  public static func skippable(_ content: [UInt8], variant: UInt8 = 0) -> [UInt8] {
    let size = UInt32(content.count)
    return [0x50 | variant, 0x2A, 0x4D, 0x18] + (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
      + content
  }

  /// One gzip member, with a name in its header if one is given.
  public static func gzip(_ bytes: [UInt8], name: String? = nil) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
      &stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var header = gz_header()
    var nameBytes = Array((name ?? "").utf8) + [0]
    var input = bytes
    var output = [UInt8](
      repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + nameBytes.count + 64)
    let left = nameBytes.withUnsafeMutableBufferPointer { nameBuffer in
      input.withUnsafeMutableBufferPointer { content in
        output.withUnsafeMutableBufferPointer { free in
          if name != nil {
            header.name = nameBuffer.baseAddress
            header.hcrc = 1
            deflateSetHeader(&stream, &header)
          }
          stream.next_in = content.baseAddress
          stream.avail_in = UInt32(content.count)
          stream.next_out = free.baseAddress
          stream.avail_out = UInt32(free.count)
          let status = deflate(&stream, Z_FINISH)
          precondition(status == Z_STREAM_END, "the member did not fit")
          return Int(stream.avail_out)
        }
      }
    }
    return Array(output[..<(output.count - left)])
  }

  /// Lines that compress about as well as a table does.
  public static func table(_ byteCount: Int, seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    while bytes.count < byteCount {
      let word = ["alpha", "beta", "Zürich", "\"a,b\"", "", "猫"][Int.random(in: 0..<6, using: &random)]
      bytes += Array("\(Int.random(in: 0..<100_000, using: &random)),\(word),\(bytes.count)\n".utf8)
    }
    return Array(bytes.prefix(byteCount))
  }
}
