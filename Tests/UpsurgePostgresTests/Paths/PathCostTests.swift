import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

/// What paths leave alone, and how many statements they need.
@Suite("Costs of paths", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PathCostTests {
  private static func shape(
    _ connection: PostgresConnection, _ columns: [String], _ rules: OrderedRules = OrderedRules()
  ) throws -> RecordShape {
    let table = try #require(try PostgresTable.read(name: "t", connection))
    return RecordShape(table, key: table.primaryKey, columns: columns, rules: rules)
  }

  private static func store(
    _ batch: borrowing Batch, by path: TestedPath, _ connection: PostgresConnection, _ shape: RecordShape
  ) throws -> BatchOutcomes {
    var store = PathStore(path, connection, shape, try Capabilities(of: connection))
    try connection.run("BEGIN")
    let outcomes = try store.store(batch)
    #expect(try connection.commit())
    return outcomes
  }

  @Test(
    "Unchanged records change nothing in the table, and take no number of a sequence",
    arguments: TestedPath.allCases)
  func unchanged(path: TestedPath) throws {
    let connection = try Server.database()
    try connection.run(
      """
      CREATE TABLE t (id int PRIMARY KEY, n serial, v text, x numeric);
      INSERT INTO t (id, v, x) SELECT g, 'v' || g, 1.0 FROM generate_series(1, 10000) g
      """)
    try connection.run("VACUUM (FREEZE) t")
    let shape = try Self.shape(connection, ["id", "v", "x"])
    let batch = Batch.of(
      (1...10_000).map { [.integer($0), .text("v\($0)"), .text($0 % 100 == 0 ? "1.00" : "1.0")] })
    let state =
      "SELECT count(*) FILTER (WHERE xmax <> 0), md5(string_agg(ctid::text, '' ORDER BY id)), pg_relation_size('t') FROM t"
    let before = try connection.texts(state)
    let outcomes = try Self.store(batch, by: path, connection, shape)
    #expect(
      outcomes.unchanged == 10_000 && outcomes.inserted + outcomes.updated + outcomes.rejected.count == 0)
    #expect(try connection.texts(state) == before)
    #expect(try connection.texts("SELECT last_value FROM t_n_seq") == [["10000"]])
  }

  @Test(
    "Nothing is written to the log for unchanged records", arguments: [TestedPath.walk, .unnest, .chosen])
  func noLog(path: TestedPath) throws {
    let connection = try Server.database()
    try connection.run(
      "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 3000) g"
    )
    var store = PathStore(
      path, connection, try Self.shape(connection, ["id", "v"]), try Capabilities(of: connection))
    try connection.run("BEGIN; SAVEPOINT one")
    let outcomes = try store.store(Batch.of((1...3000).map { [.integer($0), .text("v\($0)")] }))
    // Whatever is written down has the number of a transaction.
    #expect(try connection.texts("SELECT pg_current_xact_id_if_assigned()") == [[nil]])
    #expect(try connection.commit() && outcomes.unchanged == 3000)
  }

  @Test("The delta path writes a hundredth of what ON CONFLICT writes")
  func littleLog() throws {
    // The log is that of all who use a server, so this one is used by nobody else.
    let server = try PostgresServer.alone()
    let connection = try Server.connect(Server.freshURL(on: server))
    try connection.run(
      "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 50000) g"
    )
    try connection.run("VACUUM (FREEZE) t")
    try connection.run("CHECKPOINT")
    let shape = try Self.shape(connection, ["id", "v"])
    let batch = Batch.of((1...50_000).map { [.integer($0), .text("v\($0)")] })
    // The server's own processes may write to it, too.
    var least = Int64.max
    for _ in 0..<5 where least > 200_000 {
      let start = try connection.texts("SELECT pg_current_wal_insert_lsn()")[0][0] ?? ""
      #expect(try Self.store(batch, by: .delta, connection, shape).unchanged == 50_000)
      let byteCount = try connection.run("SELECT pg_current_wal_insert_lsn() - '\(start)'::pg_lsn").last?
        .first?.text(0).flatMap { Double($0) }
      least = min(least, Int64(byteCount ?? .infinity))
    }
    #expect(least < 200_000)
    try server.end()
  }

  @Test(
    "Ten bad records at random are found by few statements",
    arguments: [TestedPath.ordered, .delta, .unnest, .chosen],
    ["CHECK (n < 7)", "CHECK (n < 7) NOT VALID", "many"])
  func tenBad(path: TestedPath, constraint: String) throws {
    let connection = try Server.database()
    // Of one that does not hold for all rows, nothing is known but what fails.
    let constraints = constraint == "many" ? (0..<10).map { "CHECK (n <> \(10 + $0))" } : [constraint]
    try connection.run(
      "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t SELECT g, 0 FROM generate_series(0, 99999, 3) g"
    )
    for constraint in constraints { try connection.run("ALTER TABLE t ADD \(constraint)") }
    var generator = SeededGenerator(seed: SeededGenerator.givenSeed ?? UInt64.random(in: 0...UInt64.max))
    let count = 100_000
    var bad: [Int: Int64] = [:]
    while bad.count < 10 { bad[Int.random(in: 0..<count, using: &generator)] = Int64(10 + bad.count) }
    let batch = Batch.of((0..<count).map { [.integer(Int64($0)), .integer(bad[$0] ?? 1)] })
    let outcomes = try Self.store(batch, by: path, connection, try Self.shape(connection, ["id", "n"]))
    #expect(outcomes.rejected.map(\.record) == bad.keys.sorted())
    #expect(outcomes.inserted + outcomes.updated == count - 10)
    #expect(outcomes.statementCount <= 300, "\(path) \(constraint)")
    let details = outcomes.rejected.map {
      if case .failure(let failure) = $0.cause { failure.detail ?? "" } else { "" }
    }
    #expect(
      details == bad.sorted { $0.key < $1.key }.map { "Failing row contains (\($0.key), \($0.value))." })
  }

  @Test(
    "A thousand bad records of one constraint are found by few statements",
    arguments: [TestedPath.ordered, .delta, .unnest, .chosen],
    [
      "n integer CHECK (n < 7)", "n integer NOT NULL", "n integer DEFAULT 1 NOT NULL",
      "n integer REFERENCES par",
    ])
  func thousandBad(path: TestedPath, column: String) throws {
    let connection = try Server.database()
    try connection.run(
      "CREATE TABLE par (id int PRIMARY KEY); INSERT INTO par VALUES (1); CREATE TABLE t (id int PRIMARY KEY, \(column))"
    )
    var generator = SeededGenerator(seed: SeededGenerator.givenSeed ?? UInt64.random(in: 0...UInt64.max))
    let count = 20_000
    var bad: Set<Int> = []
    while bad.count < 1000 { bad.insert(Int.random(in: 0..<count, using: &generator)) }
    let worst: TestValue = column.hasSuffix("NOT NULL") ? .null : .integer(7)
    let batch = Batch.of((0..<count).map { [.integer(Int64($0)), bad.contains($0) ? worst : .integer(1)] })
    let outcomes = try Self.store(batch, by: path, connection, try Self.shape(connection, ["id", "n"]))
    #expect(outcomes.rejected.map(\.record) == bad.sorted())
    #expect(outcomes.inserted == count - 1000)
    #expect(outcomes.statementCount <= 2000, "\(path) \(column)")
    for rejected in outcomes.rejected {
      switch rejected.cause {
      case .fault(let fault, column: "n"):
        #expect(fault == .null && fault.sqlState == "23502" && column == "n integer NOT NULL")
      case .failure(let failure) where column.hasSuffix("NOT NULL"):
        #expect(failure.sqlState == "23502" && failure.column == "n" && column.contains("DEFAULT"))
        #expect(failure.detail == "Failing row contains (\(rejected.record), null).")
      case .failure(let failure) where column.contains("CHECK"):
        #expect(failure.sqlState == "23514" && failure.constraint == "t_n_check")
        #expect(failure.detail == "Failing row contains (\(rejected.record), 7).")
      case .failure(let failure):
        #expect(failure.sqlState == "23503" && failure.constraint == "t_n_fkey")
        #expect(failure.detail == "Key (n)=(7) is not present in table \"par\".")
      default: Issue.record("\(rejected)")
      }
    }
  }

  @Test("A filter says nothing of what it cannot know")
  func filterLimits() throws {
    let connection = try Server.database()
    // Not all rows keep to it, so a record that is the same as its row is unchanged and not bad.
    try connection.run(
      """
      CREATE TABLE t (id int PRIMARY KEY, n int, m int DEFAULT 3); INSERT INTO t SELECT g, 9 FROM generate_series(1, 50) g;
      ALTER TABLE t ADD CONSTRAINT c CHECK (n < 7) NOT VALID, ADD CONSTRAINT d CHECK (n <> m)
      """)
    let records = (1...100).map { [TestValue.integer($0), .integer($0 > 50 && $0 < 70 ? 3 : 9)] }
    for path in [TestedPath.ordered, .delta, .unnest] {
      let outcomes = try Self.store(
        Batch.of(records), by: path, connection, try Self.shape(connection, ["id", "n"]))
      #expect(outcomes.unchanged == 50 && outcomes.rejected.map(\.record) == Array(50..<100), "\(path)")
    }
  }

  @Test("The client compares most rows of a batch that is dense in its key range")
  func walked() throws {
    let connection = try Server.database()
    try connection.run(
      "CREATE TABLE t (id bigint PRIMARY KEY, v text); INSERT INTO t SELECT g, 'v' || g FROM generate_series(0, 9999) g"
    )
    let shape = try Self.shape(connection, ["id", "v"])
    var writer = WalkWriter(connection, shape, slots: [0, 1])
    func stored(_ records: [[TestValue]]) throws -> (BatchOutcomes, sameCount: Int) {
      let before = writer.sameCount
      try connection.run("BEGIN")
      let outcomes = try writer.store(Batch.of(records))
      #expect(try connection.commit())
      return (outcomes, writer.sameCount - before)
    }
    let changed = Set(stride(from: 7, to: 10_000, by: 100))
    let records = (0..<10_000).map {
      [TestValue.integer(Int64($0)), .text(changed.contains($0) ? "new" : "v\($0)")]
    }
    let (mostly, sameCount) = try stored(records.shuffled())
    #expect(mostly.updated == 100 && mostly.unchanged == 9900 && sameCount == 9900)
    let again = try stored(records)
    #expect(again.0 == BatchOutcomes(unchanged: 10_000, statementCount: 1) && again.sameCount == 10_000)
    // A batch of few keys far apart is not walked along, nor one in which all is new.
    let sparse = try stored(
      stride(from: 0, to: 10_000, by: 500).map { [.integer(Int64($0)), .text("v\($0)")] })
    #expect(sparse.0.unchanged == 20)
    let other = try stored((0..<10_000).map { [.integer(Int64($0)), .text("w\($0)")] })
    #expect(other.0.updated == 10_000 && other.sameCount == 0)
    let newer = try stored((0..<10_000).map { [.integer(Int64($0)), .text("x\($0)")] })
    #expect(newer.0.updated == 10_000)
  }

  @Test("Another session between join and write makes the batch begin again")
  func disturbed() throws {
    let url = try Server.freshURL()
    let (connection, other) = (try Server.connect(url), try Server.connect(url))
    try connection.run("CREATE TABLE t (id int PRIMARY KEY, v text)")
    let shape = try Self.shape(connection, ["id", "v"])
    // What the other one has not committed is not seen, and its key is waited for.
    try other.run("BEGIN; INSERT INTO t VALUES (5, 'theirs')")
    try connection.run("BEGIN; SET LOCAL lock_timeout = '100ms'")
    var writer = DeltaWriter(connection, shape, slots: [0, 1])
    let waited = Server.failure {
      try writer.store(Batch.of((0..<10).map { [.integer($0), .text("ours")] }))
    }
    #expect(waited?.kind == .retryTransaction && waited?.sqlState == "55P03")
    connection.rollback()
    try other.run("COMMIT")
    #expect(DeltaPlan(shape).isKeyTaken(PostgresFailure(.record, "", sqlState: "23505")))
    let outcomes = try Self.store(
      Batch.of((0..<10).map { [.integer($0), .text("ours")] }), by: .delta, connection, shape)
    #expect(outcomes.inserted == 9 && outcomes.updated == 1)
  }
}
