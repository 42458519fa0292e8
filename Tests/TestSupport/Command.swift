#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs the built `upsurge` as a child process; what it reads and writes are files, so that nothing can block.
package enum Command {
  /// What `UPSURGE_COMMAND` names; else the command that lies beside the test program. A debug build starts slowly: the
  /// argument parser checks all options of all commands each time.
  package static let path: String = {
    if let given = getenv("UPSURGE_COMMAND") {
      guard access(given, X_OK) == 0, let whole = realpath(given, nil) else {
        fatalError("UPSURGE_COMMAND names no program: \(String(cString: given))")
      }
      defer { free(whole) }
      return String(cString: whole)
    }
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let program =
      count > 0
      ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      : CommandLine.arguments[0]
    var parts = program.split(separator: "/").dropLast()
    while !parts.isEmpty {
      let candidate = "/" + parts.joined(separator: "/") + "/upsurge"
      if access(candidate, X_OK) == 0 { return candidate }
      parts = parts.dropLast()
    }
    return "upsurge"
  }()

  /// How a run has ended.
  package struct Outcome {
    /// 1,000 and the number of the signal that has ended it.
    package var exitCode: Int32
    /// Standard output.
    package var output: String
    /// Standard error.
    package var talk: String
  }

  /// A child that runs.
  package final class Child {
    /// The process of the child.
    package let identifier: pid_t
    fileprivate let folder: Scratch
    private var status: Int32?

    fileprivate init(identifier: pid_t, folder: Scratch) {
      self.identifier = identifier
      self.folder = folder
    }

    /// The process of the child, as a number.
    package var processID: Int32 { identifier }

    /// Sends a signal, where it has not ended.
    package func send(signal: Int32) {
      // The number of one that has ended may be another's.
      if status == nil { kill(identifier, signal) }
    }

    /// Waits until the child handles signals; one that comes earlier ends it as it ends any program.
    package func waitForHandlers() {
      for _ in 0..<3_000 {
        let status = (try? readFile("/proc/\(identifier)/status")).map { String(decoding: $0, as: UTF8.self) }
        guard let line = status?.split(separator: "\n").first(where: { $0.hasPrefix("SigCgt:") }) else {
          // Not Linux, or over already.
          usleep(500_000)
          return
        }
        let caught = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
        // SIGHUP is the last to be caught.
        if caught & 1 != 0 { return }
        usleep(10_000)
      }
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool {
      var code: Int32 = 0
      if status == nil, waitpid(identifier, &code, WNOHANG) == identifier { status = code }
      return status == nil
    }

    /// Waits for the end; a child that runs longer than `seconds` is killed.
    package func finish(seconds: Int = 300) throws -> Outcome {
      for _ in 0..<seconds * 100 where isRunning { usleep(10_000) }
      if isRunning {
        kill(identifier, SIGKILL)
        var code: Int32 = 0
        waitpid(identifier, &code, 0)
        status = code
      }
      let code = status ?? 0
      let hasExited = code & 0x7F == 0
      return Outcome(
        exitCode: hasExited ? (code >> 8) & 0xFF : 1_000 + (code & 0x7F),
        output: String(decoding: try readFile(folder.file("output")), as: UTF8.self),
        talk: String(decoding: try readFile(folder.file("talk")), as: UTF8.self))
    }
  }

  /// Starts the command.
  /// - Parameters:
  ///   - inputPath: what its standard input is.
  ///   - script: of a shell that is started instead; `"$0"` is the command, `"$1"` the first argument.
  package static func start(
    _ arguments: [String], inputPath: String = "/dev/null", script: String? = nil
  ) throws -> Child {
    let folder = Scratch()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDWR, 0)
    for (descriptor, name) in [(1, "output"), (2, "talk")] {
      posix_spawn_file_actions_addopen(
        &actions, Int32(descriptor), folder.file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    let program = script == nil ? path : "/bin/sh"
    let shell = script.map { ["/bin/sh", "-c", $0] } ?? []
    var words: [UnsafeMutablePointer<CChar>?] = (shell + [path] + arguments).map { strdup($0) }
    defer { words.forEach { free($0) } }
    words.append(nil)
    // The test's threads block signals, which a child would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var noSignals = sigset_t()
    sigemptyset(&noSignals)
    posix_spawnattr_setsigmask(&attributes, &noSignals)
    // Whoever started the tests may ignore signals, which a child would inherit, too.
    var ownSignals = noSignals
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&ownSignals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &ownSignals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var identifier: pid_t = 0
    let code = posix_spawn(&identifier, program, &actions, &attributes, words, environ)
    guard code == 0 else { throw MissingFile(path: path) }
    return Child(identifier: identifier, folder: folder)
  }

  /// How long a run takes, in microseconds and at least 20,000: one that is to be killed on its way is killed within that.
  package static func length(of arguments: [String]) throws -> UInt32 {
    let duration = try ContinuousClock().measure { _ = try run(arguments) }
    return max(duration.microseconds, 20_000)
  }

  /// Runs the command to its end with `input` on its standard input.
  package static func run(_ arguments: [String], input: [UInt8] = [], script: String? = nil) throws -> Outcome {
    let folder = Scratch()
    return try start(arguments, inputPath: folder.write(input, to: "input"), script: script).finish()
  }
}

extension Duration {
  /// For `usleep`.
  package var microseconds: UInt32 {
    UInt32(clamping: components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000)
  }
}
