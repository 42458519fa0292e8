import Foundation
import TestSupport
import Testing
import Upsurge

/// The built command, as people and schedulers meet it.
@Suite("Command", .serialized)
struct CommandTests {
  let scratch = Scratch()

  private func summary(_ outcome: Command.Outcome) throws -> [String: Any] {
    try #require(
      JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.talk)")
  }

  @Test("--version and --help answer on standard output")
  func help() throws {
    #expect(try Command.run(["--version"]).output == upsurgeVersion + "\n")
    let help = try Command.run(["load", "--help-all"])
    #expect(help.exitCode == 0)
    for word in ["Examples:", "--key", "--on-error", "--memory", "--ragged", "Exit codes:"] {
      #expect(help.output.contains(word), "\(word)")
    }
  }

  @Test("Standard input, and a summary with the documented keys on standard output")
  func standardInput() throws {
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", "-", "--summary", "-"], input: Array("a,b\n1,x\n".utf8))
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let summary = try summary(outcome)
    for key in [
      "ledger", "seconds", "bytes_read", "bytes_decoded", "rows_per_second", "stages", "rejects_by_reason",
      "warnings", "exit_code",
    ] { #expect(summary[key] != nil, "\(key)") }
    let ledger = try #require(summary["ledger"] as? [String: Int])
    #expect(
      Set(ledger.keys) == [
        "read", "inserted", "updated", "unchanged", "stale", "ignored", "deleted", "rejected",
        "quarantined", "swept", "filtered",
      ])
    #expect(ledger["inserted"] == 1)
    #expect(summary["bytes_read"] as? Int == 8)
    #expect(outcome.talk.contains("inserted 1"))
  }

  @Test("-q says nothing when all is well")
  func quiet() throws {
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", "-", "-q"], input: Array("a\n1\n".utf8))
    #expect(outcome.exitCode == 0 && outcome.talk.isEmpty && outcome.output.isEmpty)
  }

  @Test("The progress line is drawn when it is asked for, and never into a file by itself")
  func progress() throws {
    // Long enough for a line on a fast machine.
    let text = "a,b\n" + String(repeating: "1,x\n", count: 6_000_000)
    let shown = try Command.run(
      ["load", scratch.file("a.db"), "t", "-", "--progress", "always"], input: Array(text.utf8))
    #expect(shown.talk.contains("rows/s"))
    #expect(shown.talk.contains("\u{1B}[K"))
    let hidden = try Command.run(["load", scratch.file("b.db"), "t", "-"], input: Array(text.utf8))
    #expect(!hidden.talk.contains("\u{1B}"))
  }

  @Test(
    "Exit codes name the kind of failure",
    arguments: [
      (["load"], 64),
      (["load", "DB", "t", "IN", "--key", "nope"], 64),
      (["load", "DB", "t", "IN", "--memory", "1"], 64),
      (["load", "DB", "t", "IN", "--delimiter", ""], 64),
      (["load", "DB", "t", "missing.csv"], 66),
      (["load", "/nowhere/a.db", "t", "IN"], 73),
      (["load", "DB", "t", "IN", "--rejects", "/nowhere/r"], 73),
      (["load", "DB", "t", "IN", "--create", "never"], 4),
      (["load", "DB", "t", "BAD"], 65),
      (["load", "DB", "t", "BAD", "--on-error", "reject"], 2),
      (["load", "DB", "t", "BAD", "--on-error", "reject", "--max-rejects", "0"], 65),
      (["load", "DB", "t", "BAD", "--on-error", "reject", "--max-rejects", "10%"], 65),
      (["load", "DB", "t", "BAD", "--on-error", "reject", "--max-rejects", "60%"], 2),
      (["load", "DB", "t", "BAD", "--commit-every", "1"], 3),
    ] as [([String], Int32)])
  func exitCodes(arguments: [String], expected: Int32) throws {
    let good = scratch.write("a,b\n1,x\n", to: "good.csv")
    let bad = scratch.write("a,b\n1,x\n2\n", to: "bad.csv")
    let words = arguments.map {
      switch $0 {
      case "DB": scratch.file("a.db")
      case "IN": good
      case "BAD": bad
      case "missing.csv": scratch.file("missing.csv")
      default: $0
      }
    }
    let outcome = try Command.run(words)
    #expect(outcome.exitCode == expected, "\(outcome.talk)")
    if expected != 0 { #expect(!outcome.talk.isEmpty) }
    if [1, 4, 64, 65, 66, 73].contains(expected) {
      #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")), "nothing of the run remains")
    }
  }

  @Test("A database that another process holds is exit 75 and names --busy-timeout")
  func busy() throws {
    let other = Database(scratch.file("a.db"))
    try other.rows("PRAGMA journal_mode=WAL; CREATE TABLE t(a); BEGIN IMMEDIATE")
    let outcome = try Command.run(
      ["load", scratch.file("a.db"), "t", "-", "--busy-timeout", "50"], input: Array("a\n1\n".utf8))
    #expect(outcome.exitCode == 75)
    #expect(outcome.talk.contains("--busy-timeout"))
  }

  @Test("An interrupted load ends at a commit and says where", arguments: [SIGINT, SIGTERM])
  func interrupt(signal: Int32) throws {
    let text = "id,b\n" + (1...200_000).map { "\($0),x\n" }.joined()
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    // Opened for reading and writing, so that neither side waits and the load never sees an end.
    let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    let child = try Command.start([
      "load", scratch.file("a.db"), "t", pipe, "--key", "id", "--commit-every", "1000",
    ])
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      start += max(count, 0)
    }
    usleep(500_000)
    child.send(signal: signal)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 128 + signal, "\(outcome.talk)")
    #expect(outcome.talk.contains("interrupted:"), "\(outcome.talk)")
    let database = Database(scratch.file("a.db"))
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    #expect(try database.rows("SELECT count(*) > 0, count(*) = max(id) FROM t") == ["1|1"])
  }

  @Test("inspect shows dialect, types with examples and the CREATE TABLE; --check shows every error")
  func inspect() throws {
    let path = scratch.write("id;zip\n1;01234\n2;x\n3\n", to: "a.csv")
    let shown = try Command.run(["inspect", path, "--key", "id"])
    #expect(shown.exitCode == 0, "\(shown.talk)")
    for part in ["semicolon", "id", "INTEGER", "zip", "TEXT", "01234", "CREATE TABLE"] {
      #expect(shown.output.contains(part), "\(part)")
    }
    let checked = try Command.run(["inspect", path, "--check"])
    #expect(checked.exitCode == 65)
    #expect(checked.output.contains("line 4, record 3, byte 19"), "\(checked.output)")
  }

  @Test("Memory stays bounded for an input that is ten times larger")
  func memory() throws {
    var peaks: [Int] = []
    for count in [200_000, 2_000_000] {
      let path = scratch.file("\(count).csv")
      var text = "id,name,n\n"
      for id in 1...count { text += "\(id),name of \(id),\(id % 97)\n" }
      _ = scratch.write(text, to: "\(count).csv")
      let outcome = try Command.run([
        "load", scratch.file("\(count).db"), "t", path, "--key", "id", "--summary", "-",
      ])
      peaks.append(try #require(summary(outcome)["peak_memory_bytes"] as? Int))
    }
    #expect(peaks[1] <= 96 << 20)
    #expect(Double(peaks[1]) <= Double(peaks[0]) * 1.1 + Double(24 << 20), "\(peaks)")
  }
}
