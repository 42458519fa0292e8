import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Loads over several connections that lock one another out.
@Suite(
  "Loads over several connections that wait for one another",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SeveralLockTests {
  let scratch = Scratch()
  let connection: PostgresConnection
  let url: String

  init() throws {
    PostgresStores.register()
    url = try Server.freshURL()
    connection = try Server.connect(url)
    // The first connection that stores a row keeps all others from it until it commits.
    try connection.run(
      """
      CREATE FUNCTION alone(n bigint) RETURNS boolean LANGUAGE plpgsql
        AS $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN n < 90; END $$;
      CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (alone(n)))
      """)
  }

  private func load(_ text: String, _ notes: RunNotes, _ change: (inout LoadOptions) -> Void = { _ in })
    -> RunSummary
  {
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.connections = 3
    options.transaction.commitEvery = .records(20)
    options.transaction.busyTimeout = 4_000
    options.tuning.batchSizes.recordCount = 15
    change(&options)
    let source = scratch.write(text, to: "feed.csv")
    return LoadJob(database: url, table: "t", sources: [source], options: options).run(note: {
      notes.add($0.text)
    })
  }

  private func rows() throws -> [[String?]] { try connection.texts("SELECT count(*) FROM t") }

  @Test("Connections that wait for locks of one another commit one by one, which is said once")
  func locks() throws {
    let notes = RunNotes()
    let summary = load("id,n\n" + (1...300).map { "\($0),1\n" }.joined(), notes)
    #expect(summary.error == nil && summary.ledger.inserted == 300, "\(summary.error?.description ?? "")")
    #expect(try rows() == [["300"]])
    #expect(notes.all.count { $0.contains("wait for locks of one another") } == 1, "\(notes.all)")
  }

  @Test("A connection that waits for all others of the run is not held up by somebody else")
  func patience() throws {
    // Each of the first rows takes its time, so that the last connection waits longer than --busy-timeout.
    try connection.run(
      """
      CREATE OR REPLACE FUNCTION alone(n bigint) RETURNS boolean LANGUAGE plpgsql
        AS $$ BEGIN PERFORM pg_advisory_xact_lock(4711); PERFORM pg_sleep(n / 10.0); RETURN true; END $$
      """)
    let text = "id,n\n" + (1...90).map { "\($0),\($0 <= 40 ? 1 : 0)\n" }.joined()
    let summary = load(text, RunNotes()) {
      ($0.transaction.connections, $0.transaction.commitEvery) = (4, .records(10))
      $0.transaction.busyTimeout = 2_000
    }
    #expect(summary.error == nil && summary.ledger.inserted == 90, "\(summary.error?.description ?? "")")
  }

  @Test("A record that ends the run there leaves nothing of its connection's round, and the run resumes")
  func stops() throws {
    let text = "id,n\n" + (1...300).map { "\($0),\($0 == 201 ? 95 : 1)\n" }.joined()
    let stopped = load(text, RunNotes())
    #expect(
      stopped.error?.code == .badInput && stopped.error?.position?.record == 201,
      "\(stopped.error?.description ?? "")")
    #expect(stopped.exitCode == 3 && stopped.ledger.rejected == 0)
    #expect(try rows() == [["\(stopped.ledger.inserted)"]])
    let resumed = load(text, RunNotes()) { $0.rejects.onError = .reject }
    #expect(resumed.error == nil && resumed.ledger.inserted == 299 && resumed.ledger.rejected == 1)
    #expect(try rows() == [["299"]])
  }
}
