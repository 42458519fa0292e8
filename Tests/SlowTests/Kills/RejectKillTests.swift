import Foundation
import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Replays of rejects that are killed at random moments lose no record and store none twice; nor do those that fail
/// near their end.
@Suite("Replay of rejects under SIGKILL", .serialized)
struct RejectKillTests {
  let scratch = Scratch()

  private var path: String { scratch.file("a.db") }
  private var file: String { scratch.file("bad") }
  private var database: Database { Database(path) }

  /// A keyless table, so that a record stored twice is there twice; every seventh record can never be stored.
  private func reject(_ count: Int, to target: String) throws {
    try database.rows(
      "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(id INT, p INT REFERENCES p(id))")
    var text = "id,p\n"
    for id in 1...count { text += "\(id),\(id % 7 == 0 ? 9 : 1)\n" }
    let outcome = try Command.run([
      "load", path, "t", scratch.write(text, to: "in.csv"), "--on-error", "reject", "--rejects", target,
    ])
    #expect(outcome.exitCode == 2, "\(outcome.talk)")
    try database.rows("INSERT INTO p VALUES (1)")
  }

  private func killed(_ arguments: [String], after microseconds: UInt32) throws -> Int32 {
    let child = try Command.start(arguments)
    usleep(microseconds)
    child.send(signal: SIGKILL)
    return try child.finish().exitCode
  }

