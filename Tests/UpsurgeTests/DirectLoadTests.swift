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

/// Loads of new databases whose rows are packed into pages: the result is that of the ordinary path, wherever packing
/// ends.
@Suite("Direct loads", .serialized)
struct DirectLoadTests {
  let scratch = Scratch()

  private var path: String { scratch.file("a.db") }
  private var image: String { path + "-upsurge" }

  private struct Result: Equatable {
    var rows: [String]
    var schema: [String]
    var ledger: Ledger
    var reasons: [String]
    var rejects: [String]
    var warnings: WarningLog
    var exitCode: Int32
  }

  /// - Returns: what came of it, and whether rows were packed.
  private func load(
    _ options: LoadOptions, _ sources: [String], _ name: String, _ policy: LoadOptions.DirectPolicy
  ) throws -> (Result, isPacked: Bool) {
    var options = options
    options.direct = policy
    options.rejectsPath = scratch.file(name + ".rejects")
    let path = scratch.file(name + ".db")
    let summary = LoadJob(database: path, table: "t", sources: sources, options: options).run()
    #expect(access(path + "-upsurge", F_OK) != 0)
    let database = Database(path)
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    let columns = try database.rows("SELECT name FROM pragma_table_info('t')").map {
      $0.dropFirst().dropLast()
    }
    let terms = columns.map { "typeof(\"\($0)\"), \"\($0)\"" }.joined(separator: ", ")
    let rows = columns.isEmpty ? [] : try database.rows("SELECT rowid, \(terms) FROM t ORDER BY rowid")
    let text = String(decoding: try readFile(scratch.file(name + ".rejects")), as: UTF8.self)
    let result = Result(
      rows: rows, schema: try database.rows("SELECT name, sql FROM sqlite_schema ORDER BY name"),
      ledger: summary.ledger, reasons: summary.rejectsByReason.map { "\($0.code.rawValue) \($0.count)" },
      rejects: text.split(separator: "\n").map(String.init), warnings: summary.warnings,
      exitCode: summary.exitCode)
    return (result, summary.stages.contains { $0.name == RunStage.pack })
  }

  /// Records of five columns, in the order of their keys but here and there; some cannot be stored.
  private static func csv(_ random: inout SeededGenerator, count: Int, oddities: Int) -> String {
    var text = "id,name,number,share,note\n"
    var odd: Set<Int> = []
    for _ in 0..<oddities { odd.insert(Int.random(in: 0..<count, using: &random)) }
    for index in 0..<count {
      var id = "\(index * 3)"
      var fields = [
        "n\(index)", "\(Int.random(in: -9...900_000, using: &random))",
        "\(Double(Int.random(in: 0...999, using: &random)) / 8)",
        String(repeating: "ä,x", count: Int.random(in: 0...40, using: &random) / 8),
      ]
      if Bool.random(using: &random) { fields[Int.random(in: 1...3, using: &random)] = "" }
      if odd.contains(index) {
        switch Int.random(in: 0...6, using: &random) {
        case 0: id = "\(index * 3 - 4)"
        case 1: id = "\(max(index - 1, 0) * 3)"
        case 2: fields[1] = "no number"
        case 3: fields.append("one more")
        case 4: fields[2] = "1e400"
        case 5: fields[3] = String(repeating: "long ", count: 9_000)
        default: id = ""
        }
      }
      text += ([id] + fields.map { $0.contains(",") ? "\"\($0)\"" : $0 }).joined(separator: ",") + "\n"
    }
    return text
  }

