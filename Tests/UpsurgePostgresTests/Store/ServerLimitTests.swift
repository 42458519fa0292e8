import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Limits as managed services and poolers set them: on statements, transactions, locks and idle sessions.
@Suite(
  "Limits of servers and poolers",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ServerLimitTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String
  let database: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    database = try Server.connect(try Server.freshURL()).database
    url = server.url(database: database)
  }

  private static func lines(_ numbers: ClosedRange<Int>) -> String {
    numbers.map { "\($0),\($0 % 7)\n" }.joined()
  }

  /// Records that come in two parts, with seconds between them.
  private func slowSource(seconds: Double) -> String {
    let first = scratch.write("id,n\n" + Self.lines(1...300), to: "first.csv")
    let second = scratch.write(Self.lines(301...600), to: "second.csv")
    return "exec:cat \(first); sleep \(seconds); cat \(second)"
  }

  private func load(_ source: String, to target: String, _ change: (inout LoadOptions) -> Void = { _ in })
    -> RunSummary
  {
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.commitEvery = 100
    options.tuning.connectSeconds = Array(repeating: 0.05, count: 6)
    change(&options)
    return LoadJob(database: target, table: "t", sources: [source], options: options).run()
  }

  /// A trigger that takes so long for each row.
  private func makeTable(secondsPerRow: Double) throws {
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, n bigint);
      CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(\(secondsPerRow)); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow()
      """, in: url)
  }

  @Test(
    "Limits that a role has on statements, locks and idle sessions end no load", arguments: [false, true])
  func roleLimits(isAtomic: Bool) throws {
    try makeTable(secondsPerRow: 0.008)
    let role = "limited_\(database)"
    var limits = [
      "statement_timeout = '600ms'", "lock_timeout = '10ms'", "idle_in_transaction_session_timeout = '300ms'",
    ]
    let version = try Server.connect(url).versionNumber / 10_000
    if version >= 14 { limits.append("idle_session_timeout = '300ms'") }
    if version >= 17 { limits.append("transaction_timeout = '600ms'") }
    try server.psql(
      "CREATE ROLE \(role) LOGIN SUPERUSER; "
        + limits.map { "ALTER ROLE \(role) SET \($0)" }.joined(separator: "; "), in: url)
    let summary = load(slowSource(seconds: 1.2), to: server.socketURL(database: database, user: role)) {
      $0.transaction.isAtomic = isAtomic
    }
    #expect(summary.error == nil, "\(summary.error.map { "\($0)" } ?? "")")
    #expect(summary.ledger.inserted == 600)
    #expect(
      try server.psql("SELECT count(*), sum(n) FROM t", in: url)
        == "600|\((1...600).reduce(0) { $0 + $1 % 7 })")
  }

  @Test("A session that was ended before the first records of one transaction is made again")
  func idleBeforeTransaction() throws {
    let source = "exec:sleep 1; cat \(scratch.write("id,n\n" + Self.lines(1...300), to: "feed.csv"))"
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint)", in: url)
    let isDone = Guarded(false)
    let (admin, database) = (server.socketURL(), database)
    let killer = try WorkerThread {
      guard let connection = try? Server.connect(admin) else { return }
      let idle = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = '\(database)' AND application_name = 'upsurge' AND state = 'idle'
        """
      while !isDone.withLock({ $0 }) {
        usleep(300_000)
        if !isDone.withLock({ $0 }) { _ = try? connection.run(idle) }
      }
    }
    let ended = RunNotes()
    var options = LoadOptions()
    (options.rules.key, options.transaction.isAtomic) = (["id"], true)
    let summary = LoadJob(database: url, table: "t", sources: [source], options: options).run(note: {
      ended.add($0.text)
    })
    isDone.withLock { $0 = true }
    killer.join()
    #expect(summary.error == nil, "\(summary.error.map { "\($0)" } ?? "")")
    #expect(summary.ledger.inserted == 300 && !ended.all.contains { $0.contains("resumes after") })
  }

  @Test(
    "A limit of a pooler that ends each statement is said with --commit-every, which helps",
    .enabled(if: PgBouncer.isPresent, Comment(rawValue: PgBouncer.skipNote)))
  func queryTimeout() throws {
    try makeTable(secondsPerRow: 0.005)
    let pooler = try PgBouncer(before: server, settings: ["query_timeout = 1"])
    let target = pooler.url(database: database)
    let source = scratch.write("id,n\n" + Self.lines(1...600), to: "feed.csv")
    let refused = load(source, to: target) { $0.transaction.commitEvery = 600 }
    #expect(
      refused.error?.code == .databaseBusy && refused.exitCode == 75, "\(refused.error.map { "\($0)" } ?? "")"
    )
    #expect(refused.error?.message.contains("breaks each time at the same records") == true)
    #expect(refused.error?.hint?.hasPrefix("--commit-every 10000 makes statements shorter") == true)
    let followed = load(source, to: target) { $0.transaction.commitEvery = 50 }
    #expect(
      followed.error == nil && followed.ledger.inserted == 600, "\(followed.error.map { "\($0)" } ?? "")")
  }

  @Test(
    "A pooler in statement mode is refused before anything is read",
    .enabled(if: PgBouncer.isPresent, Comment(rawValue: PgBouncer.skipNote)))
  func statementMode() throws {
    let pooler = try PgBouncer(before: server, mode: "statement")
    let source = scratch.write("id,n\n1,1\n", to: "feed.csv")
    let refused = load(source, to: pooler.url(database: database))
    #expect(refused.error?.code == .usage && refused.exitCode == 64, "\(refused.error.map { "\($0)" } ?? "")")
    #expect(
      refused.error?.hint == "set pool_mode = transaction or session in the pooler, or name the server itself"
    )
    for mode in ["transaction", "session"] {
      let other = try PgBouncer(before: server, mode: mode)
      #expect(load(source, to: other.url(database: database)).error == nil)
    }
  }

  @Test(
    "A pooler that is restarted in the midst, and one that ends idle sessions, lose nothing",
    .enabled(if: PgBouncer.isPresent, Comment(rawValue: PgBouncer.skipNote)), arguments: [false, true])
  func poolerRestart(isAtomic: Bool) throws {
    let pooler = try PgBouncer(before: server, settings: ["server_idle_timeout = 1", "server_lifetime = 1"])
    try makeTable(secondsPerRow: 0.002)
    let source = scratch.write("id,n\n" + (0..<1_500).map { "\($0 % 500),1\n" }.joined(), to: "feed.csv")
    var options = LoadOptions()
    (options.rules.key, options.rules.merge.columns) = (["id"], ["n": .sum])
    (options.transaction.commitEvery, options.transaction.isAtomic) = (100, isAtomic)
    options.tuning.connectSeconds = Array(repeating: 0.2, count: 20)
    var restartCount = 0
    let summary = LoadJob(
      database: pooler.url(database: database), table: "t", sources: [source], options: options
    ).run(
      tick: { progress in
        guard restartCount < 2, progress.records >= UInt64(restartCount * 500 + 200) else { return }
        restartCount += 1
        do { try pooler.restart(afterSeconds: 0.3) } catch { Issue.record("\(error)") }
      })
    #expect(restartCount > 0)
    #expect(summary.error == nil, "\(summary.error.map { "\($0)" } ?? "")")
    #expect(summary.ledger.inserted == 500 && summary.ledger.updated == 1_000)
    #expect(try server.psql("SELECT count(*), sum(n) FROM t", in: url) == "500|1500")
  }
}
