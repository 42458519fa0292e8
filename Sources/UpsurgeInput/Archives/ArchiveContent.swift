import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The content of one member, as that of a file: read from its start, and again.
final class ArchiveContent: MemberContent {
  let path: ArchivePath
  let member: ArchiveListing.Member
  private let archives: OpenArchives
  private let kind: ArchiveKind
  /// How the file was when it was opened.
  let stamp: ArchiveFile.Stamp
  private let followsLinks: Bool
  /// nil at the end of the member, when it was given back for the next one.
  private var reader: ArchiveReader?
  /// Bytes of the member that were read.
  private(set) var offset: UInt64 = 0
  /// Ends reading, when it is asked to.
  var cancellation: ReadCancellation? { didSet { reader?.file.cancellation = cancellation } }

  /// Goes to the start of a member.
  /// - Parameter followsLinks: false for an archive that was found in a folder.
  /// - Throws: `unreadableInput` where there is no such member; `badInput`.
  init(
    _ path: ArchivePath, followsLinks: Bool, of archives: OpenArchives?, cancellation: ReadCancellation?
  ) throws(UpsurgeError) {
    let archives = archives ?? OpenArchives()
    let listing = try ArchiveListing.of(
      path.archive, followsLinks: followsLinks, within: archives, cancellation: cancellation)
    guard let listing else { throw .noArchive(path) }
    let members = try listing.members(matching: path)
    guard members.count == 1, let stamp = ArchiveFile.Stamp(path: path.archive) else {
      throw .cannotOpen(path.text, ENOENT)
    }
    (self.path, member, self.archives, self.followsLinks) = (path, members[0], archives, followsLinks)
    (kind, self.stamp, self.cancellation) = (listing.kind, stamp, cancellation)
    try begin()
  }

  deinit { giveBack() }

  /// As `ByteSource.read(into:)`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    guard let reader else { return 0 }
    do throws(UpsurgeError) {
      let count = try reader.read(into: buffer)
      offset += UInt64(count)
      if count == 0 { giveBack() }
      return count
    } catch {
      // It stands nowhere any more.
      self.reader = nil
      throw error
    }
  }

  var byteCount: UInt64? { member.byteCount }

  var standsNowhere: Bool { reader == nil }

  func restart() throws(UpsurgeError) {
    giveBack()
    try begin()
  }

  private func begin() throws(UpsurgeError) {
    offset = 0
    let reader =
      if let parked = archives.take(stamp, before: member.index) { parked } else {
        try ArchiveReader(
          ArchiveFile(path.archive, followsLinks: followsLinks, cancellation: cancellation), kind,
          within: archives)
      }
    reader.file.cancellation = cancellation
    while reader.nextIndex <= member.index {
      guard let entry = try reader.next(), reader.nextIndex <= member.index || entry.name == member.name
      else {
        throw .isAnotherFile(path.text, "is not where the archive had it")
      }
    }
    reader.memberName = path.text
    self.reader = reader
  }

  private func giveBack() {
    if let reader { archives.giveBack(reader) }
    reader = nil
  }

  /// Whether the archive is another file than when the member was opened.
  var hasChanged: Bool { ArchiveFile.Stamp(path: path.archive) != stamp }

  /// What distinguishes the member from others: the archive with its beginning and its end, where a zip archive has all checksums.
  /// - Throws: `unreadableInput`.
  func identity() throws(UpsurgeError) -> FileIdentity {
    let file = try ArchiveFile(path.archive, followsLinks: followsLinks, cancellation: cancellation)
    return try file.identity(of: "\(path.member)\n\(member.byteCount ?? 0) \(member.time)")
  }
}

extension Source {
  /// How many bytes are read of it: the size of a regular file, or of a member of an archive that was listed; nil for anything else.
  package var readByteCount: UInt64? {
    guard let path = filePath, let place = ArchivePath(path) else { return byteCount }
    return SheetSizes.known(place)
      ?? ArchiveListing.known(of: place.archive)?.named(place.member).first?.byteCount
  }
}

/// How many bytes stand for sheets of workbooks, of the last ones that were named.
enum SheetSizes {
  private static let known = Guarded<[(stamp: ArchiveFile.Stamp, place: ArchivePath, byteCount: UInt64)]>([])
  private static let limit = 1000

  static func note(_ place: ArchivePath, _ byteCount: UInt64) {
    guard let stamp = ArchiveFile.Stamp(path: place.archive) else { return }
    known.withLock { known in
      known.removeAll { $0.place == place }
      known.append((stamp, place, byteCount))
      if known.count > limit { known.removeFirst() }
    }
  }

  /// nil where nobody named it, and where the file has changed since.
  static func known(_ place: ArchivePath) -> UInt64? {
    guard let stamp = ArchiveFile.Stamp(path: place.archive) else { return nil }
    return known.withLock { $0.last { $0.place == place && $0.stamp == stamp }?.byteCount }
  }
}

extension UpsurgeError {
  /// A path that goes on after a file that is no archive.
  static func noArchive(_ path: ArchivePath) -> UpsurgeError {
    UpsurgeError(
      .unreadableInput,
      "there is no file \(SourceName.shown(path.text)): \(SourceName.shown(path.archive)) is neither a folder nor an archive",
      hint: "name the file itself: \(path.archive.escapedForTerminal)", underlyingCode: ENOTDIR)
  }
}
