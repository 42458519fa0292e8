import CArchive
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads an archive from its first member to its last.
///
///     let reader = try ArchiveReader(file, kind, within: OpenArchives())
///     while let entry = try reader.next() {
///       while try reader.read(into: buffer) > 0 { }
///     }
final class ArchiveReader: @unchecked Sendable {
  // Sendable because it belongs to one thread at a time: OpenArchives hands it on under a lock.

  let file: ArchiveFile
  let kind: ArchiveKind
  private let intake: ArchiveIntake
  private let archive: OpaquePointer
  private let ratioLimit: RatioLimit?
  /// What the end of a zip archive says.
  private let zipEnd: ZipEnd?
  /// Of the member that `next()` gives next, from 0.
  private(set) var nextIndex = 0
  /// The name of the member that is read, for messages.
  var memberName: String?
  /// What was decoded and not delivered; valid until the next block.
  private var block = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Where the block begins in the member; zeros stand before it where a sparse file has a hole.
  private var blockOffset: UInt64 = 0
  /// Bytes that were delivered of the member, and of all.
  private var contentOffset: UInt64 = 0
  private var deliveredByteCount: UInt64 = 0
  /// What the header of the member says; nil where it does not say it.
  private var expectedByteCount: UInt64?
  private var isMemberAtEnd = true

  /// Begins before the first member.
  /// - Throws: `unreadableInput` without libarchive; `badInput`.
  init(_ file: ArchiveFile, _ kind: ArchiveKind, within bounds: OpenArchives) throws(UpsurgeError) {
    (self.file, self.kind) = (file, kind)
    try ArchiveIntake.load(for: file.name, which: kind.name)
    ratioLimit = bounds.maximumRatio.map { RatioLimit(ratio: $0) }
    file.offset = 0
    zipEnd = kind == .zip ? try ZipEnd(file) : nil
    if case .tar(let compression) = kind, compression != .none {
      let decoder = try Decoder(
        compression, over: file, name: file.name, windowByteLimit: bounds.windowByteLimit)
      intake = DecodedIntake(decoder.content, of: file, ratioLimit: ratioLimit)
    } else {
      intake = FileIntake(file)
    }
    guard let archive = upsurge_archive_new(Int32(kind == .zip ? UPSURGE_ARCHIVE_ZIP : UPSURGE_ARCHIVE_TAR))
    else {
      throw UpsurgeError(
        .unreadableInput,
        "libarchive cannot read \(kind.name) here, so \(SourceName.shown(file.name)) is not read",
        position: Position(file: file.name), hint: "unpack it, and load the files")
    }
    self.archive = archive
    if kind == .zip && zipEnd == nil {
      throw cutOff("the directory of a zip archive, which stands at its end, is missing")
    }
    // libarchive takes nothing for a zip archive that has no member.
    if zipEnd?.memberCount != 0, intake.open(archive) != .fine { throw broken() }
  }

  deinit { upsurge_archive_free(archive) }

  /// Goes to the next member, over what was not read of this one.
  /// - Returns: nil at the end of an archive that is whole.
  func next() throws(UpsurgeError) -> ArchiveEntry? {
    (block, contentOffset, isMemberAtEnd, memberName) = (
      UnsafeRawBufferPointer(start: nil, count: 0), 0, true, nil
    )
    if zipEnd?.memberCount == 0 { return nil }
    var header: OpaquePointer?
    let status = ArchiveIntake.Status(upsurge_archive_next(archive, &header))
    if let failure = intake.failure { throw failure }
    switch status {
    // A name that cannot be converted is one all the same.
    case .fine, .warning:
      guard let header else { throw broken() }
      let entry = ArchiveEntry(header)
      if entry.kind == .folder, entry.byteCount ?? 0 > 0 { throw corrupt("a folder in it has content") }
      (expectedByteCount, isMemberAtEnd, blockOffset) = (entry.byteCount, false, 0)
      nextIndex += 1
      return entry
    case .end:
      try end()
      return nil
    case .failed: throw broken()
    }
  }

