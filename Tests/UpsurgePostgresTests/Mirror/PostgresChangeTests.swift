import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// Files of changes: what they tell of a server is what they tell of SQLite.
@Suite(
  "Changes on both stores", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote))
)
struct PostgresChangeTests {
  private let scratch = Scratch()
  private let server: PostgresServer
  private let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  /// Tables of a server whose records are stored in other ways; SQLite has one for all.
  private static let creations = [
    "CREATE TABLE feed (id bigint PRIMARY KEY, v text CHECK (length(v) < 9), n double precision, gone text)",
    "CREATE TABLE feed (id bigint PRIMARY KEY, v text CHECK (length(v) < 9), n double precision, gone text) PARTITION BY HASH (id);"
      + "CREATE TABLE feed_0 PARTITION OF feed FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
    "CREATE TABLE feed (id bigint PRIMARY KEY, v text CHECK (length(v) < 9), n double precision, gone text, UNIQUE (id, v));"
      + "CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
      + "CREATE TRIGGER same BEFORE INSERT OR UPDATE ON feed FOR EACH ROW EXECUTE FUNCTION same()",
  ]

  private static let sqlite =
    "CREATE TABLE feed (id INTEGER PRIMARY KEY, v TEXT CHECK (length(v) < 9), n REAL, gone TEXT)"

  // MARK: - Mirrors

  static let seeds = SeededGenerator.some(of: 300 as UInt64)

  @Test("Each night tells the same rows on SQLite and on a server, also a trial", arguments: Self.seeds)
  func nights(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let path = scratch.file("a.db")
    try Database(path).rows(Self.sqlite)
    try server.psql(Self.creations.randomElement(using: &random)!, in: url)
    let sweep = [RowSweep.hard, .soft(column: "gone"), .none].randomElement(using: &random)!
    for night in 0..<5 {
      let feed = scratch.write(Self.delivery(&random), to: "feed.csv")
      let isTrial = Int.random(in: 0..<3, using: &random) == 0
      var told: [[String]] = []
      for (index, database) in [path, url].enumerated() {
        let file = scratch.file("\(index).ndjson")
        var table = MirrorTable(name: "feed", sources: [feed])
        table.options.rules.key = ["id"]
        table.options.rejects.onError = .reject
        table.options.output.changesPath = file
        table.sweep = sweep
        table.guards.maximumDeletes = .percent(60)
        table.options.tuning.walks = seed % 2 == 0
        var job = MirrorJob(database: database, tables: [table])
        job.dryRun = isTrial ? .diff : nil
        let summary = job.run()
        let lines = try lines(file).map(Self.withoutMoments)
        let counts = summary.ledger
        #expect(counts.inserted == UInt64(lines.count { $0.contains("\"op\":\"insert\"") }), "seed \(seed)")
        told.append(["exit \(summary.exitCode)", "\(counts)"] + lines.sorted())
      }
      #expect(told[0] == told[1], "seed \(seed), night \(night), \(sweep)")
    }
    let rows = "SELECT id, v, n, CASE WHEN gone IS NULL THEN 0 ELSE 1 END AS g FROM feed ORDER BY id"
    #expect(try Database(path).rows(rows) == server.rows(rows, in: url))
  }

  private static func delivery(_ random: inout SeededGenerator) -> String {
    var lines = (1...20).filter { _ in Int.random(in: 0..<6, using: &random) > 0 }.map { id in
      "\(id),\(["a", "b"].randomElement(using: &random)!)\(id),\(Int.random(in: 0..<3, using: &random)).5\n"
    }
    if Bool.random(using: &random) { lines.shuffle(using: &random) }
    // Keys that come again, a record that the table refuses, one without a key.
    if Int.random(in: 0..<3, using: &random) == 0 { lines += ["3,twice,1.5\n", "4,b4,\n", "3,three,2.5\n"] }
    if Int.random(in: 0..<4, using: &random) == 0 { lines.insert("5,much too long,1.5\n", at: 0) }
    if Int.random(in: 0..<6, using: &random) == 0 { lines.append(",nobody,1.5\n") }
    return "id,v,n\n" + lines.joined()
  }

