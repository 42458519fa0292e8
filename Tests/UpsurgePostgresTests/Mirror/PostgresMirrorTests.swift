import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// Tables of a server that are kept in step with a feed, run after run.
@Suite("Mirrors in PostgreSQL", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresMirrorTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  private func job(_ text: String, table name: String = "t", _ change: (inout MirrorTable) -> Void = { _ in }) -> MirrorJob {
    var table = MirrorTable(name: name, sources: [scratch.write(text, to: "feed.csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    table.guards.maximumDeletes = .percent(50)
    change(&table)
    return MirrorJob(database: url, tables: [table])
  }

  private func rows(_ sql: String) throws -> [String] { try server.rows(sql, in: url) }

  private func words(_ summary: MirrorSummary) -> String {
    (summary.error ?? summary.tables.first?.failure)?.description ?? "no failure"
  }

  private static func text(_ ids: some Sequence<Int>, _ value: String = "v") -> String {
    "id,v\n" + ids.map { "\($0),\(value)\($0)\n" }.joined()
  }

  // MARK: - Sweeping

  @Test("Rows that the delivery no longer has go, and the same file is not read again")
  func sweeps() throws {
    let first = job(Self.text(1...10)).run()
    #expect(first.exitCode == 0 && first.ledger.inserted == 10, "\(words(first))")
    let again = job(Self.text(1...10)).run()
    #expect(again.exitCode == 0 && again.tables[0].loads.isEmpty && again.tables[0].unchangedSince != nil, "\(words(again))")
    let second = job(Self.text(3...11)).run()
    #expect(second.exitCode == 0, "\(words(second))")
    #expect(second.ledger.swept == 2 && second.ledger.inserted == 1 && second.ledger.unchanged == 8)
    #expect(try rows("SELECT id FROM t ORDER BY id") == (3...11).map { "\($0)" })
    #expect(try rows("SELECT count(*) AS n FROM upsurge_runs WHERE state = 'done' AND exit_code = 0") == ["2"], "runs stay listed")
    let layouts = try rows(
      "SELECT c.relname AS name, obj_description(c.oid, 'pg_class') AS mark FROM pg_class AS c WHERE c.relname = 'upsurge_feeds'")
    #expect(layouts == ["'upsurge_feeds'|'upsurge layout \(FeedTable.layout.number)'"])
  }

  @Test("A delivery without a byte is one without a record, and can be let through")
  func noByte() throws {
    #expect(job(Self.text(1...4)).run().exitCode == 0)
    var digests: [String] = []
    for text in ["id,v\n", ""] {
      let refused = job(text).run()
      #expect(refused.exitCode == 4 && words(refused).contains("the delivery has no record"), "\(words(refused))")
      digests.append(try #require(refused.tables[0].loads.last?.acceptance.refusedDigest))
      #expect(try rows("SELECT count(*) AS n FROM t") == ["4"])
    }
    var accepted = job("")
    accepted.acceptedDelivery = digests[1]
    let through = accepted.run()
    #expect(through.exitCode == 0 && through.ledger.swept == 4, "\(words(through))")
    #expect(try rows("SELECT count(*) AS n FROM t") == ["0"])
  }

  @Test("A delivery of the same rows in another file changes nothing, and writes nothing to the table")
  func writesNothing() throws {
    #expect(job(Self.text(1...3_000)).run().exitCode == 0)
    let sql = "SELECT xmin::text || ' ' || ctid::text AS place FROM t ORDER BY id"
    let before = try rows(sql)
    let again = job(Self.text((1...3_000).reversed())).run()
    #expect(again.exitCode == 0 && again.ledger.unchanged == 3_000 && again.ledger.swept == 0, "\(words(again))")
    #expect(try rows(sql) == before)
  }

  @Test(
    "Keys of every kind find their rows",
    arguments: [
      "id bigint", "id int", "id text", "id text COLLATE \"C\"", "id varchar(20)", "id numeric", "id numeric(10,2)", "id char(6)",
      "id float8", "id inet",
    ])
  func keys(column: String) throws {
    try server.psql("CREATE TABLE t (\(column) PRIMARY KEY, v text)", in: url)
    let isAddress = column.hasSuffix("inet")
    func text(_ ids: ClosedRange<Int>) -> String {
      "id,v\n" + ids.map { "\(isAddress ? "10.0.0.\($0)/32" : "\($0)"),v\n" }.joined()
    }
    #expect(job(text(1...9)).run().ledger.inserted == 9)
    let second = job(text(2...10)).run()
    #expect(second.exitCode == 0 && second.ledger.swept == 1 && second.ledger.unchanged == 8, "\(words(second))")
    #expect(try rows("SELECT count(*) AS n FROM t") == ["9"])
  }

  @Test("A key of two columns, one of them a day that only the server can read")
  func compoundKey() throws {
    try server.psql("CREATE TABLE t (id int, day date, v text, PRIMARY KEY (day, id))", in: url)
    func run(_ text: String) -> MirrorSummary { job(text) { $0.options.rules.key = ["id", "day"] }.run() }
    #expect(run("id,day,v\n1,2024-01-31,a\n2,2024-01-31,b\n1,2024-02-01,c\n").ledger.inserted == 3)
    let second = run("id,day,v\n1,31 Jan 2024,a\n1,2024-02-01,c\n")
    #expect(second.exitCode == 0 && second.ledger.swept == 1 && second.ledger.unchanged == 2, "\(words(second))")
    #expect(try rows("SELECT id, v FROM t ORDER BY v") == ["1|'a'", "1|'c'"])
  }

  @Test("Rows are marked in place of being deleted, and come back", arguments: ["text", "bigint", "boolean", "timestamptz", "date"])
  func soft(type: String) throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, v text, gone \(type))", in: url)
    func run(_ ids: ClosedRange<Int>) -> MirrorSummary {
      job(Self.text(ids)) { $0.sweep = .soft(column: "gone") }.run()
    }
    #expect(run(1...8).ledger.inserted == 8)
    let second = run(3...8)
    #expect(second.exitCode == 0 && second.ledger.swept == 2 && second.ledger.unchanged == 6, "\(words(second))")
    #expect(try rows("SELECT id FROM t WHERE gone IS NOT NULL ORDER BY id") == ["1", "2"])
    // What is gone already does not go again, and what comes back is there again.
    let third = run(2...8)
    #expect(third.exitCode == 0 && third.ledger.swept == 0 && third.ledger.updated == 1, "\(words(third))")
    #expect(try rows("SELECT id FROM t WHERE gone IS NOT NULL") == ["1"])
  }

  @Test("A new table has the column that marks rows")
  func softNewTable() throws {
    func run(_ ids: ClosedRange<Int>) -> MirrorSummary {
      job(Self.text(ids)) { $0.sweep = .soft(column: "gone") }.run()
    }
    #expect(run(1...4).exitCode == 0)
    #expect(try rows("SELECT id, gone FROM t ORDER BY id") == (1...4).map { "\($0)|NULL" })
    let second = run(2...4)
    #expect(second.exitCode == 0 && second.ledger.swept == 1, "\(words(second))")
  }

  @Test("A sweep is about the rows of the scope, and a record outside of it stores nothing")
  func scope() throws {
    try server.psql(
      "CREATE TABLE t (id bigint PRIMARY KEY, part int, v text); INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c')", in: url)
    func run(_ text: String) -> MirrorSummary { job(text) { $0.scope = "part = 1 -- ours" }.run() }
    let first = run("id,part,v\n1,1,a\n4,1,d\n")
    #expect(first.exitCode == 0 && first.ledger.swept == 1 && first.ledger.inserted == 1, "\(words(first))")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["1", "3", "4"])
    for text in ["id,part,v\n1,1,a\n4,1,d\n5,2,e\n", "id,part,v\n1,1,a\n4,1,d\n3,1,mine\n"] {
      let stray = run(text)
      #expect(stray.exitCode == 4 && stray.tables[0].failure?.message.contains("outside of the scope") == true, "\(words(stray))")
      #expect(try rows("SELECT id, part FROM t ORDER BY id") == ["1|1", "3|2", "4|1"])
    }
    var other = job("id,part,v\n1,1,a\n") { $0.scope = "part = 1); DELETE FROM t; (" }
    other.acceptsChanges = true
    let wrong = other.run()
    #expect(wrong.exitCode == 64 && words(wrong).contains("scope"), "\(words(wrong))")
    #expect(try rows("SELECT count(*) AS n FROM t") == ["3"])
  }

  @Test("Rows that others refer to stay, or go with them, as the schema says", arguments: [false, true])
  func references(cascades: Bool) throws {
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, v text);
      CREATE TABLE child (id int, t bigint REFERENCES t \(cascades ? "ON DELETE CASCADE" : "DEFERRABLE INITIALLY DEFERRED"))
      """, in: url)
    #expect(job(Self.text(1...4)).run().exitCode == 0)
    try server.psql("INSERT INTO child VALUES (7, 1)", in: url)
    let second = job(Self.text(2...5)).run()
    #expect(try rows("SELECT count(*) AS n FROM child") == [cascades ? "0" : "1"])
    #expect(try rows("SELECT count(*) AS n FROM t WHERE id = 5") == ["1"], "the delivery itself is stored")
    if cascades {
      #expect(second.exitCode == 0 && second.ledger.swept == 1, "\(words(second))")
    } else {
      #expect(second.exitCode == 4 && second.ledger.swept == 0, "\(words(second))")
      #expect(words(second).contains("rows of child refer to rows that are not in the delivery"))
      let hint = second.error?.hint ?? second.tables.first?.failure?.hint
      #expect(hint?.contains("mirror that table in the same job, so that they go first") == true, "\(hint ?? "")")
      try server.psql("DELETE FROM child", in: url)
      // Nobody has accepted row 5; the row that goes is one of the four that were.
      let third = job(Self.text(2...5)).run()
      #expect(third.exitCode == 0 && third.ledger.swept == 1, "\(words(third))")
    }
  }

  @Test("A row that takes others of its table with it stays")
  func selfReference() throws {
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, v text, up bigint REFERENCES t ON DELETE CASCADE);
      INSERT INTO t VALUES (1, 'v1', NULL), (2, 'v2', 1), (3, 'v3', NULL), (4, 'v4', NULL)
      """, in: url)
    let summary = job(Self.text(2...4)).run()
    #expect(summary.exitCode == 4 && summary.ledger.swept == 0, "\(words(summary))")
    #expect(try rows("SELECT count(*) AS n FROM t") == ["4"])
  }

  // MARK: - Guards

  @Test("A delivery that lacks too many rows is stored, and sweeps nothing until it is let through")
  func guards() throws {
    #expect(job(Self.text(1...10)).run().exitCode == 0)
    let few = Self.text([1, 2, 3, 20, 21])
    let refused = job(few).run()
    #expect(refused.exitCode == 4 && refused.ledger.swept == 0, "\(words(refused))")
    #expect(words(refused).contains("7 of 10 rows of table t are not in the delivery"))
    #expect(try rows("SELECT count(*) AS n FROM t") == ["12"], "what it has is stored")
    let digest = try #require(refused.tables[0].loads.last?.acceptance.refusedDigest)
    #expect(refused.tables[0].failure?.hint?.contains(digest) == true)
    // The rows that it has brought do not make it better.
    let again = job(few).run()
    #expect(again.exitCode == 4 && words(again).contains("7 of 10 rows"), "\(words(again))")
    #expect(again.tables[0].loads.last?.acceptance.refusedDigest == digest)
    let status = try FeedStatus.all(database: url)
    #expect(status.count == 1 && status[0].table == "t" && status[0].refusedDelivery == digest && !status[0].isGood(maximumAge: nil))
    var wrong = job(few)
    wrong.acceptedDelivery = "0123456789abcdef"
    #expect(wrong.run().exitCode == 4)
    var accepted = job(few)
    accepted.acceptedDelivery = digest
    let through = accepted.run()
    #expect(through.exitCode == 0 && through.ledger.swept == 7, "\(words(through))")
    #expect(through.tables[0].loads.last?.acceptance.isByDigest == true)
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["1", "2", "3", "20", "21"])
    #expect(try rows("SELECT count(*) AS n FROM upsurge_refusals") == ["0"])
    #expect(try rows("SELECT count(*) AS n FROM upsurge_unaccepted") == ["0"])
    #expect(try FeedStatus.all(database: url)[0].isGood(maximumAge: nil))
  }

  @Test("Other guards judge a refused delivery again, and the delivery before it takes its rows away")
  func otherGuards() throws {
    #expect(job(Self.text(1...10)).run().exitCode == 0)
    #expect(job(Self.text([1, 2, 30])).run().exitCode == 4)
    let back = job(Self.text(1...10)).run()
    #expect(back.exitCode == 0 && back.ledger.swept == 1 && back.ledger.unchanged == 10, "\(words(back))")
    #expect(job(Self.text([1, 2, 30])).run().exitCode == 4)
    let wider = job(Self.text([1, 2, 30])) { $0.guards.maximumDeletes = .count(8) }.run()
    #expect(wider.exitCode == 4, "fewer records than half of the last delivery: \(words(wider))")
    let widest = job(Self.text([1, 2, 30])) {
      ($0.guards.maximumDeletes, $0.guards.leastRatio) = (.count(8), 0)
    }.run()
    #expect(widest.exitCode == 0 && widest.ledger.swept == 8, "\(words(widest))")
  }

  @Test("A record without a key, or with one that cannot be read, keeps all rows", arguments: [",v\n", "x,v\n"])
  func unreadable(record: String) throws {
    #expect(job(Self.text(1...4)).run().exitCode == 0)
    let summary = job(Self.text(2...4) + record).run()
    #expect(summary.exitCode == 4 && summary.ledger.rejected == 1 && summary.ledger.swept == 0, "\(words(summary))")
    #expect(words(summary).contains("1 of 4 records could not be read"))
  }

  @Test("A record that the table refuses stands in the delivery all the same")
  func refusedRecord() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, v text CHECK (v <> 'bad'))", in: url)
    #expect(job(Self.text(1...4)).run().exitCode == 0)
    let summary = job("id,v\n1,bad\n2,v2\n3,v3\n").run()
    #expect(summary.exitCode == 2 && summary.ledger.rejected == 1 && summary.ledger.swept == 1, "\(words(summary))")
    #expect(try rows("SELECT id, v FROM t ORDER BY id") == ["1|'v1'", "2|'v2'", "3|'v3'"])
  }

  @Test("A delivery without a record is refused, unless that is the whole truth")
  func empty() throws {
    #expect(job(Self.text(1...4)).run().exitCode == 0)
    let refused = job("id,v\n").run()
    #expect(refused.exitCode == 4 && words(refused).contains("no record"), "\(words(refused))")
    let empty = job("id,v\n") {
      ($0.guards.allowsEmpty, $0.guards.maximumDeletes) = (true, .percent(100))
    }.run()
    #expect(empty.exitCode == 0 && empty.ledger.swept == 4, "\(words(empty))")
    #expect(try rows("SELECT count(*) AS n FROM t") == ["0"])
  }

  @Test("Without a sweep the guards judge whether a delivery is whole", arguments: [MirrorJob.Atomicity.table, .bounded])
  func withoutSweep(atomicity: MirrorJob.Atomicity) throws {
    func run(_ text: String) -> MirrorSummary {
      var job = job(text) { ($0.sweep, $0.guards.leastRows) = (.none, 3) }
      job.atomicity = atomicity
      return job.run()
    }
    #expect(run(Self.text(1...4)).exitCode == 0)
    let refused = run(Self.text(5...6))
    #expect(refused.exitCode == 4 && refused.ledger.inserted == 2, "\(words(refused))")
    #expect(run(Self.text(1...4)).exitCode == 0)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["6"])
  }

  @Test("A feed that is another one is refused, until the change is accepted")
  func changedFeed() throws {
    #expect(job(Self.text(1...4)).run().exitCode == 0)
    var other = job(Self.text(1...4)) { $0.scope = "id > 0" }
    let refused = other.run()
    #expect(refused.exitCode == 4 && words(refused).contains("scope (was none)"), "\(words(refused))")
    other.acceptsChanges = true
    #expect(other.run().exitCode == 0)
  }

  // MARK: - What is left alone

  @Test("A dry run has the ledger of the run and leaves nothing")
  func dryRun() throws {
    #expect(job(Self.text(1...10)).run().exitCode == 0)
    var trial = job(Self.text(4...12))
    trial.dryRun = .count
    let tried = trial.run()
    #expect(tried.exitCode == 0 && tried.ledger.swept == 3 && tried.ledger.inserted == 2, "\(words(tried))")
    #expect(try rows("SELECT count(*) AS n, min(id) AS least FROM t") == ["10|1"])
    let real = job(Self.text(4...12)).run()
    #expect(real.ledger == tried.ledger)
  }

  @Test("The engine's own tables are where they are asked for")
  func stateSchema() throws {
    let missing = job(Self.text(1...4)) { $0.options.table.stateSchema = "notes" }.run()
    #expect(missing.exitCode != 0 && words(missing).contains("notes"), "\(words(missing))")
    try server.psql("CREATE SCHEMA notes", in: url)
    let run = job(Self.text(1...4)) { $0.options.table.stateSchema = "notes" }.run()
    #expect(run.exitCode == 0, "\(words(run))")
    let places = try rows("SELECT DISTINCT relnamespace::regnamespace::text AS s FROM pg_class WHERE relname LIKE 'upsurge%' AND relkind = 'r'")
    #expect(places == ["'notes'"])
    #expect(job(Self.text(1...4)) { $0.options.table.stateSchema = "notes" }.run().tables[0].loads.isEmpty)
    #expect(try FeedStatus.all(database: url).map(\.table) == ["t"])
  }

  @Test("A table of notes that is someone else's, or of a newer version, is left alone", arguments: ["mine", "upsurge layout 99"])
  func foreignNotes(mark: String) throws {
    try server.psql("CREATE TABLE upsurge_feeds (a int); COMMENT ON TABLE upsurge_feeds IS '\(mark)'", in: url)
    let summary = job(Self.text(1...4)).run()
    #expect(summary.exitCode == 4 && words(summary).contains("upsurge_feeds"), "\(words(summary))")
    #expect(try rows("SELECT to_regclass('t') IS NULL AS n") == ["true"])
  }

  @Test("What is not done on a server is refused by its name, and nothing is made")
  func refusals() throws {
    let changes: [(String, (inout MirrorTable) -> Void)] = [
      ("let does not apply", { $0.options.table.computedColumns = [LoadOptions.ComputedColumn("v", "id * 2")] }),
      ("where does not apply", { $0.options.input.filter = "id = '1'" }),
    ]
    for (name, change) in changes {
      let summary = job(Self.text(1...4), change).run()
      #expect(summary.exitCode == 64 && words(summary).contains(name), "\(name): \(words(summary))")
      #expect(throws: UpsurgeError.self, "\(name)") { try job(Self.text(1...4), change).checkServer() }
    }
    var bounded = job(Self.text(1...4))
    bounded.atomicity = .bounded
    #expect(bounded.run().exitCode == 64)
    #expect(try rows("SELECT count(*) AS n FROM pg_class WHERE relname = 't' OR relname LIKE 'upsurge%'") == ["0"])
    try server.psql("CREATE TABLE t (id bigint, v text)", in: url)
    let keyless = job(Self.text(1...4)) { $0.options.rules.key = [] }.run()
    #expect(keyless.exitCode == 64 && words(keyless).contains("a sweep needs a key"), "\(words(keyless))")
  }

  @Test("A password of the URL is in nothing that is shown or kept")
  func password() throws {
    let database = url.split(separator: "/")[1].split(separator: "?")[0]
    var job = job(Self.text(1...4))
    job.database = server.url(database: String(database))
    let summary = job.run()
    #expect(summary.exitCode == 0, "\(words(summary))")
    #expect(!String(decoding: summary.json, as: UTF8.self).contains("sesame") && !summary.database.contains("sesame"))
  }

  // MARK: - Others at the same time

  @Test("A reader sees the table as one delivery has left it, and never between two")
  func readers() throws {
    #expect(job(Self.text(1...2_000, "a")).run().exitCode == 0)
    let isDone = Guarded(false)
    let seen = Guarded<Set<String>>([])
    let thread = try WorkerThread { [url] in
      guard let reader = try? Server.connect(url) else { return }
      while !isDone.withLock({ $0 }) {
        let row = try? reader.run("SELECT count(*) || ' ' || min(left(v, 1)) || max(left(v, 1)) FROM t").last?.first
        if let words = row?.text(0) { seen.withLock { _ = $0.insert(words) } }
      }
    }
    for (night, letter) in ["b", "c", "d"].enumerated() {
      let summary = job(Self.text((100 * (night + 1))...2_000, letter)).run()
      #expect(summary.exitCode == 0 && summary.ledger.swept == (night == 0 ? 99 : 100), "\(words(summary))")
    }
    isDone.withLock { $0 = true }
    thread.join()
    let whole: Set = ["2000 aa", "1901 bb", "1801 cc", "1701 dd"]
    #expect(!seen.withLock { $0 }.isEmpty && seen.withLock { $0 }.subtracting(whole).isEmpty)
  }

  @Test("Backends that are ended at any time leave what the last night says")
  func backendsEnd() throws {
    let database = url.split(separator: "/")[1].split(separator: "?")[0]
    let adminURL = server.socketURL()
    let isDone = Guarded(false)
    let killer = try WorkerThread {
      guard let admin = try? Server.connect(adminURL) else { return }
      while !isDone.withLock({ $0 }) {
        _ = try? admin.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)' AND application_name = 'upsurge'")
        usleep(UInt32.random(in: 100_000...600_000))
      }
    }
    defer {
      isDone.withLock { $0 = true }
      killer.join()
    }
    for night in 0..<3 {
      let text = Self.text((1 + night * 50)...(3_000 + night * 50), "n\(night) ")
      var codes: [Int32] = []
      repeat { codes.append(job(text).run().exitCode) } while codes.last != 0 && codes.count < 40
      #expect(codes.last == 0 && Set(codes).isSubset(of: [0, 1, 3, 66, 75]), "night \(night): \(codes)")
    }
    #expect(
      try rows("SELECT count(*) AS n, min(id) AS least, max(id) AS most, count(*) FILTER (WHERE v = 'n2 ' || id) AS same FROM t")
        == ["3000|101|3100|3000"])
    #expect(try rows("SELECT count(*) AS n FROM upsurge_runs WHERE state = 'running'") == ["0"])
  }

  // MARK: - Beside the runs

  @Test("A feed is forgotten with its rows, or tried first")
  func forget() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, v text, part int); INSERT INTO t VALUES (9, 'theirs', 2)", in: url)
    func run() -> MirrorSummary { job("id,v,part\n1,a,1\n2,b,1\n") { $0.scope = "part = 1" }.run() }
    #expect(run().exitCode == 0)
    let removal = try FeedRemoval(database: url, table: "t")
    #expect(removal.rowCount == 2 && removal.scope == "part = 1" && removal.hasDelivered)
    #expect(try removal.perform(isTrial: true).rowCount == 2)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["3"])
    try server.psql("CREATE TABLE child (t bigint REFERENCES t); INSERT INTO child VALUES (1)", in: url)
    let refusal = #expect(throws: UpsurgeError.self) { try removal.perform() }
    #expect(refusal?.code == .guardRefused && refusal?.message.hasPrefix("nothing is forgotten") == true)
    try server.psql("DROP TABLE child", in: url)
    #expect(try removal.perform().rowCount == 2)
    #expect(try rows("SELECT id FROM t") == ["9"])
    #expect(try rows("SELECT count(*) AS n FROM upsurge_feeds") == ["0"])
    let unknown = #expect(throws: UpsurgeError.self) { try FeedRemoval(database: url, table: "t") }
    #expect(unknown?.code == .usage && unknown?.message.contains("no feed has delivered") == true)
    #expect(run().ledger.inserted == 2)
  }

  @Test("A check says what of the schema a feed cannot follow")
  func check() throws {
    #expect(try job(Self.text(1...2)).check().map(\.code) == [.missingTable])
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, v text, twice bigint GENERATED ALWAYS AS (id * 2) STORED, must int NOT NULL);
      CREATE TABLE child (t bigint REFERENCES t)
      """, in: url)
    let found = try job("id,v,twice\n1,a,2\n") { $0.scope = "nothing = 1" }.check().map(\.code)
    #expect(Set(found) == [.badScope, .generatedColumn, .missingValue, .keptByReferences])
    try server.psql("DROP TABLE child; ALTER TABLE t DROP COLUMN twice, DROP COLUMN must", in: url)
    #expect(try job(Self.text(1...2)).check().isEmpty)
    let soft = try job(Self.text(1...2)) { $0.sweep = .soft(column: "gone") }.check()
    #expect(soft.map(\.code) == [.missingMark])
  }

  @Test("Past runs of a table stay, as many as were asked for")
  func keptRuns() throws {
    for count in 1...4 {
      #expect(job(Self.text(1...(3 + count))) { $0.unattended.keptRunCount = 2 }.run().exitCode == 0)
    }
    #expect(try rows("SELECT count(*) AS n FROM upsurge_runs") == ["2"])
    #expect(try PastRun.all(database: url).count == 2)
    let report = try MirrorReport(database: url, feeds: FeedStatus.all(database: url), maximumAge: nil)
    #expect(report.tables.count == 1 && report.tables[0].runs.count == 2)
  }

  // MARK: - Folders and deltas

  @Test("Each file of a delta is taken once, in order")
  func delta() throws {
    let folder = scratch.file("drop")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var table = MirrorTable(name: "t", sources: [folder])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.kind = .delta
    let job = MirrorJob(database: url, tables: [table])
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "drop/1.csv")
    _ = scratch.write("id,v\n2,c\n3,d\n", to: "drop/2.csv")
    let first = job.run()
    #expect(first.exitCode == 0 && first.tables[0].loads.count == 2, "\(words(first))")
    #expect(try rows("SELECT id, v FROM t ORDER BY id") == ["1|'a'", "2|'c'", "3|'d'"])
    #expect(job.run().tables[0].loads.isEmpty)
    _ = scratch.write("id,v\n1,e\n", to: "drop/3.csv")
    let second = job.run()
    #expect(second.exitCode == 0 && second.tables[0].loads.count == 1 && second.ledger.updated == 1, "\(words(second))")
    #expect(try rows("SELECT count(*) AS n FROM upsurge_files") == ["3"])
  }

  // MARK: - Real data

  @Test(
    "Every night's ledger is what has changed",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.skipNote)), arguments: ["dotgov", "sp500"])
  func nights(name: String) throws {
    let history = try History(name, in: scratch)
    let feed = scratch.file("feed.csv")
    var table = MirrorTable(name: "feed", sources: [feed])
    table.options.rules.key = [history.key]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    let job = MirrorJob(database: url, tables: [table])
    let nights = history.nights.prefix(SeededGenerator.some(5, most: history.nights.count))
    for (number, night) in nights.enumerated() {
      try Data(contentsOf: URL(fileURLWithPath: night.path)).write(to: URL(fileURLWithPath: feed), options: .atomic)
      let summary = job.run()
      let ledger = summary.ledger
      #expect(summary.exitCode == 0, "night \(number): \(words(summary))")
      #expect(ledger.read == night.rows && ledger.rejected == 0, "night \(number)")
      if number > 0 {
        #expect(
          [ledger.inserted, ledger.swept, ledger.updated, ledger.unchanged]
            == [night.added, night.deleted, night.changed, night.unchanged], "night \(number)")
      }
      #expect(try rows("SELECT count(*) AS n FROM feed") == ["\(night.rows)"])
    }
    let again = job.run()
    #expect(again.exitCode == 0 && again.tables[0].loads.isEmpty)
  }
}