  /// Reads the member's content; as `ByteSource.read(into:)`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    while block.isEmpty && !isMemberAtEnd { try nextBlock() }
    let gap = block.isEmpty ? 0 : blockOffset - min(contentOffset, blockOffset)
    let count: Int
    if gap > 0 {
      count = Int(min(gap, UInt64(buffer.count)))
      buffer[..<count].initializeMemory(as: UInt8.self, repeating: 0)
    } else {
      count = min(block.count, buffer.count)
      if count == 0 { return 0 }
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
      block = UnsafeRawBufferPointer(rebasing: block[count...])
      blockOffset += UInt64(count)
    }
    contentOffset += UInt64(count)
    deliveredByteCount += UInt64(count)
    // Members may share the bytes of the file, which are read again and again.
    try ratioLimit?.check(
      name: shownName, decodedByteCount: deliveredByteCount,
      readByteCount: min(file.readByteCount, file.stamp.byteCount))
    return count
  }

  private func nextBlock() throws(UpsurgeError) {
    if file.cancellation?.isRequested == true { throw .interrupted(shownName) }
    var (start, count, offset): (UnsafeRawPointer?, Int, Int64) = (nil, 0, 0)
    let status = ArchiveIntake.Status(upsurge_archive_block(archive, &start, &count, &offset))
    if let failure = intake.failure { throw failure }
    switch status {
    case .fine:
      (block, blockOffset) = (UnsafeRawBufferPointer(start: start, count: count), UInt64(max(offset, 0)))
    case .end:
      isMemberAtEnd = true
      if let expectedByteCount, expectedByteCount != contentOffset {
        throw corrupt("it has \(contentOffset) bytes and should have \(expectedByteCount)")
      }
    case .warning, .failed: throw broken()
    }
  }

  /// Reads the rest of the file: a compressed one shows only at its end whether it is whole.
  private func end() throws(UpsurgeError) {
    if let zipEnd {
      // The field has sixteen bits where the archive is not a large one.
      if UInt64(nextIndex) == zipEnd.memberCount { return }
      throw corrupt("its directory has \(nextIndex) files and should have \(zipEnd.memberCount)")
    }
    let used = UInt64(max(upsurge_archive_used(archive), 0))
    let rest = Int(clamping: intake.byteCount - min(used, intake.byteCount))
    if rest == 0 && !intake.endsInZeros { throw cutOff("the mark at the end of a tar archive is missing") }
    if rest > intake.last.count || intake.last.suffix(rest).contains(where: { $0 != 0 }) { throw goesOn() }
    while !intake.isAtEnd {
      if try intake.next().contains(where: { $0 != 0 }) { throw goesOn() }
    }
  }
}

extension ArchiveReader {
  private var shownName: String { memberName ?? file.name }

  private var shown: String { SourceName.shown(shownName) }

  private var position: Position { Position(file: shownName, byte: memberName == nil ? nil : contentOffset) }

  private var fetchAgain: String { SourceName.fetchAgain(file.name, check: kind.check) }

  private func broken() -> UpsurgeError {
    if let failure = intake.failure { return failure }
    if intake.isAtEnd { return cutOff("the archive ends too early") }
    return corrupt(ArchiveIntake.reason(archive) ?? "unknown error")
  }

  private func cutOff(_ reason: String) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(shown) is cut off: \(reason)\(place), at byte \(file.stamp.byteCount) of the file",
      position: position,
      hint: fetchAgain)
  }

  private func corrupt(_ reason: String) -> UpsurgeError {
    UpsurgeError(
      .badInput, "\(shown) is corrupt: \(reason)\(place), near byte \(file.offset) of the file",
      position: position,
      hint: fetchAgain)
  }

  /// How much of a member was good.
  private var place: String { memberName == nil ? "" : " after byte \(contentOffset) of its content" }

  private func goesOn() -> UpsurgeError {
    UpsurgeError(
      .badInput,
      "\(shown) goes on after the mark at the end of its tar archive, as two archives do that were put together",
      position: position, hint: "\(fetchAgain); or unpack both, and load the files")
  }
}

/// A member of an archive, as its header says.
struct ArchiveEntry {
  enum Kind: Sendable {
    case file, folder
    /// A symbolic or hard link.
    case link
    /// A device or pipe.
    case other
  }

  /// As it is stored.
  var name: [UInt8]
  var kind: Kind
  var isEncrypted: Bool
  /// nil where the header does not say it.
  var byteCount: UInt64?
  /// Seconds since 1970.
  var time: Int64

  init(_ header: OpaquePointer) {
    name =
      upsurge_archive_name(header).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } ?? []
    kind =
      if upsurge_archive_is_hard_link(header) != 0 {
        .link
      } else {
        switch Int(upsurge_archive_kind(header)) {
        case UPSURGE_ARCHIVE_FILE: .file
        case UPSURGE_ARCHIVE_FOLDER: .folder
        case UPSURGE_ARCHIVE_LINK: .link
        default: .other
        }
      }
    isEncrypted = upsurge_archive_is_encrypted(header) != 0
    byteCount = UInt64(exactly: upsurge_archive_size(header))
    time = upsurge_archive_time(header)
  }
}
