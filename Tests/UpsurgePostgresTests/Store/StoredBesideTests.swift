import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Loads of several transactions, each of which is stored while the next one is gathered and encoded.
@Suite("Stored beside the reading", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct StoredBesideTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
  }

  /// Loads batches of a hundred records, each of which is a transaction.
  private func load(_ text: String, _ change: (inout LoadOptions) -> Void = { _ in }) -> RunSummary {
    var options = LoadOptions()
    (options.rules.key, options.transaction.commitEvery) = (["id"], 100)
    options.tuning.batchSizes.recordCount = 100
    change(&options)
    return LoadJob(database: url, table: "t", sources: [scratch.write(text, to: "feed.csv")], options: options).run()
  }

  private func rows(_ sql: String) throws -> [String] { try server.rows(sql, in: url) }

  @Test("Errors of what is stored while others are read come in the order of the input, and cost no record")
  func storedBeside() throws {
    try server.psql("CREATE TABLE t (id bigint PRIMARY KEY, n int CHECK (n < 1000), v text)", in: url)
    let good = (1...2_000).map { "\($0),\($0 == 450 ? 5_000 : $0 % 900),v\($0)\n" }.joined()
    let (head, tail) = ("id,n,v\n", "2001,1,v,surplus\n")
    let text = head + good + tail
    let stopped = load(text)
    #expect(stopped.error?.position?.record == 450 && stopped.progress.committedCount == 400)
    let resumed = load(text) { $0.rejects.onError = .reject }
    #expect(resumed.error == nil && resumed.progress.resumedCount == 400)
    #expect(resumed.ledger.inserted == 1_999 && resumed.ledger.rejected == 2)
    // Each batch of a hundred is encoded while the one before is stored, whatever its path.
    let changed = load(head + good.replacing(",v", with: ",w") + tail) {
      $0.rejects.onError = .reject
    }
    #expect(changed.error == nil && changed.ledger.updated == 1_999 && changed.ledger.rejected == 2)
    #expect(try rows("SELECT count(*) AS n, sum(id)::bigint AS s FROM t WHERE v = 'w' || id AND n = id % 900") == ["1999|2000550"])
  }

  @Test("Transactions that end early, for many bad records, do not lose what was encoded after them")
  func manyBad() throws {
    try server.psql(
      """
      CREATE TABLE t (id int PRIMARY KEY, n int);
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.n % 9 = 4 THEN RAISE EXCEPTION 'no such rest'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION refuse()
      """, in: url)
    let count = 6_000
    let bad = (0..<count).filter { $0 % 9 == 4 }
    let path = scratch.file("bad.ndjson")
    let summary = load("id,n\n" + (0..<count).map { "\($0),\($0)\n" }.joined()) {
      $0.transaction.commitEvery = 2_000
      $0.tuning.batchSizes.recordCount = 500
      ($0.rejects.onError, $0.rejects.path) = (.reject, path)
    }
    #expect(summary.error == nil && summary.ledger.inserted == UInt64(count - bad.count))
    #expect(summary.ledger.rejected == UInt64(bad.count) && summary.ledger.read == UInt64(count))
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
    let found = try lines.map { line in
      try (JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["record"] as? Int
    }
    #expect(found == bad.map { $0 + 1 })
    #expect(
      try rows("SELECT count(*) AS n, sum(id)::bigint AS s FROM t WHERE id = n")
        == ["\(count - bad.count)|\((0..<count).reduce(0, +) - bad.reduce(0, +))"])
  }

  @Test("What the server refuses ends the run as it is, with what was committed before", arguments: ["53100", "P0001"])
  func refused(sqlState: String) throws {
    try server.psql(
      """
      CREATE TABLE t (id int PRIMARY KEY, n int);
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.id = 250 THEN RAISE EXCEPTION 'not here' USING ERRCODE = '\(sqlState)'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER guard BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuse()
      """, in: url)
    let text = "id,n\n" + (1...1_000).map { "\($0),1\n" }.joined()
    let summary = load(text)
    #expect(summary.error?.message.contains("not here") == true, "\(summary.error.map { "\($0)" } ?? "no error")")
    #expect(summary.progress.committedCount == 200 && summary.ledger.inserted == 200)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["200"])
    try server.psql("DROP TRIGGER guard ON t", in: url)
    let again = load(text)
    #expect(again.error == nil && again.progress.resumedCount == 200 && again.ledger.inserted == 1_000)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["1000"])
  }

  @Test("A run that another process has taken up meanwhile stores no more")
  func takenUp() throws {
    try server.psql(
      """
      CREATE TABLE t (id int PRIMARY KEY, n int);
      CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.id = 250 THEN UPDATE upsurge_runs SET owner = 'another'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER take BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION take()
      """, in: url)
    let summary = load("id,n\n" + (1...1_000).map { "\($0),1\n" }.joined())
    #expect(summary.error?.code == .guardRefused, "\(summary.error.map { "\($0)" } ?? "no error")")
    #expect(try rows("SELECT count(*) AS n FROM t") == ["200"])
  }

  @Test("One transaction for all stands or goes as a whole, and a trial leaves nothing")
  func whole() throws {
    try server.psql("CREATE TABLE t (id int PRIMARY KEY, n int CHECK (n < 1000))", in: url)
    let bad = "id,n\n" + (1...1_000).map { "\($0),\($0 == 450 ? 5_000 : 1)\n" }.joined()
    let stopped = load(bad) { $0.transaction.isAtomic = true }
    #expect(stopped.error?.position?.record == 450 && stopped.progress.committedCount == 0)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["0"])
    #expect(try rows("SELECT count(*) AS n FROM upsurge_runs") == ["0"])
    let path = scratch.file("trial.ndjson")
    let trial = load(bad) {
      ($0.output.dryRun, $0.rejects.onError, $0.rejects.path) = (.count, .reject, path)
    }
    #expect(trial.error == nil && trial.ledger.inserted == 999 && trial.ledger.rejected == 1)
    #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 2)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["0"])
    let stored = load(bad) { ($0.transaction.isAtomic, $0.rejects.onError) = (true, .reject) }
    #expect(stored.error == nil && stored.ledger.inserted == 999 && stored.ledger.rejected == 1)
    #expect(try rows("SELECT count(*) AS n FROM t") == ["999"])
  }

  @Test("A record that is larger than what is gathered is stored alone, and the ones around it too")
  func large() throws {
    try server.psql("CREATE TABLE t (id int PRIMARY KEY, v text)", in: url)
    let lines = (1...600).map { "\($0),\(String(repeating: "v", count: $0 % 300 == 250 ? 3_500_000 : 10))\n" }
    let summary = load("id,v\n" + lines.joined()) { $0.transaction.memory = .mebibytes(16) }
    #expect(summary.error == nil && summary.ledger.inserted == 600, "\(summary.error.map { "\($0)" } ?? "")")
    #expect(
      try rows("SELECT count(*) AS n, sum(length(v))::bigint AS s FROM t WHERE v = repeat('v', length(v))")
        == ["600|\(598 * 10 + 2 * 3_500_000)"])
    #expect(load("id,v\n" + lines.joined()) { $0.transaction.memory = .mebibytes(16) }.ledger.unchanged == 600)
  }
}
