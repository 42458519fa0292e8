import CArchive
import UpsurgeRecords

/// What libarchive reads: the bytes of a source as they come, and why there are no more.
///
/// An error cannot pass through C, so it is kept for who has called libarchive.
class ArchiveIntake {
  private let source: any ByteSource
  private let memory: UnsafeMutableRawBufferPointer
  /// Bytes that were handed over so far, those that were stepped over included.
  fileprivate(set) var byteCount: UInt64 = 0
  /// Whether the source was found to have no more.
  fileprivate(set) var isAtEnd = false
  /// Why the source has failed.
  fileprivate(set) var failure: UpsurgeError?
  /// The bytes that were read last; valid until the next ones are.
  private(set) var last = UnsafeRawBufferPointer(start: nil, count: 0)

  /// The last bytes that there were; unlike `last` also at the end of the source.
  private(set) var lastBytes = UnsafeRawBufferPointer(start: nil, count: 0)

  /// The end of what was read; shorter where bytes before it were stepped over.
  private var tail: [UInt8] = []

  /// A block of a tar archive.
  private static let tailByteCount = 512

  /// Small enough that a cancellation is asked for often, whatever becomes of the bytes.
  private static let blockByteCount = 64 << 10

  init(_ source: any ByteSource) {
    self.source = source
    memory = .allocate(byteCount: Self.blockByteCount, alignment: 4096)
  }

  deinit { memory.deallocate() }

  /// Reads the next bytes.
  /// - Returns: how many; 0 at the end.
  func next(into memory: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    try source.read(into: memory)
  }

  /// Reads on after what libarchive wants; valid until the next bytes are read.
  func next() throws(UpsurgeError) -> UnsafeRawBufferPointer {
    let count = try next(into: memory)
    last = UnsafeRawBufferPointer(rebasing: memory[..<count])
    byteCount += UInt64(count)
    isAtEnd = count == 0
    if !isAtEnd { lastBytes = last }
    tail = Array((tail + last.suffix(Self.tailByteCount)).suffix(Self.tailByteCount))
    return last
  }

  /// Whether the last block of a tar archive that was read is one of zeros.
  var endsInZeros: Bool { tail.count == Self.tailByteCount && tail.allSatisfy { $0 == 0 } }

  /// Steps over bytes.
  /// - Returns: how many; 0 where they have to be read.
  func skip(_ count: UInt64) -> UInt64 { 0 }

  /// Goes to a byte, as lseek(2) does; nil where it cannot.
  func seek(to offset: Int64, from whence: Int32) -> UInt64? { nil }

  /// Whether `skip` and `seek` do something.
  var isSeekable: Bool { false }

  /// What libarchive says of a call.
  enum Status {
    /// `warning` where a name could not be converted, or content is not what was promised.
    case fine, warning, end, failed

    init(_ code: Int32) {
      switch Int(code) {
      case UPSURGE_ARCHIVE_OK: self = .fine
      case UPSURGE_ARCHIVE_END: self = .end
      case UPSURGE_ARCHIVE_WARN: self = .warning
      default: self = .failed
      }
    }
  }

  /// Why libarchive has failed, in words that may be shown; nil where it says nothing.
  static func reason(_ archive: OpaquePointer) -> String? {
    upsurge_archive_error(archive).map { String(cString: $0).escapedForTerminal }
  }

  /// - Throws: `unreadableInput` where libarchive is not there.
  static func load(for name: String, which: String) throws(UpsurgeError) {
    guard let problem = upsurge_archive_load() else { return }
    throw UpsurgeError(
      .unreadableInput,
      "cannot read \(SourceName.shown(name)), which is \(which): \(String(cString: problem))",
      position: Position(file: name),
      hint: "install it: apt-get install libarchive13 (Debian, Ubuntu), dnf install libarchive (Fedora)")
  }
}

extension ArchiveIntake {
  /// Begins to read; `self` must live as long as the reader.
  func open(_ archive: OpaquePointer) -> Status {
    var callbacks = upsurge_archive_callbacks()
    callbacks.read = { _, context, bytes in ArchiveIntake.from(context).hand(bytes) }
    if isSeekable {
      callbacks.skip = { _, context, count in
        let intake = ArchiveIntake.from(context)
        let skipped = intake.skip(UInt64(max(count, 0)))
        intake.byteCount += skipped
        if skipped > 0 { intake.tail = [] }
        return Int64(skipped)
      }
      callbacks.seek = { _, context, offset, whence in
        let intake = ArchiveIntake.from(context)
        guard let place = intake.seek(to: offset, from: whence) else { return -30 }
        (intake.byteCount, intake.isAtEnd, intake.tail) = (place, false, [])
        return Int64(place)
      }
    }
    return Status(upsurge_archive_open(archive, Unmanaged.passUnretained(self).toOpaque(), callbacks))
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> ArchiveIntake {
    guard let context else { preconditionFailure("libarchive gives back what it was given") }
    return Unmanaged<ArchiveIntake>.fromOpaque(context).takeUnretainedValue()
  }

  private func hand(_ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?) -> Int {
    if failure != nil { return -1 }
    do throws(UpsurgeError) {
      let next = try next()
      bytes?.pointee = next.baseAddress
      return next.count
    } catch {
      failure = error
      return -1
    }
  }
}
