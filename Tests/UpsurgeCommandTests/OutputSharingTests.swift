import Foundation
import TestSupport
import Testing
import Upsurge

/// One file of rejects or changes between several processes, and between the parts of a run that was interrupted.
@Suite("Shared outputs")
struct OutputSharingTests {
  let scratch = Scratch()
  private var database: String { scratch.file("a.db") }

  private func text(_ path: String) throws -> String { String(decoding: try readFile(path), as: UTF8.self) }

  @Test("A pipe in the place of the earlier part's file has no reader but its own")
  func pipeInPlace() throws {
    let (rejects, pipe) = (scratch.file("bad.ndjson"), scratch.file("pipe"))
    let source = scratch.write(
      "id,b\n" + (1...100).map { $0 % 4 == 0 ? "\($0)\n" : "\($0),x\n" }.joined(), to: "a.csv")
    let arguments = [
      "load", database, "t", source, "--on-error", "reject", "--commit-every", "10", "--rejects",
    ]
    #expect(try Command.run(arguments + [rejects, "--max-rejects", "10"]).exitCode == 3)
    #expect(mkfifo(pipe, 0o600) == 0)
    let refused = try Command.run(arguments + [pipe], script: #"timeout 20 "$0" "$@""#)
    #expect(
      refused.exitCode == 3 && refused.talk.contains("it is a pipe that nobody reads"), "\(refused.talk)")
  }

  // MARK: - At the same time

  @Test("A file that a load writes is neither replayed nor written by another load; both name the process")
  func locked() throws {
    let (rejects, changes) = (scratch.file("bad.ndjson"), scratch.file("changes.ndjson"))
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let arguments = [
      "load", database, "t", pipe, "--on-error", "reject", "--rejects", rejects, "--changes", changes,
      "--commit-every", "1000",
    ]
    try Database(database).rows("CREATE TABLE t(id, b); CREATE TABLE t2(id, b); PRAGMA journal_mode=WAL")
    let child = try Command.start(arguments)
    let writer = open(pipe, O_WRONLY | O_CLOEXEC)
    let rows = (1...60_000).map { $0 % 100 == 0 ? "\($0)" : "\($0),\(String(repeating: "x", count: 60))" }
    let text = "id,b\n" + rows.joined(separator: "\n") + "\n"
    _ = text.withCString { write(writer, $0, strlen($0)) }
    for _ in 0..<4_000 where try Database(database).rows("SELECT 1 FROM t LIMIT 1").isEmpty { usleep(5_000) }
    let held = (try readFile(rejects), try readFile(changes))
    #expect(!held.0.isEmpty)
    let other = scratch.write("id,b\n1,x\n2\n", to: "other.csv")
    for (words, file) in [
      (["replay", database, rejects], rejects),
      (["load", database, "t2", other, "--on-error", "reject", "--rejects", rejects], rejects),
      (["load", database, "t2", other, "--on-error", "reject", "--changes", changes], changes),
      (["load", database, "t2", other, "--on-error", "reject", "--summary", rejects], rejects),
    ] {
      let refused = try Command.run(words)
      #expect(refused.exitCode == 75, "\(words) \(refused.talk)")
      #expect(refused.talk.contains("\(file)"), "\(refused.talk)")
      #expect(
        refused.talk.contains("is being written or replayed by process \(child.processID)"), "\(refused.talk)"
      )
    }
    // A second start of the same job finds the run or the file, whichever comes first.
    let second = try Command.run(arguments, script: #"timeout 20 "$0" "$@" < /dev/null"#)
    #expect([4, 75].contains(second.exitCode), "\(second.talk)")
    #expect(try readFile(rejects).starts(with: held.0) && readFile(changes).starts(with: held.1))
    close(writer)
    let done = try child.finish()
    #expect(done.exitCode == 2, "\(done.talk)")
    #expect(try readFile(rejects).split(separator: 0x0A).count == 601)
    #expect(try readFile(changes).split(separator: 0x0A).count == 59_400)
    #expect(try Database(database).rows("SELECT count(*) FROM t2") == ["0"])
    // The lock went with the process.
    #expect(try Command.run(["replay", database, rejects]).exitCode == 2)
  }

  // MARK: - Between the parts of a run

