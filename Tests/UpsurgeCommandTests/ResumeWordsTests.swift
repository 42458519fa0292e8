import Foundation
import TestSupport
import Testing
import Upsurge

/// What a person is told of a run that ended early, and whether it is so: each way out that is named is gone.
@Suite("Words for going on")
struct ResumeWordsTests {
  let scratch = Scratch()
  private var path: String { scratch.file("a.db") }

  /// Ten records, of which the eighth is ragged, in steps of two.
  private func input(_ name: String = "a.csv", bad: Int? = 8) -> String {
    let rows = (1...10).map { (id: Int) in id == bad ? "\(id),x,y" : "\(id),x\(id)" }
    return scratch.write("id,b\n" + rows.joined(separator: "\n") + "\n", to: name)
  }

  private func arguments(_ source: String, _ options: [String] = []) -> [String] {
    ["load", path, "t", source, "--commit-every", "2"] + options
  }

  private func load(_ source: String, _ options: [String] = []) throws -> Command.Outcome {
    try Command.run(arguments(source, options))
  }

  private func ids() throws -> [String] { try Database(path).rows("SELECT id FROM t ORDER BY rowid") }

  /// Runs a line of the talk as a shell does.
  private func shell(_ line: Substring) throws -> Command.Outcome {
    try Command.run([], script: String(line))
  }

  private func line(of talk: String, with part: String) throws -> Substring {
    try #require(talk.split(separator: "\n").last { $0.contains(part) }, "\(talk)")
  }

  // MARK: - The line that goes on

