import Foundation
import PostgresSupport
import TestSupport
import Testing

/// A load into PostgreSQL that a test disturbs. What is stored twice shows in a sum, or where no key is; some records are rejected.
struct PostgresKillLoad {
  enum Path: String, CaseIterable {
    case newTable, append, keyless, walk, delta, ordered, unnest, atomic, several, severalSums
  }

  /// All that stands at the end.
  struct Result: Equatable {
    var rows: [String]
    /// Tables of the engine's own that are left, and runs in them.
    var left: [String]
    var rejects: [UInt8]
    var summary: String?
  }

  let path: Path
  /// Where the rows are looked at.
  private(set) var server: PostgresServer
  private(set) var url: String
  /// The database as the command is given it.
  private let target: String
  private let database: String
  private let scratch = Scratch()
  private let source: String

  private static let count = 24_000
  private var summaryPath: String { scratch.file("summary") }
  private var rejectsPath: String { scratch.file("bad") }

  init(_ path: Path, on server: PostgresServer) throws {
    let url = try server.freshDatabase()
    self.init(path, on: server, url, target: url, database: "")
  }

  /// A load into the one of two servers that takes rows.
  init(_ path: Path, on pair: ServerPair) throws {
    let database = try pair.freshDatabase()
    self.init(
      path, on: pair.primary, pair.primary.socketURL(database: database),
      target: pair.url(database: database),
      database: database)
  }

  private init(
    _ path: Path, on server: PostgresServer, _ url: String, target: String, database: String
  ) {
    (self.path, self.server, self.url, self.target, self.database) = (path, server, url, target, database)
    // By the delta path where the keys of a transaction are spread over the table.
    let numbers = (0..<Self.count).map { path == .delta ? $0 * 7_919 % Self.count : $0 }
    let keyCount = path.sums ? Self.count / 2 : Self.count
    let lines = numbers.map { number in
      let value = number % 4_001 == 17 && path != .newTable ? "5000000" : "\(number % 97)"
      return "\(number % keyCount),\(value),name \(number)\(number % 3_989 == 5 ? ",surplus" : "")"
    }
    source = scratch.write((["id,n,a"] + lines).joined(separator: "\n") + "\n", to: "feed.csv")
  }

  /// The state before the load.
  func reset() throws {
    try settle()
    try server.psql(
      "SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public; \(path.ddl(Self.count))",
      in: url)
    unlink(rejectsPath)
    unlink(summaryPath)
  }

  /// - Parameters:
  ///   - input: how the records are read.
  ///   - other: the database, where it is named in another way.
  func start(
    _ input: Input = .file, into other: String? = nil, _ more: [String] = []
  ) throws -> Command.Child {
    unlink(summaryPath)
    let source =
      switch input {
      case .file: source
      case .command: "exec:cat \(source)"
      case .pipe: "-"
      }
    return try Command.start(
      [
        "load", other ?? target, "t", source, "--on-error", "reject", "--rejects", rejectsPath, "--summary",
        summaryPath,
      ]
        + path.options + more, inputPath: input == .pipe ? self.source : "/dev/null")
  }

  enum Input: CaseIterable { case file, command, pipe }

  /// The state before the load, with a gate for its commits.
  func gate() throws -> CommitGate {
    let warm = scratch.write("id\n1\n", to: "warm.csv")
    // It makes the table of runs.
    let outcome = try Command.run(["load", target, "warm", warm])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    return try CommitGate(server, url)
  }

  /// The database on one of two servers.
  func url(of server: PostgresServer) -> String { server.socketURL(database: database) }

  /// Whether new sessions may write; those of the tests may.
  func setReadOnly(_ isReadOnly: Bool) throws {
    let change = isReadOnly ? "SET default_transaction_read_only = on" : "RESET default_transaction_read_only"
    try server.psql("ALTER DATABASE \(database) \(change)", in: server.socketURL())
  }

