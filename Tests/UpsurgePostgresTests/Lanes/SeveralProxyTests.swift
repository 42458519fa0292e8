import Foundation
import PostgresSupport
import TestSupport
import Testing
import Upsurge
import UpsurgeRecords

@testable import UpsurgePostgres

/// Loads over several connections through a proxy, which counts and disturbs.
@Suite(
  "Loads over several connections through a proxy",
  .enabled(if: PostgresServer.isPresent, Comment(rawValue: PostgresServer.skipNote)))
struct SeveralProxyTests {
  let scratch = Scratch()
  let database: ProxiedDatabase

  init() throws {
    PostgresStores.register()
    database = try ProxiedDatabase()
  }

  private func run(
    _ text: String, connections: Int, _ change: (inout LoadOptions) -> Void = { _ in },
    note: @escaping @Sendable (RunNote) -> Void = { _ in }
  ) -> RunSummary {
    var options = LoadOptions()
    options.rules.key = ["id"]
    options.transaction.connections = connections
    options.transaction.commitEvery = .records(100)
    options.tuning.batchSizes.recordCount = 100
    options.tuning.connectSeconds = Array(repeating: 0.001, count: 50)
    change(&options)
    let url = database.proxy.url(database: database.direct.database)
    return LoadJob(
      database: url, table: "t", sources: [scratch.write(text, to: "feed.csv")], options: options
    ).run(note: note)
  }

  /// How many messages of a statement the connection with the most has waited for.
  private func longestWay() -> Int {
    var counts: [Int: Int] = [:]
    for event in database.proxy.events {
      if case .asked(let number, _) = event { counts[number, default: 0] += 1 }
    }
    return counts.values.max() ?? 0
  }

