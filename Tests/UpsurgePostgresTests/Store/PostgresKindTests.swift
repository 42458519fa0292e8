import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// A database of one test, and loads into it.
struct KindScenario {
  let scratch = Scratch()
  let server: PostgresServer
  var url: String

  init(_ ddl: String = "", url: String? = nil) throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    self.url = try url ?? server.freshDatabase()
    if !ddl.isEmpty { try server.psql(ddl, in: self.url) }
  }

  /// Loads with bad records left out.
  func load(
    _ text: String, _ file: String = "feed.csv", table: String = "t", _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rejects.onError = .reject
    change(&options)
    return LoadJob(database: url, table: table, sources: [scratch.write(text, to: file)], options: options).run()
  }

  func load(_ text: String, _ change: (inout LoadOptions) -> Void) -> RunSummary { load(text, "feed.csv", change) }

  func rows(_ sql: String) throws -> [String] { try server.rows(sql, in: url) }

  /// Inserted, updated, unchanged, ignored, deleted, rejected; nil where the load has failed.
  static func counts(_ summary: RunSummary) -> [UInt64]? {
    if let error = summary.error {
      Issue.record("\(error)")
      return nil
    }
    let ledger = summary.ledger
    return [ledger.inserted, ledger.updated, ledger.unchanged, ledger.ignored, ledger.deleted, ledger.rejected]
  }
}