  private static let refusing = """
    CREATE TRIGGER refusing BEFORE INSERT ON t WHEN new.b = 'bad' BEGIN SELECT RAISE(ABORT, 'bad'); END
    """

  /// What is done to the file of rejects between the two parts of a run.
  enum Act: String, CaseIterable {
    case nothing, replayed, mendedAndReplayed, deleted, emptied, moved, copied, lastLineEndLost
  }

  @Test(
    "A run goes on whatever became of its file of rejects: no reject lost, no row twice",
    arguments: Act.allCases)
  func between(act: Act) throws {
    // Records 3, 6, ... 30 are refused; the sixth of them ends the first part, whose last commit is behind record 16.
    let rows = (1...30).map { "\($0),\($0 % 3 == 0 ? "bad" : "x\($0)")" }
    let source = scratch.write("id,b\n" + rows.joined(separator: "\n") + "\n", to: "a.csv")
    let rejects = scratch.file("bad.ndjson")
    var options = LoadOptions()
    options.transaction.commitEvery = 4
    options.rejects.onError = .reject
    options.rejects.path = rejects
    let start = { (limit: UInt64, path: String) in
      options.rejects.limit = .count(limit)
      options.rejects.path = path
      let job = LoadJob(database: database, table: "t", sources: [source], options: options)
      let notes = RunNotes()
      return (job.run(note: { notes.add($0.text) }), notes.all)
    }
    try Database(database).rows("CREATE TABLE t(id INTEGER, b TEXT); " + Self.refusing)
    let whole = start(20, scratch.file("whole.ndjson"))
    #expect(whole.0.exitCode == 2)
    let lines = try text(scratch.file("whole.ndjson")).split(separator: "\n").map { $0 + "\n" }
    try Database(database).rows("DELETE FROM t")

    let stopped = start(5, rejects)
    #expect(stopped.0.exitCode == 3 && stopped.0.progress.committedCount == 16, "\(stopped)")
    #expect(try text(rejects) == lines[...5].joined())
    // What a killed run had written behind its last commit.
    let torn = lines[6...7].joined() + lines[8].prefix(20)
    _ = scratch.write(lines[...5].joined() + torn, to: "bad.ndjson")
    let isMended = [.mendedAndReplayed, .moved, .copied].contains(act)
    let replayed = { (path: String) in
      if isMended {
        let mended = try text(path).replacing(",bad\"", with: ",mended\"")
        _ = FileManager.default.createFile(atPath: path, contents: Data(mended.utf8))
      }
      let summary = ReplayJob(database: database, file: path).run()
      #expect(summary.exitCode == 2 && summary.ledger.inserted == (isMended ? 5 : 0), "\(summary)")
      let untried = summary.tables[0].untried.first { $0.code.rawValue == "unfinished" }
      #expect(untried?.count == 2 && untried?.reason.contains("--forget 1") == true, "\(summary)")
    }
    let moved = scratch.file("moved.ndjson")
    var path = rejects
    switch act {
    case .nothing: break
    case .replayed, .mendedAndReplayed: try replayed(rejects)
    case .deleted: unlink(rejects)
    case .emptied: truncate(rejects, 0)
    case .moved:
      rename(rejects, moved)
      try replayed(moved)
      path = scratch.file("another.ndjson")
    case .copied:
      try FileManager.default.copyItem(atPath: rejects, toPath: moved)
      try replayed(moved)
      unlink(rejects)
    case .lastLineEndLost:
      _ = scratch.write(String(lines[...5].joined().dropLast()), to: "bad.ndjson")
    }
    let (last, notes) = start(20, path)
    #expect(
      last.exitCode == 2 && last.progress.resumedCount == 16 && last.ledger == whole.0.ledger, "\(last)")
    #expect(
      notes.contains { $0.contains("of --rejects is") } == ![.nothing, .replayed, .moved].contains(act),
      "\(notes)")
    let kept = try text(path)
    switch act {
    case .nothing, .replayed, .lastLineEndLost: #expect(kept == lines.joined())
    default: #expect(kept == lines[0] + lines[6...].joined())
    }
    // Everything is in the table or among the rejects, once.
    try Database(database).rows("DROP TRIGGER refusing")
    let end = ReplayJob(database: database, file: path).run()
    #expect(end.exitCode == 0, "\(end)")
    let lost = act == .deleted || act == .emptied ? 5 : 0
    #expect(
      try Database(database).rows("SELECT count(*), count(DISTINCT id) FROM t") == [
        "\(30 - lost)|\(30 - lost)"
      ])
  }

  @Test("A run does not go on in a file that is no longer a file of rejected records, and says what helps")
  func foreign() throws {
    let source = scratch.write("id,b\n1,x\n2,y\n3\n4,z\n5\n", to: "a.csv")
    let rejects = scratch.file("bad.ndjson")
    let arguments = [
      "load", database, "t", source, "--on-error", "reject", "--rejects", rejects, "--commit-every", "1",
    ]
    #expect(try Command.run(arguments + ["--max-rejects", "1"]).exitCode == 3)
    _ = scratch.write("precious\n", to: "bad.ndjson")
    let refused = try Command.run(arguments)
    #expect(refused.talk.contains("is no longer a file of rejected records") && refused.talk.contains("move it away"))
    #expect(try text(rejects) == "precious\n")
    unlink(rejects)
    #expect(try Command.run(arguments).exitCode == 2)
    #expect(try Database(database).rows("SELECT count(*) FROM t") == ["3"])
  }

  @Test("The file whose replay was cut short is not written by a load")
  func cutShort() throws {
    let source = scratch.write("id,b\n" + (1...4_000).map { "\($0),bad\n" }.joined(), to: "a.csv")
    let rejects = scratch.file("bad.ndjson")
    try Database(database).rows("CREATE TABLE t(id INTEGER, b TEXT); " + Self.refusing)
    let arguments = ["load", database, "t", source, "--on-error", "reject", "--rejects", rejects]
    #expect(try Command.run(arguments).exitCode == 2)
    try Database(database).rows(
      """
      DROP TRIGGER refusing;
      CREATE TRIGGER refusing BEFORE INSERT ON t WHEN new.id % 2 AND new.id < 5 BEGIN SELECT RAISE(ABORT, 'odd'); END
      """)
    // A page of one record each; ended as soon as some are stored.
    var options = ReplayOptions()
    options.commitEvery = 1
    let control = RunControl()
    let path = database
    let thread = Thread {
      while (try? Database(path).rows("SELECT done_bytes FROM upsurge_replays").isEmpty) != false {
        usleep(100)
      }
      while (try? Database(path).rows("SELECT 1 FROM t WHERE id = 10").isEmpty) != false { usleep(100) }
      control.cancel()
    }
    thread.start()
    let first = ReplayJob(database: database, file: rejects, options: options).run(control: control)
    #expect(first.exitCode == 130 && first.ledger.rejected == 2, "\(first)")
    let before = try readFile(rejects)
    let refused = try Command.run(arguments)
    #expect(
      refused.exitCode == 4 && refused.talk.contains("upsurge replay \(database) \(rejects)"),
      "\(refused.talk)")
    #expect(try readFile(rejects) == before)
    // Nor does the replay into another database take away what this one has kept.
    let kept = try readFile(rejects + ".replay")
    try Database(scratch.file("b.db")).rows("CREATE TABLE other(x)")
    let stranger = try Command.run(["replay", scratch.file("b.db"), rejects])
    #expect(
      stranger.exitCode == 73 && stranger.talk.contains("no replay of this database"), "\(stranger.talk)")
    #expect(try readFile(rejects + ".replay") == kept)
    // The one that goes on tells of what the first has stored and rejected, as one that nobody disturbed would.
    let second = try Command.run(["replay", database, rejects, "--summary", "-"])
    #expect(
      second.exitCode == 2 && second.output.contains("\"rejects_by_reason\":{\"trigger\":2}"), "\(second)")
    #expect(
      second.talk.contains("inserted 3,998 · rejected 2")
        && second.talk.contains("of them by an earlier replay that ended early"), "\(second.talk)")
    #expect(try Database(database).rows("SELECT count(*), count(DISTINCT id) FROM t") == ["3998|3998"])
    #expect(try readFile(rejects).split(separator: 0x0A).count == 3)
  }

  @Test("A file of rejects that is gone is made again, whatever replay of it was cut short")
  func gone() throws {
    let rejects = scratch.file("bad.ndjson")
    let source = scratch.write("id,b\n1,x\n", to: "a.csv")
    // As the system spells the path.
    let place = URL(fileURLWithPath: scratch.write("", to: "bad.ndjson")).resolvingSymlinksInPath().path
    try Database(database).rows(
      """
      CREATE TABLE t(id INTEGER, b TEXT);
      CREATE TABLE upsurge_replays(path, done_bytes, done_hash, kept_bytes, kept_hash, whole, updated_at);
      INSERT INTO upsurge_replays VALUES ('\(place)', 5, 5, 5, 5, 0, '');
      """)
    let arguments = ["load", database, "t", source, "--rejects", rejects]
    let refused = try Command.run(arguments)
    #expect(refused.exitCode == 4, "\(refused.talk)")
    unlink(rejects)
    let outcome = try Command.run(arguments)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
  }

  // MARK: - Files that are no outputs

  @Test("A file that stands where the rest of a replay goes is left alone")
  func inTheWay() throws {
    let source = scratch.write("id,b\n1,x\n2\n", to: "a.csv")
    let rejects = scratch.file("bad.ndjson")
    #expect(
      try Command.run(["load", database, "t", source, "--on-error", "reject", "--rejects", rejects]).exitCode
        == 2)
    let victim = scratch.write("precious", to: "victim")
    #expect(Foundation.link(victim, rejects + ".replay") == 0)
    let before = try readFile(rejects)
    let outcome = try Command.run(["replay", database, rejects])
    #expect(outcome.exitCode == 73 && outcome.talk.contains("is in the way"), "\(outcome.talk)")
    #expect(try text(victim) == "precious" && readFile(rejects) == before)
    // Nor when the file is none of rejects.
    let other = try Command.run(["replay", database, source])
    #expect(other.exitCode == 65, "\(other.talk)")
    _ = scratch.write("precious", to: "a.csv.replay")
    #expect(try Command.run(["replay", database, source]).exitCode != 0)
    #expect(try text(source + ".replay") == "precious")
    unlink(rejects + ".replay")
    let summary = try Command.run(["replay", database, rejects, "--summary", rejects + ".replay"])
    #expect(summary.exitCode == 64 && summary.talk.contains("would overwrite"), "\(summary.talk)")
    #expect(try Command.run(["replay", database, rejects]).exitCode == 2)
    #expect(
      try !FileManager.default.contentsOfDirectory(atPath: scratch.path).contains { $0.contains(".replay-") })
  }

  @Test(
    "A file on standard input is an input", arguments: ["--summary", "--rejects", "--changes", "--emit-sql"])
  func standardInput(option: String) throws {
    let source = scratch.write("a,b\n1,2\n", to: "in.csv")
    let outcome = try Command.run(
      [database, source, option], script: #"exec "$0" load "$1" t - "$3" "$2" < "$2""#)
    #expect(
      outcome.exitCode == 64 && outcome.talk.contains("would overwrite the input standard input"),
      "\(outcome.talk)")
    #expect(try text(source) == "a,b\n1,2\n")
  }

  @Test("Standard output takes one kind of data, by whatever name, and must be open")
  func standardOutput() throws {
    let source = scratch.write("a,b\n1,2\n3\n", to: "in.csv")
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
      let both = try Command.run(
        [database, source, name],
        script: #""$0" load "$1" t "$2" --on-error reject --rejects "$3" --summary - | cat; exit 0"#)
      #expect(both.output.isEmpty && both.talk.contains("would both write to standard output"), "\(both)")
    }
    for words in [["--rejects", "/dev/stdout"], ["--changes", "-"], ["--changes", "/dev/stdout"]] {
      let closed = try Command.run(
        [database, source] + words, script: #"exec "$0" load "$1" t "$2" --on-error reject "$3" "$4" >&-"#)
      #expect(closed.exitCode == 73 && closed.talk.contains("it is closed"), "\(closed.talk)")
      #expect(!FileManager.default.fileExists(atPath: database))
    }
    let full = try Command.run(
      [database, source], script: #"exec "$0" load "$1" t "$2" --on-error reject --changes - > /dev/full"#)
    #expect(full.exitCode == 3 && full.talk.contains("which is committed, is lost"), "\(full.talk)")
  }
}
