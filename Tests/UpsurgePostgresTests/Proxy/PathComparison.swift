import TestSupport
import Testing

@testable import UpsurgePostgres

/// Stores the same records one by one and in batches, and compares rows, counts and rejects.
struct PathComparison {
  /// Makes the tables, and stores one by one.
  let alone: PostgresConnection
  /// Stores batches in the same database.
  let batches: PostgresConnection
  let capabilities: Capabilities

  init(alone: PostgresConnection, batches: PostgresConnection) throws {
    (self.alone, self.batches) = (alone, batches)
    for connection in [alone, batches] {
      try connection.run("SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'")
    }
    capabilities = try Capabilities(of: batches)
  }

  /// - Parameter about: what a failure says besides scenario and seed.
  func compare(_ scenario: OrderedScenario, seed: UInt64, paths: [TestedPath], about: String) throws {
    if try !scenario.isPossible(on: alone) { return }
    var generator = SeededGenerator(seed: seed)
    let dirt = [0, 0.03, 0.2].randomElement(using: &generator)!
    let before = (0..<[0, 8, 40].randomElement(using: &generator)!).map { _ in
      scenario.record(dirt: 0, &generator)
    }
    let records = (0..<[5, 40, 120].randomElement(using: &generator)!).map { _ in
      scenario.record(dirt: dirt, &generator)
    }
    let batchSize = [1, 7, 50, 1000].randomElement(using: &generator)!
    let (one, rowsOfOne) = try isolated(scenario, before) { try scenario.storeAlone(records, alone) }
    for path in paths {
      let name = "\(about), \(scenario), \(path), seed \(seed), batches of \(batchSize)"
      let (stored, rows) = try isolated(scenario, before) { () -> OrderedScenario.Result? in
        let shape = try scenario.shape(alone)
        // An UPDATE by itself is only made by the delta path.
        if PathChoice(shape, capabilities).base.path != .delta, OrderedScenario.lacksNeeded(shape) {
          return nil
        }
        return try scenario.store(records, batchSize: batchSize, by: path, batches, capabilities)?.result
      }
      guard let stored else { continue }
      #expect(stored == one.result, "\(name)")
      #expect(rows == rowsOfOne, "\(name)")
    }
  }

  private func isolated<Outcome>(
    _ scenario: OrderedScenario, _ before: [OrderedScenario.Record], _ store: () throws -> Outcome
  ) throws -> (Outcome, [[String?]]) {
    try alone.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public; \(scenario.ddl)")
    _ = try scenario.storeAlone(before, alone)
    let outcome = try store()
    let names = scenario.columns.map(\.name)
    let rows = try alone.texts(
      "SELECT \(names.joined(separator: ", ")) FROM t ORDER BY \(names.map { "\($0)::text" }.joined(separator: ", "))"
    )
    return (outcome, rows)
  }
}
