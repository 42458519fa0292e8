import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres
@testable import UpsurgePostgresBench

/// `upsurge bench postgres://…`: all ways store what they should, figures are said, and nothing is left on the server.
@Suite("Benchmarks of a server", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ServerBenchTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  init() throws {
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  private func job(rows: UInt64 = 2_000, url: String? = nil) -> ServerBenchJob {
    var job = ServerBenchJob(url: url ?? self.url)
    (job.rowCount, job.roundCount, job.scratch) = (rows, 1, scratch.path)
    job.command = ["upsurge", "bench", "URL"]
    return job
  }

  /// The schemas that benchmarks have left.
  private func schemas() throws -> [String] {
    try server.rows("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'upsurge%'", in: url)
  }

  /// The name of the database.
  private func database() throws -> String {
    String(try #require(try server.rows("SELECT current_database()", in: url).first).dropFirst().dropLast())
  }

  /// The folders that benchmarks have left.
  private var folders: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: scratch.path))?.filter { $0.hasPrefix("upsurge-bench") } ?? []
  }

  private func entry(_ suite: ServerBenchSuite, _ name: String, in report: ServerBenchReport) throws -> ServerBenchReport.Entry {
    try #require(report.entries.first { $0.suite == suite && $0.figures.name.hasPrefix(name) })
  }

  @Test("Every way stores what it should, the report names each, and nothing is left")
  func all() throws {
    let report = try job().run(control: RunControl())
    #expect(report.entries.count == ServerContender.all.count)
    for entry in report.entries { #expect(entry.figures.absence == nil && entry.figures.runs.count == 1, "\(entry)") }
    #expect(!report.hasFailure)
    #expect(try schemas() == [] && folders == [])
    let text = report.text
    for contender in ServerContender.all { #expect(text.contains("\n\(contender.name) "), "\(contender.name)\n\(text)") }
    for suite in ServerBenchSuite.allCases { #expect(text.contains("\n\(suite.title) ")) }
    #expect(text.hasPrefix("2,000 generated rows") && text.contains("PostgreSQL 1") && text.contains("round trip "))
    #expect(text.contains("fsync: off; synchronous_commit: on") && text.contains("note: fsync is off"))
    #expect(text.contains("note: the figures are of this server, of the network between"))
    // The fastest that keeps its rows is the measure of its suite.
    for (_, entries) in report.suites {
      let kept = entries.filter { $0.figures.kind != .floor }.compactMap(report.ratio)
      #expect(kept.min() == 1 && kept.count >= 3, "\(kept)")
    }
  }

  @Test("The log and dead rows show what is written of rows that say the same")
  func costs() throws {
    let report = try job().run(control: RunControl())
    let naive = try entry(.unchanged, "staging, ON CONFLICT", in: report)
    let own = try entry(.unchanged, "upsurge load", in: report)
    #expect(naive.deadRowCount == 2_000 && own.deadRowCount == 0)
    // Other tests write into the same log, so that it has no upper bound here.
    #expect(try #require(naive.logByteCount) > 100_000 && own.logByteCount != nil)
    let few = try entry(.fewChanged, "upsurge load", in: report)
    #expect(few.deadRowCount == 20)
  }

  @Test("JSON holds every figure, and the page every contender")
  func files() throws {
    var job = job(rows: 100)
    job.roundCount = 2
    let report = try job.run(control: RunControl())
    let json = try #require(JSONSerialization.jsonObject(with: Data(report.json)) as? [String: Any])
    let results = try #require(json["results"] as? [[String: Any]])
    #expect(results.count == ServerContender.all.count)
    for result in results {
      #expect((result["runs"] as? [Double])?.count == 2 && result["median"] is Double && result["rows"] as? Int == 100)
      #expect(result["log_bytes"] is Int && result["dead_rows"] is Int && result["suite"] is String)
    }
    let facts = try #require(json["server"] as? [String: Any])
    #expect((facts["version"] as? String)?.hasPrefix("PostgreSQL") == true && facts["round_trip_seconds"] is Double)
    #expect((facts["settings"] as? [String: String])?["synchronous_commit"] == "on")
    let html = report.html
    for entry in report.entries { #expect(html.contains(entry.figures.name)) }
    #expect(html.contains("upsurge bench URL") && html.contains("<rect"))
  }

  @Test("Who may not make a schema is told the GRANT, and can go on with it")
  func rights() throws {
    let role = "plain_" + UUID().uuidString.prefix(8).lowercased()
    let database = try database()
    try server.psql("CREATE ROLE \(role) LOGIN", in: url)
    let poor = server.socketURL(database: database, user: role)
    let error = #expect(throws: UpsurgeError.self) { try job(url: poor).run(control: RunControl()) }
    #expect(error?.code == .database && error?.message.contains("makes a schema of its own, which \(role) may not") == true)
    let grant = "GRANT CREATE ON DATABASE \(database) TO \(role)"
    #expect(error?.hint == "the database's owner allows it: \(grant)", "\(String(describing: error?.hint))")
    try server.psql(grant, in: url)
    #expect(try job(rows: 20, url: poor).run(control: RunControl()).hasFailure == false)
    #expect(try schemas() == [])
  }

  @Test("A server that nobody reaches is 75, one that refuses is 66, and no password is shown")
  func connections() {
    for (url, code) in [
      ("postgres://u:secret-word@127.0.0.1:1/db", 75), ("postgres://upsurge:secret-word@127.0.0.1:\(server.port)/postgres", 66),
      ("postgres://u:secret-word@127.0.0.1:1/db#t", 64), ("POSTGRES://u:secret-word@127.0.0.1:1/db", 64),
    ] as [(String, Int32)] {
      let error = #expect(throws: UpsurgeError.self) { try job(url: url).run(control: RunControl()) }
      #expect(error?.exitCode(hasCommittedWork: false) == code, "\(String(describing: error))")
      #expect(error?.description.contains("secret-word") == false)
    }
    #expect(folders == [])
  }

  @Test("Through a pooler all of it works, too", .enabled(if: PgBouncer.isPresent, Comment(rawValue: PgBouncer.skipNote)))
  func pooler() throws {
    let pooler = try PgBouncer(before: server)
    let report = try job(rows: 100, url: pooler.url(database: database())).run(control: RunControl())
    for entry in report.entries { #expect(entry.figures.absence == nil && entry.figures.runs.count == 1, "\(entry)") }
    #expect(try schemas() == [])
  }

  @Test("A schema that cannot be dropped is named with the statement that does it")
  func left() throws {
    try server.psql(
      """
      CREATE FUNCTION forbid() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no schema goes'; END $$;
      CREATE EVENT TRIGGER forbid ON ddl_command_start WHEN TAG IN ('DROP SCHEMA') EXECUTE FUNCTION forbid()
      """, in: url)
    let report = try job(rows: 20).run(control: RunControl())
    let schema = try #require(try schemas().first).dropFirst().dropLast()
    #expect(report.hasFailure)
    #expect(report.text.contains("the schema \(schema) is left on the server"), "\(report.text)")
    #expect(report.text.contains("no schema goes; DROP SCHEMA \(schema) CASCADE removes it"))
    let control = RunControl()
    let error = #expect(throws: UpsurgeError.self) {
      try job(rows: 20).run(control: control) { _ in control.cancel(signal: SIGINT) }
    }
    #expect(error?.code == .interrupted && error?.message.contains("may be left on") == true)
    let statement = try #require(error?.hint?.split(separator: ": ").last)
    #expect(statement.hasPrefix("DROP SCHEMA upsurge_bench_") && error?.hint?.contains(schema) == false)
    try server.psql("DROP EVENT TRIGGER forbid; \(statement)", in: url)
    // The next one sees the first.
    let next = try job(rows: 20).run(control: RunControl())
    #expect(next.text.contains("unless that is at work now, DROP SCHEMA \(schema) CASCADE removes it"), "\(next.text)")
    try server.psql("DROP SCHEMA \(schema) CASCADE", in: url)
    #expect(try schemas() == [])
  }

  @Test("Ctrl-C ends the command, and schema and folder go with it")
  func signal() throws {
    let child = try Command.start(["bench", url, "--rows", "20000", "--rounds", "10000", "--scratch", scratch.path])
    for _ in 0..<3_000 where try schemas().isEmpty && child.isRunning { usleep(10_000) }
    #expect(try !schemas().isEmpty)
    child.send(signal: SIGINT)
    let outcome = try child.finish(seconds: 60)
    #expect(outcome.exitCode == 130, "\(outcome.talk)")
    #expect(outcome.talk.contains("interrupted; its schema and its scratch folder are removed"), "\(outcome.talk)")
    #expect(try schemas() == [] && folders == [])
  }

  @Test("The command prints the tables")
  func command() throws {
    let outcome = try Command.run(["bench", url, "--rows", "100", "--rounds", "1", "--scratch", scratch.path])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(outcome.output.hasPrefix("100 generated rows") && outcome.output.contains("upsurge load"))
    #expect(outcome.talk.contains("round 1 of 1"))
  }

  @Test("Tables that differ are found, and in what")
  func differences() throws {
    let connection = try Server.connect(url)
    try connection.run(
      """
      CREATE SCHEMA s; CREATE TABLE s.a (\(BenchSchema.definition)); INSERT INTO s.a SELECT i, 'n', 'c', i, i / 3.0, 'u' FROM generate_series(1, 9) i;
      """)
    let expected = try TableState(of: "s.a", connection)
    for (change, words) in [
      ("UPDATE s.b SET price = price + 1e-15 WHERE id = 1", "as many rows, with other values"),
      ("UPDATE s.b SET name = CASE id WHEN 1 THEN 'm' ELSE name END", "as many rows"),
      ("DELETE FROM s.b WHERE id = 9", "8 rows instead of 9"), ("INSERT INTO s.b SELECT * FROM s.a WHERE id = 1", "10 rows"),
      ("ALTER TABLE s.b ALTER quantity TYPE numeric", "its columns are"),
    ] {
      try connection.run("CREATE TABLE s.b AS SELECT * FROM s.a ORDER BY id DESC")
      #expect(try TableState(of: "s.b", connection).difference(from: expected) == nil)
      try connection.run(change)
      #expect(try TableState(of: "s.b", connection).difference(from: expected)?.contains(words) == true, "\(change)")
      try connection.run("DROP TABLE s.b")
    }
  }

  @Test("A statement that is prepared runs with other values each time, also NULL")
  func prepared() throws {
    let connection = try Server.connect(url)
    try connection.run("CREATE TABLE p (a bigint, b text)")
    try connection.prepare("INSERT INTO p VALUES ($1, $2)")
    try connection.runPrepared([.text("1"), .text("")])
    try connection.runPrepared([.text("2"), .null])
    let failure = Server.failure { try connection.runPrepared([.text("x"), .null]) }
    #expect(failure?.kind == .record)
    #expect(try server.rows("SELECT * FROM p ORDER BY a", in: url) == ["1|''", "2|NULL"])
  }
}
