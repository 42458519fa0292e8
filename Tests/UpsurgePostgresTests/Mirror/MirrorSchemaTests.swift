import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgeMirror
@testable import UpsurgePostgres

/// Sweeps of tables that have more than columns and a key: partitions, heirs, policies, rules, triggers, odd keys.
@Suite("Sweeps and schemas of PostgreSQL", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct MirrorSchemaTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  private func job(_ text: String, as user: String? = nil, _ change: (inout MirrorTable) -> Void = { _ in }) -> MirrorJob {
    var table = MirrorTable(name: "t", sources: [scratch.write(text, to: "feed.csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    table.guards.maximumDeletes = .percent(100)
    change(&table)
    return MirrorJob(database: user.map { url.replacing("user=\(PostgresServer.user)", with: "user=\($0)") } ?? url, tables: [table])
  }

  private func rows(_ sql: String) throws -> [String] { try server.rows(sql, in: url) }

  private func words(_ summary: MirrorSummary) -> String {
    let error = summary.error ?? summary.tables.first?.failure ?? summary.tables.first?.loads.last?.guardRefusal
    return error.map { "\($0.description) \($0.hint ?? "")" } ?? "no failure"
  }

  private static func text(_ ids: some Sequence<Int>) -> String { "id,v\n" + ids.map { "\($0),v\($0)\n" }.joined() }

  /// A role of this test's own that may do all with the tables that are there, and make others.
  private func role() throws -> String {
    let role = "mirror_" + UUID().uuidString.prefix(8).lowercased()
    try server.psql(
      "CREATE ROLE \(role) LOGIN; GRANT CREATE, USAGE ON SCHEMA public TO \(role); GRANT ALL ON ALL TABLES IN SCHEMA public TO \(role)",
      in: url)
    return role
  }

  // MARK: - Kinds of tables

  @Test("Rows go from all partitions", arguments: [RowSweep.hard, .soft(column: "gone")])
  func partitions(sweep: RowSweep) throws {
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, v text, gone text) PARTITION BY HASH (id);
      CREATE TABLE t_0 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0);
      CREATE TABLE t_1 (gone text, v text, id bigint NOT NULL);
      ALTER TABLE t ATTACH PARTITION t_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1)
      """, in: url)
    #expect(job(Self.text(1...40)) { $0.sweep = sweep }.run().ledger.inserted == 40)
    let second = job(Self.text(21...41)) { $0.sweep = sweep }.run()
    #expect(second.exitCode == 0 && second.ledger.swept == 20 && second.ledger.inserted == 1, "\(words(second))")
    #expect(try rows("SELECT count(*) AS n, min(id) AS least FROM t WHERE gone IS NULL") == ["21|21"])
  }

  @Test("Rows of tables that inherit from the swept one are not its own")
  func heirs() throws {
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, v text); CREATE TABLE heir () INHERITS (t);
      INSERT INTO heir VALUES (1, 'theirs'), (50, 'theirs')
      """, in: url)
    #expect(job(Self.text(1...4)).run().ledger.inserted == 4)
    let second = job(Self.text(3...4)).run()
    #expect(second.exitCode == 0 && second.ledger.swept == 2, "\(words(second))")
    #expect(try rows("SELECT id, tableoid::regclass::text AS place FROM t ORDER BY id") == ["1|'heir'", "3|'t'", "4|'t'", "50|'heir'"])
    #expect(try FeedRemoval(database: url, table: "t").perform().rowCount == 2)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["2"])
  }

  @Test("Rows that a policy hides are not swept")
  func hiddenRows() throws {
    try server.psql(
      """
      CREATE TABLE t (id bigint PRIMARY KEY, v text, part int DEFAULT 1); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON t USING (part = 1); INSERT INTO t VALUES (1, 'v1', 1), (2, 'v2', 1), (50, 'theirs', 2)
      """, in: url)
    let second = job(Self.text(2...3), as: try role()).run()
    #expect(second.exitCode == 0 && second.ledger.swept == 1 && second.ledger.inserted == 1, "\(words(second))")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["2", "3", "50"])
  }

  @Test("Rows that a policy or a trigger keeps are said, and none goes", arguments: [true, false])
  func keptRows(isPolicy: Bool) throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'v1'), (2, 'v2'), (3, 'v3')", in: url)
    try server.psql(
      isPolicy
        ? """
        ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY sees ON t USING (true); CREATE POLICY stays ON t AS RESTRICTIVE FOR DELETE
          USING (id <> 1)
        """
        : """
        CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN CASE WHEN OLD.id = 1 THEN NULL ELSE OLD END; END';
        CREATE TRIGGER stays BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION stays()
        """, in: url)
    let user = try role()
    let kept = job(Self.text(3...4), as: user).run()
    #expect(kept.exitCode == 4 && kept.ledger.swept == 0, "\(words(kept))")
    #expect(words(kept).contains("a trigger or a policy keeps 1 of the 2 rows"), "\(words(kept))")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["1", "2", "3", "4"])
    try server.psql(isPolicy ? "DROP POLICY stays ON t" : "DROP TRIGGER stays ON t", in: url)
    let swept = job(Self.text(3...4), as: user).run()
    #expect(swept.exitCode == 0 && swept.ledger.swept == 2, "\(words(swept))")
  }

  @Test(
    "A rule on what a sweep does is refused by its name",
    arguments: [(RowSweep.hard, "DELETE"), (RowSweep.soft(column: "gone"), "UPDATE")])
  func rules(sweep: RowSweep, event: String) throws {
    try server.psql(
      "CREATE TABLE t (id bigint PRIMARY KEY, v text, gone text); CREATE RULE stays AS ON \(event) TO t DO INSTEAD NOTHING", in: url)
    let summary = job(Self.text(1...4)) {
      $0.sweep = sweep
      // Without updates of its own.
      $0.options.rules.mode = .ignore
    }.run()
    #expect(summary.exitCode == 64 && words(summary).contains("the rule stays on \(event)"), "\(words(summary))")
    #expect(try rows("SELECT count(*) AS n FROM t") == ["0"])
  }

  // MARK: - Keys

  @Test("A row without a value of its key goes: no record can be about it")
  func rowsWithoutKey() throws {
    try server.psql(
      "CREATE TABLE t (id bigint UNIQUE, v text); INSERT INTO t VALUES (1, 'v1'), (2, 'v2'), (NULL, 'a'), (NULL, 'b')", in: url)
    let summary = job(Self.text(2...3)).run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 3, "\(words(summary))")
    #expect(try rows("SELECT id, v FROM t ORDER BY id") == ["2|'v2'", "3|'v3'"])
  }

  @Test("Keys are compared as their index compares them")
  func collation() throws {
    guard try Server.connect(url).hasICU() else { return }
    try server.psql(
      """
      CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE t (id text NOT NULL, v text); CREATE UNIQUE INDEX ON t (id COLLATE loose);
      INSERT INTO t VALUES ('Anna', 'v'), ('Berta', 'v')
      """, in: url)
    let summary = job("id,v\nANNA,v\n").run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 1 && summary.ledger.inserted == 0, "\(words(summary))")
    #expect(try rows("SELECT lower(id) AS id FROM t") == ["'anna'"])
  }

  @Test(
    "A record that is refused, and whose key nobody can read, keeps all rows",
    arguments: [
      ("inet", "10.0.0.1", "nowhere"), ("short", "a1", "much too long"), ("bit(3)", "101", "10111"), ("day", "2024-01-31", "1999-12-31"),
    ])
  func unreadableKeys(type: String, good: String, bad: String) throws {
    try server.psql(
      """
      CREATE DOMAIN short AS text CHECK (length(VALUE) < 4); CREATE DOMAIN day AS date CHECK (VALUE > '2000-01-01');
      CREATE TABLE t (id \(type) PRIMARY KEY, n int)
      """, in: url)
    #expect(job("id,n\n\(good),1\n").run().ledger.inserted == 1)
    let summary = job("id,n\n\(bad),x\n\(good),y\n").run()
    #expect(summary.exitCode == 4 && summary.ledger.rejected == 2 && summary.ledger.swept == 0, "\(words(summary))")
    #expect(words(summary).contains("1 of 2 records could not be read"), "\(words(summary))")
    // The row of a record that is refused stays, as long as its key can be read.
    let refused = job("id,n\n\(good),y\n").run()
    #expect(refused.exitCode == 2 && refused.ledger.rejected == 1 && refused.ledger.swept == 0, "\(words(refused))")
    #expect(try rows("SELECT n FROM t") == ["1"])
  }

  @Test("A key that is made with the first delivery finds rows at once")
  func createdKey() throws {
    try server.psql("CREATE TABLE t (id bigint, v text); INSERT INTO t VALUES (1, 'v1'), (2, 'v2')", in: url)
    let summary = job(Self.text(2...3)) { $0.options.indexes.createsKey = true }.run()
    #expect(summary.exitCode == 0 && summary.ledger.swept == 1, "\(words(summary))")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["2", "3"])
  }

  // MARK: - What is refused leaves nothing

  @Test("A scope is judged before a table is made, and what is refused leaves no run")
  func refusedScope() throws {
    let wrong = job(Self.text(1...4)) { $0.scope = "part = 1" }.run()
    #expect(wrong.exitCode == 64 && words(wrong).contains("scope"), "\(words(wrong))")
    #expect(try rows("SELECT to_regclass('t') IS NULL AS n") == ["true"])
    let right = job(Self.text(1...4)) { $0.scope = "t.id < 10" }.run()
    #expect(right.exitCode == 0 && right.ledger.inserted == 4, "\(words(right))")
    try server.psql("ALTER TABLE t DROP CONSTRAINT t_pkey", in: url)
    let keyless = job(Self.text(1...4)) {
      $0.scope = "t.id < 10"
      $0.options.rules.key = []
    }
    #expect(keyless.run().exitCode != 0)
    #expect(try rows("SELECT count(*) AS n FROM upsurge_runs WHERE state <> 'done'") == ["0"])
  }

  @Test("A trial that fails counts no record, as nothing of it would be stored")
  func failedTrial() throws {
    #expect(job(Self.text(1...4)) { $0.scope = "t.id < 10" }.run().exitCode == 0)
    var trial = job(Self.text(2...12)) { $0.scope = "t.id < 10" }
    let real = trial.run()
    trial.dryRun = .count
    let tried = trial.run()
    #expect(real.exitCode == 4 && words(real).contains("outside of the scope"), "\(words(real))")
    #expect(tried.exitCode == 4 && tried.ledger == real.ledger && tried.ledger.inserted == 0, "\(words(tried))")
  }

  @Test("A sweep that a user may not do says the GRANT that is needed")
  func rights() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'v1')", in: url)
    let user = try role()
    try server.psql("REVOKE DELETE ON t FROM \(user)", in: url)
    #expect(job(Self.text(1...2), as: user) { $0.sweep = .none }.run().exitCode == 0)
    let summary = job(Self.text(2...3), as: user).run()
    #expect(summary.exitCode != 0 && words(summary).contains("GRANT DELETE ON public.t TO \(user)"), "\(words(summary))")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["1", "2"])
  }

  @Test("What a user may not read is not said to be empty, and the GRANT helps")
  func unread() throws {
    #expect(job(Self.text(1...2)).run().exitCode == 0)
    let user = try role()
    try server.psql("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM \(user)", in: url)
    let theirs = url.replacing("user=\(PostgresServer.user)", with: "user=\(user)")
    func grant(_ body: () throws -> Void) throws -> String {
      let error = try #require(throws: UpsurgeError.self) { try body() }
      #expect(error.message.contains("may not be read") && error.exitCode(hasCommittedWork: false) != 0, "\(error)")
      return String(try #require(error.hint?.split(separator: " gives what is missing").first))
    }
    let runs = try grant { _ = try PastRun.all(database: theirs) }
    #expect(runs == "GRANT SELECT ON public.upsurge_runs TO \(user)")
    let feeds = try grant { _ = try FeedStatus.all(database: theirs) }
    #expect(feeds == "GRANT SELECT ON public.upsurge_feeds TO \(user)")
    try server.psql("\(runs); \(feeds)", in: url)
    #expect(try PastRun.all(database: theirs).count == 1)
    try server.psql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(user)", in: url)
    #expect(try FeedStatus.all(database: theirs).map(\.table) == ["t"])
  }

  @Test("A record that breaks a foreign key which waits for the end is a reject, and no fault of the sweep")
  func deferredKeys() throws {
    try server.psql(
      """
      CREATE TABLE up (id bigint PRIMARY KEY); INSERT INTO up VALUES (1);
      CREATE TABLE t (id bigint PRIMARY KEY, up bigint REFERENCES up DEFERRABLE INITIALLY DEFERRED); INSERT INTO t VALUES (1, 1), (2, 1)
      """, in: url)
    let summary = job("id,up\n2,1\n3,1\n4,7\n").run()
    #expect(summary.exitCode == 2 && summary.ledger.rejected == 1 && summary.ledger.swept == 1, "\(words(summary))")
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["2", "3"])
  }

  @Test("After a replay nobody knows which rows a refused delivery has brought")
  func replay() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, v text CHECK (v <> 'bad'))", in: url)
    func run(_ text: String) -> MirrorSummary {
      job(text) {
        $0.options.rejects.target = .table
        $0.guards.maximumDeletes = .percent(50)
      }.run()
    }
    #expect(run(Self.text(1...10)).exitCode == 0)
    let refused = run(Self.text(1...3) + "20,v20\n21,v21\n30,bad\n")
    #expect(refused.exitCode == 4 && refused.ledger.rejected == 1, "\(words(refused))")
    #expect(try rows("SELECT rows_known FROM upsurge_refusals") == ["1"])
    try server.psql("ALTER TABLE t DROP CONSTRAINT t_v_check", in: url)
    #expect(ReplayJob(database: url).run().ledger.inserted == 1)
    #expect(try rows("SELECT rows_known FROM upsurge_refusals ORDER BY rows_known") == ["0", "1"])
    let next = run(Self.text(1...9))
    #expect(next.exitCode == 4 && words(next).contains("nobody knows which rows came with a delivery"), "\(words(next))")
  }

  @Test("A scope that a stranger may have written is not run, and one that is more than a condition neither")
  func storedScope() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, v text); INSERT INTO t VALUES (9, 'theirs')", in: url)
    #expect(job(Self.text(1...4)) { $0.scope = "id < 5" }.run().exitCode == 0)
    try server.psql("UPDATE upsurge_feeds SET feed = replace(feed, 'id < 5', 'id < 5) OR (true')", in: url)
    let more = #expect(throws: UpsurgeError.self) { try FeedRemoval(database: url, table: "t") }
    #expect(more?.code == .usage && more?.message.contains("scope") == true, "\(String(describing: more))")
    try server.psql("UPDATE upsurge_feeds SET feed = replace(feed, ') OR (true', '')", in: url)
    let user = try role()
    let stranger = try role()
    try server.psql("ALTER TABLE upsurge_feeds OWNER TO \(stranger)", in: url)
    let database = url.replacing("user=\(PostgresServer.user)", with: "user=\(user)")
    let foreign = #expect(throws: UpsurgeError.self) { try FeedRemoval(database: database, table: "t") }
    #expect(foreign?.code == .guardRefused && foreign?.message.contains("belongs to \(stranger)") == true, "\(String(describing: foreign))")
    // Whoever has the stranger's rights may.
    try server.psql("GRANT \(stranger) TO \(user)", in: url)
    #expect(try FeedRemoval(database: database, table: "t").perform().rowCount == 4)
    #expect(try rows("SELECT id FROM t") == ["9"])
  }

  // MARK: - Nights that meet, or end early

  @Test("Two sweeps of one table come one after the other, and writers do not wait")
  func twoNights() throws {
    #expect(job(Self.text(1...4)).run().exitCode == 0)
    let other = try Server.connect(url)
    try other.run("BEGIN; LOCK TABLE ONLY t IN SHARE UPDATE EXCLUSIVE MODE")
    let waiting = job(Self.text(2...5)) { $0.options.transaction.busyTimeout = 200 }.run()
    #expect(waiting.exitCode == 75 && waiting.ledger.swept == 0, "\(words(waiting))")
    try server.psql("INSERT INTO t VALUES (9, 'theirs')", in: url)
    other.rollback()
    #expect(try rows("SELECT id FROM t ORDER BY id") == ["1", "2", "3", "4", "9"])
    let next = job(Self.text(2...5)).run()
    #expect(next.exitCode == 0 && next.ledger.swept == 2, "\(words(next))")
    #expect(try rows("SELECT count(*) AS n FROM upsurge_runs WHERE state <> 'done'") == ["0"])
  }

  @Test("A night that has ended between its COMMIT and its notes is told again, and stores nothing twice")
  func unseenNight() throws {
    #expect(job(Self.text(1...4)).run().exitCode == 0)
    let night = job(Self.text(3...6))
    let unseen = night.run(report: { _ in false })
    #expect(unseen.exitCode == 0 && unseen.ledger.swept == 2 && unseen.ledger.inserted == 2, "\(words(unseen))")
    // As if the process had been killed before it noted the feed.
    try server.psql("DELETE FROM upsurge_feeds", in: url)
    let before = try rows("SELECT id, xmin::text AS x FROM t ORDER BY id")
    let again = night.run()
    #expect(again.exitCode == 0 && again.ledger == unseen.ledger, "\(words(again))")
    #expect(try rows("SELECT id, xmin::text AS x FROM t ORDER BY id") == before)
    #expect(try rows("SELECT count(*) AS n FROM upsurge_runs WHERE state <> 'done'") == ["0"])
    #expect(night.run().tables[0].loads.isEmpty)
  }
}
