import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file in which bytes wait that are not to be held in memory: those of slow sources, until their transaction begins, and texts
/// of workbooks. It has no name, so that it is gone with the process, and it is made only when something is written to it.
package final class SpoolFile: @unchecked Sendable {
  // Sendable because one thread at a time appends, and what was appended is read only after that.

  /// What waits, which decides what helps where there is no room.
  package enum Purpose: Sendable {
    case sources, texts
  }

  private let purpose: Purpose
  private let folder: String
  private let freeByteCount: @Sendable () -> Int?
  private var descriptor: Int32 = -1
  package private(set) var byteCount: UInt64 = 0

  /// Bytes of the disk that are left to others.
  package static let reserveByteCount = 32 << 20

  /// - Parameters:
  ///   - folder: where the file is made.
  ///   - freeByteCount: bytes that the disk of the folder has left; nil where that is not known.
  package init(
    in folder: String, for purpose: Purpose = .sources, freeByteCount: @escaping @Sendable () -> Int?
  ) {
    (self.folder, self.purpose) = (folder, purpose)
    self.freeByteCount = freeByteCount
  }

  deinit { if descriptor >= 0 { systemClose(descriptor) } }

  /// - Parameter name: of the source, for the message.
  /// - Throws: `cannotCreate` where so many more bytes do not fit.
  func checkRoom(for count: UInt64, name: String) throws(UpsurgeError) {
    guard let free = freeByteCount() else { return }
    if count <= UInt64(max(free - Self.reserveByteCount, 0)) { return }
    throw failure(
      name,
      "it needs \(sizeText(count)) in \(folder.escapedForTerminal), which has "
        + "\(sizeText(UInt64(max(free, 0)), roundsUp: false)) free, and \(sizeText(UInt64(Self.reserveByteCount))) stay free"
    )
  }

  /// - Throws: `cannotCreate` when there is no room, or the disk fails.
  func append(_ bytes: UnsafeRawBufferPointer, name: String) throws(UpsurgeError) {
    try checkRoom(for: UInt64(bytes.count), name: name)
    if descriptor < 0 { try open(name) }
    var done = 0
    while done < bytes.count {
      let written = pwrite(
        descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(byteCount) + off_t(done))
      if written < 0 && errno == EINTR { continue }
      if written <= 0 {
        let code = written < 0 ? errno : EIO
        throw failure(
          name, "writing in \(folder.escapedForTerminal) failed: \(String(cString: strerror(code)))", code)
      }
      done += written
    }
    byteCount += UInt64(done)
  }

  /// Reads bytes that were appended; at least one.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64, name: String
  ) throws(UpsurgeError) -> Int {
    while true {
      let count = systemRead(descriptor, buffer, at: off_t(offset))
      if count > 0 { return count }
      if count < 0 && errno == EINTR { continue }
      throw .cannotRead(name, offset: offset, count < 0 ? errno : EIO)
    }
  }

  private func open(_ name: String) throws(UpsurgeError) {
    var template = Array((folder + "/.upsurge-feed-XXXXXX").utf8CString)
    descriptor = mkstemp(&template)
    if descriptor < 0 {
      let code = errno
      throw failure(
        name, "no file can be made in \(folder.escapedForTerminal): \(String(cString: strerror(code)))", code)
    }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  private func failure(_ name: String, _ reason: String, _ code: Int32 = ENOSPC) -> UpsurgeError {
    switch purpose {
    case .sources:
      UpsurgeError(
        .cannotCreate,
        "\(SourceName.shown(name)) cannot be read ahead, which keeps the database free for others meanwhile: \(reason)",
        hint:
          "make room there, or let records be committed as they come: leave out \(.atomic) (of a mirror, atomic: bounded)",
        underlyingCode: code)
    case .texts:
      UpsurgeError(
        .cannotCreate,
        "the shared texts of \(SourceName.shown(name)) have no room outside of the memory: \(reason)",
        hint: "make room there; or raise \(.memory), so that they fit in it", underlyingCode: code)
    }
  }
}
