import Foundation
import TestSupport
import Testing
import Upsurge

/// Which stage is named as the bottleneck, and which options are advised, over made-up times.
@Suite("Time advice")
struct TimeAdviceTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var name: String
    var stages: [String: Double]
    var bottleneck: String?
    /// The options that are advised, in order.
    var options: [String] = []
    /// What the advice must say.
    var says: [String] = []
    var set: @Sendable (inout TimeFacts) -> Void = { _ in }

    var testDescription: String { name }

    var facts: TimeFacts {
      var facts = TimeFacts()
      facts.seconds = 10
      facts.stages = stages.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      facts.recordCount = 1_000_000
      facts.bytesDecoded = 60 << 20
      facts.pageByteCount = 16384
      facts.cacheByteCount = 16 << 20
      facts.databaseByteCount = 70 << 20
      facts.walBytesWritten = 75 << 20
      facts.commitCount = 10
      facts.checkpointCount = 2
      set(&facts)
      return facts
    }
  }

  private static func kept(
    _ kind: UpkeepDecision.Kind, _ name: String, isAgainst: Bool = false
  ) -> UpkeepDecision {
    UpkeepDecision(kind: kind, name: name, upkeep: .keep, reason: "as asked for", isAgainstRequest: isAgainst)
  }

  private static let storing: [String: Double] = ["parse": 1, "wait_for_writer": 8, "store": 8, "commit": 1]
  private static let sqliteLimit = "nothing to set here: SQLite itself is the limit"

  static let cases: [Case] = [
    Case(name: "nothing measured", stages: [:], bottleneck: nil),
    Case(name: "only zeros", stages: ["store": 0, "read": 0], bottleneck: nil),
    Case(name: "SQLite is the limit", stages: storing, bottleneck: "store", says: [sqliteLimit]),
    Case(
      name: "a server is the limit", stages: storing, bottleneck: "store",
      says: ["nothing to set here: the server itself is the limit"], set: { $0.isOnServer = true }),
    Case(
      name: "too short", stages: ["store": 0.05], bottleneck: "store", says: ["too short"],
      set: { $0.seconds = 0.1 }),
    Case(
      name: "the parser is longest, and the writer does not wait for it",
      stages: ["parse": 9, "wait_for_reader": 0.5, "store": 7, "commit": 2], bottleneck: "store",
      says: [sqliteLimit]),
    Case(
      name: "the writer waits for the parser", stages: ["parse": 9, "wait_for_reader": 6, "store": 3],
      bottleneck: "parse", options: ["--columns A,B"], says: ["one thread parses"]),
    Case(
      name: "a pipe that is slow", stages: ["read": 9, "parse": 0.5, "wait_for_reader": 9, "store": 0.5],
      bottleneck: "read", says: ["the program that writes the pipe is the limit"],
      set: { $0.sources.hasPipe = true }),
    Case(
      name: "a disk that is slow", stages: ["read": 9, "parse": 0.5, "wait_for_reader": 9, "store": 0.5],
      bottleneck: "read", says: ["compressed with zstd, less is read"]),
    Case(
      name: "a compressed file on a slow disk",
      stages: ["read": 9, "decompress": 0.5, "wait_for_reader": 9, "store": 0.5], bottleneck: "read",
      says: ["the disk or network that holds the input is the limit"], set: { $0.sources.hasZstd = true }),
    Case(
      name: "gzip", stages: ["decompress": 8, "parse": 1, "wait_for_reader": 7, "store": 2],
      bottleneck: "decompress", says: ["zstd is several times as fast"], set: { $0.sources.hasGzip = true }),
    Case(
      name: "zstd", stages: ["decompress": 8, "parse": 1, "wait_for_reader": 7, "store": 2],
      bottleneck: "decompress", says: ["one thread decompresses zstd, however many frames"],
      set: { $0.sources.hasZstd = true }),
    Case(
      name: "UTF-16", stages: ["decompress": 8, "parse": 1, "wait_for_reader": 7, "store": 2],
      bottleneck: "decompress", says: ["the input is not UTF-8"]),
    Case(
      name: "all read twice", stages: ["prepare": 5, "store": 4], bottleneck: "prepare",
      options: ["--infer sample"], set: { $0.infersFromAll = true }),
    Case(
      name: "prepare without a reason", stages: ["prepare": 9, "store": 1], bottleneck: "prepare",
      says: ["no option makes this stage faster"]),
    Case(
      name: "keys in no order, a small cache", stages: storing, bottleneck: "store",
      options: ["--memory 256MiB"],
      says: ["the page cache holds 16 MiB of the database's 500 MiB", "sorted by key"],
      set: { ($0.pagesRead, $0.databaseByteCount) = (400_000, 500 << 20) }),
    Case(
      name: "keys in no order, memory beyond the log's limit", stages: storing, bottleneck: "store",
      options: ["--memory 1GiB --wal-limit 1GiB"],
      set: {
        ($0.pagesRead, $0.databaseByteCount, $0.cacheByteCount) = (400_000, 500 << 20, 64 << 20)
        $0.transaction.memory = .mebibytes(256)
      }),
    Case(
      name: "keys in no order, the log's limit alone", stages: storing, bottleneck: "store",
      options: ["--wal-limit 1GiB"],
      set: {
        ($0.pagesRead, $0.databaseByteCount, $0.cacheByteCount) = (400_000, 500 << 20, 64 << 20)
        $0.transaction.memory = .mebibytes(4096)
      }),
    Case(
      name: "each page read once", stages: storing, bottleneck: "store", says: [sqliteLimit],
      set: { ($0.pagesRead, $0.databaseByteCount) = (5_000, 500 << 20) }),
    Case(
      name: "pages are read, but all fit by now", stages: storing, bottleneck: "store", says: [sqliteLimit],
      set: { ($0.pagesRead, $0.databaseByteCount) = (400_000, 8 << 20) }),
    Case(
      name: "an index is kept", stages: storing, bottleneck: "store", options: ["--indexes defer"],
      says: ["the index a is kept up with every row (as asked for)"], set: { $0.kept = [kept(.index, "a")] }),
    Case(
      name: "indexes and an FTS5 table are kept", stages: storing, bottleneck: "store",
      options: ["--indexes defer", "--fts defer"],
      says: ["2 indexes are kept", "the FTS5 table f is kept"],
      set: {
        $0.kept = [kept(.index, "a"), kept(.index, "b"), kept(.fts, "f")]
        $0.triggerCount = 3
      }),
    Case(
      name: "an index that cannot be set aside", stages: storing, bottleneck: "store",
      says: ["the index a is kept"], set: { $0.kept = [kept(.index, "a", isAgainst: true)] }),
    Case(
      name: "triggers", stages: storing, bottleneck: "store", options: ["--triggers guarded"],
      says: ["2 triggers run"], set: { $0.triggerCount = 2 }),
    Case(
      name: "records looked at alone", stages: storing, bottleneck: "store",
      says: ["alone for --changes"], set: { $0.observesRecords = true }),
    Case(
      name: "many rejects", stages: storing, bottleneck: "store", says: ["20000 records are rejected"],
      set: { $0.rejectCount = 20_000 }),
    Case(
      name: "few rejects", stages: storing, bottleneck: "store", says: [sqliteLimit],
      set: { $0.rejectCount = 99 }),
    Case(
      name: "commits that wait for the disk", stages: ["store": 2, "commit": 7], bottleneck: "commit",
      options: ["--durability normal"], set: { $0.transaction.durability = .full }),
    Case(
      name: "many commits", stages: ["store": 2, "commit": 7], bottleneck: "commit",
      options: ["--commit-every 100000"], says: ["1000 commits of about 1000 records each"],
      set: { ($0.commitCount, $0.walBytesWritten) = (1_000, 2_000 << 20) }),
    Case(
      name: "few commits that write far more than came in", stages: ["store": 2, "commit": 7],
      bottleneck: "commit", options: ["--commit-every 1000000"], says: ["2000 MiB were written to the log"],
      set: { $0.walBytesWritten = 2_000 << 20 }),
    Case(
      name: "commits of a table with an index kept", stages: ["store": 1, "commit": 9], bottleneck: "commit",
      says: [sqliteLimit],
      set: { ($0.walBytesWritten, $0.kept) = (2_000 << 20, [kept(.index, "a")]) }),
    Case(
      name: "checkpoints at a small limit", stages: ["store": 2, "checkpoint": 7], bottleneck: "checkpoint",
      options: ["--wal-limit 256MiB"],
      set: { ($0.transaction.walLimit, $0.checkpointCount) = (.mebibytes(4), 90) }),
    Case(
      name: "checkpoints at the default limit", stages: ["store": 2, "checkpoint": 7],
      bottleneck: "checkpoint", says: [sqliteLimit], set: { $0.checkpointCount = 90 }),
    Case(
      name: "others write, too", stages: ["store": 2, "give_way": 7], bottleneck: "give_way",
      says: ["--atomic keeps them out"]),
    Case(
      name: "indexes are built", stages: ["store": 2, "index": 7], bottleneck: "index",
      says: ["a sort of all rows"]),
    Case(
      name: "FTS5 is rebuilt", stages: ["store": 1, "fts": 8], bottleneck: "fts", says: ["from all rows"]),
    Case(
      name: "what is second is spoken of as well", stages: ["store": 5, "index": 4], bottleneck: "store",
      says: [sqliteLimit, "a sort of all rows"]),
    Case(name: "an unknown stage counts", stages: ["sort": 9, "store": 1], bottleneck: "sort"),
  ]

  @Test("The bottleneck and the options", arguments: cases)
  func advice(_ it: Case) throws {
    let advice = TimeAdvice(it.facts)
    #expect(advice.bottleneck == it.bottleneck)
    #expect(advice.lines.compactMap { $0.option?.text } == it.options)
    let text = advice.lines.map(\.text.text).joined(separator: "\n")
    for words in it.says { #expect(text.contains(words), "\(text)") }
    // Nothing to set, and something to set, are never said of one stage.
    for line in advice.lines where line.text.text == Self.sqliteLimit {
      #expect(!advice.lines.contains { $0.stage == line.stage && $0 != line })
    }
    #expect((0...1).contains(advice.share))
  }

  @Test("The database of a run says whether it is a server's")
  func place() {
    for (database, isOnServer) in [("postgres://h/shop", true), ("shop.db", false)] {
      #expect(
        RunSummary(database: database, table: "t", sources: ["a.csv"]).timeFacts.isOnServer == isOnServer)
    }
  }

  let scratch = Scratch()

  @Test("The stages of each thread stay within the run, and the summary names the bottleneck")
  func stages() throws {
    let csv = scratch.write("id,b\n" + (1...50_000).map { "\($0),x\n" }.joined(), to: "a.csv")
    let gzip = scratch.write(Compressing.gzip(try readFile(csv)), to: "a.csv.gz")
    for (path, isCompressed) in [(csv, false), (gzip, true)] {
      let database = scratch.file(isCompressed ? "z.db" : "p.db")
      var options = LoadOptions()
      options.indexes.wanted = [["b"]]
      let summary = LoadJob(database: database, table: "t", sources: [path], options: options).run()
      #expect(summary.exitCode == 0)
      let reading = summary.metrics.stages.filter { RunStage.reading.contains($0.name) }
      let writing = summary.metrics.stages.filter { !RunStage.reading.contains($0.name) }
      #expect(reading.map(\.name) == RunStage.reading.filter { isCompressed || $0 != "decompress" })
      #expect(
        writing.map(\.name) == ["prepare", "wait_for_reader", "store", "commit", "checkpoint", "index"])
      for stages in [reading, writing] {
        #expect(stages.allSatisfy { $0.seconds >= 0 })
        // Two clocks are read one after the other.
        #expect(stages.reduce(0) { $0 + $1.seconds } <= summary.metrics.seconds + 0.001)
      }
      let known = try #require(summary.bottleneck)
      #expect(summary.metrics.stages.contains { $0.name == known })
      let json = String(decoding: summary.json, as: UTF8.self)
      #expect(json.contains("\"bottleneck\":\"\(known)\""))
    }
  }

  @Test("--explain-time draws a table of both threads behind the ledger")
  func table() throws {
    let csv = scratch.write("id,b\n" + (1...2_000).map { "\($0),x\n" }.joined(), to: "a.csv")
    let outcome = try Command.run(["load", scratch.file("a.db"), "t", csv, "--explain-time"])
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let lines = outcome.talk.split(separator: "\n")
    let start = try #require(lines.firstIndex { $0.hasPrefix("time: ") }, "\(outcome.talk)")
    #expect(lines[..<start].contains { $0.contains("inserted 2,000") })
    for (place, words) in [
      (1, "  reading thread   read "), (2, "                   parse "), (5, "  writing thread   prepare "),
      (6, "                   wait for records "), (7, "                   store "),
    ] { #expect(lines[start + place].hasPrefix(words), "\(outcome.talk)") }
    #expect(lines.filter { $0.hasSuffix("<- the bottleneck") }.count == 1)
    #expect(lines.contains { $0.hasPrefix("  bottleneck: ") })
    #expect(outcome.output.isEmpty)
  }

  @Test("A load that ends early has stages, too; one that never began says nothing of time")
  func early() throws {
    let csv = scratch.write("id,b\n1,x\n2\n", to: "a.csv")
    let bad = try Command.run(["load", scratch.file("a.db"), "t", csv, "--explain-time"])
    #expect(bad.exitCode == 65 && bad.talk.contains("writing thread"), "\(bad.talk)")
    let missing = try Command.run(["load", scratch.file("a.db"), "t", "missing.csv", "--explain-time"])
    #expect(missing.exitCode == 66 && !missing.talk.contains("time:"), "\(missing.talk)")
  }

  @Test("A replay shows its stages")
  func replay() throws {
    let database = scratch.file("a.db")
    try Database(database).rows("CREATE TABLE t(a)")
    let input = Array("{\"a\":1,\"b\":2}\n".utf8)
    _ = try Command.run(["load", database, "t", "-", "--contract", "quarantine"], input: input)
    try Database(database).rows("ALTER TABLE t ADD COLUMN b")
    let outcome = try Command.run(["replay", database, "--explain-time"])
    #expect(outcome.exitCode == 0 && outcome.talk.contains("  writing thread   store"), "\(outcome.talk)")
    #expect(!outcome.talk.contains("bottleneck"))
  }

  @Test(
    "--explain-time where nothing would be said is refused",
    arguments: [
      (["load", "x.db", "t", "-", "--explain-time", "-q"], "--quiet"),
      (["load", "x.db", "t", "-", "--explain-time", "--explain"], "--explain loads nothing"),
      (["replay", "x.db", "--explain-time", "-q"], "--quiet"),
    ])
  func refused(arguments: [String], words: String) throws {
    let outcome = try Command.run(arguments.map { $0 == "x.db" ? scratch.file($0) : $0 })
    #expect(outcome.exitCode == 64 && outcome.talk.contains(words), "\(outcome.talk)")
  }
}
