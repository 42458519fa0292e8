import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords

@testable import UpsurgePostgres

@Suite("Every path", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PathModelTests {
  @Test("Rows, counts and rejects are those of storing one by one", arguments: OrderedScenario.all + OrderedScenario.forPaths)
  func model(scenario: OrderedScenario) throws {
    let connection = try Server.database()
    if try !scenario.isPossible(on: connection) { return }
    try connection.run("SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'")
    let capabilities = try Capabilities(of: connection)
    let seeds = SeededGenerator.some(3, most: 200)
    let first = SeededGenerator.givenSeed ?? UInt64.random(in: 0..<1 << 40)
    for seed in first..<first + UInt64(seeds) {
      var generator = SeededGenerator(seed: seed)
      let dirt = [0, 0.03, 0.2, 0.5].randomElement(using: &generator)!
      let before = (0..<[0, 8, 40].randomElement(using: &generator)!).map { _ in scenario.record(dirt: 0, &generator) }
      let count = [1, 5, 40, 120, 300].randomElement(using: &generator)!
      let records = (0..<count).map { _ in scenario.record(dirt: dirt, &generator) }
      let batchSize = [1, 7, 50, 1000].randomElement(using: &generator)!
      func isolated<Outcome>(_ store: () throws -> Outcome) throws -> (Outcome, [[String?]]) {
        try connection.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public; \(scenario.ddl)")
        _ = try scenario.storeAlone(before, connection)
        let outcome = try store()
        let names = scenario.columns.map(\.name)
        return (
          outcome,
          try connection.texts(
            "SELECT \(names.joined(separator: ", ")) FROM t ORDER BY \(names.map { "\($0)::text" }.joined(separator: ", "))")
        )
      }
      // Of two bad values in a record either may be told.
      func told(_ stored: (result: OrderedScenario.Result, states: [String])) -> [String] {
        zip(stored.result.rejected, stored.states).compactMap { index, state in
          scenario.badCount(records[index]) > 1 ? nil : "\(index) \(state.hasPrefix("22") ? "22" : state)"
        }
      }
      let (alone, rowsAlone) = try isolated { try scenario.storeAlone(records, connection) }
      for path in TestedPath.allCases {
        let name = "\(scenario), \(path), seed \(seed), batches of \(batchSize)"
        let (stored, rows) = try isolated {
          try scenario.store(records, batchSize: batchSize, by: path, connection, capabilities)
        }
        guard let stored else { continue }
        #expect(stored.result == alone.result, "\(name)")
        #expect(rows == rowsAlone, "\(name)")
        #expect(told(stored) == told(alone), "\(name)")
      }
    }
  }
}
