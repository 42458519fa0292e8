import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords
import UpsurgeState

@testable import UpsurgePostgres

/// What is kept on a server may have been written by anybody, and is replayed with the rights of whoever replays it.
@Suite(
  "Records of others in PostgreSQL",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ReplayTrustTests {
  let stores: TwoStores
  /// A user who may log in, and nothing else.
  let role = "stranger_\(UInt32.random(in: 0...UInt32.max))"

  init() throws {
    stores = try TwoStores(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)",
      server: "CREATE TABLE t (id bigint PRIMARY KEY, n bigint)")
    try stores.server.psql("CREATE ROLE \(role) LOGIN", in: stores.url)
  }

  /// The database as another user.
  private func url(as user: String) throws -> String {
    let name = try stores.server.psql("SELECT current_database()", in: stores.url)
    return stores.server.socketURL(database: name, user: user)
  }

  private func replay(
    _ url: String, file: String? = nil, _ change: (inout ReplayOptions) -> Void = { _ in }
  ) -> (summary: ReplaySummary, notes: [String]) {
    let notes = Guarded<[String]>([])
    var options = ReplayOptions()
    change(&options)
    let summary = ReplayJob(database: url, file: file, options: options).run(note: { note in
      notes.withLock { $0.append(note.text) }
    })
    return (summary, notes.withLock { $0 })
  }

  private func load(_ text: String, table: String = "t", in url: String? = nil) -> RunSummary {
    var options = LoadOptions()
    (options.rejects.onError, options.rejects.target) = (.reject, .table)
    let path = stores.scratch.write(text, to: "feed.csv")
    return LoadJob(database: url ?? stores.url, table: table, sources: [path], options: options).run()
  }

  private func count(_ table: String) throws -> String {
    try stores.server.psql("SELECT count(*) FROM \(table)", in: stores.url)
  }

  @Test("Tables of rejects of a stranger are left alone, and run nothing, until somebody trusts them")
  func strangers() throws {
    try stores.server.psql(
      """
      CREATE SCHEMA theirs AUTHORIZATION \(role); CREATE TABLE theirs.t (id bigint PRIMARY KEY, n bigint);
      ALTER TABLE theirs.t OWNER TO \(role); CREATE TABLE secret (who text); GRANT ALL ON secret TO PUBLIC
      """, in: stores.url)
    #expect(load("id,n\n1,x\n", table: "theirs.t", in: try url(as: role)).ledger.rejected == 1)
    try stores.server.psql(
      """
      UPDATE theirs.upsurge_rejects SET raw = '1,1'; SET ROLE \(role);
      CREATE FUNCTION theirs.run() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO public.secret VALUES (current_user); RETURN coalesce(NEW, OLD); END $$;
      CREATE TRIGGER run BEFORE DELETE ON theirs.upsurge_rejects FOR EACH ROW EXECUTE FUNCTION theirs.run();
      CREATE TABLE theirs.upsurge_replays (path text, done_bytes bigint, done_hash bigint, kept_bytes bigint, kept_hash bigint, whole boolean,
        progress text, updated_at timestamptz DEFAULT now());
      CREATE TRIGGER run BEFORE INSERT ON theirs.upsurge_replays FOR EACH ROW EXECUTE FUNCTION theirs.run()
      """, in: stores.url)
    // Those of the user's own are tried.
    #expect(load("id,n\n7,x\n").ledger.rejected == 1)
    try stores.server.psql("UPDATE upsurge_rejects SET raw = '7,7'", in: stores.url)
    let (summary, notes) = replay(stores.url)
    #expect(summary.error == nil && summary.ledger.inserted == 1 && summary.exitCode == 0)
    let user = PostgresServer.user
    #expect(
      notes.contains {
        $0.contains("theirs.upsurge_rejects are left alone") && $0.hasSuffix("GRANT \"\(role)\" TO \(user)")
      })
    #expect(try [count("theirs.upsurge_rejects"), count("theirs.t"), count("secret")] == ["1", "0", "0"])
    // The user's own replay takes them; so does that of somebody who trusts it.
    #expect(load("id,n\n2,x\n", table: "theirs.t", in: try url(as: role)).ledger.rejected == 1)
    try stores.server.psql(
      "GRANT \"\(role)\" TO \(user); UPDATE theirs.upsurge_rejects SET raw = '2,2' WHERE raw = '2,x'",
      in: stores.url)
    #expect(replay(stores.url).summary.ledger.inserted == 2)
    #expect(try [count("theirs.upsurge_rejects"), count("theirs.t")] == ["0", "2"])
  }

  @Test("A record goes to a table of its own schema, and to none of the server's")
  func schemas() throws {
    try stores.server.psql(
      "CREATE SCHEMA other; CREATE TABLE other.t (id bigint PRIMARY KEY, n bigint)", in: stores.url)
    #expect(load("id,n\n1,x\n").ledger.rejected == 1)
    try stores.server.psql("UPDATE upsurge_rejects SET raw = '1,1', \"table\" = 'other.t'", in: stores.url)
    let refused = replay(stores.url).summary
    #expect(refused.error == nil && refused.ledger.rejected == 1)
    #expect(
      refused.tables.first?.untried.first?.reason.contains("other.t is in another schema than the record")
        == true)
    #expect(try count("other.t") == "0")
    let file = stores.scratch.file("bad.ndjson")
    #expect(
      try stores.load(stores.scratch.write("id,n\n2,x\n", to: "two.csv"), .postgres) {
        $0.rejects.target = .file(file)
      }.exitCode == 2)
    let text = try String(contentsOfFile: file, encoding: .utf8).replacing(
      "\"table\":\"t\"", with: "\"table\":\"pg_class\"")
    try text.write(toFile: file, atomically: false, encoding: .utf8)
    let system = replay(stores.url, file: file).summary
    #expect(
      system.tables.first?.untried.first?.reason.contains("pg_class is one of the server itself") == true)
  }

  @Test("A record for a table that the user may not write to holds up no others, and says the GRANT")
  func rights() throws {
    try stores.server.psql(
      "CREATE TABLE closed (id bigint PRIMARY KEY, n bigint); GRANT SELECT, INSERT, UPDATE ON t TO \(role)",
      in: stores.url)
    #expect(load("id,n\n1,x\n2,x\n").ledger.rejected == 2)
    // It makes the tables that the other user is given.
    _ = replay(stores.url)
    try stores.server.psql(
      """
      UPDATE upsurge_rejects SET raw = replace(raw, 'x', '1'), "table" = CASE raw WHEN '1,x' THEN 'closed' ELSE 't' END;
      GRANT ALL ON upsurge_rejects, upsurge_reject_contexts, upsurge_replays TO \(role)
      """, in: stores.url)
    let (summary, _) = replay(try url(as: role))
    #expect(
      summary.error == nil && summary.ledger.inserted == 1 && summary.ledger.rejected == 1, "\(summary)")
    let reason = summary.tables.first { $0.name == "closed" }?.untried.first?.reason
    #expect(
      reason?.contains("GRANT SELECT, INSERT, UPDATE ON public.closed TO \(role)") == true, "\(reason ?? "")")
    #expect(try stores.rows("SELECT * FROM t", .postgres) == ["2|1"])
    #expect(try stores.rows("SELECT \"table\" FROM upsurge_rejects", .postgres) == ["'closed'"])
  }

  @Test("Texts that nobody has room for are not read")
  func sizes() throws {
    #expect(load("id,n\n1,x\n").ledger.rejected == 1)
    for column in ["raw", "file", "reason", "\"table\""] {
      try stores.server.psql(
        "BEGIN; UPDATE upsurge_rejects SET \(column) = repeat('x', 20000000); COMMIT", in: stores.url)
      let (summary, _) = replay(stores.url) { $0.memory = .mebibytes(16) }
      let untried = summary.tables.first?.untried.first
      #expect(
        summary.error == nil && untried?.code == .tooLarge, "\(column): \(untried.map { "\($0)" } ?? "")")
      try stores.server.psql("UPDATE upsurge_rejects SET \(column) = 't'", in: stores.url)
    }
    try stores.server.psql(
      "UPDATE upsurge_reject_contexts SET context = repeat(' ', 20000000)", in: stores.url)
    let (summary, _) = replay(stores.url) { $0.memory = .mebibytes(16) }
    #expect(summary.tables.first?.untried.first?.reason.contains("cannot be understood") == true)
  }
}
