import TestSupport
import Testing
import UpsurgePlan
import UpsurgeRecords
import UpsurgeSQLite

@testable import Upsurge

/// The same feeds through SQLite and through the memory store, which stores one record after the other: the ledger, the
/// rejects and the rows are the same.
@Suite("A store in memory is the oracle of SQLite")
struct StoreModelTests {
  let scratch = Scratch()

  static let seeds = 1...SeededGenerator.some(120, most: 3_000)

  @Test("Rows, ledger and rejects are those of storing one by one", arguments: seeds)
  func equal(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let feed = StoreFeed(&random)
    let memory = MemoryStore()
    for (night, text) in feed.texts.enumerated() {
      let source = scratch.write(text, to: "feed\(night).\(feed.format)")
      let wanted = run(source, feed, into: memory)
      let got = run(source, feed)
      try compare(got, wanted, memory, feed)
    }
  }

  @Test("A connection that breaks at any commit loses nothing and stores nothing twice", arguments: seeds)
  func connectionLost(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let feed = StoreFeed(&random)
    let memory = MemoryStore()
    var faults = SeededGenerator(seed: UInt64(seed) &+ 1_000_000)
    memory.fault = { _ in
      switch faults.below(10) {
      case 0: .before
      case 1: .after
      default: nil
      }
    }
    loadAll(feed, into: memory)
  }

  /// Loads all deliveries of a feed into a store that fails, and compares what stands with one that does not.
  private func loadAll(_ feed: StoreFeed, into memory: MemoryStore, begin: () -> Void = {}) {
    let undisturbed = MemoryStore()
    for (night, text) in feed.texts.enumerated() {
      let source = scratch.write(text, to: "feed\(night).\(feed.format)")
      let wanted = run(source, feed, into: undisturbed)
      begin()
      let got = run(source, feed, into: memory)
      #expect(got.error == nil, "\(got.error.map { "\($0)" } ?? "")")
      #expect(got.ledger == wanted.ledger)
      #expect(memory.state.tables["t"]?.texts == undisturbed.state.tables["t"]?.texts)
      #expect(memory.state.rejects.map(\.position) == undisturbed.state.rejects.map(\.position))
      #expect(memory.state.runs.isEmpty, "nothing of the run is left")
    }
  }

  @Test("A server that takes over without the last commits is given them again", arguments: seeds)
  func commitsLost(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let feed = StoreFeed(&random)
    let memory = MemoryStore()
    var faults = SeededGenerator(seed: UInt64(seed) &+ 2_000_000)
    // A run that comes no further gives up.
    var left = 0
    memory.fault = { _ in
      switch faults.below(5) {
      case 0 where left > 0:
        left -= 1
        return .failover(losing: faults.below(5))
      case 1 where faults.below(4) == 0: return .after
      default: return nil
      }
    }
    loadAll(feed, into: memory) {
      memory.replicate()
      left = 3
    }
  }