  @Test("A killed replay goes on until every record is stored exactly once", arguments: [true, false])
  func kills(isFile: Bool) throws {
    let count = 14_000
    try reject(count, to: isFile ? file : "table")
    let command = ["replay", path] + (isFile ? [file] : [])
    var random = SeededGenerator(seed: isFile ? 11 : 12)
    var stops = 0
    // Soon at first, as a fast machine needs no longer than a slow one takes to start.
    for turn in 0..<60 {
      let pause = UInt32.random(in: 1_000...min(20_000 + UInt32(turn) * 10_000, 250_000), using: &random)
      let code = try killed(command + ["--commit-every", "100"], after: pause)
      #expect(code == 1_000 + SIGKILL || code == 2)
      #expect(
        try database.rows("SELECT count(*) - count(DISTINCT id), coalesce(sum(id % 7 = 0), 0) FROM t") == [
          "0|0"
        ])
      if !isFile {
        #expect(
          try database.rows(
            "SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM t UNION ALL SELECT record FROM upsurge_rejects)"
          ) == ["\(count)|\(count)"])
      }
      if code == 2 { break }
      if try database.rows("SELECT count(*) BETWEEN 1 AND \(count - count / 7 - 1) FROM t") == ["1"] {
        stops += 1
      }
    }
    let last = try Command.run(command)
    #expect(last.exitCode == 2, "\(last.talk)")
    try expectDone(count, isFile: isFile)
    #expect(stops > 0, "no replay was killed on its way")
  }

  private func expectDone(_ count: Int, isFile: Bool) throws {
    let rest = count / 7
    #expect(
      try database.rows("SELECT count(*), count(DISTINCT id), sum(id % 7 = 0) FROM t")
        == ["\(count - rest)|\(count - rest)|0"])
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    guard isFile else {
      #expect(
        try database.rows("SELECT count(*), count(DISTINCT record), sum(record % 7) FROM upsurge_rejects")
          == ["\(rest)|\(rest)|0"])
      return
    }
    let lines = String(decoding: try readFile(file), as: UTF8.self).split(separator: "\n")
    let records = lines.filter { !$0.hasPrefix("{\"upsurge_rejects\"") }
    #expect(records.count == rest && Set(records).count == rest)
    #expect(lines.first?.hasPrefix("{\"upsurge_rejects\":1,") == true)
    #expect(!FileManager.default.fileExists(atPath: file + ".replay"))
    #expect(try database.rows("SELECT name FROM sqlite_schema WHERE name = 'upsurge_replays'") == [])
  }

  /// The table of marks, made beforehand with a trigger that lets the replay fail at one step of its end.
  private func failing(at event: String) throws {
    try database.rows(
      """
      CREATE TABLE upsurge_replays (path TEXT PRIMARY KEY, done_bytes INTEGER, done_hash INTEGER, kept_bytes INTEGER,
        kept_hash INTEGER, whole INTEGER, updated_at TEXT NOT NULL DEFAULT (datetime('now')));
      CREATE TRIGGER stop BEFORE \(event) ON upsurge_replays BEGIN SELECT RAISE(ABORT, 'stopped here'); END
      """)
  }

  private func replay() throws -> Command.Outcome {
    try Command.run(["replay", path, file, "--commit-every", "100"])
  }

  @Test("A replay that ends before the new file takes the old one's place is finished by the next")
  func beforeRename() throws {
    try reject(1_000, to: file)
    try failing(at: "UPDATE OF whole")
    // The second page would update the mark.
    let first = try replay()
    #expect(first.exitCode == 3 && first.talk.contains("stopped here"), "\(first.talk)")
    #expect(try database.rows("SELECT count(*) FROM t") == ["86"])
    try database.rows("DROP TRIGGER stop")
    #expect(try replay().exitCode == 2)
    try expectDone(1_000, isFile: true)
  }

  @Test("A replay that ends between the mark of the end and the rename is finished without a second try")
  func atRename() throws {
    try reject(1_000, to: file)
    try failing(at: "UPDATE OF whole")
    try database.rows(
      """
      DROP TRIGGER stop;
      CREATE TRIGGER stop BEFORE UPDATE OF whole ON upsurge_replays WHEN NEW.whole
        BEGIN SELECT RAISE(ABORT, 'stopped here'); END
      """)
    #expect(try replay().exitCode == 3)
    #expect(try database.rows("SELECT count(*), (SELECT whole FROM upsurge_replays) FROM t") == ["858|0"])
    try database.rows("DROP TRIGGER stop; UPDATE upsurge_replays SET whole = 1")
    let second = try replay()
    #expect(second.exitCode == 2 && second.talk.contains("1,000 rejected records tried"), "\(second.talk)")
    try expectDone(1_000, isFile: true)
  }

  @Test(
    "A file that cannot be replaced when all is done is replaced by the next replay",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.skipNote)))
  func renameFails() throws {
    try reject(1_000, to: file)
    #if os(Linux)
      // No other file can take the place of one that something is mounted on.
      #expect(mount(file, file, nil, UInt(MS_BIND), nil) == 0)
      defer { umount2(file, Int32(MNT_DETACH)) }
      let first = try replay()
      #expect(first.exitCode == 3, "\(first.talk)")
      #expect(try database.rows("SELECT count(*), (SELECT whole FROM upsurge_replays) FROM t") == ["858|1"])
      #expect(umount2(file, Int32(MNT_DETACH)) == 0)
    #endif
    let second = try replay()
    #expect(second.exitCode == 2, "\(second.talk)")
    try expectDone(1_000, isFile: true)
  }

  @Test("A replay that ends behind the rename has stored all it could")
  func behindRename() throws {
    try reject(1_000, to: file)
    try failing(at: "DELETE")
    let first = try replay()
    #expect(first.exitCode == 2, "\(first.talk)")
    #expect(
      first.talk.contains(
        "); the next replay prints its ledger again, and stores nothing twice")
        && first.talk.contains("the replay is complete, but its mark could not be removed ("), "\(first.talk)"
    )
    #expect(try database.rows("SELECT count(*), sum(whole) FROM upsurge_replays") == ["1|1"])
    try database.rows("DROP TRIGGER stop")
    let second = try replay()
    #expect(second.exitCode == 2, "\(second.talk)")
    #expect(
      second.talk.contains("1,000 rejected records tried")
        && second.talk.contains("; 858 of them by an earlier replay that ended early"), "\(second.talk)")
    try expectDone(1_000, isFile: true)
  }

  @Test("Between two parts of a replay what is not done may be mended; what is done may not")
  func edited() throws {
    try reject(1_000, to: file)
    try failing(at: "UPDATE OF whole")
    #expect(try replay().exitCode == 3)
    try database.rows("DROP TRIGGER stop")
    let text = String(decoding: try readFile(file), as: UTF8.self)
    _ = scratch.write(text.replacing("\"raw\":\"7,9\"", with: "\"raw\":\"7,1\""), to: "bad")
    let refused = try replay()
    #expect(refused.exitCode == 4 && refused.talk.contains("have changed since"), "\(refused.talk)")
    rename(scratch.write(text, to: "elsewhere"), scratch.file("moved"))
    let moved = try Command.run(["replay", path, scratch.file("moved")])
    #expect(moved.exitCode == 4 && moved.talk.contains("move it back"), "\(moved.talk)")
    _ = scratch.write(text.replacing("\"raw\":\"994,9\"", with: "\"raw\":\"994,1\""), to: "bad")
    #expect(try replay().exitCode == 2)
    #expect(try database.rows("SELECT count(*), sum(id = 994) FROM t") == ["859|1"])
    #expect(try database.rows("SELECT name FROM sqlite_schema WHERE name = 'upsurge_replays'") == [])
  }

  @Test("What was kept beside the file must be there to go on")
  func lostRest() throws {
    try reject(1_000, to: file)
    try failing(at: "UPDATE OF whole")
    #expect(try replay().exitCode == 3)
    try database.rows("DROP TRIGGER stop")
    _ = scratch.write("", to: "bad.replay")
    let refused = try replay()
    #expect(refused.exitCode == 4 && refused.talk.contains("is gone or changed"), "\(refused.talk)")
    #expect(try database.rows("SELECT count(*) FROM t") == ["86"])
  }
}
