import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// What bad records of a load cost the server, by its own log.
@Suite("Costs of rejects", .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct RejectCostTests {
  let scratch = Scratch()
  let server: PostgresServer
  let url: String
  /// A name that no other test uses, by which the log's lines are found.
  private let table = "cost_\(UInt32.random(in: 0...UInt32.max))"

  init() throws {
    PostgresStores.register()
    server = try PostgresServer.shared()
    url = try server.freshDatabase()
    try server.psql(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET log_statement = ''all''', current_database()); END $$",
      in: url)
  }

  /// A trigger that refuses 9: of what it refuses nothing is known beforehand.
  private func makeTrigger() throws {
    try server.psql(
      """
      CREATE TABLE \(table) (id int PRIMARY KEY, n int);
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.n = 9 THEN RAISE EXCEPTION 'no nine'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON \(table) FOR EACH ROW EXECUTE FUNCTION refuse()
      """, in: url)
  }

  private func load(
    _ count: Int, bad: Set<Int>, _ change: (inout LoadOptions) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rules.key = ["id"]
    (options.rejects.onError, options.rejects.path) = (.reject, scratch.file("rejects.ndjson"))
    change(&options)
    let text = "id,n\n" + (0..<count).map { "\($0),\(bad.contains($0) ? 9 : 1)\n" }.joined()
    return LoadJob(
      database: url, table: table, sources: [scratch.write(text, to: "feed.csv")], options: options
    ).run()
  }

  /// So many records, at random.
  private func some(_ badCount: Int, of count: Int) -> Set<Int> {
    var generator = SeededGenerator(seed: SeededGenerator.givenSeed ?? UInt64.random(in: 0...UInt64.max))
    var bad: Set<Int> = []
    while bad.count < badCount { bad.insert(Int.random(in: 0..<count, using: &generator)) }
    return bad
  }

  /// The statements of the sessions that have spoken of the table, each with its session.
  private func statements() throws -> [(session: Substring, text: Substring)] {
    let log = try String(contentsOfFile: server.folder + "/log", encoding: .utf8)
    // 2026-11-27 09:40:45.123 UTC [4711] LOG:  statement: …
    let lines = log.split(separator: "\n").compactMap { line -> (session: Substring, text: Substring)? in
      guard let open = line.firstIndex(of: "["), let close = line[open...].firstIndex(of: "]") else {
        return nil
      }
      return (line[open...close], line[line.index(after: close)...])
    }
    let own = Set(lines.filter { $0.text.contains(table) }.map(\.session))
    return lines.filter { line in
      own.contains(line.session)
        && [" LOG:  statement: ", " LOG:  execute "].contains { line.text.hasPrefix($0) }
    }
  }

  /// The records that the file of rejects has.
  private func rejectedRecords() throws -> [Int] {
    try String(contentsOfFile: scratch.file("rejects.ndjson"), encoding: .utf8).split(separator: "\n")
      .dropFirst().map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?["record"] as? Int) - 1
      }
  }

  /// Loads so many records, of which these are bad, and looks at what came of them.
  /// - Returns: how many statements it took.
  private func statementCount(of count: Int, bad: Set<Int>) throws -> Int {
    let before = try statements().count
    let summary = load(count, bad: bad)
    #expect(
      summary.error == nil && summary.ledger.inserted == UInt64(count - bad.count)
        && summary.ledger.rejected == UInt64(bad.count))
    #expect(try rejectedRecords() == bad.sorted())
    return try statements().count - before
  }

  @Test("Ten bad records at random in 100,000 cost at most 300 statements, all of the load's")
  func tenBad() throws {
    try makeTrigger()
    let bad = some(10, of: 100_000)
    let count = try statementCount(of: 100_000, bad: bad)
    #expect(count > 100 && count <= 300, "\(count) for \(bad.sorted())")
  }

  @Test("A thousand bad records of one constraint cost at most 2,000 statements")
  func thousandBad() throws {
    try server.psql("CREATE TABLE \(table) (id int PRIMARY KEY, n int CHECK (n <> 9))", in: url)
    let count = try statementCount(of: 100_000, bad: some(1000, of: 100_000))
    // Each is tried alone once, for the server's words.
    #expect(count > 1000 && count <= 1500, "\(count)")
  }

  @Test("No transaction of a load keeps more than 64 savepoints, and each record is stored once")
  func savepoints() throws {
    try makeTrigger()
    let bad = some(100, of: 4000)
    let summary = load(4000, bad: bad)
    #expect(summary.error == nil && summary.ledger.inserted == 3900 && summary.ledger.rejected == 100)
    #expect(try rejectedRecords() == bad.sorted())
    #expect(try server.rows("SELECT count(*) AS n FROM \(table)", in: url) == ["3900"])
    var (kept, most, commitCount) = (0, 0, 0)
    for (_, text) in try statements() {
      let (released, takenBack) = (
        text.count(of: "RELEASE upsurge_part"), text.count(of: "ROLLBACK TO upsurge_part")
      )
      kept += released - takenBack
      most = max(most, kept)
      if text.hasSuffix("COMMIT") { (kept, commitCount) = (0, commitCount + 1) }
    }
    #expect(most > 40 && most <= 64 && commitCount > 4, "\(most) in \(commitCount)")
  }

  @Test("A run that ends between the transactions of a batch resumes after the last one")
  func resumes() throws {
    try makeTrigger()
    let bad = some(100, of: 4000)
    let refused = load(4000, bad: bad) { $0.rejects.limit = .count(50) }
    let committed = refused.progress.committedCount
    #expect(refused.error != nil && committed > 0 && committed < 4000, "\(refused.error?.description ?? "")")
    #expect(try server.rows("SELECT count(*) AS n FROM \(table)", in: url) != ["0"])
    let resumed = load(4000, bad: bad)
    #expect(
      resumed.error == nil && resumed.progress.resumedCount == committed,
      "\(resumed.error?.description ?? "")")
    #expect(
      resumed.ledger.inserted == 3900 && resumed.ledger.rejected == 100 && resumed.ledger.unchanged == 0)
    #expect(try rejectedRecords() == bad.sorted())
  }
}

extension Substring {
  /// How often a text comes in it.
  fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