  @Test("Lost commits of what cannot be read again end the run with 3, and with the ledger of what is left", arguments: [2, 50])
  func lostFromPipe(lost: Int) throws {
    let memory = MemoryStore()
    let file = scratch.write("k,v\n" + (1...200).map { "\($0),x\n" }.joined(), to: "feed.csv")
    var feed = StoreFeed.plain
    feed.recordsPerBatch = 20
    memory.fault = { $0 == 6 ? .failover(losing: lost) : nil }
    let summary = run("exec:cat \(file)", feed, into: memory)
    let left: UInt64 = lost == 2 ? 60 : 0
    #expect(summary.error?.code == .commitsLost && summary.exitCode == 3)
    #expect(
      summary.error?.message
        == "commits are lost; of 100 records that were committed \(left) are left, and exec:cat \(file) cannot be read again")
    #expect(summary.ledger.read == left && summary.progress.committedCount == left && !summary.progress.isResumable)
    #expect((memory.state.tables["t"]?.rows.count ?? 0) == Int(left))
    // As the hint says.
    memory.fault = { _ in nil }
    let again = run("exec:cat \(file)", feed, into: memory)
    #expect(again.error == nil && again.ledger.inserted == 200 - left && again.ledger.unchanged == left)
  }

  @Test("A connection that stays lost ends the run, which goes on when it is started again")
  func goesOn() throws {
    let memory = MemoryStore()
    let rows = (1...200).map { "\($0),x\($0)\n" }.joined()
    let source = scratch.write("k,v\n" + rows, to: "feed.csv")
    memory.fault = { $0 > 3 ? .before : nil }
    var feed = StoreFeed.plain
    feed.recordsPerBatch = 20
    let first = run(source, feed, into: memory)
    #expect(first.error?.code == .connectionLost)
    #expect(first.exitCode == 3 && first.progress.committedCount == 60)
    memory.fault = { _ in nil }
    let second = run(source, feed, into: memory)
    #expect(second.error == nil && second.progress.resumedCount == 60)
    #expect(second.ledger.inserted == 200 && memory.state.tables["t"]?.rows.count == 200)
  }

  @Test(
    "A resumed run that breaks before its first commit begins at its place again", arguments: [true, false])
  func breaksWhileResuming(hasKey: Bool) throws {
    let memory = MemoryStore()
    let rows = (1...200).map { "\($0),x\($0)\n" }.joined()
    let source = scratch.write("k,v\n" + rows, to: "feed.csv")
    memory.fault = { $0 > 3 ? .before : nil }
    var feed = StoreFeed.plain
    if !hasKey { feed.options.rules.key = [] }
    feed.recordsPerBatch = 20
    let first = run(source, feed, into: memory)
    #expect(first.error?.code == .connectionLost && first.progress.committedCount == 60)
    let next = memory.commitCount + 1
    memory.fault = { $0 == next ? .before : nil }
    let second = run(source, feed, into: memory)
    #expect(second.error == nil && second.progress.resumedCount == 60)
    #expect(second.ledger.inserted == 200 && memory.state.tables["t"]?.rows.count == 200)
  }

  @Test("A lost connection ends a run that has begun to read what cannot be read again")
  func pipeAfterFile() throws {
    let memory = MemoryStore()
    let file = scratch.write("k,v\n1,a\n2,b\n", to: "feed.csv")
    let more = scratch.write("k,v\n" + (3...200).map { "\($0),x\n" }.joined(), to: "more.csv")
    var feed = StoreFeed.plain
    feed.options.transaction.isAtomic = true
    memory.fault = { $0 == 1 ? .before : nil }
    let summary = run([file, "exec:cat \(more)"], feed, into: memory)
    #expect(summary.error?.code == .connectionLost && memory.state.tables["t"] == nil)
    let again = run([file, "exec:cat \(more)"], feed, into: memory)
    #expect(again.error == nil && again.ledger.inserted == 200)
  }

  /// - Parameter store: where the records go; nil for SQLite.
  private func run(_ source: String, _ feed: StoreFeed, into store: MemoryStore? = nil) -> RunSummary {
    run([source], feed, into: store)
  }

  private func run(_ sources: [String], _ feed: StoreFeed, into store: MemoryStore? = nil) -> RunSummary {
    var options = feed.options
    // There must be a table to be changed only.
    let isFirst = sources.contains { $0.contains("feed0") }
    if isFirst, options.rules.mode == .update || options.rules.mode == .delete { options.rules.mode = nil }
    let job = LoadJob(database: scratch.file("a.db"), table: "t", sources: sources, options: options)
    let end = job.runToEnd(
      control: RunControl(), into: store.map { store -> StoreMaker in { _, _ in store } }, note: { _ in },
      tick: { _ in })
    end.acknowledge()
    let summary = end.summary
    #expect(summary.ledger.isBalanced)
    return summary
  }

  private func compare(
    _ got: RunSummary, _ wanted: RunSummary, _ memory: MemoryStore, _ feed: StoreFeed
  ) throws {
    #expect(got.error?.message == nil && wanted.error?.message == nil)
    #expect(got.ledger == wanted.ledger)
    #expect(
      got.rejectsByReason.map { "\($0.code.rawValue) \($0.count)" }
        == wanted.rejectsByReason.map { "\($0.code.rawValue) \($0.count)" })
    let table = try #require(memory.state.tables["t"])
    let columns = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let rows = try Database(scratch.file("a.db")).rows("SELECT \(columns) FROM t")
    #expect(rows.sorted() == table.sqlTexts)
  }
}

/// A table's feed of several nights, made by chance: its key, mode, columns, bad records.
struct StoreFeed {
  var format = "csv"
  var options = LoadOptions()
  var texts: [String] = []
  var recordsPerBatch = 64 {
    didSet { options.tuning.batchSizes.recordCount = recordsPerBatch }
  }

  static var plain: StoreFeed {
    var feed = StoreFeed()
    feed.options.rules.key = ["k"]
    return feed
  }

  private init() {}

  init(_ random: inout SeededGenerator) {
    format = random.below(2) == 0 ? "csv" : "ndjson"
    options.rejects.onError = .reject
    options.transaction.direct = .never
    options.rules.key = [[], ["k"], ["k", "g"]][random.below(3)]
    if !options.rules.key.isEmpty {
      options.rules.mode = [nil, .upsert, .insert, .ignore, .update, .delete][random.below(6)]
      if random.below(4) == 0 { options.rules.tombstone = Tombstone(column: "gone", value: "1") }
    }
    options.transaction.isAtomic = random.below(6) == 0
    options.tuning.batchSizes.recordCount = 1 + random.below(90)
    recordsPerBatch = options.tuning.batchSizes.recordCount
    let nights = 1 + random.below(3)
    for _ in 0..<nights { texts.append(text(records: random.below(160) + 1, &random)) }
  }

  private func text(records count: Int, _ random: inout SeededGenerator) -> String {
    let names = ["k", "g", "n", "r", "note", "gone"]
    var text = format == "csv" ? names.joined(separator: ",") + "\n" : ""
    for record in 0..<count {
      let values: [String?] = [
        random.below(40) == 0 ? nil : "k\(random.below(60))", random.below(60) == 0 ? nil : "g\(random.below(3))",
        record > 0 && random.below(25) == 0 ? "oops" : "\(random.below(9))",
        "\(random.below(9)).5", random.below(6) == 0 ? nil : "it's \(random.below(5))",
        "\(random.below(8) == 0 ? 1 : 0)",
      ]
      if format == "csv" {
        text += values.map { $0 ?? "" }.joined(separator: ",") + (random.below(30) == 0 ? ",more" : "") + "\n"
      } else {
        let pairs = zip(names, values).compactMap { name, value -> String? in
          guard let value else { return random.below(2) == 0 ? "\"\(name)\":null" : nil }
          return "\"\(name)\":" + (Double(value) == nil ? "\"\(value)\"" : value)
        }
        text += random.below(30) == 0 ? "{\"k\":\n" : "{" + pairs.joined(separator: ",") + "}\n"
      }
    }
    return text
  }
}
