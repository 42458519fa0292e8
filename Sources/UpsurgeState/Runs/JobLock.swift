import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Held by the process that runs a job, from before it looks for earlier runs until it has ended: a second start of the
/// same job sees the first before that has committed anything.
///
/// So does the start of another job into the table that reads one of its first files.
///
/// On Linux names of the abstract socket namespace (unix(7)): they need no file, and are free as soon as the process is
/// gone, however it ended. Elsewhere, and between containers, only what is recorded in the database shows it.
package final class JobLock: Sendable {
  private let descriptors: [Int32]
  private let names: [String]

  /// Names of this process. One that is not among them and seems to be is that of a child which is just being started,
  /// and has everything open until it is another program.
  private static let own = OwnNames()

  /// What stands for the sources of a table that is mirrored: whatever they are, one run at a time brings it in step.
  package static let mirror = "upsurge mirror"

  /// So many files of a job are held.
  private static let fileCount = 64

  private init(descriptors: [Int32], names: [String]) {
    self.descriptors = descriptors
    self.names = names
  }

  deinit {
    Self.own.remove(names)
    for descriptor in descriptors { close(descriptor) }
  }

  /// Takes the lock of a job; nil where the system has none, and for streams, which need not be the same.
  /// - Parameters:
  ///   - files: the places of the files that its sources stand for.
  ///   - database: the place of the database, one name for it however it was spelled.
  /// - Throws: `guardRefused` when a process has it.
  package static func take(
    _ job: RunJob, files: [String] = [], database: String
  ) throws(UpsurgeError) -> JobLock? {
    #if os(Linux)
      if job.isStream { return nil }
      var descriptors: [Int32] = []
      var names: [String] = []
      // In one order everywhere, so that of two starts over the same files one gets all of them.
      let keys = Set([job.sources] + files.prefix(fileCount).map { [$0] })
      for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        let text = text([database, job.table.lowercased()] + key)
        var name = name(text)
        let descriptor = hold(&name, text)
        if let descriptor, descriptor >= 0 {
          descriptors.append(descriptor)
          names.append(text)
          continue
        }
        _ = JobLock(descriptors: descriptors, names: names)
        if descriptor == nil { return nil }
        throw refusal(job, key, pid: holder(of: &name))
      }
      return JobLock(descriptors: descriptors, names: names)
    #else
      return nil
    #endif
  }

  private static func refusal(_ job: RunJob, _ sources: [String], pid: Int32?) -> UpsurgeError {
    let isMirror = sources == [mirror]
    let table = "table \(job.table.escapedForTerminal)"
    let work =
      isMirror
      ? "mirrors \(table)" : "loads \(sources.joined(separator: ", ").escapedForTerminal) into \(table)"
    let process = pid.map { $0 == getpid() ? "this process" : "process \($0)" } ?? "another process"
    return UpsurgeError(
      .guardRefused,
      "this job is running already: \(process) \(work)",
      hint: "wait until it has ended" + (pid.map { $0 == getpid() ? "" : ", or end it: kill \($0)" } ?? ""))
  }

  #if os(Linux)
    /// - Returns: a socket that has the name; -1 when another has it, nil where there are none.
    private static func hold(_ name: inout sockaddr_un, _ text: String) -> Int32? {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      if descriptor < 0 { return nil }
      // A process that was killed just now may not be gone yet; one that is at work is not waited for.
      for _ in 0..<20 {
        // Nobody accepts: each refused start stays in the queue.
        if bind(descriptor, to: &name) && listen(descriptor, SOMAXCONN) == 0 {
          own.insert(text)
          return descriptor
        }
        guard errno == EADDRINUSE else {
          close(descriptor)
          return nil
        }
        if let pid = holder(of: &name), !RunOwner.isEnding(pid) {
          if pid != getpid() || own.contains(text) { break }
        }
        usleep(10_000)
      }
      close(descriptor)
      return -1
    }

    private static func text(_ parts: [String]) -> String {
      let hash = Array(parts.joined(separator: "\0").utf8).withUnsafeBytes { ContentHash.hash($0) }
      return "upsurge \(String(hash, radix: 16))"
    }

    private static func name(_ text: String) -> sockaddr_un {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      // The first byte stays 0, which makes the name an abstract one.
      withUnsafeMutableBytes(of: &address.sun_path) { path in
        path[1...].copyBytes(from: text.utf8)
      }
      return address
    }

    private static func bind(_ descriptor: Int32, to name: inout sockaddr_un) -> Bool {
      withAddress(&name) { Glibc.bind(descriptor, $0, $1) == 0 }
    }

    /// The process that has a name, where it answers.
    private static func holder(of name: inout sockaddr_un) -> Int32? {
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      let descriptor = socket(AF_UNIX, kind, 0)
      if descriptor < 0 { return nil }
      defer { close(descriptor) }
      guard withAddress(&name, { connect(descriptor, $0, $1) == 0 }) else { return nil }
      // pid, user and group of who listens: `struct ucred`, which Glibc's module does not show.
      var credentials: (pid: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
      var count = socklen_t(MemoryLayout.size(ofValue: credentials))
      let code = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &count)
      return code == 0 && credentials.pid > 0 ? credentials.pid : nil
    }

    private static func withAddress<Result>(
      _ name: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
      withUnsafePointer(to: &name) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
  #endif
}

/// A set of names that all threads share.
private final class OwnNames: @unchecked Sendable {
  // Sendable because `names` is only touched while `monitor` is locked.

  private var names: Set<String> = []
  private let monitor = Monitor()

  func insert(_ name: String) {
    monitor.lock()
    defer { monitor.unlock() }
    names.insert(name)
  }

  func remove(_ gone: [String]) {
    monitor.lock()
    defer { monitor.unlock() }
    names.subtract(gone)
  }

  func contains(_ name: String) -> Bool {
    monitor.lock()
    defer { monitor.unlock() }
    return names.contains(name)
  }
}
