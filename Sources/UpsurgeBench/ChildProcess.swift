import Upsurge
import UpsurgeInput
import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that is run to its end, without a shell.
package enum ChildProcess {
  /// How a program ended, and what it said.
  package struct Outcome: Sendable {
    /// What the program returned, or 128 and the signal that ended it.
    package var exitCode: Int32
    /// From before the start to after the end.
    package var seconds: Double
    /// The beginning of what it said on both outputs.
    package var talk: String
  }

  /// The first program of that name on the `PATH`; nil without one.
  package static func find(_ name: String, path: String? = nil) -> String? {
    let folders = path ?? getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in folders.split(separator: ":", omittingEmptySubsequences: false) {
      let candidate = "\(folder.isEmpty ? "." : folder)/\(name)"
      var status = stat()
      if stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(candidate, X_OK) == 0 {
        return candidate
      }
    }
    return nil
  }

  /// Runs a program in a process group of its own.
  /// - Parameters:
  ///   - words: the program's path first.
  ///   - input: what its standard input holds; nothing where nil.
  ///   - folder: where its input and outputs are files, so that nothing can block.
  ///   - isCancelled: asked ten times a second; true ends the program and all that it has started.
  /// - Throws: `unreadableInput` when it cannot be started; `interrupted`.
  package static func run(
    _ words: [String], input: String? = nil, in folder: ScratchFolder,
    isCancelled: @Sendable () -> Bool = { false }
  ) throws(UpsurgeError) -> Outcome {
    let inputPath = try input.map { (text) throws(UpsurgeError) in try folder.write(text, to: "child-input") }
    let talkPath = try folder.write("", to: "child-talk")
    defer {
      unlink(talkPath)
      if let inputPath { unlink(inputPath) }
    }
    let watch = Stopwatch()
    let child = try start(words, inputPath: inputPath ?? "/dev/null", talkPath: talkPath)
    let ended = Guarded<(status: Int32, seconds: Double)>((0, 0))
    let completion = Completion()
    let waiter = try WorkerThread {
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0 && errno == EINTR {}
      let (known, seconds) = (status, watch.seconds)
      ended.withLock { $0 = (known, seconds) }
      completion.finish()
    }
    var cancelledAt: Double?
    while !completion.wait(milliseconds: 100) {
      if cancelledAt == nil && isCancelled() {
        cancelledAt = watch.seconds
        kill(-child, SIGTERM)
      } else if let at = cancelledAt, watch.seconds - at > 2 {
        kill(-child, SIGKILL)
      }
    }
    waiter.join()
    if cancelledAt != nil || isCancelled() {
      throw UpsurgeError(.interrupted, "the benchmark was interrupted")
    }
    let (status, seconds) = ended.withLock { $0 }
    let signal = status & 0x7F
    return Outcome(
      exitCode: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, seconds: seconds,
      talk: beginning(of: talkPath))
  }

  private static func start(
    _ words: [String], inputPath: String, talkPath: String
  ) throws(UpsurgeError) -> pid_t {
    let program = ChildStart(
      words,
      streams: [
        .file(inputPath, flags: O_RDONLY), .file(talkPath, flags: O_WRONLY | O_APPEND), .descriptor(1),
      ],
      // Signals that are handled or ignored here are not, there.
      defaultSignals: [SIGINT, SIGTERM, SIGHUP, SIGPIPE])
    var (child, code) = program.start()
    // A program that was just written: another thread's child may hold it open for a moment.
    for _ in 0..<20 where code == ETXTBSY {
      usleep(10_000)
      (child, code) = program.start()
    }
    if code != 0 {
      throw UpsurgeError(
        .unreadableInput, "cannot start \(words[0].escapedForTerminal): \(String(cString: strerror(code)))",
        underlyingCode: code)
    }
    return child
  }

  private static func beginning(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
