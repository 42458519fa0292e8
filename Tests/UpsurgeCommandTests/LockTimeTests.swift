import Foundation
import TestSupport
import Testing

@testable import UpsurgeCommand

/// `--busy-timeout` in milliseconds, or with a unit.
@Suite("Time to wait for a lock")
struct LockTimeTests {
  let scratch = Scratch()

  @Test(
    "A number is milliseconds, and units say otherwise",
    arguments: [
      ("5000", 5_000), ("0", 0), ("250ms", 250), ("5s", 5_000), ("2min", 120_000), ("2m", 120_000),
      ("1h", 3_600_000), ("2147483647", 2_147_483_647),
    ])
  func known(text: String, milliseconds: Int32) {
    #expect(LockTime(argument: text)?.milliseconds == milliseconds)
  }

  @Test(
    "What is no such time is refused",
    arguments: ["", "s", "5x", "-1", "1.5s", "5 s", "2147483648", "9223372036854775807h", "1000h"])
  func unknown(text: String) { #expect(LockTime(argument: text) == nil) }

  @Test("A load waits as long as the unit says, and so does a job", arguments: [false, true])
  func waits(isJob: Bool) throws {
    let (path, source) = (scratch.file("a.db"), scratch.write("a\n1\n", to: "in.csv"))
    let database = Database(path)
    try database.rows("PRAGMA journal_mode=WAL; CREATE TABLE t(a); BEGIN IMMEDIATE")
    let job = scratch.write("tables: {t: {source: in.csv, busy-timeout: 1s}}", to: "job.yaml")
    let words = isJob ? ["mirror", path, job] : ["load", path, "t", source, "--busy-timeout", "1s"]
    let outcome = try Command.run(words)
    #expect(outcome.exitCode == 75 && outcome.talk.contains("stayed so for 1000 ms"), "\(outcome.talk)")
    try database.rows("ROLLBACK")
    #expect(try Command.run(words).exitCode == 0)
  }

  @Test("What is refused says what is taken", arguments: ["load", "runs"])
  func refused(command: String) throws {
    let words = command == "load" ? ["t", scratch.write("a\n1\n", to: "in.csv")] : []
    let outcome = try Command.run([command, scratch.file("a.db")] + words + ["--busy-timeout", "5 seconds"])
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    #expect(outcome.talk.contains("Milliseconds to wait for a lock, or 5s, 2min."), "\(outcome.talk)")
  }
}
