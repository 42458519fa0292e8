import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// `upsurge replay` of a server does what it does with SQLite.
@Suite(
  "Replays into PostgreSQL",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct ServerReplayTests {
  let stores: TwoStores

  init() throws {
    stores = try TwoStores(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 90)) STRICT",
      server: "CREATE TABLE t (id bigint PRIMARY KEY, n bigint NOT NULL CHECK (n < 90))")
  }

  private func feed() -> String {
    stores.scratch.write("id,n\n1,1\n2,x\n3\n4,\n5,95\n6,6\n", to: "feed.csv")
  }

  @Test("What was mended is stored, and the rest stays, as in SQLite")
  func table() throws {
    let path = feed()
    for store in TwoStores.Store.allCases { _ = try stores.load(path, store) }
    let untouched = try stores.replay(.sqlite).result
    #expect(untouched.rejects.count == 4 && untouched.exitCode == 2)
    #expect(try stores.replay(.postgres).result == untouched)
    try stores.change("UPDATE upsurge_rejects SET raw = '2,2' WHERE raw = '2,x'; UPDATE upsurge_rejects SET raw = '3,95' WHERE raw = '3'")
    let mended = try stores.replay(.sqlite).result
    #expect(mended.ledger.inserted == 1 && mended.rejects.count == 3)
    #expect(try stores.replay(.postgres).result == mended)
    try stores.change("UPDATE upsurge_rejects SET raw = '1,9' WHERE raw = '4,'; DELETE FROM upsurge_rejects WHERE raw = '5,95'")
    try stores.change("UPDATE upsurge_rejects SET raw = '3,3'")
    let rest = try stores.replay(.sqlite).result
    #expect(try stores.replay(.postgres).result == rest)
    #expect(rest.rejects == [] && rest.exitCode == 0)
    #expect(try stores.rows("SELECT count(*) AS n FROM upsurge_reject_contexts", .postgres) == ["0"])
    #expect(try stores.rows("SELECT count(*) AS n FROM upsurge_replays", .postgres) == ["0"])
  }

  @Test("A file of rejects is replayed, and holds what is left, as in SQLite")
  func file() throws {
    let path = feed()
    var texts: [[Substring]] = []
    var results: [TwoStores.Result] = []
    for store in TwoStores.Store.allCases {
      let file = stores.scratch.file("\(store).ndjson")
      #expect(try stores.load(path, store) { $0.rejects.target = .file(file) }.ledger.rejected == 4)
      let mended = try String(contentsOfFile: file, encoding: .utf8)
        .replacing("\"raw\":\"2,x\"", with: "\"raw\":\"2,2\"").replacing("\"raw\":\"3\"", with: "\"raw\":\"3,3\"")
      try mended.write(toFile: file, atomically: false, encoding: .utf8)
      results.append(try stores.replay(store, file: file).result)
      let left = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").dropFirst()
      texts.append(left.compactMap { line in line.firstRange(of: "\"raw\":").map { line[$0.lowerBound...] } })
    }
    #expect(results[0] == results[1] && results[0].ledger.inserted == 2 && results[0].exitCode == 2)
    #expect(texts[0] == texts[1] && texts[0].count == 2)
    #expect(!FileManager.default.fileExists(atPath: stores.scratch.file("postgres.ndjson.replay")))
    #expect(try stores.rows("SELECT count(*) AS n FROM upsurge_replays", .postgres) == ["0"])
  }

  @Test("A ledger that nobody has seen is part of the next one")
  func unseen() throws {
    let path = feed()
    for store in TwoStores.Store.allCases { _ = try stores.load(path, store) }
    try stores.change("UPDATE upsurge_rejects SET raw = '2,2' WHERE raw = '2,x'")
    var summaries: [ReplaySummary] = []
    for store in TwoStores.Store.allCases {
      #expect(try stores.replay(store, report: { _ in false }).result.ledger.inserted == 1)
      summaries.append(try stores.replay(store).summary)
      #expect(try stores.replay(store).summary.resumedCount == 0)
    }
    #expect(summaries.map(\.resumedCount) == [1, 1])
    #expect(summaries[0].ledger == summaries[1].ledger && summaries[0].ledger.inserted == 1)
  }

  @Test("SQL of kept rules is run only for who trusts it, and says so")
  func trust() throws {
    let path = stores.scratch.write("id,n\n1,1\n2,x\n", to: "feed.csv")
    _ = try stores.load(path, .postgres) {
      ($0.rules.key, $0.rules.merge.columns) = (["id"], ["n": .expression("n + excluded.n")])
    }
    try stores.server.psql("UPDATE upsurge_rejects SET raw = '1,5'", in: stores.url)
    let kept = try stores.replay(.postgres)
    #expect(kept.summary.tables.first?.untried.first?.code.rawValue == "no-place")
    #expect(kept.summary.tables.first?.untried.first?.reason.contains("--trust-rules") == true)
    #expect(kept.result.rows == ["1|1"] && kept.result.rejects.count == 1)
    let trusted = try stores.replay(.postgres, trustsRules: true)
    #expect(trusted.result.rows == ["1|6"] && trusted.result.exitCode == 0)
  }

  @Test("Records that somebody sent elsewhere, or that nobody can read, stay as they are")
  func untouched() throws {
    let path = feed()
    _ = try stores.load(path, .postgres)
    for (sql, words) in [
      ("UPDATE upsurge_rejects SET \"table\" = 'upsurge_runs'", "a table of Upsurge's own"),
      ("UPDATE upsurge_rejects SET \"table\" = 'nowhere'", "there is no table nowhere"),
      ("UPDATE upsurge_rejects SET \"table\" = 't'; UPDATE upsurge_reject_contexts SET context = 'x'", "cannot be understood"),
      ("DELETE FROM upsurge_reject_contexts", "upsurge_reject_contexts is gone"),
    ] {
      try stores.server.psql(sql, in: stores.url)
      let replay = try stores.replay(.postgres)
      #expect(replay.summary.error == nil && replay.result.rejects.count == 4, "\(words)")
      #expect(replay.summary.tables.first?.untried.first?.reason.contains(words) == true, "\(words)")
    }
  }

  @Test("The file of a run that has not ended is left alone by others")
  func guarded() throws {
    let file = stores.scratch.file("bad.ndjson")
    let text = "id,n\n" + (1...300).map { $0 % 50 == 0 ? "\($0),x\n" : "\($0),1\n" }.joined()
    let ended = try stores.load(stores.scratch.write(text, to: "feed.csv"), .postgres) {
      ($0.transaction.commitEvery, $0.tuning.batchSizes.recordCount) = (100, 20)
      ($0.rejects.target, $0.rejects.limit) = (.file(file), .count(3))
    }
    #expect(ended.rows.count > 50 && ended.exitCode == 3)
    let other = stores.scratch.write("id,n\n900,x\n", to: "other.csv")
    #expect(try stores.load(other, .postgres) { $0.rejects.target = .file(file) }.exitCode == 4)
  }

  @Test("Where nothing is kept it says so, and makes nothing")
  func nothing() throws {
    let notes = Guarded<[String]>([])
    let summary = ReplayJob(database: stores.url).run(note: { note in notes.withLock { $0.append(note.text) } })
    let said = notes.withLock { $0 }
    #expect(summary.exitCode == 0 && said.first?.hasPrefix("no record is kept in postgresql://") == true)
    #expect(try stores.rows("SELECT count(*) AS n FROM pg_class WHERE relname LIKE 'upsurge%'", .postgres) == ["0"])
  }

  @Test("New keys of JSON become columns where the load has let them")
  func evolves() throws {
    let path = stores.scratch.write("{\"id\":1,\"n\":1}\n{\"id\":2,\"n\":95}\n", to: "feed.ndjson")
    _ = try stores.load(path, .postgres) { $0.table.contract = .evolve }
    try stores.server.psql("UPDATE upsurge_rejects SET raw = '{\"id\":2,\"n\":2,\"more\":\"x\"}'", in: stores.url)
    #expect(try stores.replay(.postgres).result.rows == ["1|1|NULL", "2|2|'x'"])
  }
}
