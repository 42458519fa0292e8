import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// What `--systemd` and `--cron` print makes a scheduler run the job.
@Suite("Schedules of mirrors")
struct ScheduleTests {
  let scratch = Scratch()
  /// The folder as the system calls it.
  private var folder: String { SourceName.place(of: scratch.path) }

  private func job(_ name: String = "job.yaml", source: String = "feed.csv") -> String {
    scratch.write("tables: {members: {source: \"\(source)\", key: id}}", to: name)
  }

  private func run(_ words: [String]) throws -> Command.Outcome {
    // From the folder of the test, so that relative paths are tried.
    try Command.run(
      ["mirror", scratch.path] + words, script: "cd \"$2\" && shift 2 && exec \"$0\" mirror \"$@\"")
  }

  @Test("A service and a timer with paths from the root; nothing is written")
  func systemd() throws {
    _ = job()
    let outcome = try run([
      "a b%.db", "job.yaml", "--systemd", "--at", "4:05", "--metrics", "m.prom", "--table", "members",
    ])
    #expect(outcome.exitCode == 0 && outcome.talk.isEmpty, "\(outcome.talk)")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    let start = try #require(lines.first { $0.hasPrefix("ExecStart=") })
    #expect(
      start.hasSuffix(
        "upsurge mirror \"\(folder)/a b%%.db\" \(folder)/job.yaml --table=members --metrics \(folder)/m.prom"
      ),
      "\(start)")
    #expect(start.hasPrefix("ExecStart=/"))
    for line in [
      "WorkingDirectory=\(folder)", "Type=oneshot", "SuccessExitStatus=2", "Persistent=true",
      "OnCalendar=*-*-* 04:05:00", "EnvironmentFile=-/etc/upsurge/upsurge-job.env",
      "# --- /etc/systemd/system/upsurge-job.service ---", "# --- /etc/systemd/system/upsurge-job.timer ---",
    ] { #expect(lines.contains(line), "\(line)") }
    #expect((try? readFile(scratch.file("a b%.db"))) == nil)
  }

  private static let hasSystemd =
    (try? Command.run(
      [], script: "command -v systemd-analyze >/dev/null && systemd-analyze calendar daily >/dev/null"
    ).exitCode) == 0

  @Test("systemd understands the units", .enabled(if: hasSystemd, "needs systemd-analyze, which is not here"))
  func verified() throws {
    let name = "it's $a job \"x\\y\".d.yaml"
    _ = job(name)
    let outcome = try run(["100%.db", name, "--systemd"])
    let parts = outcome.output.components(separatedBy: "# --- /etc/systemd/system/").dropFirst()
    #expect(parts.count == 2)
    var units: [String] = []
    for part in parts {
      let unit = String(part.prefix { $0 != " " })
      units.append(scratch.write("#" + part, to: unit))
    }
    let check = try Command.run(
      units, script: "systemd-analyze verify \"$1\" \"$2\" 2>&1 | grep -F \"$(dirname \"$1\")\"")
    #expect(check.exitCode == 1, "\(check.output)")
    let calendar = try Command.run([], script: "systemd-analyze calendar '*-*-* 03:15:00'")
    #expect(calendar.exitCode == 0, "\(calendar.talk)")
  }

