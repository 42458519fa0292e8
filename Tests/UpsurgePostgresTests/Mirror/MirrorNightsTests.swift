import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// The same nights on SQLite and on a server: deliveries that are accepted, refused, repeated, edited and let through. Ledgers,
/// exit codes and tables must be equal after each of them.
@Suite("Nights on both stores", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct MirrorNightsTests {
  /// Kinds of feeds, each seed another one.
  struct Kind {
    var sweep: RowSweep
    /// The table in both; nil where the first night makes it.
    var creation: (sqlite: String, server: String)?
    var hasScope = false
    var atomicity = MirrorJob.Atomicity.table

    /// Whether the table has the column that a soft sweep marks.
    var hasMark: Bool {
      if case .soft = sweep { return true }
      return creation != nil
    }

    init(_ random: inout SeededGenerator) {
      let rest = "v text CHECK (length(v) < 9), part integer, gone text)"
      let creations: [(String, String)?] = [
        nil, ("(id INTEGER PRIMARY KEY, \(rest)", "(id bigint PRIMARY KEY, \(rest)"),
        ("(id TEXT PRIMARY KEY, \(rest)", "(id text PRIMARY KEY, \(rest)"),
        ("(id TEXT PRIMARY KEY, \(rest) WITHOUT ROWID", "(id text COLLATE \"C\" PRIMARY KEY, \(rest)"),
        ("(id TEXT PRIMARY KEY, \(rest)", "(id varchar(9) PRIMARY KEY, \(rest) PARTITION BY HASH (id)"),
        (
          "(number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, \(rest)",
          "(number bigserial PRIMARY KEY, id text UNIQUE NOT NULL, \(rest)"
        ),
        ("(id INTEGER NOT NULL UNIQUE, \(rest)", "(id numeric NOT NULL UNIQUE, \(rest)"),
      ]
      creation = creations.randomElement(using: &random)!
      sweep = [.hard, .hard, .soft(column: "gone"), .none].randomElement(using: &random)!
      hasScope = creation != nil && sweep != .none && Int.random(in: 0..<3, using: &random) == 0
      if sweep == .none, Bool.random(using: &random) { atomicity = .bounded }
    }
  }

  /// One of the two databases.
  private struct Store {
    var database: String
    var run: (String) throws -> [String]
    /// By the text of each delivery that was refused.
    var digests: [String: String] = [:]

    /// What the feed's table holds, and somebody else's rows; nil without a table.
    func rows(_ kind: Kind) -> [String]? {
      let mark = kind.hasMark ? "CASE WHEN gone IS NULL THEN 0 ELSE 1 END" : "0"
      return try? run("SELECT id, v, part, \(mark) AS is_gone FROM feed").map { $0.replacing("'", with: "") }.sorted()
    }
  }

  private let scratch = Scratch()
  private let server: PostgresServer

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
  }

  /// Some in each run, the first ones from `UPSURGE_SEED`; all 3,000 with `UPSURGE_SEEDS=all`.
  static let seeds: [UInt64] = {
    let count = UInt64(SeededGenerator.some(10, most: 3_000))
    let first = count == 3_000 ? 0 : SeededGenerator.givenSeed.map { $0 % 2_900 } ?? UInt64.random(in: 0..<2_900)
    return Array(first..<first + count)
  }()

  @Test("Each night is the same on SQLite and on a server", arguments: Self.seeds)
  func nights(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let kind = Kind(&random)
    var stores = try makeStores(kind)
    var deliveries: [String] = []
    var guards = MirrorGuards()
    for night in 0..<Int.random(in: 5...9, using: &random) {
      let words = "seed \(seed), night \(night), \(kind)"
      if night > 0 { try edit(stores, kind, night, &random) }
      if night == 0 || Int.random(in: 0..<3, using: &random) == 0 { guards = Self.guards(&random) }
      let text = pick(&deliveries, kind, &random)
      let feed = scratch.write(text, to: "feed.csv")
      let (accepts, isTrial) = (Int.random(in: 0..<4, using: &random) == 0, Int.random(in: 0..<8, using: &random) == 0)
      var results: [[String]] = []
      for index in stores.indices {
        var job = job(kind, guards, stores[index].database, feed)
        job.acceptedDelivery = accepts ? stores[index].digests[text] : nil
        job.dryRun = isTrial ? .count : nil
        // The server skips what it knows, and the other one compares everything.
        if index == 1 { job.tables[0].options.tuning.chunkSizes = Self.smallChunks }
        let summary = job.run()
        if summary.exitCode == 0, !isTrial, !summary.tables[0].loads.isEmpty { stores[index].digests = [:] }
        stores[index].digests[text] = summary.tables[0].loads.last?.acceptance.refusedDigest ?? stores[index].digests[text]
        results.append([Self.words(summary)] + (stores[index].rows(kind) ?? ["no table"]))
      }
      #expect(results[0] == results[1], "\(words)\n\(text)")
      if results[0] != results[1] { return }
    }
  }

  private static let smallChunks: SnapshotChunk.Sizes = {
    var sizes = SnapshotChunk.Sizes()
    (sizes.usual, sizes.least) = (64, 64)
    return sizes
  }()

  /// What both stores must say of a run: not the time of a refusal, nor how a store says what it refuses.
  private static func words(_ summary: MirrorSummary) -> String {
    let table = summary.tables.first
    var words = "exit \(summary.exitCode), \(table?.loads.count ?? 0) loads"
    if table?.unchangedSince != nil { words += ", unchanged" }
    for (word, count) in summary.ledger.entries where count > 0 { words += ", \(count) \(word)" }
    if let load = table?.loads.last {
      words += load.acceptance.isByDigest ? ", by digest" : ""
      if let refusal = load.guardRefusal, !refusal.message.contains("refused at") { words += ", \(refusal.message)" }
    }
    return words
  }

  private func makeStores(_ kind: Kind) throws -> [Store] {
    let path = scratch.file("a.db")
    let url = try server.freshDatabase()
    if let creation = kind.creation {
      try Database(path).rows("CREATE TABLE feed \(creation.sqlite)")
      var sql = "CREATE TABLE feed \(creation.server)"
      if sql.contains("PARTITION") {
        sql += (0..<2).map { "; CREATE TABLE feed_\($0) PARTITION OF feed FOR VALUES WITH (MODULUS 2, REMAINDER \($0))" }.joined()
      }
      try server.psql(sql, in: url)
    }
    let server = server
    return [
      Store(database: path, run: { try Database(path).rows($0) }), Store(database: url, run: { try server.rows($0, in: url) }),
    ]
  }

  private func job(_ kind: Kind, _ guards: MirrorGuards, _ database: String, _ feed: String) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [feed])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.options.transaction.commitEvery = .records(3)
    table.sweep = kind.sweep
    table.guards = guards
    if kind.hasScope { table.scope = "part = 1" }
    var job = MirrorJob(database: database, tables: [table])
    job.atomicity = kind.atomicity
    return job
  }

  private static func guards(_ random: inout SeededGenerator) -> MirrorGuards {
    var guards = MirrorGuards()
    guards.maximumDeletes =
      Bool.random(using: &random)
      ? .percent([0, 10, 25, 50, 100].randomElement(using: &random)!) : .count([0, 1, 3].randomElement(using: &random)!)
    guards.leastRatio = [0, 0.3, 0.5].randomElement(using: &random)!
    guards.leastRows = [1, 1, 3].randomElement(using: &random)!
    guards.allowsEmpty = Int.random(in: 0..<4, using: &random) == 0
    return guards
  }

  /// A delivery: a new one, or one that was there before.
  private func pick(_ deliveries: inout [String], _ kind: Kind, _ random: inout SeededGenerator) -> String {
    if !deliveries.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
      return Bool.random(using: &random) ? deliveries.last! : deliveries.randomElement(using: &random)!
    }
    let letter = ["a", "a", "b"].randomElement(using: &random)!
    var lines: [String] = []
    for id in 1...Int.random(in: 8...20, using: &random) where Int.random(in: 0..<8, using: &random) > 0 {
      lines.append("\(id),\(letter)\(id),1")
    }
    if Int.random(in: 0..<4, using: &random) == 0 { lines.shuffle(using: &random) }
    // A key that comes twice, a row that the table refuses, one without a key, one that is another feed's.
    if Int.random(in: 0..<5, using: &random) == 0 { lines.append("2,twice,1") }
    if Int.random(in: 0..<5, using: &random) == 0, kind.creation != nil { lines.append("3,much too long,1") }
    if Int.random(in: 0..<8, using: &random) == 0 { lines.append(",nobody,1") }
    if Int.random(in: 0..<10, using: &random) == 0 { lines.append("50,other,2") }
    // A table that is made of nothing has columns of no type.
    if Int.random(in: 0..<12, using: &random) == 0, !deliveries.isEmpty { lines = [] }
    let text = "id,v,part\n" + lines.map { $0 + "\n" }.joined()
    deliveries.append(text)
    return text
  }

  /// What somebody else does to both tables between two nights.
  private func edit(_ stores: [Store], _ kind: Kind, _ night: Int, _ random: inout SeededGenerator) throws {
    guard Int.random(in: 0..<4, using: &random) == 0, stores.allSatisfy({ $0.rows(kind) != nil }) else { return }
    let id = Int.random(in: 1...20, using: &random)
    let sql = [
      "INSERT INTO feed (id, v, part) VALUES ('\(100 + night)', 'own', 1)", "DELETE FROM feed WHERE id = '\(id)'",
      "UPDATE feed SET v = 'edited' WHERE id = '\(id)'", "INSERT INTO feed (id, v, part) VALUES ('\(200 + night)', 'theirs', 2)",
    ].randomElement(using: &random)!
    try Database(stores[0].database).rows(sql)
    try server.psql(sql, in: stores[1].database)
  }
}
