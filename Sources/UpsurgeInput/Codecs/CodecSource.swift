import CArchive
import UpsurgeRecords

/// Decompresses what libarchive knows: xz, bzip2, lz4 and compress, streams one after another.
///
/// Checksums are verified where the format has them. A stream that ends too early is an error, and so is anything after the last
/// one but zeros. Of `compress` nobody can tell where it should end.
package final class CodecSource: ByteSource {
  private let name: String
  private let compression: Compression
  private let intake: ArchiveIntake
  private let archive: OpaquePointer
  /// What was decoded and not delivered; valid until the next block.
  private var block = UnsafeRawBufferPointer(start: nil, count: 0)
  private var decodedOffset: UInt64 = 0
  private var isAtEnd = false
  private var failure: UpsurgeError?

  /// - Parameters:
  ///   - source: the compressed bytes, from their first one.
  ///   - compression: one that libarchive decodes.
  ///   - windowByteLimit: the largest dictionary of an xz stream.
  /// - Throws: `unreadableInput` without libarchive; `badInput`; what the source throws.
  package init(
    _ source: any ByteSource, _ compression: Compression, name: String, windowByteLimit: Int = 128 << 20
  ) throws(UpsurgeError) {
    (self.name, self.compression) = (name, compression)
    try ArchiveIntake.load(for: name, which: compression.rawValue)
    let prefix = try source.readPrefix(Compression.magicByteCount).bytes
    let kind =
      switch compression {
      case .xz: UPSURGE_ARCHIVE_XZ
      case .bzip2: UPSURGE_ARCHIVE_BZIP2
      case .lz4: UPSURGE_ARCHIVE_LZ4
      default: UPSURGE_ARCHIVE_COMPRESS
      }
    guard let archive = upsurge_archive_new(Int32(kind)) else {
      throw UpsurgeError(
        .unreadableInput,
        "libarchive cannot read \(compression.rawValue) here, so \(SourceName.shown(name)) is not read",
        position: Position(file: name), hint: SourceName.piped("\(compression.program) -dc", name))
    }
    self.archive = archive
    intake = ArchiveIntake(ReplaySource(prefix, then: source))
    if compression == .xz { try check(XZHeader.dictionaryByteCount(prefix), limit: windowByteLimit) }
    // It reads and decodes the first block.
    if intake.open(archive) != .fine { throw broken() }
    if upsurge_archive_is_decoding(archive) == 0 {
      throw Compression.detect(prefix) == compression
        ? broken() : prefix.withUnsafeBytes { compression.isNot($0, name: name) }
    }
    var entry: OpaquePointer?
    switch ArchiveIntake.Status(upsurge_archive_next(archive, &entry)) {
    case .fine: return
    case .end: try end()
    case .warning, .failed: throw broken()
    }
  }

  deinit { upsurge_archive_free(archive) }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    if let failure { throw failure }
    do throws(UpsurgeError) {
      while block.isEmpty && !isAtEnd { try decode() }
    } catch {
      failure = error
      throw error
    }
    let count = min(block.count, buffer.count)
    if count == 0 { return 0 }
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
    block = UnsafeRawBufferPointer(rebasing: block[count...])
    decodedOffset += UInt64(count)
    return count
  }

  private func decode() throws(UpsurgeError) {
    var (start, count, offset): (UnsafeRawPointer?, Int, Int64) = (nil, 0, 0)
    switch ArchiveIntake.Status(upsurge_archive_block(archive, &start, &count, &offset)) {
    case .fine: block = UnsafeRawBufferPointer(start: start, count: count)
    case .end: try end()
    case .warning, .failed: throw broken()
    }
  }

  /// Looks whether the streams are all there is.
  private func end() throws(UpsurgeError) {
    isAtEnd = true
    let used = UInt64(max(upsurge_archive_used(archive), 0))
    let rest = Int(clamping: intake.byteCount - min(used, intake.byteCount))
    if rest > intake.last.count || intake.last.suffix(rest).contains(where: { $0 != 0 }) {
      throw goesOn(at: used)
    }
    while !intake.isAtEnd {
      let start = intake.byteCount
      if let place = try intake.next().firstIndex(where: { $0 != 0 }) {
        throw goesOn(at: start + UInt64(place))
      }
    }
  }
}

