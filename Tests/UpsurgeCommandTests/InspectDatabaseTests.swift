import Foundation
import TestSupport
import Testing
import Upsurge

/// `upsurge inspect DB`.
@Suite("Inspect a database")
struct InspectDatabaseTests {
  let scratch = Scratch()

  private static let schema = """
    CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE NOT NULL UNIQUE, "odd, name" TEXT,
      active INT DEFAULT 1, g TEXT AS (upper(email)), token TEXT DEFAULT (uuid()));
    CREATE UNIQUE INDEX live ON users("odd, name", lower(email)) WHERE active = 1;
    CREATE INDEX by_active ON users(active, email DESC) WHERE active > 0;
    CREATE TABLE orders(user INT REFERENCES users, n INT, PRIMARY KEY (user, n)) STRICT, WITHOUT ROWID;
    CREATE TABLE log(what);
    CREATE TRIGGER plain AFTER INSERT ON users BEGIN INSERT INTO log(what) VALUES (json_quote(new.email)); END;
    CREATE TRIGGER guarded AFTER UPDATE ON users WHEN NOT upsurge_is_synchronizing()
      BEGIN INSERT INTO log VALUES (my_function(new.id)); END;
    CREATE VIRTUAL TABLE own USING fts5(body);
    CREATE VIRTUAL TABLE bare USING fts5(body, content='');
    CREATE VIRTUAL TABLE outside USING fts5(email, content='users', content_rowid='id');
    CREATE VIEW v AS SELECT id, uuid() AS u FROM users;
    INSERT INTO log VALUES (1), (2);
    """

  private func make() throws -> String {
    let path = scratch.file("a.db")
    try Database(path).rows(Self.schema)
    return path
  }

  @Test("Every part is said, keys as --key takes them, and nothing is written")
  func text() throws {
    let path = try make()
    let before = try readFile(path)
    let outcome = try Command.run(["inspect", path])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let lines = Set(outcome.output.split(separator: "\n").map(String.init))
    for line in [
      "table users: 0 rows", "table log: 2 rows", "table orders: 0 rows · STRICT · WITHOUT ROWID",
      "  email      TEXT NOT NULL COLLATE NOCASE", "  active     INT DEFAULT 1",
      "  g          TEXT generated",
      "  key: --key id  (PRIMARY KEY)", "  key: --key email  (UNIQUE)",
      "  key: --key '\"odd, name\",lower(email)' --key-where 'active = 1'  (UNIQUE INDEX live)",
      "  key: --key user,n  (PRIMARY KEY)", "  index: by_active on active, email, of some rows",
      "  foreign key: user -> users (id)", "  referenced by: orders", "  trigger: plain",
      "  trigger: guarded, which calls upsurge_is_synchronizing(), my_function(): fails in programs that do not register it",
      "  calls uuid(): fails in programs that do not register it",
      "FTS5 table own: 0 rows · content of its own",
      "FTS5 table bare: 0 rows · contentless: kept row by row, nothing to rebuild it from",
      "FTS5 table outside: 0 rows · content is users", "view v: id, u",
    ] { #expect(lines.contains(line), "\(line)\n\(outcome.output)") }
    #expect(try readFile(path) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["a.db"])
  }

  @Test("The JSON says the same")
  func json() throws {
    let path = try make()
    let outcome = try Command.run(["inspect", path, "--summary", "-"])
    let root = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let tables = try #require(root["tables"] as? [[String: Any]])
    #expect(
      tables.compactMap { $0["name"] as? String } == ["bare", "log", "orders", "outside", "own", "users"])
    let users = try #require(tables.last)
    let keys = try #require(users["keys"] as? [[String: Any]])
    #expect(
      keys.compactMap { $0["option"] as? String } == [
        "--key id", "--key email", "--key '\"odd, name\",lower(email)' --key-where 'active = 1'",
      ])
    #expect(users["application_functions"] as? [String] == ["uuid"])
    #expect(tables[1]["rows"] as? Int == 2 && tables[1]["rows_exact"] as? Bool == true)
    #expect(tables[0]["full_text_content"] as? String == "none")
    #expect(tables[3]["full_text_content"] as? String == "table:users")
    #expect((root["views"] as? [[String: Any]])?.first?["columns"] as? [String] == ["id", "u"])
  }

  @Test("The keys that are shown are keys that load takes")
  func keysAreTaken() throws {
    let path = scratch.file("b.db")
    try Database(path).rows(
      """
      CREATE TABLE t(a, "b,c", "d""e", "f(g", h);
      CREATE UNIQUE INDEX x ON t("b,c", "d""e", "f(g"); CREATE UNIQUE INDEX y ON t(lower(a)) WHERE h IS NOT NULL
      """)
    let description = try DatabaseDescription(path: path)
    let options = description.tables[0].keys.map(\.option)
    #expect(
      options == [#"--key '"b,c","d""e","f(g"'"#, "--key 'lower(a)' --key-where 'h IS NOT NULL'"])
    let csv = "a,\"b,c\",\"d\"\"e\",f(g,h\n1,2,3,4,5\n"
    for key in [[#""b,c","d""e","f(g""#], ["lower(a)", "--key-where", "h IS NOT NULL"]] {
      let outcome = try Command.run(["load", path, "t", "-", "--key"] + key, input: Array(csv.utf8))
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
    }
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["1"])
  }

  @Test("A damaged database is found by --check, an empty one is said to be so")
  func damage() throws {
    let path = scratch.file("c.db")
    try Database(path).rows(
      "CREATE TABLE t(a, b); CREATE INDEX i ON t(a); WITH c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c LIMIT 999) INSERT INTO t SELECT x, x FROM c"
    )
    #expect(try Command.run(["inspect", path, "--check"]).exitCode == 0)
    try Database(path).rows(
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'i'")
    let outcome = try Command.run(["inspect", path, "--check"])
    #expect(outcome.exitCode != 0, "\(outcome.output)")
    try Database(scratch.file("d.db")).rows("VACUUM; PRAGMA user_version=1")
    #expect(try Command.run(["inspect", scratch.file("d.db")]).output.contains("it holds no table"))
  }
}
