import TestSupport
import Testing
import UpsurgeRecords

@testable import Upsurge

/// `--commit-every`: rows, bytes or time.
@Suite("Commit interval")
struct CommitIntervalTests {
  @Test(
    "What is an interval, and how it is shown",
    arguments: [
      ("1", .records(1), "1"), ("100000", .records(100_000), "100000"),
      ("64MiB", .bytes(.mebibytes(64)), "64MiB"),
      ("10k", .bytes(ByteSize(10_240)), "10KiB"), ("100b", .bytes(ByteSize(100)), "100B"),
      ("1m", .bytes(.mebibytes(1)), "1MiB"), ("500ms", .milliseconds(500), "500ms"),
      ("2000ms", .milliseconds(2_000), "2s"), ("1min", .milliseconds(60_000), "60s"),
      ("auto", .auto, "auto"),
    ] as [(String, CommitInterval, String)])
  func words(_ text: String, _ interval: CommitInterval, _ shown: String) {
    #expect(CommitInterval(text: text) == interval)
    #expect(interval.description == shown)
  }

  @Test(
    "What is none", arguments: ["", "s", "-1", "1.5s", "1 s", "2h", "9223372036854775807min", "12rows", "+5"])
  func others(_ text: String) { #expect(CommitInterval(text: text) == nil) }

  @Test(
    "Nothing of anything is refused",
    arguments: [.records(0), .bytes(ByteSize(0)), .milliseconds(0)] as [CommitInterval])
  func nothing(_ interval: CommitInterval) {
    var options = LoadOptions()
    options.transaction.commitEvery = interval
    #expect { try options.validate() } throws: {
      ($0 as? UpsurgeError)?.message.contains("--commit-every") == true
    }
  }

  @Test(
    "The table is the same, and the summary says the interval",
    arguments: [("100000", "commit_every"), ("8KiB", "commit_every_bytes"), ("1ms", "commit_every_ms")])
  func loads(_ word: String, _ setting: String) throws {
    let scratch = Scratch()
    let lines = (1...20_000).map { "\($0),value \($0)" }
    let input = scratch.write("id,v\n" + lines.joined(separator: "\n"), to: "in.csv")
    var options = LoadOptions()
    options.transaction.commitEvery = try #require(CommitInterval(text: word))
    let summary = LoadJob(database: scratch.file("a.db"), table: "t", sources: [input], options: options)
      .run()
    #expect(summary.exitCode == 0)
    #expect(String(decoding: summary.json, as: UTF8.self).contains("\"\(setting)\":"))
    let database = Database(scratch.file("a.db"))
    #expect(try database.rows("SELECT id || ',' || v FROM t ORDER BY id") == lines.map { "'\($0)'" })
  }
}
