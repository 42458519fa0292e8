import PostgresSupport
import TestSupport
import Testing

@testable import UpsurgePostgres

@Suite(
  "Each version that is installed",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ServerVersionTests {
  @Test("What a version can do is known", arguments: PostgresServer.installed())
  func capabilities(installation: PostgresInstallation) throws {
    let database = try ProxiedDatabase(on: installation)
    let found = try Capabilities(of: database.direct)
    #expect(
      found.versionNumber / 10000 == installation.majorVersion && found.family == .postgreSQL
        && found.refusal == nil)
    #expect(found.hasTemporaryTables && found.hasXmax && found.hasSavepoints)
    #expect(
      found.hasInputCheck == (installation.majorVersion >= 16)
        && found.hasReturningOld == (installation.majorVersion >= 18))
  }

  @Test("Rows, counts and rejects are those of storing one by one", arguments: PostgresServer.installed())
  func model(installation: PostgresInstallation) throws {
    let database = try ProxiedDatabase(on: installation)
    let comparison = try PathComparison(
      alone: database.direct, batches: PostgresConnection(to: database.directTarget))
    let first = SeededGenerator.firstSeed()
    for scenario in OrderedScenario.all + OrderedScenario.forPaths {
      for seed in first..<first + UInt64(SeededGenerator.some(1, most: 10)) {
        try comparison.compare(scenario, seed: seed, paths: TestedPath.allCases, about: "\(installation)")
      }
    }
  }

  @Test("A load whose connections break stores each record once", arguments: PostgresServer.installed())
  func cuts(installation: PostgresInstallation) throws {
    let load = try ProxiedLoad(.sums, on: installation)
    let undisturbed = try load.undisturbed()
    let first = SeededGenerator.firstSeed()
    for seed in first..<first + UInt64(SeededGenerator.some(3, most: 40)) {
      #expect(
        try load.run(with: ProxiedLoad.faults(seed: seed)).result == undisturbed,
        "\(installation), seed \(seed)")
    }
  }
}