extension CodecSource {
  private var shown: String { SourceName.shown(name) }

  /// In the decoded stream, as positions are.
  private var position: Position { Position(file: name, byte: decodedOffset) }

  /// What the source has failed with, or else what libarchive says of its content.
  private func broken() -> UpsurgeError {
    if let failure = intake.failure { return failure }
    // libarchive takes what follows a whole stream of xz for another one.
    if compression == .xz, let place = XZFooter.junk(in: intake.lastBytes) {
      return goesOn(at: intake.byteCount - UInt64(intake.lastBytes.count - place))
    }
    if intake.isAtEnd {
      return UpsurgeError(
        .badInput,
        "\(shown) is cut off: the \(compression.rawValue) stream ends too early, at byte \(intake.byteCount) of the file and "
          + "byte \(decodedOffset) of its content",
        position: position, hint: SourceName.fetchAgain(name, check: "\(compression.program) -t"))
    }
    return UpsurgeError(
      .badInput,
      "\(shown) is corrupt: \(ArchiveIntake.reason(archive) ?? "unknown error") in the \(compression.rawValue) stream, before "
        + "byte \(intake.byteCount) of the file and after byte \(decodedOffset) of its content",
      position: position, hint: SourceName.fetchAgain(name, check: "\(compression.program) -t"))
  }

  private func goesOn(at byte: UInt64) -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(shown) goes on after its last \(compression.rawValue) stream, at byte \(byte) of the file",
      position: position,
      hint: "\(SourceName.fetchAgain(name, check: "\(compression.program) -t")); "
        + "head -c \(byte) keeps the part before, if that is all there should be")
  }

  private func check(_ dictionaryByteCount: UInt64, limit: Int) throws(UpsurgeError) {
    if dictionaryByteCount <= UInt64(max(limit, 0)) { return }
    throw UpsurgeError(
      .badInput,
      "\(shown) needs an xz dictionary of \(sizeText(dictionaryByteCount)), and "
        + "\(sizeText(UInt64(max(limit, 0)), roundsUp: false)) is the limit",
      position: position,
      hint: "\(.memory, sizeText(dictionaryByteCount &* 4)) allows it; or compress it again with xz -9")
  }
}

/// The beginning of an xz stream (the .xz file format, 2 and 3.1).
enum XZHeader {
  /// How far back the first block may refer; 0 where that is not known.
  static func dictionaryByteCount(_ prefix: [UInt8]) -> UInt64 {
    guard prefix.count > 13, prefix[12] != 0 else { return 0 }
    var rest = prefix[12...].prefix((Int(prefix[12]) + 1) * 4).dropFirst(2)
    let flags = prefix[13]
    for bit: UInt8 in [0x40, 0x80] where flags & bit != 0 { _ = number(&rest) }
    for _ in 0...(flags & 3) {
      let (id, size) = (number(&rest), number(&rest))
      if id == 0x21, size == 1, let bits = rest.first { return dictionaryByteCount(bits: bits) }
      rest = rest.dropFirst(Int(clamping: size))
    }
    return 0
  }

  /// 2 or 3 times a power of two, from 4 KiB on.
  private static func dictionaryByteCount(bits: UInt8) -> UInt64 {
    bits >= 40 ? UInt64(UInt32.max) : UInt64(2 | bits & 1) << UInt64(bits / 2 + 11)
  }

  /// A number of seven bits a byte, the last one first.
  private static func number(_ bytes: inout ArraySlice<UInt8>) -> UInt64 {
    var (number, shift): (UInt64, UInt64) = (0, 0)
    while shift < 63, let byte = bytes.popFirst() {
      number |= UInt64(byte & 0x7F) << shift
      shift += 7
      if byte & 0x80 == 0 { break }
    }
    return number
  }
}
