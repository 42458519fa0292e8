import Foundation
import PostgresSupport
import TestSupport
import Testing

/// A client may be killed while the server works on its COMMIT, which stands then. Here the server waits for a standby that does
/// not exist, as long as the test wants.
@Suite(
  "Loads and replays into PostgreSQL that are killed at their COMMIT", .serialized,
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct PostgresCommitKillTests {
  let server: PostgresServer
  let url: String
  let scratch = Scratch()

  init() throws {
    server = try PostgresServer.alone()
    url = try server.freshDatabase()
  }

  /// Waits until a session of a load waits for something.
  private func wait(for event: String) throws {
    for _ in 0..<1_000 {
      let sessions =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'upsurge' AND wait_event = '\(event)'"
      if try server.psql(sessions, in: url) != "0" { return }
      usleep(10_000)
    }
    Issue.record("no session waits for \(event)")
  }

  private func setStandby(_ setting: String) throws {
    try server.psql("ALTER SYSTEM \(setting)", in: url)
    try server.psql("SELECT pg_reload_conf()", in: url)
  }

  @Test(
    "The same command at once waits for the COMMIT, and adds nothing twice", arguments: [[], ["--atomic"]])
  func waits(options: [String]) throws {
    let rows = (1...100).map { "\($0),1\n" }.joined()
    let source = scratch.write("id,n\n" + rows, to: "feed.csv")
    let arguments = ["load", url, "t", source, "--key", "id", "--set", "n=sum"] + options
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n bigint)", in: url)
    // It also makes the table of runs.
    #expect(try Command.run(arguments).exitCode == 0)
    try killAtCommit(arguments, event: "UPDATE")
    #expect(try server.psql("SELECT sum(n), min(n), max(n) FROM t", in: url) == "200|2|2")
    #expect(try server.psql("SELECT count(*) FROM upsurge_runs", in: url) == "0")
  }

  @Test(
    "A replay at once waits for the COMMIT of one that was killed, and stores nothing twice",
    arguments: [false, true])
  func replays(ofFile isOfFile: Bool) throws {
    let file = scratch.file("bad.ndjson")
    let source = scratch.write("id,n\n0,1\n" + (1...50).map { "\($0),95\n" }.joined(), to: "feed.csv")
    // Without a key, so that what is stored twice is there twice.
    try server.psql("CREATE TABLE t (id bigint, n bigint CONSTRAINT small CHECK (n < 90))", in: url)
    let load = ["load", url, "t", source, "--on-error", "reject", "--rejects", isOfFile ? file : "table"]
    #expect(try Command.run(load).exitCode == 2)
    try server.psql("ALTER TABLE t DROP CONSTRAINT small", in: url)
    try killAtCommit(["replay", url] + (isOfFile ? [file] : []), event: "INSERT")
    #expect(try server.psql("SELECT count(*), count(DISTINCT id) FROM t", in: url) == "51|51")
  }

  /// Kills a command while the server works on its COMMIT, and runs it again.
  /// - Parameter event: what it does with the row 1 of t.
  private func killAtCommit(_ arguments: [String], event: String) throws {
    try server.psql(
      """
      CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$;
      CREATE TRIGGER wait BEFORE \(event) ON t FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION wait()
      """, in: url)
    let killed = try Command.start(arguments)
    try wait(for: "PgSleep")
    try setStandby("SET synchronous_standby_names = 'nobody'")
    try wait(for: "SyncRep")
    killed.send(signal: SIGKILL)
    #expect(try killed.finish().exitCode == 1_000 + SIGKILL)
    let second = try Command.start(arguments)
    try wait(for: "transactionid")
    try setStandby("RESET synchronous_standby_names")
    let outcome = try second.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
  }
}
