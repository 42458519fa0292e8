#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a file of rejects line by line, and keeps it from a second replay and from a load meanwhile.
///
/// What is longer than any line that a load writes comes in pieces, so that no line needs much memory.
final class RejectFileReader {
  /// A line with its end, or a piece of one.
  struct Piece {
    var bytes: [UInt8]
    /// Whether it begins a line, and whether it ends one (or the file).
    var isStart: Bool
    var isEnd: Bool

    /// The line without its end; nil for a piece.
    var line: ArraySlice<UInt8>? {
      guard isStart && isEnd else { return nil }
      var line = bytes[...]
      if line.last == 0x0A { line.removeLast() }
      if line.last == 0x0D { line.removeLast() }
      return line
    }
  }

  /// The path as it was given.
  let path: String
  let byteCount: UInt64
  let mode: mode_t
  /// Bytes that were handed out, and what they come to.
  private(set) var place = ChainedBytes()
  /// Number of the line that was handed out last, from 1.
  private(set) var line: UInt64 = 0
  /// Whether the file says that nothing is committed of what it holds; its first line is handed out without that.
  private(set) var isUnconfirmed = false

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  private var isInsideLine = false

  /// No line of rejects is as long: 64 KiB of raw bytes, six characters each, once more in base64, and the words.
  static let pieceByteCount = 2 << 20

  /// - Parameter locks: false where the file is locked by who asks, or is nobody else's.
  /// - Throws: `unreadableInput`; `databaseBusy` while a load writes the file or another replay of it runs; `usage` for
  ///   what cannot be replaced by what is left of it.
  init(path: String, locks: Bool = true) throws(UpsurgeError) {
    self.path = path
    let shown = path.escapedForTerminal
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    if descriptor < 0 {
      let code = errno
      throw code == ELOOP
        ? UpsurgeError(
          .usage, "\(shown) is a symbolic link, and what is left of the rejects would take its place",
          hint: "give the path of the file itself")
        : UpsurgeError(
          .unreadableInput, "cannot read \(shown): \(String(cString: strerror(code)))", underlyingCode: code)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw UpsurgeError(
        .usage, "\(shown) is not a file, and what is left of the rejects must take its place",
        hint: "save the rejects to a file first")
    }
    byteCount = UInt64(status.st_size)
    mode = status.st_mode & 0o777
    if !locks { return }
    // A file system without locks has none to look for.
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK {
      close(descriptor)
      throw UpsurgeError(
        .databaseBusy, "\(shown) is being written or replayed by \(FileHolder.words(status))",
        hint: "let that finish, then start this one again")
    }
    // The replay that was waited for may have put another file there.
    if !isInPlace {
      close(descriptor)
      throw UpsurgeError(
        .databaseBusy, "\(shown) was replaced while it was opened", hint: "start the replay again")
    }
  }

  deinit { close(descriptor) }

  /// Whether the path still leads to the file that was opened.
  var isInPlace: Bool {
    var (opened, now) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && stat(path, &now) == 0 && now.st_ino == opened.st_ino
      && now.st_dev == opened.st_dev
  }

  /// Looks whether a file can be replayed, before anything is done for it.
  /// - Throws: as `init`.
  static func check(_ path: String) throws(UpsurgeError) { _ = try RejectFileReader(path: path) }

  /// The next line, or the next piece of a long one; nil at the end.
  /// - Throws: `unreadableInput`.
  func next() throws(UpsurgeError) -> Piece? {
    var scanned = start
    while true {
      let limit = min(buffer.count, start + Self.pieceByteCount)
      if let end = buffer[scanned..<max(limit, scanned)].firstIndex(of: 0x0A) {
        return take(end + 1, isEnd: true)
      }
      if limit - start == Self.pieceByteCount { return take(limit, isEnd: false) }
      if isAtEnd { return start == buffer.count ? nil : take(buffer.count, isEnd: true) }
      scanned = limit
      let dropped = start
      try fill()
      scanned -= dropped - start
    }
  }

  private func take(_ end: Int, isEnd: Bool) -> Piece {
    if place.byteCount == 0 && RejectFile.confirm(&buffer[start]) { isUnconfirmed = true }
    let piece = Piece(bytes: Array(buffer[start..<end]), isStart: !isInsideLine, isEnd: isEnd)
    start = end
    if !isInsideLine { line += 1 }
    isInsideLine = !isEnd
    place.append(piece.bytes)
    return piece
  }

  private func fill() throws(UpsurgeError) {
    buffer.removeFirst(start)
    start = 0
    var chunk = [UInt8](repeating: 0, count: 256 << 10)
    let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    if count < 0 && errno == EINTR { return }
    if count < 0 {
      throw UpsurgeError(
        .unreadableInput, "cannot read \(path.escapedForTerminal): \(String(cString: strerror(errno)))",
        underlyingCode: errno)
    }
    if count == 0 { isAtEnd = true }
    buffer += chunk[..<count]
  }
}

/// How many bytes came one after the other, and a hash over the parts in which they came.
struct ChainedBytes: Equatable {
  var byteCount: UInt64 = 0
  var hash: UInt64 = 0

  init(byteCount: UInt64 = 0, hash: UInt64 = 0) {
    self.byteCount = byteCount
    self.hash = hash
  }

  mutating func append(_ part: [UInt8]) {
    byteCount += UInt64(part.count)
    let own = part.withUnsafeBytes { ContentHash.hash($0) }
    hash = withUnsafeBytes(of: (hash.littleEndian, own.littleEndian)) { ContentHash.hash($0) }
  }
}
