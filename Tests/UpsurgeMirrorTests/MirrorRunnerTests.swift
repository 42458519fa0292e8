import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeMirror

/// A job that runs in the background of a program.
@Suite("Runners of mirrors") struct MirrorRunnerTests {
  let scratch = Scratch()

  private func job(_ source: String? = nil) -> MirrorJob {
    var table = MirrorTable(name: "t", sources: [source ?? scratch.file("t.csv")])
    table.options.rules.key = ["id"]
    table.options.rejects.onError = .reject
    table.sweep = .hard
    return MirrorJob(database: scratch.file("a.db"), tables: [table])
  }

  /// Events until the end of so many runs.
  private func take(_ runs: Int, of events: AsyncStream<MirrorRunner.Event>) async -> [MirrorRunner.Event] {
    var taken: [MirrorRunner.Event] = []
    var rest = runs
    for await event in events {
      taken.append(event)
      if case .ended = event { rest -= 1 }
      if rest == 0 { break }
    }
    return taken
  }

  private func states(_ events: [MirrorRunner.Event]) -> [MirrorRunner.State] {
    events.compactMap { if case .state(let state) = $0 { state } else { nil } }
  }

  @Test("A run shows its states, tables, notes and end, to everyone who looks")
  func runNow() async throws {
    _ = scratch.write("id,v\n1,a\n2,b\n", to: "t.csv")
    let runner = MirrorRunner(job())
    #expect(runner.state == .idle && runner.lastSummary == nil)
    let (first, second) = (runner.events, runner.events)
    let summary = try #require(await runner.runNow())
    #expect(summary.exitCode == 0 && summary.ledger.inserted == 2)
    #expect(runner.state == .idle && runner.lastSummary?.ledger.inserted == 2)
    let events = await take(1, of: first)
    #expect(
      states(events) == [.fetching(table: "t"), .applying(table: "t"), .sweeping(table: "t"), .idle])
    #expect(events.contains { if case .table(let table) = $0 { table.name == "t" } else { false } })
    #expect(events.contains { if case .note(let note) = $0 { note.table == "t" } else { false } })
    guard case .ended(let last)? = events.last else { return #expect(Bool(false), "\(events)") }
    #expect(last.ledger.inserted == 2)
    #expect(states(await take(1, of: second)) == states(events))
    // The same delivery is only looked at.
    let later = runner.events
    #expect(try await runner.runNow()?.ledger.read == 0)
    #expect(states(await take(1, of: later)) == [.fetching(table: "t"), .idle])
  }

  @Test(
    "A run that is asked for by many is done one after the other, and answers all")
  func many() async throws {
    _ = scratch.write("id,v\n1,a\n", to: "t.csv")
    let runner = MirrorRunner(job())
    let reads = try await withThrowingTaskGroup(of: UInt64?.self) { group in
      for _ in 0..<20 { group.addTask { try await runner.runNow()?.ledger.inserted } }
      var reads: [UInt64] = []
      for try await read in group { reads.append(try #require(read)) }
      return reads
    }
    // The first run stores the row, all others find it there.
    #expect(reads.count == 20 && reads.contains(1) && reads.allSatisfy { $0 <= 1 })
    #expect(try Database(scratch.file("a.db")).rows("SELECT count(*) FROM t") == ["1"])
  }

  @Test("One that was started runs again and again until it is stopped")
  func started() async throws {
    _ = scratch.write("id,v\n1,a\n", to: "t.csv")
    let runner = MirrorRunner(job())
    let events = runner.events
    try runner.start(every: .milliseconds(5))
    let taken = await take(4, of: events)
    #expect(taken.count { if case .ended = $0 { true } else { false } } == 4)
    await runner.stop()
    #expect(runner.state == .idle)
    // What had begun has ended, and nothing begins any more, unless it is asked for.
    let summary = try #require(await runner.runNow())
    #expect(summary.exitCode == 0)
  }

  @Test("Stopping ends what is at work, and what waits for its turn")
  func stopped() async throws {
    let runner = MirrorRunner(job("exec:echo id; echo 1; exec sleep 3000"))
    let events = runner.events
    async let first = runner.runNow()
    for await event in events { if case .state(.fetching) = event { break } }
    // It stays at work, so this one waits; a task that has not come so far yet asks for a run of its own.
    await runner.stop()
    let summary = try #require(try await first)
    #expect(summary.signal == 15 && summary.exitCode == 143)
    #expect(runner.state == .idle)
    await runner.stop()
    #expect(runner.lastSummary?.signal == 15)
  }

  @Test("One that nobody holds any more ends its run and its events")
  func released() async throws {
    var runner: MirrorRunner? = MirrorRunner(job("exec:echo id; echo 1; exec sleep 3000"))
    let events = try #require(runner).events
    try runner?.start(every: .seconds(1_000))
    var last: MirrorSummary?
    for await event in events {
      if case .state(.fetching) = event { runner = nil }
      if case .ended(let summary) = event { last = summary }
    }
    #expect(last?.signal == 15)
  }
}