  /// Looks at the rows on the server that has taken over.
  mutating func move(to standby: PostgresServer) {
    (server, url) = (standby, standby.socketURL(database: database))
  }

  /// Where the last process has told its ledger.
  var toldPath: String { summaryPath }

  /// Waits until the sessions of clients that have left have ended.
  func settle() throws {
    for _ in 0..<3_000 {
      let sessions =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'upsurge%'"
      if try server.psql(sessions, in: url) == "0" { return }
      usleep(10_000)
    }
    Issue.record("a session has not ended")
  }

  /// Ends the sessions of the load.
  /// - Returns: whether there were some.
  func terminateBackends() throws -> Bool {
    try server.psql(
      """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'upsurge%'
      """, in: url) != "0"
  }

  /// Whether the process has said all that it had to say.
  var hasTold: Bool { ToldSummary.text(of: summaryPath) != nil }

  /// Whether the database holds the position of a run that has not ended.
  func isListed() throws -> Bool {
    if try server.psql("SELECT to_regclass('upsurge_runs') IS NULL", in: url) == "t" { return false }
    return try server.psql("SELECT count(*) FROM upsurge_runs", in: url) != "0"
  }

  func result() throws -> Result {
    try settle()
    return Result(
      rows: try server.rows(
        "SELECT count(*) AS count, md5(string_agg(ROW(id, n, a)::text, '' ORDER BY id, n, a)) AS sum FROM t",
        in: url),
      left: try server.rows("SELECT relname FROM pg_class WHERE relname LIKE 'upsurge_new%'", in: url) + [
        isListed() ? "a run" : ""
      ],
      rejects: try readFile(rejectsPath), summary: ToldSummary.text(of: summaryPath))
  }

  /// What nothing disturbs, and its microseconds.
  func undisturbed() throws -> (result: Result, length: UInt32) {
    try reset()
    var code: Int32 = 0
    let duration = try ContinuousClock().measure { code = try start().finish().exitCode }
    #expect(code == 2, "\(path)")
    return (try result(), max(duration.microseconds, 50_000))
  }

  /// Gives the command again until it has ended well.
  /// - Returns: how often.
  func finish() throws -> Int {
    for attempt in 1..<20 {
      let outcome = try start().finish()
      if outcome.exitCode == 2 { return attempt }
      #expect([75, 3].contains(outcome.exitCode), "\(path): \(outcome.talk)")
    }
    Issue.record("\(path) does not end")
    return 0
  }
}

extension PostgresKillLoad.Path {
  /// Whether a record adds to the row that has its key.
  var sums: Bool { [.ordered, .unnest, .atomic, .severalSums].contains(self) }

  fileprivate var options: [String] {
    let key = self == .keyless ? ["--mode", "insert"] : ["--key", "id"]
    let size = self == .atomic ? ["--atomic"] : ["--commit-every", self == .unnest ? "1500" : "6000"]
    let connections = [.several, .severalSums].contains(self) ? ["--connections", "4", "--commit-every", "1500"] : []
    return key + (connections.isEmpty ? size : connections) + (sums ? ["--set", "n=sum"] : [])
  }

  /// SQL that makes the table, with the rows that the load finds.
  fileprivate func ddl(_ count: Int) -> String {
    let table =
      "CREATE TABLE t (id bigint \(self == .keyless ? "" : "PRIMARY KEY"), n bigint CHECK (n < 1000000), a text)"
    let rows = "INSERT INTO t SELECT i, i % 97, 'name ' || i FROM generate_series(0, \(count - 1)) i"
    return switch self {
    case .newTable: ""
    case .append, .keyless, .several: table
    case .walk: "\(table); \(rows) WHERE i % 50 <> 0; ANALYZE t"
    case .delta: "\(table); \(rows.replacing("i % 97", with: "-1")); ANALYZE t"
    case .ordered, .unnest, .atomic, .severalSums: "\(table); \(rows) WHERE i % 2 = 0 AND i < \(count / 2); ANALYZE t"
    }
  }
}
