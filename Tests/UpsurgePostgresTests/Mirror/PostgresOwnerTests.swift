import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// Feeds with names in one table of a server: what each may take away, and what is noted of its rows, is what SQLite says.
@Suite(
  "Owned rows on both stores",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresOwnerTests {
  private let scratch = Scratch()
  private let server: PostgresServer
  private let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  private var databases: [String] { [scratch.file("a.db"), url] }

  private func rows(_ sql: String, in database: String) throws -> [String] {
    try database == url ? server.rows(sql, in: url) : Database(database).rows(sql)
  }

  private func write(_ sql: String, in database: String) throws {
    _ = try database == url ? [server.psql(sql, in: url)] : Database(database).rows(sql)
  }

  private func job(
    _ database: String, _ source: String, owner: String?, sweep: RowSweep = .hard, key: [String] = ["id"]
  ) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file(source)])
    table.options.rules.key = key
    table.options.rejects.onError = .reject
    (table.sweep, table.ownedBy) = (sweep, owner)
    table.guards.maximumDeletes = .percent(100)
    return MirrorJob(database: database, tables: [table])
  }

  private func message(_ summary: MirrorSummary) -> String {
    (summary.error ?? summary.tables.first?.failure ?? summary.tables.first?.loads.last?.guardRefusal)?
      .message ?? ""
  }

  // MARK: - Nights

  /// A table in both, and how a number is spelled as its key.
  private struct Kind: CustomStringConvertible {
    var creation: (sqlite: String, server: String)?
    var key = ["id"]
    var spell: (Int) -> String = { "\($0)" }
    var sweep = RowSweep.hard
    var hasScope = false
    /// The names of its feeds; nil for one that has none, whose rows are noted all the same.
    var owners: [String?] = ["crm", "erp"]
    var isDelta = false
    var localEdits: LocalEdits?

    init(_ random: inout SeededGenerator) {
      let rest = "v integer CHECK (v <> 13), part integer, gone text"
      switch Int.random(in: 0..<4, using: &random) {
      case 0: break
      case 1: creation = ("(id INTEGER PRIMARY KEY, \(rest))", "(id bigint PRIMARY KEY, \(rest))")
      case 2:
        creation = (
          "(id TEXT PRIMARY KEY, \(rest))", "(id varchar(9) PRIMARY KEY, \(rest)) PARTITION BY HASH (id)"
        )
        spell = { "k\($0)" }
      default:
        creation = (
          "(n INTEGER PRIMARY KEY, id INTEGER NOT NULL, part INTEGER NOT NULL, v integer CHECK (v <> 13), gone text, UNIQUE (id, part))",
          "(n bigserial PRIMARY KEY, id bigint NOT NULL, part bigint NOT NULL, v integer CHECK (v <> 13), gone text, UNIQUE (id, part))"
        )
        key = ["id", "part"]
      }
      if creation != nil, Bool.random(using: &random) { sweep = .soft(column: "gone") }
      if Bool.random(using: &random) {
        owners = [nil]
        isDelta = Int.random(in: 0..<3, using: &random) == 0
        if isDelta || Bool.random(using: &random) { sweep = .none }
      }
      if Int.random(in: 0..<2, using: &random) == 0 {
        localEdits = isDelta || Bool.random(using: &random) ? .keep : .repair
      }
      let mayHaveScope = sweep != .none && creation != nil && key.count == 1
      hasScope = mayHaveScope && Int.random(in: 0..<3, using: &random) == 0
    }

    var description: String {
      "\(creation?.server ?? "a new table"), \(sweep), scope \(hasScope), owners \(owners), delta \(isDelta), edits \(localEdits?.rawValue ?? "none")"
    }
  }

  static let seeds = SeededGenerator.some(of: 400 as UInt64)

  @Test(
    "Rows, ledgers and notes are the same after each night, with names of feeds and without",
    arguments: Self.seeds)
  func nights(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let kind = Kind(&random)
    if let creation = kind.creation {
      try Database(databases[0]).rows("CREATE TABLE feed \(creation.sqlite)")
      let isPartitioned = creation.server.contains("PARTITION")
      try server.psql(
        "CREATE TABLE feed \(creation.server)"
          + (isPartitioned
            ? "; CREATE TABLE feed_0 PARTITION OF feed FOR VALUES WITH (MODULUS 1, REMAINDER 0)" : ""),
        in: url)
    }
    for night in 0..<8 {
      let owner = kind.owners.randomElement(using: &random)!
      // A file of a delta is taken once.
      let file = kind.isDelta ? "delta\(night).csv" : "\(owner ?? "feed").csv"
      let lines = (1...12).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }.map { id in
        "\(kind.spell(id)),\(Int.random(in: 0..<8, using: &random) == 0 && kind.creation != nil ? 13 : Int.random(in: 0..<3, using: &random)),1\n"
      }
      let again = Int.random(in: 0..<4, using: &random) == 0 ? lines.first ?? "" : ""
      _ = scratch.write("id,v,part\n" + lines.joined() + again, to: file)
      let most = [0, 1, 3, 100].randomElement(using: &random)!
      let isTrial = Int.random(in: 0..<8, using: &random) == 0
      try edit(kind, night, &random)
      var results: [[String]] = []
      for database in databases {
        var job = job(
          database, kind.isDelta ? "delta*.csv" : file, owner: owner, sweep: kind.sweep, key: kind.key)
        if owner == nil { job.tables[0].keepsRowState = true }
        if kind.isDelta { job.tables[0].kind = .delta }
        job.tables[0].localEdits = kind.localEdits
        job.tables[0].guards.maximumDeletes = .count(UInt64(most))
        if kind.hasScope { job.tables[0].scope = "part = 1" }
        job.dryRun = isTrial ? .count : nil
        results.append(try outcome(of: job.run(), in: database, kind))
      }
      #expect(results[0] == results[1], "seed \(seed), night \(night), \(owner ?? "no name"), \(kind)")
      if results[0] != results[1] { return }
    }
  }

  /// What somebody else does to both tables.
  private func edit(_ kind: Kind, _ night: Int, _ random: inout SeededGenerator) throws {
    guard night > 1, Int.random(in: 0..<3, using: &random) == 0 else { return }
    let id = kind.spell(Int.random(in: 1...12, using: &random))
    let sql = [
      "DELETE FROM feed WHERE id = '\(id)'", "UPDATE feed SET v = 7 WHERE id = '\(id)'",
      "INSERT INTO feed (id, v, part) SELECT '\(id)', 5, 1 WHERE NOT EXISTS (SELECT 1 FROM feed WHERE id = '\(id)')",
    ].randomElement(using: &random)!
    for database in databases { try write(sql, in: database) }
  }

  private func outcome(of summary: MirrorSummary, in database: String, _ kind: Kind) throws -> [String] {
    let table =
      "SELECT id, v, part, \(kind.creation == nil ? "0" : "CASE WHEN gone IS NULL THEN 0 ELSE 1 END") AS g FROM feed"
    // Texts of a key are literals in one, and an array in the other.
    let notes =
      "SELECT owned_by, key, gone, stored, source, coalesce(edit, 'none') AS edit FROM upsurge_rows WHERE \"table\" = 'feed'"
    let refusal = summary.tables.first?.loads.last?.guardRefusal?.message ?? ""
    let edits = summary.tables.first?.localEdits ?? LocalEditCounts()
    return [
      "exit \(summary.exitCode) \(summary.ledger) \(edits) \(refusal.contains("refused at") ? "refused" : refusal)"
    ]
      + ((try? rows(table, in: database)) ?? []).sorted()
      + ((try? rows(notes, in: database)) ?? []).map { $0.filter { !"'\"[] ".contains($0) } }.sorted()
  }

  // MARK: - One by one

  @Test("A row of two feeds stays until neither has it")
  func shared() throws {
    for database in databases {
      _ = scratch.write("id,v\n1,1\n2,1\n", to: "crm.csv")
      _ = scratch.write("id,v\n2,1\n3,1\n", to: "erp.csv")
      for name in ["crm", "erp"] {
        let summary = job(database, "\(name).csv", owner: name).run()
        #expect(summary.exitCode == 0, "\(message(summary))")
      }
      _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
      #expect(job(database, "crm.csv", owner: "crm").run().ledger.swept == 0)
      _ = scratch.write("id,v\n3,1\n", to: "erp.csv")
      #expect(job(database, "erp.csv", owner: "erp").run().ledger.swept == 1)
      #expect(try rows("SELECT id FROM feed ORDER BY id", in: database) == ["1", "3"])
    }
  }

  @Test("A sweep without a name, and another key, are refused in the words of SQLite")
  func refused() throws {
    var said: [[String]] = []
    for database in databases {
      _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
      #expect(job(database, "crm.csv", owner: "crm").run().exitCode == 0)
      try write("CREATE UNIQUE INDEX v ON feed(v)", in: database)
      _ = scratch.write("id,v\n9,9\n", to: "erp.csv")
      let jobs = [job(database, "erp.csv", owner: nil), job(database, "erp.csv", owner: "erp", key: ["v"])]
      said.append(
        jobs.map { job in
          let summary = job.run()
          return "\(summary.exitCode) \(message(summary))"
        })
      #expect(try rows("SELECT id FROM feed ORDER BY id", in: database) == ["1", "2"])
    }
    #expect(said[0] == said[1] && said[0].allSatisfy { $0.hasPrefix("4 ") }, "\(said)")
  }

  @Test("--forget takes the rows that were delivered, and says how many others stay")
  func forget() throws {
    var counts: [[UInt64]] = []
    for database in databases {
      _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
      #expect(job(database, "crm.csv", owner: "crm").run().exitCode == 0)
      try write("INSERT INTO feed VALUES (8, 0), (9, 0)", in: database)
      let removal = try FeedRemoval(database: database, table: "feed")
      #expect(removal.owners == ["crm"] && removal.isByNotes)
      let removed = try removal.perform()
      counts.append([removal.rowCount, removal.keptCount, removed.rowCount, removed.keptCount])
      #expect(try rows("SELECT id FROM feed ORDER BY id", in: database) == ["8", "9"])
    }
    #expect(counts[0] == counts[1] && counts[1] == [2, 2, 2, 2], "\(counts)")
    #expect(try server.rows("SELECT count(*) AS n FROM upsurge_rows", in: url) == ["0"])
  }

  @Test("A row that was edited or deleted is brought back, also by the delivery that is the last one")
  func repaired() throws {
    for database in databases {
      _ = scratch.write("id,v\n1,1\n2,2\n3,3\n", to: "crm.csv")
      var job = job(database, "crm.csv", owner: nil)
      job.tables[0].localEdits = .repair
      #expect(job.run().exitCode == 0)
      #expect(job.run().tables[0].loads.isEmpty, "nobody has edited anything")
      try write("UPDATE feed SET v = 9 WHERE id = 1", in: database)
      try write("DELETE FROM feed WHERE id = 2", in: database)
      let summary = job.run()
      #expect(summary.exitCode == 0 && summary.tables[0].localEdits.repaired == 2, "\(message(summary))")
      #expect(try rows("SELECT id, v FROM feed ORDER BY id", in: database) == ["1|1", "2|2", "3|3"])
      #expect(job.run().tables[0].loads.isEmpty)
      // Without the option what is known goes, so that what the feed writes then is no edit later.
      job.tables[0].localEdits = nil
      _ = scratch.write("id,v\n1,1\n2,2\n3,4\n", to: "crm.csv")
      #expect(job.run().exitCode == 0)
      #expect(
        try rows("SELECT count(*) AS n FROM upsurge_rows WHERE content IS NOT NULL", in: database) == ["0"])
    }
  }

  @Test("A row that was edited or deleted stays so, and a delta that deletes it is passed over or obeyed")
  func kept() throws {
    for database in databases {
      try? FileManager.default.removeItem(atPath: scratch.file("b.csv"))
      _ = scratch.write("id,v,op\n1,1,U\n2,2,U\n3,3,U\n4,4,U\n", to: "a.csv")
      var job = job(database, "*.csv", owner: nil, sweep: .none)
      (job.tables[0].localEdits, job.tables[0].kind) = (.keep, .delta)
      job.tables[0].options.rules.tombstone = Tombstone(column: "op", value: "D")
      #expect(job.run().exitCode == 0)
      try write("UPDATE feed SET v = 9 WHERE id IN (1, 2)", in: database)
      try write("DELETE FROM feed WHERE id IN (3, 4)", in: database)
      // The feed says that 4 is gone, and then brings it again.
      _ = scratch.write("id,v,op\n1,5,U\n2,5,D\n3,5,U\n4,5,D\n4,6,U\n", to: "b.csv")
      let summary = job.run()
      #expect(
        summary.exitCode == 0 && summary.tables[0].localEdits.kept == 3,
        "\(message(summary)) \(summary.ledger)")
      #expect(summary.ledger.ignored == 4 && summary.ledger.inserted == 1, "\(summary.ledger)")
      #expect(try rows("SELECT id, v FROM feed ORDER BY id", in: database) == ["1|9", "2|9", "4|6"])
    }
  }

  @Test("A row that was edited stays so, however a record spells its key")
  func keptSpellings() throws {
    try server.psql("CREATE TABLE feed (id date PRIMARY KEY, v int)", in: url)
    _ = scratch.write("id,v\n2024-02-28,1\n2024-02-29,2\n2024-03-01,3\n", to: "crm.csv")
    var job = job(url, "crm.csv", owner: nil)
    job.tables[0].localEdits = .keep
    #expect(job.run().exitCode == 0)
    try write(
      "UPDATE feed SET v = 9 WHERE id = '2024-02-29'; DELETE FROM feed WHERE id = '2024-03-01'", in: url)
    // What day that is only the server knows.
    _ = scratch.write("id,v\n2024-02-28,4\nFeb 29 2024,5\nMar 1 2024,6\n", to: "crm.csv")
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.tables[0].localEdits.kept == 2, "\(message(summary))")
    #expect(try rows("SELECT v FROM feed ORDER BY id", in: url) == ["4", "9"])
  }

  @Test("An edit that is committed while a delivery begins is kept")
  func keptMeanwhile() throws {
    try server.psql("CREATE TABLE feed (id bigint PRIMARY KEY, v int)", in: url)
    _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
    var job = job(url, "crm.csv", owner: nil)
    job.tables[0].localEdits = .keep
    #expect(job.run().exitCode == 0)
    _ = scratch.write("id,v\n1,5\n2,6\n", to: "crm.csv")
    let summary = try Server.writing("UPDATE feed SET v = 9 WHERE id = 1", in: url) { job.run() }
    #expect(summary.exitCode == 0 && summary.tables[0].localEdits.kept == 1, "\(message(summary))")
    #expect(try rows("SELECT v FROM feed ORDER BY id", in: url) == ["9", "6"])
  }

  @Test("Edits are kept and counted, whichever COMMIT has lost its answer")
  func keptLostCommit() throws {
    let database = try ProxiedDatabase()
    var job = job(database.proxy.url(database: database.direct.database), "crm.csv", owner: "crm")
    job.tables[0].localEdits = .keep
    job.tables[0].options.tuning.connectSeconds = []
    var (number, deliveredCount) = (0, 0)
    repeat {
      number += 1
      database.proxy.set([])
      try database.settle()
      try database.direct.run(
        "DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE feed (id bigint PRIMARY KEY, v int)")
      _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
      #expect(job.run().exitCode == 0)
      try database.direct.run("UPDATE feed SET v = 9 WHERE id = 1")
      _ = scratch.write("id,v\n1,5\n2,6\n", to: "crm.csv")
      database.proxy.set([.cut(.beforeAnswer, .commit, at: number)])
      var summary = job.run()
      for _ in 0..<10 where summary.exitCode != 0 {
        try database.settle()
        summary = job.run()
      }
      #expect(summary.exitCode == 0, "COMMIT \(number): \(message(summary))")
      let hasDelivered = summary.tables.first?.loads.isEmpty == false
      if hasDelivered { deliveredCount += 1 }
      #expect(!hasDelivered || summary.tables[0].localEdits.kept == 1, "COMMIT \(number)")
      #expect(try database.direct.texts("SELECT v FROM feed ORDER BY id") == [["9"], ["6"]])
    } while number < 20 && database.proxy.events.contains(where: \.isCut)
    #expect(deliveredCount > 0 && number > 1)
  }

  @Test("Edits of a table that the job has made are kept")
  func keptNewTable() throws {
    for database in databases {
      _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
      var job = job(database, "crm.csv", owner: nil)
      job.tables[0].localEdits = .keep
      #expect(job.run().exitCode == 0)
      try write("UPDATE feed SET v = 9 WHERE id = 1", in: database)
      _ = scratch.write("id,v\n1,5\n2,6\n", to: "crm.csv")
      let summary = job.run()
      #expect(summary.exitCode == 0 && summary.tables[0].localEdits.kept == 1, "\(message(summary))")
      #expect(try rows("SELECT id, v FROM feed ORDER BY id", in: database) == ["1|9", "2|6"])
    }
  }

  @Test("A first delivery without records makes the table, and notes no row")
  func emptyFirst() throws {
    _ = scratch.write("id,v\n", to: "crm.csv")
    var job = job(url, "crm.csv", owner: "crm")
    job.tables[0].guards.allowsEmpty = true
    job.tables[0].options.table.types = ["id": "INTEGER", "v": "INTEGER"]
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(message(summary))")
    #expect(
      try rows("SELECT (SELECT count(*) FROM feed) + (SELECT count(*) FROM upsurge_rows) AS n", in: url) == [
        "0"
      ])
    _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
    #expect(job.run().exitCode == 0)
    #expect(try rows("SELECT owned_by FROM upsurge_rows", in: url) == ["'crm'"])
  }

  @Test("Foreign keys that act on kept rows are refused, and so is a column that has gone")
  func keptRefusals() throws {
    try server.psql(
      """
      CREATE TABLE parent (id bigint PRIMARY KEY); INSERT INTO parent VALUES (1);
      CREATE TABLE feed (id bigint PRIMARY KEY, v int, up bigint REFERENCES parent ON DELETE CASCADE)
      """, in: url)
    _ = scratch.write("id,v\n1,1\n2,2\n", to: "crm.csv")
    var job = job(url, "crm.csv", owner: nil)
    job.tables[0].localEdits = .keep
    let acting = job.run()
    #expect(
      acting.exitCode == 4 && message(acting).contains("may delete or change them"), "\(message(acting))")
    try server.psql("ALTER TABLE feed DROP COLUMN up", in: url)
    #expect(job.run().exitCode == 0)
    try server.psql("ALTER TABLE feed DROP COLUMN v", in: url)
    _ = scratch.write("id\n1\n3\n", to: "crm.csv")
    job.acceptsChanges = true
    let lacking = job.run()
    #expect(
      lacking.exitCode == 4 && message(lacking).contains("has no column v any more"), "\(message(lacking))")
  }

  @Test("What nobody would know is refused by name, and nothing is stored")
  func unknown() throws {
    try server.psql(
      """
      CREATE TABLE feed (id bigint PRIMARY KEY, v int); CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'
      """, in: url)
    _ = scratch.write("id,v\n1,1\n", to: "crm.csv")
    var newer = job(url, "crm.csv", owner: "crm")
    newer.tables[0].options.rules.merge.newer = Merge.Newer(column: "v")
    let lost = newer.run()
    #expect(
      lost.exitCode == 64 && message(lost).contains("nobody knows which records have lost"),
      "\(message(lost))")
    try server.psql("CREATE TRIGGER same BEFORE INSERT ON feed FOR EACH ROW EXECUTE FUNCTION same()", in: url)
    let triggered = job(url, "crm.csv", owner: "crm").run()
    #expect(
      triggered.exitCode == 64 && message(triggered).contains("the trigger same"), "\(message(triggered))")
    try server.psql("DROP TABLE feed", in: url)
    var several = job(url, "crm.csv", owner: "crm")
    several.tables[0].sources.append(Source(file: scratch.write("id,v\n2,1\n", to: "more.csv")))
    let new = several.run()
    #expect(new.exitCode == 64 && message(new).contains("of which source"), "\(message(new))")
    #expect(try server.rows("SELECT to_regclass('feed') IS NULL AS n", in: url) == ["true"])
  }

  @Test("Notes say which of several files has delivered a row last")
  func sources() throws {
    try server.psql("CREATE TABLE feed (id bigint PRIMARY KEY, v int)", in: url)
    try Database(databases[0]).rows("CREATE TABLE feed (id INTEGER PRIMARY KEY, v INT)")
    _ = scratch.write("id,v\n1,1\n2,2\n", to: "a.csv")
    let second = scratch.write("id,v\n2,3\n3,3\n", to: "b.csv")
    var found: [[String]] = []
    for database in databases {
      var job = job(database, "a.csv", owner: "crm")
      job.tables[0].sources.append(Source(file: second))
      #expect(job.run().exitCode == 0)
      found.append(
        try rows("SELECT key, source FROM upsurge_rows", in: database).map { $0.replacing("'", with: "") }
          .sorted())
    }
    #expect(found[0] == found[1] && found[0].count == 3, "\(found)")
  }
}
