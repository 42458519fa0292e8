import Foundation
import TestSupport
import Testing
import Upsurge
import UpsurgePlan
import UpsurgeSQLite
import UpsurgeState

@testable import UpsurgeMirror

/// Runs over databases that another version has written.
@Suite("Databases of other versions") struct OwnLayoutCommandTests {
  private let scratch = Scratch()
  private var path: String { scratch.file("a.db") }
  private var database: Database { Database(path) }

  /// How a table was made.
  private func made(_ name: String) throws -> [String] {
    try database.rows("SELECT sql FROM sqlite_schema WHERE name = '\(name)'")
  }

  private func number(_ layout: OwnLayout) throws -> Int? {
    try layout.find(on: Connection.looking(at: path))?.number
  }

  private func message(_ summary: MirrorSummary) -> String {
    (summary.error ?? summary.tables.first?.failure)?.message ?? ""
  }

  // MARK: - Older

  @Test(
    "A mirror brings notes of rows up to date when its delivery is stored, not when it fails",
    arguments: 1...3)
  func rows(layout: Int) throws {
    try database.rows(LayoutFixture(layout: RowStateTable.layout, number: layout).sql())
    try database.rows(
      """
      CREATE TABLE members(id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO members VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cid'), (9, 'Zoe');
      CREATE TRIGGER no BEFORE INSERT ON members WHEN new.id = 4 BEGIN SELECT raise(ROLLBACK, 'no'); END
      """)
    let source = scratch.write("id,name\n1,Ann\n2,Bob\n4,Dan\n", to: "m.csv")
    let job = scratch.write(
      "tables:\n  members:\n    source: \(source)\n    key: [id]\n    sweep: hard\n    owned-by: crm\n"
        + "    guards: {max-delete: 100%}\n", to: "job.yaml")
    let before = try made("upsurge_rows") + database.rows("SELECT * FROM upsurge_rows")
    let failed = try Command.run(["mirror", path, job])
    #expect(failed.exitCode == 65, "\(failed.talk)")
    #expect(try made("upsurge_rows") + database.rows("SELECT * FROM upsurge_rows") == before)
    try database.rows("DROP TRIGGER no")
    let outcome = try Command.run(["mirror", path, job])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try number(RowStateTable.layout) == 3)
    #expect(try database.rows("SELECT id FROM members") == ["1", "2", "4"])
    #expect(
      try database.rows("SELECT key, stored FROM upsurge_rows ORDER BY key") == ["'1'|1", "'2'|1", "'4'|1"])
  }

  @Test("--forget takes the rows that an older layout has noted", arguments: 1...3)
  func forget(layout: Int) throws {
    for (own, number) in [(RowStateTable.layout, layout), (FeedTable.layout, FeedTable.layout.number)] {
      try database.rows(LayoutFixture(layout: own, number: number).sql())
    }
    try database.rows(
      "CREATE TABLE members(id INTEGER PRIMARY KEY); INSERT INTO members VALUES (1), (2), (7)")
    let before = try readFile(path)
    let removal = try FeedRemoval(database: path, table: "members")
    let isSame = try readFile(path) == before
    #expect(isSame && removal.rowCount == 2)
    #expect(try removal.perform().rowCount == 2)
    #expect(try database.rows("SELECT id FROM members") == ["7"])
  }

  @Test("A job notes its feed beside those of each older layout", arguments: 1...6)
  func feeds(layout: Int) throws {
    try database.rows(LayoutFixture(layout: FeedTable.layout, number: layout).sql())
    let before = try readFile(path)
    let status = try Command.run(["status", path])
    let isSame = try readFile(path) == before
    #expect(isSame && status.output.contains("members"), "\(status.talk)")
    var table = MirrorTable(name: "new", sources: [scratch.write("id\n1\n", to: "n.csv")])
    table.options.rules.key = ["id"]
    let summary = MirrorJob(database: path, tables: [table]).run()
    #expect(summary.exitCode == 0, "\(message(summary))")
    #expect(try number(FeedTable.layout) == 6)
    #expect(
      try database.rows("SELECT \"table\", failures FROM upsurge_feeds ORDER BY 1") == [
        "'big'|0", "'members'|2", "'new'|0", "'stock'|0",
      ])
  }

  @Test("A drop folder's files are noted beside those of each older layout", arguments: 1...2)
  func files(layout: Int) throws {
    try database.rows(LayoutFixture(layout: TakenFiles.layout, number: layout).sql())
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    _ = scratch.write("id,n\n8,1\n", to: "in/c.csv")
    var table = MirrorTable(name: "stock", sources: [scratch.file("in")])
    table.options.rules.key = ["id"]
    let summary = MirrorJob(database: path, tables: [table]).run()
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 1, "\(message(summary))")
    #expect(try number(TakenFiles.layout) == 2)
    #expect(try database.rows("SELECT count(*) FROM upsurge_files") == ["3"])
  }

  @Test("A load keeps records in each older layout, all or nothing", arguments: 1...2)
  func quarantine(layout: Int) throws {
    try database.rows(LayoutFixture(layout: QuarantineTable.layout, number: layout).sql())
    try database.rows("CREATE TABLE orders(id INTEGER PRIMARY KEY, total INTEGER)")
    let before = try made("upsurge_quarantine") + database.rows("SELECT * FROM upsurge_quarantine")
    let words = ["--key", "id", "--contract", "quarantine", "--atomic"]
    let bad = scratch.write("id,total,coupon\n7,1,A\n8,2,B,C\n", to: "bad.csv")
    #expect(try Command.run(["load", path, "orders", bad] + words).exitCode != 0)
    #expect(try made("upsurge_quarantine") + database.rows("SELECT * FROM upsurge_quarantine") == before)
    let good = scratch.write("id,total,coupon\n7,1,A\n8,2,\n", to: "good.csv")
    let outcome = try Command.run(["load", path, "orders", good] + words)
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    #expect(try number(QuarantineTable.layout) == 2)
    #expect(try database.rows("SELECT key FROM upsurge_quarantine ORDER BY id") == ["'[1]'", "'[7]'"])
    try database.rows("ALTER TABLE orders ADD COLUMN coupon TEXT")
    let replay = try Command.run(["replay", path])
    #expect(replay.exitCode == 0, "\(replay.talk)")
    #expect(try database.rows("SELECT id, coupon FROM orders ORDER BY id") == ["1|'A'", "7|'A'", "8|NULL"])
  }

  @Test("Records rejected by an older version are replayed", arguments: 1...2)
  func rejects(layout: Int) throws {
    try database.rows(LayoutFixture(layout: RejectTable.layout, number: layout).sql())
    try database.rows(
      """
      CREATE TABLE stock(id INTEGER PRIMARY KEY, n INTEGER); CREATE TABLE members(id INTEGER PRIMARY KEY, name TEXT);
      UPDATE upsurge_rejects SET raw = CASE raw WHEN '8' THEN '8,Eve' ELSE '3,4' END
      """)
    let outcome = try Command.run(["replay", path])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try database.rows("SELECT id, n FROM stock") == ["3|4"])
    #expect(try database.rows("SELECT id, name FROM members") == ["8|'Eve'"])
  }

  @Test("Runs of the same layout are listed")
  func runs() throws {
    try database.rows(LayoutFixture(layout: RunTable.layout, number: 1).sql())
    let outcome = try Command.run(["runs", path])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
  }

  // MARK: - Newer

  /// Commands that meet a table, by its name. Each has `feed.csv`, `job.yaml` and `bad.ndjson` in its folder.
  private static let uses: [(table: OwnTable, words: [String])] = [
    (.runs, ["runs", "a.db"]), (.runs, ["load", "a.db", "t", "feed.csv"]),
    (.rejects, ["replay", "a.db"]),
    (.rejects, ["load", "a.db", "t", "feed.csv", "--on-error", "reject", "--rejects", "table"]),
    (.rejectContexts, ["load", "a.db", "t", "feed.csv", "--on-error", "reject", "--rejects", "table"]),
    (.replays, ["replay", "a.db"]), (.replays, ["replay", "a.db", "bad.ndjson"]),
    (.quarantine, ["replay", "a.db"]),
    (.quarantine, ["load", "a.db", "t", "feed.csv", "--key", "id", "--contract", "quarantine"]),
    (.pendingWork, ["load", "a.db", "t", "feed.csv"]),
    (.feeds, ["status", "a.db"]), (.feeds, ["mirror", "a.db", "job.yaml"]),
    (.rowState, ["mirror", "a.db", "job.yaml"]), (.chunks, ["mirror", "a.db", "job.yaml"]),
    (.refusals, ["mirror", "a.db", "job.yaml"]), (.unaccepted, ["mirror", "a.db", "job.yaml"]),
    (.takenFiles, ["mirror", "a.db", "folder.yaml"]),
  ]

  @Test(
    "Each command refuses a newer layout by name and changes nothing of the table", arguments: uses.indices)
  func newer(index: Int) throws {
    let (table, words) = Self.uses[index]
    let layout = try #require(LayoutFixture.layouts.first { $0.name == table.rawValue })
    _ = scratch.write("id,a\n1,x\n2\n", to: "bad.csv")
    try database.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    let first = try run(["load", "a.db", "t", "bad.csv", "--on-error", "reject", "--rejects", "bad.ndjson"])
    #expect(first.exitCode == 2, "\(first.talk)")
    _ = scratch.write("id,a\n1,y\n3,z\n", to: "feed.csv")
    let text = "tables:\n  t:\n    source: SOURCE\n    key: [id]\n"
    _ = scratch.write(
      text.replacing("SOURCE", with: "feed.csv") + "    sweep: hard\n    row-state: true\n", to: "job.yaml")
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    _ = scratch.write("id,a\n1,y\n", to: "in/1.csv")
    _ = scratch.write(text.replacing("SOURCE", with: "in"), to: "folder.yaml")

    try database.rows(layout.creation(saying: "\(layout.number + 1)"))
    let outcome = try run(words)
    #expect(outcome.exitCode == 4, "\(words): \(outcome.talk)")
    #expect(
      outcome.talk.contains(
        "a table \(layout.name) of layout \(layout.number + 1), which a newer upsurge has made"),
      "\(words): \(outcome.talk)")
    #expect(outcome.talk.contains("use a newer upsurge"), "\(words): \(outcome.talk)")
    #expect(try made(layout.name).count == 1)
    #expect(try database.rows("SELECT count(*) FROM \(layout.name)") == ["0"])
    try database.rows("DROP TABLE \(layout.name)")
    let again = try run(words)
    #expect(again.exitCode != 4, "\(words): \(again.talk)")
  }

  /// Runs a command in the folder of the test.
  private func run(_ words: [String]) throws -> Command.Outcome {
    try Command.run([scratch.path] + words, script: "cd \"$1\" && shift && exec \"$0\" \"$@\"")
  }
}
