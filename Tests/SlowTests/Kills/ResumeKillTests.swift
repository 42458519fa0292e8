import Foundation
import TestSupport
import Testing
import Upsurge

/// Loads killed at random moments and resumed until they are done give what an undisturbed one gives. A longer loop is
/// `Benchmarks/run kills`; UPSURGE_KILL_SEEDS says how many loads of each kind are killed here.
@Suite("Resume under SIGKILL", .serialized)
struct ResumeKillTests {
  private static let seeds: UInt64 =
    ProcessInfo.processInfo.environment["UPSURGE_KILL_SEEDS"].flatMap { UInt64($0) } ?? 3

  /// What is loaded, and how.
  enum Kind: String, CaseIterable {
    case csv, csvKeyed, severalFiles, ndjsonNewColumns, arrays, document, utf16, tombstones, quarantine
    case zstdFrames, zstdFrame, gzipMembers, rejectsInTable, history, randomKeys, zip, tarZstd
  }

  private struct Load {
    var arguments: [String]
    var setup = ""
    var order = "rowid"
    var keepsRejects = false
    var tuning = ["--commit-every", "700"]
  }

  private static let count = 20_000

  private static func prepare(_ kind: Kind, in scratch: Scratch) throws -> Load {
    let csv = (1...count).map { $0 % 997 == 0 ? "\($0)" : "\($0),\"x \($0)\n,\",\($0 % 7)" }
    let header = "id,b,b"
    switch kind {
    case .csv:
      return Load(arguments: [scratch.write(([header] + csv).joined(separator: "\r\n"), to: "a.csv")])
    case .csvKeyed:
      let setup = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, b TEXT, b_2 INT);
        WITH RECURSIVE i(n) AS (SELECT 2 UNION ALL SELECT n + 2 FROM i WHERE n < \(count))
        INSERT INTO t SELECT n, 'x ' || n || char(10) || ',', n % 14 FROM i
        """
      return Load(
        arguments: [scratch.write(([header] + csv).joined(separator: "\n"), to: "a.csv"), "--key", "id"],
        setup: setup, order: "id")
    case .severalFiles:
      let files = (0..<5).map { part in
        let rows = csv[(part * count / 5)..<((part + 1) * count / 5)]
        return scratch.write(([header] + rows).joined(separator: "\n") + "\n", to: "p\(part).csv")
      }
      return Load(arguments: files + ["--stop-after", "\(count - 3_000)"])
    case .ndjsonNewColumns:
      let lines = (1...count).map {
        "{\"id\":\($0),\"c\($0 / 2_500)\":\"v\",\"n\":\($0 % 991 == 0 ? "[" : "1")}"
      }
      return Load(arguments: [scratch.write(lines.joined(separator: "\n"), to: "a.ndjson")])
    case .arrays:
      let lines = (1...count).map { "[\($0),\"v\($0)\"\($0 % 993 == 0 ? ",1,2" : "")]" }
      return Load(
        arguments: [scratch.write((["[\"id\",\"b\"]"] + lines).joined(separator: "\n"), to: "a.ndjson")])
    case .document:
      let records = (1...count).map { "{\"id\":\($0),\"o\":{\"p\":[\($0)]}}" }
      let text =
        "{\"meta\":{\"n\":[1,2]},\"data\":{\"items\":[\(records.joined(separator: ",\n"))]},\"end\":1}"
      return Load(arguments: [scratch.write(text, to: "a.json"), "--json-path", "data.items", "--flatten"])
    case .utf16:
      let text = ([header] + csv).joined(separator: "\n")
      let bytes: [UInt8] =
        [0xFF, 0xFE] + text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
      return Load(arguments: [scratch.write(bytes, to: "a.csv")])
    case .tombstones:
      let rows = (1...count).map { "\($0 * 7919 % 5_003),x\($0),\($0 % 11 == 0 ? "D" : "U")" }
      return Load(
        arguments: [
          scratch.write((["id,b,op"] + rows).joined(separator: "\n"), to: "a.csv"), "--key", "id",
          "--delete-when", "op=D",
        ], setup: "CREATE TABLE t(id INTEGER PRIMARY KEY, b TEXT, op)", order: "id")
    case .quarantine:
      let lines = (1...count).map { "{\"id\":\($0)\($0 % 5 == 0 ? ",\"new\":\($0)" : "")}" }
      return Load(
        arguments: [
          scratch.write(lines.joined(separator: "\n"), to: "a.ndjson"), "--contract", "quarantine",
        ], setup: "CREATE TABLE t(id INT)")
    case .zstdFrames, .zstdFrame, .gzipMembers:
      // Frames and members end anywhere, in the middle of a record or of a quoted field.
      let bytes = Array(([header] + csv).joined(separator: "\n").utf8)
      let step = kind == .zstdFrame ? bytes.count : 17_001
      let parts = stride(from: 0, to: bytes.count, by: step).map { start -> [UInt8] in
        let part = Array(bytes[start..<min(start + step, bytes.count)])
        return kind == .gzipMembers ? Compressing.gzip(part) : Compressing.zstd(part)
      }
      return Load(arguments: [scratch.write(parts.flatMap { $0 }, to: "a.csv")])
    case .zip, .tarZstd:
      let members = (0..<5).map { part -> (name: String, bytes: [UInt8]) in
        let rows = csv[(part * count / 5)..<((part + 1) * count / 5)]
        return ("d/\(part).csv", Array((([header] + rows).joined(separator: "\n") + "\n").utf8))
      }
      let bytes = try Packing.archive(kind == .zip ? .zip : .tarZstd, members)
      return Load(arguments: [scratch.write(bytes, to: "a.packed")])
    case .rejectsInTable:
      return Load(
        arguments: [scratch.write(([header] + csv).joined(separator: "\n"), to: "a.csv")],
        keepsRejects: true)
    case .randomKeys:
      // Sorted as much as the memory holds at once, a few times.
      let text = String(repeating: "t", count: 70)
      let rows = (1...count * 3).map {
        $0 % 997 == 0 ? "\($0)" : "key \($0 * 7919 % 50_021),\($0),\(text)"
      }
      return Load(
        arguments: [
          scratch.write((["id,n,b"] + rows).joined(separator: "\n"), to: "a.csv"), "--key", "id", "--set",
          "n=sum",
        ], order: "id", tuning: ["--memory", "16MiB"])
    case .history:
      return Load(
        arguments: [scratch.write(([header] + csv).joined(separator: "\n"), to: "a.csv"), "--history"])
    }
  }

  /// Everything a load leaves behind.
  private static func result(_ path: String, _ scratch: Scratch, _ load: Load) throws -> [String] {
    let database = Database(path)
    var lines = try database.rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
    lines += try database.rows("SELECT * FROM t ORDER BY \(load.order)")
    for (table, rows) in [
      ("upsurge_quarantine", "SELECT record, number, line, byte FROM upsurge_quarantine ORDER BY id"),
      (
        "upsurge_rejects",
        """
        SELECT id, file, record, line, byte, "column", code, reason, raw, raw_cut FROM upsurge_rejects ORDER BY id
        """
      ),
      ("upsurge_runs", "SELECT run, state, \"table\", exit_code FROM upsurge_runs"),
    ] where try database.rows("SELECT 1 FROM sqlite_schema WHERE name = '\(table)'") == ["1"] {
      lines += try database.rows(rows)
    }
    lines += try database.rows("PRAGMA integrity_check")
    if !load.keepsRejects { lines.append(String(decoding: try readFile(scratch.file("bad")), as: UTF8.self)) }
    return lines
  }

  /// Whether the database holds the position of a run that is not done.
  private static func isListed(_ path: String) throws -> Bool {
    let database = Database(path)
    if try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_runs'").isEmpty { return false }
    return try !database.rows("SELECT 1 FROM upsurge_runs WHERE state <> 'done'").isEmpty
  }

  @Test("Killed and resumed until done", arguments: Kind.allCases)
  func killed(kind: Kind) throws {
    let scratch = Scratch()
    let load = try Self.prepare(kind, in: scratch)
    let (plain, path, summary) = (scratch.file("u.db"), scratch.file("k.db"), scratch.file("summary"))
    func arguments(_ database: String) -> [String] {
      ["load", database, "t"] + load.arguments + load.tuning + [
        "--on-error", "reject", "--summary", summary,
        "--rejects", load.keepsRejects ? "table" : scratch.file("bad"),
      ]
    }
    if !load.setup.isEmpty { try Database(plain).rows("PRAGMA journal_mode=WAL;" + load.setup) }
    let clock = ContinuousClock()
    var code: Int32 = 0
    let duration = try clock.measure { code = try Command.run(arguments(plain)).exitCode }
    #expect([0, 2].contains(code), "\(kind)")
    let expected = try Self.result(plain, scratch, load)
    let words = ToldSummary.text(of: summary)
    // The machine is not always as busy as it was for that.
    var most = max(duration.microseconds, 50_000)
    var stops = 0
    for seed in 0..<(Self.seeds + 20) where seed < Self.seeds || stops == 0 {
      var random = SeededGenerator(seed: seed)
      for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
      unlink(scratch.file("bad"))
      if !load.setup.isEmpty { try Database(path).rows("PRAGMA journal_mode=WAL;" + load.setup) }
      var isDone = false
      for attempt in 0..<40 where !isDone {
        unlink(summary)
        let child = try Command.start(arguments(path))
        if attempt < 5 {
          usleep(UInt32.random(in: most / 4...most, using: &random))
          child.send(signal: SIGKILL)
        }
        let outcome = try child.finish()
        let isTold = ToldSummary.text(of: summary) != nil
        let isListed = try Self.isListed(path)
        if outcome.exitCode == 1_000 + SIGKILL {
          stops += isListed ? 1 : 0
          isDone = isTold && !isListed
          if !isListed && !isTold { most = min(most * 5 / 4, 10_000_000) }
        } else {
          #expect(outcome.exitCode == code, "\(kind), seed \(seed): \(outcome.talk)")
          isDone = true
          if attempt < 5 { most = max(most * 3 / 4, 5_000) }
        }
      }
      #expect(try Self.result(path, scratch, load) == expected, "\(kind), seed \(seed)")
      #expect(ToldSummary.text(of: summary) == words, "\(kind), seed \(seed)")
    }
    #expect(stops > 0, "\(kind): no load was killed between two commits")
  }
}
