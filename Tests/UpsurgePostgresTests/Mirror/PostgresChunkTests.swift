import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// Nights on a server that read only what has changed, and all of it where somebody else has written to the table.
@Suite(
  "Mirrors in PostgreSQL that skip what they know",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresChunkTests {
  private let scratch = Scratch()
  private let server: PostgresServer
  private let url: String

  /// Transactions of other tests would be those of others.
  private static let own = Result { try PostgresServer.alone() }

  init() throws {
    PostgresStores.register()
    server = try Self.own.get()
    url = try server.freshDatabase()
  }

  // MARK: - Feeds

  private func job(
    _ database: String? = nil, verifies: Bool = false, _ change: (inout MirrorTable) -> Void = { _ in }
  ) -> MirrorJob {
    var table = MirrorTable(name: "feed", sources: [scratch.file("feed.csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    table.guards.maximumDeletes = .percent(60)
    (table.options.tuning.chunkSizes.usual, table.options.tuning.chunkSizes.least) = (1_000, 100)
    change(&table)
    var job = MirrorJob(database: database ?? url, tables: [table])
    job.verifiesAll = verifies
    return job
  }

  private static func text(_ rows: [Int: String] = [:], leavingOut gone: Set<Int> = [], more: String = "")
    -> String
  {
    "id,part,v\n"
      + (0..<2_000).filter { !gone.contains($0) }.map { "\($0),\($0 % 2),\(rows[$0] ?? "value \($0)")\n" }
      .joined() + more
  }

  private func deliver(_ rows: [Int: String] = [:], leavingOut gone: Set<Int> = [], more: String = "") {
    _ = scratch.write(Self.text(rows, leavingOut: gone, more: more), to: "feed.csv")
  }

  private static func skipped(_ summary: MirrorSummary) -> UInt64 {
    summary.tables[0].loads.last?.metrics.settings.first { $0.name == "skipped_records" }?.value ?? 0
  }

  private static func words(_ summary: MirrorSummary) -> String {
    "exit \(summary.exitCode), \(summary.ledger), \((summary.error ?? summary.tables.first?.failure)?.description ?? "no failure")"
  }

  private func rows(_ sql: String, in database: String? = nil) throws -> [String] {
    try server.rows(sql, in: database ?? url)
  }

  /// What the table must hold: the fields of the delivery.
  private func expectFeed(
    _ words: String, in database: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let text = try String(contentsOfFile: scratch.file("feed.csv"), encoding: .utf8)
    let expected = text.split(separator: "\n").dropFirst().map(String.init).sorted()
    let found = try rows("SELECT id || ',' || part || ',' || v AS line FROM feed", in: database)
      .map { String($0.dropFirst().dropLast()) }.sorted()
    #expect(found == expected, "\(words)", sourceLocation: sourceLocation)
  }

  // MARK: - What is skipped

  @Test(
    "A night with few changes reads little, writes the changed rows alone, and sweeps what is gone",
    arguments: [
      "", "id bigint PRIMARY KEY, part int, v text", "id text PRIMARY KEY, part int, v text",
      "id numeric PRIMARY KEY, part int, v text",
      "id int, part int, v text, PRIMARY KEY (part, id)",
      "id varchar(9) PRIMARY KEY, part int, v text) PARTITION BY HASH (id",
      "number bigserial PRIMARY KEY, id text COLLATE \"C\" UNIQUE NOT NULL, part int, v text",
    ])
  func few(columns: String) throws {
    if !columns.isEmpty {
      try server.psql("CREATE TABLE feed (\(columns))", in: url)
      if columns.contains("PARTITION") {
        try server.psql(
          "CREATE TABLE feed_0 PARTITION OF feed FOR VALUES WITH (MODULUS 1, REMAINDER 0)", in: url)
      }
    }
    let job = job { if columns.contains("(part, id)") { $0.options.rules.key = ["part", "id"] } }
    deliver()
    let first = job.run()
    #expect(first.ledger.inserted == 2_000 && first.exitCode == 0, "\(Self.words(first))")
    let places =
      "SELECT id, xmin::text AS writer FROM feed WHERE id::text NOT IN ('500', '1500', '5000', '77', '78') ORDER BY id::text"
    let before = try rows(places)
    deliver([500: "new", 1_500: "new"], leavingOut: [77, 78], more: "5000,1,more\n")
    let second = job.run()
    var expected = Ledger()
    (expected.read, expected.inserted, expected.updated, expected.unchanged, expected.swept) = (
      1_999, 1, 2, 1_996, 2
    )
    #expect(second.ledger == expected && second.exitCode == 0, "\(Self.words(second))")
    #expect(Self.skipped(second) > 1_500, "\(Self.skipped(second))")
    #expect(try rows(places) == before, "rows that are the same are not written")
    try expectFeed("second")
    // And once more, from what is remembered now.
    deliver([500: "newer", 1_500: "new"], leavingOut: [77, 78], more: "5000,1,more\n")
    let third = job.run()
    #expect(
      third.ledger.updated == 1 && third.ledger.unchanged == 1_998 && Self.skipped(third) > 1_800,
      "\(Self.words(third))")
    try expectFeed("third")
    // What goes, and what comes between, moves the chunks after it.
    deliver([500: "newer", 1_500: "new"], leavingOut: Set(40..<200), more: "5000,1,more\n6000,0,last\n")
    let fourth = job.run()
    #expect(
      fourth.ledger.swept == 158 && fourth.ledger.inserted == 1 && Self.skipped(fourth) > 1_500,
      "\(Self.words(fourth))")
    try expectFeed("fourth")
  }

  @Test("Soft sweeps and scopes", arguments: [RowSweep.soft(column: "gone"), .hard])
  func softAndScope(sweep: RowSweep) throws {
    try server.psql(
      "CREATE TABLE feed (id bigint PRIMARY KEY, part int, v text, gone timestamptz); INSERT INTO feed VALUES (9000, 9, 'theirs')",
      in: url)
    let job = job { ($0.sweep, $0.scope) = (sweep, "part < 2 -- ours") }
    deliver()
    #expect(job.run().exitCode == 0)
    // Rows outside of the scope are anybody's.
    try server.psql("UPDATE feed SET v = 'still theirs' WHERE id = 9000", in: url)
    deliver([3: "new"], leavingOut: [7])
    let second = job.run()
    #expect(
      second.ledger.swept == 1 && second.ledger.updated == 1 && Self.skipped(second) > 1_500,
      "\(Self.words(second))")
    // The row that was gone comes back.
    deliver([3: "new"])
    let third = job.run()
    let came = sweep == .hard ? third.ledger.inserted : third.ledger.updated
    #expect(third.exitCode == 0 && came == 1 && Self.skipped(third) > 1_500, "\(Self.words(third))")
    #expect(try rows("SELECT count(*) AS n FROM feed WHERE gone IS NULL") == ["2001"])
    // A record about a row outside of the scope stores nothing.
    deliver([3: "newest"], more: "9000,1,mine\n")
    let stray = job.run()
    #expect(stray.exitCode == 4, "\(Self.words(stray))")
    #expect(try rows("SELECT v FROM feed WHERE id IN (3, 9000) ORDER BY id") == ["'new'", "'still theirs'"])
  }

  @Test("What is known goes with --forget, and where rights are missing all is compared")
  func forgetAndRights() throws {
    deliver()
    #expect(job().run().exitCode == 0)
    #expect(try rows("SELECT count(*) > 10 AS many FROM upsurge_chunks") == ["true"])
    try FeedRemoval(database: url, table: "feed").perform()
    #expect(try rows("SELECT count(*) AS n FROM upsurge_chunks") == ["0"])
    let role = "few_\(UInt32.random(in: 0 ..< .max))"
    try server.psql(
      """
      CREATE ROLE \(role) LOGIN; DROP TABLE upsurge_chunks; REVOKE CREATE ON SCHEMA public FROM public;
      GRANT ALL ON ALL TABLES IN SCHEMA public TO \(role); GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO \(role)
      """, in: url)
    let name = try #require(try rows("SELECT current_database() AS name").first?.dropFirst().dropLast())
    let poor = job(server.socketURL(database: String(name), user: role))
    #expect(poor.run().exitCode == 0)
    deliver([1: "new"])
    let notes = Guarded<[String]>([])
    let second = poor.run(note: { note in notes.withLock { $0.append(note.text) } })
    #expect(
      second.exitCode == 0 && second.ledger.updated == 1 && Self.skipped(second) == 0, "\(Self.words(second))"
    )
    #expect(notes.withLock { $0 }.contains { $0.contains("upsurge_chunks cannot be made or written") })
  }

  // MARK: - What is not

  /// Another table of its name, which lacks some rows.
  private static let madeAnew = """
    CREATE TABLE copy (LIKE feed INCLUDING ALL); INSERT INTO copy SELECT * FROM feed WHERE id > 3;
    DROP TABLE feed; ALTER TABLE copy RENAME TO feed
    """

  @Test(
    "Where anything has written to the table since, all is compared",
    arguments: [
      "UPDATE feed SET v = 'edited' WHERE id = 3", "DELETE FROM feed WHERE id = 3",
      "INSERT INTO feed (id, part, v) VALUES (-1, 0, 'own')",
      "DELETE FROM feed WHERE id = 3; INSERT INTO feed (id, part, v) VALUES (-1, 0, 'own')",
      "UPDATE feed SET v = v WHERE id = 1500",
      "BEGIN; CREATE TABLE kept AS TABLE feed; TRUNCATE feed; INSERT INTO feed SELECT * FROM kept WHERE id <> 3; COMMIT",
      Self.madeAnew,
      "ALTER TABLE feed DROP COLUMN v; ALTER TABLE feed ADD COLUMN v text", "TRUNCATE feed",
      "DROP TABLE feed",
      "DELETE FROM upsurge_chunks WHERE place = 0 OR head < 0",
      "UPDATE upsurge_chunks SET records = 1 WHERE place > 0",
    ])
  func others(sql: String) throws {
    let job = job()
    deliver()
    #expect(job.run().exitCode == 0)
    deliver([1_000: "first"])
    #expect(Self.skipped(job.run()) > 1_500, "what is known is used")
    try server.psql(sql, in: url)
    deliver([1_000: "second"])
    let summary = job.run()
    #expect(summary.exitCode == 0 && Self.skipped(summary) == 0, "\(sql): \(Self.words(summary))")
    try expectFeed(sql)
    // It is known again.
    deliver([1_000: "third"])
    let next = job.run()
    #expect(next.ledger.updated == 1 && Self.skipped(next) > 1_500, "\(sql): \(Self.words(next))")
    try expectFeed(sql)
  }

  @Test(
    "A table that was made anew with the same rows is not taken for the one that the same file was delivered into"
  )
  func sameFile() throws {
    deliver()
    #expect(job().run().exitCode == 0)
    #expect(job().run().tables[0].unchangedSince != nil)
    try server.psql(Self.madeAnew, in: url)
    let summary = job().run()
    #expect(summary.tables[0].unchangedSince == nil && summary.ledger.inserted == 4, "\(Self.words(summary))")
    try expectFeed("made anew")
  }

  @Test(
    "A transaction that was open during the night, and commits after it, is noticed",
    arguments: [false, true])
  func openTransaction(nests: Bool) throws {
    let job = job()
    deliver()
    #expect(job.run().exitCode == 0)
    let other = try PostgresConnection(to: #require(PostgresTarget(url)), cancellation: ReadCancellation())
    try other.run(
      "BEGIN; SELECT pg_current_xact_id(); \(nests ? "SAVEPOINT a;" : "") UPDATE feed SET v = 'edited' WHERE id = 3"
    )
    deliver([1_000: "first"])
    let during = job.run()
    #expect(during.exitCode == 0 && during.ledger.updated == 1, "\(Self.words(during))")
    _ = try other.commit()
    deliver([1_000: "second"])
    let summary = job.run()
    #expect(summary.exitCode == 0 && Self.skipped(summary) == 0, "\(Self.words(summary))")
    try expectFeed("open transaction")
  }

  @Test("A row that is there already, and a record twice, have the whole delivery compared")
  func known() throws {
    let job = job()
    deliver(leavingOut: [5])
    #expect(job.run().exitCode == 0)
    deliver(leavingOut: [5], more: "7,1,again\n")
    let twice = job.run()
    #expect(
      twice.ledger.read == 2_000 && twice.ledger.updated == 1 && Self.skipped(twice) == 0,
      "\(Self.words(twice))")
    #expect(try rows("SELECT v FROM feed WHERE id = 7") == ["'again'"])
    deliver()
    #expect(job.run().exitCode == 0)
    try expectFeed("the later record counted")
    deliver([9: "new"])
    #expect(Self.skipped(job.run()) > 1_500)
  }

  @Test("A refused delivery is forgotten, and a trigger has all compared")
  func refusedAndTriggers() throws {
    let job = job { $0.guards.maximumDeletes = .count(3) }
    deliver()
    #expect(job.run().exitCode == 0)
    deliver(leavingOut: Set(0..<10))
    #expect(job.run().exitCode == 4)
    #expect(try rows("SELECT count(*) AS n FROM upsurge_chunks") == ["0"])
    deliver()
    #expect(Self.skipped(job.run()) == 0)
    try server.psql(
      """
      CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$;
      CREATE TRIGGER mark BEFORE UPDATE ON feed FOR EACH ROW EXECUTE FUNCTION mark()
      """, in: url)
    deliver([1: "new"])
    let summary = job.run()
    #expect(summary.exitCode == 0 && Self.skipped(summary) == 0, "\(Self.words(summary))")
    try expectFeed("trigger")
  }

  @Test("A database that was restored from a copy goes on from what it holds")
  func restored() throws {
    deliver()
    #expect(job().run().exitCode == 0)
    let name = try #require(try rows("SELECT current_database() AS name").first?.dropFirst().dropLast())
    try server.psql("CREATE DATABASE \(name)_copy TEMPLATE \(name)", in: server.socketURL())
    let copy = server.socketURL(database: "\(name)_copy")
    for night in 0..<3 {
      deliver([1_000: "night \(night)", night: "once"])
      #expect(job().run().exitCode == 0)
    }
    let summary = job(copy).run()
    #expect(summary.exitCode == 0 && Self.skipped(summary) > 0, "\(Self.words(summary))")
    try expectFeed("restored", in: copy)
  }

  // MARK: - Connections that break

  /// Every n-th message is one where it is cut; all of them with UPSURGE_SEEDS=all.
  private static let stride = SeededGenerator.some(61, most: 1)

  @Test("The table is the delivery, at whichever message the night was cut")
  func cut() throws {
    let database = try ProxiedDatabase()
    let proxied = database.proxy.url(database: database.direct.database)
    let seed = SeededGenerator.firstSeed()
    func night(_ words: String) throws {
      let job = job(proxied) { $0.options.tuning.connectSeconds = [Double](repeating: 0.001, count: 50) }
      for _ in 0..<10 {
        if job.run().exitCode == 0 { return }
        // A session whose client has left may still commit.
        try database.settle()
      }
      Issue.record("\(words) does not end")
    }
    try MessageCut.atEveryMessage(of: database.proxy, stride: Self.stride, from: seed) { cut, number in
      let words = "\(cut) at \(number), from \(seed)"
      database.proxy.set([])
      try database.settle()
      try database.direct.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
      deliver()
      try night(words)
      database.proxy.set([cut.fault(at: number)])
      for value in ["new", "newer"] {
        deliver([3: value, 1_999: value], leavingOut: [7], more: "5000,1,\(value)\n")
        try night(words)
        try database.settle()
        let found = try database.direct.texts("SELECT id || ',' || part || ',' || v FROM feed ORDER BY id")
          .map { $0[0] ?? "" }
        let lines = try String(contentsOfFile: scratch.file("feed.csv"), encoding: .utf8).split(
          separator: "\n"
        ).dropFirst()
        #expect(found == lines.map(String.init), "\(words), \(value)")
      }
    }
  }

  // MARK: - Random nights

  static let seeds = SeededGenerator.some(of: 300 as UInt64)

  @Test("Tables and ledgers are those of nights that compare everything", arguments: Self.seeds)
  func nights(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let other = try server.freshDatabase()
    let creation = [
      "", "id bigint PRIMARY KEY, part int, v text, gone text",
      "id text PRIMARY KEY, part int, v text, gone text",
    ]
    .randomElement(using: &random)!
    let sweep: RowSweep =
      creation.isEmpty ? .hard : [.hard, .soft(column: "gone")].randomElement(using: &random)!
    if !creation.isEmpty {
      for database in [url, other] { try server.psql("CREATE TABLE feed (\(creation))", in: database) }
    }
    var ids = Array(0..<Int.random(in: 200...900, using: &random))
    var values: [Int: String] = [:]
    for night in 0..<5 {
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let at = Int.random(in: 0..<ids.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: ids.removeSubrange(at..<min(ids.count, at + Int.random(in: 1...40, using: &random)))
        case 1:
          ids.insert(
            contentsOf: (0..<5).map { 10_000 + night * 100 + $0 }.filter { !ids.contains($0) }, at: at)
        case 2: values[ids[at]] = "night \(night)"
        case 3: ids.swapAt(at, ids.count - 1)
        case 4: ids.append(ids.remove(at: at))
        default: values[ids[at]] = "not a key twice"
        }
        if ids.isEmpty { ids = [1] }
      }
      // No two nights have one file.
      values[ids[ids.count / 2]] = "of night \(night)"
      let twice = Int.random(in: 0..<8, using: &random) == 0 ? "\(ids[0]),0,twice\n" : ""
      let text =
        "id,part,v\n" + ids.map { "\($0),0,\(values[$0] ?? "value of the row \($0)")\n" }.joined() + twice
      _ = scratch.write(text, to: "feed.csv")
      if Int.random(in: 0..<3, using: &random) == 0, night > 0 {
        let id = ids.randomElement(using: &random)!
        let sql = [
          "UPDATE feed SET v = 'own' WHERE id = '\(id)'", "DELETE FROM feed WHERE id = '\(id)'",
          "UPDATE feed SET id = '\(70_000 + night)' WHERE id = '\(id)'",
        ]
        .randomElement(using: &random)!
        for database in [url, other] { try server.psql(sql, in: database) }
      }
      let words = "seed \(seed), night \(night), \(creation), \(sweep)"
      func run(_ database: String, verifies: Bool) -> MirrorSummary {
        job(database, verifies: verifies) { ($0.sweep, $0.guards.maximumDeletes) = (sweep, .percent(100)) }
          .run()
      }
      let (summary, whole) = (run(url, verifies: false), run(other, verifies: true))
      #expect(
        summary.ledger == whole.ledger && summary.exitCode == whole.exitCode,
        "\(words)\n\(Self.words(summary))\n\(Self.words(whole))")
      let mark = creation.isEmpty ? "NULL" : "gone IS NULL"
      let sql = "SELECT id, part, v, \(mark) AS there FROM feed ORDER BY id::text"
      #expect(try rows(sql) == rows(sql, in: other), "\(words)")
      let sums =
        "SELECT max(records) FILTER (WHERE place = 0) IS NOT DISTINCT FROM sum(records) FILTER (WHERE place > 0) AS same "
        + "FROM upsurge_chunks"
      #expect(try rows(sums) == ["true"], "\(words)")
    }
  }
}
