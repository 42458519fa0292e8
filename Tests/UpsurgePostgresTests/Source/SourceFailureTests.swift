import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeInput

@testable import UpsurgePostgres

/// What cannot be read, and why.
@Suite(
  "postgres:// sources that fail",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SourceFailureTests {
  let scratch = Scratch()
  let connection: PostgresConnection
  let url: String
  private var target: String { scratch.file("target.db") }

  init() throws {
    PostgresModule.register()
    url = try Server.freshURL()
    connection = try Server.connect(url)
    try connection.run("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
  }

  private func job(_ source: String) -> LoadJob {
    var job = LoadJob(database: target, table: "t", sources: [Source(source)])
    job.options.rules.key = ["id"]
    return job
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    var rows: String
    var code: Int32
    var message: String
    var hint = ""
    var testDescription: String { rows }
  }

  @Test(
    "What cannot be read, and why",
    arguments: [
      Refused(
        rows: "#nope", code: 66, message: "there is no table nope in database test_", hint: "it has: t"),
      Refused(rows: "#no.t", code: 66, message: "there is no table no.t in database test_"),
      Refused(
        rows: "", code: 64, message: "names no rows of a database",
        hint: "give postgres://HOST/DATABASE#TABLE"),
      Refused(rows: "#", code: 64, message: "names no rows of a database"),
      Refused(rows: "?query= ", code: 64, message: "names no rows of a database"),
      Refused(rows: "?query=SELEC 1", code: 64, message: "syntax error"),
      Refused(rows: "?query=SELECT * FROM nope", code: 64, message: "[42P01]"),
      Refused(rows: "?query=DELETE FROM t RETURNING id", code: 64, message: "syntax error"),
      Refused(
        rows: "?query=WITH w AS (DELETE FROM t RETURNING id) SELECT * FROM w", code: 64, message: "WITH"),
      Refused(rows: "?query=SELECT 1 AS id) AS q; DELETE FROM t; --", code: 64, message: "[42601]"),
      Refused(
        rows: "?query=SELECT id, 1 AS \"ID\" FROM t", code: 64, message: "two columns the name ID",
        hint: "SELECT a AS b"),
      Refused(rows: "?query=SELECT id, 1 / (id - 2) AS x FROM t", code: 65, message: "division by zero"),
    ])
  func refused(one: Refused) throws {
    let summary = job(url + one.rows).run()
    #expect(summary.exitCode == one.code, "\(summary.error?.description ?? "")")
    #expect(summary.error?.message.contains(one.message) == true, "\(summary.error?.description ?? "")")
    #expect(
      summary.error?.hint?.contains(one.hint) == true || one.hint.isEmpty,
      "\(summary.error?.description ?? "")")
    #expect(try connection.texts("SELECT count(*) FROM t") == [["2"]])
    #expect((try? readFile(target)) == nil || one.code == 65)
  }

  @Test("A function that writes is refused by the read-only transaction")
  func writes() throws {
    try connection.run(
      "CREATE FUNCTION w() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (9) RETURNING id'")
    let summary = job(url + "?query=SELECT w() AS id").run()
    #expect(
      summary.exitCode == 65 && summary.error?.message.contains("read-only") == true,
      "\(String(describing: summary.error))")
    #expect(try connection.texts("SELECT count(*) FROM t") == [["2"]])
  }

  @Test("A format of text does not fit rows")
  func format() {
    var job = job(url + "#t")
    job.options.input.format = .csv
    #expect(job.run().exitCode == 64)
  }

  @Test("Who is refused, and who is not there")
  func refusals() throws {
    let server = try PostgresServer.shared()
    let wrong = job(server.url(password: "wr0ng-pass") + "#t").run()
    #expect(wrong.exitCode == 66)
    #expect(
      wrong.error?.message == """
        reading postgres://upsurge@127.0.0.1:\(server.port)/postgres#t: cannot connect: connection to server at "127.0.0.1", port \
        \(server.port) failed: FATAL:  password authentication failed for user "upsurge" [28P01]
        """)
    #expect(wrong.error?.hint?.contains("PGPASSWORD") == true)
    #expect(job(server.url(database: "nowhere") + "#t").run().exitCode == 66)
    #expect(job("postgres://u:s3cret-w0rd@127.0.0.1:1/d#t").run().exitCode == 75)
    try connection.run(
      """
      CREATE TABLE closed (id int); DO $$ BEGIN CREATE ROLE stranger LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
      """)
    let stranger = job(server.socketURL(database: connection.database, user: "stranger") + "#closed").run()
    #expect(
      stranger.exitCode == 66 && stranger.error?.message.contains("permission denied") == true,
      "\(String(describing: stranger.error))")
  }

  @Test(
    "No secret is shown or stored, whatever happens",
    arguments: [
      "postgres://u:s3cret-w0rd@[host/d#t", "postgres://u:s3cret-w0rd@host:p/d#t",
      "postgres://u:s3cret-w0rd@h/d?nothing=1#t",
      "postgres://u:s3cret/w0rd@h/d#t", "postgres://u@127.0.0.1:1/d?password=s3cret-w0rd#t",
      "postgres://u:12?s3cret#w0rd@127.0.0.1:1/d#t",
      "postgres://u:s3cret-w0rd@127.0.0.1:1/d?query=SELECT 1", "postgres://u:s3cret-w0rd@127.0.0.1:1/d",
      "postgres://127.0.0.1:1/d?user=u&password=s3cret-w0rd&query=SELECT 1",
      "postgresql://u:s3cret%2Dw0rd@127.0.0.1:1/d#t",
    ])
  func secrets(source: String) {
    let notes = Guarded<[String]>([])
    let summary = job(source).run(note: { said in notes.withLock { $0.append(said.text) } })
    #expect(summary.error != nil)
    let one = Source(source)
    var dumped = ""
    dump(one, to: &dumped)
    let texts = [
      summary.error?.description ?? "", String(decoding: summary.json, as: UTF8.self), one.shown, one.name,
      one.place, one.label, dumped,
      "\(one)", one.opening.description,
    ]
    for text in texts + notes.withLock({ $0 }) {
      #expect(!text.contains("s3cret") && !text.contains("w0rd"), "\(text)")
    }
  }

  @Test("The record of a run, its positions and rejects have no password")
  func stored() throws {
    var job = job(url + "?query=SELECT id, id / 0 AS x FROM t WHERE id > 1")
    job.options.transaction.keepsHistory = true
    job.options.rejects.onError = .reject
    job.options.rejects.target = .table
    _ = job.run()
    var good = self.job(url + "#t")
    good.options.transaction.keepsHistory = true
    good.options.rejects.onError = .reject
    good.options.rejects.target = .table
    try Database(target).rows("DROP TABLE IF EXISTS t; CREATE TABLE t(id INTEGER PRIMARY KEY CHECK (id < 2))")
    #expect(good.run().exitCode == 2)
    let bytes = String(decoding: try readFile(target), as: UTF8.self)
    #expect(bytes.contains("postgres://upsurge@127.0.0.1"))
    for secret in [PostgresServer.password, "open%3Asesame", "sesame"] { #expect(!bytes.contains(secret)) }
  }

  // MARK: - Ends

  private func statements(_ mark: String) throws -> [[String?]] {
    try connection.texts(
      "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%\(mark)%' AND pid <> pg_backend_pid()"
    )
  }

  /// Waits until a statement with that mark runs (true), or none does.
  private func wait(for mark: String, runs: Bool) throws -> Bool {
    for _ in 0..<600 {
      if try statements(mark).isEmpty != runs { return true }
      usleep(20_000)
    }
    return false
  }

  @Test("A load that is cancelled ends the statement on the server", arguments: ["sleep", "rows"])
  func cancelled(kind: String) throws {
    // One that gives no row for a minute, and one that gives them without end.
    let query =
      kind == "sleep"
      ? "SELECT i AS id, pg_sleep(60)::text AS mark_sleep FROM generate_series(1, 5) i"
      : "SELECT i AS id, repeat('mark_rows', 10) AS v FROM generate_series(1, 2000000000) i"
    let control = RunControl()
    let ended = DispatchSemaphore(value: 0)
    let code = Guarded<Int32?>(nil)
    let job = job(url + "?query=" + query)
    Thread.detachNewThread {
      let summary = job.run(control: control)
      code.withLock { $0 = summary.exitCode }
      ended.signal()
    }
    #expect(try wait(for: "COPY%mark_\(kind)", runs: true))
    control.cancel()
    #expect(ended.wait(timeout: .now() + 30) == .success)
    #expect(code.withLock { $0 } == 130)
    #expect(try wait(for: "COPY%mark_\(kind)", runs: false))
  }

  @Test("Ctrl-C ends the command and the statement")
  func signal() throws {
    let child = try Command.start(
      [
        "load", target, "t",
        url + "?query=SELECT i AS id, pg_sleep(60)::text AS mark_signal FROM generate_series(1, 5) i",
      ])
    #expect(try wait(for: "COPY%mark_signal", runs: true))
    child.send(signal: SIGINT)
    let outcome = try child.finish(seconds: 60)
    #expect(outcome.exitCode == 130, "\(outcome.talk)")
    #expect(!outcome.talk.contains("sesame"))
    #expect(try wait(for: "COPY%mark_signal", runs: false))
  }

  @Test("A limit ends the statement, and is no failure")
  func limited() throws {
    var job = job(
      url + "?query=SELECT i AS id, repeat('mark_limit', 10) AS v FROM generate_series(1, 2000000000) i")
    job.options.input.recordLimit = 1_000
    let summary = job.run()
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 1_000, "\(String(describing: summary.error))")
    #expect(try wait(for: "COPY%mark_limit", runs: false))
  }

  @Test("A server that breaks off in the midst of the rows is said")
  func broken() throws {
    let query =
      "SELECT i AS id, repeat('mark_broken', 100) || pg_sleep(CASE WHEN i = 5000 THEN 60 ELSE 0 END)::text AS v FROM generate_series(1, 6000) i"
    let ended = DispatchSemaphore(value: 0)
    let found = Guarded<RunSummary?>(nil)
    let job = job(url + "?query=" + query)
    Thread.detachNewThread {
      let summary = job.run()
      found.withLock { $0 = summary }
      ended.signal()
    }
    #expect(try wait(for: "COPY%mark_broken", runs: true))
    // Some rows have gone out by then.
    usleep(300_000)
    for row in try statements("COPY%mark_broken") {
      try connection.run("SELECT pg_terminate_backend(\(row[0] ?? "0"))")
    }
    #expect(ended.wait(timeout: .now() + 60) == .success)
    let summary = try #require(found.withLock { $0 })
    #expect(summary.exitCode == 75 || summary.exitCode == 3, "\(summary.exitCode)")
    #expect(
      summary.error?.message.contains("reading postgres://upsurge@") == true
        && summary.error?.message.contains("the connection has broken") == true,
      "\(String(describing: summary.error))")
  }
}
