import TestSupport
import Testing
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("FileSource: files, pipes, what the system refuses")
struct FileSourceTests {
  static let content = Compressing.table(300_001, seed: 1)

  @Test("a file is the same with every buffer", arguments: [1, 2, 3, 7, 4096, 1 << 16, 1 << 20])
  func readsFiles(bufferByteCount: Int) throws {
    let folder = try TemporaryFolder()
    let content = Array(Self.content.prefix(bufferByteCount < 8 ? 5_000 : 300_001))
    let counter = ByteCounter()
    let source = try FileSource(name: folder.write("a.csv", content), counter: counter)
    #expect(source.isSeekable)
    #expect(source.byteCount == UInt64(content.count))
    #expect(counter.count == 0)
    expectSame(drain(source, buffer: bufferByteCount).bytes, content)
    #expect(counter.count == UInt64(content.count))
    try source.rewind()
    #expect(counter.count == 0)
    expectSame(drain(source).bytes, content)
  }

  @Test("a descriptor that stands inside the file is read from there, also after rewind")
  func startsWhereTheDescriptorStands() throws {
    let folder = try TemporaryFolder()
    let descriptor = open(try folder.write("a.csv", "skipped\nrest\n"), O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    lseek(descriptor, 8, SEEK_SET)
    let source = try FileSource(descriptor: descriptor, isOwner: false, name: "-")
    #expect(source.byteCount == 5)
    expectSame(drain(source).bytes, Array("rest\n".utf8))
    try source.rewind()
    expectSame(drain(source).bytes, Array("rest\n".utf8))
  }

  @Test("a pipe written in dribbles, under a rain of signals", arguments: [false, true])
  func readsPipes(isNonBlocking: Bool) throws {
    // A handler without SA_RESTART makes poll and read return EINTR.
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    sigaction(SIGURG, &action, nil)
    let ends = try Pipe()
    if isNonBlocking { _ = fcntl(ends.readEnd, F_SETFL, O_NONBLOCK) }
    let reader = pthread_self()
    let writer = BackgroundThread {
      var position = 0
      for count in [1, 2, 3, 500, 65_536, 100_000, Self.content.count] {
        let end = min(position + count, Self.content.count)
        dribble(Array(Self.content[position..<end]), to: ends.writeEnd)
        pthread_kill(reader, SIGURG)
        usleep(2_000)
        pthread_kill(reader, SIGURG)
        position = end
      }
      ends.closeWriteEnd()
    }
    let source = try FileSource(descriptor: ends.readEnd, isOwner: false, name: "-")
    #expect(!source.isSeekable)
    #expect(source.byteCount == nil)
    let delivery = drain(source)
    writer.join()
    #expect(delivery.error == nil)
    expectSame(delivery.bytes, Self.content)
    let error = try #require(throws: UpsurgeError.self) { try source.rewind() }
    #expect(
      error.description
        == "standard input cannot be read twice")
  }