  @Test(
    "Wherever packing ends, table, ledger and rejects are those of the ordinary path",
    arguments: 0..<30 as Range<UInt64>)
  func equalsOrdinaryPath(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...400, using: &random)
    let sources = (0..<(seed % 5 == 0 ? 2 : 1)).map {
      scratch.write(Self.csv(&random, count: count, oddities: Int(seed % 4)), to: "\($0).csv")
    }
    var options = LoadOptions()
    options.onError = .reject
    options.csv.delimiter = [UInt8(ascii: ",")]
    options.csv.headerLineCount = 1
    switch seed % 6 {
    case 1, 2: options.key = ["id"]
    case 3: options.key = ["id", "name"]
    case 4: options.key = ["name"]
    case 5:
      options.key = ["id"]
      options.mode = seed % 4 == 1 ? .insert : .ignore
    default: break
    }
    options.isStrict = seed % 3 == 2
    if seed % 7 == 3 { options.recordLimit = UInt64(count / 2 + 1) }
    if seed % 7 == 5 { options.types = ["number": "TEXT"] }
    options.batchSizes = Batch.Sizes(
      arenaByteCount: Int.random(in: 300...4_000, using: &random),
      cellCount: Int.random(in: 20...400, using: &random), recordCount: Int.random(in: 1...60, using: &random)
    )
    let (expected, _) = try load(options, sources, "plain", .never)
    let (actual, isPacked) = try load(options, sources, "direct", .always)
    #expect(actual == expected, "seed \(seed)")
    // Without anything odd all of it is packed from the first batch on, unless a text key is in no order.
    if seed % 4 == 0 && seed % 6 < 3 { #expect(isPacked, "seed \(seed)") }
  }

  @Test("NDJSON whose columns appear on the way")
  func newColumns() throws {
    let lines = (0..<300).map {
      $0 < 200 ? "{\"id\":\($0),\"a\":\"x\($0)\"}" : "{\"id\":\($0),\"b\":[\($0)],\"a\":null}"
    }
    let source = scratch.write(lines.joined(separator: "\n") + "\n", to: "a.ndjson")
    var options = LoadOptions()
    options.key = ["id"]
    options.batchSizes = Batch.Sizes(arenaByteCount: 600, cellCount: 400, recordCount: 20)
    let (expected, _) = try load(options, [source], "plain", .never)
    let (actual, isPacked) = try load(options, [source], "direct", .always)
    #expect(actual == expected && isPacked)
  }

  @Test("What asks for SQLite on every row, or for commits on the way, is not packed")
  func ordinary() throws {
    let source = scratch.write("id,b\n1,x\n2,y\n", to: "a.csv")
    let changes: [(inout LoadOptions) -> Void] = [
      { $0.commitEvery = 5 }, { $0.isAtomic = true }, { $0.durability = .off },
      { $0.changesPath = self.scratch.file("changes") }, { $0.emitPath = self.scratch.file("sql") },
      { $0.initSQL = "CREATE TEMP VIEW v AS SELECT 1" }, { $0.indexes = [["b"]] },
    ]
    for (index, change) in changes.enumerated() {
      var options = LoadOptions()
      change(&options)
      let (result, isPacked) = try load(options, [source], "\(index)", .always)
      #expect(result.exitCode == 0 && !isPacked, "change \(index)")
    }
    // A database that is there is never replaced.
    try Database(path).rows("CREATE TABLE mine(a); INSERT INTO mine VALUES (1)")
    let (result, isPacked) = try load(LoadOptions(), [source], "a", .always)
    #expect(result.exitCode == 0 && !isPacked)
    #expect(try Database(path).rows("SELECT count(*) FROM mine") == ["1"])
  }

  @Test("Somebody's own file of the image's name stays, and keeps no ordinary load from its work")
  func ownFile() throws {
    _ = scratch.write("my own", to: "a.db-upsurge")
    let source = scratch.write("id,b\n1,x\n", to: "a.csv")
    let summary = LoadJob(database: path, table: "t", sources: [source]).run()
    #expect(summary.exitCode == 0, "\(summary)")
    #expect(String(decoding: try readFile(image), as: UTF8.self) == "my own")
  }

  /// Starts a load of a pipe, and says so many rows into it.
  private func startFromPipe(rows: Range<Int>) throws -> (Command.Child, writer: Int32) {
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let child = try Command.start(["load", path, "t", pipe, "--key", "id", "--direct", "always"])
    let writer = open(pipe, O_WRONLY)
    say("id,b\n", to: writer)
    say(rows.map { "\($0),\(String(repeating: "x", count: 40))\n" }.joined(), to: writer)
    return (child, writer)
  }

