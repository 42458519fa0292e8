import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// `--log json` says all that is said, and nothing else.
@Suite("JSON logs")
struct LogTests {
  let scratch = Scratch()

  /// What was said; nil where a line is no JSON object or lacks what each has.
  private func events(_ talk: String) throws -> [[String: Any]] {
    try talk.split(separator: "\n").map { line in
      let event = try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
      let time = try #require(event["time"] as? String)
      #expect(time.wholeMatch(of: try Regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z")) != nil)
      #expect(["debug", "info", "warning", "error"].contains(event["level"] as? String ?? ""), "\(line)")
      #expect((event["message"] as? String)?.isEmpty == false, "\(line)")
      return event
    }
  }

  private func named(_ name: String, _ events: [[String: Any]]) -> [[String: Any]] {
    events.filter { $0["event"] as? String == name }
  }

  @Test("Tables, their counts and the end")
  func tables() throws {
    _ = scratch.write("id,v\n1,a\n2,b\n3\n", to: "a.csv")
    let job = scratch.write(
      "tables: {a: {source: a.csv, key: id, rejects: table}, \"b\\e\": {source: none.csv, key: id}}",
      to: "job.yaml")
    let words = ["mirror", scratch.file("a.db"), job, "--log", "json"]
    let first = try Command.run(words + ["--progress", "always", "-v"])
    let events = try events(first.talk)
    #expect(first.exitCode == 3 && first.output.isEmpty)
    let tables = named("table", events)
    #expect(tables.map { $0["table"] as? String } == ["a", "b\u{1B}"])
    #expect(tables.map { $0["level"] as? String } == ["warning", "error"])
    #expect(tables.map { $0["exit_code"] as? Int } == [2, 66])
    #expect((tables[0]["ledger"] as? [String: Int])?["inserted"] == 2)
    #expect((tables[0]["ledger"] as? [String: Int])?["rejected"] == 1)
    #expect((tables[1]["error"] as? [String: Any])?["code"] as? String == "unreadable-input")
    let notes = named("note", events)
    #expect(!notes.isEmpty && notes.allSatisfy { $0["table"] is String })
    let end = try #require(events.last)
    #expect(
      end["event"] as? String == "end" && end["exit_code"] as? Int == 3 && end["level"] as? String == "error")
    #expect(end["message"] as? String == "1 of 2 tables failed")
    // Without -v, details are left out; the delivery is the last one.
    let second = try self.events(try Command.run(words).talk)
    #expect(second.allSatisfy { $0["level"] as? String != "debug" })
    #expect(named("table", second)[0]["unchanged_since"] is String)
    // With -q, only what went wrong.
    let quiet = try self.events(try Command.run(words + ["-q"]).talk)
    #expect(!quiet.isEmpty && quiet.allSatisfy { $0["level"] as? String == "error" })
  }

  @Test("Progress of what takes long")
  func progress() throws {
    let job = scratch.write(
      "tables: {a: {source: 'exec:echo id; seq 1 2000; sleep 2; seq 2001 2500', key: id}}", to: "job.yaml")
    let outcome = try Command.run(
      ["mirror", scratch.file("a.db"), job, "--log", "json", "--progress", "always"])
    let events = try events(outcome.talk)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    let progress = named("progress", events)
    #expect(
      !progress.isEmpty && progress.allSatisfy { $0["table"] as? String == "a" && $0["records"] is Int })
    let none = try Command.run(
      ["mirror", scratch.file("a.db"), job, "--log", "json", "--progress", "never"])
    #expect(named("progress", try self.events(none.talk)).isEmpty)
  }

  @Test(
    "Errors in front of the run are lines, too",
    arguments: [
      (["JOB", "--table", "nope"], 64), (["BAD"], 64), (["NONE"], 66),
      (["JOB", "--summary", "/no/where"], 73),
    ]
      as [([String], Int32)])
  func early(words: [String], code: Int32) throws {
    let names = [
      "JOB": scratch.write("tables: {t: {source: a.csv}}", to: "job.yaml"),
      "BAD": scratch.write("tables: {t: {source: a.csv, kye: id}}", to: "bad.yaml"),
      "NONE": scratch.file("none"),
    ]
    let outcome = try Command.run(
      ["mirror", scratch.file("a.db")] + words.map { names[$0] ?? $0 } + ["--log", "json"])
    #expect(outcome.exitCode == code)
    let events = try events(outcome.talk)
    #expect(events.count == 1 && events[0]["level"] as? String == "error", "\(outcome.talk)")
  }

  @Test("Times")
  func times() {
    #expect(LogLine.text(timespec(tv_sec: 0, tv_nsec: 0)) == "1970-01-01T00:00:00.000Z")
    #expect(LogLine.text(timespec(tv_sec: 1_795_317_309, tv_nsec: 7_999_999)) == "2026-11-22T03:15:09.007Z")
  }
}