  @Test("A load that a bad record has stopped prints the line that goes on past it")
  func stopped() throws {
    let source = input("it's $HOME.csv")
    let outcome = try load(source)
    #expect(outcome.exitCode == 3, "\(outcome.talk)")
    for part in [
      "fix: the same command with --on-error reject --rejects table (or FILE) keeps such records and goes on; with other options it is "
        + "another job, from the first record: --ragged extra",
      "  the same command with --on-error reject --rejects FILE goes on from there:\n    ",
    ] {
      #expect(outcome.talk.contains(part), "\(outcome.talk)")
    }
    let listed = try Command.run(["runs", path]).output
    #expect(listed.contains("stopped part way; the same command goes on ·"), "\(listed)")
    #expect(
      listed.contains("if a bad record has stopped it, add --on-error reject --rejects FILE"), "\(listed)")
    // The very line that is listed stops where it stopped.
    let again = try shell(line(of: listed, with: "cd "))
    #expect(again.exitCode == 3 && again.talk.contains("6 of them were committed before"), "\(again.talk)")
    let done = try shell(line(of: outcome.talk, with: "    "))
    #expect(done.exitCode == 2 && done.talk.contains("6 of them were committed before"), "\(done.talk)")
    #expect(try ids() == ["1", "2", "3", "4", "5", "6", "7", "9", "10"])
    #expect(try Database(path).rows("SELECT count(*) FROM upsurge_rejects") == ["1"])
  }

  @Test(
    "With --resume never the line is the one without it",
    arguments: [["--resume", "never"], ["--resume=never"]])
  func never(options: [String]) throws {
    let outcome = try load(input(), options)
    #expect(
      outcome.talk.contains("the same command without --resume never with --on-error reject"),
      "\(outcome.talk)")
    #expect(try shell(line(of: outcome.talk, with: "    ")).exitCode == 2)
    #expect(try ids().count == 9)
  }

  @Test("A signal: the line goes on, and the summary holds it")
  func signal() throws {
    let source = scratch.write(
      "id,b\n" + (1...400_000).map { "\($0),some text of record \($0)\n" }.joined(), to: "a.csv")
    let summary = scratch.file("summary.json")
    let child = try Command.start(arguments(source, ["--summary", summary]))
    for _ in 0..<3_000 {
      if (try? Database(path).rows("SELECT 1 FROM upsurge_runs")) == ["1"] { break }
      usleep(2_000)
    }
    child.send(signal: SIGINT)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 130, "\(outcome.talk)")
    #expect(outcome.talk.contains("  the same command goes on from there:\n    "), "\(outcome.talk)")
    let json = try JSONSerialization.jsonObject(with: Data(try readFile(summary))) as? [String: Any]
    let command = try #require(json?["resume_command"] as? String)
    #expect(outcome.talk.contains("    \(command)\n"), "\(outcome.talk)")
    let done = try shell(Substring(command.replacing("--commit-every 2", with: "--commit-every 100000")))
    #expect(done.exitCode == 0, "\(done.talk)")
    #expect(try Database(path).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["400000|400000"])
  }

  @Test(
    "Too many rejects: a larger limit goes on, and the message counts what is rolled back",
    arguments: ["1", "10%"])
  func tooMany(limit: String) throws {
    let rows = (1...10).map { $0 % 3 == 0 ? "\($0)" : "\($0),x" }
    let source = scratch.write("id,b\n" + rows.joined(separator: "\n") + "\n", to: "a.csv")
    let outcome = try load(source, ["--on-error", "reject", "--max-rejects", limit])
    #expect(outcome.exitCode == 3, "\(outcome.talk)")
    #expect(
      outcome.talk.contains(
        limit == "1"
          ? "more than 1 record was rejected (2 ragged); the last: "
          : "3 of 10 records were rejected (3 ragged), more than the 10% of --max-rejects\n"),
      "\(outcome.talk)")
    let rest = limit == "1" ? " and without --max-rejects" : ""
    #expect(
      outcome.talk.contains(
        "fix: raise --max-rejects to allow more; --dry-run with --rejects FILE\(rest) shows them all\n"
      ),
      "\(outcome.talk)")
    #expect(outcome.talk.contains("; what was rolled back is neither counted nor kept\n"), "\(outcome.talk)")
    #expect(
      outcome.talk.hasSuffix("  the same command with a larger --max-rejects goes on from there\n"),
      "\(outcome.talk)")
    let dry = try load(
      source,
      ["--on-error", "reject", "--dry-run", "--rejects", scratch.file("r.nd")]
        + (limit == "1" ? [] : ["--max-rejects", limit]))
    #expect(dry.talk.contains("rejected 3") || dry.talk.contains("(3 ragged)"), "\(dry.talk)")
    let kept = String(decoding: try readFile(scratch.file("r.nd")), as: UTF8.self)
    #expect(kept.split(separator: "\n").filter { $0.contains("\"code\":\"ragged\"") }.count == 3, "\(kept)")
    let done = try load(source, ["--on-error", "reject", "--max-rejects", limit == "1" ? "9" : "90%"])
    #expect(done.exitCode == 2, "\(done.talk)")
    #expect(try ids().count == 7)
  }

  // MARK: - What stands

  @Test(
    "A run that fails before it could go on tells the ledger of the earlier part",
    arguments: ["gone", "damaged"])
  func early(fault: String) throws {
    var source = input()
    if fault == "damaged" {
      source = scratch.write(Compressing.gzip(try readFile(source)), to: "a.csv.gz")
    }
    #expect(try load(source).exitCode == 3)
    let bytes = try readFile(source)
    try FileManager.default.removeItem(atPath: source)
    if fault == "damaged" {
      var damaged = bytes
      damaged[damaged.count / 2] ^= 0xFF
      _ = scratch.write(damaged, to: "a.csv.gz")
    }
    let outcome = try load(source, ["--on-error", "reject"])
    #expect(!outcome.talk.contains("nothing of this run"), "\(outcome.talk)")
    #expect(outcome.talk.contains("6 records read"), "\(outcome.talk)")
    #expect(outcome.talk.contains("all of them were committed before\n  inserted 6"), "\(outcome.talk)")
    if fault == "gone" {
      #expect(outcome.exitCode == 3, "\(outcome.talk)")
      #expect(
        outcome.talk.contains("stopped: 6 records are committed, the last one at \(source)"),
        "\(outcome.talk)")
      #expect(
        outcome.talk.contains("  once that is fixed, the same command goes on from there:\n"),
        "\(outcome.talk)")
    }
    _ = scratch.write(bytes, to: source.hasSuffix("gz") ? "a.csv.gz" : "a.csv")
    #expect(try load(source, ["--on-error", "reject"]).exitCode == 2)
    #expect(try ids().count == 9)
  }

  @Test("A refusal to go on says what stands")
  func refused() throws {
    let source = input()
    #expect(try load(source).exitCode == 3)
    for options in [["--rename", "b=c"], ["--merge", "coalesce", "--key", "id"], ["--key", "nope"]] {
      let outcome = try load(source, options)
      #expect([4, 64].contains(outcome.exitCode), "\(outcome.talk)")
      #expect(
        outcome.talk.contains(
          "refused: 6 records are in the database from an earlier run of this job, the last one at"),
        "\(outcome.talk)")
      #expect(!outcome.talk.contains("nothing of this run"), "\(outcome.talk)")
      #expect(!outcome.talk.contains("the same command"), "\(outcome.talk)")
      if outcome.exitCode == 4 && options[0] == "--merge" {
        #expect(outcome.talk.contains("as they were ( cd "), "\(outcome.talk)")
        #expect(outcome.talk.contains("the key and merge rules have changed"), "\(outcome.talk)")
      }
    }
    #expect(try ids().count == 6)
  }

  @Test("Behind a pipe nothing goes on, and nobody says so")
  func pipe() throws {
    let first = input("first.csv", bad: nil)
    let bytes = try readFile(input("second.csv"))
    let stopped = try Command.run(arguments(first, ["-"]), input: bytes)
    #expect(stopped.exitCode == 3, "\(stopped.talk)")
    #expect(!stopped.talk.contains("goes on from there"), "\(stopped.talk)")
    #expect(stopped.talk.contains("running it again would store these 16 records twice"), "\(stopped.talk)")
    let listed = try Command.run(["runs", path]).output
    #expect(
      listed.contains("stopped part way, and cannot go on, as a pipe cannot be read again"), "\(listed)")
    #expect(listed.contains("then `upsurge runs \(path) --forget 1`, and load from a file"), "\(listed)")
    #expect(try Command.run(["runs", path, "--json"]).output.contains(#""resumable":false"#))
    let refused = try Command.run(arguments(first, ["-"]), input: bytes)
    #expect(refused.exitCode == 4, "\(refused.talk)")
    #expect(refused.talk.contains("fix: a pipe cannot be read again: delete the rows"), "\(refused.talk)")
    #expect(refused.talk.contains("upsurge runs \(path) --forget 1"), "\(refused.talk)")
  }

  @Test("A pipe names both ways to make the run one that can be started again")
  func pipeNote() throws {
    let outcome = try Command.run(["load", path, "t", "-"], input: Array("a\n1\n".utf8))
    #expect(
      outcome.talk.contains("store it in a file first, or use --atomic, which stores all or nothing"),
      "\(outcome.talk)")
  }

  @Test(
    "A run whose record was taken away does not claim to go on",
    arguments: ["DELETE FROM upsurge_runs", "DROP TABLE upsurge_runs"])
  func forgotten(sql: String) throws {
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let source = scratch.write("id,b\n" + (1...50_000).map { "\($0),x\n" }.joined(), to: "a.csv")
    let child = try Command.start(
      ["load", path, "t", source, pipe, "--commit-every", "1000", "--no-header", "--names", "id,b"])
    let writer = open(pipe, O_WRONLY | O_CLOEXEC)
    defer { close(writer) }
    // Everything is committed, and the load waits for the pipe; it has the lock now and then before that.
    for _ in 0..<3_000 {
      if (try? Database(path).rows("SELECT count(*) FROM t")) == ["50000"] { break }
      usleep(2_000)
    }
    for _ in 0..<3_000 {
      if (try? Database(path).rows(sql)) != nil { break }
      usleep(2_000)
    }
    child.send(signal: SIGTERM)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 143, "\(outcome.talk)")
    #expect(!outcome.talk.contains("goes on from there"), "\(outcome.talk)")
  }

  // MARK: - The table of runs

  @Test(
    "A record that nobody can read is named, with the command that forgets it", arguments: ["x", "{}", ""])
  func unreadable(text: String) throws {
    let source = input()
    #expect(try load(source).exitCode == 3)
    try Database(path).rows("UPDATE upsurge_runs SET position = '\(text)'")
    for arguments in [arguments(source), arguments(source, ["--resume", "never"]), ["runs", path]] {
      let outcome = try Command.run(arguments)
      #expect(outcome.exitCode == 1, "\(outcome.talk)")
      #expect(
        outcome.talk.contains("run 1 in the table upsurge_runs of \(path) is not what a run has written"),
        "\(outcome.talk)")
      #expect(outcome.talk.contains("`upsurge runs \(path) --forget 1` forgets that run"), "\(outcome.talk)")
    }
    #expect(try Command.run(["runs", path, "--forget", "1"]).exitCode == 0)
    #expect(try Command.run(["runs", path]).output.contains("no run is listed"))
    #expect(try Database(path).rows("SELECT count(*) FROM t") == ["6"])
  }

  @Test("A record without a command line, as a program or an older version writes it, is listed")
  func withoutCommand() throws {
    #expect(try load(input()).exitCode == 3)
    try Database(path).rows("UPDATE upsurge_runs SET job = json_remove(job, '$.command', '$.folder')")
    let listed = try Command.run(["runs", path])
    #expect(listed.exitCode == 0 && !listed.output.contains("cd "), "\(listed.output)")
    #expect(try load(input(), ["--on-error", "reject"]).exitCode == 2)
  }

  @Test(
    "Records do not go into the tables that the engine keeps",
    arguments: [
      "upsurge_runs", "Upsurge_Rejects", "upsurge_reject_contexts", "upsurge_replays", "upsurge_quarantine",
    ])
  func ownTables(table: String) throws {
    let outcome = try Command.run(["load", path, table, input()])
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    #expect(outcome.talk.contains("\(table) is a table of Upsurge's own"), "\(outcome.talk)")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  // MARK: - Warnings

  @Test("A complete run that nobody saw tells all its warnings", arguments: [false, true])
  func warnings(keepsHistory: Bool) throws {
    let source = scratch.write("id,b\n1,x\n\n2,x\n\n\n3,x\n", to: "a.csv")
    var options = LoadOptions()
    options.transaction.keepsHistory = keepsHistory
    let job = LoadJob(database: path, table: "t", sources: [source], options: options)
    let first = job.run(report: { _ in false })
    #expect(first.warnings.entries.map(\.count) == [3])
    #expect(job.run().warnings == first.warnings)
  }

  @Test("Text that a STRICT table refuses is not said to be stored", arguments: ["csv", "ndjson"])
  func strict(format: String) throws {
    for (strict, isSaid) in [("", true), ("STRICT", false)] {
      let path = scratch.file("strict\(strict).db")
      try Database(path).rows("CREATE TABLE t(id INT PRIMARY KEY, n INT) \(strict)")
      let text = format == "csv" ? "id,n\n1,1\n2,x\n" : "{\"id\":1,\"n\":1}\n{\"id\":2,\"n\":\"x\"}\n"
      let outcome = try Command.run(
        ["load", path, "t", "-", "--format", format, "--on-error", "reject"], input: Array(text.utf8))
      #expect(outcome.exitCode == (isSaid ? 0 : 2), "\(outcome.talk)")
      #expect(outcome.talk.contains("1 text stored in a column of numbers") == isSaid, "\(outcome.talk)")
    }
  }

  // MARK: - Trials

  @Test("A dry run says what the load itself would do after a run that ended early")
  func dryRun() throws {
    let source = input()
    #expect(try load(source).exitCode == 3)
    let words = "warning: a dry run tries the whole input; the load itself "
    let dry = try load(source, ["--dry-run", "--on-error", "reject"])
    #expect(dry.talk.contains(words + "resumes after the 6 records that an earlier run"), "\(dry.talk)")
    let changed = try load(source, ["--dry-run", "--on-error", "reject", "--rename", "b=c", "--alter"])
    #expect(
      changed.talk.contains(
        words + "finds an earlier run that has committed 6 records, and cannot resume there: "),
      "\(changed.talk)")
    #expect(try ids().count == 6)
  }

  @Test(
    "What needs a record of the run is refused where none is kept",
    arguments: [["--dry-run"], ["--durability", "off"]], [["--resume", "require"], ["--history"]])
  func noRecord(trial: [String], options: [String]) throws {
    let outcome = try load(input(bad: nil), trial + options)
    #expect(outcome.exitCode == 64, "\(outcome.talk)")
    #expect(
      outcome.talk.contains("\(options[0])") && outcome.talk.contains("and \(trial[0])"), "\(outcome.talk)")
  }

  @Test(
    "All or nothing, interrupted: everything is rolled back, and that is what is said",
    arguments: ["--atomic", "--dry-run"])
  func rollingBack(option: String) throws {
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let child = try Command.start(["load", path, "t", pipe, option])
    let writer = open(pipe, O_RDWR | O_CLOEXEC)
    defer { close(writer) }
    _ = "id,b\n1,x\n".withCString { write(writer, $0, strlen($0)) }
    child.waitForHandlers()
    child.send(signal: SIGINT)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 130, "\(outcome.talk)")
    #expect(
      outcome.talk.contains("SIGINT: rolling everything back; a second one ends at once"), "\(outcome.talk)")
  }

  @Test("Replay reads no standard input, and its help offers no --durability off")
  func replay() throws {
    let outcome = try Command.run(["replay", path, "-"])
    #expect(outcome.exitCode == 64 && outcome.talk.contains("give its path, not -"), "\(outcome.talk)")
    let help = try Command.run(["replay", "--help"]).output
    #expect(help.contains("(values: full,") && !help.contains("off"), "\(help)")
  }
}
