import CSQLite
import Foundation
import TestSupport
import Testing
import Upsurge

/// Signals while a run works or waits: it ends at a commit, or at once where there is nothing to commit.
@Suite("Signals", .serialized)
struct SignalTests {
  let scratch = Scratch()

  /// A named pipe that is open at both ends, so that neither side waits and the load never sees an end.
  private func pipe(_ text: String = "") -> (path: String, descriptor: Int32) {
    let path = scratch.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(max(rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }, 0))
    }
    return (path, descriptor)
  }

  /// Waits until something is so; it is, or the test that follows fails.
  private func wait(_ isSo: () -> Bool) { for _ in 0..<3_000 where !isSo() { usleep(10_000) } }

  private var walSize: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: scratch.file("a.db-wal"))
    return attributes?[.size] as? Int ?? 0
  }

  /// A load that has committed rows and waits for more; it writes while the test pours the rest into the pipe.
  private func startLoad(_ options: [String], script: String? = nil) throws -> (Command.Child, Int32) {
    let path = scratch.file("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    let child = try Command.start(
      script == nil
        ? ["load", scratch.file("a.db"), "t", path] + options : [scratch.file("a.db"), path] + options,
      script: script)
    let bytes = Array(("id,b\n" + (1...200_000).map { "\($0),x\n" }.joined()).utf8)
    var rest = bytes[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(max(rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }, 0))
    }
    wait { walSize > 0 }
    return (child, descriptor)
  }

  private func checkPrefix() throws {
    let database = Database(scratch.file("a.db"))
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    #expect(try database.rows("SELECT count(*) > 0, count(*) = max(id) FROM t") == ["1|1"])
  }

  @Test("Each signal ends a load at a commit", arguments: [SIGINT, SIGTERM, SIGHUP])
  func load(signal: Int32) throws {
    let (child, descriptor) = try startLoad(["--commit-every", "1000"])
    defer { close(descriptor) }
    child.send(signal: signal)
    // A terminal that goes away is told of twice; that is no second signal.
    if signal == SIGHUP { child.send(signal: SIGHUP) }
    let outcome = try child.finish()
    #expect(outcome.exitCode == 128 + signal, "\(outcome.talk)")
    #expect(outcome.talk.contains("interrupted: ") && outcome.talk.contains(" committed"), "\(outcome.talk)")
    try checkPrefix()
  }

  @Test("What the caller ignores stays ignored: nohup")
  func ignored() throws {
    let (child, descriptor) = try startLoad(
      [], script: #"trap "" HUP INT; exec "$0" load "$1" t "$2" --stop-after 200000"#)
    child.send(signal: SIGHUP)
    child.send(signal: SIGINT)
    close(descriptor)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
    #expect(try Database(scratch.file("a.db")).rows("SELECT count(*) FROM t") == ["200000"])
  }

  /// Starts a load whose rows are all committed, and which cannot end: nobody reads what it prints.
  private func startBlocked(_ database: Database) throws -> (child: Command.Child, reader: Int32) {
    try database.rows("PRAGMA journal_mode=WAL; CREATE TABLE t(id, b)")
    let output = scratch.file("output")
    #expect(mkfifo(output, 0o600) == 0)
    let reader = open(output, O_RDWR | O_CLOEXEC)
    let source = scratch.write("id,b\n" + (1...50_000).map { "\($0),x\n" }.joined(), to: "in.csv")
    let child = try Command.start(["load", scratch.file("a.db"), "t", source, "--changes", output])
    wait { ((try? database.rows("SELECT count(*) FROM t")) ?? []) == ["50000"] }
    return (child, reader)
  }

  @Test("A second signal ends at once, whatever the run waits for")
  func second() throws {
    let database = Database(scratch.file("a.db"))
    let (child, reader) = try startBlocked(database)
    defer { close(reader) }
    child.send(signal: SIGTERM)
    usleep(200_000)
    child.send(signal: SIGINT)
    // Where both are waiting, the system may hand over the second one first.
    #expect([1_000 + SIGINT, 1_000 + SIGTERM].contains(try child.finish().exitCode))
    #expect(try database.rows("SELECT count(*) FROM t") == ["50000"])
  }

  @Test("The same signal within a second of the first is no second one, as timeout sends two; a later one is")
  func repeated() throws {
    let database = Database(scratch.file("a.db"))
    let (child, reader) = try startBlocked(database)
    defer { close(reader) }
    let start = ContinuousClock.now
    child.send(signal: SIGTERM)
    // The system keeps no two of a kind for a process that has not taken the first.
    usleep(100_000)
    child.send(signal: SIGTERM)
    let isSoon = ContinuousClock.now - start < .milliseconds(900)
    usleep(300_000)
    #expect(child.isRunning || !isSoon)
    usleep(1_000_000)
    child.send(signal: SIGTERM)
    #expect(try child.finish().exitCode == 1_000 + SIGTERM)
  }

  @Test("A run that waits for a pipe ends at once and leaves nothing", arguments: [SIGINT, SIGHUP])
  func waitingForInput(signal: Int32) throws {
    let (path, descriptor) = pipe("a,b\n1,x\n")
    defer { close(descriptor) }
    let child = try Command.start(["load", scratch.file("a.db"), "t", path])
    child.waitForHandlers()
    child.send(signal: signal)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 128 + signal, "\(outcome.talk)")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
  }

  @Test("A run that waits for a lock ends at once", arguments: ["load", "replay"])
  func waitingForLock(command: String) throws {
    let database = Database(scratch.file("a.db"))
    try database.rows("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
    let source = scratch.write("a,new\n1,x\n", to: "in.csv")
    let kept = try Command.run(["load", scratch.file("a.db"), "t", source, "--contract", "quarantine"])
    #expect(kept.exitCode == 2, "\(kept.talk)")
    try database.rows("ALTER TABLE t ADD COLUMN new; BEGIN IMMEDIATE")
    let words = command == "load" ? ["t", source] : []
    let child = try Command.start([command, scratch.file("a.db")] + words + ["--busy-timeout", "3600000"])
    child.waitForHandlers()
    // Long enough to get to the lock; earlier it would end all the same.
    usleep(200_000)
    child.send(signal: SIGINT)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 130, "\(outcome.talk)")
    #expect(!outcome.talk.contains("in use by another program"), "\(outcome.talk)")
    try database.rows("ROLLBACK")
    #expect(try database.rows("SELECT count(*) FROM t") == ["0"])
  }

  @Test("A run that looks for types ends at once", arguments: [1, 2])
  func inferring(sources: Int) throws {
    // Far more than a debug build reads in the time that the test takes to send the signal.
    let huge = scratch.file("huge.csv.gz")
    let made = try Command.start(
      [huge], script: #"{ echo id,b; yes 1,x | head -c 400000000; } | gzip -1 >"$1""#)
    #expect(try made.finish().exitCode == 0)
    let small = scratch.write("id,b\n1,x\n", to: "small.csv")
    let child = try Command.start(
      ["load", scratch.file("a.db"), "t"] + (sources == 1 ? [huge] : [small, huge]) + ["--infer", "full"])
    child.waitForHandlers()
    usleep(200_000)
    child.send(signal: SIGTERM)
    let outcome = try child.finish(seconds: 20)
    #expect(outcome.exitCode == 143, "\(outcome.talk)")
    #expect(!FileManager.default.fileExists(atPath: scratch.file("a.db")))
  }

  @Test("An interrupted dry run changes nothing and says how far it got")
  func dryRun() throws {
    let database = Database(scratch.file("a.db"))
    try database.rows("PRAGMA journal_mode=WAL; CREATE TABLE t(id, b)")
    let (path, descriptor) = pipe()
    defer { close(descriptor) }
    let child = try Command.start(["load", scratch.file("a.db"), "t", path, "--dry-run"])
    var rest = Array(("id,b\n" + (1...200_000).map { "\($0),x\n" }.joined()).utf8)[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(max(rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }, 0))
    }
    child.waitForHandlers()
    child.send(signal: SIGINT)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 130, "\(outcome.talk)")
    #expect(outcome.talk.contains("dry run: nothing is changed"), "\(outcome.talk)")
    #expect(try database.rows("SELECT count(*) FROM t") == ["0"])
  }

  @Test("The progress line is taken away before the process ends at once")
  func progress() throws {
    let (child, descriptor) = try startLoad(["--progress", "always", "--commit-every", "1000"])
    defer { close(descriptor) }
    child.send(signal: SIGINT)
    let outcome = try child.finish()
    #expect(outcome.exitCode == 130)
    let last = outcome.talk.components(separatedBy: "\u{1B}[K").last ?? ""
    #expect(!last.contains("rows/s  ") && last.contains("interrupted: "), "\(last)")
  }
}
