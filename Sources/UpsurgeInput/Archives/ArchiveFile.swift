import CArchive
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A regular file that is an archive, read at any place.
final class ArchiveFile: ByteSource {
  /// The path, as it was given.
  let name: String
  let stamp: Stamp
  /// Ends reading, when it is asked to.
  var cancellation: ReadCancellation?
  /// Where the next bytes are read.
  var offset: UInt64 = 0
  /// Bytes that were read so far, also twice.
  private(set) var readByteCount: UInt64 = 0
  private let descriptor: Int32

  /// What distinguishes a file from others as long as nobody writes to it.
  struct Stamp: Sendable, Hashable {
    var device: UInt64
    var inode: UInt64
    var byteCount: UInt64
    /// Of the content and of the file itself, in nanoseconds since 1970.
    var modified: Int64
    var changed: Int64

    /// nil for what is no regular file.
    fileprivate init?(_ info: stat) {
      guard info.isRegular else { return nil }
      device = UInt64(truncatingIfNeeded: info.st_dev)
      inode = UInt64(truncatingIfNeeded: info.st_ino)
      byteCount = UInt64(max(info.st_size, 0))
      modified = info.modificationTime
      changed = info.changeTime
    }

    /// nil for what is no regular file, and for what is not there.
    init?(path: String) {
      guard let info = stat(path: path) else { return nil }
      self.init(info)
    }
  }

  /// - Parameter followsLinks: false for a file that was found in a folder.
  /// - Throws: `unreadableInput`, also for what is no regular file.
  init(_ path: String, followsLinks: Bool = true, cancellation: ReadCancellation? = nil) throws(UpsurgeError)
  {
    var opened: Int32
    repeat {
      opened = systemOpen(
        path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
    } while opened < 0 && errno == EINTR
    if opened < 0 { throw errno == ELOOP && !followsLinks ? .isLink(path) : .cannotOpen(path, errno) }
    guard let info = stat(descriptor: opened), let stamp = Stamp(info) else {
      systemClose(opened)
      throw .isNoFile(path)
    }
    (name, descriptor, self.stamp, self.cancellation) = (path, opened, stamp, cancellation)
  }

  deinit { systemClose(descriptor) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    while true {
      if cancellation?.isRequested == true { throw .interrupted(name) }
      let count = systemRead(descriptor, buffer, at: off_t(clamping: offset))
      if count >= 0 {
        offset += UInt64(count)
        readByteCount += UInt64(count)
        return count
      }
      if errno != EINTR { throw .cannotRead(name, offset: offset, errno) }
    }
  }

  /// Bytes of a place; fewer only at the end. What is read next stays where it is.
  func bytes(_ count: Int, at place: UInt64) throws(UpsurgeError) -> [UInt8] {
    let next = offset
    defer { offset = next }
    offset = place
    return try readPrefix(count).bytes
  }

  /// Whether it is another file than when it was opened.
  var hasChanged: Bool { stat(descriptor: descriptor).flatMap(Stamp.init) != stamp }
}

/// An archive as libarchive reads it: straight from its file, so that it can step over what nobody wants.
final class FileIntake: ArchiveIntake {
  private let file: ArchiveFile
  private var blockByteCount = FileIntake.leastByteCount

  /// What is read first at a new place: a header, of which there may be many.
  private static let leastByteCount = 4 << 10

  init(_ file: ArchiveFile) {
    self.file = file
    super.init(file)
  }

  override var isSeekable: Bool { true }

  override func next(into memory: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    let part = UnsafeMutableRawBufferPointer(rebasing: memory[..<min(blockByteCount, memory.count)])
    blockByteCount = min(blockByteCount * 2, memory.count)
    return try file.read(into: part)
  }

  override func skip(_ count: UInt64) -> UInt64 {
    // A place behind the end is none: there the file was cut.
    let skipped = min(count, file.stamp.byteCount - min(file.offset, file.stamp.byteCount))
    file.offset += skipped
    if skipped > 0 { blockByteCount = Self.leastByteCount }
    return skipped
  }

  override func seek(to offset: Int64, from whence: Int32) -> UInt64? {
    let start: UInt64
    switch whence {
    case SEEK_CUR: start = file.offset
    case SEEK_END: start = file.stamp.byteCount
    default: start = 0
    }
    let (place, isBeyond) = Int64(clamping: start).addingReportingOverflow(offset)
    guard !isBeyond, place >= 0 else { return nil }
    file.offset = UInt64(place)
    blockByteCount = Self.leastByteCount
    return file.offset
  }
}

/// The content of a compressed file as libarchive reads it, which must not grow like a bomb: also what is stepped over is decoded.
final class DecodedIntake: ArchiveIntake {
  private let file: ArchiveFile
  private let ratioLimit: RatioLimit?

  init(_ content: any ByteSource, of file: ArchiveFile, ratioLimit: RatioLimit?) {
    (self.file, self.ratioLimit) = (file, ratioLimit)
    super.init(content)
  }

  override func next(into memory: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    // Content may come for long before the file is read again.
    if file.cancellation?.isRequested == true { throw .interrupted(file.name) }
    let count = try super.next(into: memory)
    try ratioLimit?.check(
      name: file.name, decodedByteCount: byteCount + UInt64(count), readByteCount: file.readByteCount)
    return count
  }
}