  @Test("Eight connections wait for a fifth of the round trips at most")
  func roundTrips() throws {
    let text = "id,n\n" + (1...16_000).map { "\($0),1\n" }.joined()
    var ways: [Int: Int] = [:]
    for count in [1, 8] {
      try database.direct.run("DROP TABLE IF EXISTS t; CREATE TABLE t (id bigint PRIMARY KEY, n bigint)")
      database.proxy.set([])
      // Batches come at once, so that no transaction is smaller for want of them.
      let summary = run(text, connections: count)
      #expect(summary.error == nil && summary.ledger.inserted == 16_000)
      ways[count] = longestWay()
    }
    let (one, eight) = (try #require(ways[1]), try #require(ways[8]))
    #expect(eight * 5 <= one, "\(one) round trips over one connection, \(eight) over eight")
  }

  @Test("A connection that is kept waiting by somebody who waits for another one gets through")
  func deadlock() throws {
    let rows = (1...200).map { "(\($0), 0)" }.joined(separator: ", ")
    try database.direct.run("CREATE TABLE t (id bigint PRIMARY KEY, n bigint); INSERT INTO t VALUES \(rows)")
    let text = "id,n\n" + (1...200).map { "\($0),1\n" }.joined()
    // Holds a row, and soon wants all: some are locked by connections that wait for the one that wants this row.
    let target = database.directTarget
    let steps = Guarded<[String]>([])
    let thread = try WorkerThread {
      let failure = Server.failure {
        let other = try PostgresConnection(to: target)
        try other.run("BEGIN; UPDATE t SET n = 5 WHERE id = 77")
        steps.withLock { $0.append("begun") }
        usleep(300_000)
        try other.run("UPDATE t SET n = 5; COMMIT")
      }
      steps.withLock { $0.append(failure.map { "\($0)" } ?? "ended") }
    }
    for _ in 0..<1_000 where steps.withLock({ $0.isEmpty }) { usleep(10_000) }
    let summary = run(text, connections: 4) { $0.transaction.busyTimeout = 8_000 }
    thread.join()
    #expect(summary.error == nil, "\(summary.error?.description ?? "")")
    #expect(steps.withLock { $0 } == ["begun", "ended"] && summary.ledger.updated == 200)
    #expect(try database.direct.texts("SELECT DISTINCT n FROM t") == [["1"]])
  }

  @Test("A COMMIT of one connection whose answer is lost is found, and its records are left out")
  func resumes() throws {
    try database.direct.run("CREATE TABLE t (id bigint PRIMARY KEY, n bigint CHECK (n < 90))")
    let text = "id,n\n" + (1...900).map { "\($0 % 300),\($0 % 41 == 0 ? 95 : 1)\n" }.joined()
    let wentBack = Guarded(0)
    // No transaction is tried again: the run goes back to what stands.
    func load() -> RunSummary {
      run(text, connections: 3) {
        ($0.rejects.onError, $0.rejects.path) = (.reject, scratch.file("bad"))
        $0.rules.merge.columns = ["n": .sum]
        $0.tuning.connectSeconds = []
      } note: { note in
        if note.text.contains("records that are committed") { wentBack.withLock { $0 += 1 } }
      }
    }
    let undisturbed = load()
    let rejects = try readFile(scratch.file("bad"))
    let rows = try database.direct.texts("SELECT id, n FROM t ORDER BY id")
    #expect(undisturbed.error == nil && undisturbed.ledger.rejected > 10)
    for (commit, moment) in (1...12).flatMap({ commit in
      [ProxyFault.Moment.before, .beforeAnswer].map { (commit, $0) }
    }) {
      try database.settle()
      try database.direct.run("TRUNCATE t; DELETE FROM upsurge_runs")
      unlink(scratch.file("bad"))
      database.proxy.set([.cut(moment, .commit, at: commit)])
      var summary = load()
      database.proxy.set([])
      for _ in 0..<5 where summary.error != nil {
        try database.settle()
        summary = load()
      }
      #expect(summary.error == nil && summary.ledger == undisturbed.ledger, "COMMIT \(commit), \(moment)")
      #expect(try database.direct.texts("SELECT id, n FROM t ORDER BY id") == rows)
      #expect(try readFile(scratch.file("bad")) == rejects)
    }
    #expect(wentBack.withLock { $0 } > 3)
  }

  @Test("What stands for Citus stores records by transactions over each connection")
  func citus() throws {
    let emulation = try #require(Emulation.all.first { $0.family == .citus })
    try database.direct.run("CREATE TABLE t (id int PRIMARY KEY, n int CHECK (n < 7))")
    database.proxy.set(emulation.faults + [.refuse(.containing("SAVEPOINT upsurge_part"), "25P02")])
    let bad: Set = [0, 77, 78, 250, 399]
    let text = "id,n\n" + (0..<400).map { "\($0),\(bad.contains($0) ? 9 : 1)\n" }.joined()
    let summary = run(text, connections: 3) {
      ($0.rejects.onError, $0.rejects.path) = (.reject, scratch.file("bad"))
    }
    #expect(summary.error == nil && summary.ledger.inserted == 395 && summary.ledger.rejected == 5)
    let lines = try String(contentsOfFile: scratch.file("bad"), encoding: .utf8).split(separator: "\n")
      .dropFirst()
    #expect(lines.map { line in bad.sorted().first { line.contains("\"raw\":\"\($0),9\"") } } == bad.sorted())
  }

  @Test("A key that is made in a distributed table must have the distribution column")
  func distribution() throws {
    let emulation = try #require(Emulation.all.first { $0.family == .citus })
    try database.direct.run("CREATE TABLE t (id int, n int)")
    database.proxy.set(emulation.faults)
    let refused = run("id,n\n1,1\n", connections: 1) { ($0.rules.key, $0.indexes.createsKey) = (["n"], true) }
    #expect(
      refused.exitCode == 64 && refused.error?.hint == "--key n,id has it",
      "\(refused.error?.description ?? "")")
    let followed = run("id,n\n1,1\n", connections: 2) {
      ($0.rules.key, $0.indexes.createsKey) = (["n", "id"], true)
    }
    #expect(followed.error == nil && followed.ledger.inserted == 1, "\(followed.error?.description ?? "")")
  }
}
