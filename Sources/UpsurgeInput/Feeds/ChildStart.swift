#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How a program is started: posix_spawn(3), in a process group of its own, with no signal blocked.
package struct ChildStart {
  /// What a standard stream of the program is.
  package enum Stream {
    case file(_ path: String, flags: Int32)
    /// One of this process, or one of the program's streams before this one.
    case descriptor(Int32)
  }

  /// The program's path first.
  package var words: [String]
  /// Standard input, output and error.
  package var streams: [Stream]
  /// `NAME=value` each; nil for the environment of this process.
  package var environment: [String]?
  /// Signals that do to the program what they do by default, although this process may ignore them.
  package var defaultSignals: [Int32]

  package init(_ words: [String], streams: [Stream], environment: [String]? = nil, defaultSignals: [Int32]) {
    self.words = words
    self.streams = streams
    self.environment = environment
    self.defaultSignals = defaultSignals
  }

  /// Starts the program.
  /// - Returns: its process; or why it cannot be started, a code other than 0 as of `errno`.
  package func start() -> (process: pid_t, code: Int32) {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (index, stream) in streams.enumerated() {
      let descriptor = Int32(truncatingIfNeeded: index)
      switch stream {
      case .file(let path, let flags): posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0)
      case .descriptor(let other): posix_spawn_file_actions_adddup2(&actions, other, descriptor)
      }
    }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var defaults = none
    for signal in defaultSignals { sigaddset(&defaults, signal) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    var process: pid_t = 0
    let code = Self.withCStrings(words) { arguments in
      guard let environment else {
        return posix_spawn(&process, words[0], &actions, &attributes, arguments, environ)
      }
      return Self.withCStrings(environment) {
        posix_spawn(&process, words[0], &actions, &attributes, arguments, $0)
      }
    }
    return (process, code)
  }

  /// - Parameter body: is given a list that ends with NULL.
  private static func withCStrings(_ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Int32)
    -> Int32
  {
    let pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }
}
