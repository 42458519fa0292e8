import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

/// A load of some batches, as a run of the engine does it: each is a transaction with its rows and the run's position.
struct ProxiedLoad {
  /// A table, and the path by which it is loaded. What is stored twice, or not at all, shows in each.
  struct Kind: CustomStringConvertible, Sendable {
    var description: String
    var path: TestedPath
    var ddl = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL CHECK (n < 90))"
    var rules = OrderedRules()

    private static let sum = OrderedRules(changes: ["n": .expression("n + excluded.n")])

    static let sums = Kind(description: "sums by the ordered path", path: .ordered, rules: sum)
    static let all = [
      sums, Kind(description: "sums by the portable path", path: .unnest, rules: sum),
      Kind(
        description: "rows without a key", path: .append,
        ddl: "CREATE TABLE t (id int, n int NOT NULL CHECK (n < 90))"),
      Kind(description: "the delta path", path: .delta), Kind(description: "the walk", path: .walk),
      Kind(description: "the path of each batch", path: .chosen),
    ]
  }

  /// What stands at the end.
  struct Result: Equatable {
    var rows: [[String?]]
    var position: String?
    /// nil where several processes have had a part in it.
    var ledger: OrderedScenario.Result?
    var states: [String] = []
  }

  let database: ProxiedDatabase
  let kind: Kind
  private let runs = PostgresRuns(schema: "public")
  private let shape: RecordShape
  private let capabilities: Capabilities

  private static let (batchCount, batchSize) = (3, 12)

  init(_ kind: Kind, on installation: PostgresInstallation? = nil) throws {
    self.kind = kind
    database = try ProxiedDatabase(on: installation)
    let direct = database.direct
    capabilities = try Capabilities(of: direct)
    try direct.run(kind.ddl)
    let table = try #require(try PostgresTable.read(name: "t", direct))
    shape = RecordShape(table, key: table.primaryKey, columns: ["id", "n"], rules: kind.rules)
    try #require(try runs.make(direct) && kind.path.fits(shape, capabilities))
  }

  /// New rows, rows that were there, and a value that no row may have.
  private static func records(_ batch: Int) -> [[TestValue]] {
    (0..<batchSize).map { index in
      [
        .integer(Int64(batch * batchSize / 2 + index)),
        .integer(batch == 1 && index == 7 ? 95 : Int64(index % 3 + (index % 4 == 0 ? batch : 0))),
      ]
    }
  }

  private static func standing(_ position: Int) -> PostgresRuns.Standing {
    PostgresRuns.Standing(owner: "me", position: "\(position)", progress: "{}")
  }

  /// - Parameter connectsAgain: false ends with the first connection that breaks.
  private func transactions(
    _ run: Int64, to target: PostgresTarget, connectsAgain: Bool = true, lockTimeout: Int = 10_000
  )
    -> FencedTransactions
  {
    var (patience, settings) = (FencedTransactions.Patience(), TransactionSettings())
    patience.connectSeconds = connectsAgain ? Array(repeating: 0.001, count: 100) : []
    // Faults end by their number. On a busy machine that may take minutes, so the clock must not decide.
    patience.busySeconds = 3_600
    settings.lockTimeout = lockTimeout
    settings.needsSnapshot = kind.path.needsSnapshot(shape, capabilities)
    return FencedTransactions(
      to: target, runs: runs, run: run, owner: "me", settings: settings, patience: patience)
  }

  private func begin() throws -> Int64 {
    try database.direct.run("TRUNCATE t; DELETE FROM upsurge_runs")
    return try runs.begin(
      PostgresRuns.NewRun(
        table: "t", job: "{}", files: "[]", owner: "me", startedAt: "2026-01-01T00:00:00.000Z", position: "0",
        progress: "{}"),
      database.direct)
  }

  private func store(_ step: Int, _ transactions: FencedTransactions) throws(PostgresFailure) -> BatchOutcomes
  {
    let (path, shape, capabilities) = (kind.path, shape, capabilities)
    return try transactions.perform("\(step)", to: Self.standing(step + 1)) {
      connection throws(PostgresFailure) in
      do {
        var store = PathStore(path, connection, shape, capabilities)
        return try store.store(Batch.of(Self.records(step)))
      } catch {
        throw error as? PostgresFailure ?? PostgresFailure(.other, "\(error)")
      }
    }
  }

  private func result(_ run: Int64, _ stored: StoredRecords?) throws -> Result {
    Result(
      rows: try database.direct.texts("SELECT id, n FROM t ORDER BY id, n"),
      position: try runs.lock(run, database.direct)?.position,
      ledger: stored?.result, states: stored?.states ?? [])
  }

  private func run(to target: PostgresTarget, lockTimeout: Int = 10_000) throws -> (
    result: Result, foundCommitCount: Int, connectionCount: Int
  ) {
    let run = try begin()
    let transactions = transactions(run, to: target, lockTimeout: lockTimeout)
    var stored = StoredRecords()
    for step in 0..<Self.batchCount {
      stored.add(try store(step, transactions), first: step * Self.batchSize)
    }
    return (try result(run, stored), transactions.foundCommitCount, transactions.connectionCount)
  }

  /// What a load gives that nothing disturbs.
  func undisturbed() throws -> Result {
    let result = try run(to: database.directTarget).result
    try #require(
      result.ledger?.rejected == [Self.batchSize + 7] && result.rows.count >= Self.batchSize * 2 - 1)
    return result
  }

  /// What one gives that meets faults, by a process that connects again.
  /// - Parameter lockTimeout: milliseconds for each attempt.
  func run(with faults: [ProxyFault], lockTimeout: Int = 10_000) throws -> (
    result: Result, foundCommitCount: Int, connectionCount: Int
  ) {
    database.proxy.set(faults)
    return try run(to: database.target, lockTimeout: lockTimeout)
  }

  /// What a load gives that meets faults, by processes that end with their connection. The next one begins at the position that it finds.
  func restarted(with faults: [ProxyFault]) throws -> (result: Result, processCount: Int) {
    database.proxy.set(faults)
    let run = try begin()
    var processCount = 0
    while true {
      processCount += 1
      try #require(processCount < 200)
      do {
        let connection = try database.connect()
        try connection.run("BEGIN")
        let standing = try #require(try runs.lock(run, connection))
        connection.rollback()
        let first = try #require(Int(standing.position))
        let transactions = transactions(run, to: database.target, connectsAgain: false)
        for step in first..<Self.batchCount { _ = try store(step, transactions) }
        return (try result(run, nil), processCount)
      } catch let failure as PostgresFailure {
        // A statement that was answered with an error is one that this does not try again.
        try #require(
          [.connectionLost, .outcomeUnknown, .unreachable, .retryTransaction].contains(failure.kind),
          "\(failure)")
      }
    }
  }

  /// Faults at random, which end at some time.
  static func faults(seed: UInt64) -> [ProxyFault] {
    var generator = SeededGenerator(seed: seed)
    func next() -> UInt64 { generator.next() }
    // No server refuses a ROLLBACK.
    let work = StatementKind("no ROLLBACK") { !$0.uppercased().hasPrefix("ROLLBACK") }
    return [
      .cut(.before, .commit, times: 3, chance: 0.2, seed: next()),
      .cut(.after, .commit, times: 3, isHard: true, chance: 0.2, seed: next()),
      .cut(.beforeAnswer, .commit, times: 3, chance: 0.2, seed: next()),
      .answer(.commit, "40001", times: 2, chance: 0.2, seed: next()),
      .answer(.commit, "40003", times: 2, chance: 0.2, seed: next()),
      .answer(.commit, "40003", commits: true, times: 2, chance: 0.2, seed: next()),
      .answer(.commit, "08007", times: 2, chance: 0.1, seed: next()),
      .answer(.commit, "08007", commits: true, times: 2, chance: 0.1, seed: next()),
      .answer(.statement(work), "40P01", times: 2, chance: 0.03, seed: next()),
      .answer(.statement(work), "57P01", times: 2, chance: 0.02, seed: next()),
      .cut(.before, .commit, times: 2, serverSeconds: 0.05, chance: 0.1, seed: next()),
      .cut(.before, .message(.fromClient), times: 4, chance: 0.02, seed: next()),
      .cut(.after, .message(.fromServer), times: 4, isHard: true, chance: 0.01, seed: next()),
      .cut(.before, .startUp, at: 2, times: 6, chance: 0.4, seed: next()),
      .delay(0.003, .statement(.any), times: 20, chance: 0.1, seed: next()),
    ]
  }
}
