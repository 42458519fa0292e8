import Foundation
import TestSupport
import Testing
import Upsurge

/// However often a replay is killed, the one that goes on tells the ledger of an undisturbed one. UPSURGE_KILL_SEEDS says
/// how often each kind is begun anew; each time it is killed up to six times.
@Suite("Ledger of a replay under SIGKILL", .serialized)
struct ReplayLedgerKillTests {
  private static let seeds: UInt64 =
    ProcessInfo.processInfo.environment["UPSURGE_KILL_SEEDS"].flatMap { UInt64($0) } ?? 3

  enum Kind: String, CaseIterable {
    case quarantine, table, both, file
  }

  private let scratch = Scratch()
  private var path: String { scratch.file("a.db") }
  private var file: String { scratch.file("bad") }
  private var summary: String { scratch.file("summary") }

  /// Makes a database, and a file of rejects, whose records have a place now: most of them, but not all.
  private func prepare(_ kind: Kind) throws {
    let count = 6_000
    try Database(path).rows(
      "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(id INT, p INT REFERENCES p(id)); CREATE TABLE u(id INT)"
    )
    if kind != .quarantine {
      var text = "id,p\n"
      for id in 1...count { text += "\(id),\(id % 7 == 0 ? 9 : 1)\n" }
      let outcome = try Command.run([
        "load", path, "t", scratch.write(text, to: "in.csv"), "--on-error", "reject", "--rejects",
        kind == .file ? file : "table",
      ])
      #expect(outcome.exitCode == 2, "\(outcome.talk)")
    }
    if kind == .quarantine || kind == .both {
      let lines = (1...count).map { "{\"id\":\($0),\"\($0 % 5 == 0 ? "missing" : "b")\":\"x\"}" }
      let outcome = try Command.run([
        "load", path, "u", scratch.write(lines.joined(separator: "\n"), to: "in.ndjson"), "--contract",
        "quarantine",
      ])
      #expect(outcome.exitCode == 2, "\(outcome.talk)")
    }
    try Database(path).rows("INSERT INTO p VALUES (1); ALTER TABLE u ADD COLUMN b")
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      _ = scratch.write(try readFile(path + suffix), to: "kept.db" + suffix)
    }
    if kind == .file { _ = scratch.write(try readFile(file), to: "kept.bad") }
  }

  /// Brings database and file back to what `prepare` has made.
  private func reset(_ kind: Kind) throws {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      unlink(path + suffix)
      let kept = scratch.file("kept.db" + suffix)
      if FileManager.default.fileExists(atPath: kept) {
        _ = scratch.write(try readFile(kept), to: "a.db" + suffix)
      }
    }
    unlink(file + ".replay")
    if kind == .file { _ = scratch.write(try readFile(scratch.file("kept.bad")), to: "bad") }
  }

  /// The parts of a summary that do not depend on the time; nil where it is not whole.
  private func told() -> String? {
    guard let data = FileManager.default.contents(atPath: summary),
      let whole = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any],
      let tables = whole["tables"] as? [String: [String: Any]]
    else { return nil }
    var part = whole.filter { ["ledger", "rejects_by_reason", "warnings", "exit_code"].contains($0.key) }
    part["tables"] = tables.mapValues { $0["ledger"] }
    let text = try? JSONSerialization.data(withJSONObject: part, options: [.sortedKeys])
    return text.map { String(decoding: $0, as: UTF8.self) }
  }

  private func left() throws -> [String] {
    let database = Database(path)
    var lines = try database.rows("SELECT name FROM sqlite_schema WHERE name = 'upsurge_replays'")
    for table in ["t", "u"] { lines += try database.rows("SELECT * FROM \(table) ORDER BY id") }
    return lines + (try database.rows("PRAGMA integrity_check"))
  }

  @Test("Killed and run again until done", arguments: Kind.allCases)
  func killed(kind: Kind) throws {
    try prepare(kind)
    let command =
      ["replay", path] + (kind == .file ? [file] : []) + ["--commit-every", "100", "--summary", summary]
    var code: Int32 = 0
    let duration = try ContinuousClock().measure { code = try Command.run(command).exitCode }
    #expect(code == 2)
    let (words, rows) = (try #require(told()), try left())
    var most = max(duration.microseconds, 20_000)
    var (kills, resumed) = (0, 0)
    for seed in 0..<(Self.seeds + 20) where seed < Self.seeds || resumed == 0 {
      var random = SeededGenerator(seed: seed)
      try reset(kind)
      unlink(summary)
      var isSeen = false
      for attempt in 0..<40 where told() == nil {
        let child = try Command.start(command)
        if attempt < 6 {
          usleep(UInt32.random(in: most / 6...most, using: &random))
          child.send(signal: SIGKILL)
        }
        let outcome = try child.finish()
        if outcome.exitCode == 1_000 + SIGKILL {
          kills += 1
          if told() == nil { most = min(most * 9 / 8, 2_000_000) }
        } else {
          #expect(outcome.exitCode == 2, "\(kind), seed \(seed): \(outcome.talk)")
          isSeen = true
          if attempt < 6 { most = max(most * 3 / 4, 5_000) }
          if outcome.talk.contains("of them by an earlier replay") { resumed += 1 }
        }
      }
      #expect(told() == words, "\(kind), seed \(seed)")
      // Killed after it has told its ledger, a replay may have left its mark.
      if isSeen { #expect(try left() == rows, "\(kind), seed \(seed)") }
    }
    print("\(kind): \(kills) kills, \(resumed) replays went on")
    #expect(resumed > 0, "no replay went on")
  }
}
