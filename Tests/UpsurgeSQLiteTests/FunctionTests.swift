import SQLiteSupport
import Testing
import UpsurgeRecords

@testable import UpsurgeSQLite

@Suite struct FunctionTests {
  @Test func uuidIsRandomOfVersionFour() throws {
    let connection = try TemporaryDatabase().open()
    var seen: Set<String> = []
    let statement = try connection.prepare(
      "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < 1000) SELECT uuid() FROM c")
    while try statement.step() {
      let text = try #require(statement.text(at: 0))
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      #expect(parts.map(\.utf8.count) == [8, 4, 4, 4, 12])
      #expect(text.allSatisfy { "0123456789abcdef-".contains($0) })
      #expect(parts[2].hasPrefix("4"))
      #expect("89ab".contains(parts[3].prefix(1)))
      seen.insert(text)
    }
    #expect(seen.count == 1000)
  }

  @Test func functionsWorkInASchemaThatIsNotTrusted() throws {
    let connection = try TemporaryDatabase().open(
      """
      PRAGMA trusted_schema=OFF;
      CREATE TABLE t(id TEXT PRIMARY KEY DEFAULT (uuid()), n);
      CREATE TABLE log(n);
      CREATE TRIGGER note AFTER INSERT ON t WHEN NOT upsurge_is_synchronizing()
        BEGIN INSERT INTO log VALUES(new.n); END;
      """)
    try connection.execute("INSERT INTO t(n) VALUES(1)")
    connection.isSynchronizing = true
    try connection.execute("INSERT INTO t(n) VALUES(2)")
    connection.isSynchronizing = false
    try connection.execute("INSERT INTO t(n) VALUES(3)")
    #expect(try connection.text("SELECT group_concat(n) FROM log") == "1,3")
    #expect(try connection.integer("SELECT count(DISTINCT id) FROM t WHERE length(id) = 36") == 3)
  }

  private func refusal(_ sql: String, on connection: Connection) -> UpsurgeError? {
    do throws(UpsurgeError) {
      try connection.runScript(sql, name: "init.sql")
      return nil
    } catch {
      return error
    }
  }

  @Test func aScriptPreparesTheConnectionOnly() throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(a); CREATE TABLE log(a)")
    try connection.runScript(
      """
      PRAGMA case_sensitive_like = ON;
      CREATE TEMP TABLE seen(a); INSERT INTO seen VALUES(1);
      CREATE TEMP VIEW v AS SELECT * FROM t;
      CREATE TEMP TRIGGER note AFTER INSERT ON main.t BEGIN INSERT INTO log VALUES(new.a); END;
      """, name: "init.sql")
    try connection.execute("INSERT INTO t VALUES(7)")
    #expect(
      try connection.text("SELECT group_concat(a) FROM log") == "7", "the trigger may write what it likes")
    let schema = try #require(try TableSchema.read(connection, table: "t"))
    #expect(schema.triggers == ["note"])
  }

  @Test(arguments: [
    ("SELEC 1", "init.sql: near \"SELEC\": syntax error [SQLite code 1]"),
    (
      "INSERT INTO t VALUES(1)",
      "init.sql: it would change the database itself (t) [SQLite code 23]"
    ),
    (
      "CREATE TABLE u(a)",
      "init.sql: it would change the database itself (sqlite_master) [SQLite code 23]"
    ),
    ("DROP TABLE t", "init.sql: it would change the database itself (sqlite_master) [SQLite code 23]"),
    (
      "PRAGMA journal_mode = DELETE",
      "init.sql: PRAGMA journal_mode is not to be set: the engine rests on it [SQLite code 23]"
    ),
    ("BEGIN; CREATE TEMP TABLE x(a);", "init.sql leaves a transaction open"),
    ("SELECT 1;\0DROP TABLE t", "init.sql holds a NUL byte, at which SQLite would stop reading"),
  ])
  func aScriptThatIsRefused(sql: String, message: String) throws {
    let connection = try TemporaryDatabase().open("CREATE TABLE t(a)")
    #expect(refusal(sql, on: connection)?.message == message)
    #expect(refusal(sql, on: connection)?.code == .usage)
    #expect(connection.isInAutocommit)
    try connection.execute("INSERT INTO t VALUES(1); CREATE TABLE after_it(a)")
  }

  @Test(arguments: [
    ("BEGIN INSERT INTO t(a) VALUES(new.a); END", []),
    ("WHEN NOT upsurge_is_synchronizing() BEGIN SELECT 1; END", ["upsurge_is_synchronizing"]),
    (
      "WHEN (new.a IN (1, 2)) BEGIN INSERT INTO main.log(a, b) VALUES (\"UUID\" (), f(g(1))); END",
      ["uuid", "f", "g"]
    ),
    ("BEGIN SELECT RAISE(ABORT, 'call uuid()') /* f(1) */ -- g(2)\n; END", []),
  ])
  func callsAreFoundByTheirParentheses(sql: String, names: [String]) {
    #expect(TriggerText.calls(in: "CREATE TRIGGER x AFTER INSERT ON t \(sql)") == names)
  }
}
