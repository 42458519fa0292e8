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

/// Random loads over several connections, of which the server ends one after the other.
@Suite(
  "Loads over several connections that are killed",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SeveralKillTests {
  let scratch = Scratch()
  let connection: PostgresConnection
  let url: String

  init() throws {
    PostgresStores.register()
    url = try Server.freshURL()
    connection = try Server.connect(url)
  }

  private func reset(_ load: SeveralLoad) throws {
    try connection.run(
      "SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public; \(load.ddl)")
    unlink(scratch.file("bad"))
  }

  /// Ends connections that store records while `body` is at work.
  /// - Returns: how many were ended.
  private func killing(seed: UInt64, _ body: () -> Void) throws -> Int {
    let (target, isDone, count) = (url, Guarded(false), Guarded(0))
    let killer = try WorkerThread {
      var random = SeededGenerator(seed: seed)
      guard let other = try? Server.connect(target) else { return }
      for _ in 0..<400 where !isDone.withLock({ $0 }) && count.withLock({ $0 < 5 }) {
        usleep(UInt32.random(in: 500...9_000, using: &random))
        let ended = try? other.run(
          """
          SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'upsurge connection%' ORDER BY random() LIMIT 1) AS one
          """, []
        ).first?.integer(0)
        count.withLock { $0 += Int((ended ?? nil) ?? 0) }
      }
    }
    body()
    isDone.withLock { $0 = true }
    killer.join()
    return count.withLock { $0 }
  }

  @Test("Table, ledger and rejects are those of one connection that nobody has disturbed")
  func property() throws {
    let first = SeededGenerator.firstSeed()
    var killCount = 0
    let wentBack = Guarded(0)
    for seed in first..<first + UInt64(SeededGenerator.some(12, most: 500)) {
      let load = SeveralLoad(seed: seed)
      let (source, path) = (scratch.write(load.text, to: load.sourceName), scratch.file("bad"))
      try reset(load)
      let options = load.options(connections: 1, rejectsPath: path)
      let summary = LoadJob(database: url, table: "t", sources: [source], options: options).run()
      #expect(summary.error == nil, "seed \(seed): \(summary.error?.description ?? "")")
      let one = try load.result(summary, connection, rejectsPath: path)
      try reset(load)
      var several = load.options(connections: 2 + Int(seed % 5), rejectsPath: path)
      // Half of the runs go back to what stands with their first connection.
      several.tuning.connectSeconds = seed % 2 == 0 ? [] : Array(repeating: 0.002, count: 60)
      let job = LoadJob(database: url, table: "t", sources: [source], options: several)
      var last = RunSummary(database: url, table: "t", sources: [source])
      let note: @Sendable (RunNote) -> Void = { note in
        if note.text.contains("committed") { wentBack.withLock { $0 += 1 } }
      }
      killCount += try killing(seed: seed) { last = job.run(note: note) }
      for _ in 0..<3 where last.error != nil {
        killCount += try killing(seed: seed &+ 1) { last = job.run(note: note) }
      }
      if last.error != nil { last = job.run() }
      #expect(last.error == nil, "seed \(seed): \(last.error?.description ?? "")")
      #expect(try load.result(last, connection, rejectsPath: path) == one, "seed \(seed)")
      #expect(try connection.texts("SELECT * FROM upsurge_connections") == [], "seed \(seed)")
    }
    #expect(killCount > 0 && wentBack.withLock { $0 } > 0, "seeds from \(first)")
  }
}
