import CPostgres
import Foundation
import PostgresSupport
import Synchronization
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("Runs on a server", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct RunTests {
  private static func newRun(owner: String) -> PostgresRuns.NewRun {
    PostgresRuns.NewRun(
      table: "t", job: "{}", files: "[]", owner: owner, startedAt: "2026-01-01T00:00:00.000Z", position: "0", progress: "{}")
  }

  private static func standing(_ owner: String, _ position: Int) -> PostgresRuns.Standing {
    PostgresRuns.Standing(owner: owner, position: "\(position)", progress: "{}")
  }

  private static var patience: FencedTransactions.Patience {
    var patience = FencedTransactions.Patience()
    patience.connectSeconds = Array(repeating: 0.02, count: 50)
    return patience
  }

  @Test("The table is made once, and someone else's is no table of runs")
  func table() throws {
    let connection = try Server.database()
    try connection.run("CREATE SCHEMA other; CREATE TABLE other.upsurge_runs (run int)")
    let runs = PostgresRuns(schema: "public")
    #expect(try runs.make(connection) && runs.make(connection))
    #expect(try !PostgresRuns(schema: "other").make(connection))
    let run = try runs.begin(Self.newRun(owner: "me"), connection)
    #expect(try runs.lock(run, connection) == Self.standing("me", 0))
    #expect(try runs.lock(run + 1, connection) == nil)
    #expect(try runs.advance(run, to: Self.standing("me", 5), connection))
    #expect(try !runs.advance(run, to: Self.standing("you", 6), connection))
    #expect(try !runs.takeOver(run, from: "you", to: "he", connection) && runs.takeOver(run, from: "me", to: "you", connection))
    #expect(try runs.lock(run, connection) == Self.standing("you", 5))
  }

  @Test("A run that was taken over stores nothing more")
  func fence() throws {
    let url = try Server.freshURL()
    let connection = try Server.connect(url)
    let runs = PostgresRuns(schema: "public")
    #expect(try runs.make(connection))
    try connection.run("CREATE TABLE t (id int)")
    let run = try runs.begin(Self.newRun(owner: "me"), connection)
    let target = try #require(PostgresTarget(url))
    let mine = FencedTransactions(to: target, runs: runs, run: run, owner: "me")
    try mine.perform("0", to: Self.standing("me", 1)) { connection throws(PostgresFailure) in _ = try connection.run("INSERT INTO t VALUES (1)") }
    #expect(try runs.takeOver(run, from: "me", to: "you", connection))
    let failure = Server.failure {
      try mine.perform("1", to: Self.standing("me", 2)) { connection throws(PostgresFailure) in _ = try connection.run("INSERT INTO t VALUES (2)") }
    }
    #expect(failure?.kind == .takenOver && failure?.asError(on: target).code == .guardRefused)
    let yours = FencedTransactions(to: target, runs: runs, run: run, owner: "you")
    try yours.perform("1", to: Self.standing("you", 2)) { connection throws(PostgresFailure) in _ = try connection.run("INSERT INTO t VALUES (3)") }
    #expect(try connection.texts("SELECT id FROM t ORDER BY id") == [["1"], ["3"]])
    // Nothing of a transaction is left in the session.
    #expect(try connection.texts("SHOW work_mem") == [["4MB"]])
  }

  @Test("A run's own row that stands elsewhere is the truth; one that is gone is, where another server has taken over")
  func moved() throws {
    let url = try Server.freshURL()
    let connection = try Server.connect(url)
    let runs = PostgresRuns(schema: "public")
    #expect(try runs.make(connection))
    try connection.run("CREATE TABLE t (id int)")
    let target = try #require(PostgresTarget(url))
    var settings = TransactionSettings()
    settings.asksForServer = true
    let own = try #require(try connection.texts(TransactionSettings.server).first?.first ?? nil)
    /// What a run is told that is at 2, when the row is changed.
    func told(_ change: String, server: String?, earlier: String? = nil) throws -> FailureClass? {
      let run = try runs.begin(Self.newRun(owner: "me"), connection)
      let transactions = FencedTransactions(
        to: target, runs: runs, run: run, owner: "me", earlierOwner: earlier, server: server, settings: settings,
        patience: Self.patience)
      try connection.run(change.replacingOccurrences(of: "RUN", with: "WHERE run = \(run)"))
      return Server.failure {
        try transactions.perform("2", to: Self.standing("me", 3)) { connection throws(PostgresFailure) in
          _ = try connection.run("INSERT INTO t VALUES (1)")
        }
      }?.kind
    }
    #expect(try told("UPDATE upsurge_runs SET position = '1' RUN", server: own) == .commitsLost)
    #expect(try told("DELETE FROM upsurge_runs RUN", server: own) == .takenOver)
    #expect(try told("DELETE FROM upsurge_runs RUN", server: "1.5") == .commitsLost)
    #expect(try told("UPDATE upsurge_runs SET owner = 'you' RUN", server: "1.5") == .takenOver)
    #expect(try told("UPDATE upsurge_runs SET owner = 'you' RUN", server: "1.5", earlier: "you") == .commitsLost)
    #expect(try told("UPDATE upsurge_runs SET owner = 'you' RUN", server: own, earlier: "you") == .takenOver)
    #expect(try told("ALTER TABLE upsurge_runs RENAME TO others", server: "1.5") == .commitsLost)
    #expect(try connection.texts("SELECT count(*) FROM t") == [["0"]])
  }

  @Test("A server that stays read-only ends the run in words")
  func readOnly() throws {
    let direct = try Server.database()
    let role = "only_reads_\(direct.database)"
    let runs = PostgresRuns(schema: "public")
    #expect(try runs.make(direct))
    try direct.run("CREATE ROLE \(role) LOGIN SUPERUSER; ALTER ROLE \(role) SET default_transaction_read_only = on")
    let run = try runs.begin(Self.newRun(owner: "me"), direct)
    let target = try #require(
      PostgresTarget(try PostgresServer.shared().socketURL(database: direct.database, user: role)))
    var patience = Self.patience
    patience.busySeconds = 0.2
    let transactions = FencedTransactions(to: target, runs: runs, run: run, owner: "me", patience: patience)
    let failure = Server.failure {
      try transactions.perform("0", to: Self.standing("me", 1)) { _ throws(PostgresFailure) in Issue.record("it stores") }
    }
    let error = try #require(failure?.asError(on: target))
    #expect(failure?.kind == .readOnly && error.code == .databaseBusy && transactions.connectionCount > 1)
    #expect(error.message.hasSuffix("takes no rows now: cannot execute SELECT FOR UPDATE in a read-only transaction [25006]"))
  }

  @Test("Settings hold for a transaction, and for no longer")
  func settings() throws {
    let connection = try Server.database()
    try connection.run("SET datestyle = 'German'; SET extra_float_digits = 0; SET statement_timeout = '1h'")
    try connection.run(TransactionSettings().beginSQL)
    #expect(try connection.texts("SELECT current_date::text = to_char(current_date, 'YYYY-MM-DD'), current_setting('statement_timeout')") == [["t", "0"]])
    #expect(try connection.commit())
    #expect(try connection.texts("SHOW datestyle") == [["German, DMY"]])
    // So do those of the planner, which only PostgreSQL is asked for.
    let costs = "SELECT current_setting('random_page_cost'), current_setting('jit')"
    let before = try connection.texts(costs)
    var settings = TransactionSettings()
    try connection.run(settings.beginSQL)
    #expect(try connection.texts(costs) == before)
    #expect(try connection.commit())
    settings.plansForSortedKeys = true
    try connection.run(settings.beginSQL)
    #expect(try connection.texts(costs) == [["1.1", "off"]])
    #expect(try connection.commit())
    #expect(try connection.texts(costs) == before)
  }

  /// Sends a COMMIT, and leaves before the answer.
  private static func commitAndLeave(_ connection: PostgresConnection) -> PostgresFailure {
    _ = upsurge_pq_send(connection.handle, "COMMIT")
    _ = upsurge_pq_flush(connection.handle)
    shutdown(upsurge_pq_socket(connection.handle), Int32(SHUT_RDWR))
    return PostgresFailure(.outcomeUnknown, "left")
  }

  @Test("Sums are those of an undisturbed run, whatever breaks")
  func exactlyOnce() throws {
    let url = try Server.freshURL()
    let connection = try Server.connect(url)
    let runs = PostgresRuns(schema: "public")
    #expect(try runs.make(connection))
    try connection.run("CREATE TABLE t (id int PRIMARY KEY, visits int NOT NULL); INSERT INTO t SELECT g, 0 FROM generate_series(0, 9) g")
    let run = try runs.begin(Self.newRun(owner: "me"), connection)
    let transactions = FencedTransactions(
      to: try #require(PostgresTarget(url)), runs: runs, run: run, owner: "me", patience: Self.patience)
    var generator = SeededGenerator(seed: SeededGenerator.givenSeed ?? UInt64.random(in: 0...UInt64.max))
    var chances = (0..<4000).map { _ in Int.random(in: 0..<10, using: &generator) }
    var leftCount = 0
    transactions.commit = { connection throws(PostgresFailure) in
      switch chances.popLast() ?? 9 {
      case 0, 1, 2:
        leftCount += 1
        throw Self.commitAndLeave(connection)
      case 3:
        // Closed in front of it.
        shutdown(upsurge_pq_socket(connection.handle), Int32(SHUT_RDWR))
        return try connection.commit()
      default: return try connection.commit()
      }
    }
    let ended = Mutex(false)
    let (database, own) = (connection.database, connection.backend)
    let killer = Thread {
      guard let server = try? PostgresServer.shared(), let other = try? Server.connect(server.url()) else { return }
      while !ended.withLock({ $0 }) {
        _ = try? other.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)' AND pid <> \(own)")
        Thread.sleep(forTimeInterval: 0.03)
      }
    }
    killer.start()
    defer { ended.withLock { $0 = true } }
    let count = SeededGenerator.some(150, most: 3000)
    for step in 0..<count {
      let (result, _) = (
        try transactions.perform("\(step)", to: Self.standing("me", step + 1)) { connection throws(PostgresFailure) in
          try connection.run("UPDATE t SET visits = visits + 1 WHERE id IN (\(step % 10), \((step + 3) % 10))").last?.affectedCount
        }, ()
      )
      #expect(result == 2)
    }
    #expect(try connection.texts("SELECT sum(visits) FROM t") == [["\(count * 2)"]])
    #expect(try runs.lock(run, connection)?.position == "\(count)")
    #expect(transactions.connectionCount > 10 && transactions.foundCommitCount > 0 && transactions.foundCommitCount <= leftCount + count)
  }

  @Test(
    "Nothing is kept in a session: a pooler in transaction mode makes no difference",
    .enabled(if: PgBouncer.isPresent, Comment(rawValue: PgBouncer.skipNote)))
  func pooler() throws {
    let direct = try Server.database()
    let runs = PostgresRuns(schema: "public")
    #expect(try runs.make(direct))
    try direct.run("CREATE TABLE t (id int PRIMARY KEY, v text)")
    let pooler = try PgBouncer(before: try PostgresServer.shared())
    let target = try #require(PostgresTarget(pooler.url(database: direct.database)))
    // Others take the sessions in between.
    let others = try (0..<3).map { _ in try PostgresConnection(to: target) }
    let run = try runs.begin(Self.newRun(owner: "me"), direct)
    let transactions = FencedTransactions(to: target, runs: runs, run: run, owner: "me", patience: Self.patience)
    let table = try #require(try PostgresTable.read(name: "t", others[0]))
    let plan = OrderedPlan(
      table, key: table.primaryKey, columns: ["id", "v"], rules: OrderedRules(), capabilities: try Capabilities(of: others[1]))
    for step in 0..<20 {
      for other in others { try other.run("SET work_mem = '1MB'; SELECT 1") }
      let outcomes = try transactions.perform("\(step)", to: Self.standing("me", step + 1)) { connection throws(PostgresFailure) in
        var writer = OrderedWriter(connection, plan, slots: [0, 1])
        return try writer.store(Batch.of((0..<100).map { [.integer(Int64(step * 50 + $0)), .text("v\($0 / 50)")] }))
      }
      #expect(outcomes.inserted == (step == 0 ? 100 : 50) && outcomes.updated == (step == 0 ? 0 : 50))
    }
    #expect(try direct.texts("SELECT count(*) FROM t") == [["1050"]])
  }

  @Test("A deadlock is tried again")
  func deadlocks() throws {
    let url = try Server.freshURL()
    let connection = try Server.connect(url)
    let runs = PostgresRuns(schema: "public")
    #expect(try runs.make(connection))
    try connection.run("CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL); INSERT INTO t VALUES (1, 0), (2, 0)")
    let numbers = try [runs.begin(Self.newRun(owner: "a"), connection), runs.begin(Self.newRun(owner: "b"), connection)]
    let done = Mutex(0)
    let threads = ["a", "b"].enumerated().map { index, owner in
      Thread {
        guard let target = PostgresTarget(url) else { return }
        let transactions = FencedTransactions(to: target, runs: runs, run: numbers[index], owner: owner, patience: Self.patience)
        for step in 0..<3 {
          let result: Int? = try? transactions.perform("\(step)", to: Self.standing(owner, step + 1)) { connection throws(PostgresFailure) in
            try connection.run("SET LOCAL deadlock_timeout = '50ms'; UPDATE t SET n = n + 1 WHERE id = \(index + 1); SELECT pg_sleep(0.05)")
            return try connection.run("UPDATE t SET n = n + 1 WHERE id = \(2 - index)").last?.affectedCount ?? 0
          }
          if result == 1 { done.withLock { $0 += 1 } }
        }
        done.withLock { $0 += 100 }
      }
    }
    for thread in threads { thread.start() }
    for _ in 0..<600 where done.withLock({ $0 }) < 200 { Thread.sleep(forTimeInterval: 0.1) }
    #expect(done.withLock { $0 } == 206)
    #expect(try connection.texts("SELECT sum(n) FROM t") == [["12"]])
  }
}
