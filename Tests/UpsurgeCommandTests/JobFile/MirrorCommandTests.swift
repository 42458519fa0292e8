import TestSupport
import Testing
import Upsurge
import UpsurgeMirror

@testable import UpsurgeCommand

/// `upsurge mirror` as people meet it.
@Suite("Mirror command")
struct MirrorCommandTests {
  let scratch = Scratch()

  @Test("init writes a job that --check-job reads, and a database that is not there stays so")
  func initThenCheck() throws {
    let feed = scratch.write("id,name\n1,Ann\n", to: "feed.csv")
    let database = scratch.file("a.db")
    let draft = try Command.run(["mirror", "init", database, feed, "--key", "id"])
    #expect(draft.exitCode == 0 && draft.talk.isEmpty, "\(draft.talk)")
    let job = scratch.write(draft.output, to: "job.yaml")
    let check = try Command.run(["mirror", database, job, "--check-job"])
    #expect(check.exitCode == 0 && check.output.contains("table feed\n  source   \(feed)\n"), "\(check.talk)")
    let one = try Command.run(["mirror", database, job, "--table", "FEED", "--check-job"])
    #expect(one.output == check.output)
    #expect(try readFileIfThere(database) == nil)
  }

  private func readFileIfThere(_ path: String) throws -> [UInt8]? { try? readFile(path) }

  @Test("--schema is JSON on standard output")
  func schema() throws {
    let outcome = try Command.run(["mirror", "--schema"])
    #expect(outcome.exitCode == 0 && outcome.output == JobSchema.text)
  }

  @Test("Flags alone make the job of one table")
  func flags() throws {
    let words = [
      "a.db", "--table", "members", "--source", "a.csv", "--source", "b.csv", "--key", "id", "--sweep",
      "soft:gone", "--scope",
      "a = 1", "--max-delete", "7", "--min-rows", "3", "--min-ratio", "0", "--allow-empty", "--expect-count",
      "9",
      "--suspicious", "500", "--suspicious", "2000", "--line-end", "any", "--trailer", "END",
      "--folder-order", "time",
      "--folder-done", "move:done", "--merge", "newer:ts",
      "--atomic",
      "bounded",
    ]
    let job = try MirrorCommand.parse(words).readJob(words: words).job
    let text = """
      atomic: bounded
      tables:
        members:
          source: [a.csv, b.csv]
          key: id
          sweep: {soft: gone}
          scope: a = 1
          guards:
            {max-delete: 7, min-rows: 3, min-ratio: 0, allow-empty: true, expect-count: 9, suspicious: [500, 2000],
            line-end: any, trailer: END}
          folder: {order: time, done: {move: done}}
          merge: newer:ts
      """
    var read = try JobFileReader(file: "job.yaml").read(Array(text.utf8), database: "a.db").job
    read.file = nil
    #expect("\(job)" == "\(read)")
  }

  @Test(
    "What is wrong on the command line",
    arguments: [
      ([], "give the database: upsurge mirror DB JOB"),
      (["DB"], "give a job file, or one --table and its --source"),
      (["DB", "--table", "t"], "give a job file, or one --table and its --source"),
      (
        ["DB", "--table", "t", "--table", "u", "--source", "a"],
        "give a job file, or one --table and its --source"
      ),
      (["DB", "--table", "t", "--source", "a", "--sweep", "hard"], "--sweep: needs a key"),
      (["DB", "--table", "t", "--source", "a", "--scope", "1"], "--scope: says which rows may be swept"),
      (["DB", "--table", "t", "--source", "a", "--sweep", "hrad"], "hrad"),
      (["DB", "--table", "t", "--source", "ftp://a"], "--source ftp:// is not read"),
      (["DB", "--table", "t", "--source", "a", "--memory", "1"], "--memory 1 is too small"),
      (["DB", "JOB", "--key", "id", "--check-job"], "--key is said in the job file"),
      (
        ["DB", "JOB", "--table", "memebrs", "--check-job"],
        "--table memebrs is not in the job; did you mean members?"
      ),
      (["DB", "JOB", "--key", "a", "--key", "b"], "--key is given twice"),
      (["init", "DB"], "Missing expected argument '<SOURCE>'"),
      (["init", "DB", "-"], "give a file"),
      (["init", "DB", "exec: "], "the source exec: has no command"),
      (["DB", "BAD", "--check-job"], "tables.t: the key kye is not known"),
    ] as [([String], String)])
  func wrong(words: [String], message: String) throws {
    let job = scratch.write("tables: {members: {source: a.csv}}", to: "job.yaml")
    let bad = scratch.write("tables: {t: {source: a.csv, kye: id}}", to: "bad.yaml")
    let names = ["DB": scratch.file("a.db"), "JOB": job, "BAD": bad]
    let outcome = try Command.run(["mirror"] + words.map { names[$0] ?? $0 })
    #expect(outcome.exitCode == 64 && outcome.talk.contains(message), "\(outcome.talk)")
    #expect(outcome.output.isEmpty)
  }