  @Test("a named pipe is waited for until its writer comes")
  func readsNamedPipes() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/feed"
    #expect(mkfifo(path, 0o600) == 0)
    let source = try FileSource(name: path)
    let writer = BackgroundThread {
      usleep(50_000)
      let descriptor = open(path, O_WRONLY | O_CLOEXEC)
      dribble(Self.content, to: descriptor)
      close(descriptor)
    }
    let delivery = drain(source)
    writer.join()
    expectSame(delivery.bytes, Self.content)
    #expect(delivery.error == nil)
  }

  @Test("a cancellation ends the wait for a writer")
  func cancels() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/feed"
    #expect(mkfifo(path, 0o600) == 0)
    let cancellation = ReadCancellation()
    let canceller = BackgroundThread {
      usleep(30_000)
      cancellation.request()
    }
    let source = try FileSource(name: path, cancellation: cancellation)
    let error = try #require(drain(source).error)
    canceller.join()
    #expect(error.code == .interrupted)
    #expect(error.description == "reading \(path) was interrupted\n  at \(path)")
  }

  @Test("a file that is made shorter is an error, one that grows is not")
  func noticesShrinking() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a.csv", [UInt8](repeating: 65, count: 1000))
    let source = try FileSource(name: path)
    truncate(path, 400)
    let delivery = drain(source)
    #expect(delivery.bytes.count == 400)
    #expect(delivery.error?.code == .badInput)
    #expect(
      delivery.error?.description
        == "\(path) was made shorter while it was read: it ends at byte 400 and had 1000 bytes before\n"
        + "  at \(path)\n"
        + "  fix: load it when its writer is done; writers should write to a new name and rename")
    let growing = try FileSource(name: path)
    truncate(path, 500)
    #expect(drain(growing).error == nil)
  }

  @Test(
    "a file whose size the system makes up is believed", .enabled(if: access("/proc/self/status", R_OK) == 0))
  func readsProcFiles() throws {
    let delivery = drain(try FileSource(name: "/proc/self/status"))
    #expect(delivery.error == nil)
    #expect(delivery.bytes.starts(with: Array("Name:".utf8)))
  }

  @Test("what cannot be opened is said with the way out")
  func reportsOpenFailures() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    let missing = try #require(throws: UpsurgeError.self) { try FileSource(name: "\(path)/no such.csv") }
    #expect(missing.code == .unreadableInput)
    #expect(missing.underlyingCode == ENOENT)
    #expect(missing.description == "there is no file \(path)/no such.csv\n  fix: check the path")
    let directory = try #require(throws: UpsurgeError.self) { try FileSource(name: path) }
    #expect(directory.description == "\(path) is a directory\n  fix: name its files: \(path)/*.csv")
    let closed = try #require(throws: UpsurgeError.self) {
      try FileSource(descriptor: 987, isOwner: false, name: "-")
    }
    #expect(
      closed.description == "standard input is closed\n  fix: pipe the input in, or name a file")
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let redirected = try #require(throws: UpsurgeError.self) {
      try FileSource(descriptor: descriptor, isOwner: false, name: path)
    }
    #expect(redirected.description == "\(path) is a directory\n  fix: name its files: \(path)/*.csv")
  }

  @Test("the text for each refusal of the system")
  func describesErrorNumbers() {
    let table: [(Int32, String)] = [
      (
        EACCES,
        "cannot open a b.csv: permission denied\n  fix: give user \(geteuid()) the right to read it and to "
          + "enter its folders (namei -l 'a b.csv')"
      ),
      (EMFILE, "cannot open a b.csv: too many open files\n  fix: raise the limit: ulimit -n 4096"),
      (
        ELOOP,
        "cannot open a b.csv: Too many levels of symbolic links\n"
          + "  fix: try to read it with another program: cat 'a b.csv' >/dev/null"
      ),
      (EISDIR, "a b.csv is a directory\n  fix: name its files: a b.csv/*.csv"),
    ]
    for (code, text) in table {
      let error = UpsurgeError.cannotOpen("a b.csv", code)
      #expect(error.code == .unreadableInput)
      #expect(error.description == text)
    }
    #expect(
      UpsurgeError.cannotRead("it's\u{1B}.csv", offset: 4096, EIO).description
        == "cannot read it's\\x1B.csv beyond byte 4096: Input/output error\n  at it's\u{1B}.csv\n"
        + "  fix: the disk or its connection fails (dmesg says more); copy the file elsewhere and load the copy"
    )
    #expect(
      UpsurgeError.cannotRead("it's.csv", offset: 7, ESTALE).hint
        == "try to read it with another program: cat 'it'\\''s.csv' >/dev/null")
  }

  #if os(Linux)
    @Test("a file without the right to read it")
    func reportsMissingRights() throws {
      let folder = try TemporaryFolder()
      let path = try folder.write("secret.csv", "a\n")
      chmod(path, 0)
      // Root may read everything; but this thread alone can look at files as nobody.
      typealias SetUser = @convention(c) (UInt32) -> Int32
      let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
      if geteuid() == 0 { _ = setUser(65_534) }
      defer { if geteuid() == 0 { _ = setUser(0) } }
      let error = try #require(throws: UpsurgeError.self) { try FileSource(name: path) }
      #expect(
        error.description
          == "cannot open \(path): permission denied\n  fix: give user \(geteuid()) the right "
          + "to read it and to enter its folders (namei -l \(path))")
      #expect(error.underlyingCode == EACCES)
    }
  #endif
}

/// Both ends of an anonymous pipe.
final class Pipe: Sendable {
  let readEnd: Int32
  let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  deinit { close(readEnd) }

  /// The writer does this once.
  func closeWriteEnd() { close(writeEnd) }
}
