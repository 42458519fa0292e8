import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A private PostgreSQL of this test process: a database of its own, on a free port of the loopback and a socket in a folder of
/// its own. It ends with the process, however that ends: a shell between them waits for the end of its input.
///
/// Who comes by the socket is trusted; who comes by TCP needs the password.
public final class PostgresServer: @unchecked Sendable {
  // Sendable because nothing changes after it has started.

  public static var isPresent: Bool { !PostgresInstallation.all.isEmpty }
  public static let skipNote = "PostgreSQL's server is not installed (apt-get install postgresql-15)"

  public static let user = "upsurge"
  public static let password = "open:sesame@/%1"

  private static let started = Mutex<[PostgresInstallation: Result<PostgresServer, any Error>]>([:])

  /// The server that all tests of the process share: that of `UPSURGE_POSTGRES`, or the newest of the system's.
  public static func shared() throws -> PostgresServer {
    guard let installation = installed().first else { throw Failure(description: skipNote) }
    return try shared(installation)
  }

  /// The one of a version.
  public static func shared(_ installation: PostgresInstallation) throws -> PostgresServer {
    try started.withLock { started in
      let server = started[installation] ?? Result { try PostgresServer(installation) }
      started[installation] = server
      return try server.get()
    }
  }

  /// One that nobody else uses: a test may crash it, or end it.
  public static func alone() throws -> PostgresServer {
    guard let installation = installed().first else { throw Failure(description: skipNote) }
    return try PostgresServer(installation)
  }

  /// The versions that can be started: the system's, newest first, after that of `UPSURGE_POSTGRES` and before those of
  /// `UPSURGE_POSTGRES_BIN`. Both name folders of programs, with colons between them, as wheels of PyPI bring: see `.ci/postgres-versions`.
  public static func installed() -> [PostgresInstallation] { PostgresInstallation.all }

  /// One that follows this one: it takes no rows, and has what this one commits a moment later.
  func standby() throws -> PostgresServer { try PostgresServer(installation, copyOf: self) }

  let installation: PostgresInstallation
  /// The folder of its data and of its socket.
  public let folder: String
  public let port: Int
  private let shell: Process
  /// The shell ends when this is closed. A line starts a server again that was killed.
  private let lifeline: Pipe
  /// What the shell says when a server is ready.
  private let readiness: Pipe

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  private init(_ installation: PostgresInstallation, copyOf primary: PostgresServer? = nil) throws {
    self.installation = installation
    port = try Self.freePort()
    shell = Process()
    (lifeline, readiness) = (Pipe(), Pipe())
    let programs = installation.folder
    let data = primary.map { $0.copying(programs: programs) } ?? Self.initialising(programs: programs)
    Self.prepare(shell, script: Self.script(programs: programs, port: port, data: data))
    shell.standardInput = lifeline
    shell.standardOutput = readiness
    try shell.run()
    folder = try Self.readyFolder(readiness, installation.description)
  }

  /// Waits until the shell says that the server is ready, and where.
  private static func readyFolder(_ output: Pipe, _ name: String) throws -> String {
    var said = ""
    while !said.hasSuffix("\n") {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { break }
      said += String(decoding: data, as: UTF8.self)
    }
    guard said.hasPrefix("ready "), let folder = said.dropFirst(6).split(separator: "\n").first else {
      throw Failure(description: "\(name) did not start: \(said)")
    }
    return String(folder)
  }

