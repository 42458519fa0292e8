import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of a regular file, a named pipe, standard input or a feed, as they are.
///
/// Belongs to one thread; only `counter` may be read by others. Pipes and terminals are waited for with
/// poll(2), so that a cancellation ends the wait, also the wait for a named pipe's first writer.
package final class FileSource: ByteSource {
  /// The name as the user gave it; without the secrets of a feed's.
  package let name: String
  /// Bytes from the first one that is read to the end; nil for what has no size, like a pipe.
  package let byteCount: UInt64?
  /// Whether `rewind()` works: a regular file, also as standard input.
  package let isSeekable: Bool
  /// Bytes read so far, over all files that share the counter.
  package let counter: ByteCounter

  let descriptor: Int32
  private let isOwner: Bool
  /// What writes to the descriptor, where it can tell whether all has come.
  private let feed: (any Feed)?
  /// Ends reading, when it is asked to; another one where another run goes on with what was read ahead.
  package var cancellation: ReadCancellation? { didSet { content?.cancellation = cancellation } }
  /// Offset in the file of the first byte that is read; not 0 when a shell has read from standard input before.
  let firstOffset: off_t
  /// When a regular file was changed last before it was opened, in nanoseconds since 1970; else nil.
  let openedTime: Int64?
  /// Offset of the next byte, from the first one that is read.
  private var position: UInt64 = 0
  /// Bytes of this file that `counter` counts.
  package private(set) var countedByteCount: UInt64 = 0
  /// Seconds spent in reading the file, and in waiting for a pipe.
  package private(set) var readSeconds = 0.0
  /// A terminal goes on after its end; a source does not.
  private var isAtEnd = false
  /// The member of an archive, or the sheet of a workbook, that it reads in the place of a descriptor.
  let content: (any MemberContent)?
  /// What was read before anybody asked for it; then nothing else is left to read.
  private var ahead: ReadAhead?

  /// Opens a file, a member of an archive or standard input, fetches what a URL leads to, or starts a command. Rows of a database, and what the
  /// program itself makes, come by `init(feed:name:)`, and are no files here.
  /// - Parameter archives: shared by those who read members of the same archive, one after another.
  /// - Throws: `unreadableInput`; `badInput` for an archive that is not whole; `interrupted` while it waits for an answer.
  package convenience init(
    _ source: Source, asking question: HTTPQuestion = HTTPQuestion(), archives: OpenArchives? = nil,
    counter: ByteCounter = ByteCounter(), cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) {
    let mask = question.mask.hiding(source)
    switch source.opening {
    case .standardInput(let name):
      try self.init(
        descriptor: STDIN_FILENO, isOwner: false, name: name, counter: counter, cancellation: cancellation)
    case .url(let url):
      var request = question.request(to: url)
      request.mask = mask
      let fetch = try HTTPFetch.open(request, cancellation: cancellation)
      let name = source.hidden(by: mask).name
      try self.init(feed: fetch, name: name, counter: counter, cancellation: cancellation)
    case .command(let command):
      let feed = try CommandFeed(command, environment: question.environment, mask: mask)
      let name = source.hidden(by: mask).name
      try self.init(feed: feed, name: name, counter: counter, cancellation: cancellation)
    case .file(let path) where question.hasFound(path):
      try self.init(found: path, counter: counter, cancellation: cancellation)
    case .server(let text, _):
      // It is opened as rows, and nowhere by its name.
      throw .cannotOpen(ServerSource.redacted(text), ENOENT)
    case .file(let path):
      if let member = ArchivePath(path) {
        let followsLinks = !question.hasFound(member.archive)
        let sheet = try SheetContent(
          member, followsLinks: followsLinks, of: archives, cancellation: cancellation)
        let content: any MemberContent =
          if let sheet { sheet } else {
            try ArchiveContent(member, followsLinks: followsLinks, of: archives, cancellation: cancellation)
          }
        self.init(content: content, name: path, counter: counter, cancellation: cancellation)
      } else {
        try self.init(path: path, counter: counter, cancellation: cancellation)
      }
    case .database(let path, _), .program(let path):
      try self.init(path: path, counter: counter, cancellation: cancellation)
    }
  }

  /// Opens what a name stands for.
  /// - Throws: `unreadableInput`; `interrupted` while it waits for an answer.
  package convenience init(
    name: String, asking question: HTTPQuestion = HTTPQuestion(), counter: ByteCounter = ByteCounter(),
    cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) {
    try self.init(Source(name), asking: question, counter: counter, cancellation: cancellation)
  }

  private convenience init(
    path name: String, counter: ByteCounter, cancellation: ReadCancellation?
  ) throws(UpsurgeError) {
    guard let info = stat(path: name) else { throw .cannotOpen(name, errno) }
    if info.isDirectory { throw .isDirectory(name) }
    // Without O_NONBLOCK the open itself would wait for a writer, and nothing could end that wait.
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (info.isNamedPipe ? O_NONBLOCK : 0)
    var opened: Int32
    repeat { opened = systemOpen(name, flags) } while opened < 0 && errno == EINTR
    if opened < 0 { throw .cannotOpen(name, errno) }
    try self.init(
      descriptor: opened, isOwner: true, name: name, counter: counter, cancellation: cancellation)
  }

  /// Opens a file that was found in a folder. Whoever writes there may put anything into its place meanwhile, so it is
  /// looked at when it is open.
  /// - Throws: `unreadableInput`, also for a symbolic link and for what is no regular file.
  package convenience init(
    found name: String, counter: ByteCounter = ByteCounter(), cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) {
    var opened: Int32
    repeat {
      // O_NONBLOCK: a pipe would make the open wait.
      opened = systemOpen(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
    } while opened < 0 && errno == EINTR
    if opened < 0 { throw errno == ELOOP ? .isLink(name) : .cannotOpen(name, errno) }
    guard let info = stat(descriptor: opened), info.isRegular || info.isDirectory else {
      systemClose(opened)
      throw .isNoFile(name)
    }
    try self.init(
      descriptor: opened, isOwner: true, name: name, counter: counter, cancellation: cancellation)
  }

  /// Reads what a feed sends, and asks it at the end whether that is all.
  /// - Parameter name: as it may be shown.
  /// - Throws: `unreadableInput`.
  package convenience init(
    feed: any Feed, name: String, counter: ByteCounter = ByteCounter(), cancellation: ReadCancellation? = nil
  ) throws(UpsurgeError) {
    try self.init(
      descriptor: feed.descriptor, isOwner: false, name: name, counter: counter, cancellation: cancellation,
      feed: feed)
  }

  /// Reads an open descriptor, which is closed with the source if it is the owner.
  /// - Throws: `unreadableInput`; the descriptor of an owner is closed then, too.
  package init(
    descriptor: Int32, isOwner: Bool, name: String, counter: ByteCounter = ByteCounter(),
    cancellation: ReadCancellation? = nil, feed: (any Feed)? = nil
  ) throws(UpsurgeError) {
    guard let info = stat(descriptor: descriptor) else {
      throw .cannotOpen(name, errno)
    }
    if info.isDirectory {
      if isOwner { systemClose(descriptor) }
      throw .isDirectory(name)
    }
    let offset = info.isRegular ? lseek(descriptor, 0, SEEK_CUR) : -1
    if info.isRegular { adviseSequentialReading(descriptor) }
    content = nil
    self.descriptor = descriptor
    self.isOwner = isOwner
    self.feed = feed
    self.name = name
    self.counter = counter
    self.cancellation = cancellation
    isSeekable = offset >= 0
    openedTime = offset >= 0 ? info.modificationTime : nil
    firstOffset = max(offset, 0)
    byteCount = offset >= 0 ? UInt64(max(info.st_size - offset, 0)) : nil
  }

  /// Reads a member of an archive, or a sheet.
  private init(
    content: any MemberContent, name: String, counter: ByteCounter, cancellation: ReadCancellation?
  ) {
    (descriptor, isOwner, feed, firstOffset) = (-1, false, nil, 0)
    (self.content, self.name, self.counter, self.cancellation) = (content, name, counter, cancellation)
    isSeekable = true
    openedTime = content.stamp.modified
    byteCount = content.byteCount
  }

  /// Whether it is a sheet of a workbook.
  package var isSheet: Bool { content is SheetContent }

  /// What is to be said of a sheet as far as it was read; nil for anything else.
  package var sheetNotes: SheetNotes? { (content as? SheetContent)?.notes }

  /// How many bytes there will be, where that is known: also of a feed that has said so.
  package var expectedByteCount: UInt64? { byteCount ?? feed?.expectedByteCount }

  /// What a server has answered; nil for other sources.
  package var response: HTTPResponse? { (feed as? HTTPFetch)?.response }

  /// Whether a feed's break can be told from its end; true where there is no feed.
  package var provesEnd: Bool { feed?.provesEnd ?? true }

  deinit {
    if isOwner { systemClose(descriptor) }
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    let start = MonotonicClock.seconds
    defer { readSeconds += MonotonicClock.seconds - start }
    let before = content?.readByteCount ?? 0
    let count = if let ahead { try ahead.read(into: buffer) } else { try readNow(into: buffer) }
    countedByteCount += content.map { $0.readByteCount - before } ?? UInt64(count)
    return count
  }

  /// Whether reading may wait for a sender, and all that it has still to send was not read ahead.
  package var mayWait: Bool { !isSeekable && ahead == nil }

  /// Why what was read ahead is not whole.
  package var failureAhead: UpsurgeError? { ahead?.failure }

  /// Reads the rest of a source that may be slow, so that from then on reading waits for nobody. What the source fails
  /// with is thrown when it is read to that place.
  /// - Parameters:
  ///   - spool: takes what does not fit in memory.
  ///   - memoryByteCount: so many bytes may stay in memory, at most 1 MiB.
  ///   - progress: is called when something has come.
  /// - Returns: how many bytes are in the file.
  /// - Throws: `interrupted`; `cannotCreate` where there is no room.
  @discardableResult
  package func readAhead(
    into spool: SpoolFile, memoryByteCount: Int, progress: () -> Void
  ) throws(UpsurgeError) -> UInt64 {
    guard mayWait else { return 0 }
    let start = MonotonicClock.seconds
    defer { readSeconds += MonotonicClock.seconds - start }
    if let expected = expectedByteCount, expected > position {
      try spool.checkRoom(for: expected - position, name: name)
    }
    let ahead = try ReadAhead(name: name, file: spool, memoryByteCount: memoryByteCount) {
      buffer throws(UpsurgeError) in
      let count = try readNow(into: buffer)
      progress()
      return count
    }
    self.ahead = ahead
    return ahead.fileByteCount
  }

  private func readNow(into buffer: UnsafeMutableRawBufferPointer) throws(UpsurgeError) -> Int {
    while !isAtEnd {
      if isSeekable { try checkCancellation() } else { try waitUntilReadable() }
      let before = content?.readByteCount ?? 0
      let count = if let content { try content.read(into: buffer) } else { systemRead(descriptor, buffer) }
      counter.add(content.map { Int($0.readByteCount - before) } ?? max(count, 0))
      if count > 0 {
        position += UInt64(count)
        return count
      }
      if count == 0 {
        try checkEnd()
        isAtEnd = true
        break
      }
      let code = errno
      if code != EINTR && code != EAGAIN { throw .cannotRead(name, offset: position, code) }
    }
    return 0
  }

  /// Starts again at the first byte; what was counted is taken back.
  /// - Throws: `unreadableInput` when the source cannot be read twice.
  package func rewind() throws(UpsurgeError) {
    if let content {
      try content.seek(to: 0, name: name)
    } else if !isSeekable || lseek(descriptor, firstOffset, SEEK_SET) != firstOffset {
      throw cannotReadTwice()
    }
    counter.takeBack(countedByteCount)
    countedByteCount = 0
    position = 0
    isAtEnd = false
  }

  /// Goes to a byte, counted from the first one that is read; what was read before stays counted.
  /// - Throws: `unreadableInput` when the source cannot be read twice; `badInput` when it is shorter.
  func seek(to offset: UInt64) throws(UpsurgeError) {
    if let content {
      try content.seek(to: offset, name: name)
    } else {
      guard isSeekable, let byteCount else { throw cannotReadTwice() }
      guard offset <= byteCount else {
        throw .isAnotherFile(name, "has \(byteCount) bytes and no byte \(offset)")
      }
      let place = firstOffset + off_t(offset)
      guard lseek(descriptor, place, SEEK_SET) == place else {
        throw .cannotRead(name, offset: offset, errno)
      }
    }
    position = offset
    isAtEnd = false
  }

  /// A regular file ends where it ended when it was opened, or later; files of /proc and /sys lie about their
  /// size from the start, and are believed.
  private func checkEnd() throws(UpsurgeError) {
    if let feed {
      try feed.checkWhole(cancellation: cancellation)
      return
    }
    guard content == nil, let byteCount, position < byteCount else { return }
    if let info = stat(descriptor: descriptor), info.st_size - firstOffset < off_t(byteCount) {
      throw .becameShorter(name, offset: position, expected: byteCount)
    }
  }

  private func cannotReadTwice() -> UpsurgeError {
    UpsurgeError(.unreadableInput, "\(SourceName.shown(name)) cannot be read twice")
  }

  /// - Throws: `interrupted`.
  func checkCancellation() throws(UpsurgeError) {
    guard let cancellation, cancellation.isRequested else { return }
    feed?.stop()
    throw .interrupted(name)
  }

  private func waitUntilReadable() throws(UpsurgeError) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      try checkCancellation()
      let ready = poll(&entry, 1, cancellation == nil ? -1 : 100)
      if ready > 0 { return }
      if ready < 0 && errno != EINTR && errno != EAGAIN {
        throw .cannotRead(name, offset: position, errno)
      }
    }
  }
}
