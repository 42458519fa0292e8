import Foundation
import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

/// Batches that take several transactions.
@Suite("Parts of a batch", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PartTests {
  /// What was found in the transactions of a batch.
  private struct Stored {
    var outcomes = BatchOutcomes()
    /// The parts that stand, as they were committed.
    var parts: [Range<Int>] = []
    /// The most savepoints of one transaction whose rows stand.
    var mostSavepoints = 0
    var failedCount = 0
  }

  private static func capabilities(_ connection: PostgresConnection, hasSavepoints: Bool) throws
    -> Capabilities
  {
    var capabilities = try Capabilities(of: connection)
    capabilities.hasSavepoints = hasSavepoints
    return capabilities
  }

  /// Stores a batch as the caller of a writer does.
  private static func store(
    _ batch: borrowing Batch, by path: TestedPath, _ connection: PostgresConnection, _ shape: RecordShape,
    _ capabilities: Capabilities
  ) throws -> Stored {
    var store = PathStore(path, connection, shape, capabilities)
    var stored = Stored()
    var parts = BatchParts(0..<batch.recordCount, capabilities)
    while let part = parts.next {
      #expect(part.records.lowerBound == stored.parts.last?.upperBound ?? 0)
      try connection.run(store.needsSnapshot ? "BEGIN ISOLATION LEVEL REPEATABLE READ" : "BEGIN")
      do {
        let outcomes = try store.store(part, of: batch)
        // Rows have the number of the subtransaction that wrote them, which is larger than that of the transaction.
        let numbers = try connection.texts(
          "SELECT count(DISTINCT xmin::text) FROM t WHERE xmin::text::bigint > pg_current_xact_id_if_assigned()::text::bigint"
        )
        stored.mostSavepoints = max(stored.mostSavepoints, Int(numbers[0][0] ?? "") ?? .max)
        try #require(try connection.commit())
        let end = outcomes.next ?? part.records.upperBound
        stored.parts.append(part.records.lowerBound..<end)
        stored.outcomes.add(outcomes)
        parts.stored(upTo: end)
      } catch let failure as PostgresFailure {
        connection.rollback()
        stored.failedCount += 1
        try parts.failed(failure)
      }
    }
    #expect(stored.parts.last?.upperBound ?? 0 == batch.recordCount)
    return stored
  }

  private static func shape(_ connection: PostgresConnection, _ columns: [String]) throws -> RecordShape {
    let table = try #require(try PostgresTable.read(name: "t", connection))
    return RecordShape(table, key: table.primaryKey, columns: columns, rules: OrderedRules())
  }

  /// Records of which some are refused by checks that no filter is asked for, as not all rows keep to them.
  private static func prepare(_ connection: PostgresConnection) throws {
    try connection.run(
      """
      CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t SELECT g, 0 FROM generate_series(0, 99999, 3) g;
      ALTER TABLE t ADD CONSTRAINT c CHECK (n < 7) NOT VALID
      """)
  }

  @Test(
    "No transaction has more than 64 savepoints that wrote, and what is done is committed",
    arguments: [TestedPath.ordered, .delta, .walk, .unnest, .append, .chosen])
  func savepoints(path: TestedPath) throws {
    let connection = try Server.database()
    try Self.prepare(connection)
    let shape = try Self.shape(connection, ["id", "n"])
    let (count, capabilities) = (20_000, try Self.capabilities(connection, hasSavepoints: true))
    var generator = SeededGenerator(seed: SeededGenerator.givenSeed ?? UInt64.random(in: 0...UInt64.max))
    var bad: Set<Int> = []
    while bad.count < 100 { bad.insert(Int.random(in: 0..<count, using: &generator)) }
    // Keys do not arrive in their order, a tenth is as it was, and one record of fifty has no key.
    let records = (0..<count).map { index -> [TestValue] in
      if index % 50 == 7, !bad.contains(index) { return [.null, .integer(1)] }
      return [
        .integer(Int64(index * 7919 % 99_991)), .integer(bad.contains(index) ? 9 : index % 10 == 3 ? 0 : 1),
      ]
    }
    let nullCount = records.count { $0[0] == .null }
    let stored = try Self.store(Batch.of(records), by: path, connection, shape, capabilities)
    #expect(stored.mostSavepoints > 32 && stored.mostSavepoints <= 64, "\(path) \(stored.mostSavepoints)")
    #expect(stored.parts.count > 5 && stored.failedCount == 0)
    let refused = stored.outcomes.rejected.filter { if case .failure = $0.cause { true } else { false } }
    #expect(refused.map(\.record) == bad.sorted())
    #expect(stored.outcomes.rejected.count == 100 + nullCount)
    // The same in one transaction.
    try connection.run(
      "CREATE TABLE parts AS SELECT * FROM t; TRUNCATE t; INSERT INTO t SELECT g, 0 FROM generate_series(0, 99999, 3) g"
    )
    var whole = PathStore(path, connection, shape, capabilities)
    try connection.run("BEGIN")
    let outcomes = try whole.store(Batch.of(records))
    #expect(try connection.commit())
    let isSame = outcomes.counts == stored.outcomes.counts
    #expect(isSame && outcomes.rejected.map(\.record) == stored.outcomes.rejected.map(\.record), "\(path)")
    #expect(try connection.texts("SELECT count(*) FROM (TABLE t EXCEPT TABLE parts) AS d") == [["0"]])
    #expect(try connection.texts("SELECT count(*) FROM (TABLE parts EXCEPT TABLE t) AS d") == [["0"]])
  }

  @Test(
    "Ten bad records at random need few statements in all transactions together",
    arguments: [TestedPath.ordered, .delta, .chosen])
  func tenBad(path: TestedPath) throws {
    let connection = try Server.database()
    try Self.prepare(connection)
    var generator = SeededGenerator(seed: SeededGenerator.givenSeed ?? UInt64.random(in: 0...UInt64.max))
    var bad: Set<Int> = []
    while bad.count < 10 { bad.insert(Int.random(in: 0..<100_000, using: &generator)) }
    let batch = Batch.of((0..<100_000).map { [.integer(Int64($0)), .integer(bad.contains($0) ? 9 : 1)] })
    let capabilities = try Self.capabilities(connection, hasSavepoints: true)
    let stored = try Self.store(
      batch, by: path, connection, try Self.shape(connection, ["id", "n"]), capabilities)
    #expect(stored.outcomes.rejected.map(\.record) == bad.sorted())
    #expect(stored.outcomes.statementCount <= 300, "\(path)")
    #expect(stored.mostSavepoints <= 64)
  }

  @Test(
    "Without savepoints none is sent, and parts that fail come again in halves",
    arguments: TestedPath.allCases)
  func transactions(path: TestedPath) throws {
    let connection = try Server.database()
    try Self.prepare(connection)
    // What it asks first tries a savepoint.
    let capabilities = try Self.capabilities(connection, hasSavepoints: false)
    try connection.run("SET log_statement = 'all'")
    let bad = [0, 77, 78, 500, 999]
    let records = (0..<1000).map {
      [TestValue.integer(Int64($0 * 7 % 1000)), .integer(bad.contains($0) ? 9 : 1)]
    }
    let stored = try Self.store(
      Batch.of(records), by: path, connection, try Self.shape(connection, ["id", "n"]), capabilities)
    #expect(
      stored.outcomes.rejected.map(\.record) == bad
        && stored.outcomes.inserted + stored.outcomes.updated == 995)
    for rejected in stored.outcomes.rejected {
      guard case .failure(let failure) = rejected.cause else { continue }
      #expect(
        failure.constraint == "c"
          && failure.detail == "Failing row contains (\(rejected.record * 7 % 1000), 9).")
    }
    // A bad record costs a transaction for each halving; where both halves are bad, one more.
    #expect(stored.failedCount > 5 && stored.failedCount <= 55, "\(path) \(stored.failedCount)")
    #expect(try connection.texts("SELECT count(*) FROM t WHERE n = 1") == [["995"]])
    let log = try String(contentsOfFile: try PostgresServer.shared().folder + "/log", encoding: .utf8)
    let own = log.split(separator: "\n").filter { $0.contains("[\(connection.backend)]") }
    #expect(own.contains { $0.contains("BEGIN") } && !own.contains { $0.contains("SAVEPOINT") })
  }

  @Test("Parts are halved from the left, and a failure that is no record's ends them")
  func order() throws {
    let connection = try Server.database()
    var parts = BatchParts(0..<8, try Self.capabilities(connection, hasSavepoints: false))
    let bad = 5
    var tried: [Range<Int>] = []
    var rejected: [Int] = []
    while let part = parts.next {
      tried.append(part.records)
      if let reject = part.rejected {
        rejected.append(reject.record)
        parts.stored(upTo: part.records.upperBound)
      } else if part.records.contains(bad) {
        try parts.failed(PostgresFailure(.record, "", sqlState: "23514"))
      } else {
        parts.stored(upTo: part.records.upperBound)
      }
    }
    // The second half must fail when the first is stored, so it is not tried.
    #expect(tried == [0..<8, 0..<4, 4..<6, 4..<5, 5..<6, 5..<6, 6..<8] && rejected == [5])
    parts = BatchParts(0..<8, try Self.capabilities(connection, hasSavepoints: false))
    let lost = Server.failure { try parts.failed(PostgresFailure(.connectionLost, "gone")) }
    #expect(lost?.kind == .connectionLost && parts.next?.records == 0..<8)
    #expect(BatchParts(0..<0, try Self.capabilities(connection, hasSavepoints: true)).next == nil)
  }

  @Test("After bad records that come together few are tried at once, and after good ones more")
  func gaps() {
    var gap = RejectGap()
    #expect(gap.reach == .max)
    gap.grow()
    gap.end(at: 1000)
    #expect(gap.reach == 1000)
    gap.grow()
    gap.grow()
    #expect(gap.reach == 4000)
    var index = 1000
    for _ in 0..<20 {
      index += 1
      gap.end(at: index)
    }
    #expect(gap.reach == 1)
    gap.grow()
    #expect(gap.reach == 2)
    gap.end(at: index + 499)
    #expect(gap.reach == 250)
  }

  @Test("After a part that ended early the next ones are small, and grow")
  func windows() throws {
    let connection = try Server.database()
    var parts = BatchParts(0..<100_000, try Self.capabilities(connection, hasSavepoints: true))
    #expect(parts.next?.records == 0..<100_000)
    parts.stored(upTo: 1000)
    #expect(parts.next?.records == 1000..<3000)
    parts.stored(upTo: 3000)
    #expect(parts.next?.records == 3000..<11_000)
    parts.stored(upTo: 11_000)
    #expect(parts.next?.records == 11_000..<43_000)
  }
}

extension BatchOutcomes {
  /// Adds what became of the records of another part.
  fileprivate mutating func add(_ other: BatchOutcomes) {
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
    kept += other.kept
    rejected += other.rejected
    statementCount += other.statementCount
  }
}
