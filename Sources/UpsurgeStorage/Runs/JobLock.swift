import UpsurgeRecords

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Held by the process that runs a job, from before it looks for earlier runs until it has ended: a second start of the
/// same job sees the first before that has committed anything.
///
/// On Linux a name of the abstract socket namespace (unix(7)): it needs no file, and is free as soon as the process is
/// gone, however it ended. Elsewhere, and between containers, only what is recorded in the database tells.
package final class JobLock: Sendable {
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Takes the lock of a job; nil where the system has none, and for streams, which need not be the same.
  /// - Parameter database: the place of the database, one name for it however it was spelled.
  /// - Throws: `guardRefused` when a process has it.
  package static func take(_ job: RunJob, database: String) throws(UpsurgeError) -> JobLock? {
    #if os(Linux)
      if job.isStream { return nil }
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      if descriptor < 0 { return nil }
      var name = name(of: job, database: database)
      // A process that was killed just now may not be gone yet.
      for attempt in 0..<20 {
        if bind(descriptor, to: &name) && listen(descriptor, 1) == 0 {
          return JobLock(descriptor: descriptor)
        }
        guard errno == EADDRINUSE else { break }
        if attempt < 19 { usleep(10_000) }
      }
      let isTaken = errno == EADDRINUSE
      close(descriptor)
      if isTaken { throw refusal(job, pid: holder(of: &name)) }
    #endif
    return nil
  }

  private static func refusal(_ job: RunJob, pid: Int32?) -> UpsurgeError {
    let sources = job.sources.joined(separator: ", ").escapedForTerminal
    let process = pid.map { $0 == getpid() ? "this process" : "process \($0)" } ?? "another process"
    return UpsurgeError(
      .guardRefused,
      "this job is running already: \(process) loads \(sources) into table \(job.table.escapedForTerminal)",
      hint: "wait until it has ended" + (pid.map { $0 == getpid() ? "" : ", or end it: kill \($0)" } ?? ""))
  }

  #if os(Linux)
    private static func name(of job: RunJob, database: String) -> sockaddr_un {
      let parts = [database, job.table.lowercased()] + job.sources
      let text = Array(parts.joined(separator: "\0").utf8)
      let hash = text.withUnsafeBytes { ContentHash.hash($0) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      // The first byte stays 0, which makes the name an abstract one.
      withUnsafeMutableBytes(of: &address.sun_path) { path in
        path[1...].copyBytes(from: "upsurge \(String(hash, radix: 16))".utf8)
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
