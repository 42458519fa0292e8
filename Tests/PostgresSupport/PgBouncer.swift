import Foundation

/// A pooler in front of a server, in transaction mode with two sessions: what one transaction leaves behind, another one's
/// session may find, and no session is sure to come again.
public final class PgBouncer {
  private static let program = "/usr/sbin/pgbouncer"

  public static var isPresent: Bool {
    PostgresServer.isPresent && FileManager.default.isExecutableFile(atPath: program)
  }
  public static let skipNote = "PgBouncer is not installed (apt-get install pgbouncer)"

  public let port: Int
  private let shell = Process()
  /// The shell ends when this is closed. A line ends the pooler and starts another one.
  private let lifeline = Pipe()
  /// What the shell says when a pooler is ready.
  private let output = Pipe()

  /// - Parameters:
  ///   - mode: `session`, `transaction` or `statement`.
  ///   - settings: others of its file, each a line.
  public init(before server: PostgresServer, mode: String = "transaction", settings: [String] = []) throws {
    port = try PostgresServer.freePort()
    let script = """
      cd /
      folder=$(mktemp -d /tmp/upsurge-pgbouncer-XXXXXX)
      trap '[ -z "$pooler" ] || kill -TERM $pooler; rm -rf "$folder"' EXIT
      trap '' INT HUP TERM
      cat >"$folder/ini" <<END
      [databases]
      * = host=\(server.folder) port=\(server.port)
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(port)
      unix_socket_dir =
      auth_type = any
      pool_mode = \(mode)
      default_pool_size = 2
      max_db_connections = 2
      \(settings.joined(separator: "\n"))
      END
      sed -i 's/^\\* = /* = user=\(PostgresServer.user) /' "$folder/ini"
      run() {
        \(Self.program) -q "$folder/ini" </dev/null >>"$folder/log" 2>&1 &
        pooler=$!
        sleep 0.3
        if kill -0 $pooler; then echo "ready"; else cat "$folder/log"; exit 1; fi
      }
      run
      while read -r seconds; do
        kill -KILL $pooler
        wait $pooler || true
        sleep "$seconds"
        run
      done
      """
    PostgresServer.prepare(shell, script: script)
    shell.standardInput = lifeline
    shell.standardOutput = output
    try shell.run()
    try awaitReadiness()
  }

  private func awaitReadiness() throws {
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard said.hasPrefix("ready") else {
      throw PostgresServer.Failure(description: "PgBouncer did not start: \(said)")
    }
  }

  /// Kills the pooler with all connections, and starts it again a while later.
  public func restart(afterSeconds seconds: Double = 0) throws {
    try lifeline.fileHandleForWriting.write(contentsOf: Data("\(seconds)\n".utf8))
    try awaitReadiness()
  }

  deinit { try? lifeline.fileHandleForWriting.close() }

  public func url(database: String) -> String {
    "postgres://\(PostgresServer.user)@127.0.0.1:\(port)/\(database)"
  }
}
