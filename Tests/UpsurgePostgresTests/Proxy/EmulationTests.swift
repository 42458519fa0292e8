import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge

@testable import UpsurgePostgres

/// A server that is not to be had here, as far as a proxy can be one: what it says it is, and what it refuses.
struct Emulation: CustomStringConvertible, Sendable {
  var description: String
  var family: ServerFamily
  var faults: [ProxyFault]
  var hasTemporaryTables = false
  var hasXmax = false

  static let all = [
    Emulation(
      description: "CockroachDB", family: .cockroachDB,
      faults: [
        .version("CockroachDB CCL v25.1.2 (x86_64-pc-linux-gnu, built 2025/03/11)"),
        .refuse(.makesTemporaryTable, "0A000"),
        .refuse(.usesXmax, "42703"), .refuse(.containing("SET CONSTRAINTS"), "42601"),
        .refuse(.takesAdvisoryLock, "42883"), .refuse(.containing("FORMAT binary"), "0A000"),
      ]),
    Emulation(
      description: "YugabyteDB", family: .yugabyteDB,
      faults: [
        .version("PostgreSQL 15.12-YB-2.27.0.0-b409 on x86_64-pc-linux-gnu"),
        .refuse(.makesTemporaryTable, "0A000"), .refuse(.usesXmax, "0A000"),
        .refuse(.takesAdvisoryLock, "0A000"), .refuse(.containing("COPY "), "0A000"),
      ]),
    Emulation(
      description: "Citus", family: .citus,
      faults: [
        .substitute("extname = 'citus'", with: "extname = 'plpgsql'"),
        // The table t is distributed.
        .substitute(
          "FROM pg_dist_partition WHERE logicalrelid = $1::oid::regclass",
          with: "FROM pg_class WHERE oid = $1::oid AND relname = 't'"),
        .substitute("column_to_column_name(logicalrelid, partkey)", with: "'id'"),
        .refuse(.containing("upsurge_delta"), "0A000"),
        .refuse(
          StatementKind("an anti-join of a temporary table") {
            $0.contains("NOT EXISTS (SELECT") && $0.contains("upsurge_staging")
          }, "0A000"),
      ], hasTemporaryTables: true, hasXmax: true),
    Emulation(
      description: "a role without temporary tables", family: .postgreSQL,
      faults: [.refuse(.makesTemporaryTable, "42501")], hasXmax: true),
    Emulation(
      description: "a server without xmax", family: .postgreSQL, faults: [.refuse(.usesXmax, "0A000")],
      hasTemporaryTables: true),
  ]
}

@Suite(
  "Servers that a proxy stands for",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct EmulationTests {
  @Test("What a server says it is, and what it refuses, is found out", arguments: Emulation.all)
  func capabilities(emulation: Emulation) throws {
    let database = try ProxiedDatabase(emulation.faults)
    let connection = try database.connect()
    let found = try Capabilities(of: connection)
    #expect(found.family == emulation.family && found.refusal == nil)
    // Before version 18 new rows can be told by xmax only.
    #expect(
      found.hasTemporaryTables == emulation.hasTemporaryTables && found.hasXmax == emulation.hasXmax
        && found.hasSavepoints)
    #expect(!connection.isInTransaction)
  }

  @Test(
    "Servers that cannot take a load are refused by their own words",
    arguments: ["PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc, Redshift 1.0.1", "NewThing 1.0"])
  func refused(version: String) throws {
    let database = try ProxiedDatabase([.version(version)])
    let found = try Capabilities(of: database.connect())
    #expect(found.version == version && found.refusal != nil)
    #expect(database.proxy.events.contains(.changed(1, statement: "SELECT version()")))
  }

  @Test(
    "Rows, counts and rejects are those of storing one by one, and nothing is asked that they refuse",
    arguments: Emulation.all)
  func model(emulation: Emulation) throws {
    let database = try ProxiedDatabase(emulation.faults)
    let connection = try database.connect()
    let comparison = try PathComparison(alone: database.direct, batches: connection)
    database.proxy.set(emulation.faults)
    let first = SeededGenerator.firstSeed()
    for scenario in OrderedScenario.all + OrderedScenario.forPaths {
      if !emulation.family.defersConstraints, scenario.ddl.contains("DEFERRED") { continue }
      for seed in first..<first + UInt64(SeededGenerator.some(1, most: 30)) {
        try comparison.compare(scenario, seed: seed, paths: [.chosen], about: "\(emulation)")
      }
    }
    // What no records were stored for shows nothing.
    #expect(database.proxy.events.count > 100)
    let refused = database.proxy.events.filter(\.isAnswer)
    #expect(refused == [], "seed \(first)")
  }

  @Test(
    "A load into what stands for Citus finds bad records by transactions, and sends no savepoint for them")
  func citusLoad() throws {
    PostgresStores.register()
    let scratch = Scratch()
    let emulation = try #require(Emulation.all.first { $0.family == .citus })
    let database = try ProxiedDatabase(
      emulation.faults + [.refuse(.containing("SAVEPOINT upsurge_part"), "25P02")])
    try database.direct.run(
      "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (3, 1), (5, 0); ALTER TABLE t ADD CONSTRAINT c CHECK (n < 7)"
    )
    let bad: Set = [0, 77, 78, 250, 399]
    let text = "id,n\n" + (0..<400).map { "\($0),\(bad.contains($0) ? 9 : 1)\n" }.joined()
    var options = LoadOptions()
    options.rules.key = ["id"]
    (options.rejects.onError, options.rejects.path) = (.reject, scratch.file("bad.ndjson"))
    let job = LoadJob(
      database: database.proxy.url(database: database.direct.database), table: "t",
      sources: [scratch.write(text, to: "feed.csv")], options: options)
    let summary = job.run()
    #expect(summary.error == nil, "\(summary.error?.description ?? "")")
    #expect(summary.ledger.inserted == 393 && summary.ledger.updated == 1 && summary.ledger.unchanged == 1)
    #expect(summary.ledger.rejected == 5 && summary.ledger.read == 400)
    let lines = try String(contentsOfFile: scratch.file("bad.ndjson"), encoding: .utf8).split(separator: "\n")
      .dropFirst()
    #expect(lines.map { line in bad.sorted().first { line.contains("\"raw\":\"\($0),9\"") } } == bad.sorted())
    #expect(database.proxy.events.filter(\.isAnswer) == [])
  }
}