/// Tables of which the catalogue says more than columns and a key.
@Suite(
  "Kinds of tables of PostgreSQL",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresKindTests {
  static let partitions = """
    CREATE TABLE t (id int PRIMARY KEY, c text, v int) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (100);
    CREATE TABLE t2 (v int, id int NOT NULL, c text); ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (100) TO (200);
    """
  static let leavingOut = """
    CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.v = 0 THEN RETURN NULL; END IF; RETURN NEW; END $$;
    CREATE TRIGGER leaving_out BEFORE INSERT ON
    """

  @Test("A trigger that leaves rows out of partitions is counted right", arguments: ["t", "t1"])
  func partitionTrigger(table: String) throws {
    let scenario = try KindScenario(Self.partitions + Self.leavingOut + " \(table) FOR EACH ROW EXECUTE FUNCTION f()")
    try scenario.server.psql("INSERT INTO t VALUES (4, 'd', 4), (5, 'e', 5)", in: scenario.url)
    let summary = scenario.load("id,c,v\n1,a,0\n2,b,0\n3,c,1\n4,x,4\n5,e,5\n101,f,1\n500,z,1\n")
    #expect(KindScenario.counts(summary) == [2, 1, 1, 2, 0, 1])
    #expect(try scenario.rows("SELECT id, c FROM t ORDER BY 1") == ["3|'c'", "4|'x'", "5|'e'", "101|'f'"])
  }

  @Test("A unique key that one partition has keeps records in their order")
  func partitionKey() throws {
    let scenario = try KindScenario(Self.partitions + "CREATE UNIQUE INDEX ON t1 (c); INSERT INTO t VALUES (9, 'a', 0), (1, 'b', 0)")
    let summary = scenario.load("id,c,v\n9,z,0\n1,a,0\n2,a,0\n")
    #expect(KindScenario.counts(summary) == [0, 2, 0, 0, 0, 1])
    #expect(try scenario.rows("SELECT id, c FROM t ORDER BY 1") == ["1|'a'", "9|'z'"])
  }

  @Test("Rows of tables that inherit are not those that a key finds")
  func inheritance() throws {
    let scenario = try KindScenario(
      """
      CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE child () INHERITS (t);
      INSERT INTO child VALUES (1, 'child'), (2, 'child'); INSERT INTO t VALUES (2, 'own')
      """)
    #expect(KindScenario.counts(scenario.load("id,v\n1,a\n2,b\n")) == [1, 1, 0, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load("id,v\n1,a\n2,b\n")) == [0, 0, 2, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load("id,v\n1,c\n3,c\n") { $0.rules.mode = .update }) == [0, 1, 0, 1, 0, 0])
    #expect(try scenario.rows("SELECT * FROM ONLY t ORDER BY 1") == ["1|'c'", "2|'b'"])
    #expect(KindScenario.counts(scenario.load("id\n1\n2\n3\n") { $0.rules.mode = .delete }) == [0, 0, 0, 1, 2, 0])
    #expect(try scenario.rows("SELECT * FROM t ORDER BY 1") == ["1|'child'", "2|'child'"])
  }

  @Test("A rule is refused where what it stores could not be counted")
  func rules() throws {
    let scenario = try KindScenario("CREATE TABLE t (id int PRIMARY KEY, v text); CREATE RULE quiet AS ON UPDATE TO t DO INSTEAD NOTHING")
    let refused = scenario.load("id,v\n1,a\n")
    #expect(refused.exitCode == 64 && refused.ledger.read == 0)
    #expect(refused.error?.message == "public.t has the rule quiet on UPDATE, and what a rule stores cannot be counted")
    #expect(refused.error?.hint == "make a trigger of the rule, and DROP RULE quiet ON public.t")
    #expect(KindScenario.counts(scenario.load("id,v\n1,a\n") { $0.rules.mode = .insert }) == [1, 0, 0, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load("id\n1\n") { $0.rules.mode = .delete }) == [0, 0, 0, 0, 1, 0])
    try scenario.server.psql("DROP RULE quiet ON public.t", in: scenario.url)
    #expect(KindScenario.counts(scenario.load("id,v\n1,a\n")) == [1, 0, 0, 0, 0, 0])
  }

  @Test("A view stores what its trigger stores, and has no key")
  func view() throws {
    let scenario = try KindScenario(
      """
      CREATE TABLE base (id int PRIMARY KEY, v int); CREATE VIEW t AS SELECT * FROM base;
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.v = 0 THEN RETURN NULL; END IF;
        INSERT INTO base VALUES (NEW.id, NEW.v); RETURN NEW; END $$;
      CREATE TRIGGER storing INSTEAD OF INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()
      """)
    #expect(KindScenario.counts(scenario.load("id,v\n1,1\n2,0\n1,3\n4,4\n")) == [2, 0, 0, 1, 0, 1])
    #expect(try scenario.rows("SELECT * FROM base ORDER BY 1") == ["1|1", "4|4"])
    let refused = scenario.load("id,v\n1,1\n") { $0.rules.key = ["id"] }
    #expect(refused.exitCode == 64 && refused.error?.hint == "load the table that it shows")
    #expect(KindScenario.counts(scenario.load("id,v\n1,1\n", table: "base")) == [0, 0, 1, 0, 0, 0])
  }

  @Test("The key of rows that are not deleted needs no column that says so")
  func partialKey() throws {
    let scenario = try KindScenario(
      """
      CREATE TABLE t (id serial PRIMARY KEY, email text, name text, gone date); CREATE UNIQUE INDEX ON t (email) WHERE gone IS NULL;
      INSERT INTO t (email, name, gone) VALUES ('a', 'A', NULL), ('b', 'B', '2024-01-01')
      """)
    let key: (inout LoadOptions) -> Void = { $0.rules.key = ["email"] }
    #expect(KindScenario.counts(scenario.load("email,name\na,A2\nb,B2\n", key)) == [1, 1, 0, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load("email,name\na,A2\nb,B2\n", key)) == [0, 0, 2, 0, 0, 0])
    #expect(try scenario.rows("SELECT email, name, gone FROM t ORDER BY 1, 2") == ["'a'|'A2'|NULL", "'b'|'B'|'2024-01-01'", "'b'|'B2'|NULL"])
    #expect(KindScenario.counts(scenario.load("email\na\nb\nc\n") { key(&$0); $0.rules.mode = .delete }) == [0, 0, 0, 1, 2, 0])
  }

  @Test("Of a key that is an expression only its own columns are needed")
  func expressionKey() throws {
    let scenario = try KindScenario("CREATE TABLE t (am text, name text, n int); CREATE UNIQUE INDEX ON t (lower(name))")
    let summary = scenario.load("{\"name\":\"Anna\",\"n\":1}\n{\"name\":\"ANNA\",\"n\":2}\n{\"n\":3}\n", "feed.ndjson") {
      $0.rules.key = ["lower(name)"]
    }
    #expect(KindScenario.counts(summary) == [1, 1, 0, 0, 0, 1])
    #expect(try scenario.rows("SELECT name, n FROM t") == ["'ANNA'|2"])
  }

  @Test("A key whose index has a collation of its own finds what the index finds")
  func indexCollation() throws {
    let scenario = try KindScenario(
      """
      CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE t (name text, n int); CREATE UNIQUE INDEX ON t (name COLLATE loose); INSERT INTO t VALUES ('Anna', 1), ('zoe', 5)
      """)
    let summary = scenario.load("name,n\nANNA,1\nBob,2\nBOB,3\nZOE,5\n") { $0.rules.key = ["name"] }
    #expect(KindScenario.counts(summary) == [1, 1, 2, 0, 0, 0])
    #expect(try scenario.rows("SELECT * FROM t ORDER BY n") == ["'Anna'|1", "'Bob'|3", "'zoe'|5"])
  }

  @Test("NULL finds its row where the key says NULLS NOT DISTINCT")
  func nullKeys() throws {
    guard PostgresServer.installed().first.map({ $0.majorVersion >= 15 }) == true else { return }
    let scenario = try KindScenario(
      "CREATE TABLE t (k int, v text, UNIQUE NULLS NOT DISTINCT (k)); INSERT INTO t VALUES (NULL, 'old'), (1, 'one')")
    let key: (inout LoadOptions) -> Void = { $0.rules.key = ["k"] }
    #expect(KindScenario.counts(scenario.load("k,v\n,old\n1,two\n,old\n", key)) == [0, 1, 2, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load("k,v\n,new\n") { key(&$0); $0.rules.mode = .update }) == [0, 1, 0, 0, 0, 0])
    #expect(try scenario.rows("SELECT * FROM t ORDER BY k") == ["1|'two'", "NULL|'new'"])
    #expect(KindScenario.counts(scenario.load("k,v\n,a\n1,b\n2,c\n") { key(&$0); $0.rules.mode = .delete }) == [0, 0, 0, 1, 2, 0])
  }
}
