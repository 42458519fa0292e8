import Foundation
import TestSupport
import Testing
import Upsurge

/// `--atomic` with other programs beside it: they see the old state until all of the new one is there, and a load
/// that is killed was never there.
@Suite("Atomic loads beside others", .serialized)
struct AtomicTests {
  let scratch = Scratch()

  private var path: String { scratch.file("a.db") }

  private static let count = 200_000
  private static let state = "SELECT count(*), sum(n), count(DISTINCT id) FROM t"
  private static let old = "1000|0|1000"
  private static let new = "\(count)|\(count)|\(count)"

  private func prepare() throws {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    try Database(path).rows(
      """
      PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, note TEXT); CREATE INDEX by_note ON t(note);
      WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 1000)
      INSERT INTO t SELECT n, 0, 'old' FROM i
      """)
  }

  private func arguments(_ source: String) -> [String] {
    ["load", path, "t", source, "--key", "id", "--atomic", "--memory", "16MiB", "--format", "csv", "-q"]
  }

  private static let text: [UInt8] = {
    var text = "id,n,note\n"
    for id in 1...count { text += "\(id),1,note \(id * 7919 % count)\n" }
    return Array(text.utf8)
  }()

  /// Starts a load of a pipe, feeds it everything, and stops it when much of it is written to the log; on a busy machine it
  /// may have ended by then, and another one is tried.
  private func startInTheMiddle() throws -> Command.Child {
    for _ in 0..<9 {
      let child = try startAndStop()
      if try Database(path).rows(Self.state) == [Self.old] { return child }
      child.send(signal: SIGKILL)
      _ = try child.finish()
    }
    return try startAndStop()
  }

  private func startAndStop() throws -> Command.Child {
    try prepare()
    let pipe = scratch.file("pipe")
    unlink(pipe)
    #expect(mkfifo(pipe, 0o600) == 0)
    let child = try Command.start(arguments(pipe))
    let descriptor = open(pipe, O_WRONLY | O_CLOEXEC)
    var rest = Self.text[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(max(rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }, 0))
    }
    close(descriptor)
    var status = stat()
    for _ in 0..<60_000 where stat(path + "-wal", &status) != 0 || status.st_size < 1 << 18 { usleep(200) }
    child.send(signal: SIGSTOP)
    return child
  }

  @Test("A reader sees the old state in the middle, and the new one at the end")
  func reader() throws {
    let child = try startInTheMiddle()
    let database = Database(path)
    #expect(try database.rows(Self.state) == [Self.old])
    #expect(try database.rows("SELECT count(*) FROM t WHERE note <> 'old'") == ["0"])
    child.send(signal: SIGCONT)
    var seen: [String] = []
    for _ in 0..<6_000 where seen.last != Self.new {
      let state = try database.rows(Self.state)
      if seen.last != state.first { seen += state }
      usleep(10_000)
    }
    #expect(seen == [Self.new] || seen == [Self.old, Self.new], "\(seen)")
    let outcome = try child.finish()
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
  }

  @Test(
    "SIGKILL in the middle leaves the old state, and the same command stores all of it once",
    arguments: [1, 2])
  func killed(times: Int) throws {
    for _ in 0..<times {
      let child = try startInTheMiddle()
      child.send(signal: SIGKILL)
      #expect(try child.finish().exitCode == 1_000 + SIGKILL)
      let database = Database(path)
      #expect(try database.rows(Self.state) == [Self.old])
      #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
      #expect(try database.rows("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'upsurge%'") == ["0"])
    }
    let again = try Command.run(arguments(scratch.write(Self.text, to: "in.csv")))
    #expect(again.exitCode == 0, "\(again.talk)")
    #expect(try Database(path).rows(Self.state) == [Self.new])
    #expect(try Database(path).rows("PRAGMA integrity_check") == ["'ok'"])
  }

  @Test("SIGKILL at random moments leaves the old state or the new one")
  func random() throws {
    try prepare()
    let source = scratch.write(Self.text, to: "in.csv")
    var code: Int32 = 1
    let duration = try ContinuousClock().measure { code = try Command.run(arguments(source)).exitCode }
    #expect(code == 0)
    let most = max(duration.microseconds, 50_000)
    var random = SeededGenerator(seed: 17)
    var stops = 0
    for turn in 0..<30 where turn < 6 || stops == 0 {
      try prepare()
      let child = try Command.start(arguments(source))
      usleep(UInt32.random(in: most / 4...most, using: &random))
      child.send(signal: SIGKILL)
      code = try child.finish().exitCode
      let state = try Database(path).rows(Self.state)
      #expect(
        state == [Self.new] || (code != 0 && state == [Self.old]), "turn \(turn): exit \(code), \(state)")
      #expect(try Database(path).rows("PRAGMA integrity_check") == ["'ok'"], "turn \(turn)")
      stops += state == [Self.old] ? 1 : 0
    }
    #expect(stops > 0, "no load was killed before its end")
  }
}
