#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that says what a run has committed: what belongs to a transaction that is rolled back is cut off again.
///
/// `-` is standard output, from which nothing can be taken back, as from any pipe or device: there the bytes wait in a
/// temporary file, which has no name, until `keep`.
final class OutputFile {
  private let path: String
  private let option: Wording
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var writtenCount: off_t = 0
  private var keptCount: off_t = 0
  /// Whether all that was written out is on the disk.
  private var isSynced = false
  /// Whether the file's name is on the disk.
  private var isInFolder = false
  /// Where the bytes go at `keep`, as nothing can be taken back from there; nil where they are in the file itself.
  private let sink: Int32?
  /// Where the bytes of the open transaction wait, in a file without a name, until it is about to be committed; nil
  /// where they go into the file at once.
  private let held: Int32?
  private var heldCount: off_t = 0

  /// Makes the file anew, readable by its owner only; does not follow a symbolic link.
  /// - Parameters:
  ///   - path: `-` for standard output.
  ///   - option: the option that named it, for messages.
  ///   - goesOn: leaves what an earlier part of the run has written, until `goOn` or `cut` says what of it stays.
  ///   - holdsBack: keeps bytes out of the file until the transaction that they tell of is about to be committed.
  /// - Throws: `cannotCreate`; `databaseBusy` for a file that another process writes.
  init(
    path: String, option: Wording, goesOn: Bool = false, holdsBack: Bool = false
  ) throws(UpsurgeError) {
    self.path = path
    self.option = option
    if path == "-" {
      try OutputDescriptor.checkOpen(STDOUT_FILENO, "standard output", option)
      sink = STDOUT_FILENO
      descriptor = OutputFile.unnamedFile()
    } else {
      let output = try OutputDescriptor(path: path, option: option, goesOn: goesOn)
      sink = output.isOwnFile ? nil : output.descriptor
      descriptor = output.isOwnFile ? output.descriptor : OutputFile.unnamedFile()
    }
    held = holdsBack && sink == nil && descriptor >= 0 ? OutputFile.unnamedFile() : nil
    if descriptor < 0 || held ?? 0 < 0 { throw failure("cannot make", errno, isTemporary: true) }
  }

  /// Whether it is a file that can be cut, and no stream.
  var isFile: Bool { sink == nil }