  @Test("A line for crontab that a shell understands")
  func cron() throws {
    _ = job("it's 100%.yaml")
    let outcome = try run(["a b.db", "it's 100%.yaml", "--cron"])
    #expect(outcome.exitCode == 0 && outcome.talk.isEmpty, "\(outcome.talk)")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    let line = try #require(lines.last)
    #expect(lines.dropLast().allSatisfy { $0.hasPrefix("#") })
    #expect(
      line.hasPrefix("15 3 * * * cd ") && line.hasSuffix(" -q") && line.contains("100\\%.yaml"), "\(line)")
    // The words that a shell makes of it, where the program is one that shows them.
    let command = line.dropFirst("15 3 * * * ".count).replacing("\\%", with: "%")
    let words = try #require(command.firstRange(of: " mirror ")).lowerBound
    let shown = try Command.run(
      [], script: "\(command[..<words]) --version >/dev/null && printf '%s\\n' \(command[words...])")
    #expect(
      shown.output == "mirror\n\(folder)/a b.db\n\(folder)/it's 100%.yaml\n-q\n",
      "\(shown.output) \(shown.talk)")
  }

  @Test(
    "A server stays the URL that it is",
    arguments: ["postgres://anna@db/shop", "postgresql://anna@db/a%20b?sslmode=require&a=$b"])
  func server(url: String) throws {
    _ = job()
    let units = try run([url, "job.yaml", "--systemd"])
    #expect(units.exitCode == 0 && units.talk.isEmpty, "\(units.talk)")
    let start = try #require(units.output.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
    let plain = start.replacing("%%", with: "%").replacing("$$", with: "$").replacing("\"", with: "")
    #expect(plain.hasSuffix(" mirror \(url) \(folder)/job.yaml"), "\(start)")
    #expect(
      start.matches(of: /%/).count == 2 * url.count { $0 == "%" } && !start.contains(/[^$]\$[^$]/), "\(start)"
    )
    let line = try run([url, "job.yaml", "--cron"])
    #expect(line.exitCode == 0 && line.output.contains(/[^\\]%/) == false, "\(line.output)")
    let command = try #require(line.output.split(separator: "\n").last).replacing("\\%", with: "%")
    let words = try #require(command.firstRange(of: " mirror ")).lowerBound
    let shown = try Command.run([], script: "printf '%s\\n' \(command[words...])")
    #expect(shown.output == "mirror\n\(url)\n\(folder)/job.yaml\n-q\n", "\(shown.output) \(shown.talk)")
  }

  @Test("Variables that the job needs are named, and their values are not shown")
  func variables() throws {
    let job = scratch.write(
      "tables: {t: {source: 'https://a.b/${env:HOME}?a=${env:UPSURGE_KEY}&b=${env:HOME}&c=$${env:NO}', key: id}}",
      to: "web.yaml")
    for (option, words) in [
      ("--systemd", "EnvironmentFile=-/etc/upsurge/upsurge-web.env"),
      ("--cron", "set -a && . /etc/upsurge/upsurge-web.env && set +a && /"),
    ] {
      let outcome = try Command.run(
        ["mirror", "a.db", job, option], script: "UPSURGE_KEY=hunter2 exec \"$0\" \"$@\"")
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      #expect(
        outcome.output.contains("The job needs HOME, UPSURGE_KEY: ") && outcome.output.contains(words),
        "\(outcome.output)")
      #expect(!outcome.output.contains("hunter2"))
    }
  }

  @Test(
    "What is wrong",
    arguments: [
      (["a.db", "JOB", "--systemd", "--cron"], "--systemd or --cron, not both"),
      (["a.db", "JOB", "--at", "03:15"], "--at says when"),
      (["a.db", "JOB", "--cron", "--at", "25:00"], "25:00"),
      (["a.db", "JOB", "--cron", "--at", "3:5"], "3:5"),
      (
        ["a.db", "JOB", "--cron", "--dry-run"],
        "--dry-run, --accept-change and --accept-delivery are for a run that somebody watches"
      ),
      (["a.db", "--table", "t", "--source", "x.csv", "--cron"], "run a job file"),
      (["a.db", "BAD", "--systemd"], "kye is not known"),
    ] as [([String], String)])
  func wrong(words: [String], message: String) throws {
    let names = ["JOB": job(), "BAD": scratch.write("tables: {t: {source: a, kye: b}}", to: "bad.yaml")]
    let outcome = try Command.run(["mirror"] + words.map { names[$0] ?? $0 })
    #expect(outcome.exitCode == 64 && outcome.talk.contains(message), "\(outcome.talk)")
    #expect(outcome.output.isEmpty)
  }
}