  /// When a row was marked is another moment in each store.
  private static func withoutMoments(_ line: String) -> String {
    line.replacing(/"gone":"20[^"]*"/, with: "\"gone\":\"a moment\"")
  }

  private func lines(_ file: String) throws -> [String] {
    try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test(
    "A delivery without records tells the rows that it takes away, whatever the table is called",
    arguments: [RowSweep.hard, .soft(column: "gone")], ["feed", "n", "w"])
  func empty(sweep: RowSweep, name: String) throws {
    try Database(scratch.file("a.db")).rows(Self.sqlite.replacing("TABLE feed", with: "TABLE \(name)"))
    try server.psql(Self.creations[0].replacing("TABLE feed", with: "TABLE \(name)"), in: url)
    var told: [[String]] = []
    for (index, database) in [scratch.file("a.db"), url].enumerated() {
      let file = scratch.file("\(index).ndjson")
      for text in ["id,v,n\n3,c,1.5\n1,a,\n2,b,0.5\n", "id,v,n\n"] {
        var table = MirrorTable(name: name, sources: [scratch.write(text, to: "feed.csv")])
        table.options.rules.key = ["id"]
        table.options.output.changesPath = file
        (table.sweep, table.guards.allowsEmpty, table.guards.maximumDeletes) = (sweep, true, .percent(100))
        let summary = MirrorJob(database: database, tables: [table]).run()
        #expect(
          summary.exitCode == 0, "\((summary.error ?? summary.tables.first?.failure)?.description ?? "")")
      }
      told.append(try lines(file).map(Self.withoutMoments).sorted())
    }
    #expect(told[0] == told[1] && told[0].count == 3, "\(told)")
  }

  // MARK: - Loads

  /// The lines of a load into both stores, in the order of the file.
  private func told(
    _ text: String, table: String = "feed", _ change: (inout LoadOptions) -> Void = { _ in }
  ) throws -> [[String]] {
    let feed = scratch.write(text, to: "feed.csv")
    return try [scratch.file("a.db"), url].enumerated().map { index, database in
      let file = scratch.file("load\(index).ndjson")
      var options = LoadOptions()
      (options.rules.key, options.output.changesPath, options.rejects.onError) = (["id"], file, .reject)
      change(&options)
      let summary = LoadJob(database: database, table: table, sources: [feed], options: options).run()
      #expect(summary.error == nil, "\(summary.error?.message ?? "")")
      return try lines(file)
    }
  }

  @Test("Modes, merge rules and tombstones tell each row in the order of the input", arguments: 0..<3)
  func rules(kind: Int) throws {
    try Database(scratch.file("a.db")).rows(Self.sqlite)
    try server.psql(Self.creations[kind], in: url)
    let changes: [(String, (inout LoadOptions) -> Void)] = [
      ("id,v,n\n3,c,1.5\n1,a,\n2,b,0.1\n1,x,7\n", { _ in }),
      ("id,v,n\n1,,2.5\n2,b,0.1\n4,d,\n", { $0.rules.merge.rule = .coalesce }),
      ("id,n\n1,9\n9,9\n1,10\n", { $0.rules.mode = .update }),
      ("id,v\n2,kept\n5,e\n", { $0.rules.mode = .ignore }),
      ("id,n\n1,1\n2,99\n6,5\n", { $0.rules.merge.newer = Merge.Newer(column: "n") }),
      ("id,n\n1,1\n2,2\n", { $0.rules.merge.columns = ["n": .sum] }),
      (
        "id,v,op\n1,one,U\n2,two,D\n8,none,D\n2,again,U\n",
        { $0.rules.tombstone = Tombstone(column: "op", value: "D") }
      ),
      ("id\n3\n77\n", { $0.rules.mode = .delete }),
    ]
    for (text, change) in changes {
      let told = try told(text, change)
      #expect(told[0] == told[1] && !told[0].isEmpty, "\(text)")
    }
  }

  @Test("A new table, with a key and without one, tells each of its rows")
  func newTable() throws {
    for (table, key) in [("keyed", ["id"]), ("keyless", [])] {
      let told = try told("id,v\n2,b\n1,a\n2,c\n", table: table) { $0.rules.key = key }
      #expect(told[0] == told[1] && told[0].count == 3)
    }
  }

  @Test("Values that JSON has no word for are told as those of SQLite")
  func values() throws {
    try Database(scratch.file("a.db")).rows(
      "CREATE TABLE feed (id INTEGER PRIMARY KEY, r REAL, b BLOB, t TEXT)")
    try server.psql("CREATE TABLE feed (id bigint PRIMARY KEY, r double precision, b bytea, t text)", in: url)
    let text =
      "id,r,b,t\n1,1,AP8=,\"a\"\"\\\u{1F}é\"\n2,0.1,,\n3,-1e300,AA==,\(String(repeating: "ü", count: 70_000))\n"
    let told = try told(text) { $0.table.blobEncoding = .base64 }
    #expect(told[0] == told[1] && told[0].count == 3)
    try server.psql("UPDATE feed SET r = '-Infinity' WHERE id = 1", in: url)
    try Database(scratch.file("a.db")).rows("UPDATE feed SET r = -9e999 WHERE id = 1")
    let again = try self.told("id,r\n1,5\n")
    #expect(again[0] == again[1] && again[0].first?.contains("-9e999") == true)
  }

  @Test("Bad records are told by nobody, however many a filter tries")
  func badRecords() throws {
    try Database(scratch.file("a.db")).rows(Self.sqlite)
    try server.psql(Self.creations[0], in: url)
    let text =
      "id,v,n\n" + (1...400).map { "\($0),\($0 % 7 == 0 ? "much too long" : "v\($0)"),1.5\n" }.joined()
    let told = try told(text)
    #expect(told[0] == told[1] && told[0].count == 400 - 57)
  }

  @Test("A load that resumes goes on in its file where the last commit is", arguments: [false, true])
  func resumed(isNew: Bool) throws {
    if !isNew { try server.psql("CREATE TABLE feed (id bigint PRIMARY KEY, n bigint)", in: url) }
    let file = scratch.file("c.ndjson")
    let text = "id,n\n" + (1...500).map { "\($0),\($0)\n" }.joined() + "501,x,y\n502,1\n502,2\n"
    let feed = scratch.write(text, to: "feed.csv")
    func load(_ onError: ErrorPolicy) -> RunSummary {
      var options = LoadOptions()
      (options.rules.key, options.output.changesPath) = (["id"], file)
      (options.rejects.onError, options.transaction.commitEvery) = (onError, 100)
      options.tuning.batchSizes.recordCount = 100
      return LoadJob(database: url, table: "feed", sources: [feed], options: options).run()
    }
    #expect(load(.stop).exitCode == 3)
    #expect(try lines(file).count == 500)
    // What a kill has left after the last commit goes.
    try (lines(file).joined(separator: "\n") + "\n{\"op\":\"ins").write(
      toFile: file, atomically: false, encoding: .utf8)
    let again = load(.reject)
    #expect(again.error == nil && again.progress.resumedCount == 500, "\(again.error?.description ?? "")")
    let all = try lines(file)
    #expect(all.count == 502 && all[500].contains("\"record\":502"), "\(all.suffix(3))")
    #expect(
      all.last?.contains("\"before\":{\"n\":1},\"after\":{\"n\":2}") == true
        && all.last?.contains("\"record\":503") == true)
    #expect(try server.rows("SELECT count(*) AS n, max(n) AS most FROM feed", in: url) == ["501|500"])
  }

  @Test("A row that somebody else writes meanwhile is told as it was then", arguments: 0..<3)
  func meanwhile(kind: Int) throws {
    try server.psql(Self.creations[kind] + "; INSERT INTO feed VALUES (1, 'first', 0)", in: url)
    let file = scratch.file("c.ndjson")
    var options = LoadOptions()
    (options.rules.key, options.output.changesPath) = (["id"], file)
    let feed = scratch.write("id,v\n1,third\n", to: "feed.csv")
    let summary = try Server.writing("UPDATE feed SET v = 'second' WHERE id = 1", in: url) {
      LoadJob(database: url, table: "feed", sources: [feed], options: options).run()
    }
    #expect(summary.error == nil && summary.ledger.updated == 1, "\(summary.error?.description ?? "")")
    let all = try lines(file)
    #expect(
      all.count == 1
        && all.first?.contains("\"before\":{\"v\":\"second\"},\"after\":{\"v\":\"third\"}") == true,
      "\(all)")
  }

  @Test("What cannot be told is refused by name, and nothing is made")
  func refusals() throws {
    try server.psql(
      """
      CREATE TABLE loose (id bigint); CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER same BEFORE INSERT ON loose FOR EACH ROW EXECUTE FUNCTION same();
      CREATE VIEW shown AS SELECT id FROM loose;
      CREATE TRIGGER shown INSTEAD OF INSERT ON shown FOR EACH ROW EXECUTE FUNCTION same()
      """, in: url)
    for (table, words) in [
      ("loose", "nobody knows which record a row is of"), ("shown", "is not a table of this server"),
    ] {
      var options = LoadOptions()
      (options.rules.mode, options.output.changesPath) = (.insert, scratch.file("none.ndjson"))
      let feed = scratch.write("id\n1\n", to: "feed.csv")
      let summary = LoadJob(database: url, table: table, sources: [feed], options: options).run()
      #expect(
        summary.exitCode == 64 && summary.error?.message.contains(words) == true,
        "\(summary.error?.message ?? "")")
      #expect(summary.error?.hint == "leave out --changes")
    }
    #expect(try server.rows("SELECT count(*) AS n FROM loose", in: url) == ["0"])
  }
}