  /// Leaves what an earlier part of the run has committed: so many bytes, where a line ends. What is not as it was left
  /// stays as it is, and the rest follows it.
  func goOn(at length: UInt64, note: (RunNote) -> Void) throws(UpsurgeError) {
    if sink != nil { return }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("cannot read", errno) }
    let end = off_t(clamping: length)
    if status.st_size >= end && isLineEnd(end) { return try cut(to: end) }
    try cut(to: status.st_size)
    if !isLineEnd(status.st_size) {
      try append([0x0A])
      try keep()
    }
    noteChange(isGone: status.st_size == 0, note)
  }

  /// Says that the file is not as an earlier part of the run has left it.
  func noteChange(isGone: Bool, _ note: (RunNote) -> Void) {
    let words =
      isGone
      ? "is gone or empty: from here on a new one is written"
      : "is not as the earlier part of this run has left it: what is there stays, and the rest follows it"
    note(RunNote(.warning, "the file \(path.escapedForTerminal) of \(saying: option) \(words)"))
  }

  private func isLineEnd(_ end: off_t) -> Bool {
    var byte: UInt8 = 0
    return end == 0 || pread(descriptor, &byte, 1, end - 1) == 1 && byte == 0x0A
  }

  /// Leaves the first bytes of a file that an earlier part of the run has written, and goes on there.
  func cut(to length: some BinaryInteger) throws(UpsurgeError) {
    let length = off_t(clamping: length)
    guard ftruncate(descriptor, length) == 0, lseek(descriptor, length, SEEK_SET) == length else {
      throw failure("cannot cut back", errno)
    }
    writtenCount = length
    keptCount = length
  }

  /// Writes another first byte.
  func replaceFirst(with byte: UInt8) throws(UpsurgeError) {
    var byte = byte
    while pwrite(descriptor, &byte, 1, 0) != 1 {
      if errno != EINTR { throw failure("cannot write", errno) }
    }
    isSynced = false
  }

  deinit {
    close(descriptor)
    if let held { close(held) }
    if let sink, sink != STDOUT_FILENO { close(sink) }
  }

  /// Appends bytes; written out at 64 KiB.
  func append(_ bytes: [UInt8]) throws(UpsurgeError) {
    if bytes.count >= 64 << 10 {
      // What is long is not copied.
      try flush()
      isSynced = false
      try write(bytes[...], to: openDescriptor)
      openCount += off_t(bytes.count)
      return
    }
    buffer += bytes
    if buffer.count >= 64 << 10 { try flush() }
  }

  /// Puts what was appended so far on the disk, before the commit that it belongs to.
  /// - Returns: the file's length; nil for standard output.
  /// - Throws: `cannotCreate` when the disk refuses.
  @discardableResult
  func sync() throws(UpsurgeError) -> UInt64? {
    if !buffer.isEmpty { try flush() }
    try release()
    if sink != nil { return nil }
    if !isSynced && syncData(descriptor) != 0 {
      throw failure("cannot write", errno)
    }
    isSynced = true
    // Nor may its name be lost.
    if !isInFolder {
      let code = syncFolder(of: path)
      if code != 0 { throw failure("cannot write the folder of", code) }
      isInFolder = true
    }
    return UInt64(writtenCount)
  }

  /// The length that the next commit stands for; nil for standard output.
  var length: UInt64? { sink != nil ? nil : UInt64(writtenCount + heldCount) + UInt64(buffer.count) }

  /// What was appended so far is there to stay.
  /// - Throws: `cannotCreate` when the disk, or the reader of standard output, refuses.
  func keep() throws(UpsurgeError) {
    try flush()
    try release()
    if let sink {
      do throws(UpsurgeError) {
        try copy(descriptor, to: sink)
      } catch {
        var error = error
        error.said +=
          "; what \(saying: option) should have told of the last transaction, which is committed, is lost"
        throw error
      }
      writtenCount = 0
      guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
        throw failure("cannot write", errno)
      }
    }
    keptCount = writtenCount
  }

  /// Forgets what was appended since the last `keep`.
  func discard() {
    buffer.removeAll(keepingCapacity: true)
    if let held, heldCount > 0 {
      heldCount = 0
      if ftruncate(held, 0) == 0 { lseek(held, 0, SEEK_SET) }
    }
    if writtenCount == keptCount { return }
    writtenCount = keptCount
    if ftruncate(descriptor, keptCount) == 0 { lseek(descriptor, keptCount, SEEK_SET) }
  }

  /// A place in what was appended, which holds until the next `keep` or `discard`.
  struct Mark {
    fileprivate var offset: off_t = 0
  }

  /// The end of what was appended.
  var end: Mark { Mark(offset: openCount + off_t(buffer.count)) }

  /// Where the bytes of the open transaction are written out to, and how many stand there.
  private var openDescriptor: Int32 { held ?? descriptor }
  private var openCount: off_t {
    get { held == nil ? writtenCount : heldCount }
    set { if held == nil { writtenCount = newValue } else { heldCount = newValue } }
  }

  /// Forgets what was appended after a place.
  func takeBack(to mark: Mark) throws(UpsurgeError) {
    if mark.offset >= openCount {
      buffer.removeLast(buffer.count - Int(mark.offset - openCount))
      return
    }
    buffer.removeAll(keepingCapacity: true)
    isSynced = false
    guard ftruncate(openDescriptor, mark.offset) == 0,
      lseek(openDescriptor, mark.offset, SEEK_SET) == mark.offset
    else { throw failure("cannot cut back", errno) }
    openCount = mark.offset
  }

  /// Writes out what is buffered.
  /// - Throws: `cannotCreate` when the disk refuses.
  func flush() throws(UpsurgeError) {
    if !buffer.isEmpty { isSynced = false }
    try write(buffer[...], to: openDescriptor)
    openCount += off_t(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Brings what was held back into the file.
  private func release() throws(UpsurgeError) {
    guard let held, heldCount > 0 else { return }
    // What stands there already is cut by `discard`, should the disk refuse the rest.
    writtenCount += heldCount
    try copy(held, to: descriptor)
    heldCount = 0
    guard ftruncate(held, 0) == 0, lseek(held, 0, SEEK_SET) == 0 else {
      throw failure("cannot write", errno)
    }
  }

  private func copy(_ descriptor: Int32, to sink: Int32) throws(UpsurgeError) {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure("cannot write", errno) }
    while true {
      let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw failure("cannot write", errno) }
      if count == 0 { return }
      try write(chunk[..<count], to: sink)
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(UpsurgeError) {
    let code = writeAll(bytes, to: descriptor)
    let isTemporary = descriptor == held || sink != nil && descriptor != sink
    if code != 0 { throw failure("cannot write", code, isTemporary: isTemporary) }
  }

  private func failure(_ what: String, _ code: Int32, isTemporary: Bool = false) -> UpsurgeError {
    let name = path == "-" ? "standard output" : path.escapedForTerminal
    let file = isTemporary ? "a temporary file in \(OutputFile.temporaryFolder.escapedForTerminal) for " : ""
    let hint: Wording =
      isTemporary
      ? "TMPDIR names the temporary folder: give one that is there, can be written and has room"
      : sink != nil ? "the reader must stay" : "make room, or give another path to \(saying: option)"
    return UpsurgeError(
      .cannotCreate,
      "\(what) \(file)\(name)\(isTemporary ? " of" : " for") \(saying: option): \(String(cString: strerror(code)))",
      hint: hint, underlyingCode: code)
  }

  private static var temporaryFolder: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

  private static func unnamedFile() -> Int32 {
    var template = Array((temporaryFolder + "/upsurge-XXXXXX").utf8CString)
    let descriptor = mkstemp(&template)
    if descriptor >= 0 { unlink(template) }
    return descriptor
  }
}

/// Writes bytes, however many calls it takes.
/// - Returns: the system's error number; 0 when all is written.
func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32 {
  var rest = bytes
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { return errno }
    rest = rest.dropFirst(count)
  }
  return 0
}

/// Puts a file's bytes and length on the disk; the time of its last change does not matter.
private func syncData(_ descriptor: Int32) -> Int32 {
  #if os(Linux)
    fdatasync(descriptor)
  #else
    fsync(descriptor)
  #endif
}
