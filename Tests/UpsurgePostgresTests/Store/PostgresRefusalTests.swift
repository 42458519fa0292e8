import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// What cannot be is said by its name, before anything is read or made.
@Suite("Refusals of PostgreSQL", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresRefusalTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  private func load(_ text: String = "id,n\n1,1\n", to database: String? = nil, _ change: (inout LoadOptions) -> Void = { _ in }) -> RunSummary {
    var options = LoadOptions()
    change(&options)
    return LoadJob(database: database ?? url, table: "t", sources: [scratch.write(text, to: "feed.csv")], options: options).run()
  }

  @Test("Options that do not apply are refused by name, and nothing is made")
  func options() throws {
    let changes: [(String, (inout LoadOptions) -> Void)] = [
      ("--strict", { $0.table.isStrict = true }), ("--init", { $0.table.initSQL = "SELECT 1" }),
      ("--emit-sql", { $0.output.emitPath = "x" }),
      ("--contract quarantine", { $0.table.contract = .quarantine }), ("--triggers", { $0.table.triggers = .guarded }),
      ("--direct always", { $0.transaction.direct = .always }),
    ]
    for (name, change) in changes {
      let summary = load("id,n\n1,1\n", change)
      #expect(summary.error?.code == .usage && summary.error?.message.hasPrefix(name) == true, "\(name): \(summary.error?.message ?? "nothing")")
      #expect(summary.exitCode == 64)
    }
    #expect(try server.rows("SELECT count(*) AS n FROM pg_class WHERE relname IN ('t', 'upsurge_runs')", in: url) == ["0"])
  }

  @Test("A load that is refused before its first commit is not listed and leaves no table; what has committed is")
  func listed() throws {
    let bad = load("id,n\n1,a\u{0}b\n") { $0.rejects.onError = .stop }
    #expect(bad.exitCode == 65, "\(bad.error?.message ?? "stored")")
    #expect(try PastRun.all(database: url).isEmpty)
    #expect(try server.rows("SELECT count(*) AS n FROM pg_class WHERE relname IN ('t', 'upsurge_new_t')", in: url) == ["0"])
    try server.psql("CREATE TABLE t (id int PRIMARY KEY, n int)", in: url)
    let text = "id,n\n1,1\n2,2\nx,3\n"
    #expect(load(text).exitCode == 65)
    #expect(try PastRun.all(database: url).isEmpty)
    let stopped = load(text) { $0.transaction.commitEvery = 1 }
    #expect(stopped.exitCode == 3 && stopped.progress.committedCount == 2, "what is committed stays")
    #expect(try PastRun.all(database: url).map(\.state) == [.stopped])
    #expect(try server.rows("SELECT count(*) AS n FROM t", in: url) == ["2"])
  }

  @Test("A server that cannot be reached is 75, one that refuses is 66, and no password is shown")
  func connections() throws {
    let nobody = load(to: "postgres://u:secret-word@127.0.0.1:1/db")
    #expect(nobody.exitCode == 75 && nobody.error?.description.contains("secret-word") == false)
    let wrong = load(to: "postgres://upsurge:secret-word@127.0.0.1:\(server.port)/postgres")
    #expect(wrong.exitCode == 66 && wrong.error?.description.contains("secret-word") == false)
    let missing = load(to: server.socketURL(database: "no_such_database"))
    #expect(missing.exitCode == 66 && missing.error?.message.contains("no_such_database") == true)
    #expect(!nobody.database.contains("secret-word") && !wrong.database.contains("secret-word"))
  }

  @Test("A user whose transactions are read-only is refused before anything is read")
  func readOnlyRole() throws {
    let role = "reads_\(UInt32.random(in: 0...UInt32.max))"
    try server.psql("CREATE ROLE \(role) LOGIN SUPERUSER; ALTER ROLE \(role) SET default_transaction_read_only = on", in: url)
    let summary = load(to: url.replacingOccurrences(of: "user=\(PostgresServer.user)", with: "user=\(role)"))
    #expect(summary.exitCode == 64 && summary.error?.message.contains("default_transaction_read_only") == true)
    #expect(summary.error?.hint == "ALTER ROLE, ALTER DATABASE or the server's settings set it; or name a user who may write")
    try server.psql("ALTER ROLE \(role) RESET default_transaction_read_only", in: url)
    #expect(load(to: url.replacingOccurrences(of: "user=\(PostgresServer.user)", with: "user=\(role)")).error == nil)
  }

  @Test("A key that is not there names those that are")
  func keys() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint, UNIQUE (n) DEFERRABLE)", in: url)
    let summary = load { $0.rules.key = ["n", "id"] }
    #expect(summary.error?.code == .usage && summary.error?.hint?.contains("(id)") == true)
    let deferrable = load { $0.rules.key = ["n"] }
    #expect(deferrable.error?.message.contains("DEFERRABLE") == true)
    let made = load("id,n\n1,1\n2,2\n") {
      $0.rules.key = ["id", "n"]
      $0.indexes.createsKey = true
    }
    #expect(made.error == nil && made.ledger.inserted == 2)
    let again = load("id,n\n1,1\n2,2\n") { $0.rules.key = ["id", "n"] }
    #expect(again.ledger.unchanged == 2)
  }

  @Test("Tables that take no records are refused with what to do")
  func tables() throws {
    try server.psql("CREATE TABLE base (id bigint, n bigint); CREATE MATERIALIZED VIEW t AS SELECT * FROM base", in: url)
    #expect(load().error?.message.contains("materialized view") == true)
    try server.psql("DROP MATERIALIZED VIEW t; CREATE VIEW t AS SELECT * FROM base", in: url)
    #expect(load().error?.message.contains("INSTEAD OF") == true)
    try server.psql("DROP VIEW t; CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n bigint)", in: url)
    #expect(load().error?.message.contains("GENERATED ALWAYS") == true)
    let without = load { $0.table.columns = ["n"] }
    #expect(without.error == nil && without.ledger.inserted == 1)
  }

  @Test("A table of runs that is someone else's is left alone")
  func foreignRuns() throws {
    try server.psql("CREATE TABLE upsurge_runs (a int)", in: url)
    let summary = load()
    #expect(summary.error?.code == .guardRefused && summary.exitCode == 4)
    #expect(try server.rows("SELECT to_regclass('t') IS NULL AS n", in: url) == ["true"])
  }

  @Test("The URL of a database that names rows is refused, without its password")
  func rowsOfDatabase() {
    for rows in ["#t", "?query=SELECT 1 AS id"] {
      let summary = load(to: "postgres://u:secret-word@127.0.0.1:1/db" + rows)
      #expect(summary.exitCode == 64 && summary.error?.message.contains("names rows") == true, "\(rows)")
      #expect(summary.error?.description.contains("secret-word") == false)
    }
  }

  @Test("A port that is no number is a mistake of usage, not a server that is away")
  func port() {
    #expect(load(to: "postgres://u@127.0.0.1:abc/db").exitCode == 64)
  }

  @Test("A misspelled scheme is no path of a file", arguments: ["POSTGRES://", "psql://", "postgresql:/", "mysql://"])
  func schemes(scheme: String) {
    let error = #expect(throws: UpsurgeError.self) {
      _ = try Connection(path: scheme + "u:secret-word@127.0.0.1/db", createIfMissing: true)
    }
    #expect(error?.code == .usage && error?.message.contains(scheme) == true)
    #expect(error?.hint?.contains("postgres://USER@HOST") == true && error?.description.contains("secret-word") == false)
  }

  @Test("SQL of a rule is judged before anything is read, for a table that is not there yet", arguments: [false, true])
  func expressions(isAtomic: Bool) throws {
    let rule = { (sql: String) -> RunSummary in
      self.load("id,n\n1,1\n1,2\n") {
        ($0.rules.key, $0.transaction.isAtomic) = (["id"], isAtomic)
        $0.rules.merge.columns = ["n": .expression(sql)]
      }
    }
    for sql in ["n +", "nonsense(n)", "other + 1", "1; DROP TABLE u", "1, 2", "1) + (2"] {
      let refused = rule(sql)
      #expect(refused.error?.code == .usage && refused.exitCode == 64, "\(sql): \(refused.error?.message ?? "nothing")")
      #expect(refused.error?.message.hasPrefix("--set n") == true && refused.ledger.read == 0)
    }
    #expect(try server.rows("SELECT count(*) AS n FROM pg_class WHERE relname IN ('t', 'upsurge_new_t')", in: url) == ["0"])
    // The table has its own name in SQL before it has it on the server.
    #expect(rule("t.n + excluded.n -- both").error == nil)
    #expect(try server.rows("SELECT * FROM t", in: url) == ["1|3"])
  }

  @Test("A condition is judged by itself, whatever is joined with it")
  func condition() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint)", in: url)
    let rule = { (sql: String) -> RunSummary in
      self.load("id,n\n1,1\n1,2\n1,5\n") {
        ($0.rules.key, $0.rules.merge.condition) = (["id"], sql)
        $0.rules.merge.newer = Merge.Newer(column: "n")
      }
    }
    for sql in ["true) OR (true", "n", "true; DROP TABLE t"] {
      let refused = rule(sql)
      #expect(refused.error?.message.hasPrefix("--update-if") == true && refused.exitCode == 64, "\(sql)")
    }
    #expect(rule("excluded.n < 5 -- not so many").error == nil)
    #expect(try server.rows("SELECT * FROM t", in: url) == ["1|2"])
  }

  @Test("A type that is given for a column which has another is said not to apply")
  func types() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n numeric(10,2))", in: url)
    func notes(_ types: [String: String]) -> [String] {
      let notes = RunNotes()
      var options = LoadOptions()
      options.table.types = types
      let path = scratch.write("id,n\n1,1\n", to: "feed.csv")
      let summary = LoadJob(database: url, table: "t", sources: [path], options: options).run(note: { notes.add($0.text) })
      #expect(summary.error == nil, "\(summary.error?.description ?? "")")
      return notes.all.filter { $0.contains("is for new tables") }
    }
    #expect(notes(["n": "TEXT"]) == ["table public.t exists, and its column n stays numeric(10,2): --type n:TEXT is for new tables"])
    #expect(notes(["n": "NUMERIC(10,2)", "id": "INTEGER"]).isEmpty && notes(["id": "INT8", "n": "NUMERIC"]).isEmpty)
    #expect(notes(["id": "INT4", "n": "NUMERIC(10,3)"]).count == 2)
    #expect(notes(["id": "BIGINT", "n": "DECIMAL(10, 2)"]).isEmpty)
    #expect(notes(["id": "NO SUCH TYPE", "n": "DATE"]).count == 2)
  }

  @Test(
    "Keywords of libpq are no name of a file, and the URL to write is said",
    arguments: [
      ("host=db dbname=shop", "write postgres://db/shop"), ("dbname = 'my shop' user=me", "write postgres://me@/my%20shop"),
      ("host=/tmp/s port=5433 dbname=shop sslmode=require", "write postgres://:5433/shop?host=/tmp/s&sslmode=require"),
      ("service=shop", "write postgres:///?service=shop"),
      (
        "host=db user=me password=secret-word dbname=shop",
        "write postgres://me@db/shop; PGPASSWORD or ~/.pgpass gives the password"
      ),
    ])
  func keywords(text: String, hint: String) throws {
    let summary = load(to: text)
    #expect(summary.exitCode == 64 && summary.error?.hint == hint, "\(summary.error?.description ?? "")")
    #expect(summary.error?.description.contains("secret-word") == false)
    #expect(!FileManager.default.fileExists(atPath: text))
  }

  @Test("Paths with = are paths", arguments: ["a=b.db", "host=db and more", "sslmode=require", "dbname", "host=db x"])
  func paths(name: String) throws {
    let summary = load(to: scratch.file(name))
    #expect(summary.error == nil, "\(summary.error?.description ?? "")")
    #expect(throws: Never.self) { try Connection.checkURL(name) }
  }

  @Test("What takes a file of SQLite says that it takes no server")
  func files() throws {
    let error = #expect(throws: UpsurgeError.self) { _ = try Connection(path: url, createIfMissing: true) }
    #expect(error?.code == .usage && error?.message.contains("PostgreSQL server") == true)
  }
}
