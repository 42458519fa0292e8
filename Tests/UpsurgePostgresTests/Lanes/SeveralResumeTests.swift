import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What loads over several connections write down, and who may go on from there.
@Suite(
  "Resumed loads over several connections",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SeveralResumeTests {
  let scratch = Scratch()
  let connection: PostgresConnection
  let url: String

  init() throws {
    PostgresStores.register()
    url = try Server.freshURL()
    connection = try Server.connect(url)
  }

  private func load(
    _ source: String, into other: String? = nil, _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.connections = 3
    options.transaction.commitEvery = .records(20)
    options.tuning.batchSizes.recordCount = 15
    change(&options)
    return LoadJob(database: other ?? url, table: "t", sources: [source], options: options).run()
  }

  /// Loads a part of the records, up to one that the table refuses.
  private func begin(as other: String? = nil, _ prepare: () throws -> Void = {}) throws -> String {
    try connection.run("CREATE TABLE t (id int PRIMARY KEY, n bigint CHECK (n < 90))")
    try prepare()
    let text = "id,n\n" + (1...300).map { "\($0),\($0 == 250 ? 95 : 1)\n" }.joined()
    let source = scratch.write(text, to: "feed.csv")
    #expect(load(source, into: other).exitCode == 3)
    return source
  }

  private static let hint =
    "make the table what it was when the run began; or delete what that run has stored, and then --resume never loads everything"

  @Test("A key of another type would divide records otherwise, so the run goes on only with the one it had")
  func division() throws {
    let source = try begin()
    let before = try connection.texts("SELECT count(*) FROM t")
    try connection.run("ALTER TABLE t ALTER COLUMN id TYPE bigint")
    let refused = load(source) { $0.rejects.onError = .reject }
    #expect(
      refused.error?.code == .guardRefused && refused.error?.hint == Self.hint,
      "\(refused.error?.description ?? "")")
    #expect(try connection.texts("SELECT count(*) FROM t") == before)
    try connection.run("ALTER TABLE t ALTER COLUMN id TYPE int")
    let followed = load(source) { $0.rejects.onError = .reject }
    #expect(followed.error == nil && followed.ledger.inserted == 299 && followed.ledger.rejected == 1)
  }

  @Test("A table that got a trigger meanwhile says how the run can go on")
  func trigger() throws {
    let source = try begin()
    try connection.run(
      """
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER later AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION f()
      """)
    // Leaving out the connections does not help: the run has them.
    let refused = load(source) { ($0.rejects.onError, $0.transaction.connections) = (.reject, 1) }
    #expect(refused.exitCode == 64 && refused.error?.hint == Self.hint, "\(refused.error?.description ?? "")")
    try connection.run("TRUNCATE t")
    let anew = load(source) {
      ($0.rejects.onError, $0.transaction.connections, $0.transaction.resume) = (.reject, 1, .never)
    }
    #expect(anew.error == nil && anew.ledger.inserted == 299 && anew.ledger.rejected == 1)
  }

  @Test("A run that has no room for its connections any more is not told to take fewer")
  func room() throws {
    let role = "several_resumed"
    try connection.run("CREATE ROLE \(role) LOGIN; GRANT ALL ON SCHEMA public TO \(role)")
    defer { _ = try? connection.run("DROP OWNED BY \(role); DROP ROLE \(role)") }
    let narrow = try PostgresServer.shared().socketURL(database: connection.database, user: role)
    let source = try begin(as: narrow) { try connection.run("GRANT ALL ON t TO \(role)") }
    let sessions = "SELECT pid FROM pg_stat_activity WHERE usename = '\(role)'"
    for _ in 0..<1_000 where try !connection.texts(sessions).isEmpty { usleep(10_000) }
    try connection.run("ALTER ROLE \(role) CONNECTION LIMIT 3")
    let refused = load(source, into: narrow) {
      ($0.rejects.onError, $0.tuning.connectSeconds) = (.reject, [])
    }
    #expect(
      refused.error?.hint
        == "raise max_connections, or the size of the pool: a run that resumes keeps its number of connections",
      "\(refused.error?.description ?? "")")
    try connection.run("ALTER ROLE \(role) CONNECTION LIMIT -1")
    let followed = load(source, into: narrow) { $0.rejects.onError = .reject }
    #expect(followed.error == nil && followed.ledger.inserted == 299, "\(followed.error?.description ?? "")")
  }

  @Test("What is committed is written down while the source has nothing more to say")
  func idle() throws {
    try connection.run("CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 90))")
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let (target, seen) = (url, Guarded<Int64>(0))
    let writer = try WorkerThread {
      guard let file = FileHandle(forWritingAtPath: pipe), let other = try? Server.connect(target) else {
        return
      }
      // More than is looked at before the first record is stored.
      file.write(Data(("id,n\n" + (1...200_000).map { "\($0),\($0 == 7 ? 95 : 1)\n" }.joined()).utf8))
      for _ in 0..<1_000 where seen.withLock({ $0 == 0 }) {
        usleep(10_000)
        let count = try? other.run("SELECT count(*) FROM upsurge_rejects", []).first?.integer(0)
        seen.withLock { $0 = (count ?? nil) ?? 0 }
      }
      file.write(Data("200001,1\n".utf8))
      try? file.close()
    }
    let summary = load(pipe) {
      ($0.rejects.onError, $0.rejects.target, $0.transaction.commitEvery) = (.reject, .table, .records(20_000))
      $0.tuning.batchSizes.recordCount = 10_000
    }
    writer.join()
    #expect(seen.withLock { $0 } == 1, "a reject was kept before the source's end")
    #expect(
      summary.error == nil && summary.ledger.inserted == 200_000 && summary.ledger.rejected == 1,
      "\(summary.error?.description ?? "")")
  }
}
