import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process of a command: a thread passes on what it says and waits for its end; others may end it.
final class CommandChild: @unchecked Sendable {
  // Sendable because every variable property is only touched while `monitor` is locked.

  private let process: pid_t
  private let talk: Int32
  private let mask: SecretMask
  private let monitor = Monitor()
  /// As waitpid(2) returns it; nil while the process is there, as one at work or as one that has ended just now.
  private var status: Int32?
  /// The end of what it has said.
  private var tail: [UInt8] = []

  static let unknownStatus: Int32 = -1
  private static let tailByteCount = 4_096
  /// A longer line is passed on in parts.
  private static let lineByteCount = 1 << 20
  private static let lookMilliseconds: Int32 = 100
  /// So long a command may take to end when it is asked to (SIGTERM); then it is killed.
  private static let patienceMilliseconds = 100

  /// - Parameters:
  ///   - talk: its standard error, closed when it has ended.
  ///   - mask: hides what is no one's to see in what it says, line by line.
  init(_ process: pid_t, talk: Int32, mask: SecretMask) {
    self.process = process
    self.talk = talk
    self.mask = mask
  }

  // MARK: - The thread that attends to it

  /// Returns when the process has ended and its status is known.
  func attend() {
    WorkerThread.blockSignals()
    passOnTalk()
    systemClose(talk)
    wait()
  }

  /// Until the process has ended or has closed its standard error.
  private func passOnTalk() {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
    defer { memory.deallocate() }
    var line: [UInt8] = []
    defer { passOn(line) }
    while true {
      var entry = pollfd(fd: talk, events: Int16(POLLIN), revents: 0)
      let ready = poll(&entry, 1, Self.lookMilliseconds)
      // A child of its own may keep the other end open.
      if ready == 0 && hasEnded { return }
      if ready <= 0 { continue }
      let count = systemRead(talk, memory)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { return }
      line += memory[..<count]
      // A secret has no line end, and so is in one line; without secrets nothing waits for the end of one.
      var end = line.count
      if !mask.isEmpty || CommandFeed.passesLines, end < Self.lineByteCount {
        end = line.lastIndex { $0 == 0x0A || $0 == 0x0D }.map { $0 + 1 } ?? 0
      }
      passOn(Array(line[..<end]))
      line.removeFirst(end)
    }
  }

  private func passOn(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    let said = mask.masked(bytes)
    if !CommandFeed.passOnLines(said) { said.withUnsafeBytes { _ = systemWrite(STDERR_FILENO, $0) } }
    monitor.lock()
    tail += said
    if tail.count > Self.tailByteCount { tail.removeFirst(tail.count - Self.tailByteCount) }
    monitor.unlock()
  }

  /// Whether the process has ended; it stays as it is.
  private var hasEnded: Bool {
    var info = siginfo_t()
    let code = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
    return code == 0 ? info.si_signo != 0 : errno != EINTR
  }

  private func wait() {
    // The process keeps its number until waitpid, which is called under the lock: so nobody kills another one.
    var info = siginfo_t()
    while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    monitor.lock()
    defer { monitor.unlock() }
    var found: Int32 = 0
    let code = waitpid(process, &found, 0)
    // Whoever ignores SIGCHLD learns no status.
    status = code == process ? found : Self.unknownStatus
    monitor.notifyAll()
  }

  // MARK: - Others

  /// Waits for the end.
  /// - Returns: the status; nil when the wait was cancelled.
  func waitForEnd(isCancelled: () -> Bool) -> Int32? {
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      if let status { return status }
      if isCancelled() { return nil }
      _ = monitor.wait(milliseconds: HTTPExchange.lookMilliseconds)
    }
  }

  /// Ends the process and all in its group, unless it has ended.
  func end() {
    monitor.lock()
    defer { monitor.unlock() }
    if status != nil { return }
    kill(-process, SIGTERM)
    let deadline = MonotonicClock.seconds + Double(Self.patienceMilliseconds) / 1_000
    while status == nil && MonotonicClock.seconds < deadline { _ = monitor.wait(milliseconds: 10) }
    if status == nil { kill(-process, SIGKILL) }
  }

  /// Kills the program where no thread attends to it, and waits for its end.
  func killAtOnce() {
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    systemClose(talk)
    monitor.lock()
    defer { monitor.unlock() }
    self.status = status
  }

  /// The last three lines that it has said.
  var lastLines: [String] {
    monitor.lock()
    defer { monitor.unlock() }
    let lines = tail.split(separator: 0x0A).suffix(3)
    return lines.map { String(String(decoding: $0, as: UTF8.self).prefix(300)) }
  }
}
