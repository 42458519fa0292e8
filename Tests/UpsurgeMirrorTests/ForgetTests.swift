import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// A feed that is forgotten takes its rows with it, and nothing else.
@Suite("Forgetting feeds") struct ForgetTests {
  let scratch = Scratch()
  private var database: String { scratch.file("a.db") }

  private func job(scope: String? = nil) -> MirrorJob {
    let tables = ["Members", "other"].map { name in
      var table = MirrorTable(name: name, sources: [scratch.file("\(name).csv")])
      table.options.rules.key = ["id"]
      table.options.rejects.onError = .reject
      table.options.rejects.target = .table
      table.sweep = .hard
      table.scope = name == "Members" ? scope : nil
      table.kind = .snapshot
      return table
    }
    return MirrorJob(database: database, tables: tables)
  }

  private func deliver() {
    for name in ["Members", "other"] {
      _ = scratch.write("id,tenant\n1,7\n2,7\n3\n", to: "\(name).csv")
    }
  }

  private let notes = """
    SELECT 'feeds', group_concat("table") FROM upsurge_feeds UNION ALL
    SELECT 'runs', group_concat("table" || state) FROM (SELECT * FROM upsurge_runs ORDER BY run) UNION ALL
    SELECT 'rejects', count(*) FROM upsurge_rejects
    """

  @Test(
    "The rows of the scope go, and what is known of the feed; the next run begins anew",
    arguments: [nil, "tenant = 7"])
  func scope(scope: String?) throws {
    deliver()
    let plain = Database(database)
    try plain.rows(
      "CREATE TABLE Members(id INTEGER PRIMARY KEY, tenant INT); INSERT INTO Members VALUES (8, 8)")
    var job = job(scope: scope)
    job.tables[0].guards.maximumDeletes = .count(1)
    // Bad records keep rows from being swept: exit code 4, the records stand.
    #expect([2, 4].contains(job.run().exitCode))
    let before = try plain.rows("SELECT * FROM Members ORDER BY id")
    let notesBefore = try plain.rows(notes)
    #expect(before.contains("1|7"))

    let removal = try FeedRemoval(database: database, table: "mEMBERS")
    #expect(
      removal.table == "Members" && removal.scope == scope
        && removal.rowCount == (scope == nil ? UInt64(before.count) : 2))
    #expect(try removal.perform(isTrial: true).rowCount == removal.rowCount)
    #expect(try plain.rows("SELECT * FROM Members ORDER BY id") == before)
    #expect(try plain.rows(notes) == notesBefore)