  @Test(
    "--check-job refuses what a server does not do, and asks none",
    arguments: [
      ("where: id <> 1", "where does not apply to PostgreSQL"), ("atomic: bounded", "atomic: bounded makes many of it"),
    ])
  func server(key: String, message: String) throws {
    let isOfJob = key.hasPrefix("atomic")
    let text = "\(isOfJob ? "\(key)\n" : "")tables: {t: {source: a.csv, key: [id], sweep: hard\(isOfJob ? "" : ", \(key)")}}"
    let job = scratch.write(text, to: "server.yaml")
    let outcome = try Command.run(["mirror", "postgres://nobody.invalid/shop", job, "--check-job"])
    #expect(outcome.exitCode == 64 && outcome.output.isEmpty && outcome.talk.contains(message), "\(outcome.talk)")
    for more in ["", ", row-state: true", ", owned-by: crm", ", local-edits: keep", ", local-edits: repair"] {
      let plain = scratch.write("tables: {t: {source: a.csv, key: [id], sweep: hard\(more)}}", to: "plain.yaml")
      let outcome = try Command.run(["mirror", "postgres://nobody.invalid/shop", plain, "--check-job"])
      #expect(outcome.exitCode == 0, "\(more): \(outcome.talk)")
    }
  }

  @Test("--check-job refuses several connections for a delivery of one transaction, and for a file")
  func connections() throws {
    let text = "tables: {t: {source: a.csv, key: [id], connections: 4}}"
    let bounded = scratch.write("atomic: bounded\n\(text)", to: "bounded.yaml")
    let whole = scratch.write(text, to: "whole.yaml")
    let noted = scratch.write("tables: {t: {source: a.csv, key: [id], row-state: true, connections: 4}}", to: "noted.yaml")
    for (database, job, message) in [
      ("postgres://nobody.invalid/shop", whole, "connections: 4 stores a delivery by many transactions, and atomic: table makes one of it"),
      ("postgres://nobody.invalid/shop", noted, "connections: 4 stores a delivery by many transactions, and row-state needs one for all of it"),
      (scratch.file("a.db"), bounded, "connections: 4 is for a server"),
    ] {
      let outcome = try Command.run(["mirror", database, job, "--check-job"])
      #expect(outcome.exitCode == 64 && outcome.output.isEmpty && outcome.talk.contains(message), "\(outcome.talk)")
    }
    #expect(try Command.run(["mirror", "postgres://nobody.invalid/shop", bounded, "--check-job"]).exitCode == 0)
  }

  @Test("A job file that is not there")
  func missing() throws {
    let outcome = try Command.run(["mirror", "a.db", scratch.file("none.yaml"), "--check-job"])
    #expect(outcome.exitCode == 66 && outcome.talk.contains("none.yaml"), "\(outcome.talk)")
  }

  @Test("Help says what works")
  func help() throws {
    let help = try Command.run(["mirror", "--help"])
    #expect(
      help.exitCode == 0 && help.output.contains("--max-delete") && help.output.contains("--accept-change"))
    #expect(try Command.run(["mirror", "--help-all"]).output.contains("--keep-quarantine"))
    let draft = try Command.run(["mirror", "init", "--help"])
    #expect(draft.exitCode == 0 && draft.output.contains("upsurge mirror init DATABASE SOURCE"))
    #expect(try Command.run(["--help"]).output.contains("mirror"))
    #expect(!(try Command.run(["--help"]).output.contains("mirror-init")))
  }
}
