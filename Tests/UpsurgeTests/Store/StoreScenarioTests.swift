import Foundation
import PostgresSupport
import TestSupport
import Testing
import UpsurgeRecords
import UpsurgeSQLite

@testable import Upsurge
@testable import UpsurgePostgres

/// Scenarios through PostgreSQL, SQLite and the memory store, and one record after the other: rows, ledger and rejects are
/// the same everywhere.
@Suite(
  "Stores are those of one record after the other",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct StoreScenarioTests {
  /// Seeds of one test, which share a database; each has schemas of its own.
  private static let partSize = 50
  static let parts: [Range<UInt64>] = {
    let count = UInt64(SeededGenerator.some(100, most: 3_000))
    return stride(from: 0, to: count, by: partSize).map { $0..<min($0 + UInt64(partSize), count) }
  }()

  init() { PostgresStores.register() }

  @Test("Rows, ledger and rejects are the same in each", arguments: parts)
  func equal(seeds: Range<UInt64>) throws {
    let first = SeededGenerator.givenSeed ?? 0
    let database = try ScenarioDatabase()
    for seed in seeds {
      var random = SeededGenerator(seed: first &+ seed)
      try ScenarioRuns(StoreScenario(&random), seed: first &+ seed, in: database).compare()
    }
  }
}

/// The database that seeds share.
struct ScenarioDatabase {
  let url: String
  let connection: PostgresConnection

  init() throws {
    url = try PostgresServer.shared().freshDatabase()
    connection = try PostgresConnection(to: try #require(PostgresTarget(url)))
    // Schemas that go with all that they hold say so.
    try connection.run("SET client_min_messages = warning")
  }
}

/// What a load or the oracle gives.
private struct ScenarioResult: Equatable, CustomStringConvertible {
  var ledger: Ledger
  var rejects: [UInt64]
  var rows: [String]

  var description: String { "\(ledger), rejected \(rejects)" }

  /// What another one has, in words.
  func difference(to other: ScenarioResult) -> String {
    let (lost, more) = (Set(rows).subtracting(other.rows), Set(other.rows).subtracting(rows))
    return "\(self) / \(other); rows \(lost.sorted().prefix(3)) / \(more.sorted().prefix(3))"
  }
}

/// A scenario in each store.
private final class ScenarioRuns {
  private let scenario: StoreScenario
  private let seed: UInt64
  private let database: ScenarioDatabase
  private let scratch = Scratch()
  private let memory = MemoryStore()
  private let (loaded, alone): (String, String)

  init(_ scenario: StoreScenario, seed: UInt64, in database: ScenarioDatabase) throws {
    (self.scenario, self.seed, self.database) = (scenario, seed, database)
    (loaded, alone) = ("loaded_\(seed)", "alone_\(seed)")
    memory.state.tables["t"] = scenario.memoryTable
    if !scenario.sqliteDDL.isEmpty { try Database(scratch.file("a.db")).rows(scenario.sqliteDDL) }
    for schema in [loaded, alone] {
      try database.connection.run(
        "CREATE SCHEMA \(schema); SET search_path = \(schema); \(scenario.postgresDDL)")
    }
  }

  func compare() throws {
    for delivery in scenario.deliveries.indices {
      let source = scratch.write(scenario.text(of: delivery), to: "\(delivery).\(scenario.format)")
      let postgres = try loadIntoPostgres(source, delivery)
      let sqlite = try loadIntoSQLite(source, delivery)
      let about =
        "seed \(seed), delivery \(delivery), \(scenario.key), \(scenario.rules), \(scenario.demands.map { "\($0)" } ?? "new")"
      if delivery == 0, scenario.demands == nil {
        // The oracle's table is like the one that was made.
        try database.connection.run("CREATE TABLE \(alone).t (LIKE \(loaded).t INCLUDING ALL)")
      }
      let wanted = try storeAlone(delivery)
      #expect(postgres == wanted, "PostgreSQL, \(about): \(postgres.difference(to: wanted))")
      #expect(sqlite == wanted, "SQLite, \(about): \(sqlite.difference(to: wanted))")
      let inMemory = loadIntoMemory(source, delivery)
      #expect(inMemory == wanted, "memory, \(about): \(inMemory.difference(to: wanted))")
      if postgres != wanted || sqlite != wanted { break }
    }
    try database.connection.run("DROP SCHEMA \(loaded) CASCADE; DROP SCHEMA \(alone) CASCADE")
  }

  private static let names = StoreScenario.columns.joined(separator: ", ")

  private func loadIntoPostgres(_ source: String, _ delivery: Int) throws -> ScenarioResult {
    var options = scenario.options(of: delivery)
    options.rejects.path = scratch.file("postgres.ndjson")
    let summary = LoadJob(database: database.url, table: "\(loaded).t", sources: [source], options: options)
      .run()
    try #require(summary.error == nil, "seed \(seed): \(summary.error.map { "\($0)" } ?? "")")
    return ScenarioResult(
      ledger: summary.ledger, rejects: try rejects(in: "postgres.ndjson"), rows: try rows(of: loaded))
  }

  private func loadIntoSQLite(_ source: String, _ delivery: Int) throws -> ScenarioResult {
    var options = scenario.options(of: delivery)
    options.rejects.path = scratch.file("sqlite.ndjson")
    options.table.foreignKeys = .on
    let summary = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options)
      .run()
    try #require(summary.error == nil, "seed \(seed): \(summary.error.map { "\($0)" } ?? "")")
    return ScenarioResult(
      ledger: summary.ledger, rejects: try rejects(in: "sqlite.ndjson"),
      rows: try Database(scratch.file("a.db")).rows("SELECT \(Self.names) FROM t").sorted())
  }

  private func loadIntoMemory(_ source: String, _ delivery: Int) -> ScenarioResult {
    let job = LoadJob(
      database: "memory", table: "t", sources: [source], options: scenario.options(of: delivery))
    let known = memory.state.rejects.count
    let end = job.runToEnd(
      control: RunControl(), into: { [memory] _, _ in memory }, note: { _ in }, tick: { _ in })
    end.acknowledge()
    #expect(end.summary.error == nil, "seed \(seed): \(end.summary.error.map { "\($0)" } ?? "")")
    return ScenarioResult(
      ledger: end.summary.ledger,
      rejects: memory.state.rejects.dropFirst(known).compactMap(\.position.record).sorted(),
      rows: memory.state.tables["t"]?.sqlTexts ?? [])
  }

  private func storeAlone(_ delivery: Int) throws -> ScenarioResult {
    let result = try OneByOne(scenario: scenario, connection: database.connection, table: "\(alone).t").store(
      delivery)
    return ScenarioResult(ledger: result.ledger, rejects: result.rejects, rows: try rows(of: alone))
  }

  /// Rows as `Database.rows` writes them.
  private func rows(of schema: String) throws -> [String] {
    let texts = StoreScenario.columns.map { name in
      scenario.isText(name) ? "quote_nullable(\(name))" : "coalesce(\(name)::text, 'NULL')"
    }
    let found = try database.connection.run("SELECT \(texts.joined(separator: ", ")) FROM \(schema).t").last
    let all = found.map { found in
      found.rows.map { row in (0..<found.columnCount).map { row.text($0) ?? "" }.joined(separator: "|") }
    }
    // SQL doubles the quotation marks of texts.
    return (all ?? []).map { $0.replacing("''", with: "'") }.sorted()
  }

  /// The numbers of the records in a file of rejects.
  private func rejects(in name: String) throws -> [UInt64] {
    let text = (try? readFile(scratch.file(name))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let lines = try text.split(separator: "\n").compactMap { line in
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
    unlink(scratch.file(name))
    return lines.compactMap { ($0["record"] as? NSNumber)?.uint64Value }
  }
}
