import CZlib
import CZstd

/// Streams that the libraries made and something may have damaged.
enum CompressedInput {
  static func zstd(_ input: inout FuzzInput) -> [UInt8] {
    let plan = Plan(&input)
    var stream: [UInt8] = []
    for (index, part) in plan.parts.enumerated() {
      stream += compressZstd(
        part, level: plan.level, checksum: plan.mode & 1 == 1, contentSize: plan.mode & 2 == 2,
        windowLog: plan.mode & 4 == 4 ? 10 : nil)
      if index == 0 && plan.mode & 8 == 8 { stream += [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3] }
    }
    return plan.damaged(stream)
  }

  static func gzip(_ input: inout FuzzInput) -> [UInt8] {
    let plan = Plan(&input)
    var stream: [UInt8] = []
    for part in plan.parts { stream += compressGzip(part, level: plan.level) }
    if plan.mode & 1 == 1 { stream += [UInt8](repeating: 0, count: 1 + plan.mode) }
    return plan.damaged(stream)
  }

  /// What is compressed, how, and what becomes of the result.
  private struct Plan {
    var level: Int32
    var mode: Int
    var parts: [ArraySlice<UInt8>]
    private var damages: [(kind: Int, at: Int, value: UInt8)] = []

    init(_ input: inout FuzzInput) {
      level = Int32(input.number(1...4))
      mode = input.byte()
      let partCount = input.number(1...4)
      let repetition = input.pick([1, 1, 1, 2, 20, 300])
      for _ in 0..<input.number(0...3) {
        damages.append((input.byte() % 5, input.byte() << 8 | input.byte(), UInt8(input.byte())))
      }
      let content = input.rest()
      let all = Array(repeatElement(content, count: repetition).joined().prefix(1 << 18))
      let step = max(1, (all.count + partCount - 1) / partCount)
      parts = stride(from: 0, to: max(all.count, 1), by: step).map { all[$0..<min($0 + step, all.count)] }
    }

    func damaged(_ stream: [UInt8]) -> [UInt8] {
      var stream = stream
      for damage in damages where !stream.isEmpty {
        let at = damage.at % stream.count
        switch damage.kind {
        case 0: stream[at] ^= damage.value
        case 1: stream.removeSubrange(at...)
        case 2: stream.remove(at: at)
        case 3: stream.insert(damage.value, at: at)
        default: stream += Array(repeating: damage.value, count: 1 + at % 9)
        }
      }
      return stream
    }
  }

  private static func compressZstd(
    _ bytes: ArraySlice<UInt8>, level: Int32, checksum: Bool, contentSize: Bool, windowLog: Int32?
  ) -> [UInt8] {
    let context = ZSTD_createCCtx()
    defer { ZSTD_freeCCtx(context) }
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0)
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, contentSize ? 1 : 0)
    if let windowLog { ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog) }
    let capacity = ZSTD_compressBound(bytes.count)
    return bytes.withUnsafeBytes { content in
      [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        count = ZSTD_compress2(context, buffer.baseAddress, capacity, content.baseAddress, content.count)
        precondition(ZSTD_isError(count) == 0, "zstd did not compress")
      }
    }
  }

  private static func compressGzip(_ bytes: ArraySlice<UInt8>, level: Int32) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
      &stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var content = Array(bytes)
    let capacity = Int(deflateBound(&stream, UInt(content.count))) + 64
    return content.withUnsafeMutableBufferPointer { content in
      [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        stream.next_in = content.baseAddress
        stream.avail_in = UInt32(content.count)
        stream.next_out = buffer.baseAddress
        stream.avail_out = UInt32(capacity)
        let status = deflate(&stream, Z_FINISH)
        precondition(status == Z_STREAM_END, "zlib did not compress")
        count = capacity - Int(stream.avail_out)
      }
    }
  }
}