  private func say(_ text: String, to writer: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
      if count <= 0 { return }
      bytes = bytes.dropFirst(count)
    }
  }

  private func waits(_ condition: () -> Bool) -> Bool {
    for _ in 0..<3_000 {
      if condition() { return true }
      usleep(10_000)
    }
    return false
  }

  @Test("A pipe that stalls: what was packed is there for others, and the rest follows")
  func stall() throws {
    let (child, writer) = try startFromPipe(rows: 0..<60_000)
    #expect(waits { access(path, F_OK) == 0 })
    #expect(waits { (try? Database(path).rows("SELECT count(*) > 0 FROM t")) == ["1"] })
    say((60_000..<61_000).map { "\($0),y\n" }.joined(), to: writer)
    close(writer)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["61000|61000"])
    #expect(try Database(path).rows("SELECT name FROM sqlite_schema") == ["'t'"])
  }

  @Test(
    "A database that another program makes meanwhile stays; an empty file is no database",
    arguments: [true, false])
  func madeMeanwhile(isEmpty: Bool) throws {
    let (child, writer) = try startFromPipe(rows: 0..<60_000)
    #expect(waits { access(image, F_OK) == 0 })
    if isEmpty {
      _ = scratch.write("", to: "a.db")
    } else {
      try Database(path).rows("CREATE TABLE mine(a); INSERT INTO mine VALUES (7)")
    }
    close(writer)
    let outcome = try child.finish()
    #expect(access(image, F_OK) != 0)
    if isEmpty {
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(try Database(path).rows("SELECT count(*) FROM t") == ["60000"])
    } else {
      #expect(outcome.exitCode == 75 && outcome.talk.contains("meanwhile"), "\(outcome.talk)")
      #expect(try Database(path).rows("SELECT name FROM sqlite_schema") == ["'mine'"])
    }
  }

  @Test("A second load into a database that is being made waits for it")
  func second() throws {
    let (child, writer) = try startFromPipe(rows: 0..<60_000)
    #expect(waits { access(image, F_OK) == 0 })
    let other = try Command.run([
      "load", path, "u", scratch.write("id\n1\n", to: "b.csv"), "--direct", "always", "--busy-timeout",
      "60000",
    ])
    #expect(other.exitCode == 0, "\(other.talk)")
    close(writer)
    let first = try child.finish()
    #expect(first.exitCode == 0, "\(first.talk)")
    #expect(
      try Database(path).rows("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)") == ["60000|1"])
  }

  @Test("Killed at random moments, the same command makes one whole database in the end")
  func kills() throws {
    let text = "id,b\n" + (0..<150_000).map { "\($0),row \($0)\n" }.joined()
    let source = scratch.write(text, to: "a.csv")
    var random = SeededGenerator(seed: 7)
    var kills = 0
    for _ in 0..<12 {
      let child = try Command.start(["load", path, "t", source, "--direct", "always"])
      usleep(UInt32.random(in: 1_000...900_000, using: &random))
      child.send(signal: SIGKILL)
      if try child.finish().exitCode == 1_000 + SIGKILL { kills += 1 }
      guard access(path, F_OK) == 0 else { continue }
      // All of it, or nothing.
      #expect(try Database(path).rows("PRAGMA integrity_check") == ["'ok'"])
      #expect(try Database(path).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["150000|150000"])
      if try Database(path).rows("SELECT count(*) FROM sqlite_schema") == ["1"] {
        // Its ledger was shown: the next one would be another load.
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
      }
    }
    #expect(kills > 0)
    let isMade = access(path, F_OK) == 0
    let isDone = try isMade && Database(path).rows("SELECT count(*) FROM sqlite_schema") == ["1"]
    if !isDone {
      let last = try Command.run(["load", path, "t", source, "--direct", "always"])
      #expect(last.exitCode == 0, "\(last.talk)")
    }
    #expect(try Database(path).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["150000|150000"])
    #expect(access(image, F_OK) != 0)
  }

  @Test("A signal ends a load at what is packed so far, and the same command goes on")
  func signal() throws {
    let text = "id,b\n" + (0..<400_000).map { "\($0),row \($0)\n" }.joined()
    let source = scratch.write(text, to: "a.csv")
    let child = try Command.start(["load", path, "t", source, "--direct", "always"])
    child.waitForHandlers()
    #expect(waits { access(image, F_OK) == 0 || access(path, F_OK) == 0 })
    child.send(signal: SIGINT)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 130 || outcome.exitCode == 0, "\(outcome.talk)")
    #expect(access(image, F_OK) != 0)
    if outcome.exitCode == 130 {
      let last = try Command.run(["load", path, "t", source])
      #expect(last.exitCode == 0, "\(last.talk)")
    }
    #expect(try Database(path).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["400000|400000"])
  }
}
