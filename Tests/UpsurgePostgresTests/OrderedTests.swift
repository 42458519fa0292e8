import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("The ordered path", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct OrderedTests {
  @Test("Rows, counts and rejects are those of storing one by one", arguments: OrderedScenario.all)
  func model(scenario: OrderedScenario) throws {
    let connection = try Server.database()
    if try !scenario.isPossible(on: connection) { return }
    try connection.run("SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'")
    let seeds = SeededGenerator.some(4, most: 250)
    let first = SeededGenerator.givenSeed ?? UInt64.random(in: 0..<1 << 40)
    for seed in first..<first + UInt64(seeds) {
      var generator = SeededGenerator(seed: seed)
      let dirt = [0, 0.03, 0.2].randomElement(using: &generator)!
      let before = (0..<8).map { _ in scenario.record(dirt: 0, &generator) }
      let count = [1, 5, 40, 120].randomElement(using: &generator)!
      let records = (0..<count).map { _ in scenario.record(dirt: dirt, &generator) }
      let batchSize = [1, 7, 50, 1000].randomElement(using: &generator)!
      func isolated<Result>(_ store: () throws -> Result) throws -> (Result, [[String?]]) {
        try connection.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public; \(scenario.ddl)")
        try seeded(scenario, before, connection)
        let result = try store()
        let names = scenario.columns.map(\.name).joined(separator: ", ")
        let order = scenario.columns.map { "\($0.name)::text" }.joined(separator: ", ")
        return (result, try connection.texts("SELECT \(names) FROM t ORDER BY \(order)"))
      }
      let (alone, rowsAlone) = try isolated { try scenario.storeAlone(records, connection) }
      let (ordered, rows) = try isolated { try scenario.storeOrdered(records, batchSize: batchSize, connection) }
      #expect(ordered.result == alone.result, "\(scenario), seed \(seed), batches of \(batchSize)")
      #expect(rows == rowsAlone, "\(scenario), seed \(seed), batches of \(batchSize)")
      // Of two bad values in a record either may be told.
      func told(_ stored: (result: OrderedScenario.Result, states: [String])) -> [String] {
        zip(stored.result.rejected, stored.states).compactMap { index, state in
          scenario.badCount(records[index]) > 1 ? nil : "\(index) \(state.hasPrefix("22") ? "22" : state)"
        }
      }
      #expect(told(ordered) == told(alone), "\(scenario), seed \(seed)")
    }
  }

  private func seeded(_ scenario: OrderedScenario, _ records: [OrderedScenario.Record], _ connection: PostgresConnection) throws {
    _ = try scenario.storeAlone(records, connection)
  }

  @Test("Unchanged records lock nothing, write nothing and take no number of a sequence")
  func unchanged() throws {
    let connection = try Server.database()
    try connection.run(
      "CREATE TABLE t (id int PRIMARY KEY, n serial, v text); INSERT INTO t (id, v) SELECT g, 'v' || g FROM generate_series(1, 1000) g")
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let plan = OrderedPlan(
      table, key: table.primaryKey, columns: ["id", "v"], rules: OrderedRules(), capabilities: try Capabilities(of: connection))
    let batch = Batch.of((1...1000).map { [.integer($0), .text("v\($0)")] })
    var writer = OrderedWriter(connection, plan, slots: [0, 1])
    try connection.run("BEGIN")
    let outcomes = try writer.store(batch)
    #expect(try connection.commit())
    #expect(outcomes == OrderedWriter.Outcomes(unchanged: 1000, statementCount: 2))
    #expect(try connection.texts("SELECT last_value FROM t_n_seq") == [["1000"]])
    #expect(try connection.texts("SELECT count(*) FROM t WHERE xmax <> 0") == [["0"]])
  }

  @Test("Ten bad records among many are found by few statements")
  func bisection() throws {
    let connection = try Server.database()
    try connection.run("CREATE TABLE t (id int PRIMARY KEY, n int CHECK (n <> 7))")
    let table = try #require(try PostgresTable.read(name: "t", connection))
    let plan = OrderedPlan(
      table, key: table.primaryKey, columns: ["id", "n"], rules: OrderedRules(), capabilities: try Capabilities(of: connection))
    let batch = Batch.of((0..<20_000).map { [.integer($0), .integer($0 % 2000 == 999 ? 7 : 1)] })
    var writer = OrderedWriter(connection, plan, slots: [0, 1])
    try connection.run("BEGIN")
    let outcomes = try writer.store(batch)
    #expect(try connection.commit())
    #expect(outcomes.rejected.map(\.record) == (0..<10).map { $0 * 2000 + 999 })
    #expect(outcomes.inserted == 19_990 && outcomes.statementCount < 300)
    guard case .failure(let failure)? = outcomes.rejected.first?.cause else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(failure.sqlState == "23514" && failure.constraint == "t_n_check")
  }

  @Test("Records are cut where a key comes again")
  func segments() {
    let keys = ["a", "b", "c", "b", "d", "a", "a", "", "x", ""]
    var segments = KeySegments()
    for _ in 0..<2 {
      segments.reset()
      var bytes: [UInt8] = []
      for key in keys {
        let start = bytes.count
        bytes += key.utf8
        bytes.withUnsafeBytes { segments.add(start..<bytes.count, of: $0) }
      }
      #expect(segments.cuts == [3, 6, 9])
    }
    #expect(KeySegments.cuts(of: [(3, 1), (5, 0), (6, 5), (9, 7)]) == [3, 6, 9])
    // Many keys make the table grow; what was seen is still known.
    segments.reset()
    let numbers = Array(0..<5000) + Array(0..<5000)
    let all = numbers.flatMap { withUnsafeBytes(of: $0) { Array($0) } }
    all.withUnsafeBytes { bytes in
      for index in numbers.indices { segments.add(index * 8..<index * 8 + 8, of: bytes) }
    }
    #expect(segments.cuts == [5000])
  }
}
