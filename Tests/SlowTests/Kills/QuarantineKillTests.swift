import TestSupport
import Testing
import Upsurge

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Children killed at random moments lose no record and store none twice.
@Suite("Quarantine under SIGKILL", .serialized)
struct QuarantineKillTests {
  let scratch = Scratch()

  private var database: Database { Database(path) }

  private var path: String { scratch.file("a.db") }

  /// Rows without a key, so that a record stored twice is there twice.
  private static let place = """
    SELECT count(*), count(DISTINCT id), max(id) FROM
      (SELECT id FROM t UNION ALL SELECT CAST(record ->> 'id' AS INT) FROM upsurge_quarantine)
    """

  private func killed(_ arguments: [String], after microseconds: UInt32) throws -> Int32 {
    let child = try Command.start(arguments)
    usleep(microseconds)
    child.send(signal: SIGKILL)
    return try child.finish().exitCode
  }

  @Test("A replay that is killed again and again stores every record exactly once")
  func replay() throws {
    var random = SeededGenerator(seed: 3)
    // A machine may be so fast that a replay ends before it is killed: then once more, and sooner.
    var stops = 0
    for attempt in 0..<20 where stops == 0 {
      stops = try killedReplays(firstPause: UInt32(100_000 >> min(attempt, 6)), random: &random)
    }
    #expect(stops > 0, "no replay was killed on its way")
  }

  /// Replays that are killed until one ends.
  /// - Returns: how many were killed with some of the records stored.
  private func killedReplays(firstPause: UInt32, random: inout SeededGenerator) throws -> Int {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    let count = 30_000
    var text = "id,b\n"
    for id in 1...count { text += "\(id),x\(id)\n" }
    try Database(path).rows("CREATE TABLE t(id INT)")
    let kept = try Command.run([
      "load", path, "t", scratch.write(text, to: "in.csv"), "--contract", "quarantine",
    ])
    #expect(kept.exitCode == 2, "\(kept.talk)")
    try Database(path).rows("ALTER TABLE t ADD COLUMN b")
    var stops = 0
    var pause = firstPause
    for _ in 0..<200 {
      let code = try killed(
        ["replay", path, "--commit-every", "200"], after: UInt32.random(in: 1_000...pause, using: &random))
      #expect(try Database(path).rows(Self.place) == ["\(count)|\(count)|\(count)"])
      if code == 0 { break }
      #expect(code == 1_000 + SIGKILL)
      if try Database(path).rows("SELECT count(*) BETWEEN 1 AND \(count - 1) FROM t") == ["1"] { stops += 1 }
      pause = min(pause + 20_000, 2_000_000)
    }
    let last = try Command.run(["replay", path])
    #expect(last.exitCode == 0, "\(last.talk)")
    let database = Database(path)
    #expect(try database.rows("SELECT count(*) FROM upsurge_quarantine") == ["0"])
    #expect(
      try database.rows("SELECT count(*), count(DISTINCT id), sum(b = 'x' || id) FROM t")
        == ["\(count)|\(count)|\(count)"])
    #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"])
    return stops
  }

  @Test("A load that is killed leaves a prefix of its input, stored or kept")
  func load() throws {
    let count = 60_000
    var text = ""
    for id in 1...count { text += "{\"id\":\(id)\(id % 3 == 0 ? ",\"b\(id % 5)\":\(id)" : "")}\n" }
    let source = scratch.write(text, to: "in.ndjson")
    func arguments(_ path: String) throws -> [String] {
      for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
      try Database(path).rows("CREATE TABLE t(id INT)")
      return ["load", path, "t", source, "--contract", "quarantine", "--commit-every", "500"]
    }
    let whole = try arguments(path)
    var code: Int32 = 0
    let duration = try ContinuousClock().measure { code = try Command.run(whole).exitCode }
    #expect(code == 2)
    let most = max(duration.microseconds, 50_000)
    var stops = 0
    // On a machine whose speed changes, more of them until some are stopped on their way.
    for seed in UInt64(0)..<40 where seed < 8 || stops == 0 {
      var random = SeededGenerator(seed: seed)
      code = try killed(try arguments(path), after: UInt32.random(in: 10_000...most, using: &random))
      #expect([2, 1_000 + SIGKILL].contains(code), "seed \(seed)")
      let database = Database(path)
      guard try database.rows("SELECT 1 FROM sqlite_schema WHERE name = 'upsurge_quarantine'") == ["1"] else {
        #expect(try database.rows("SELECT count(*) FROM t") == ["0"], "seed \(seed)")
        continue
      }
      let found = try #require(try database.rows(Self.place).first).split(separator: "|")
      #expect(Set(found).count == 1, "seed \(seed): \(found)")
      if code != 2 && found != ["0", "0", "NULL"] && found.first != "\(count)" { stops += 1 }
      #expect(try database.rows("SELECT count(*) FROM t WHERE id % 3 = 0") == ["0"], "seed \(seed)")
      #expect(try database.rows("PRAGMA integrity_check") == ["'ok'"], "seed \(seed)")
    }
    #expect(stops > 0, "no load was killed on its way")
  }
}
