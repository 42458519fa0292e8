import Foundation
import TestSupport
import Testing
import UpsurgeRecords

@testable import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Loads whose keys arrive in no order: sorted in memory, with the result of the input's order.
@Suite("Sorted loads")
struct SortedLoadTests {
  private struct Result: Equatable {
    var rows: [String]
    var ledger: Ledger
    var reasons: [String]
    var rejects: [String]
    var warnings: WarningLog
    var exitCode: Int32
  }

  @Test(
    "Whatever is sorted, the table, the ledger and the rejects are those of one by one",
    arguments: 0..<24 as Range<UInt64>)
  func equalsInputOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let scratch = Scratch()
    let sources = (0..<Int.random(in: 1...3, using: &random)).map {
      scratch.write(Self.csv(&random), to: "\($0).csv")
    }
    var options = LoadOptions()
    options.rules.key = seed % 4 == 0 ? ["k", "a"] : ["k"]
    options.rejects.onError = seed % 5 == 4 ? .stop : .reject
    options.input.csv.delimiter = [UInt8(ascii: ",")]
    options.input.csv.headerLineCount = 1
    let rules: [Merge] = [
      Merge(), Merge(.coalesce), Merge(.keep), Merge(.replace), Merge(.replace), Merge(.replace),
    ]
    var merge = rules[Int(seed % 6)]
    if seed % 6 == 3 { merge.newer = Merge.Newer(column: "b", isStrict: seed % 12 == 3) }
    if seed % 6 == 4 { merge.columns = ["b": [.min, .max, .sum][Int(seed / 6 % 3)]] }
    if seed % 6 == 5 { merge.columns = ["b": .expression("b + excluded.b")] }
    options.rules.merge = seed % 8 == 7 ? Merge() : merge
    if seed % 7 == 3 { options.rules.nullKeys = .insert }
    if seed % 8 == 7 { options.rules.mode = .ignore }
    if seed % 9 == 8 { options.rules.tombstone = Tombstone(column: "c", value: "gone") }
    var plain = options
    plain.transaction.keepsInputOrder = true
    plain.tuning.rowsPerStatement = 1
    let expected = try Self.load(plain, sources, scratch, "plain", seed)
    for round in 0..<4 {
      var sorted = options
      sorted.tuning.sorting.byteCount = [4 << 20, 40_000, 9_000, 20_000][round]
      sorted.tuning.sorting.fewestRecords = 2
      sorted.tuning.sorting.fewestBytes = 0
      sorted.tuning.sorting.isForced = true
      sorted.transaction.isAtomic = round == 3
      if round == 2 { sorted.transaction.commitEvery = .records(Int.random(in: 2...80, using: &random)) }
      if round > 0 {
        sorted.tuning.batchSizes = Batch.Sizes(
          arenaByteCount: Int.random(in: 200...3_000, using: &random),
          cellCount: Int.random(in: 40...400, using: &random),
          recordCount: Int.random(in: 5...90, using: &random))
      }
      let actual = try Self.load(sorted, sources, scratch, "sorted \(round)", seed)
      if options.rejects.onError == .stop {
        // How much was committed before is up to the transactions.
        #expect(actual.rejects == expected.rejects)
        if expected.exitCode != 0 { continue }
      }
      #expect(actual == expected, "seed \(seed), round \(round)")
    }
  }

  private static func load(
    _ options: LoadOptions, _ sources: [String], _ scratch: Scratch, _ name: String, _ seed: UInt64
  ) throws -> Result {
    var options = options
    let (path, bad) = (scratch.file(name + ".db"), scratch.file("bad"))
    options.rejects.target = .file(bad)
    Database(path).make(
      "PRAGMA journal_mode=WAL; CREATE TABLE t(k TEXT, a INTEGER, b, c, UNIQUE (\(options.rules.key.joined(separator: ", "))));"
        + "INSERT INTO t VALUES('key 3', 1, 5, 'old'), ('key 8', 2, 7, 'old'), ('x', 3, NULL, 'old')")
    let summary = LoadJob(database: path, table: "t", sources: sources, options: options).run()
    let isSorted = summary.metrics.settings.contains { $0.name == "sorted_records" }
    if summary.exitCode == 0 || summary.exitCode == 2 {
      #expect(isSorted == (name != "plain"), "seed \(seed), \(name)")
    }
    let database = Database(path)
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    let lines = String(decoding: try readFile(bad), as: UTF8.self)
    return Result(
      rows: try database.rows(
        "SELECT k, typeof(k), a, typeof(a), b, typeof(b), c FROM t ORDER BY 1, 3, 5, 7"),
      ledger: summary.ledger,
      reasons: summary.rejectsByReason.map { "\($0.code.rawValue) \($0.count)" },
      rejects: summary.error.map { ["\($0.position as Any) \($0.message)"] }
        ?? lines.split(separator: "\n").map(String.init),
      warnings: summary.warnings, exitCode: summary.exitCode)
  }

  /// Keys that come again in no order, also NULL; numbers, quotes, newlines, ragged and broken records.
  private static func csv(_ random: inout SeededGenerator) -> String {
    var text = "k,a,b,c\n"
    for number in 0..<Int.random(in: 20...900, using: &random) {
      var fields = [
        "key \(Int.random(in: 0...200, using: &random))", "\(Int.random(in: 0...3, using: &random))",
        ["\(number % 13)", "", "7"].randomElement(using: &random) ?? "",
        ["x", "\"l\nm\"", "\"a\"\"b\"", "é", "gone"].randomElement(using: &random) ?? "",
      ]
      switch Int.random(in: 0..<60, using: &random) {
      case 0: fields.removeLast()
      case 1: fields.append("surplus")
      case 2: fields[3] = "\"q\"z"
      case 3: fields[0] = ""
      case 4: text += "\n"
      default: break
      }
      text += fields.joined(separator: ",") + (Bool.random(using: &random) ? "\n" : "\r\n")
    }
    return text
  }

  // MARK: - The command

  private static func summary(_ outcome: Command.Outcome) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
  }

  /// Random keys, 100 bytes a record; `large` of them, evenly, have 3 MB more.
  private static func write(_ count: Int, large: Int = 0, to path: String) throws {
    var random = SeededGenerator(seed: 11)
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    fputs("key,n,text\n", file)
    for number in 0..<count {
      let key = String(UInt64.random(in: 0...1 << 60, using: &random), radix: 36)
      fputs("\(key),\(number),\(String(repeating: "t", count: 75))", file)
      if large > 0 && number % (count / large) == count / large / 2 {
        for _ in 0..<3_000 { fputs(String(repeating: "L", count: 1_000), file) }
      }
      fputs("\n", file)
    }
  }

  @Test("Sorting stays within the memory, with large records as well", arguments: [0, 5])
  func memory(large: Int) throws {
    let scratch = Scratch()
    let path = scratch.file("in.csv")
    try Self.write(120_000, large: large, to: path)
    var dumps: [[String]] = []
    let never = ["--direct", "never"]
    for (name, options, count) in [
      ("sorted", never, 1), ("plain", never + ["--input-order"], 0), ("packed", [], 0),
    ] {
      let database = scratch.file(name)
      let outcome = try Command.run(
        ["load", database, "t", path, "--key", "key", "--memory", "16MiB", "--summary", "-", "-q"] + options)
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      let summary = try Self.summary(outcome)
      let settings = try #require(summary["settings"] as? [String: Any])
      if large == 0 || count == 0 {
        #expect(((settings["sorted_records"] as? Int ?? 0) > 60_000) == (count > 0), "\(settings)")
      }
      let peak = try #require(summary["peak_memory_bytes"] as? Int)
      MemoryBound.expect(peak, memory: 16 << 20, name)
      dumps.append(try Database(database).rows("SELECT key, n, length(text) FROM t ORDER BY key"))
    }
    #expect(dumps[0].count == 120_000)
    #expect(dumps[0] == dumps[1] && dumps[0] == dumps[2])
  }

  @Test("What waits to be sorted is stored when a pipe stalls")
  func stalls() throws {
    let scratch = Scratch()
    let (pipe, path) = (scratch.file("pipe"), scratch.file("a.db"))
    #expect(mkfifo(pipe, 0o600) == 0)
    let child = try Command.start(["load", path, "t", pipe, "--key", "key", "--memory", "16MiB", "-q"])
    let file = try #require(fopen(pipe, "w"))
    fputs("key,n\n", file)
    for number in 0..<200_000 { fputs("\(number * 7_919 % 200_003),\(number)\n", file) }
    fflush(file)
    var count = 0
    for _ in 0..<600 where count < 100_000 {
      usleep(50_000)
      let rows = access(path, F_OK) == 0 ? try? Database(path).rows("SELECT count(*) FROM t") : nil
      count = rows?.first.flatMap { Int($0) } ?? 0
    }
    #expect(count >= 100_000)
    fclose(file)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["200000"])
  }

  @Test("-v and --explain say that records are sorted")
  func words() throws {
    let scratch = Scratch()
    let path = scratch.file("in.csv")
    try Self.write(60_000, to: path)
    let arguments = ["load", scratch.file("a.db"), "t", path, "--key", "key", "--memory", "16MiB"]
    let explained = try Command.run(arguments + ["--explain"])
    #expect(explained.output.contains("by the key where records come in none"), "\(explained.output)")
    let other = try Command.run(arguments + ["--explain", "--input-order"])
    #expect(other.output.contains("as records come: --input-order"), "\(other.output)")
    let outcome = try Command.run(arguments + ["-v", "--direct", "never"])
    #expect(outcome.talk.contains("records are sorted by key before they are stored"), "\(outcome.talk)")
  }
}

extension Database {
  fileprivate func make(_ sql: String) { _ = try? rows(sql) }
}