    #expect(try removal.perform().rowCount == removal.rowCount)
    #expect(try plain.rows("SELECT * FROM Members") == (scope == nil ? [] : ["8|8"]))
    #expect(try plain.rows("SELECT * FROM other ORDER BY id") == ["1|7", "2|7"])
    #expect(try plain.rows("SELECT \"table\" FROM upsurge_feeds") == ["'other'"])
    // Rejects and past runs are the history of the database.
    #expect(try plain.rows("SELECT count(*) FROM upsurge_rejects") == ["2"])
    #expect(try plain.rows("SELECT DISTINCT state FROM upsurge_runs") == ["'done'"])
    #expect(throws: UpsurgeError.self) { try FeedRemoval(database: database, table: "Members") }
    // The same delivery is read again, and no longer for another feed.
    let again = job.run()
    #expect(again.tables[0].ledger.inserted == 2 && again.tables[1].ledger.read <= 3, "\(again.exitCode)")
    #expect(try plain.rows("PRAGMA integrity_check") == ["'ok'"])
  }

  @Test(
    "Where the state of rows is kept, rows that the feed has not delivered stay, and it is said how many and why",
    arguments: [nil, "tenant = 7"])
  func rowState(scope: String?) throws {
    _ = scratch.write("id,tenant\n1,7\n2,7\n3,7\n", to: "Members.csv")
    let plain = Database(database)
    try plain.rows(
      "CREATE TABLE Members(id INTEGER PRIMARY KEY, tenant INT); INSERT INTO Members VALUES (7, 7), (8, 8)")
    var job = job(scope: scope)
    job.tables.removeLast()
    job.tables[0].sweep = scope == nil ? .none : .hard
    job.tables[0].guards.maximumDeletes = .count(0)
    job.tables[0].keepsRowState = true
    // The row that was made here is kept by the guard.
    #expect(job.run().exitCode == (scope == nil ? 0 : 4))
    let kept = scope == nil ? ["7|7", "8|8"] : ["7|7"]
    let removal = try FeedRemoval(database: database, table: "members")
    #expect(removal.rowCount == 3 && removal.keptCount == UInt64(kept.count) && removal.isByNotes)
    let asks = try Command.run(["mirror", database, "--forget", "members"])
    let where_ = scope.map { " where \($0)" } ?? ""
    let why =
      kept.count == 1
      ? "; 1 row stays, as upsurge_rows does not say that a feed has delivered it"
      : "; 2 rows stay, as upsurge_rows does not say that a feed has delivered them"
    #expect(
      asks.exitCode == 4
        && asks.talk.contains(
          "would delete 3 rows of table Members\(where_) that its feed delivered, and what is known of its feed\(why)"
        ),
      "\(asks.talk)")
    let all = try plain.rows("SELECT * FROM Members ORDER BY id")
    let trial = try Command.run(["mirror", database, "--forget", "members", "--dry-run"])
    #expect(trial.talk.contains("would be deleted (dry run: nothing is)\(why)"), "\(trial.talk)")
    #expect(try plain.rows("SELECT * FROM Members ORDER BY id") == all)
    let done = try Command.run(["mirror", database, "--forget", "members", "--yes"])
    #expect(done.exitCode == 0 && done.talk.contains("begins anew\(why)"), "\(done.talk)")
    #expect(try plain.rows("SELECT * FROM Members ORDER BY id") == ["7|7", "8|8"])
    #expect(
      try plain.rows("SELECT name FROM sqlite_schema WHERE name IN ('upsurge_rows', 'upsurge_feeds')") == [])
  }

  @Test("A feed that has never delivered takes no row with it")
  func neverDelivered() throws {
    let plain = Database(database)
    try plain.rows(
      "CREATE TABLE Members(id INTEGER PRIMARY KEY, tenant INT); INSERT INTO Members VALUES (7, 7), (8, 8)")
    var job = job()
    job.tables.removeLast()
    #expect(job.run().exitCode == 66)
    let done = try Command.run(["mirror", database, "--forget", "members", "--yes"])
    #expect(
      done.exitCode == 0
        && done.talk.contains(
          "0 rows of table Members deleted; the next run of its job begins anew; 2 rows stay, as its feed has never "
            + "delivered any"),
      "\(done.talk)")
    #expect(try plain.rows("SELECT * FROM Members") == ["7|7", "8|8"])
    #expect(try FeedStatus.all(database: database).isEmpty)
  }

  @Test("Files that were taken, and tables of notes with nothing in them, go as well")
  func files() throws {
    try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
    _ = scratch.write("id\n1\n", to: "in/1.csv")
    var table = MirrorTable(name: "t", sources: [scratch.file("in")])
    table.options.rules.key = ["id"]
    let job = MirrorJob(database: database, tables: [table])
    #expect(job.run().ledger.inserted == 1)
    let plain = Database(database)
    try plain.rows(
      "CREATE TABLE upsurge_chunks(\"table\" TEXT, n); INSERT INTO upsurge_chunks VALUES ('T', 1), ('u', 2)")
    #expect(try FeedRemoval(database: database, table: "t").perform().rowCount == 1)
    #expect(try plain.rows("SELECT * FROM upsurge_chunks") == ["'u'|2"])
    try plain.rows("DROP TABLE upsurge_chunks")
    #expect(
      try plain.rows("SELECT name FROM sqlite_schema WHERE name IN ('upsurge_feeds', 'upsurge_files')") == [])
    #expect(job.run().ledger.inserted == 1)
  }

  @Test("A run that has stopped on its way is not gone on with")
  func stopped() throws {
    deliver()
    _ = scratch.write("id,tenant\n" + (1...500).map { "\($0),7\n" }.joined() + "x\n", to: "Members.csv")
    var job = job()
    job.tables.removeLast()
    job.atomicity = .bounded
    job.tables[0].options.transaction.commitEvery = .records(100)
    job.tables[0].options.rejects.onError = .stop
    job.tables[0].options.rejects.target = nil
    #expect(job.run().exitCode == 3)
    let plain = Database(database)
    #expect(try plain.rows("SELECT state FROM upsurge_runs") == ["'running'"])
    #expect(try FeedRemoval(database: database, table: "Members").perform().rowCount >= 100)
    #expect(try plain.rows("SELECT name FROM sqlite_schema WHERE name = 'upsurge_runs'") == [])
    _ = scratch.write("id,tenant\n" + (1...500).map { "\($0),7\n" }.joined(), to: "Members.csv")
    #expect(job.run().ledger.inserted == 500)
  }

  @Test("Rows that others refer to keep all of it from being forgotten; those that go with them go")
  func references() throws {
    deliver()
    let plain = Database(database)
    try plain.rows(
      "CREATE TABLE Members(id INTEGER PRIMARY KEY, tenant INT); CREATE TABLE child(m REFERENCES Members)")
    _ = job().run()
    try plain.rows("INSERT INTO child VALUES (2)")
    let before = try plain.rows(notes)
    let removal = try FeedRemoval(database: database, table: "members")
    for isTrial in [true, false] {
      let error = #expect(throws: UpsurgeError.self) { try removal.perform(isTrial: isTrial) }
      #expect(
        error?.code == .guardRefused && error?.message.contains("FOREIGN KEY") == true,
        "\(String(describing: error))")
    }
    #expect(try plain.rows("SELECT count(*) FROM Members") == ["2"])
    #expect(try plain.rows(notes) == before)
    try plain.rows(
      "DROP TABLE child; CREATE TABLE child(m REFERENCES Members ON DELETE CASCADE); INSERT INTO child VALUES (2)"
    )
    #expect(try removal.perform().rowCount == 2)
    #expect(try plain.rows("SELECT count(*) FROM child") == ["0"])
  }

  @Test(
    "Records that wait for their parents go with their feed, and those of other tables and of contracts stay")
  func waiting() throws {
    let plain = Database(database)
    try plain.rows(
      """
      CREATE TABLE parent(id INTEGER PRIMARY KEY);
      CREATE TABLE child(id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES parent(id));
      CREATE TABLE other(id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES parent(id));
      """)
    _ = scratch.write("id\n1\n", to: "parent.csv")
    _ = scratch.write("id,p\n1,1\n2,2\n3,3\n", to: "child.csv")
    _ = scratch.write("id,p\n1,2\n", to: "other.csv")
    let tables = ["parent", "child", "other"].map { name in
      var table = MirrorTable(name: name, sources: [scratch.file("\(name).csv")])
      table.options.rules.key = ["id"]
      return table
    }
    #expect(MirrorJob(database: database, tables: tables).run().exitCode == 2)
    // One that waits for a column is no record of the feed.
    var load = LoadJob(
      database: database, table: "child", sources: [scratch.write("id,p,new\n9,1,x\n", to: "more.csv")])
    load.options.rules.key = ["id"]
    load.options.table.contract = .quarantine
    #expect(load.run().ledger.quarantined == 1)
    let kept = "SELECT \"table\", reason IS NULL, count(*) FROM upsurge_quarantine GROUP BY 1, 2"
    #expect(try plain.rows(kept) == ["'child'|0|2", "'child'|1|1", "'other'|0|1"])

    let removal = try FeedRemoval(database: database, table: "CHILD")
    #expect(removal.rowCount == 1 && removal.waitingCount == 2)
    let asks = try Command.run(["mirror", database, "--forget", "child"])
    #expect(
      asks.talk.contains(
        "would delete 1 row of table child and 2 records of it that wait for other rows, and"),
      "\(asks.talk)")
    let gone = FeedRemoval.Removed(rowCount: 1, waitingCount: 2)
    #expect(try removal.perform(isTrial: true) == gone)
    #expect(try plain.rows(kept) == ["'child'|0|2", "'child'|1|1", "'other'|0|1"])
    #expect(try removal.perform() == gone)
    #expect(try plain.rows(kept) == ["'child'|1|1", "'other'|0|1"])
    // Their parents come, and nothing is stored for them.
    _ = scratch.write("id\n1\n2\n3\n", to: "parent.csv")
    let next = MirrorJob(database: database, tables: [tables[0], tables[2]]).run()
    #expect(next.exitCode == 0, "\(next.tables.map { $0.failure?.description })")
    #expect(try plain.rows("SELECT id FROM child") == [] && plain.rows("SELECT id FROM other") == ["1"])
  }

  @Test("The command asks first, counts in a dry run, and knows the tables")
  func command() throws {
    deliver()
    _ = job(scope: "tenant = 7").run()
    let plain = Database(database)
    let asks = try Command.run(["mirror", database, "--forget", "members"])
    #expect(
      asks.exitCode == 4
        && asks.talk.contains("--forget would delete 2 rows of table Members where tenant = 7"),
      "\(asks.talk)")
    let trial = try Command.run(["mirror", database, "--forget", "members", "--dry-run"])
    #expect(
      trial.exitCode == 0 && trial.talk.contains("2 rows of table Members where tenant = 7 would be deleted"),
      "\(trial.talk)")
    #expect(try plain.rows("SELECT count(*) FROM Members") == ["2"])
    let done = try Command.run(["mirror", database, "--forget", "members", "--yes"])
    #expect(done.exitCode == 0 && done.talk.contains("begins anew"), "\(done.talk)")
    #expect(try plain.rows("SELECT count(*) FROM Members") == ["0"])
    for (words, code, message) in [
      (["--forget", "members", "--yes"], 64, "its mirrors: other"),
      (["--forget", "t", "job.yaml"], 64, "no job"), (["--yes"], 64, "--yes answers"),
    ] as [([String], Int32, String)] {
      let outcome = try Command.run(["mirror", database] + words)
      #expect(outcome.exitCode == code && outcome.talk.contains(message), "\(outcome.talk)")
    }
    let missing = try Command.run(["mirror", scratch.file("no.db"), "--forget", "t"])
    #expect(missing.exitCode == 66)
  }
}
