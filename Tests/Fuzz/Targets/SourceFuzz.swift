import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Decompressors and transcoders deliver what the libraries do in one call, however it is read; what the libraries
/// refuse is an error, behind bytes that agree.
enum SourceFuzz {
  /// More is not decompressed, by us or by the library.
  static let outputByteLimit = 1 << 20
  /// A power of two, as libzstd's own bound is.
  static let windowByteLimit = 8 << 20

  static func run(_ input: inout FuzzInput) throws {
    let kind = input.number(0...9)
    let reading = Reading(
      pieceByteCount: input.pick([1, 2, 3, 7, 64, 4_096]),
      bufferByteCount: input.pick([1, 2, 3, 4, 5, 16, 255, 4_096, 70_000]))
    switch kind {
    case 0: try compareZstd(input.rest(), reading)
    case 1: try compareGzip(input.rest(), reading)
    case 2, 3, 4: try compareZstd(CompressedInput.zstd(&input), reading)
    case 5, 6: try compareGzip(CompressedInput.gzip(&input), reading)
    case 7:
      let place = input.byte()
      let bytes = place & 1 == 0 ? CompressedInput.zstd(&input) : CompressedInput.gzip(&input)
      try open(bytes, reading, place: place)
    default: try TextInput.compare(&input, reading)
    }
  }

  /// How a source is read.
  struct Reading {
    var pieceByteCount: Int
    var bufferByteCount: Int
  }

  static func compareZstd(_ bytes: [UInt8], _ reading: Reading) throws {
    // libzstd 1.5 takes a compressed block without bytes where it comes in pieces, and refuses it in one call.
    let inPieces = { Reference.zstd(bytes, pieceByteCount: 1) }
    try compare(Reference.zstd(bytes), orElse: inPieces, reading) { piece throws(UpsurgeError) in
      try ZstdSource(PieceSource(bytes, piece), name: "t.zst", windowByteLimit: windowByteLimit)
    }
  }

  static func compareGzip(_ bytes: [UInt8], _ reading: Reading) throws {
    try compare(Reference.gzip(bytes), reading) { piece throws(UpsurgeError) in
      try GzipSource(PieceSource(bytes, piece), name: "t.gz")
    }
  }

  private static func compare(
    _ expected: Delivery, orElse inPieces: () -> Delivery? = { nil }, _ reading: Reading,
    source: (_ pieceByteCount: Int) throws(UpsurgeError) -> any ByteSource
  ) throws {
    for one in [Reading(pieceByteCount: 1 << 16, bufferByteCount: 1 << 16), reading] {
      let found = drain(try source(one.pieceByteCount), one.bufferByteCount)
      let common = min(found.bytes.count, expected.bytes.count)
      try expect(
        found.bytes[..<common] == expected.bytes[..<common], "other bytes than the library's, read by \(one)")
      if expected.isTooLong || found.isTooLong { continue }
      if found.isWhole, !expected.isWhole, let other = inPieces(), other.isWhole, other.bytes == found.bytes {
        continue
      }
      try expect(
        found.isWhole == expected.isWhole,
        "\(found.isWhole ? "no error" : "error \(found.error?.description ?? "")"), the library says "
          + "\(expected.isWhole ? "it is whole" : "it is not"), read by \(one)")
      if found.isWhole {
        try expect(
          found.bytes.count == expected.bytes.count,
          "\(found.bytes.count) bytes instead of \(expected.bytes.count), read by \(one)")
      }
    }
  }

  /// Found by its content, decompressed and decoded: the same for every size of the reads.
  /// - Parameter place: where reading begins again, of 255 parts.
  private static func open(_ bytes: [UInt8], _ reading: Reading, place: Int) throws {
    MemoryFile.shared.write(bytes)
    var first: Delivery?
    for bufferByteCount in [1 << 16, reading.bufferByteCount] {
      let found = try openedDelivery(OpenedSource.Options(), bufferByteCount)
      if let first {
        try expect(
          first.bytes == found.bytes && first.isWhole == found.isWhole,
          "other bytes with a buffer of \(bufferByteCount)")
      }
      first = found
    }
    if let first, first.isWhole { try seek(to: first.bytes.count * place / 255, in: first.bytes) }
  }

  /// Reading that begins again in the middle delivers the rest.
  private static func seek(to byte: Int, in bytes: [UInt8]) throws {
    var options = OpenedSource.Options()
    options.windowByteLimit = windowByteLimit
    let opened = try OpenedSource(file: MemoryFile.shared.source(), options: options)
    let start = Int(opened.startOffset)
    _ = drain(opened, 1 << 16)
    let anchor = opened.anchor(before: UInt64(start + byte))
    try opened.seek(to: UInt64(start + byte), from: anchor)
    let rest = drain(opened, 1 << 16)
    try expect(
      rest.isWhole && rest.bytes[...] == bytes[byte...], "another rest from byte \(byte) on, \(anchor)")
  }

  /// What an opened source over the shared file delivers.
  static func openedDelivery(_ options: OpenedSource.Options, _ bufferByteCount: Int) throws -> Delivery {
    var options = options
    options.windowByteLimit = windowByteLimit
    do throws(UpsurgeError) {
      let opened = try OpenedSource(file: MemoryFile.shared.source(), options: options)
      return drain(opened, bufferByteCount)
    } catch {
      return Delivery(error: error)
    }
  }
}

/// What was delivered before the end, an error, or the limit.
struct Delivery {
  var bytes: [UInt8] = []
  var error: UpsurgeError?
  /// For a library, which has errors of its own.
  var isRefused = false
  var isTooLong = false

  var isWhole: Bool { error == nil && !isRefused && !isTooLong }
}

/// Reads a source to its end, at most the limit.
func drain(_ source: any ByteSource, _ bufferByteCount: Int) -> Delivery {
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferByteCount, alignment: 1)
  defer { memory.deallocate() }
  var delivery = Delivery()
  do throws(UpsurgeError) {
    while delivery.bytes.count <= SourceFuzz.outputByteLimit {
      let count = try source.read(into: memory)
      if count == 0 { return delivery }
      delivery.bytes += memory[..<count]
    }
    delivery.isTooLong = true
  } catch {
    delivery.error = error
  }
  return delivery
}

/// Bytes that come in pieces.
private final class PieceSource: ByteSource {
  private let bytes: [UInt8]
  private let pieceByteCount: Int
  private var position = 0

  init(_ bytes: [UInt8], _ pieceByteCount: Int) {
    self.bytes = bytes
    self.pieceByteCount = pieceByteCount
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    let count = min(buffer.count, pieceByteCount, bytes.count - position)
    bytes.withUnsafeBytes { buffer.copyBytes(from: $0[position..<position + count]) }
    position += count
    return count
  }
}

/// A file in memory, written anew for each input.
final class MemoryFile: Sendable {
  static let shared = MemoryFile()

  private let descriptor: Int32

  private init() {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var name = Array("\(base)/upsurge-fuzz-XXXXXX".utf8CString)
    descriptor = mkstemp(&name)
    unlink(name)
    precondition(descriptor >= 0, "no file in memory")
  }

  func write(_ bytes: [UInt8]) {
    precondition(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
    lseek(descriptor, 0, SEEK_SET)
  }

  /// A source over the file, from its first byte.
  func source() throws(UpsurgeError) -> FileSource {
    lseek(descriptor, 0, SEEK_SET)
    return try FileSource(descriptor: descriptor, isOwner: false, name: "t")
  }
}
