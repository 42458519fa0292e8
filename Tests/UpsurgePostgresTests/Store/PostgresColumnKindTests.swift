import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Columns of unusual types, users of few rights, and servers of another encoding.
@Suite(
  "Kinds of columns, users and databases of PostgreSQL",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresColumnKindTests {
  private func key(_ options: inout LoadOptions) { options.rules.key = ["id"] }

  @Test("Another value is stored where the server calls it equal, and the same one is not written")
  func equalValues() throws {
    let scenario = try KindScenario(
      """
      CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); CREATE TYPE pair AS (a int, j json);
      CREATE TABLE t (id int PRIMARY KEY, n text COLLATE loose, i interval, c pair, cs pair[])
      """)
    let text = #"{"id":1,"n":"anna","i":"1 day","c":"(1,\"{\"\"a\"\":1}\")","cs":"{}"}"#
    #expect(KindScenario.counts(scenario.load(text, "a.ndjson")) == [1, 0, 0, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load(text, "a.ndjson")) == [0, 0, 1, 0, 0, 0])
    for (old, new) in [("anna", "Anna"), ("1 day", "24:00:00"), (":1}", ":2}")] {
      #expect(KindScenario.counts(scenario.load(text.replacing(old, with: new), "a.ndjson")) == [0, 1, 0, 0, 0, 0], "\(new)")
    }
    #expect(try scenario.rows("SELECT n, i::text AS i, (c).a AS a FROM t") == ["'anna'|'1 day'|1"])
  }

  @Test("Bad values of types with a grammar of their own are bad records")
  func grammars() throws {
    let scenario = try KindScenario("CREATE TABLE t (id int PRIMARY KEY, q tsquery, p jsonpath, a varchar(2)[], b bit(3)[])")
    let summary = scenario.load(
      "id,q,p,a,b\n1,a & b,$.a,\"{ab}\",\"{101}\"\n2,a &,,,\n3,,$$$,,\n4,,,\"{abc}\",\n5,,,,\"{1011}\"\n6,,,,\n", key)
    #expect(KindScenario.counts(summary) == [2, 0, 0, 0, 0, 4])
    #expect(try scenario.rows("SELECT id FROM t ORDER BY 1") == ["1", "6"])
  }

  @Test("What a trigger raises is a bad record, whatever its SQLSTATE", arguments: ["U0001", "45000", "P0003", "42501", "21000"])
  func raised(state: String) throws {
    let scenario = try KindScenario(
      """
      CREATE TABLE t (id int PRIMARY KEY, v int);
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.v < 0 THEN RAISE 'too small' USING ERRCODE = '\(state)'; END IF;
        RETURN NEW; END $$; CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()
      """)
    let summary = scenario.load("id,v\n1,1\n2,-1\n3,3\n", key)
    #expect(KindScenario.counts(summary) == [2, 0, 0, 0, 0, 1])
    let stopped = scenario.load("id,v\n4,-1\n") { $0.rejects.onError = .stop }
    #expect(stopped.exitCode == 65 && stopped.error?.message.contains("too small [\(state)]") == true)
  }

  @Test("A row that a policy refuses is a bad record, and a right that is missing ends the load")
  func policies() throws {
    var scenario = try KindScenario(
      """
      CREATE TABLE t (id int PRIMARY KEY, own text, v text); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
      CREATE POLICY reading ON t FOR SELECT USING (own <> 'hidden'); CREATE POLICY adding ON t FOR INSERT WITH CHECK (own = 'me');
      CREATE POLICY changing ON t FOR UPDATE USING (own = 'me') WITH CHECK (v <> 'no'); INSERT INTO t VALUES (1, 'me', 'a'), (2, 'you', 'b'), (3, 'hidden', 'c');
      CREATE TABLE u (id int PRIMARY KEY); DROP ROLE IF EXISTS kinds_policy; CREATE ROLE kinds_policy LOGIN;
      GRANT CREATE, USAGE ON SCHEMA public TO kinds_policy; GRANT ALL ON t TO kinds_policy; GRANT SELECT ON u TO kinds_policy
      """)
    let (owner, database) = (scenario.url, try scenario.rows("SELECT current_database() AS d")[0].dropFirst().dropLast())
    defer { _ = try? scenario.server.psql("DROP OWNED BY kinds_policy; DROP ROLE kinds_policy", in: owner) }
    scenario.url = scenario.server.socketURL(database: String(database), user: "kinds_policy")
    let text = "id,own,v\n1,me,x\n2,you,x\n3,me,x\n4,you,n\n5,me,n\n1,me,no\n"
    #expect(KindScenario.counts(scenario.load(text)) == [1, 1, 0, 0, 0, 4])
    let update = scenario.load("id,own,v\n1,me,y\n2,you,y\n3,me,y\n5,me,n\n5,me,no\n") { $0.rules.mode = .update }
    #expect(KindScenario.counts(update) == [0, 1, 1, 2, 0, 1])
    let missing = scenario.load("id\n1\n", table: "u")
    #expect(missing.exitCode == 1 && missing.ledger.rejected == 0)
    scenario.url = owner
    #expect(try scenario.rows("SELECT * FROM t ORDER BY 1") == ["1|'me'|'y'", "2|'you'|'b'", "3|'hidden'|'c'", "5|'me'|'n'"])
  }

  @Test("Who may read and write some columns needs no right to the others")
  func columnRights() throws {
    var scenario = try KindScenario(
      """
      CREATE TABLE t (id int PRIMARY KEY, v text, secret text DEFAULT 's'); CREATE TABLE log (v text COLLATE "C", n bigint CHECK (n < 100));
      DROP ROLE IF EXISTS kinds_few; CREATE ROLE kinds_few LOGIN; GRANT CREATE, USAGE ON SCHEMA public TO kinds_few;
      GRANT SELECT (id, v), INSERT (id, v), UPDATE (id, v) ON t TO kinds_few; GRANT INSERT ON log TO kinds_few
      """)
    let (owner, database) = (scenario.url, try scenario.rows("SELECT current_database() AS d")[0].dropFirst().dropLast())
    defer { _ = try? scenario.server.psql("DROP OWNED BY kinds_few; DROP ROLE kinds_few", in: owner) }
    scenario.url = scenario.server.socketURL(database: String(database), user: "kinds_few")
    #expect(KindScenario.counts(scenario.load("id,v\n1,a\n2,b\n2,c\n")) == [2, 1, 0, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load("id,v\n1,a\n2,d\n3,e\n")) == [1, 1, 1, 0, 0, 0])
    // A record that is bad makes the batch go another way.
    #expect(KindScenario.counts(scenario.load("v,n\na,1\nb,500\nc,3\n", table: "log")) == [2, 0, 0, 0, 0, 1])
    scenario.url = owner
    #expect(try scenario.rows("SELECT id, v FROM t ORDER BY 1") == ["1|'a'", "2|'d'", "3|'e'"])
    #expect(try scenario.rows("SELECT * FROM log ORDER BY 1") == ["'a'|1", "'c'|3"])
  }

  @Test("A letter that the database's encoding lacks makes a bad record of its own", arguments: [true, false])
  func encoding(isNew: Bool) throws {
    let server = try PostgresServer.shared()
    let name = "latin_\(isNew)"
    try server.psql("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'", in: server.socketURL())
    let scenario = try KindScenario(
      isNew ? "" : "CREATE TABLE t (id text PRIMARY KEY, v text); INSERT INTO t VALUES ('a', 'x')",
      url: server.socketURL(database: name) + "&client_encoding=UTF8")
    let text = "id,v\na,é\nb,€\né,1\n€,2\nz,3\n"
    #expect(KindScenario.counts(scenario.load(text, key)) == [isNew ? 3 : 2, isNew ? 0 : 1, 0, 0, 0, 2])
    #expect(KindScenario.counts(scenario.load(text, key)) == [0, 0, 3, 0, 0, 2])
    #expect(try scenario.rows("SELECT * FROM t ORDER BY 1") == ["'a'|'é'", "'z'|'3'", "'é'|'1'"])
  }

  @Test("A name is taken as it is spelled", arguments: ["a\"b", "\"a.b\"", "\"a\"\"b\"", "x'; DROP TABLE t; --", "Ünï", "\"half"])
  func names(name: String) throws {
    let scenario = try KindScenario("CREATE TABLE ab (id int); CREATE TABLE t (id int)")
    #expect(KindScenario.counts(scenario.load("id,v\n1,a\n", table: name, key)) == [1, 0, 0, 0, 0, 0])
    #expect(KindScenario.counts(scenario.load("id,v\n1,a\n", table: name, key)) == [0, 0, 1, 0, 0, 0])
    let bare = ["\"a.b\"": "a.b", "\"a\"\"b\"": "a\"b"][name] ?? name
    #expect(try scenario.rows("SELECT count(*) AS n FROM \(bare.quotedForPostgres)") == ["1"])
    #expect(try scenario.rows("SELECT count(*) AS n FROM ab") == ["0"])
    #expect(TableName(TableName.asSource(schema: "s.\"", name: bare)) == TableName(schema: "s.\"", name: bare))
  }
}