  /// Sends a signal to the server's first process, which ends the others.
  private func signal(_ signal: Int32) throws -> pid_t {
    let lines = try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8).split(
      separator: "\n")
    guard let process = lines.first.flatMap({ pid_t($0) }), kill(process, signal) == 0 else {
      throw Failure(description: "the server in \(folder) has no process")
    }
    return process
  }

  /// Ends the server at once, for good.
  public func end() throws {
    let process = try signal(SIGQUIT)
    for _ in 0..<3_000 {
      // A process that nobody has asked for is still there when it has ended, but its file is not.
      if kill(process, 0) != 0 || !FileManager.default.fileExists(atPath: "\(folder)/data/postmaster.pid") {
        return
      }
      usleep(10_000)
    }
    throw Failure(description: "the server in \(folder) does not end")
  }

  /// Kills the server's first process, and starts it again: it recovers from its log.
  public func crash() throws {
    _ = try signal(SIGKILL)
    try lifeline.fileHandleForWriting.write(contentsOf: Data("again\n".utf8))
    _ = try Self.readyFolder(readiness, "the server that was killed")
  }

  /// A URL by TCP, with the password.
  /// - Parameter parameters: `sslmode=disable`, with `&` between them.
  public func url(
    database: String = "postgres", user: String = PostgresServer.user,
    password: String = PostgresServer.password,
    parameters: String = ""
  ) -> String {
    let secret = password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "postgres://\(user):\(secret)@127.0.0.1:\(port)/\(database)"
      + (parameters.isEmpty ? "" : "?" + parameters)
  }

  /// A URL by the socket, without a password.
  public func socketURL(database: String = "postgres", user: String = PostgresServer.user) -> String {
    "postgresql:///\(database)?host=\(folder)&port=\(port)&user=\(user)"
  }

  /// Where its socket is.
  var socketPath: String { "\(folder)/.s.PGSQL.\(port)" }

  /// Makes a process one that runs a script, as a user that servers agree to run as.
  static func prepare(_ shell: Process, script: String) {
    if getuid() == 0 {
      shell.executableURL = URL(fileURLWithPath: "/usr/sbin/runuser")
      shell.arguments = ["-u", systemUser, "--", "/bin/sh", "-c", script]
    } else {
      shell.executableURL = URL(fileURLWithPath: "/bin/sh")
      shell.arguments = ["-c", script]
    }
    shell.currentDirectoryURL = URL(fileURLWithPath: "/")
  }

  /// The user that may own a database where we are root.
  private static var systemUser: String { getpwnam("postgres") == nil ? "nobody" : "postgres" }

  /// The shell's way to new data.
  private static func initialising(programs: String) -> String {
    """
    "\(programs)/initdb" -D "$folder/data" -N -E UTF8 --locale=C.UTF-8 -U \(user) --pwfile="$folder/password" \
      --auth-local=trust --auth-host=scram-sha-256
    """
  }

  /// The shell's way to data that follow those of this server.
  private func copying(programs: String) -> String {
    """
    "\(programs)/pg_basebackup" -D "$folder/data" -h "\(folder)" -p \(port) -U \(Self.user) -R -X stream -c fast -N
    """
  }

  private static func script(programs: String, port: Int, data: String) -> String {
    """
    set -e
    cd /
    folder=$(mktemp -d /tmp/upsurge-postgres-XXXXXX)
    chmod 755 "$folder"
    trap 'if [ -n "$server" ]; then kill -QUIT $server || true; wait $server || true; fi >/dev/null 2>&1; rm -rf "$folder"' EXIT
    trap '' INT HUP TERM
    printf '%s' '\(password)' >"$folder/password"
    fail() { cat "$folder/log"; exit 1; }
    run() {
      "\(programs)/postgres" -D "$folder/data" -p \(port) -h 127.0.0.1 -k "$folder" -c fsync=off -c max_connections=200 \
        -c shared_buffers=32MB -c log_statement=none </dev/null >>"$folder/log" 2>&1 &
      server=$!
    }
    await() {
      count=0
      until "\(programs)/pg_isready" -q -h "$folder" -p \(port); do
        count=$((count + 1))
        if [ $count -gt 600 ]; then fail; fi
        # Processes of the one that was killed may still hold its memory.
        if ! kill -0 $server 2>/dev/null; then [ "$1" = again ] || fail; wait $server || true; run; fi
        sleep 0.05
      done
      echo "ready $folder"
    }
    \(data) >"$folder/log" 2>&1 || fail
    run
    await first
    while read -r word; do
      wait $server || true
      run
      await again
    done
    """
  }

  /// A port of the loopback that nobody listens on.
  static func freePort() throws -> Int {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
      }
    }
    if code != 0 { throw Failure(description: "no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
