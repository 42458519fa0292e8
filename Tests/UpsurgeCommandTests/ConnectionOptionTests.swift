import TestSupport
import Testing
import Upsurge

/// `--init`, `--triggers guarded` and `uuid()`, through the command.
@Suite("Init and triggers")
struct ConnectionOptionTests {
  let scratch = Scratch()

  private func load(_ arguments: [String], input: String) throws -> Command.Outcome {
    try Command.run(["load", scratch.file("a.db"), "t", "-"] + arguments, input: Array(input.utf8))
  }

  private func prepare(_ sql: String) throws { try Database(scratch.file("a.db")).rows(sql) }

  private func rows(_ sql: String) throws -> [String] { try Database(scratch.file("a.db")).rows(sql) }

  @Test("A record without an id gets one from DEFAULT (uuid())")
  func uuidKey() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT 'none', n INTEGER) STRICT")
    try database.rows(
      """
      PRAGMA writable_schema=ON;
      UPDATE sqlite_schema SET sql = replace(sql, '''none''', '(uuid())'); PRAGMA writable_schema=RESET
      """)
    let outcome = try load(
      ["--mode", "insert"], input: #"{"n":1}"# + "\n" + #"{"n":2,"id":"a"}"# + "\n" + #"{"n":3}"#)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(
      try rows("SELECT n, length(id), id = 'a' FROM t ORDER BY n") == ["1|36|0", "2|1|1", "3|36|0"])
  }

  @Test("TEMP triggers of --init fire, and upsurge_is_synchronizing() tells of --triggers")
  func initTrigger() throws {
    try prepare("CREATE TABLE t(id INTEGER PRIMARY KEY, n); CREATE TABLE log(id, guarded)")
    let script = scratch.write(
      """
      CREATE TEMP TRIGGER note AFTER INSERT ON t
        BEGIN INSERT INTO log VALUES (new.id, upsurge_is_synchronizing()); END;
      """, to: "init.sql")
    let first = try load(["--init", script], input: "id,n\n1,a\n2,b\n")
    #expect(first.exitCode == 0, "\(first.talk)")
    let second = try load(["--init", script, "--triggers", "guarded"], input: "id,n\n3,c\n")
    #expect(second.exitCode == 0 && !second.talk.contains("changes nothing"), "\(second.talk)")
    #expect(try rows("SELECT * FROM log") == ["1|0", "2|0", "3|1"])
    #expect(try rows("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") == ["0"])
  }

  @Test("A table of a file that --init attaches is never the target")
  func attached() throws {
    let other = Database(scratch.file("other.db"))
    try other.rows("CREATE TABLE t(id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES(1, 'theirs')")
    let script = scratch.write("ATTACH '\(scratch.file("other.db"))' AS other;", to: "init.sql")
    let arguments = ["--init", script, "--key", "id"]
    let refused = try load(arguments + ["--create", "never"], input: "id,n\n1,a\n")
    #expect(refused.exitCode == 4, "\(refused.talk)")
    for input in ["id,n\n1,a\n2,b\n", "id,n\n1,a\n2,c\n"] {
      let outcome = try load(arguments, input: input)
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
    }
    #expect(try rows("SELECT * FROM t") == ["1|'a'", "2|'c'"])
    #expect(try other.rows("SELECT * FROM t") == ["1|'theirs'"])
  }

  @Test("--triggers guarded says when no trigger asks for it")
  func guardedForNothing() throws {
    try prepare("CREATE TABLE t(a); CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END")
    let outcome = try load(["--triggers", "guarded"], input: "a\n1\n")
    #expect(outcome.exitCode == 0)
    #expect(
      outcome.talk.contains(
        "warning: --triggers guarded changes nothing: no trigger of t asks upsurge_is_synchronizing() (x)"))
  }

  @Test(
    "--init that cannot be run leaves nothing behind",
    arguments: [
      (nil, 66, "init.sql"), ("SELEC", 64, "near \"SELEC\": syntax error"),
      ("BEGIN", 64, "leaves a transaction open"),
      ("CREATE TABLE x(a)", 64, "change the database itself"), ("SELECT '\u{FFFD}\0'", 64, "NUL"),
    ] as [(String?, Int32, String)])
  func refused(sql: String?, code: Int32, words: String) throws {
    if let sql { _ = scratch.write(sql, to: "init.sql") }
    let outcome = try load(["--init", scratch.file("init.sql")], input: "a\n1\n")
    #expect(outcome.exitCode == code, "\(outcome.talk)")
    #expect(outcome.talk.contains(words) && outcome.talk.contains("init.sql"), "\(outcome.talk)")
    #expect(throws: (any Error).self) { try rows("SELECT * FROM t") }
  }

  @Test("The library takes the SQL as text")
  func library() throws {
    try prepare("CREATE TABLE t(a); CREATE TABLE log(a)")
    var options = LoadOptions()
    options.table.initSQL =
      "CREATE TEMP TRIGGER note AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END"
    let source = scratch.write("a\n1\n2\n", to: "in.csv")
    let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: [source], options: options)
    #expect(job.run().exitCode == 0)
    #expect(try rows("SELECT * FROM log") == ["'1'", "'2'"])
  }
}
